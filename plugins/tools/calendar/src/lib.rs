//! Calendar events, free time and date facts.
