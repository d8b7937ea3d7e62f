//! What the state costs: fork, get, put, find and digest, on a small world and on a large one.

#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::hint::black_box;

use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
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
    let (created, folder) = (10_000_000 + number, number % 10_000);
    format!(
        r#"{{"body":"a body of forty characters, more or less","created":{created},"folder":"f{folder:05}","pinned":false,"title":"{title:0<16}"}}"#
    )
}

fn world(size: usize, indexes: &[&str]) -> World {
    let mut world = World::new(WorldLimits { bytes: 1 << 30, ..WorldLimits::default() });
    for number in 0..COLLECTIONS {
        let name = CollectionName::new(format!("c{number:02}")).unwrap();
        let indexes = indexes.iter().map(|index| (*index).to_owned()).collect();
        world
            .declare(&CollectionSpec {
                name,
                schema: None,
                bookkeeping: vec!["/created".into()],
                indexes,
                initial: Vec::new(),
            })
            .unwrap();
    }
    for number in 0..size {
        world.put("c20", &format!("note-{number:06}"), &text(number, "t")).unwrap();
    }
    world.seal().unwrap();
    world
}

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// The two texts that a benchmark writes in turn, so that every write changes something.
fn next_text<'a>(texts: &mut impl Iterator<Item = &'a String>) -> &'a str {
    texts.next().unwrap()
}

fn operations(criterion: &mut Criterion) {
    let texts = [text(5, "left"), text(5, "right")];
    assert!(texts.iter().all(|text| text.len() == 130));
    for size in SIZES {
        let base = world(size, &[]);
        let indexed = world(size, &["/folder"]);
        let mut group = criterion.benchmark_group("world");
        reads(&mut group, size, &base, &indexed);
        writes(&mut group, size, &base, &indexed, &texts);
        derived(&mut group, size, &base, &texts);
        group.finish();
    }
}

fn reads(group: &mut Group<'_>, size: usize, base: &World, indexed: &World) {
    group.bench_function(BenchmarkId::new("fork_and_drop", size), |bencher| bencher.iter(|| black_box(base.fork())));
    group.bench_function(BenchmarkId::new("get", size), |bencher| {
        bencher.iter(|| black_box(base.get("c20", "note-000005").unwrap().unwrap().text().len()));
    });
    let query =
        Query { clauses: vec![Clause { at: "/folder".into(), test: Test::Eq("f00005".into()) }], ..Query::default() };
    for (name, world) in [("find_by_index", indexed), ("find_by_scan", base)] {
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| black_box(world.find("c20", &query).unwrap().total))
        });
    }
}

fn writes(group: &mut Group<'_>, size: usize, base: &World, indexed: &World, texts: &[String; 2]) {
    let mut turns = texts.iter().cycle();
    for (name, world) in [("put_130_bytes", base), ("put_130_bytes_indexed", indexed)] {
        let mut world = world.fork();
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| world.put("c20", "note-000005", next_text(&mut turns)).unwrap());
        });
    }
    group.bench_function(BenchmarkId::new("put_after_fork", size), |bencher| {
        let [text, _] = texts;
        bencher.iter_batched_ref(
            || base.fork(),
            |fork| fork.put("c20", "note-000005", text).unwrap(),
            BatchSize::SmallInput,
        );
    });
    let mut called = base.fork();
    group.bench_function(BenchmarkId::new("call_two_gets_one_put", size), |bencher| {
        bencher.iter(|| {
            let savepoint = called.begin().unwrap();
            black_box(called.get("c20", "note-000003").unwrap());
            black_box(called.get("c20", "note-000005").unwrap());
            called.put("c20", "note-000005", next_text(&mut turns)).unwrap();
            called.commit(savepoint).unwrap();
        });
    });
    let mut patched = base.fork();
    let patches = [r#"{"pinned":true}"#.to_owned(), r#"{"pinned":false}"#.to_owned()];
    let mut patches = patches.iter().cycle();
    group.bench_function(BenchmarkId::new("patch", size), |bencher| {
        bencher.iter(|| patched.patch("c20", "note-000005", next_text(&mut patches)).unwrap());
    });
}

fn derived(group: &mut Group<'_>, size: usize, base: &World, texts: &[String; 2]) {
    let changed = || {
        let mut fork = base.fork();
        let [text, _] = texts;
        fork.put("c20", "note-000005", text).unwrap();
        fork
    };
    group.bench_function(BenchmarkId::new("digest_after_one_change", size), |bencher| {
        bencher.iter_batched_ref(changed, |fork| black_box(fork.digest()), BatchSize::SmallInput);
    });
    let fork = changed();
    group.bench_function(BenchmarkId::new("diff_of_one_change", size), |bencher| {
        bencher.iter(|| black_box(diff(base, &fork, Bookkeeping::Ignore)));
    });
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
    let left = build(["a", "b", "c"]);
    for (name, right) in [("same_order", build(["a", "b", "c"])), ("another_order", build(["c", "a", "b"]))] {
        criterion.bench_function(&format!("same_up_to_three_new_documents/{name}"), |bencher| {
            bencher.iter(|| assert!(same_up_to(left.side(), right.side(), &SamenessRule::default()).is_same()));
        });
    }
    criterion.bench_function("fork_and_drop_an_episode_state", |bencher| bencher.iter(|| black_box(start.fork())));
}

criterion_group!(benches, operations, comparison);
criterion_main!(benches);
