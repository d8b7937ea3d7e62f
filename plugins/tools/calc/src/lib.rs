//! Arithmetic, units and currencies.
