//! What a purge takes, what it leaves, and that it does not come back.

use std::collections::BTreeMap;

use super::*;
use crate::unit::Activation;

fn texts(store: &Store) -> Vec<String> {
    store.snapshot().units().map(|(_, unit)| unit.text.clone()).collect()
}

/// The files that have a word. Nothing in them is compressed or encrypted: where it is, it is seen.
fn found(files: &Faulty, word: &str) -> Vec<String> {
    let has = |bytes: &[u8]| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    files.all().into_iter().filter(|(_, bytes)| has(bytes)).map(|(path, _)| path).collect()
}

fn purge(store: &Store, id: UnitId, sources: Sources) -> Purge {
    store.purge(&Selection::Units(vec![id]), sources, &when(9_000)).expect("purged")
}

#[test]
fn a_sentinel_is_in_every_file_before_and_in_none_after() {
    let files = Faulty::new();
    let store = open(&files);
    for round in 0..200_u32 {
        let sentinel = format!("zq{round:04}kj");
        let said = keep(&store, round, &format!("my secret is {sentinel}"));
        let other = keep(&store, 10_000 + round, &format!("unrelated {round}"));
        let profile = claim(&store, &format!("secret_{round}"), &sentinel, &[said.sequence], None);
        let snapshot = store.snapshot();
        let mut transaction = Transaction::at(&snapshot);
        let mut summary =
            content(&snapshot, "summary", &format!("{sentinel} and more"), &[said.sequence, other.sequence]);
        summary.derived_from = vec![profile.id];
        let mut reminder = content(&snapshot, "remind", &sentinel, &[said.sequence]);
        reminder.layer = Layer::Prospective;
        let condition = Some(format!("when {sentinel} comes up"));
        reminder.activation =
            Some(Activation { due: None, condition, valid_until: None, fired: None, completed: None });
        transaction.add(summary, None);
        transaction.add(reminder, None);
        transaction.reject(format!("{sentinel} is a city"), "invented".into(), Vec::new());
        store.commit(transaction, &when(6_000)).expect("committed");
        let snapshot = store.snapshot();
        let mut revise = Transaction::at(&snapshot);
        revise.revise(
            profile.id,
            content(&snapshot, &format!("secret_{round}"), &format!("{sentinel}!"), &[said.sequence]),
        );
        store.commit(revise, &when(6_000)).expect("committed");
        store.checkpoint().expect("written");
        let before = found(&files, &sentinel);
        assert!(
            before.iter().any(|path| path.contains("/log/")) && before.iter().any(|path| path.ends_with("snapshot"))
        );
        let purge = purge(&store, said.id, Sources::Keep);
        assert!(purge.ordinals.len() >= 3, "{purge:?}");
        assert_eq!(found(&files, &sentinel), [""; 0], "round {round}");
        assert!(texts(&store).iter().all(|text| !text.contains(&sentinel)));
        let again =
            store.capture(vec![capture(round, &format!("my secret is {sentinel}"))], &when(9_500)).expect("answered");
        assert!(matches!(again[..], [Kept::Tombstoned { .. }]), "{again:?}");
        if round % 50 == 0 {
            store.verify().expect("whole");
        }
    }
    drop(store);
    let store = open(&files);
    assert!(texts(&store).iter().all(|text| text.starts_with("unrelated") || text.is_empty()));
    store.verify().expect("whole");
}

