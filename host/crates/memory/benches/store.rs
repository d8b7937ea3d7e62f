//! What the store costs with 20,000 units of one user on a real disk: a commit, opening, the snapshot file, a purge.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run ends")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loopwright_contract::memory::Role;
use loopwright_memory::corpus::Corpus as _;
use loopwright_memory::id::{RootKey, UserId, WorkspaceId};
use loopwright_memory::message::{Message, Place};
use loopwright_memory::moment::{Moment, Zone};
use loopwright_memory::store::{Capture, Disk, Root, Selection, Sources, Store};
use loopwright_memory::unit::Trust;

const UNITS: u32 = 20_000;
/// Messages in one commit while the memory is filled.
const PER_COMMIT: u32 = 1_000;

fn when(seconds: i64) -> Moment {
    Moment::new(seconds, Zone::utc()).expect("in range")
}

fn capture(position: u32) -> Capture {
    let place = Place {
        dialogue: "d".to_owned(),
        session: format!("s{}", position / 25),
        position,
        speaker: "Ann".to_owned(),
        role: Role::User,
    };
    let text = format!("Message {position}: we talked about the trip to Oslo, the tickets, and what to bring along.");
    Capture::of(Message { place, text, mentioned: when(i64::from(position)) }, Trust::Stated)
}

fn open(folder: &Path) -> Store {
    let root = Root::open(Arc::new(Disk), folder, RootKey::new([7; 32])).expect("a root");
    root.user(&WorkspaceId::new("w").expect("an id"), &UserId::new("u").expect("an id")).expect("opens")
}

fn fill(store: &Store, units: u32) {
    for start in (0..units).step_by(PER_COMMIT as usize) {
        let captures = (start..units.min(start + PER_COMMIT)).map(capture).collect();
        store.capture(captures, &when(0)).expect("kept");
    }
}

fn store(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path());
    fill(&memory, UNITS);
    let mut position = UNITS;
    criterion.bench_function("append one message and sync, at 20k units", |bencher| {
        bencher.iter(|| {
            position += 1;
            memory.capture(vec![capture(position)], &when(0)).expect("kept")
        });
    });
    criterion.bench_function("append 100 messages and sync, at 20k units", |bencher| {
        bencher.iter(|| {
            let captures = (position + 1..=position + 100).map(capture).collect();
            position += 100;
            memory.capture(captures, &when(0)).expect("kept")
        });
    });
    drop(memory);

    let folder = tempfile::tempdir().expect("a folder");
    let memory = open(folder.path());
    fill(&memory, UNITS);
    criterion.bench_function("take a snapshot to read, at 20k units", |bencher| {
        bencher.iter(|| black_box(memory.snapshot()))
    });
    criterion.bench_function("write the snapshot file, at 20k units", |bencher| {
        bencher.iter(|| memory.checkpoint().expect("written"));
    });
    let folder_of_user = memory.folder().to_path_buf();
    drop(memory);
    criterion.bench_function("open from the snapshot file, 20k units", |bencher| {
        bencher.iter(|| assert_eq!(open(folder.path()).snapshot().ordinals(), u64::from(UNITS)));
    });
    let forget = || std::fs::remove_file(folder_of_user.join("snapshot")).expect("removed");
    criterion.bench_function("open from the log alone, 20k units", |bencher| {
        let again = || open(folder.path()).checkpoint().expect("written");
        bencher.iter_batched(
            || {
                again();
                forget();
            },
            |()| assert_eq!(open(folder.path()).snapshot().ordinals(), u64::from(UNITS)),
            BatchSize::PerIteration,
        );
    });
    let memory = open(folder.path());
    let mut ordinal = 0;
    criterion.bench_function("purge one message, at 20k units", |bencher| {
        bencher.iter(|| {
            let id = memory.snapshot().unit(ordinal).expect("there").id;
            ordinal += 1;
            memory.purge(&Selection::Units(vec![id]), Sources::Keep, &when(0)).expect("purged")
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = store
}
criterion_main!(benches);
