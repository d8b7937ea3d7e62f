//! The index shows what was committed, keeps nothing of what was purged, and is made anew when it cannot be trusted.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::memory::Layer;

use super::*;
use crate::retrieve::testing::{Memory, message};
use crate::unit::Status;

fn index(folder: &tempfile::TempDir) -> (Index, State) {
    Index::open(&folder.path().join("index"), "key").expect("opens")
}

fn fill(index: &mut Index, memory: &Memory) {
    let ops: Vec<Op<'_>> = (0..memory.ordinals()).filter_map(|at| Some(Op::Put(at, memory.unit(at)?))).collect();
    index.apply(&ops).expect("applied");
    index.commit(memory.sequence()).expect("committed");
}

fn hits(index: &Index, term: &str) -> Vec<u64> {
    let searcher = index.searcher();
    let visible = vec![true; searcher.rows().len()];
    let terms = [(term.to_owned(), 1.0)];
    let scores = searcher.bm25(TermField::Body, &terms, &visible, search::Bm25 { k1: 1.2, b: 0.4 }).expect("searched");
    let mut hits: Vec<u64> = searcher
        .rows()
        .iter()
        .zip(&scores.rows)
        .filter(|(_, score)| **score > 0.0)
        .map(|(row, _)| row.ordinal)
        .collect();
    hits.sort_unstable();
    hits
}

#[test]
fn what_was_committed_is_there_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut first, state) = index(&folder);
    assert_eq!(state, State::Empty { because: None });
    fill(&mut first, &Memory::of(&["I adopted a beagle", "他养了一只猫", "Beagles again"]));
    assert_eq!((hits(&first, "beagl"), hits(&first, "只猫"), hits(&first, "猫")), (vec![0, 2], vec![1], vec![1]));
    drop(first);
    let (again, state) = index(&folder);
    assert_eq!((state, hits(&again, "beagl")), (State::Shows(3), vec![0, 2]));
}

#[test]
fn a_changed_unit_takes_the_place_of_what_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut index, _) = index(&folder);
    let mut memory = Memory::of(&["I live in Paris", "I like tea"]);
    fill(&mut index, &memory);
    memory.change(0, |unit| unit.text = "I live in Oslo".to_owned());
    fill(&mut index, &memory);
    assert_eq!((hits(&index, "pari"), hits(&index, "oslo"), index.searcher().rows().len()), (vec![], vec![0], 2));
    memory.change(0, |unit| unit.status = Status::Candidate);
    fill(&mut index, &memory);
    assert_eq!(hits(&index, "oslo"), Vec::<u64>::new(), "candidates are not searched");
    index.apply(&[Op::Remove(1)]).expect("applied");
    assert_eq!(hits(&index, "tea"), [1], "not seen before the commit");
    index.commit(9).expect("committed");
    assert_eq!(hits(&index, "tea"), Vec::<u64>::new());
}

#[test]
fn a_purged_term_is_in_no_dictionary_and_its_files_are_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut index, _) = index(&folder);
    let mut memory = Memory::of(&["my sentinelword is here", "another message"]);
    memory.push(message(2, "the third", "Ann"));
    fill(&mut index, &memory);
    assert!(index.holds_term("sentinelword").expect("read"), "the control: it is there before");
    index.apply(&[Op::Remove(0)]).expect("applied");
    index.commit(8).expect("committed");
    assert!(index.holds_term("sentinelword").expect("read"), "a delete alone leaves it");
    let held = index.searcher();
    let purged = index.purge(&[0], 9).expect("purged");
    assert!(purged.segments >= 1 && !index.holds_term("sentinelword").expect("read"));
    assert_eq!(purged.files_left, 0, "also while a snapshot of before is held");
    assert_eq!(held.rows().len(), 2, "which goes on answering");
    drop(held);
    assert_eq!(hits(&index, "messag"), [1]);
    drop(index);
    assert_eq!(self::index(&folder).1, State::Shows(9));
}

#[test]
fn purging_everything_leaves_an_empty_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut index, _) = index(&folder);
    fill(&mut index, &Memory::of(&["one", "two"]));
    let purged = index.purge(&[0, 1], 4).expect("purged");
    assert_eq!((purged.files_left, index.searcher().rows().len()), (0, 0));
    assert!(!index.holds_term("two").expect("read"));
}