#[test]
fn provenance_is_followed_and_what_keeps_evidence_stays() {
    let files = Faulty::new();
    let store = open(&files);
    let said = [keep(&store, 0, "I live in Oslo, says Nils"), keep(&store, 1, "As I said, I live in Oslo")];
    let both = claim(&store, "lives_in", "Oslo", &[said[0].sequence, said[1].sequence], None);
    let one = claim(&store, "friend", "Nils", &[said[0].sequence], None);
    let name = claim(&store, "met", "Nils", &[said[0].sequence, said[1].sequence], None);
    let report = purge(&store, said[0].id, Sources::Keep);
    assert_eq!(report.ids, [said[0].id, one.id]);
    let affected: Vec<_> = report.affected.iter().map(|affected| (affected.id, affected.withheld)).collect();
    // What only the purged message had named is withheld; what the other one says too is kept.
    assert_eq!(affected, [(both.id, false), (name.id, true)]);
    assert_eq!((status(&store, both.id), unit(&store, both.id).evidence.len()), (Status::Verified, 1));
    assert_eq!((status(&store, name.id), unit(&store, name.id).text.as_str()), (Status::Candidate, ""));
    assert_eq!(found(&files, "Nils"), [""; 0]);
    let snapshot = store.snapshot();
    let mut transaction = Transaction::at(&snapshot);
    transaction.revise(name.id, content(&snapshot, "met", "somebody in Oslo", &[said[1].sequence]));
    store.commit(transaction, &when(9_100)).expect("derived again");
    assert_eq!(status(&store, name.id), Status::Verified);
    drop(store);
    open(&files).verify().expect("whole");
}

#[test]
fn what_a_purged_unit_had_replaced_does_not_come_back() {
    let files = Faulty::new();
    let store = open(&files);
    let said: Vec<At> = (0..4).map(|place| keep(&store, place, &format!("message {place}"))).collect();
    let chain = |values: [&str; 3], predicate: &str| {
        let mut old: Option<UnitId> = None;
        values.map(|value| {
            let at = claim(&store, predicate, value, &[said[0].sequence, said[1].sequence], old);
            old = Some(at.id);
            at.id
        })
    };
    let [first, middle, last] = chain(["Oslo", "Rome", "Bern"], "home");
    let report = purge(&store, middle, Sources::Keep);
    assert!(report.revived.is_empty());
    assert_eq!((unit(&store, first).superseded_by, unit(&store, last).supersedes), (Some(last), vec![first]));
    purge(&store, last, Sources::Keep);
    assert_eq!((status(&store, first), unit(&store, first).superseded_by), (Status::Superseded, None));

    // Only what said the same as it had taken its place: it says so itself.
    let same = claim(&store, "pet", "cat", &[said[2].sequence], None);
    let twin = claim(&store, "pet", "cat", &[said[3].sequence], None);
    let mut merge = Transaction::at(&store.snapshot());
    merge.merge(same.id, twin.id);
    store.commit(merge, &when(6_500)).expect("merged");
    assert_eq!((status(&store, same.id), unit(&store, same.id).superseded_by), (Status::Superseded, Some(twin.id)));
    let report = purge(&store, twin.id, Sources::Purge);
    assert_eq!((report.revived, status(&store, same.id)), (vec![same.id], Status::Verified));
    drop(store);
    let store = open(&files);
    assert_eq!((status(&store, first), status(&store, same.id)), (Status::Superseded, Status::Verified));
    store.verify().expect("whole");
}

#[test]
fn a_claim_a_time_and_a_contradiction_are_purged() {
    let store = open(&Faulty::new());
    let said: Vec<At> = (0..4).map(|place| keep(&store, place, &format!("message {place}"))).collect();
    let oslo = claim(&store, "home", "Oslo", &[said[0].sequence], None);
    let rome = claim(&store, "home", "Rome", &[said[1].sequence], None);
    let tea = claim(&store, "likes", "tea", &[said[2].sequence], None);
    let mut contest = Transaction::at(&store.snapshot());
    contest.contest(oslo.id, rome.id);
    contest.contribute("c-1".into(), vec![rome.id]);
    store.commit(contest, &when(6_000)).expect("committed");
    let report = purge(&store, rome.id, Sources::Keep);
    assert_eq!(report.contributions, ["c-1"]);
    assert_eq!((status(&store, oslo.id), unit(&store, oslo.id).conflicts.len()), (Status::Verified, 0));
    let claim_purge = store.purge(&Selection::Claim(key_of("home")), Sources::Purge, &when(9_000)).expect("purged");
    assert_eq!(claim_purge.ids, [said[0].id, oslo.id]);
    // The messages of places 2 and 3 were said at 1,002 and 1,003 seconds.
    let range = Selection::Mentioned { from: 1_003, until: 2_000 };
    let timed = store.purge(&range, Sources::Keep, &when(9_000)).expect("purged");
    assert_eq!(timed.ids, [said[3].id]);
    assert_eq!(store.snapshot().units().map(|(_, unit)| unit.id).collect::<Vec<_>>(), [said[1].id, said[2].id, tea.id]);
    let nothing = store.purge(&Selection::Claim(key_of("nothing")), Sources::Purge, &when(1)).expect("nothing to do");
    assert!(nothing.ordinals.is_empty());
    store.verify().expect("whole");
}

