//! Text messages.
