//! The bounded controller of the schedule. It never sees or sets a reward.
