//! Index and vectors are those of the log: what was forgotten leaves them however the memory was opened, and what the log lost is not hidden.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use super::*;
use crate::id::UnitId;
use crate::store::LOG;

const NOW: &str = "2025-08-01T00:00:00Z";

fn lexical(world: &World) -> Memory {
    world.open_with("ann", Helpers::default())
}

/// The bytes of a text's vector, as they lie in a file.
fn vector_of(text: &str) -> Vec<u8> {
    let made = Letters.embed(&[text]).expect("embedded").remove(0);
    made.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Whether a run of bytes is in any file under a folder.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        std::fs::read(path).expect("a file").windows(bytes.len()).any(|window| window == bytes)
    })
}

const SECRET: &str = "The blue vase hides a spare key.";

/// A memory of three messages, of which one is a secret.
fn with_secret(world: &World) -> (PathBuf, UnitId) {
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "The garden needs water on warm days.");
    let id = say(&memory, 1, 1, Role::User, SECRET).message.at().expect("kept").id;
    say(&memory, 1, 2, Role::User, "The bus to work leaves at noon.");
    (memory.store().folder().to_path_buf(), id)
}

fn forget(memory: &Memory, id: UnitId) {
    memory.forget(&Selection::Units(vec![id]), Sources::Purge, None, &at(NOW)).expect("forgotten");
}

#[test]
fn what_is_forgotten_without_the_embedder_leaves_the_vectors_too() {
    let world = World::new();
    let (folder, id) = with_secret(&world);
    assert!(holds(&folder, &vector_of(SECRET)), "the control: it is there before");
    let memory = lexical(&world);
    forget(&memory, id);
    assert!(!holds(&folder, &vector_of(SECRET)));
    let checked = memory.check().expect("checked");
    assert_eq!((checked.vectors, checked.faults()), (Some(2), vec![]), "the others keep theirs");
    drop(memory);
    // The same for a purge from which the process did not come back.
    let memory = lexical(&world);
    let bus = memory.snapshot().units().find(|(_, unit)| unit.text.contains("bus")).expect("there").1.id;
    memory.store().purge(&Selection::Units(vec![bus]), Sources::Purge, &at(NOW)).expect("purged");
    assert!(holds(&folder, &vector_of("The bus to work leaves at noon.")), "the control: the process ended here");
    drop(memory);
    let memory = lexical(&world);
    assert!(!holds(&folder, &vector_of("The bus to work leaves at noon.")));
    assert!(memory.remarks().iter().any(|remark| remark.contains("1 vectors were removed")), "{:?}", memory.remarks());
    assert!(memory.check().expect("checked").is_in_step());
}

#[test]
fn an_old_file_of_vectors_that_is_put_back_is_seen_and_loses_what_was_forgotten() {
    for with_embedder in [true, false] {
        let world = World::new();
        let open = || if with_embedder { world.open("ann") } else { lexical(&world) };
        let (folder, id) = with_secret(&world);
        let old = std::fs::read(folder.join(VECTORS)).expect("a file");
        let memory = open();
        forget(&memory, id);
        for name in [VECTORS, "vectors.new"] {
            std::fs::write(folder.join(name), &old).expect("put back");
        }
        assert!(holds(&folder, &vector_of(SECRET)), "the control: it is back");
        let checked = memory.check().expect("checked");
        assert_eq!((checked.difference.vectors_in_vain, checked.is_in_step()), (1, false), "while it is open");
        drop(memory);
        let memory = open();
        assert!(!holds(&folder, &vector_of(SECRET)), "embedder: {with_embedder}");
        assert_eq!(memory.check().expect("checked").faults(), Vec::<String>::new());
        // And a rebuild looks at the file, not at what is in memory.
        std::fs::write(folder.join(VECTORS), &old).expect("put back");
        memory.rebuild().expect("made anew");
        assert!(!holds(&folder, &vector_of(SECRET)), "embedder: {with_embedder}");
        assert_eq!(memory.check().expect("checked").vectors, Some(2));
    }
}

#[test]
fn a_vector_of_what_a_unit_said_before_is_not_kept_for_what_it_says_now() {
    let world = World::new();
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "I'm allergic to peanuts.");
    let fact = memory.snapshot().units().find(|(_, unit)| unit.claim.is_some()).map(|(at, unit)| (at, unit.clone()));
    let (ordinal, unit) = fact.expect("a fact");
    drop(memory);
    let memory = lexical(&world);
    let mut content = crate::store::content_of(&unit);
    content.text = "Peanuts make the user ill.".to_owned();
    let mut transaction = Transaction::at(&memory.snapshot());
    transaction.revise(unit.id, content);
    memory.write(transaction, &at(NOW)).expect("revised");
    assert!(memory.derived().vectors.as_ref().is_some_and(|vectors| !vectors.has(ordinal) && vectors.len() == 1));
    drop(memory);
    let memory = world.open("ann");
    assert!(holds(memory.store().folder(), &vector_of("Peanuts make the user ill.")));
    // The check as a whole would say that the words are nobody's: only whether vectors follow is asked.
    let (difference, vectors) = memory.difference(&memory.store().snapshot()).expect("compared");
    assert_eq!((difference.without_vector, vectors), (0, Some(2)));
}

