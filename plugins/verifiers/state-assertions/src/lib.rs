//! Declarative rows over the final state.
