//! Export and import: what comes back, what does not, and what is refused.

use proptest::prelude::*;

use super::*;

fn exported(store: &Store) -> String {
    let mut bytes = Vec::new();
    store.export(&mut bytes, &when(7_000)).expect("exported");
    String::from_utf8(bytes).expect("text")
}

fn import(store: &Store, text: &str) -> Result<Imported, StoreError> {
    // What these units claim is made up: only whether they move is looked at here.
    store.import_unjudged(&mut text.as_bytes(), &when(8_000))
}

/// What a memory says, without the numbers that another memory gives.
fn gist(store: &Store) -> Vec<String> {
    let snapshot = store.snapshot();
    let text = |id: &UnitId| snapshot.unit(snapshot.ordinal(id).expect("known")).expect("there").text.clone();
    let gist = |unit: &Unit| {
        let evidence: Vec<_> = unit
            .evidence
            .iter()
            .map(|evidence| {
                let (_, said) = snapshot.captured_at(evidence.sequence).expect("a message");
                let trust = evidence.trust.min(Trust::Imported);
                (said.text.clone(), said.place.clone(), evidence.start, evidence.end, evidence.digest, trust)
            })
            .collect();
        let mut links =
            [&unit.supersedes, &unit.conflicts, &unit.derived_from].map(|ids| ids.iter().map(text).collect::<Vec<_>>());
        links.iter_mut().for_each(|links| links.sort());
        let by = unit.superseded_by.as_ref().map(text);
        format!(
            "{:?}",
            (
                &unit.text,
                unit.layer,
                &unit.claim,
                &unit.mentioned,
                &unit.place,
                &unit.tags,
                unit.status,
                evidence,
                links,
                by
            )
        )
    };
    let mut all: Vec<String> = snapshot.units().map(|(_, unit)| gist(unit)).collect();
    all.sort();
    all
}

fn rich(store: &Store) {
    let said: Vec<At> = (0..6).map(|place| keep(store, place, &format!("word{place}, 你好\u{202e}\n\u{1}"))).collect();
    let oslo = claim(store, "home", "Oslo", &[said[0].sequence, said[4].sequence], None);
    let rome = claim(store, "home", "Rome", &[said[1].sequence], Some(oslo.id));
    let bern = claim(store, "home", "Bern", &[said[2].sequence], None);
    let tea = claim(store, "likes", "tea", &[said[3].sequence], None);
    let snapshot = store.snapshot();
    let mut transaction = Transaction::at(&snapshot);
    transaction.contest(rome.id, bern.id);
    let mut summary = content(&snapshot, "summary", "tea in Rome", &[said[1].sequence, said[3].sequence]);
    (summary.derived_from, summary.tags) = (vec![rome.id, tea.id], vec!["x".into()]);
    let summary = transaction.add(summary, None);
    transaction.merge(tea.id, summary);
    store.commit(transaction, &when(6_000)).expect("committed");
}

#[test]
fn a_memory_moves_and_comes_again_to_nothing() {
    let (from, to) = (open(&Faulty::new()), open(&Faulty::new()));
    rich(&from);
    let text = exported(&from);
    let imported = import(&to, &text).expect("imported");
    assert_eq!((imported.added.len(), imported.known, imported.purged.len()), (11, 0, 0));
    assert_eq!(gist(&from), gist(&to));
    let first = unit(&to, imported.added[0].id);
    assert_eq!((first.mentioned, first.ingested, first.evidence[0].trust), (when(1_000), when(8_000), Trust::Imported));
    let again = import(&to, &text).expect("nothing new");
    assert_eq!((again.added.len(), again.known), (0, 11));
    assert_eq!(exported(&to).lines().count(), 12);
    to.verify().expect("whole");
}

#[test]
fn what_was_purged_is_not_imported() {
    let files = Faulty::new();
    let store = open(&files);
    rich(&store);
    let text = exported(&store);
    let ids: Vec<UnitId> = store.snapshot().units().map(|(_, unit)| unit.id).collect();
    store.purge(&Selection::Units(vec![ids[0], ids[1]]), Sources::Keep, &when(9_000)).expect("purged");
    let before = gist(&store);
    let imported = import(&store, &text).expect("imported");
    assert!(imported.purged.contains(&2) && imported.purged.contains(&3) && imported.added.is_empty(), "{imported:?}");
    assert_eq!(gist(&store), before);
    drop(store);
    assert_eq!(gist(&open(&files)), before);
}

#[test]
fn hidden_things_stay_behind() {
    let store = open(&Faulty::new());
    let working = Capture { working: Some("task".into()), ..capture(0, "code 8841") };
    let at = store.capture(vec![working, capture(1, "gone soon"), capture(2, "stays")], &when(1)).expect("kept");
    claim(&store, "code", "8841", &[at[0].at().expect("kept").sequence], None);
    store.redact(&[at[1].at().expect("kept").id], &when(2)).expect("redacted");
    let text = exported(&store);
    assert!(text.lines().next().expect("a line").contains("\"units\":1,\"left_out\":3"), "{text}");
    assert!(!text.contains("8841") && text.contains("stays"));
}

