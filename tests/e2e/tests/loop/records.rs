//! Worlds from elsewhere, replayed call by call. The records lie outside the repository.

use loopwright::cli::PackCommand;
use loopwright::commands;
use loopwright::exit::Exit;
use loopwright::wire::{self, Engine, Worlds};

use crate::{root, shared};

#[test]
fn every_recorded_call_of_the_retail_world_gives_the_recorded_result() {
    let dir = root().join("../shared/packs/tau2-retail");
    if !dir.exists() {
        println!("skipped: no records at {}", dir.display());
        return;
    }
    let command = PackCommand::Replay { dir, plugin: "tau2-retail".to_owned() };
    assert_eq!(commands::pack::pack(&shared(), &command).expect("a replay"), Exit::Good);
}

#[test]
fn the_gate_names_retail_tasks_that_an_idle_agent_passes() {
    let dir = root().join("../shared/packs/tau2-retail");
    if !dir.exists() {
        println!("skipped: no records at {}", dir.display());
        return;
    }
    let pack = wire::pack(&dir.display().to_string(), 1).expect("an import");
    let host = wire::host(&shared(), Engine::default(), Worlds::of(pack.worlds())).expect("plugins");
    // Seven of the recorded episodes change nothing, so a check on state alone is passed by doing nothing.
    let records = std::fs::read_to_string(dir.join("replays.jsonl")).expect("records");
    let unchanged: Vec<String> = records
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a record"))
        .filter(|record| record["changes"].as_array().is_none_or(Vec::is_empty))
        .map(|record| record["task_id"].as_str().expect("an id").to_owned())
        .collect();
    let tasks: Vec<_> = pack
        .tasks()
        .iter()
        .filter(|task| unchanged.iter().any(|id| task.id.as_str().ends_with(&format!(".{id}"))))
        .cloned()
        .collect();
    assert_eq!(tasks.len(), 7);
    let report = commands::gate::check(&host, &tasks, 2, &|| {}).expect("a report");
    assert!(!report.refused.is_empty(), "{report:?}");
}
