//! Battery modes and what they cost.