/// What happens to the index's folder, and its name.
type Damage = (&'static str, fn(&Path));

#[test]
fn what_cannot_be_trusted_is_made_anew() {
    let damage: &[Damage] = &[
        ("meta.json is no JSON", |path| std::fs::write(path.join("meta.json"), "{").expect("written")),
        ("meta.json is empty", |path| std::fs::write(path.join("meta.json"), "").expect("written")),
        ("a segment file is gone", |path| {
            for entry in std::fs::read_dir(path).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|extension| extension == "idx") {
                    std::fs::remove_file(path).expect("removed");
                }
            }
        }),
        ("another format", |path| {
            let text = std::fs::read_to_string(path.join("meta.json")).expect("read");
            std::fs::write(
                path.join("meta.json"),
                text.replace(&format!("format\\\":{}", schema::FORMAT), "format\\\":0"),
            )
            .expect("written");
        }),
    ];
    for (what, damage) in damage {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Memory::of(&["I adopted a beagle"]);
        let (mut first, _) = index(&folder);
        fill(&mut first, &memory);
        drop(first);
        damage(&folder.path().join("index"));
        let (mut again, state) = index(&folder);
        assert!(matches!(state, State::Empty { because: Some(_) }), "{what}: {state:?}");
        assert!(folder.path().join("index.aside").exists(), "{what}");
        again.rebuild(&memory).expect("rebuilt");
        assert_eq!(hits(&again, "beagl"), [0], "{what}");
        assert!(!folder.path().join("index.aside").exists(), "what was set aside may hold what was purged: {what}");
        drop(again);
        assert_eq!(index(&folder).1, State::Shows(1), "{what}");
    }
}

/// The files of a folder with their bytes.
fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<(PathBuf, Vec<u8>)> =
        entries.map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect();
    files.sort();
    files
}

#[test]
fn no_damaged_byte_of_any_file_is_believed_or_in_the_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let memory = Memory::of(&["I adopted a beagle", "he has a cat", "a third one"]);
    let (mut first, _) = index(&folder);
    fill(&mut first, &memory);
    first.apply(&[Op::Remove(2)]).expect("applied");
    first.commit(4).expect("committed");
    drop(first);
    let whole = files(&path);
    let put_back = || {
        std::fs::remove_dir_all(&path).expect("removed");
        std::fs::create_dir(&path).expect("made");
        whole.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).expect("written"));
    };
    let ends: BTreeSet<_> = whole.iter().filter_map(|(path, _)| path.extension()?.to_str()).collect();
    for end in ["del", "fast", "fieldnorm", "idx", "json", "pos", "store", "term"] {
        assert!(ends.contains(end), "{end}: {ends:?}");
    }
    for (file, bytes) in whole.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let flips = (0..bytes.len()).step_by(5).map(|at| {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            (format!("byte {at} flipped"), damaged)
        });
        let cuts = (0..bytes.len()).step_by(23).map(|at| (format!("cut to {at}"), bytes[..at].to_vec()));
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let mut anew = 0;
        for (what, damaged) in flips.chain(cuts) {
            put_back();
            std::fs::write(file, damaged).expect("written");
            let (index, state) = index(&folder);
            match state {
                // A number or a name of no consequence, or deletes that the list does not tell of any more: whoever opens it compares the units.
                State::Shows(4) => {
                    let deleted = if name == "meta.json" { hits(&index, "third") } else { Vec::new() };
                    assert!(hits(&index, "beagl") == [0] && hits(&index, "third") == deleted, "{name}, {what}");
                }
                State::Shows(sequence) => panic!("{name}, {what}: shows {sequence}"),
                State::Empty { because } => {
                    anew += 1;
                    assert!(because.is_some() && index.searcher().rows().is_empty(), "{name}, {what}");
                }
            }
        }
        let body = !name.ends_with(".json");
        assert!(anew > if body { bytes.len() / 10 } else { 0 }, "{name}: {anew} of {}", bytes.len());
    }
    put_back();
    let victim =
        whole.iter().find(|(path, _)| path.extension().is_some_and(|end| end == "term")).expect("a dictionary");
    let (mut index, _) = index(&folder);
    assert_eq!(index.damaged().expect("read"), Vec::<PathBuf>::new());
    let mut damaged = victim.1.clone();
    damaged[0] ^= 1;
    std::fs::write(&victim.0, damaged).expect("written");
    assert_eq!(index.damaged().expect("read"), vec![victim.0.clone()], "while it is open");
    index.rebuild(&memory).expect("made anew over the damage");
    assert_eq!((index.damaged().expect("read"), hits(&index, "cat")), (Vec::new(), vec![1]));
}

#[test]
fn what_is_of_no_segment_is_seen_and_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let memory = Memory::of(&["my sentinelword is here", "another message"]);
    let (mut first, _) = index(&folder);
    fill(&mut first, &memory);
    let copy = files(&path);
    first.purge(&[0], 9).expect("purged");
    drop(first);
    let put_copy = || {
        let old = copy.iter().filter(|(path, _)| path.file_stem().is_some_and(|stem| stem.len() == 32));
        old.map(|(path, bytes)| std::fs::write(path, bytes).expect("written")).count()
    };
    let put = put_copy();
    std::fs::create_dir(path.join("more")).expect("made");
    let (mut index, state) = index(&folder);
    assert_eq!(state, State::Shows(9));
    assert!(!index.holds_term("sentinelword").expect("read"), "the control: a look at live segments does not show it");
    assert_eq!(index.strays().expect("read").len(), put + 1);
    assert_eq!((index.sweep().expect("swept"), index.strays().expect("read")), (put + 1, Vec::new()));
    put_copy();
    index.rebuild(&Memory::of(&["another message"])).expect("rebuilt");
    assert_eq!((index.strays().expect("read"), hits(&index, "messag")), (Vec::new(), vec![0]));
}

