//! Forgetting that is interrupted, that reaches the pool, and that lets a new word in.

use loopwright_contract::memory::{CivilTime, Forget as _, MemoryChange, Remember as _};

use super::*;
use crate::id::UnitId;

fn user(name: &str) -> UserId {
    UserId::new(name).expect("an id")
}

fn work(world: &World, name: &str, now: &str) -> Memory {
    Memory::open_for_work(&world.root, &workspace(), &user(name), Helpers::default(), &at(now)).expect("a memory")
}

fn everything(world: &World, name: &str, now: &str) -> Option<UserForgotten> {
    forget_user(&world.root, &workspace(), &user(name), Helpers::default(), &at(now)).expect("forgotten")
}

/// Says something on a day of 2025, and gives it to the pool.
fn give(memory: &Memory, pool: &Pool, position: u32, text: &str) -> UnitId {
    let id = say(memory, 2, position, Role::User, text).message.at().expect("kept").id;
    let shared = memory.share(id, Sharing::Reviewed, pool, &at("2025-02-02T10:00:00Z")).expect("shared");
    assert!(matches!(shared, Shared::Given { .. }), "{shared:?}");
    id
}

const TIP: &str = "the bus to the airport is faster than the train";

#[test]
fn a_forget_that_did_not_reach_the_pool_reaches_it_later() {
    let world = World::new();
    let memory = world.open("ann");
    let id = give(&memory, &world.pool(), 0, TIP);
    // As if the process had ended between the user's purge and the pool's.
    let now = at("2025-03-01T00:00:00Z");
    let forgotten = memory.forget(&Selection::Units(vec![id]), Sources::Purge, None, &now).expect("forgotten");
    assert_eq!((forgotten.withdrawn, forgotten.pending, world.pool().memory().snapshot().len()), (0, 1, 1));
    drop(memory);
    let memory = world.open("ann");
    assert_eq!(memory.snapshot().withdrawals().count(), 1, "it is in the log");
    memory.store().verify().expect("whole");
    drop(memory);
    let memory = work(&world, "ann", "2025-03-02T00:00:00Z");
    assert_eq!((memory.snapshot().withdrawals().count(), memory.snapshot().contributions().count()), (0, 0));
    assert_eq!(world.pool().memory().traces("airport").expect("looked"), []);
    assert_eq!(memory.settle(&world.pool(), &now).expect("nothing to do"), 0);
    memory.store().verify().expect("whole");
}

#[test]
fn a_later_forget_with_a_pool_takes_what_an_earlier_one_left() {
    let world = World::new();
    let (memory, pool, now) = (world.open("ann"), world.pool(), at("2025-03-01T00:00:00Z"));
    let ids = [give(&memory, &pool, 0, TIP), give(&memory, &pool, 1, "the museum is free on sundays")];
    memory.forget(&Selection::Units(vec![ids[0]]), Sources::Purge, None, &now).expect("forgotten");
    let second = memory.forget(&Selection::Units(vec![ids[1]]), Sources::Purge, Some(&pool), &now).expect("forgotten");
    assert_eq!((second.withdrawn, second.pending, pool.memory().snapshot().len()), (2, 0, 0));
}

#[test]
fn what_an_agent_deletes_leaves_the_pool_too() {
    let world = Arc::new(World::new());
    let memory = Arc::new(world.open("ann"));
    let id = give(&memory, &world.pool(), 0, TIP);
    let pools = Arc::clone(&world);
    let open: OpenPool = Box::new(move || Pool::open_free(&pools.root, &workspace(), Helpers::default()));
    let live = Live::new(Arc::clone(&memory), Zone::utc(), open);
    let id = loopwright_contract::name::MemoryId::new(id.to_string()).expect("an id");
    live.forget(&id, &CivilTime::of_clock("2025-03-01T00:00:00Z").expect("a time")).expect("forgotten");
    assert_eq!(world.pool().memory().snapshot().len(), 0);
    assert_eq!(memory.snapshot().contributions().count(), 0);
}