#[test]
fn only_a_new_utterance_brings_a_purged_fact_back() {
    let store = open(&Faulty::new());
    let old = keep(&store, 0, "I live in Oslo");
    let fact = claim(&store, "lives_in", "Oslo", &[old.sequence], None);
    purge(&store, fact.id, Sources::Keep);
    let derive = |store: &Store, at: At| {
        let snapshot = store.snapshot();
        let mut transaction = Transaction::at(&snapshot);
        transaction.add(content(&snapshot, "lives_in", "Oslo", &[at.sequence]), None);
        store.commit(transaction, &when(9_900))
    };
    assert!(matches!(derive(&store, old), Err(StoreError::Tombstoned { .. })));
    let said = |place: u32, seconds: i64, text: &str| {
        let mut capture = capture(place, text);
        capture.message.mentioned = when(seconds);
        store.capture(vec![capture], &when(9_800)).expect("answered")[0]
    };
    // An old message, found now, is no new utterance.
    let found = said(500, 4_000, "Yes, Oslo is where I live").at().expect("kept");
    assert!(matches!(derive(&store, found), Err(StoreError::Tombstoned { .. })));
    let anew = said(501, 9_700, "I live in Oslo again").at().expect("kept");
    derive(&store, anew).expect("said again");
    purge(&store, old.id, Sources::Keep);
    assert!(matches!(said(0, 8_999, "I live in Oslo"), Kept::Tombstoned { .. }), "the same message");
    assert!(matches!(said(0, 9_000, "I live in Oslo"), Kept::Tombstoned { .. }), "of the second of the purge");
    // A session of the same name begins at its first place again: what is said there later is a new word.
    assert!(matches!(said(0, 9_999, "I live in Oslo"), Kept::New(_)), "at the same place, said anew");
    assert!(
        matches!(said(502, 8_999, "i LIVE in Oslo."), Kept::Tombstoned { .. }),
        "the same words, from before the purge"
    );
    assert!(matches!(said(503, 9_001, "I live in Oslo"), Kept::New(_)), "the same words, said anew");
}

#[test]
fn a_redacted_message_keeps_its_place_only() {
    let files = Faulty::new();
    let store = open(&files);
    let said: Vec<At> = (0..3).map(|place| keep(&store, place, &format!("word{place}"))).collect();
    let fact = claim(&store, "home", "word1", &[said[1].sequence], None);
    let report = store.redact(&[said[1].id], &when(9_000)).expect("redacted");
    assert_eq!((report.ids, report.redacted), (vec![fact.id], vec![1]));
    assert_eq!(found(&files, "word1"), [""; 0]);
    assert_eq!(texts(&store), ["word0", "", "word2"]);
    assert_eq!((status(&store, said[1].id), store.snapshot().next(0)), (Status::Redacted, Some(1)));
    assert!(matches!(store.capture(vec![capture(1, "word1")], &when(1)).expect("known")[..], [Kept::Known(_)]));
    assert!(store.redact(&[fact.id], &when(1)).is_err());
    drop(store);
    let store = open(&files);
    store.verify().expect("whole");
    purge(&store, said[1].id, Sources::Keep);
    assert_eq!(store.snapshot().next(0), Some(2));
    store.verify().expect("whole");
}

