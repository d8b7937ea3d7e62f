//! Planners without a model: the gold, chance, and nothing at all. They bound what a score means.

mod generate;
mod idle;
mod random;
mod scripted;

#[cfg(test)]
mod tests;

pub use idle::Idle;
pub use random::Random;
pub use scripted::Scripted;
