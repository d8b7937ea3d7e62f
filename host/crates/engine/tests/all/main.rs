//! The engine at its public face, with guests that are made out of WAT as the tests run: no toolchain, no file, no waiting.

mod cache;
mod episode;
mod evidence;
mod install;
mod limits;
mod policies;
mod properties;
#[allow(unreachable_pub, reason = "modules of one test binary")]
mod support;
