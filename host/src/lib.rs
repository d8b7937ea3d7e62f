//! The composition root: wires the crates, owns configuration, threads, files and the terminal, and closes the loop. It decides nothing about
//! episodes, tools or verdicts; every behaviour lives in the crate that it wires.

pub mod cli;
pub mod cli_memory;
pub mod cli_registry;
pub mod cli_serve;
pub mod cli_train;
pub mod commands;
pub mod exit;
pub mod output;
pub mod planner;
pub mod session;
pub mod show;
pub mod table;
pub mod training;
pub mod verifiers;
pub mod watchdog;
pub mod wire;

use std::io::IsTerminal as _;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

/// Runs the command line and returns the process's exit code.
#[must_use]
pub fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    subscribe(&cli.shared.log);
    match dispatch(&cli) {
        Ok(exit) => exit.code(),
        Err(error) => {
            output::problem(&error);
            Exit::of(&error).code()
        }
    }
}

/// Diagnostics go to standard error; a filter that does not parse is told and replaced by `warn`.
fn subscribe(filter: &str) {
    let (filter, wrong) = match EnvFilter::try_new(filter) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new("warn"), Some(error)),
    };
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).init();
    if let Some(error) = wrong {
        tracing::warn!(%error, "the log filter is not understood; using `warn`");
    }
}

fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    let shared = &cli.shared;
    match &cli.command {
        Command::Run(args) => commands::run::run(shared, args),
        Command::Pack(command) => commands::pack::pack(shared, command),
        Command::Plugin(command) => commands::plugin::plugin(shared, command),
        Command::Registry(command) => commands::registry::registry(shared, command),
        Command::Replay(args) => commands::replay::replay(shared, args),
        Command::Verify(args) => commands::verify::verify(shared, args),
        Command::Show(args) => commands::show::show(shared, args),
        Command::Verifier(command) => commands::verifier::verifier(shared, command),
        Command::Serve(command) => commands::serve::serve(shared, command),
        Command::Memory(args) => commands::memory::memory(shared, args),
        Command::Train(args) => commands::train::train(shared, args),
        Command::Eval(args) => commands::eval::eval(shared, args),
        Command::Export(args) => commands::export::export(shared, args),
        Command::Bench(args) => commands::bench::bench(shared, args),
        Command::Doctor => commands::doctor::doctor(shared),
        Command::CompileComponent(args) => commands::compile::compile(args),
        Command::Completions { shell } => commands::completions(*shell),
    }
}
