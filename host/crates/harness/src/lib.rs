//! One episode, from task to verified trajectory.

pub mod recall;
