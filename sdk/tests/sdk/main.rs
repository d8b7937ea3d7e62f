//! The SDK from the outside: plugins of each kind, run natively as a test would run them.

mod capabilities;
mod environment;
mod evidence;
mod phone;
mod skill;
mod tool;
