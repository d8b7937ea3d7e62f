//! A small sequence decoder over a closed vocabulary. It knows no task.
