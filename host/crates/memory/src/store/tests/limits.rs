//! Every limit has a test that passes it.

use super::super::frame;
use super::*;
use crate::message::TEXT_BYTES_MAX;

fn refusal(store: &Store, edit: impl Fn(&mut Content)) -> String {
    let snapshot = store.snapshot();
    let mut transaction = Transaction::at(&snapshot);
    let mut content = content(&snapshot, "home", "Oslo", &[1]);
    edit(&mut content);
    transaction.add(content, None);
    told(&store.commit(transaction, &when(1)).expect_err("past the limit"))
}

#[test]
fn what_a_unit_says_has_limits() {
    let store = open(&Faulty::new());
    keep(&store, 0, "hello");
    let label = "x".repeat(LABEL_BYTES_MAX + 1);
    let text = "x".repeat(UNIT_TEXT_BYTES_MAX + 1);
    let claim = |edit: &dyn Fn(&mut Claim)| refusal(&store, |content| edit(content.claim.as_mut().expect("a claim")));
    let cases = [
        (refusal(&store, |content| content.text.clone_from(&text)), "bytes of the text: 65537, expected at most 65536"),
        (
            refusal(&store, |content| content.evidence = vec![content.evidence[0].clone(); EVIDENCE_MAX + 1]),
            "evidence: 65, expected at most 64",
        ),
        (refusal(&store, |content| content.tags = vec!["x".into(); TAGS_MAX + 1]), "labels: 33, expected at most 32"),
        (refusal(&store, |content| content.tags = vec![label.clone()]), "label: 257, expected at most 256"),
        (refusal(&store, |content| content.tags = vec![String::new()]), "label is empty"),
        (refusal(&store, |content| content.category = Some(label.clone())), "category: 257, expected at most 256"),
        (
            refusal(&store, |content| content.derived_from = vec![UnitId::of(store.key(), 0); LINKS_MAX + 1]),
            "1025, expected at most 1024",
        ),
        (
            refusal(&store, |content| content.confidence.reason = "x".repeat(REASON_BYTES_MAX + 1)),
            "reason: 1025, expected at most 1024",
        ),
        (refusal(&store, |content| content.confidence.thousandths = 1_001), "1001, expected at most 1000"),
        (claim(&|claim| claim.key.subject.clone_from(&label)), "subject of the claim: 257"),
        (claim(&|claim| claim.key.predicate.clone_from(&label)), "predicate of the claim: 257"),
        (claim(&|claim| claim.key.qualifier = Some(label.clone())), "qualifier of the claim: 257"),
        (claim(&|claim| claim.value.clone_from(&text)), "claim's value: 65537"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found} has no `{expected}`");
    }
    let named = Capture { key: Some(label.clone()), ..capture(1, "x") };
    assert!(told(&store.capture(vec![named], &when(1)).expect_err("too long")).contains("idempotency key: 257"));
    let working = Capture { working: Some(label), ..capture(1, "x") };
    assert!(told(&store.capture(vec![working], &when(1)).expect_err("too long")).contains("name of the task: 257"));
    assert_eq!(store.snapshot().sequence(), 1);
}

#[test]
fn messages_have_limits_and_the_longest_fits() {
    let files = Faulty::new();
    let store = open(&files);
    for text in ["", " \n", "a\0b", &"x".repeat(TEXT_BYTES_MAX + 1)] {
        let refused = store.capture(vec![capture(0, "fine"), capture(1, text)], &when(1)).expect_err("refused");
        assert!(matches!(refused, StoreError::Message { index: 1, .. }), "{refused}");
    }
    assert!(store.snapshot().is_empty());
    // JSON writes each as six bytes.
    keep(&store, 0, &"\u{1}".repeat(TEXT_BYTES_MAX));
    drop(store);
    assert_eq!(open(&files).snapshot().units().next().expect("there").1.text.len(), TEXT_BYTES_MAX);
}

