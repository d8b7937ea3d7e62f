//! The order in which conflicting actions are taken.