#[test]
fn an_agents_second_note_of_a_day_has_a_place_of_its_own() {
    let world = World::new();
    let memory = Arc::new(world.open("ann"));
    let live = Live::new(Arc::clone(&memory), Zone::utc(), Box::new(|| Ok(None)));
    let note = |id: &str, text: &str, created: &str| {
        let time = CivilTime::of_clock(created).expect("a time");
        let record = loopwright_contract::memory::MemoryRecord {
            id: loopwright_contract::name::MemoryId::new(id).expect("an id"),
            layer: Layer::LongTerm,
            category: None,
            content: text.to_owned(),
            title: None,
            tags: Vec::new(),
            source: Role::User,
            created: time.clone(),
            updated: time,
            valid_until: None,
            due: None,
            fired: None,
            completed: false,
            supersedes: None,
            superseded_by: None,
            claim: None,
        };
        live.change(&MemoryChange { id: record.id.clone(), before: None, after: Some(record) }).expect("kept");
    };
    note("m-1", "I live in Lisbon.", "2025-03-01T09:00:00Z");
    note("m-1", "I live in Lisbon.", "2025-03-01T09:00:00Z");
    let places = || -> Vec<u32> {
        memory
            .snapshot()
            .session("episodes.written", "2025-03-01")
            .map(|unit| unit.place.as_ref().expect("a place").position)
            .collect()
    };
    assert_eq!(places().len(), 1, "told twice is once");
    let old = places();
    memory.forget(&Selection::Claim(lives_in()), Sources::Purge, None, &at("2025-03-01T10:00:00Z")).expect("forgotten");
    note("m-2", "I live in Lisbon.", "2025-03-01T11:00:00Z");
    assert_eq!(memory.history(&lives_in()).len(), 1, "said after the purge: a new word");
    assert!(!old.contains(&places()[0]), "a place is not given twice");
}

#[test]
fn the_users_new_word_is_believed_on_the_day_of_the_purge() {
    let world = World::new();
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "I live in Lisbon.");
    let said = memory.snapshot().next_position("talk", "s1");
    memory.forget(&Selection::Claim(lives_in()), Sources::Purge, None, &at("2025-01-01T11:00:00Z")).expect("forgotten");
    assert!(memory.snapshot().next_position("talk", "s1") >= said, "places are not given again");
    let again = |hour: u8| {
        let mentioned = at(&format!("2025-01-01T{hour}:00:00Z"));
        let place = Place {
            dialogue: "talk".into(),
            session: "s1".into(),
            position: 0,
            speaker: "user".into(),
            role: Role::User,
        };
        let message = Message { place, text: "I live in Lisbon.".into(), mentioned: mentioned.clone() };
        memory.capture(vec![Capture::of(message, trust_of(Role::User))], &mentioned).expect("answered").remove(0)
    };
    assert!(matches!(again(10).message, Kept::Tombstoned { .. }), "said before the purge");
    assert_eq!(again(12).derived.len(), 1, "said after it, at the same place");
}

#[test]
fn what_a_kill_left_of_a_whole_memory_is_found_and_removed() {
    let world = World::new();
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "The code word is Xylophonist.");
    memory.store().checkpoint().expect("written");
    let folder = memory.store().folder().to_path_buf();
    drop(memory);
    // As if the process had ended after the folder had its other name.
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let left = folder.with_file_name(format!("purged-0000-{name}"));
    std::fs::rename(&folder, &left).expect("renamed");
    let memory = world.open("ann");
    assert!(memory.snapshot().is_empty());
    let traces = memory.traces("Xylophonist").expect("looked");
    assert!(
        traces.iter().any(|trace| matches!(trace, Trace::Bytes { file, .. } if file.starts_with(&left))),
        "{traces:?}"
    );
    assert_eq!(world.open("bob").traces("Xylophonist").expect("looked"), [], "nobody looks into another's");
    drop(memory);
    // Whoever works here next finishes it, whoever it is.
    work(&world, "bob", "2025-02-01T00:00:00Z");
    assert!(!left.exists());
    assert_eq!(world.open("ann").traces("Xylophonist").expect("looked"), []);
}

