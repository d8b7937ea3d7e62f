//! Casting, pairing and nearby devices.
