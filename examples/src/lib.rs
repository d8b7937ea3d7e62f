//! Runnable stories.