#[test]
fn what_lacks_a_vector_gets_one_at_the_next_opening_so_many_at_a_time() {
    let world = World::new();
    let memory = lexical(&world);
    let most = u32::try_from(EMBEDDED_AT_OPENING_MAX).expect("small");
    let now = at("2025-01-01T10:00:00Z");
    let message = |position: u32| {
        let (dialogue, session, speaker) = ("talk".to_owned(), "s".to_owned(), "user".to_owned());
        let place = Place { dialogue, session, position, speaker, role: Role::Assistant };
        Message { place, text: format!("Noted: item {position} is in the cellar."), mentioned: now.clone() }
    };
    let captures = (0..most + 3).map(|position| Capture::of(message(position), trust_of(Role::Assistant))).collect();
    memory.capture(captures, &now).expect("captured");
    assert!(memory.check().expect("checked").is_in_step(), "without an embedder none is missed");
    drop(memory);
    let memory = world.open("ann");
    let checked = memory.check().expect("checked");
    assert_eq!((checked.vectors, checked.difference.without_vector), (Some(EMBEDDED_AT_OPENING_MAX), 3));
    assert!(
        !checked.is_in_step() && memory.remarks().iter().any(|remark| remark.contains("3 units have no vector yet"))
    );
    drop(memory);
    let memory = world.open("ann");
    assert!(memory.check().expect("checked").is_in_step() && memory.remarks().is_empty(), "{:?}", memory.remarks());
    // A damaged file of vectors is made anew in the same way.
    let path = memory.store().folder().join(VECTORS);
    drop(memory);
    let mut bytes = std::fs::read(&path).expect("a file");
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    assert_eq!(world.open("ann").check().expect("checked").difference.without_vector, 3);
    world.open("ann").rebuild().expect("made anew");
    assert!(world.open("ann").check().expect("checked").is_in_step());
}

#[test]
fn a_log_that_lost_what_was_committed_is_refused_and_repaired() {
    let segment = |folder: &Path| {
        let entries =
            std::fs::read_dir(folder.join(LOG)).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "log")).expect("a segment")
    };
    for (what, by_vectors) in [("cut", false), ("cut", true), ("gone", false), ("gone", true)] {
        let world = World::new();
        let memory = world.open("ann");
        let folder = memory.store().folder().to_path_buf();
        say(&memory, 1, 0, Role::Assistant, "The garden needs water on warm days.");
        let before = std::fs::read(segment(&folder)).expect("a log");
        say(&memory, 1, 1, Role::Assistant, "The bus to work leaves at noon.");
        drop(memory);
        if what == "cut" {
            std::fs::write(segment(&folder), before).expect("cut at the end of a record");
        } else {
            std::fs::remove_dir_all(folder.join(LOG)).expect("removed");
        }
        if by_vectors {
            std::fs::remove_dir_all(folder.join(INDEX)).expect("removed");
        }
        let open = || {
            let helpers = Helpers { embedder: Some(Arc::new(Letters)), proposer: None };
            Memory::open(&world.root, &workspace(), &UserId::new("ann").expect("an id"), helpers)
        };
        for _ in 0..2 {
            let refused = open().expect_err("refused");
            let lost = matches!(refused, MemoryFault::Lost { .. } | MemoryFault::Store(StoreError::Lost { .. }));
            assert!(lost && refused.to_string().contains(crate::store::REPAIR_COMMAND), "{what}: {refused}");
        }
        world.root.repair(&workspace(), &UserId::new("ann").expect("an id")).expect("repaired");
        let memory = open().expect("it opens");
        assert_eq!(memory.snapshot().len(), if what == "cut" { 1 } else { 0 });
        assert!(memory.check().expect("checked").is_in_step());
    }
}

#[test]
fn a_tail_that_was_cut_is_told() {
    let world = World::new();
    let (folder, _) = with_secret(&world);
    let logs = std::fs::read_dir(folder.join(LOG)).expect("a folder").map(|entry| entry.expect("an entry").path());
    let log = logs.into_iter().find(|path| path.extension().is_some_and(|end| end == "log")).expect("a segment");
    let whole = std::fs::read(&log).expect("a log");
    std::fs::write(&log, [whole.as_slice(), &[7; 5]].concat()).expect("written");
    let memory = world.open("ann");
    let told = memory.remarks().iter().any(|remark| remark.contains("5 bytes"));
    assert!(told && memory.snapshot().len() == 3, "{:?}", memory.remarks());
}

