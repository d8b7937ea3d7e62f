//! The harness's own share of an episode: everything but the sandbox, whose place the fake host takes.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use loopwright_contract::action::Action;
use loopwright_contract::task::Task;
use loopwright_harness::planners::Scripted;
use loopwright_harness::{Harness, Output, RunOptions, Settings, run_tasks};
use loopwright_testkit::host::FakeHost;
use loopwright_testkit::stopwatch::CountingStopwatch;
use loopwright_testkit::task::{call, finish, torch_task};
use serde_json::json;

/// Decisions of one episode, as many as the default budget has.
const STEPS: u64 = 15;
/// Episodes of one run.
const EPISODES: u64 = 64;

/// Switches the torch fourteen times, then finishes.
fn long_task() -> Task {
    let switch = |turn: u64| {
        vec![Action::Call(call("c", "set_torch", json!({"on": turn.is_multiple_of(2), "level": 1 + turn % 5})))]
    };
    let gold = (1..STEPS).map(switch).chain([vec![finish("done")]]).collect();
    Task { gold, ..torch_task("long") }
}

fn steps(criterion: &mut Criterion) {
    let harness = match Harness::new(Arc::new(FakeHost::new()), Settings::default(), Vec::new()) {
        Ok(harness) => harness,
        Err(error) => unreachable!("there are no skill files: {error}"),
    };
    let task = long_task();
    let scripted = Scripted::new(std::slice::from_ref(&task));
    let tasks = vec![task; usize::try_from(EPISODES).unwrap_or(1)];
    let mut group = criterion.benchmark_group("scripted_step");
    group.throughput(Throughput::Elements(STEPS * EPISODES));
    for (name, output) in [("unrecorded", Output::Nowhere), ("recorded", Output::Memory)] {
        let options = RunOptions { output, ..RunOptions::new(Arc::new(CountingStopwatch::default())) };
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| black_box(run_tasks(&harness, &scripted, &tasks, &options, &|_| {})));
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