#[test]
fn a_commit_and_a_memory_have_limits() {
    let files = Faulty::new();
    let sizes = Sizes { batch_bytes_max: 2_000, units_max: 9, ..SMALL };
    let (workspace, user) = names();
    let root = || Root::open_sized(Arc::new(files.clone()), Path::new("/m"), key(), sizes).expect("a root");
    let store = root().user(&workspace, &user).expect("opens");
    let many = |from: u32, count: u32| (from..from + count).map(|place| capture(place, "hello")).collect::<Vec<_>>();
    let refused = told(&store.capture(many(0, 8), &when(1)).expect_err("too much at once"));
    assert!(refused.contains("bytes of a commit") && refused.contains("expected at most 2000"), "{refused}");
    (0..9).for_each(|place| _ = keep(&store, place, "hello"));
    let refused = told(&store.capture(many(9, 1), &when(1)).expect_err("one too many"));
    assert!(refused.contains("unit number 9") && refused.contains("less than 9"), "{refused}");
    let first = store.snapshot().units().next().expect("a unit").1.id;
    store.purge(&Selection::Units(vec![first]), Sources::Keep, &when(2)).expect("purged");
    assert!(store.capture(many(9, 1), &when(9_000)).is_err(), "numbers are not given again");
    assert_eq!(store.snapshot().len(), 8);
}

#[test]
fn a_unit_has_a_limited_number_of_links() {
    let store = open(&Faulty::new());
    let said = keep(&store, 0, "hello");
    let head = claim(&store, "home", "Oslo", &[said.sequence], None);
    let mut refused = None;
    for chunk in 0..=LINKS_MAX / 64 {
        let snapshot = store.snapshot();
        let mut transaction = Transaction::at(&snapshot);
        for number in 0..64 {
            let old = transaction.add(content(&snapshot, "home", &format!("{chunk} {number}"), &[said.sequence]), None);
            transaction.supersede(old, head.id);
        }
        if let Err(error) = store.commit(transaction, &when(1)) {
            refused = Some(told(&error));
        }
    }
    assert!(refused.expect("past the limit").contains("links of a unit: 1025, expected at most 1024"));
    assert_eq!(unit(&store, head.id).supersedes.len(), LINKS_MAX);
    // A purge of all of them fits into its records, whatever their links.
    store.purge(&Selection::Units(vec![said.id]), Sources::Keep, &when(1)).expect("purged");
    assert_eq!(store.snapshot().len(), 0);
}

#[test]
fn a_purge_of_many_units_is_written_in_several_records() {
    let files = Faulty::new();
    let store = open(&files);
    let count = u32::try_from(PURGED_PER_RECORD_MAX).expect("small") + 5;
    let all: Vec<Capture> = (0..count).map(|place| capture(place, &format!("message {place}"))).collect();
    store.capture(all, &when(1)).expect("kept");
    let everything = Selection::Mentioned { from: 0, until: i64::MAX };
    let purge = store.purge(&everything, Sources::Keep, &when(9_000)).expect("purged");
    assert_eq!((purge.ordinals.len(), purge.sequence), (count as usize, u64::from(count) + 2));
    drop(store);
    let store = open(&files);
    assert_eq!(
        (store.snapshot().ordinals(), store.stats().expect("read").tombstones),
        (u64::from(count), u64::from(count))
    );
    let bytes: usize =
        files.all().iter().filter(|(path, _)| path.ends_with(".log")).map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < count as usize * 110, "{bytes} bytes: what is purged takes no room but its tombstone's");
}

#[test]
fn a_search_after_damage_ends() {
    // Every place looks like the beginning of a record of half a megabyte.
    let mut bytes = frame::header(frame::LOG_MAGIC, 1);
    bytes.push(0xFF);
    for _ in 0..60_000 {
        bytes.extend((1_u32 << 18).to_le_bytes().iter().chain(&[0; 4]));
        bytes.extend([3_u64.to_le_bytes(), 3_u64.to_le_bytes()].concat());
    }
    bytes.extend(vec![0; 1 << 18]);
    let mut budget = bytes.len() * SALVAGE_READS_MAX;
    assert_eq!(frame::resume(&bytes, frame::HEADER_BYTES, 1, &mut budget), frame::Resumed::GivenUp);
    let mut budget = bytes.len();
    assert_eq!(frame::resume(&[0; 100], 0, 0, &mut budget), frame::Resumed::Nowhere);
}

#[test]
fn segments_follow_each_other_and_snapshots_are_written_by_themselves() {
    let files = Faulty::new();
    let store = open(&files);
    (0..40).for_each(|place| _ = keep(&store, place, "hello there"));
    let stats = store.stats().expect("read");
    assert!(stats.segments > 5 && stats.snapshot >= 24, "{stats:?}");
    drop(store);
    let store = open(&files);
    assert!(store.opening().followed < 20 && store.opening().snapshot.is_some(), "{:?}", store.opening());
    assert_eq!(store.snapshot().len(), 40);
    store.verify().expect("whole");
}
