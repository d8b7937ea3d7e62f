//! `cargo xtask setup`: what has to be there before anything is built.

mod model;
mod registry_server;
mod scripts;
mod toolchain;
mod tools;

use anyhow::Result;
use clap::Args;

pub(crate) use scripts::{
    are_ready as guest_scripts_are_ready, get as guest_scripts, mcp_client, tools as guest_tools,
};
pub(crate) use toolchain::{TARGET, Toolchain, Way};
pub(crate) use tools::Tool;

use crate::tree::Tree;

/// What to get, and how.
#[derive(Args, Clone, Default)]
// Other commands take these options beside their own of the same type name.
#[group(skip)]
pub(crate) struct Options {
    /// Takes this way to the guest toolchain and no other.
    #[arg(long, value_name = "WAY")]
    pub(crate) toolchain: Option<Way>,
    /// Leaves out the default models, of the local planner and of the memory's embedder.
    #[arg(long)]
    pub(crate) no_model: bool,
}

/// Runs `cargo xtask setup`.
pub(crate) fn command(options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    make(&tree, options)?;
    tools::report(&tree);
    Ok(())
}

/// Everything that building, running and testing need.
pub(crate) fn make(tree: &Tree, options: &Options) -> Result<Toolchain> {
    eprintln!("setup: {}", toolchain::check_rust()?);
    eprintln!("setup: C compiler: {}", tools::check_c_compiler()?);
    let toolchain = toolchain::get(tree, options.toolchain)?;
    if options.no_model {
        eprintln!("setup: the default models are left out, as asked");
    } else if let Err(error) = model::get(tree) {
        eprintln!(
            "setup: A DEFAULT MODEL IS MISSING and could not be fetched: {error:#}\n\
             setup: going on without: the local planner or the memory's dense search is left out, everything else runs"
        );
    }
    registry_server::get(tree);
    Ok(toolchain)
}

/// The guest toolchain alone: enough to build guests.
pub(crate) fn guest_toolchain(tree: &Tree, way: Option<Way>) -> Result<Toolchain> {
    toolchain::get(tree, way)
}
