//! `cargo xtask setup`: what has to be there before anything is built.

mod toolchain;

use anyhow::Result;
use clap::Args;

pub(crate) use toolchain::{TARGET, Toolchain, Way};

use crate::tree::Tree;

/// What to get, and how.
#[derive(Args, Clone)]
pub(crate) struct Options {
    /// Takes this way to the guest toolchain and no other.
    #[arg(long, value_name = "WAY")]
    pub(crate) toolchain: Option<Way>,
    /// Leaves out the default model.
    #[arg(long)]
    pub(crate) no_model: bool,
}

/// Runs `cargo xtask setup`.
pub(crate) fn command(options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    toolchain::get(&tree, options.toolchain)?;
    Ok(())
}

/// The guest toolchain alone: enough to build guests.
pub(crate) fn guest_toolchain(tree: &Tree, way: Option<Way>) -> Result<Toolchain> {
    toolchain::get(tree, way)
}