#[test]
fn a_bad_line_is_named_and_nothing_is_kept() {
    let from = open(&Faulty::new());
    rich(&from);
    let text = exported(&from);
    let lines: Vec<&str> = text.lines().collect();
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    let derived = lines.iter().position(|line| line.contains("\"captured\":false")).expect("one");
    let changed = |at: usize, from: &str, to: &str| {
        assert!(lines[at].contains(from), "{}", lines[at]);
        with(at, &lines[at].replacen(from, to, 1))
    };
    let long = format!("\"{}\"", "x".repeat(RECORD_BYTES_MAX));
    let cases = [
        (1, String::new(), "empty"),
        (1, "{}".to_owned(), "missing field"),
        (1, changed(0, "loopwright-memory", "other"), "expected `loopwright-memory` version 1"),
        (1, changed(0, "\"version\":1", "\"version\":2"), "version 2"),
        (13, changed(0, "\"units\":11", "\"units\":12"), "ends after 11 units"),
        (2, with(1, "not json"), "expected"),
        (3, with(2, ""), "EOF"),
        (2, with(1, &long), "more than 1048576 bytes"),
        (2, changed(1, "\"captured\":true", "\"captured\":true,\"admin\":true"), "unknown field"),
        (2, changed(1, "\"place\":{", "\"place\":null,\"activation\":{"), ""),
        (2, changed(1, "\"seconds\":1000", "\"seconds\":99999999999999"), "outside the years"),
        (2, changed(1, "\"UTC\"", "\"Mars/Base\""), "time zone"),
        (3, with(2, lines[1]), "comes twice"),
        (2, changed(1, "\"layer\":\"episodic\"", "\"layer\":\"profile\""), "a message is episodic"),
        (
            derived as u64 + 1,
            changed(derived, "\"sequence\":1,\"start\"", "\"sequence\":77,\"start\""),
            "no message of this file",
        ),
        (derived as u64 + 1, changed(derived, "\"start\":0", "\"start\":1"), "digest is not"),
        (derived as u64 + 1, changed(derived, "\"text\":\"home", "\"text\":\"\",\"text\":\"home"), "duplicate field"),
    ];
    let to = open(&Faulty::new());
    for (line, text, reason) in cases {
        let refused = import(&to, &text).expect_err(reason);
        let StoreError::Import { line: found, .. } = refused else { panic!("{reason}: {refused}") };
        assert!(found == line && refused.to_string().contains(reason), "{line} {reason}: {refused}");
        assert!(to.snapshot().is_empty());
    }
    let invalid = [lines[0].as_bytes(), b"\n\xff\xfe\n"].concat();
    assert!(matches!(to.import_unjudged(&mut invalid.as_slice(), &when(1)), Err(StoreError::Import { line: 2, .. })));
    let most = SMALL.import_bytes_max as usize;
    let much = format!("{}\n{}", lines[0], format!("{}\n", lines[1]).repeat(most / lines[1].len() + 1));
    assert!(import(&to, &much).expect_err("too long").to_string().contains("longer than an import may be"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_memory_comes_back_as_it_was(
        said in proptest::collection::vec(("[^\0]{1,40}", any::<u32>(), -60_000_000_000_i64..250_000_000_000, 0_usize..4), 1..12),
        claims in proptest::collection::vec((0_u8..3, "\\PC{1,12}", any::<prop::sample::Index>(), any::<bool>()), 0..8),
    ) {
        let (from, to) = (open(&Faulty::new()), open(&Faulty::new()));
        let zones = ["UTC", "Asia/Shanghai", "America/Los_Angeles", "Pacific/Apia"];
        let mut kept = Vec::new();
        for (text, place, seconds, zone) in said {
            let mut capture = capture(place, &text);
            capture.message.mentioned = Moment::new(seconds, Zone::new(zones[zone]).expect("a zone")).expect("in range");
            if capture.message.check().is_ok() {
                kept.push(from.capture(vec![capture], &when(1)).expect("kept")[0].at().expect("not purged"));
            }
        }
        for (predicate, value, on, contest) in claims {
            let (Some(at), false) = (kept.get(on.index(kept.len().max(1))), value.trim().is_empty()) else { continue };
            let (snapshot, predicate) = (from.snapshot(), format!("p{predicate}"));
            let mut transaction = Transaction::at(&snapshot);
            let heads: Vec<UnitId> = snapshot.heads(&key_of(&predicate)).map(|(_, unit)| unit.id).collect();
            let new = content(&snapshot, &predicate, &value, &[at.sequence]);
            if snapshot.claimed(&key_of(&predicate)).any(|(_, unit)| unit.text == new.text) {
                continue;
            }
            let new = transaction.add(new, None);
            for head in heads {
                if contest { transaction.contest(head, new) } else { transaction.supersede(head, new) }
            }
            from.commit(transaction, &when(2)).expect("committed");
        }
        import(&to, &exported(&from)).expect("imported");
        prop_assert_eq!(gist(&from), gist(&to));
        let third = open(&Faulty::new());
        import(&third, &exported(&to)).expect("imported");
        prop_assert_eq!(gist(&third), gist(&to));
    }
}