#[test]
fn retention_purges_by_age_and_count_and_spares_what_is_needed() {
    let store = open(&Faulty::new());
    let said: Vec<At> = (0..6).map(|place| keep(&store, place, &format!("message {place}"))).collect();
    let fact = claim(&store, "home", "Oslo", &[said[0].sequence], None);
    let rule = |age_seconds_max, count_max| Retention {
        layers: BTreeMap::from([(Layer::Episodic, Rule { age_seconds_max, count_max })]),
    };
    // Said at 1,000 to 1,005 seconds: at 1,012, those of the first two are older than 10 seconds.
    let aged = store.retain(&rule(Some(10), None), &when(1_012)).expect("purged");
    assert_eq!(aged.ids, [said[1].id]);
    let counted = store.retain(&rule(None, Some(2)), &when(1_012)).expect("purged");
    assert_eq!(counted.ids, [said[2].id, said[3].id]);
    assert_eq!(status(&store, fact.id), Status::Verified);
    assert!(store.retain(&Retention::default(), &when(i64::from(u32::MAX))).expect("none").ordinals.is_empty());
    store.verify().expect("whole");
}

#[test]
fn working_data_goes_with_its_task() {
    let files = Faulty::new();
    let store = open(&files);
    let working = Capture { working: Some("task 7".into()), ..capture(0, "one-time code 8841") };
    let at = store.capture(vec![working, capture(1, "hello")], &when(1)).expect("kept")[0].at().expect("new");
    claim(&store, "code", "8841", &[at.sequence], None);
    assert!(store.end_task("task 8", &when(2)).expect("another").ordinals.is_empty());
    assert_eq!(store.end_task("task 7", &when(3)).expect("purged").ordinals.len(), 2);
    assert_eq!((texts(&store), found(&files, "8841")), (vec!["hello".to_owned()], Vec::new()));
}

#[test]
fn a_purged_user_is_gone_at_any_step() {
    let (workspace, user) = names();
    for step in 0.. {
        let files = Faulty::new();
        let root = root_of(&files).expect("a root");
        let store = root.user(&workspace, &user).expect("opens");
        let at = keep(&store, 0, "sentinelword");
        let mut transaction = Transaction::at(&store.snapshot());
        transaction.contribute("c-9".into(), vec![at.id]);
        store.commit(transaction, &when(1)).expect("committed");
        store.checkpoint().expect("written");
        files.die_at(files.steps() + step);
        let purged = root.purge_user(&workspace, &user, &when(9_000));
        let finished = !files.is_dead();
        let gone = purged.is_ok() || matches!(purged, Err(StoreError::Leftover { .. }));
        if gone {
            assert!(store.snapshot().is_empty() && matches!(store.checkpoint(), Err(StoreError::Gone)));
        }
        drop((store, root));
        files.restart(&mut Random(step));
        let root = root_of(&files).expect("a root");
        let pending = root.unfinished(&workspace).expect("goes on");
        if finished {
            assert_eq!(purged.expect("purged").expect("there").contributions, ["c-9"]);
        }
        let there = root.has(&workspace, &user);
        assert!(!(there && finished), "step {step}");
        if there {
            assert_eq!(root.user(&workspace, &user).expect("opens").snapshot().len(), 1);
            assert!(pending.is_empty());
        } else {
            assert_eq!(found(&files, "sentinelword"), [""; 0]);
            assert_eq!(pending.iter().flat_map(|purge| purge.contributions.clone()).collect::<Vec<_>>(), ["c-9"]);
            pending.iter().for_each(|purge| root.finish(purge).expect("finished"));
            assert!(root.unfinished(&workspace).expect("none").is_empty());
            assert!(root.user(&workspace, &user).expect("begins anew").snapshot().is_empty());
        }
        if finished {
            assert!(step > 8);
            return;
        }
    }
}