#[test]
fn dictionaries_of_an_old_index_are_seen_and_go() {
    let world = World::new();
    let (folder, id) = with_secret(&world);
    let index = folder.join(INDEX);
    let names = || std::fs::read_dir(&index).expect("a folder").map(|entry| entry.expect("an entry").path());
    let old: Vec<(PathBuf, Vec<u8>)> = names()
        .filter(|path| path.extension().is_some_and(|end| end == "term"))
        .map(|path| (path.clone(), std::fs::read(path).expect("a file")))
        .collect();
    let memory = world.open("ann");
    forget(&memory, id);
    assert_eq!(memory.traces("vase").expect("looked"), []);
    old.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).expect("put back"));
    assert!(!memory.check().expect("checked").is_in_step());
    assert!(memory.traces("vase").expect("looked").iter().all(|trace| matches!(trace, Trace::Stray { .. })));
    assert!(!memory.traces("vase").expect("looked").is_empty());
    memory.rebuild().expect("made anew");
    assert_eq!((memory.traces("vase").expect("looked"), memory.check().expect("checked").faults()), (vec![], vec![]));
    old.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).expect("put back"));
    drop(memory);
    let memory = world.open("ann");
    assert_eq!((memory.traces("vase").expect("looked"), memory.check().expect("checked").faults()), (vec![], vec![]));
}

#[test]
fn a_damaged_index_is_found_while_open_and_made_anew_when_opened() {
    let world = World::new();
    let (folder, _) = with_secret(&world);
    let names: Vec<PathBuf> = std::fs::read_dir(folder.join(INDEX))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end != "lock" && end != "json"))
        .collect();
    assert!(names.len() >= 6);
    for path in names {
        let memory = world.open("ann");
        if !path.exists() {
            continue;
        }
        let mut bytes = std::fs::read(&path).expect("a file");
        bytes[0] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        assert!(!memory.check().expect("checked").damaged.is_empty(), "{}", path.display());
        drop(memory);
        let memory = world.open("ann");
        assert!(memory.remarks().iter().any(|remark| remark.contains("the index was made anew")));
        assert!(ask(&memory, "where is the spare key").iter().any(|quote| quote.contains("vase")));
        assert!(memory.check().expect("checked").is_in_step());
    }
}

#[test]
fn an_index_that_forgot_its_deletes_is_made_anew() {
    let world = World::new();
    let memory = world.open("ann");
    let folder = memory.store().folder().join(INDEX);
    say(&memory, 1, 0, Role::User, "I'm allergic to peanuts.");
    say(&memory, 2, 0, Role::User, "I'm allergic to peanuts!");
    drop(memory);
    let meta = folder.join("meta.json");
    let text = std::fs::read_to_string(&meta).expect("read");
    assert!(text.contains("\"deletes\": {"), "{text}");
    // The one revised is now there as it was, too.
    std::fs::write(&meta, text.replace("\"deletes\": {", "\"deletez\": {")).expect("written");
    let memory = world.open("ann");
    assert!(memory.remarks().iter().any(|remark| remark.contains("the index was made anew")), "{:?}", memory.remarks());
    let rows = memory.derived().index.searcher().rows().len();
    assert_eq!(u64::try_from(rows), Ok(memory.snapshot().len()));
    assert!(memory.check().expect("checked").is_in_step());
}

fn times(folder: &Path, into: &mut BTreeMap<PathBuf, SystemTime>) {
    let changed = |path: &Path| std::fs::metadata(path).expect("known").modified().expect("a time");
    into.insert(folder.to_path_buf(), changed(folder));
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { times(&path, into) } else { _ = into.insert(path.clone(), changed(&path)) }
    }
}

#[test]
fn reading_writes_nothing() {
    for with_embedder in [true, false] {
        let world = World::new();
        let (folder, _) = with_secret(&world);
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        times(&folder, &mut before);
        let memory = if with_embedder { world.open("ann") } else { lexical(&world) };
        assert!(ask(&memory, "where is the spare key").iter().any(|quote| quote.contains("vase")));
        memory.fire(&at("2025-02-01T00:00:00Z"), None).expect("nothing is due");
        assert!(memory.check().expect("checked").is_in_step());
        assert_eq!(memory.traces("xylophone").expect("looked"), []);
        drop(memory);
        times(&folder, &mut after);
        assert_eq!(before, after);
    }
}

#[test]
fn two_in_one_process_do_not_both_let_index_and_vectors_follow() {
    let world = World::new();
    let memory = world.open("ann");
    let user = UserId::new("ann").expect("an id");
    let second = Memory::open(&world.root, &workspace(), &user, Helpers::default());
    assert!(matches!(second, Err(MemoryFault::Store(StoreError::Locked { .. }))));
    drop(memory);
    assert!(Memory::open(&world.root, &workspace(), &user, Helpers::default()).is_ok());
}
