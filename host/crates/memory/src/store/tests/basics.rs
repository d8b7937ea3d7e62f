//! Capturing, deriving and reading, and what the one writer promises.

use super::*;

#[test]
fn what_is_captured_is_there_in_order_and_after_reopening() {
    let files = Faulty::new();
    let store = open(&files);
    for position in [2, 0, 1, 9, 8] {
        keep(&store, position, &format!("message {position}"));
    }
    let check = |store: &Store| {
        let snapshot = store.snapshot();
        assert_eq!((snapshot.len(), snapshot.ordinals(), snapshot.sequence()), (5, 5, 5));
        let neighbours: Vec<_> = (0..5).map(|ordinal| (snapshot.previous(ordinal), snapshot.next(ordinal))).collect();
        let expected = [(Some(2), None), (None, Some(2)), (Some(1), Some(0)), (Some(4), None), (None, Some(3))];
        assert_eq!(neighbours, expected);
        let first = snapshot.unit(0).expect("there");
        assert_eq!((first.text.as_str(), first.status, first.evidence[0].sequence), ("message 2", Status::Verified, 1));
        assert_eq!(snapshot.ordinal(&first.id), Some(0));
    };
    check(&store);
    drop(store);
    let store = open(&files);
    check(&store);
    store.checkpoint().expect("a snapshot");
    drop(store);
    let store = open(&files);
    assert_eq!((store.opening().snapshot, store.opening().followed), (Some(5), 0));
    check(&store);
    assert_eq!(store.verify().expect("whole").units, 5);
}

#[test]
fn the_same_message_is_captured_once() {
    let files = Faulty::new();
    let store = open(&files);
    let first = keep(&store, 0, "I live in Oslo");
    let again = |store: &Store, capture: Capture| store.capture(vec![capture], &when(7_000)).expect("answered")[0];
    assert_eq!(again(&store, capture(0, "I live in Oslo")), Kept::Known(first));
    assert!(matches!(again(&store, capture(1, "I live in Oslo")), Kept::New(_)), "another place is another message");
    let named = Capture { key: Some("k".into()), ..capture(2, "hello") };
    let Kept::New(at) = again(&store, named.clone()) else { panic!("new") };
    drop(store);
    let store = open(&files);
    assert_eq!(again(&store, named), Kept::Known(at));
    assert_eq!(again(&store, capture(0, "I live in Oslo")), Kept::Known(first));
    let other = Capture { key: Some("k".into()), ..capture(3, "something else") };
    assert!(matches!(store.capture(vec![other], &when(1)), Err(StoreError::KeyReused { index: 0 })));
    assert_eq!(store.snapshot().len(), 3);
    let twice = vec![capture(5, "twice"), capture(5, "twice")];
    let kept = store.capture(twice, &when(1)).expect("kept");
    assert!(matches!(kept[..], [Kept::New(new), Kept::Known(known)] if new == known));
}

#[test]
fn a_claim_changes_hands_only_if_nobody_was_faster() {
    let store = open(&Faulty::new());
    let said =
        [keep(&store, 0, "I live in Oslo"), keep(&store, 1, "I live in Rome"), keep(&store, 2, "I live in Bern")];
    let oslo = claim(&store, "lives_in", "Oslo", &[said[0].sequence], None);
    let snapshot = store.snapshot();
    let prepare = |value: &str, at: At| {
        let mut transaction = Transaction::at(&snapshot);
        let new = transaction.add(content(&snapshot, "lives_in", value, &[at.sequence]), None);
        transaction.supersede(oslo.id, new);
        transaction
    };
    let (rome, bern) = (prepare("Rome", said[1]), prepare("Bern", said[2]));
    // A commit that has nothing to do with the claim is in nobody's way.
    claim(&store, "likes", "tea", &[keep(&store, 3, "I like tea").sequence], None);
    store.commit(rome, &when(6_000)).expect("the first");
    let refused = store.commit(bern, &when(6_000)).expect_err("too late");
    assert!(matches!(&refused, StoreError::Stale { what, .. } if what.contains("lives_in")), "{refused}");
    let snapshot = store.snapshot();
    let heads: Vec<_> = snapshot.heads(&key_of("lives_in")).map(|(_, unit)| unit.text.as_str()).collect();
    assert_eq!(heads, ["lives_in Rome"]);
    assert_eq!(snapshot.claimed(&key_of("lives_in")).count(), 2);
    let mut watching = Transaction::at(&snapshot);
    watching.watch(key_of("likes"));
    watching.indexed(3);
    claim(&store, "likes", "jazz", &[keep(&store, 4, "I like jazz").sequence], None);
    assert!(matches!(store.commit(watching, &when(1)), Err(StoreError::Stale { .. })));
}