/// Ends a process at every step of `act`, with what was not synced and without, and looks at what the next one finds.
fn at_every_step(prepare: &dyn Fn(&Store) -> At, act: &dyn Fn(&Store, At), found: &dyn Fn(&Store, At, bool)) {
    for power in [false, true] {
        for step in 0.. {
            let files = Faulty::new();
            let store = open(&files);
            let at = prepare(&store);
            files.die_at(files.steps() + step);
            act(&store, at);
            let finished = !files.is_dead();
            drop(store);
            if power {
                files.restart(&mut Random(step))
            } else {
                files.next_process()
            }
            let store = open(&files);
            found(&store, at, finished);
            store.verify().expect("whole");
            if finished {
                break;
            }
        }
    }
}

#[test]
fn a_contribution_is_kept_in_mind_from_the_purge_on_until_the_pool_was_told() {
    let prepare = |store: &Store| {
        let at = keep(store, 0, "sentinelword");
        let fact = claim(store, "home", "sentinelword", &[at.sequence], None);
        let mut transaction = Transaction::at(&store.snapshot());
        transaction.contribute("c-9".into(), vec![fact.id]);
        store.commit(transaction, &when(1)).expect("committed");
        store.checkpoint().expect("written");
        at
    };
    let pending = |store: &Store| store.snapshot().withdrawals().map(str::to_owned).collect::<Vec<_>>();
    let forget = |store: &Store, at: At| drop(store.purge(&Selection::Units(vec![at.id]), Sources::Keep, &when(9_000)));
    at_every_step(&prepare, &forget, &|store, at, finished| {
        let there = store.snapshot().ordinal(&at.id).is_some();
        assert!(!(there && finished));
        assert_eq!(pending(store), if there { Vec::new() } else { vec!["c-9".to_owned()] });
        assert_eq!(store.snapshot().contributions().count(), 1);
    });
    let purged = |store: &Store| {
        let at = prepare(store);
        purge(store, at.id, Sources::Keep);
        at
    };
    let told = |store: &Store, _: At| {
        let mut transaction = Transaction::at(&store.snapshot());
        transaction.withdraw(&["c-9".to_owned()]);
        drop(store.commit(transaction, &when(9_100)));
    };
    at_every_step(&purged, &told, &|store, _, finished| {
        assert_eq!(pending(store).len(), store.snapshot().contributions().count());
        assert!(!finished || pending(store).is_empty());
    });
}

#[test]
fn a_contribution_of_what_lost_a_part_is_to_be_taken_out_too() {
    let files = Faulty::new();
    let store = open(&files);
    let said = [keep(&store, 0, "I live in Oslo"), keep(&store, 1, "Oslo, as I said")];
    let fact = claim(&store, "home", "Oslo", &[said[0].sequence, said[1].sequence], None);
    let mut transaction = Transaction::at(&store.snapshot());
    transaction.contribute("c-1".into(), vec![fact.id]);
    store.commit(transaction, &when(1)).expect("committed");
    purge(&store, said[0].id, Sources::Keep);
    drop(store);
    let store = open(&files);
    assert_eq!((status(&store, fact.id), store.snapshot().withdrawals().count()), (Status::Verified, 1));
}

#[test]
fn a_release_leaves_no_mark_and_no_byte() {
    let files = Faulty::new();
    let store = open(&files);
    let at = keep(&store, 0, "sentinelword");
    store.release(&[at.id], &when(9_000)).expect("released");
    assert_eq!(found(&files, "sentinelword"), [""; 0]);
    assert_eq!(store.stats().expect("counted").tombstones, 0);
    assert!(matches!(store.capture(vec![capture(0, "sentinelword")], &when(9_001)).expect("kept")[..], [Kept::New(_)]));
    store.verify().expect("whole");
    drop(store);
    open(&files).verify().expect("whole");
}

