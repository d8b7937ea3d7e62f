//! `bench`: what things cost, and whether attacks fail. One module for each subcommand; it decides nothing about what is measured.

mod attacks;
mod care;
mod costs;
mod deadline;
mod guests;
mod hostile;
mod install;
mod measure;
mod rollout;
mod rows;
mod soak;
mod swap;

use crate::cli::{BenchArgs, BenchCommand, Shared};
use crate::exit::Exit;

/// Runs it.
///
/// # Errors
/// Something that is not installed, or a call that does not do what it is measured for.
pub fn bench(shared: &Shared, args: &BenchArgs) -> anyhow::Result<Exit> {
    match &args.command {
        None => costs::costs(shared, &args.costs),
        Some(BenchCommand::Swap(args)) => swap::swap(shared, args),
        Some(BenchCommand::Care(args)) => care::care(shared, args),
        Some(BenchCommand::Rollout(args)) => rollout::rollout(shared, args),
        Some(BenchCommand::Deadline(args)) => deadline::deadline(shared, args),
        Some(BenchCommand::Soak(args)) => soak::soak(shared, args),
        Some(BenchCommand::RegistryAttacks) => attacks::attacks(shared),
        Some(BenchCommand::Hostile(args)) => hostile::hostile(shared, args),
    }
}
