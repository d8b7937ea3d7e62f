//! Intervals and tests over runs and families. It knows nothing of what the numbers measure.
