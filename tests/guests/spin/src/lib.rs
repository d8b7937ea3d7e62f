//! A guest that never returns.
