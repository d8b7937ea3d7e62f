//! One episode, from task to verified trajectory.
