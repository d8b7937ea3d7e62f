//! The engine's own share of a call: each row beside bare wasmtime with the same component and imports, in one run.
//!
//! Needs the components: `cargo xtask guests` first.

#![allow(clippy::expect_used, reason = "a bench that cannot run ends")]

use std::{hint::black_box, sync::Arc};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loopwright_contract::{
    environment::{Actor, Turn},
    episode::{Episode, EpisodeHost as _},
    task::{Start, Task},
    tool::ToolCall,
};
use loopwright_engine::{
    Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, PluginHost, Scratch, Ticker,
    floor::{EnvironmentFloor, ToolFloor, VerifierFloor},
};
use loopwright_registry::Index;
use serde_json::json;

fn host() -> PluginHost {
    let index =
        Index::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/plugins")).expect("the index of plugins");
    let candidates: Vec<Candidate> =
        index.plugins().map(|entry| index.load(entry).expect("a component").into()).collect();
    let config = EngineConfig { ticker: Ticker::Thread, ..EngineConfig::default() };
    let engines = Arc::new(Engines::new(&config).expect("engines"));
    PluginHost::install(engines, config, &GrantPolicy::trusting(), Arc::new(NoWorlds), &candidates)
        .expect("plugins that install")
}

fn start() -> Start {
    Start { now_ns: 1_772_413_200_000_000_000, zone: "Asia/Shanghai".into(), seed: 7 }
}

fn task() -> Task {
    let value = json!({
        "id": "bench", "family": "f", "category": "c", "split": "dev", "lang": "en", "request": "r", "environment": "sandbox",
        "start": start(), "checks": [{"verifier": "target-state", "check": {}}],
        "gold": [[{"action": "call", "id": "g", "tool": "update_note", "arguments": {"title": "Errands", "content": "x"}}]],
    });
    serde_json::from_value(value).expect("a task")
}

/// A call of the notes plugin with reads and a write.
fn call() -> ToolCall {
    ToolCall {
        id: "c1".parse().expect("an id"),
        tool: TOOL.parse().expect("a name"),
        arguments: serde_json::from_str(ARGUMENTS).expect("arguments"),
    }
}

const TOOL: &str = "manage_note";
const ARGUMENTS: &str = r#"{"action":"query"}"#;

fn calls(criterion: &mut Criterion) {
    let host = host();
    let call = call();
    let notes = "notes".parse().expect("a name");
    let mut group = criterion.benchmark_group("tool call");
    let mut floor = ToolFloor::new(&host, &notes).expect("a floor");
    assert!(floor.warm(&call).expect("a bare call"));
    group.bench_function("warm, bare", |bencher| bencher.iter(|| black_box(floor.warm(&call).expect("a bare call"))));
    let mut scratch = Scratch::new(&host, &start(), None).expect("a scratch world");
    group.bench_function("warm, host", |bencher| bencher.iter(|| black_box(scratch.measure(&call).expect("a call"))));
    group.bench_function("fresh, bare", |bencher| bencher.iter(|| black_box(floor.fresh(&call).expect("a bare call"))));
    group.finish();
}

fn episodes(criterion: &mut Criterion) {
    let host = host();
    let turn = Turn { actor: Actor::Agent, calls: vec![call()] };
    let mut group = criterion.benchmark_group("episode");
    let prepared = host.prepare(&task()).expect("a prepared task");
    group.bench_function("open and reset", |bencher| {
        bencher.iter(|| {
            let mut episode = prepared.open().expect("an episode");
            black_box(episode.reset().expect("a reset"));
        });
    });
    let (sandbox, notes) = ("sandbox".parse().expect("a name"), "notes".parse().expect("a name"));
    let mut floor = EnvironmentFloor::new(&host, &sandbox, &notes, "null").expect("a floor");
    group.bench_function("turn of one call, bare", |bencher| {
        bencher.iter(|| black_box(floor.turn(&turn).expect("a bare turn")))
    });
    let mut episode = prepared.open().expect("an episode");
    episode.reset().expect("a reset");
    let warm = |episode: &mut dyn Episode| {
        black_box(episode.step(&turn).expect("a turn"));
        episode.end_turn();
    };
    // A fork every so often, so that the record does not grow without bound.
    group.bench_function("turn of one call, host", |bencher| {
        let mut count = 0_u32;
        bencher.iter(|| {
            count += 1;
            if count.is_multiple_of(64) {
                episode = prepared.open().expect("an episode");
                episode.reset().expect("a reset");
            }
            warm(&mut *episode);
        });
    });
    group.bench_function("fork and first turn", |bencher| {
        let mut origin = prepared.open().expect("an episode");
        origin.reset().expect("a reset");
        warm(&mut *origin);
        bencher.iter_batched(
            || (),
            |()| {
                let mut fork = origin.fork().expect("a fork");
                warm(&mut *fork);
            },
            BatchSize::SmallInput,
        );
    });
    let check = task().checks.remove(0);
    let turns = vec![turn.clone(); 15];
    let verifier = VerifierFloor::over(&host, &check.verifier, &task(), &turns).expect("a floor");
    group.bench_function("fresh verdict, bare", |bencher| {
        bencher.iter(|| black_box(verifier.judge(&check, &[15]).expect("a bare verdict")))
    });
    let mut episode = prepared.open().expect("an episode");
    episode.reset().expect("a reset");
    for _ in 0..15 {
        warm(&mut *episode);
    }
    group.bench_function("final verdict, host", |bencher| {
        bencher.iter(|| black_box(episode.judge(0, &check, &[15]).expect("a verdict")))
    });
    let all: Vec<u32> = (1..=15).collect();
    group.bench_function("fifteen verdicts, host", |bencher| {
        bencher.iter(|| black_box(episode.judge(0, &check, &all).expect("verdicts")))
    });
    group.finish();
}

criterion_group!(benches, calls, episodes);
criterion_main!(benches);