#[test]
fn an_import_does_not_bring_back_a_whole_memory_that_was_forgotten() {
    let world = World::new();
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "I live in Lisbon.");
    say(&memory, 1, 1, Role::User, "My sister's name is Marguerite.");
    let first = memory.history(&lives_in())[0].id;
    let mut file = Vec::new();
    memory.store().export(&mut file, &at("2025-01-02T00:00:00Z")).expect("written");
    drop(memory);
    assert!(everything(&world, "ann", "2025-02-01T00:00:00Z").expect("there").pending.is_none());
    for file in files(world.folder.path()).iter().filter(|name| name.starts_with("forgotten-")) {
        assert!(!file.contains("ann"), "{file}");
    }
    for round in 0..2 {
        let memory = work(&world, "ann", "2025-03-01T00:00:00Z");
        assert!(memory.snapshot().is_empty());
        let imported = memory.import(&mut file.as_slice(), &at("2025-03-01T00:00:00Z")).expect("read");
        assert_eq!((imported.added.len(), imported.purged.is_empty()), (0, false), "round {round}");
        let old = say(&memory, 1, 0, Role::User, "I live in Lisbon.");
        assert!(matches!(old.message, Kept::Tombstoned { .. }));
        // The user may say it anew, and it is another unit than the one of before.
        let anew = say(&memory, 4 + round, 0, Role::User, "I live in Lisbon.");
        assert!(anew.derived.len() == 1 && anew.derived[0].0 != first);
        memory.store().verify().expect("whole");
        assert_eq!(world.open("bob").snapshot().len(), 0);
        assert!(memory.traces("Marguerite").expect("looked").is_empty());
        drop(memory);
        everything(&world, "ann", &format!("2025-{:02}-02T00:00:00Z", 4 + round)).expect("there");
    }
    // Another user's memory takes it.
    let twin = world.open("bob").import(&mut file.as_slice(), &at("2025-03-01T00:00:00Z")).expect("read");
    assert_eq!(twin.purged.len(), 0);
}

#[test]
fn a_pool_that_cannot_be_written_does_not_keep_a_user_from_being_forgotten() {
    let world = World::new();
    let memory = world.open("ann");
    give(&memory, &world.pool(), 0, TIP);
    let pool = memory.store().folder().with_file_name("pool");
    drop(memory);
    let away = pool.with_file_name("away");
    std::fs::rename(&pool, &away).expect("moved");
    std::fs::write(&pool, "no folder").expect("written");
    let forgotten = everything(&world, "ann", "2025-03-01T00:00:00Z").expect("there");
    assert!(matches!(forgotten.pending, Some((1, _))), "{forgotten:?}");
    assert!(!world.root.has(&workspace(), &user("ann")));
    std::fs::remove_file(&pool).expect("removed");
    std::fs::rename(&away, &pool).expect("moved back");
    assert_eq!(world.pool().memory().snapshot().len(), 1);
    let finish = || finish_purges(&world.root, &workspace(), Helpers::default(), &at("2025-03-02T00:00:00Z"));
    assert_eq!((finish().expect("finished"), finish().expect("nothing")), (1, 0));
    assert_eq!(world.pool().memory().traces("airport").expect("looked"), []);
}

#[test]
fn a_repeat_of_a_superseded_value_is_its_evidence_and_goes_with_the_claim() {
    let world = World::new();
    let memory = world.open("ann");
    say(&memory, 1, 0, Role::User, "I live in Lisbon.");
    say(&memory, 5, 0, Role::User, "I moved to Porto.");
    let repeat = say(&memory, 2, 0, Role::User, "I live in Lisbon.");
    assert!(matches!(repeat.derived.as_slice(), [(_, Decision::Same { .. })]), "{repeat:?}");
    let old = memory.show(repeat.derived[0].0).expect("a unit").unit;
    assert_eq!((old.status, old.evidence.len()), (Status::Superseded, 2));
    drop(memory);
    let memory = world.open("ann");
    memory.store().verify().expect("whole");
    let values: Vec<Status> = memory.history(&lives_in()).iter().map(|unit| unit.status).collect();
    assert_eq!(values, [Status::Superseded, Status::Verified]);
    let forgotten = memory
        .forget(&Selection::Claim(lives_in()), Sources::Purge, None, &at("2025-08-01T00:00:00Z"))
        .expect("forgotten");
    assert_eq!((forgotten.purge.ids.len(), forgotten.claims), (5, vec![lives_in()]));
    assert_eq!(memory.traces("Lisbon").expect("looked"), []);
}

