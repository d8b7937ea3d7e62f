//! Compiles, links, limits and calls plugin components.