#[test]
fn opening_and_searching_write_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let (mut first, _) = index(&folder);
    fill(&mut first, &Memory::of(&["beagle"]));
    drop(first);
    let times = || {
        let entries = std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry"));
        let times = entries.map(|entry| (entry.path(), entry.metadata().expect("known").modified().expect("a time")));
        (times.collect::<BTreeMap<_, _>>(), std::fs::metadata(&path).expect("known").modified().expect("a time"))
    };
    std::fs::remove_file(path.join(".tantivy-writer.lock")).ok();
    let before = times();
    let (mut again, state) = index(&folder);
    assert_eq!((state, hits(&again, "beagl")), (State::Shows(1), vec![0]));
    again.apply(&[]).expect("nothing to do");
    assert_eq!((again.sweep().expect("nothing there"), again.damaged().expect("read")), (0, Vec::new()));
    drop(again);
    assert_eq!(times(), before);
}

#[test]
fn another_key_starts_anew_and_a_lock_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let (mut first, _) = index(&folder);
    fill(&mut first, &Memory::of(&["beagle"]));
    let (mut second, state) = index(&folder);
    assert_eq!((state, hits(&second, "beagl")), (State::Shows(1), vec![0]), "reading takes no lock");
    assert!(matches!(second.commit(2), Err(IndexError::Locked { .. })), "one writer");
    assert!(matches!(second.rebuild(&Memory::of(&["cat"])), Err(IndexError::Locked { .. })));
    assert_eq!(hits(&first, "beagl"), [0]);
    drop(second);
    drop(first);
    assert!(matches!(Index::open(&path, "other").expect("opens").1, State::Empty { because: Some(_) }));
}

#[test]
fn readers_keep_their_snapshot() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut index, _) = index(&folder);
    let mut memory = Memory::of(&["one"]);
    fill(&mut index, &memory);
    let held = index.searcher();
    memory.push(message(1, "two", "Ann"));
    fill(&mut index, &memory);
    assert_eq!((held.rows().len(), index.searcher().rows().len()), (1, 2));
}

#[test]
fn neighbours_are_of_one_session_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut index, _) = index(&folder);
    let mut memory = Memory::of(&["a", "b", "c"]);
    memory.change(2, |unit| unit.place.as_mut().expect("a place").session = "2".to_owned());
    let mut fact = message(3, "b", "Ann");
    fact.layer = Layer::LongTerm;
    fact.place.as_mut().expect("a place").position = 1;
    memory.push(fact);
    fill(&mut index, &memory);
    let searcher = index.searcher();
    let neighbours: Vec<(Option<u64>, Option<u64>)> = (0..4)
        .filter_map(|ordinal| searcher.rows().get(searcher.row(ordinal)?))
        .map(|row| {
            let of = |at: u32| searcher.rows().get(at as usize).map(|row| row.ordinal);
            (of(row.previous), of(row.next))
        })
        .collect();
    assert_eq!(neighbours, [(None, Some(1)), (Some(0), None), (None, None), (None, None)]);
    assert_eq!(searcher.sessions(), 2);
}

#[test]
fn scores_do_not_depend_on_the_segments() {
    let texts = ["red apple", "green apple tree", "a pear", "apple apple", "我喜欢苹果", "plum"];
    let scores = |batches: &[&[usize]]| {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut index, _) = index(&folder);
        let memory = Memory::of(&texts);
        for batch in batches {
            let ops: Vec<Op<'_>> =
                batch.iter().map(|at| Op::Put(*at as u64, memory.unit(*at as u64).expect("a unit"))).collect();
            index.apply(&ops).expect("applied");
            index.commit(1).expect("committed");
        }
        let searcher = index.searcher();
        let visible = vec![true; searcher.rows().len()];
        let terms = [("appl".to_owned(), 1.0), ("red".to_owned(), 1.0)];
        let scores =
            searcher.bm25(TermField::Body, &terms, &visible, search::Bm25 { k1: 1.2, b: 0.4 }).expect("searched");
        (0..6).map(|at| scores.rows[searcher.row(at).expect("a row")].to_bits()).collect::<Vec<_>>()
    };
    let at_once = scores(&[&[0, 1, 2, 3, 4, 5]]);
    assert_eq!(at_once, scores(&[&[5, 3], &[1], &[0, 2, 4]]));
    assert_eq!(at_once, scores(&[&[0, 1, 2, 3, 4, 5], &[1, 3], &[0]]), "written again, with deletes that wait");
}

#[test]
fn an_ordinal_beyond_the_limit_asks_for_no_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut index, _) = index(&folder);
    let memory = Memory::of(&["one"]);
    let unit = memory.unit(0).expect("a unit");
    index.apply(&[Op::Put(u64::MAX, unit), Op::Put(search::ORDINALS_MAX, unit), Op::Put(3, unit)]).expect("applied");
    index.commit(1).expect("committed");
    let searcher = index.searcher();
    assert_eq!((searcher.rows().len(), searcher.row(3).is_some(), searcher.row(u64::MAX)), (3, true, None));
    assert_eq!((searcher.row(2), searcher.row(search::ORDINALS_MAX)), (None, None));
}
