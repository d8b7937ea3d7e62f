//! Screen and sound of the phone.
