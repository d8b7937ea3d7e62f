//! Planners without a model: the gold, chance, a table, and nothing at all. They bound what a score means.

pub mod ablation;
mod generate;
mod idle;
mod random;
mod scripted;
mod tabular;

#[cfg(test)]
mod tests;

pub use idle::Idle;
pub use random::Random;
pub use scripted::Scripted;
pub use tabular::{CHOICES_MAX, Look, TableError, Tabular};
