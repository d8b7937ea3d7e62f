//! `cargo xtask run` and `cargo xtask bench`: set up, build, and become the command.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Error, Result};
use clap::Args;

use crate::tree::Tree;
use crate::{guests, process, release, setup};

/// What to hand on to the command.
#[derive(Args, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    setup: setup::Options,
    /// Handed on to the command as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs the main job, or what the arguments make of it.
pub(crate) fn main_job(options: &Options) -> Result<()> {
    become_command("run", options)
}

/// Runs the benchmarks of the release build.
pub(crate) fn bench(options: &Options) -> Result<()> {
    become_command("bench", options)
}

fn become_command(subcommand: &str, options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    let toolchain = setup::make(&tree, &options.setup)?;
    guests::make(&tree, &toolchain, &[])?;
    let program = release::build(&tree)?;
    let program = tree.link_program(&program)?;
    let mut command = handed_on(&program, tree.root(), subcommand, &options.arguments);
    eprintln!("run: {}", process::line(&command));
    // On success this process is the command from here on, with its exit code and its signals.
    Err(Error::new(command.exec()).context(format!("cannot start `{}`", program.display())))
}

/// The command finds components and models by paths that start at the top of the tree.
fn handed_on(program: &Path, root: &Path, subcommand: &str, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root).arg(subcommand).args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn our_options_stay_and_the_rest_is_handed_on() {
        let line = ["run", "--no-model", "--", "--planner", "idle", "--no-model"];
        let options = Line::try_parse_from(line).unwrap().options;
        assert!(options.setup.no_model);
        let command = handed_on(Path::new("loopwright"), Path::new("."), "run", &options.arguments);
        assert_eq!(process::line(&command), "`loopwright run --planner idle --no-model`");
    }

    #[test]
    fn without_a_separator_the_first_foreign_option_starts_the_rest() {
        let line = ["run", "--no-model", "--jobs", "2"];
        let options = Line::try_parse_from(line).unwrap().options;
        assert!(options.setup.no_model);
        assert_eq!(options.arguments, ["--jobs", "2"]);
    }
}
