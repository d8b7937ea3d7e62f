//! Files that are not as they were written: cut, flipped, invented.

use proptest::prelude::*;

use super::super::frame::{self, FRAME_BYTES, HEADER_BYTES, LOG_MAGIC, Record, SNAPSHOT_MAGIC};
use super::*;

/// Where the one segment is.
fn segment(files: &Faulty) -> (String, Vec<u8>) {
    files.all().into_iter().rfind(|(path, _)| path.ends_with(".log")).expect("a segment")
}

/// Opens it with segments that hold everything.
fn long(files: &Faulty) -> Store {
    let (workspace, user) = names();
    let sizes = Sizes { segment_bytes: 1 << 20, ..SMALL };
    let root = Root::open_sized(Arc::new(files.clone()), Path::new("/m"), key(), sizes).expect("a root");
    root.user(&workspace, &user).expect("opens")
}

/// Six records in five commits; where each begins and the last ends.
fn five(files: &Faulty) -> Vec<usize> {
    let store = long(files);
    let said: Vec<At> = (0..3).map(|place| keep(&store, place, "a few words")).collect();
    claim(&store, "home", "words", &[said[1].sequence], None);
    store.capture(vec![capture(7, "two"), capture(8, "at once")], &when(1)).expect("kept");
    let bytes = segment(files).1;
    let mut ends = vec![HEADER_BYTES];
    while let Ok(Some((_, next))) = frame::read(&bytes, *ends.last().expect("one")) {
        ends.push(next);
    }
    ends
}

#[test]
fn a_log_cut_anywhere_has_the_commits_before() {
    let files = Faulty::new();
    let ends = five(&files);
    let (path, whole) = segment(&files);
    assert_eq!(ends.len(), 7);
    let near = |length: usize| ends.iter().any(|end| end.abs_diff(length) < 12);
    for length in (HEADER_BYTES..whole.len()).filter(|length| near(*length) || length % 17 == 0) {
        let files = Faulty::new();
        five(&files);
        files.damage(&path, |bytes| bytes.truncate(length));
        let store = open(&files);
        let records = ends.iter().filter(|end| **end <= length).count() - 1;
        // The last two records are one commit.
        let committed = if records == 5 { 4 } else { records };
        assert_eq!(store.snapshot().sequence(), committed as u64, "{length}");
        assert_eq!(store.opening().torn.is_some(), !(ends.contains(&length) && records != 5), "{length}");
        assert_eq!(keep(&store, 99, "more").sequence, committed as u64 + 1);
        drop(store);
        open(&files).verify().expect("whole");
    }
}

#[test]
fn a_flipped_bit_is_found_and_repaired() {
    let files = Faulty::new();
    let ends = five(&files);
    let (path, whole) = segment(&files);
    let (workspace, user) = names();
    for at in (0..whole.len()).step_by(3) {
        let files = Faulty::new();
        five(&files);
        files.damage(&path, |bytes| bytes[at] ^= 1 << (at % 8));
        // Damage in the last commit cannot be told from one that never ended.
        if at >= ends[4] {
            assert_eq!(open(&files).snapshot().sequence(), 4, "{at}");
            continue;
        }
        let refused = try_open(&files).expect_err("damaged");
        let text = refused.to_string();
        let (StoreError::Damaged { file, .. } | StoreError::Version { file, .. }) = &refused else {
            panic!("{at}: {text}")
        };
        assert!(file.to_string_lossy() == path.as_str(), "{at}: {text}");
        if let StoreError::Damaged { offset, .. } = &refused {
            assert!(*offset <= at as u64 && text.contains(REPAIR_COMMAND), "{at}: {text}");
        }
        let report = root_of(&files).expect("a root").repair(&workspace, &user).expect("repaired");
        let store = open(&files);
        let hit = ends.iter().take_while(|end| **end <= at).count() as u64;
        if hit == 0 {
            assert_eq!((report.kept, report.lost.len()), (6, 0), "only the header was hit");
        } else {
            // The claim needs the second message.
            assert_eq!(report.kept, if hit == 2 { 4 } else { 5 }, "{at}");
            assert_eq!((report.lost.as_slice(), report.dropped.len()), (&[(hit, hit)][..], usize::from(hit == 2)));
        }
        store.verify().expect("whole");
        assert_eq!(report.aside.len(), 2);
        assert!(files.all().iter().any(|(path, _)| path.contains("/aside/")));
        let first = store.snapshot().units().next().expect("a unit").1.id;
        store.purge(&Selection::Units(vec![first]), Sources::Keep, &when(9_000)).expect("purged");
        assert!(!files.all().iter().any(|(path, _)| path.contains("/aside/")), "a purge takes the old files too");
    }
}

