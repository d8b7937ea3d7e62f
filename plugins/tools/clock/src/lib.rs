//! Alarms, timers, stopwatch and world clock.
