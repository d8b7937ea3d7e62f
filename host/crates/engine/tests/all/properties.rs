//! Whatever calls come in whatever order, and however they fail, the world is what a plain map says.

use std::collections::BTreeMap;

use loopwright_contract::{environment::Reply, episode::Episode};
use loopwright_engine::{EngineConfig, InstancePolicy, PluginHost};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    episode::notes,
    support::{call, config, engines, environment, host_with, open, task, tool, trace, turn},
};

#[derive(Debug, Clone)]
struct Op {
    tool: &'static str,
    key: u8,
    value: u8,
}

fn op() -> impl Strategy<Value = Op> {
    (prop::sample::select(vec!["put", "put", "put", "delete", "fail", "trap", "read", "nothing"]), 0..6_u8, any::<u8>())
        .prop_map(|(tool, key, value)| Op { tool, key, value })
}

fn apply(model: &mut BTreeMap<String, Value>, op: &Op) {
    let key = format!("k{}", op.key);
    match op.tool {
        "put" => drop(model.insert(key, json!({"value": op.value}))),
        "delete" => drop(model.remove(&key)),
        _ => {}
    }
}

/// Plays the turns, and checks the changes of each against the model.
fn play(host: &PluginHost, turns: &[Vec<Op>], fork_at: usize) -> Result<Box<dyn Episode>, TestCaseError> {
    let mut model = BTreeMap::new();
    let mut seen = BTreeMap::new();
    let mut episode = open(host, &task("world"));
    for (position, ops) in turns.iter().enumerate() {
        if position == fork_at {
            episode = episode.fork().map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        let calls = ops.iter().map(|op| call(&format!("k{}", op.key), op.tool, json!({"value": op.value}))).collect();
        let result = episode.step(&turn(calls)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        for (op, feedback) in ops.iter().zip(&result.feedback) {
            let runs = matches!(op.tool, "put" | "delete" | "read");
            prop_assert_eq!(matches!(feedback.reply, Reply::Done(_)), runs, "{:?}", op);
            apply(&mut model, op);
        }
        for change in episode.changes() {
            prop_assert_eq!(seen.get(&change.key), change.before.as_ref());
            match change.after {
                Some(value) => drop(seen.insert(change.key, value)),
                None => drop(seen.remove(&change.key)),
            }
        }
        prop_assert_eq!(&seen, &model);
        episode.end_turn();
    }
    Ok(episode)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_world_is_what_the_model_says(turns in prop::collection::vec(prop::collection::vec(op(), 0..5), 1..6), fork_at in 0..6_usize) {
        let candidates = [tool(&notes()), environment()];
        let keep = host_with(engines(), config(), &candidates);
        let drop = host_with(engines(), EngineConfig { instances: InstancePolicy::DropAfterCall, ..config() }, &candidates);
        let kept = play(&keep, &turns, fork_at)?;
        let dropped = play(&drop, &turns, usize::MAX)?;
        prop_assert_eq!(trace(&*kept), trace(&*dropped));
    }
}
