//! What the state costs: fork, get, put, find and digest, on a small world and on a large one.

#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use loopwright_contract::{
    limits::WorldLimits,
    name::CollectionName,
    state::{Clause, Query, Test},
    tool::CollectionSpec,
};
use loopwright_world::{Bookkeeping, Clock, EpisodeState, SamenessRule, World, diff, same_up_to};

const SIZES: [usize; 2] = [10, 100_000];
/// A phone has about this many collections.
const COLLECTIONS: usize = 40;

/// 130 bytes of canonical text.
fn text(number: usize, title: &str) -> String {
    format!(
        r#"{{"body":"a body of forty characters, more or less","created":{number:08},"folder":"f{:05}","pinned":false,"title":"{title:0<26}"}}"#,
        number % 10_000
    )
    .replace("\"created\":0", "\"created\":1")
}

fn world(size: usize, indexes: &[&str]) -> World {
    let mut world = World::new(WorldLimits { bytes: 1 << 30, ..WorldLimits::default() });
    for number in 0..COLLECTIONS {
        let name = CollectionName::new(format!("c{number:02}")).unwrap();
        let indexes = indexes.iter().map(|index| (*index).to_owned()).collect();
        world.declare(&CollectionSpec { name, schema: None, bookkeeping: vec!["/created".into()], indexes, initial: Vec::new() }).unwrap();
    }
    for number in 0..size {
        world.put("c20", &format!("note-{number:06}"), &text(number, "t")).unwrap();
    }
    world.seal().unwrap();
    world
}

fn operations(criterion: &mut Criterion) {
    for size in SIZES {
        let base = world(size, &[]);
        let indexed = world(size, &["/folder"]);
        let mut group = criterion.benchmark_group("world");
        group.bench_function(BenchmarkId::new("fork_and_drop", size), |bencher| bencher.iter(|| black_box(base.fork())));
        group.bench_function(BenchmarkId::new("get", size), |bencher| {
            bencher.iter(|| black_box(base.get("c20", "note-000005").unwrap().unwrap().text().len()));
        });
        let texts = [text(5, "left"), text(5, "right")];
        assert_eq!((texts[0].len(), texts[1].len()), (130, 130));
        let mut turn = 0;
        let mut alone = base.fork();
        group.bench_function(BenchmarkId::new("put_130_bytes", size), |bencher| {
            bencher.iter(|| {
                turn += 1;
                alone.put("c20", "note-000005", &texts[turn % 2]).unwrap();
            });
        });
        let mut called = base.fork();
        group.bench_function(BenchmarkId::new("call_two_gets_one_put", size), |bencher| {
            bencher.iter(|| {
                turn += 1;
                let savepoint = called.begin().unwrap();
                black_box(called.get("c20", "note-000003").unwrap());
                black_box(called.get("c20", "note-000005").unwrap());
                called.put("c20", "note-000005", &texts[turn % 2]).unwrap();
                called.commit(savepoint).unwrap();
            });
        });
        group.bench_function(BenchmarkId::new("put_after_fork", size), |bencher| {
            bencher.iter_batched_ref(|| base.fork(), |fork| fork.put("c20", "note-000005", &texts[0]).unwrap(), BatchSize::SmallInput);
        });
        let mut with_index = indexed.fork();
        group.bench_function(BenchmarkId::new("put_indexed", size), |bencher| {
            bencher.iter(|| {
                turn += 1;
                with_index.put("c20", "note-000005", &texts[turn % 2]).unwrap();
            });
        });
        group.bench_function(BenchmarkId::new("patch", size), |bencher| {
            bencher.iter(|| {
                turn += 1;
                alone.patch("c20", "note-000005", if turn % 2 == 0 { r#"{"pinned":true}"# } else { r#"{"pinned":false}"# }).unwrap();
            });
        });
        group.bench_function(BenchmarkId::new("digest_after_one_change", size), |bencher| {
            bencher.iter_batched_ref(
                || {
                    let mut fork = base.fork();
                    fork.put("c20", "note-000005", &texts[0]).unwrap();
                    fork
                },
                |fork| black_box(fork.digest()),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(BenchmarkId::new("diff_of_one_change", size), |bencher| {
            let mut fork = base.fork();
            fork.put("c20", "note-000005", &texts[0]).unwrap();
            bencher.iter(|| black_box(diff(&base, &fork, Bookkeeping::Ignore)));
        });
        let query = Query { clauses: vec![Clause { at: "/folder".into(), test: Test::Eq("f00005".into()) }], ..Query::default() };
        for (name, world) in [("find_by_index", &indexed), ("find_by_scan", &base)] {
            group.bench_function(BenchmarkId::new(name, size), |bencher| bencher.iter(|| black_box(world.find("c20", &query).unwrap().total)));
        }
        group.finish();
    }
}

fn comparison(criterion: &mut Criterion) {
    let start = EpisodeState::new(world(1_000, &[]), Clock::new(0, "UTC").unwrap(), 1).unwrap();
    let build = |order: [&str; 3]| {
        let mut state = start.fork();
        for title in order {
            let id = state.ids.next_id("memo").unwrap();
            state.world.put("c10", &id, &text(0, title)).unwrap();
        }
        state
    };
    let (left, right) = (build(["a", "b", "c"]), build(["c", "a", "b"]));
    criterion.bench_function("same_up_to_three_new_documents", |bencher| {
        bencher.iter(|| assert!(same_up_to(left.side(), right.side(), &SamenessRule::default()).is_same()));
    });
    criterion.bench_function("fork_and_drop_an_episode_state", |bencher| bencher.iter(|| black_box(start.fork())));
}

criterion_group!(benches, operations, comparison);
criterion_main!(benches);
