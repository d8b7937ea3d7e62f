//! `cargo xtask test`: set up, build the guests, run all tests.

use anyhow::Result;
use clap::Args;

use crate::setup::Tool;
use crate::tree::Tree;
use crate::{guests, kit, mcp, process, setup, tidy};

/// Which tests.
#[derive(Args, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    setup: setup::Options,
    /// Runs only unit and integration tests whose name contains one of these; no doc tests then, and no tidy.
    filters: Vec<String>,
}

/// Runs `cargo xtask test`.
pub(crate) fn command(options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    let toolchain = setup::make(&tree, &options.setup)?;
    setup::guest_scripts(&tree)?;
    guests::make(&tree, &toolchain, &[])?;
    guests::make_scripts(&tree)?;
    run_tests(&tree, &options.filters)?;
    if options.filters.is_empty() {
        process::run(tree.cargo().args(["test", "--workspace", "--doc"]))?;
        kit::check(&tree, &toolchain, &kit::Options::default())?;
        mcp::check(&tree)?;
        tidy::check(&tree)?;
    }
    Ok(())
}

/// Nextest, or cargo's own runner where nextest can be neither found nor installed.
fn run_tests(tree: &Tree, filters: &[String]) -> Result<()> {
    let mut command = tree.cargo();
    match Tool::Nextest.get(tree) {
        Ok(()) => command.args(["nextest", "run", "--workspace"]).args(filters),
        Err(error) => {
            eprintln!("test: {error:#}; taking cargo's own test runner");
            command.args(["test", "--workspace", "--tests", "--no-fail-fast", "--"]).args(filters)
        }
    };
    process::run(&mut command)
}
