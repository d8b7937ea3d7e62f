//! Equality with the state that the gold actions lead to.
