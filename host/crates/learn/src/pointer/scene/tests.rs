use std::sync::Arc;

use loopwright_contract::context::Event;
use loopwright_contract::name::{SkillName, ToolName};
use serde_json::json;

use super::leaves::{LEAF_BYTES_MAX, LEAVES_MAX};
use super::*;
use crate::pointer::PAST_MAX;
use crate::pointer::offered::{OFFERS_MAX, SKILLS_MAX};
use crate::pointer::testing::{after, call, english, remembering};

fn scene(context: &Context) -> Scene {
    Scene::new(&Specs::new(), context)
}

#[test]
fn what_is_beyond_the_limits_is_left_out() {
    let mut context = english("Set an alarm");
    let space = Arc::make_mut(&mut context.space);
    let (tool, card) = (space.tools[0].clone(), space.skills[0].clone());
    for number in 0..OFFERS_MAX {
        let name = ToolName::new(format!("tool_{number}")).expect("a name");
        space.tools.push(loopwright_contract::tool::ToolSpec { name, ..tool.clone() });
    }
    for number in 0..SKILLS_MAX {
        let name = SkillName::new(format!("skill-{number}")).expect("a name");
        space.skills.push(loopwright_contract::skill::SkillCard { name, ..card.clone() });
    }
    for number in 0..=MEMORIES_MAX {
        context = remembering(context, &format!("m-{number}"), "The garden gate opens with 4711");
    }
    let items: Vec<Value> = (0..=LEAVES_MAX).map(|number| json!({"name": format!("a b c d {number}")})).collect();
    for _ in 0..=PAST_MAX {
        let envelope =
            json!({"success": true, "message": "", "data": {"items": items, "long": "x".repeat(LEAF_BYTES_MAX + 1)}});
        context = after(context, call("keep_alarm", json!({"action": "query"})), envelope);
    }
    let scene = scene(&context);
    assert_eq!(scene.offers.len(), OFFERS_MAX);
    assert_eq!(scene.cards.len(), SKILLS_MAX);
    assert_eq!(scene.memories.len(), MEMORIES_MAX);
    assert_eq!(scene.sources.len(), SOURCES_MAX);
    assert_eq!(scene.leaves.len(), LEAVES_MAX);
    assert_eq!(scene.history.past.len(), PAST_MAX);
    assert!(scene.leaves.iter().all(|leaf| leaf.text.len() <= LEAF_BYTES_MAX));
}

#[test]
fn a_deep_result_is_cut() {
    let mut deep = json!("deep");
    for _ in 0..64 {
        deep = json!({"in": deep});
    }
    let envelope = json!({"success": true, "message": "", "data": {"deep": deep, "near": 7}});
    let scene = scene(&after(english("x"), call("keep_alarm", json!({})), envelope));
    let values: Vec<&str> = scene.leaves.iter().map(|leaf| &*leaf.text).collect();
    assert_eq!(values, ["7"]);
    assert_eq!(scene.leaves[0].label.words, "near");
}

#[test]
fn what_became_of_calls_is_read_from_their_envelopes() {
    let failed = |code: u64, data: Value| json!({"success": false, "code": code, "error": "no", "data": data});
    for (envelope, status) in [
        (json!({"success": true, "message": "", "data": {}}), Status::Done),
        (failed(423, json!({"confirmation": true})), Status::Waits),
        (failed(423, json!({})), Status::Blocked),
        (failed(404, json!({})), Status::Absent),
        (failed(400, json!({})), Status::Wrong),
        (failed(403, json!({})), Status::Forbidden),
        (json!("odd"), Status::Blocked),
    ] {
        let scene = scene(&after(english("x"), call("set_lamp", json!({"action": "enable"})), envelope.clone()));
        let last = scene.history.calls.last().expect("a call");
        assert_eq!(last.status, status, "{envelope}");
        assert_eq!(scene.history.pending.len(), usize::from(status == Status::Waits));
        assert_eq!(scene.history.past[0].changed, status == Status::Done);
        assert_eq!(scene.history.trouble.is_none(), status == Status::Done);
    }
}

#[test]
fn what_is_taken_up_is_no_longer_open() {
    let done = json!({"success": true, "message": "", "data": {}});
    let context = english("Turn the lamp on and send a message to Bob");
    let before = scene(&context);
    assert_eq!(before.open, before.wanted);
    let later = scene(&after(context, call("set_lamp", json!({"action": "enable"})), done));
    assert!(later.open.len() < later.wanted.len() && !later.open.is_empty());
}

#[test]
fn a_reminder_and_what_was_found_are_remembered() {
    let mut context = remembering(english("x"), "m-1", "old");
    context
        .history
        .push(Event::Notice { value: json!({"kind": "reminder", "memoryId": "m-2", "content": "Text Bob"}) });
    context.history.push(Event::Answered {
        call_id: loopwright_contract::name::CallId::new("c").expect("an id"),
        name: "search_memory".to_owned(),
        envelope: json!({"success": true, "data": {"items": [
            {"id": "m-1", "content": "new", "status": "contested"}, {"id": "not an id", "content": "lost"}, {"id": "m-3"},
        ]}}),
        effects: Vec::new(),
    });
    let scene = scene(&context);
    let known: Vec<(&str, &str, bool, bool)> =
        scene.memories.iter().map(|memory| (memory.id.as_str(), &*memory.content, memory.holds, memory.due)).collect();
    assert_eq!(known, [("m-1", "new", false, false), ("m-2", "Text Bob", true, true)]);
    assert!(scene.leaves.is_empty(), "what is remembered is no result");
}
