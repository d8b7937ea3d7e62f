//! Checkpoints that are whole or not there. It knows no training loop.