#[test]
fn a_lost_list_of_segments_is_refused_and_repaired() {
    let files = Faulty::new();
    let store = open(&files);
    (0..20).for_each(|place| _ = keep(&store, place, &format!("message {place}")));
    drop(store);
    let list = files.all().into_iter().find(|(path, _)| path.ends_with("/segments")).expect("a list").0;
    files.damage(&list, |bytes| bytes[40] ^= 1);
    assert!(matches!(try_open(&files), Err(StoreError::Damaged { .. })));
    let (workspace, user) = names();
    let report = root_of(&files).expect("a root").repair(&workspace, &user).expect("repaired");
    assert_eq!((report.kept, report.lost.len()), (20, 0));
    assert_eq!(open(&files).verify().expect("whole").units, 20);
}

#[test]
fn a_bad_snapshot_is_thrown_away() {
    let files = Faulty::new();
    let store = open(&files);
    (0..5).for_each(|place| _ = keep(&store, place, "hello"));
    store.checkpoint().expect("written");
    drop(store);
    let (path, whole) = files.all().into_iter().find(|(path, _)| path.ends_with("/snapshot")).expect("a snapshot");
    for at in (0..whole.len()).step_by(5) {
        files.damage(&path, |bytes| {
            bytes.clone_from(&whole);
            bytes[at] ^= 0x10;
        });
        let store = open(&files);
        assert_eq!((store.opening().snapshot, store.snapshot().len()), (None, 5), "{at}");
        store.checkpoint().expect("written again");
    }
}

#[test]
fn a_log_that_ends_before_its_snapshot_is_refused() {
    let files = Faulty::new();
    let store = long(&files);
    (0..5).for_each(|place| _ = keep(&store, place, "hello"));
    store.checkpoint().expect("written");
    drop(store);
    let (path, _) = segment(&files);
    files.damage(&path, |bytes| bytes.truncate(bytes.len() - 1));
    let refused = try_open(&files).expect_err("records are missing");
    assert!(matches!(refused, StoreError::Lost { last: 4, shown: 5, .. }), "{refused}");
}

#[test]
fn text_that_looks_like_a_record_is_no_record() {
    let mut record = Vec::new();
    frame::write(
        &mut record,
        &Record { sequence: 9, batch: 9, at: 0, kind: 15, flags: 1, payload: b"{\"through\":9}" },
    );
    let files = Faulty::new();
    let store = open(&files);
    let text: String = record.iter().map(|byte| char::from(*byte)).filter(|ch| *ch != '\0').collect();
    keep(&store, 0, &text);
    keep(&store, 1, "after");
    drop(store);
    let (path, _) = segment(&files);
    files.damage(&path, |bytes| bytes.truncate(bytes.len() - 3));
    assert_eq!(open(&files).snapshot().len(), 1);
}

/// A log with these records, each with the right checksum.
fn forged(payloads: &[(u8, u8, Vec<u8>)], first: u64) -> Vec<u8> {
    let mut bytes = frame::header(LOG_MAGIC, 1);
    for (number, (kind, flags, payload)) in (0_u64..).zip(payloads) {
        let sequence = first.saturating_add(number);
        frame::write(&mut bytes, &Record { sequence, batch: sequence, at: 0, kind: *kind, flags: flags | 1, payload });
    }
    bytes
}

/// Opens, reads and repairs what somebody else wrote. It may be refused; it must not panic.
fn survive(log: Vec<u8>) {
    let files = Faulty::new();
    drop(open(&files));
    let (path, _) = segment(&files);
    files.damage(&path, |bytes| *bytes = log);
    let (workspace, user) = names();
    let opened = try_open(&files);
    if let Ok(store) = &opened {
        store.verify().expect("what opens is whole");
        store.export(&mut Vec::new(), &when(1)).expect("exported");
        store.checkpoint().expect("written");
        let ids: Vec<UnitId> = store.snapshot().units().map(|(_, unit)| unit.id).take(2).collect();
        store.purge(&Selection::Units(ids), Sources::Purge, &when(1)).expect("purged");
        store.verify().expect("and whole after a purge");
    }
    drop(opened);
    root_of(&files).expect("a root").repair(&workspace, &user).expect("repaired");
    open(&files).verify().expect("what was repaired is whole");
}