#[test]
fn a_user_who_begins_anew_has_the_marks_at_any_step() {
    let (workspace, user) = names();
    for step in 0.. {
        let files = Faulty::new();
        let root = root_of(&files).expect("a root");
        let store = root.user(&workspace, &user).expect("opens");
        keep(&store, 0, "sentinelword");
        drop(store);
        root.purge_user(&workspace, &user, &when(9_000)).expect("purged");
        assert_eq!(found(&files, "sentinelword"), [""; 0]);
        files.die_at(files.steps() + step);
        drop(root.user(&workspace, &user));
        let finished = !files.is_dead();
        drop(root);
        files.restart(&mut Random(step));
        let store = open(&files);
        let again = store.capture(vec![capture(0, "sentinelword")], &when(9_500)).expect("answered");
        assert!(matches!(again[..], [Kept::Tombstoned { .. }]), "step {step}: {again:?}");
        assert_eq!(keep(&store, 5, "another").ordinal, 1, "numbers are not given again");
        store.verify().expect("whole");
        if finished {
            assert!(step > 5);
            break;
        }
    }
}

#[test]
fn a_full_disk_does_not_keep_a_user_from_being_forgotten() {
    let files = Faulty::new();
    let root = root_of(&files).expect("a root");
    let (workspace, user) = names();
    let store = root.user(&workspace, &user).expect("opens");
    keep(&store, 0, "sentinelword");
    files.leave_room(Some(0));
    // Somebody has it open: what is derived is in use, and nothing is gone.
    assert!(matches!(root.purge_user(&workspace, &user, &when(9_000)), Err(StoreError::Io { .. })));
    assert_eq!(texts(&store), ["sentinelword"]);
    files.leave_room(None);
    store.checkpoint().expect("written");
    drop(store);
    files.leave_room(Some(0));
    root.purge_user(&workspace, &user, &when(9_000)).expect("purged").expect("there");
    assert!(!root.has(&workspace, &user));
    assert_eq!(found(&files, "sentinelword"), [""; 0]);
    files.leave_room(None);
    let store = root.user(&workspace, &user).expect("begins anew");
    let again = store.capture(vec![capture(0, "sentinelword")], &when(9_500)).expect("answered");
    assert!(matches!(again[..], [Kept::Tombstoned { .. }]), "{again:?}");
}

#[test]
fn a_damaged_log_and_a_damaged_file_of_marks() {
    let files = Faulty::new();
    let root = root_of(&files).expect("a root");
    let (workspace, user) = names();
    let store = root.user(&workspace, &user).expect("opens");
    for place in 0..4 {
        keep(&store, place, &format!("sentinel{place}"));
    }
    drop((store, root));
    let log = files.all().into_iter().map(|(path, _)| path).find(|path| path.ends_with(".log")).expect("a log");
    files.damage(&log, |bytes| *bytes.get_mut(60).expect("there") ^= 1);
    let root = root_of(&files).expect("a root");
    assert!(root.user(&workspace, &user).is_err());
    root.purge_user(&workspace, &user, &when(9_000)).expect("purged");
    let store = root.user(&workspace, &user).expect("begins anew");
    let again = store.capture(vec![capture(3, "sentinel3")], &when(9_500)).expect("answered");
    assert!(matches!(again[..], [Kept::Tombstoned { .. }]), "what still read is marked: {again:?}");
    drop(store);
    root.purge_user(&workspace, &user, &when(9_600)).expect("purged");
    let marks = files.all().into_iter().map(|(path, _)| path).find(|path| path.contains("/forgotten-")).expect("marks");
    files.damage(&marks, |bytes| *bytes.last_mut().expect("there") ^= 1);
    assert!(matches!(root.user(&workspace, &user), Err(StoreError::Forgotten { .. })));
}

#[test]
fn other_users_are_not_touched_by_a_purge() {
    let files = Faulty::new();
    let root = root_of(&files).expect("a root");
    let (workspace, user) = names();
    let other = UserId::new("ann2").expect("an id");
    keep(&root.user(&workspace, &user).expect("opens"), 0, "mine");
    let theirs = root.user(&workspace, &other).expect("opens");
    keep(&theirs, 0, "theirs");
    root.purge_user(&workspace, &user, &when(9_000)).expect("purged");
    assert_eq!(texts(&theirs), ["theirs"]);
    assert!(root.purge_user(&workspace, &user, &when(9_000)).expect("nothing").is_none());
    assert!(root.pool(&workspace).expect("a pool").ends_with("pool"));
}
