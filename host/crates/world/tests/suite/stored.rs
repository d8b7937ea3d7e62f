//! Stored worlds and states read back as they were, and nothing else reads.

use loopwright_contract::{json, limits::WorldLimits, state::StateError};
use loopwright_world::{Clock, EpisodeState, SamenessRule, World, same_up_to};
use proptest::prelude::*;
use serde_json::json;

use crate::builders::{any_document, world};

fn state() -> EpisodeState {
    let mut world = world();
    world.put("notes", "note-0004", r#"{"title":"old"}"#).unwrap();
    world.seal().unwrap();
    let clock = Clock::new(1_772_413_200_000_000_001, "Asia/Shanghai").unwrap().with_turn_ns(u64::MAX);
    let mut state = EpisodeState::new(world, clock, 7).unwrap();
    let id = state.ids.next_id("note").unwrap();
    state.world.put("notes", &id, r#"{"title":"new"}"#).unwrap();
    state.random.next_u64();
    state
}

proptest! {
    #[test]
    fn a_world_reads_back(documents in proptest::collection::btree_map("[a-c\u{1f600}\u{fb33}名\"]{1,3}", any_document(), 0..8)) {
        let mut original = world();
        for (key, value) in &documents {
            original.put_value("notes", key, value).unwrap();
        }
        let text = original.to_json();
        let parsed = json::parse(&text, &json::JsonLimits::FILE).unwrap();
        prop_assert_eq!(json::canonical(&parsed), text.clone(), "stored text is canonical");
        let restored = World::from_json(&text, WorldLimits::default()).unwrap();
        prop_assert_eq!(restored.full_digest(), original.full_digest());
        prop_assert_eq!(restored.base_digest(), original.full_digest());
        prop_assert_eq!(restored.to_json(), text);
        prop_assert!(restored.collections().eq(original.collections()));
    }
}

#[test]
fn a_state_reads_back_and_goes_on_alike() {
    let mut original = state();
    let text = original.to_json();
    assert_eq!(json::canonical(&json::parse(&text, &json::JsonLimits::FILE).unwrap()), text);
    let mut restored = EpisodeState::from_json(&text, WorldLimits::default()).unwrap();
    assert_eq!(restored.to_json(), text);
    assert!(same_up_to(original.side(), restored.side(), &SamenessRule::default()).is_same());
    for state in [&mut original, &mut restored] {
        assert_eq!(state.ids.next_id("note").unwrap(), "note-0006");
    }
    assert_eq!(original.random.next_u64(), restored.random.next_u64());
    assert_eq!(original.clock, restored.clock);
}

#[test]
fn another_form_is_refused() {
    let world_text = world().to_json();
    let state_text = state().to_json();
    let broken = [
        String::new(),
        "{}".into(),
        "[]".into(),
        "null".into(),
        world_text.replace("world/1", "world/2"),
        world_text.replace("notes", "No tes"),
        world_text.replace("\"bookkeeping\"", "\"bookkeepings\""),
        world_text.replace("/touched", "touched"),
        world_text[..world_text.len() - 1].to_owned(),
        state_text.clone(),
    ];
    for text in broken {
        let result = World::from_json(&text, WorldLimits::default());
        assert!(matches!(result, Err(StateError::Invalid(_))), "{text} gave {result:?}");
    }
    let broken = [
        world_text,
        state_text.replace("Asia/Shanghai", "Asia/Nowhere"),
        state_text.replace("\"position\":\"2\"", "\"position\":\"-2\""),
        state_text.replace("\"last\":5", "\"last\":1"),
        state_text.replace("1772413200000000001", "x"),
        state_text.replace("state/1", "state/0"),
    ];
    for text in broken {
        assert_ne!(text, state_text, "the replacement did not hit");
        let result = EpisodeState::from_json(&text, WorldLimits::default());
        assert!(matches!(result, Err(StateError::Invalid(_))), "{text} gave {result:?}");
    }
}

#[test]
fn a_stored_world_obeys_the_limits_of_its_reader() {
    let mut original = world();
    original.put_value("notes", "a", &json!({"body": "x".repeat(500)})).unwrap();
    let small = WorldLimits { bytes: 100, ..WorldLimits::default() };
    assert!(matches!(World::from_json(&original.to_json(), small), Err(StateError::Limit(_))));
}

#[test]
fn a_rolled_back_call_leaves_no_trace() {
    let mut state = state();
    let before = state.to_json();
    let savepoint = state.begin().unwrap();
    let id = state.ids.next_id("note").unwrap();
    state.world.put("notes", &id, "{}").unwrap();
    state.random.next_u64();
    assert_eq!(state.world.changes_since(savepoint.world()).len(), 1);
    state.rollback(savepoint).unwrap();
    assert_eq!(state.to_json(), before);
}

#[test]
fn forks_go_their_own_ways() {
    let mut origin = state();
    let mut fork = origin.fork();
    fork.world.put("notes", "x", "1").unwrap();
    fork.clock.advance_by(5).unwrap();
    assert_eq!(fork.clock.now_ns(), origin.clock.now_ns() + 5);
    assert_eq!(origin.world.get("notes", "x"), Ok(None));
    assert_eq!(origin.ids.next_id("note"), fork.ids.next_id("note"));
    assert_eq!(origin.random.next_u64(), fork.random.next_u64());
    assert_ne!(origin.digest(), fork.digest());
}