/// Records of a history with everything in it.
fn rich() -> Vec<(u8, Vec<u8>)> {
    let files = Faulty::new();
    let store = long(&files);
    let said: Vec<At> = (0..5).map(|place| keep(&store, place, &format!("word{place}"))).collect();
    let oslo = claim(&store, "home", "word0", &[said[0].sequence, said[1].sequence], None);
    let rome = claim(&store, "home", "word1", &[said[1].sequence], Some(oslo.id));
    let bern = claim(&store, "home", "word3", &[said[3].sequence], None);
    let mut transaction = Transaction::at(&store.snapshot());
    transaction.contest(rome.id, bern.id);
    transaction.expire(bern.id, when(1));
    transaction.indexed(3);
    transaction.contribute("c".into(), vec![oslo.id]);
    transaction.reject("nothing".into(), "no".into(), Vec::new());
    store.commit(transaction, &when(1)).expect("committed");
    store.purge(&Selection::Units(vec![said[4].id]), Sources::Keep, &when(9_000)).expect("purged");
    store.redact(&[said[2].id], &when(9_000)).expect("redacted");
    let bytes = segment(&files).1;
    let (mut records, mut at) = (Vec::new(), HEADER_BYTES);
    while let Ok(Some((record, next))) = frame::read(&bytes, at) {
        records.push((record.kind, record.payload.to_vec()));
        at = next;
    }
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400), headed: bool) {
        let mut log = if headed { frame::header(LOG_MAGIC, 1) } else { Vec::new() };
        log.extend(bytes);
        survive(log);
    }

    #[test]
    fn forged_records_do_no_harm(
        edits in proptest::collection::vec((any::<u16>(), any::<u16>(), "[0-9a-z{}\",:\\[\\]-]{0,4}"), 0..4),
        moves in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..3),
        flags in proptest::collection::vec(0_u8..4, 24),
        first in prop_oneof![Just(1_u64), Just(u64::MAX - 2), Just(SEQUENCE_MAX - 2), any::<u64>()],
    ) {
        let mut records = rich();
        for (record, at, text) in edits {
            let count = records.len();
            let payload = &mut records[usize::from(record) % count].1;
            let at = usize::from(at) % payload.len();
            let end = (at + text.len()).min(payload.len());
            payload.splice(at..end, text.bytes());
        }
        for (from, to) in moves {
            let (from, to) = (usize::from(from) % records.len(), usize::from(to) % records.len());
            records.swap(from, to);
        }
        let forge: Vec<_> = records.into_iter().zip(flags).map(|((kind, payload), flags)| (kind, flags, payload)).collect();
        survive(forged(&forge, first));
    }

    #[test]
    fn forged_snapshots_do_no_harm(kinds in proptest::collection::vec((1_u8..7, "[0-9a-z{}\",:\\[\\]]{0,30}"), 0..6)) {
        let mut bytes = frame::header(SNAPSHOT_MAGIC, 0);
        for (sequence, (kind, payload)) in (1..).zip(&kinds) {
            let payload = payload.as_bytes();
            frame::write(&mut bytes, &Record { sequence, batch: 1, at: 0, kind: *kind, flags: 1, payload });
        }
        prop_assert!(super::super::image::decode(&bytes, &key(), 100, 1).is_none());
    }

    #[test]
    fn frames_read_back(sequence: u64, batch: u64, at: i64, kind: u8, flags: u8, payload: Vec<u8>) {
        let record = Record { sequence, batch, at, kind, flags, payload: &payload };
        let mut bytes = vec![0; 3];
        frame::write(&mut bytes, &record);
        prop_assert_eq!(bytes.len(), 3 + FRAME_BYTES + frame::BODY_BYTES + payload.len());
        prop_assert_eq!(frame::read(&bytes, 3).expect("whole"), Some((record, bytes.len())));
    }
}

#[test]
fn a_log_behind_its_snapshot_is_refused_before_anything_is_cut_or_begun() {
    let files = Faulty::new();
    let store = open(&files);
    let first = keep(&store, 0, "one").id;
    store.purge(&Selection::Units(vec![first]), Sources::Keep, &when(7_000)).expect("purged: a generation later");
    let (path, before) = segment(&files);
    keep(&store, 1, "two");
    store.checkpoint().expect("written");
    drop(store);
    let refused = |files: &Faulty| {
        let error = try_open(files).expect_err("refused");
        assert!(matches!(error, StoreError::Lost { shown, .. } if shown > 1), "{error}");
        assert!(error.to_string().contains(REPAIR_COMMAND), "{error}");
    };
    let repaired = |files: &Faulty, units: u64| {
        let (workspace, user) = names();
        root_of(files).expect("a root").repair(&workspace, &user).expect("repaired");
        assert_eq!(open(files).snapshot().len(), units);
    };
    // Cut at the end of a record, and within the last one.
    for more in [0, 9] {
        let files = files.fork();
        let whole = segment(&files).1;
        files.damage(&path, |bytes| bytes.truncate(before.len() + more));
        refused(&files);
        refused(&files);
        assert_eq!(segment(&files).1, whole[..before.len() + more], "what is left of it was not cut");
        repaired(&files, 0);
    }
    // All files of the log are gone.
    let folder = Path::new(&path).parent().expect("a folder").to_path_buf();
    let gone = files.fork();
    gone.list(&folder)
        .expect("listed")
        .iter()
        .for_each(|entry| gone.remove(&folder.join(&entry.name)).expect("removed"));
    refused(&gone);
    refused(&gone);
    repaired(&gone, 0);
    // An empty log was begun in its place.
    let other = Faulty::new();
    drop(open(&other));
    let begun = files.fork();
    begun
        .list(&folder)
        .expect("listed")
        .iter()
        .for_each(|entry| begun.remove(&folder.join(&entry.name)).expect("removed"));
    for entry in other.list(&folder).expect("the same key, the same folder") {
        let bytes = other.read(&folder.join(&entry.name)).expect("read");
        begun.create(&folder.join(&entry.name)).expect("made").append(&bytes).expect("written");
    }
    refused(&begun);
    repaired(&begun, 0);
}
