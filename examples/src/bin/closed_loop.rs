//! One task of the phone pack, from request to verdict, with the library instead of the command.
//!
//! Build the plugins first: `cargo xtask guests`. Then: `cargo run -p loopwright-examples --bin closed_loop`.

use std::sync::Arc;

use loopwright::cli::Shared;
use loopwright::wire::{self, Engine, MachineStopwatch, Worlds};
use loopwright::{output, show};
use loopwright_harness::planners::Scripted;
use loopwright_harness::trajectory::read_bytes;
use loopwright_harness::{Harness, Output, RunOptions, Settings, run_tasks};
use loopwright_packs::phone;

fn main() -> anyhow::Result<()> {
    // Components and their compiled form; both are made by the task runner and the first start.
    let shared = Shared::default();
    let host = wire::host(&shared, Engine::default(), Worlds::default())?;

    // A task: a request, the phone it is made on, the gold actions and the checks.
    let pack = phone::builtin(1, 1)?;
    let task = pack.tasks().iter().find(|task| task.category == "confirmation").or(pack.tasks().first());
    let task = task.ok_or_else(|| anyhow::anyhow!("the pack is empty"))?;

    // The harness stands on any host; a planner that knows the gold decides.
    let harness = Harness::new(Arc::new(host), Settings::default(), Vec::new())?;
    let mut options = RunOptions::new(MachineStopwatch::start());
    options.output = Output::Memory;
    let planner = Scripted::new(std::slice::from_ref(task));
    let results = run_tasks(&harness, &planner, std::slice::from_ref(task), &options, &|_| {});

    // What happened, line by line, is a trajectory; here it is read back and shown.
    for result in &results {
        let text: String = result.lines.iter().flatten().flat_map(|line| [line.as_str(), "\n"]).collect();
        output::print(show::trajectory(&read_bytes(text.as_bytes())?.trajectory, false));
    }
    Ok(())
}
