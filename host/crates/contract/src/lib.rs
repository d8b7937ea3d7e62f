//! The vocabulary of Loopwright: plain data, limits and port traits.
