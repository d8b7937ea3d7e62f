use serde_json::json;

use super::*;
use crate::pointer::specs::Specs;
use crate::pointer::testing::{after, call, english, remembering};
use crate::pointer::walk::act::Act;

fn scene(context: &loopwright_contract::context::Context) -> Scene {
    Scene::new(&Specs::new(), context)
}

fn values(scene: &Scene, tool: usize, name: &str) -> Vec<Value> {
    let slots = Act::Tool(tool).slots(scene);
    let slot = slots.iter().find(|slot| slot.name == name).expect("a slot");
    options(scene, slot, &Map::new()).iter().filter_map(Candidate::value).collect()
}

#[test]
fn values_are_those_that_the_schema_takes() {
    let scene = scene(&english("Set the lamp to 140 or 40 or 4.5 at 7:30 am"));
    let levels = values(&scene, 0, "level");
    assert!(
        levels.contains(&json!(40)) && !levels.contains(&json!(140)) && !levels.contains(&json!(4.5)),
        "{levels:?}"
    );
    assert_eq!(values(&scene, 1, "time"), [json!("07:30")]);
    assert_eq!(values(&scene, 0, "action"), [json!("enable"), json!("disable"), json!("set")]);
}

#[test]
fn a_value_stands_once_however_often_it_was_observed() {
    let told = json!({"success": true, "message": "", "data": {"level": 40, "again": 40}});
    let context = remembering(english("Lamp to 40, yes 40"), "m-1", "likes 40");
    let levels = values(&scene(&after(context, call("set_lamp", json!({})), told)), 0, "level");
    assert_eq!(levels, [json!(40)]);
}

#[test]
fn options_stay_within_their_limits() {
    let names: Vec<Value> = (0..90).map(|number| json!({"name": format!("Thing {number}")})).collect();
    let said: String = (0..30).map(|number| format!("Bob{number} 7{number} ")).collect();
    let mut context = english(&said);
    for number in 0..30 {
        context = remembering(
            context,
            &format!("m-{number}"),
            &format!("Ann {number}, Eve {number}, \"x{number}\", {number}"),
        );
    }
    let told = json!({"success": true, "message": "", "data": {"items": names}});
    let scene = scene(&after(context, call("keep_alarm", json!({})), told));
    let slots = Act::Tool(2).slots(&scene);
    let all = options(&scene, slots.first().expect("a slot"), &Map::new());
    assert!(all.len() <= OPTIONS_MAX);
    assert_eq!(all.iter().filter(|candidate| candidate.value().is_some()).count(), VALUES_MAX);
    let many = scene_of_moments();
    let mut pairs = Vec::new();
    texts::moments(&many, Format::DateTime, &mut pairs);
    let paired = |candidate: &&Candidate| matches!(candidate.pick, Pick::Moment(moment, _) if moment.said);
    assert_eq!(pairs.iter().filter(paired).count(), texts::PAIRS_MAX);
}

fn scene_of_moments() -> Scene {
    let days: String = (4..20).map(|day| format!("March {day}; ")).collect();
    let times: String = (1..12).map(|hour| format!("{hour}:15 pm; ")).collect();
    scene(&english(&format!("{days}{times}")))
}

#[test]
fn a_record_is_changed_in_few_places() {
    let context = remembering(english("Now 11 12 13 14 15 16 17 18"), "m-1", "1 2 3 4 5 6 7 8");
    let scene = scene(&context);
    let slots = Act::Replace.slots(&scene);
    let chosen = json!({"memoryId": "m-1"}).as_object().cloned().expect("an object");
    let all = options(&scene, slots.last().expect("a slot"), &chosen);
    let changed = all.iter().filter(|candidate| candidate.own > 0.0).count();
    assert_eq!(changed, 16);
    assert!(all.iter().any(|candidate| candidate.value() == Some(json!("1 2 13 4 5 6 7 8"))));
}
