//! The retail shop of the tau2 task pack.
