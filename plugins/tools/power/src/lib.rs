//! Battery, power and settings of the phone.