#[test]
fn a_withdrawal_does_not_refuse_another_givers_same_words() {
    let world = World::new();
    let (ann, bob, pool) = (world.open("ann"), world.open("bob"), world.pool());
    let id = give(&ann, &pool, 0, TIP);
    let now = at("2025-02-02T12:00:00Z");
    ann.forget(&Selection::Units(vec![id]), Sources::Purge, Some(&pool), &now).expect("forgotten");
    assert_eq!(pool.memory().snapshot().len(), 0);
    give(&bob, &pool, 0, TIP);
    assert_eq!(pool.memory().snapshot().len(), 1);
    pool.memory().store().verify().expect("whole");
}

#[test]
fn a_pool_that_refuses_is_not_said_to_have_it() {
    let world = World::new();
    let (memory, pool) = (world.open("ann"), world.pool());
    let bob = world.open("bob");
    give(&bob, &pool, 0, TIP);
    // A mark, as pools kept them once.
    let all: Vec<UnitId> = pool.memory().snapshot().units().map(|(_, unit)| unit.id).collect();
    pool.memory().forget(&Selection::Units(all), Sources::Purge, None, &at("2025-02-02T12:00:00Z")).expect("forgotten");
    let id = say(&memory, 2, 0, Role::User, TIP).message.at().expect("kept").id;
    let shared = memory.share(id, Sharing::Reviewed, &pool, &at("2025-02-02T13:00:00Z")).expect("answered");
    assert!(matches!(shared, Shared::Refused { .. }), "{shared:?}");
    assert_eq!(memory.snapshot().contributions().count(), 0);
}

#[test]
fn traces_are_found_as_json_escapes_them() {
    let world = World::new();
    let memory = world.open("ann");
    let text = "she said \"zebra\\crossing\"";
    say(&memory, 1, 0, Role::User, &format!("{text}, twice"));
    let found = memory.traces(text).expect("looked");
    assert!(
        found
            .iter()
            .any(|trace| matches!(trace, Trace::Bytes { file, .. } if file.to_string_lossy().contains("/log/")))
    );
    assert!(found.iter().any(|trace| matches!(trace, Trace::Unit { .. })));
    let pool = world.pool();
    give(&memory, &pool, 1, TIP);
    let found = memory.traces_with("airport", Some(&pool)).expect("looked");
    assert!(found.iter().any(|trace| matches!(trace, Trace::Pool(_))), "{found:?}");
}

#[test]
fn an_unknown_unit_is_told_before_anything_goes() {
    let world = World::new();
    let memory = world.open("ann");
    let id = say(&memory, 1, 0, Role::User, "hello there").message.at().expect("kept").id;
    let other = UnitId::of(&RootKey::new([1; 32]), 7);
    let now = at("2025-02-01T00:00:00Z");
    let told = memory.forget(&Selection::Units(vec![id, other]), Sources::Purge, None, &now);
    assert!(matches!(told, Err(MemoryFault::Unknown { id }) if id == other), "{told:?}");
    assert_eq!(memory.snapshot().len(), 1);
}

#[test]
fn what_was_kept_and_not_derived_from_is_derived_from_later_and_once() {
    let world = World::new();
    let memory = world.open("ann");
    let place =
        Place { dialogue: "talk".into(), session: "s1".into(), position: 0, speaker: "user".into(), role: Role::User };
    let now = at("2025-01-01T10:00:00Z");
    let message = Message { place, text: "I live in Lisbon.".into(), mentioned: now.clone() };
    // As if the process had ended between capture and derivation.
    memory.store().capture(vec![Capture::of(message, trust_of(Role::User))], &now).expect("kept");
    assert!(memory.history(&lives_in()).is_empty());
    say(&memory, 2, 0, Role::User, "Good morning to everybody.");
    assert_eq!(memory.history(&lives_in()).len(), 1);
    drop(memory);
    let memory = work(&world, "ann", "2025-02-02T00:00:00Z");
    let before = memory.snapshot().sequence();
    memory.recover(&at("2025-02-03T00:00:00Z")).expect("nothing to do");
    assert_eq!(memory.snapshot().sequence(), before, "nothing is written twice");
    memory.store().verify().expect("whole");
    memory.store().checkpoint().expect("written");
    drop(memory);
    assert_eq!(world.open("ann").snapshot().underived().count(), 0, "also from the snapshot file");
}
