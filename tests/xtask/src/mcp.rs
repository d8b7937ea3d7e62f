//! `cargo xtask mcp`: an MCP client that is not ours drives the command over both transports.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::tree::Tree;
use crate::{guests, process, setup};

/// The client ends in seconds; one that waits for an answer for minutes hangs.
const CLIENT_LIMIT: Duration = Duration::from_secs(300);

/// Runs `cargo xtask mcp`.
pub(crate) fn command() -> Result<()> {
    let tree = Tree::find()?;
    let toolchain = setup::guest_toolchain(&tree, None)?;
    guests::make(&tree, &toolchain, &[])?;
    check(&tree)
}

/// Drives the command; the plugins are built.
pub(crate) fn check(tree: &Tree) -> Result<()> {
    let python = setup::mcp_client(tree)?;
    let program = tree.debug_program()?;
    let mut client = Command::new(python);
    // Without byte code: nothing is written into the tree.
    client.args(["-B", "tests/xtask/mcp-client/client.py"]).arg(program);
    process::run_within(client.current_dir(tree.root()), CLIENT_LIMIT)?;
    eprintln!("mcp: the client of PyPI is served over both transports");
    Ok(())
}
