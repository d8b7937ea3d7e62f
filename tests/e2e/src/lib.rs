//! End-to-end tests: the whole loop on the components that were built. The tests are in `tests/`; this crate exports nothing.
