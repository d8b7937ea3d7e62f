//! The admission gate.
