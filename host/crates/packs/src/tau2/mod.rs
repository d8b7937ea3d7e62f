//! tau2.
