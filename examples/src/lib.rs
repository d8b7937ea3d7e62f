//! Runnable stories: `cargo run -p loopwright-examples --bin closed_loop`. This library exports nothing.