#[test]
fn a_derived_unit_that_is_derived_again_is_the_same() {
    let store = open(&Faulty::new());
    let said = keep(&store, 0, "I live in Oslo");
    let once = claim(&store, "lives_in", "Oslo", &[said.sequence], None);
    let snapshot = store.snapshot();
    let mut transaction = Transaction::at(&snapshot);
    transaction.add(content(&snapshot, "lives_in", "Oslo", &[said.sequence]), None);
    let committed = store.commit(transaction, &when(8_000)).expect("committed");
    assert_eq!(committed.added, [Added { at: once, new: false }]);
    assert_eq!(committed.sequence, snapshot.sequence());
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let files = Faulty::new();
    let store = open(&files);
    let said = keep(&store, 0, "I live in Oslo");
    let oslo = claim(&store, "lives_in", "Oslo", &[said.sequence], None);
    let tea = claim(&store, "likes", "Oslo", &[said.sequence], None);
    let snapshot = store.snapshot();
    let stranger = UnitId::of(&RootKey::new([3; 32]), 0);
    type Prepare<'a> = &'a dyn Fn(&mut Transaction);
    let base = content(&snapshot, "lives_in", "x", &[said.sequence]);
    let with = |edit: &dyn Fn(&mut Content)| {
        let mut content = base.clone();
        edit(&mut content);
        content
    };
    let cases: [(&str, Prepare<'_>); 13] = [
        ("unknown", &|tx| tx.supersede(stranger, oslo.id)),
        ("unknown", &|tx| tx.supersede(oslo.id, stranger)),
        ("own place", &|tx| tx.merge(oslo.id, oslo.id)),
        ("same claim key", &|tx| tx.supersede(oslo.id, tea.id)),
        ("same claim key", &|tx| tx.contest(oslo.id, tea.id)),
        ("cannot be fired", &|tx| tx.fire(oslo.id, when(1))),
        ("cannot be revised", &|tx| tx.revise(said.id, base.clone())),
        ("addition 4", &|tx| tx.merge(oslo.id, Of::New(4))),
        ("evidence is empty", &|tx| {
            tx.add(with(&|content| content.evidence.clear()), None);
        }),
        ("text is empty", &|tx| {
            tx.add(with(&|content| content.text = " ".into()), None);
        }),
        ("no message was captured", &|tx| {
            tx.add(with(&|content| content.evidence[0].sequence = 2), None);
        }),
        ("no such bytes", &|tx| {
            tx.add(with(&|content| content.evidence[0].end = 99), None);
        }),
        ("digest is not", &|tx| {
            tx.add(with(&|content| content.evidence[0].start = 1), None);
        }),
    ];
    let before = files.all();
    for (expected, prepare) in cases {
        let mut transaction = Transaction::at(&snapshot);
        prepare(&mut transaction);
        let refused = store.commit(transaction, &when(1)).expect_err(expected);
        assert!(told(&refused).contains(expected), "{} has no `{expected}`", told(&refused));
    }
    assert_eq!((store.snapshot().sequence(), files.all()), (snapshot.sequence(), before));
}

#[test]
fn contradictions_end_when_one_side_is_no_longer_current() {
    let store = open(&Faulty::new());
    let said = [keep(&store, 0, "Oslo"), keep(&store, 1, "Rome")];
    let (oslo, rome) = (
        claim(&store, "home", "Oslo", &[said[0].sequence], None),
        claim(&store, "home", "Rome", &[said[1].sequence], None),
    );
    let commit = |prepare: &dyn Fn(&mut Transaction)| {
        let mut transaction = Transaction::at(&store.snapshot());
        prepare(&mut transaction);
        store.commit(transaction, &when(1)).expect("committed");
    };
    commit(&|tx| tx.contest(oslo.id, rome.id));
    assert_eq!((status(&store, oslo.id), status(&store, rome.id)), (Status::Contested, Status::Contested));
    assert_eq!(unit(&store, oslo.id).conflicts, [rome.id]);
    commit(&|tx| tx.supersede(oslo.id, rome.id));
    assert_eq!((status(&store, oslo.id), status(&store, rome.id)), (Status::Superseded, Status::Verified));
    assert_eq!((unit(&store, oslo.id).superseded_by, unit(&store, rome.id).supersedes), (Some(rome.id), vec![oslo.id]));
    commit(&|tx| tx.expire(rome.id, when(9)));
    assert_eq!(status(&store, rome.id), Status::Expired);
    let past: Vec<_> = store.history(&rome.id).expect("read").iter().map(|past| past.event.name()).collect();
    assert_eq!(past, ["verified", "contested", "superseded", "expired"]);
    store.verify().expect("whole");
}

#[test]
fn readers_keep_what_they_saw() {
    let store = open(&Faulty::new());
    keep(&store, 0, "one");
    let old = store.snapshot();
    keep(&store, 1, "two");
    assert_eq!((old.len(), store.snapshot().len(), old.is_withdrawn()), (1, 2, false));
    assert_eq!(store.snapshot().changed_since(old.sequence()), Some(vec![1]));
    store.purge(&Selection::Units(vec![old.unit(0).expect("there").id]), Sources::Keep, &when(9_000)).expect("purged");
    assert!(old.is_withdrawn() && !store.snapshot().is_withdrawn());
    assert_eq!(store.snapshot().changed_since(old.sequence()), None);
}

#[test]
fn a_second_process_is_told_that_the_memory_is_in_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let (workspace, user) = names();
    let root = || Root::open(Arc::new(Disk), folder.path(), key()).expect("a root");
    let (first, second) = (root(), root());
    let store = first.user(&workspace, &user).expect("opens");
    let same = first.user(&workspace, &user).expect("the same process");
    keep(&same, 0, "hello");
    assert_eq!(store.snapshot().len(), 1);
    let refused = second.user(&workspace, &user).expect_err("locked");
    assert!(matches!(&refused, StoreError::Locked { .. }) && refused.to_string().contains("hint:"), "{refused}");
    let copy = store.clone();
    drop((store, same));
    assert!(second.user(&workspace, &user).is_err(), "a clone still has it");
    drop(copy);
    assert_eq!(second.user(&workspace, &user).expect("free").snapshot().len(), 1);
    let other = Root::open(Arc::new(Disk), folder.path(), RootKey::new([1; 32]));
    assert!(matches!(other.err(), Some(StoreError::Key { .. })));
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let files = Faulty::new();
    let store = open(&files);
    keep(&store, 0, "before");
    for room in 0..700 {
        files.leave_room(Some(room));
        let captured = store.capture(vec![capture(1, "while it is full")], &when(1));
        files.leave_room(None);
        assert_eq!(captured.is_ok(), store.snapshot().len() == 2, "{room}");
        if captured.is_ok() {
            assert!(room > 100);
            break;
        }
        let refused = captured.expect_err("full");
        assert!(matches!(&refused, StoreError::Io { .. }), "{}", told(&refused));
    }
    keep(&store, 2, "after");
    let purged = store.snapshot().unit(1).expect("there").id;
    for room in (0..4_000).step_by(7) {
        files.leave_room(Some(room));
        let done = store.purge(&Selection::Units(vec![purged]), Sources::Keep, &when(9_000));
        files.leave_room(None);
        let there = store.snapshot().ordinal(&purged).is_some();
        assert_eq!(done.is_err(), there, "{room}");
        if done.is_ok() {
            break;
        }
    }
    keep(&store, 3, "and on");
    drop(store);
    let texts: Vec<_> = open(&files).snapshot().units().map(|(_, unit)| unit.text.clone()).collect();
    assert_eq!(texts, ["before", "after", "and on"]);
}
