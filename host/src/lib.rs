//! The Loopwright command: wires the crates and closes the loop.
