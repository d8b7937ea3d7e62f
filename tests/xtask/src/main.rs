//! The task runner knows how the tree is built, tested and kept tidy, and deliberately nothing about what it does when it runs.
//!
//! `cargo xtask help` lists the commands. One command, one module; what several of them need (running a program with a
//! time limit, the tree's paths, digests, writing a file in one step) has modules of its own.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task runner talks to the person who started it")]

mod ci;
mod file;
mod guests;
mod kit;
mod mcp;
mod process;
mod readme;
mod release;
mod run;
mod setup;
mod test;
mod tidy;
mod tree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Sets up, builds, runs and checks Loopwright.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Gets the guest toolchain and the default model; says which way it took.
    Setup(setup::Options),
    /// Builds every plugin and test guest into a component under target/plugins.
    Guests(guests::Options),
    /// Makes, builds, tests and checks a plugin from each template.
    Kit(kit::Options),
    /// Drives `loopwright serve mcp` with the MCP client of PyPI.
    Mcp,
    /// Sets up, builds and runs the main job; further arguments go to `loopwright run`.
    Run(run::Options),
    /// Sets up and runs all tests, or those whose names contain the given words.
    Test(test::Options),
    /// Checks everything: format, lints, guests, tests, docs, tidy, dependencies, a smoke run.
    Ci,
    /// Sets up, builds and measures; further arguments go to `loopwright bench`.
    Bench(run::Options),
    /// Checks the rules of the tree that the compiler does not know.
    Tidy(tidy::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Setup(options) => setup::command(&options),
        Command::Guests(options) => guests::command(&options),
        Command::Kit(options) => kit::command(&options),
        Command::Mcp => mcp::command(),
        Command::Run(options) => run::main_job(&options),
        Command::Test(options) => test::command(&options),
        Command::Ci => ci::command(),
        Command::Bench(options) => run::bench(&options),
        Command::Tidy(options) => tidy::command(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
