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
    options(scene, slot, &Map::new()).iter().filter_map(Candidate::value).map(Cow::into_owned).collect()
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
    assert!(all.iter().any(|candidate| candidate.value().as_deref() == Some(&json!("1 2 13 4 5 6 7 8"))));
}

#[test]
fn what_can_be_filled_is_what_has_options() {
    let said = [
        "",
        "Lamp to 40",
        "at 7:30",
        "tomorrow",
        "tomorrow at 7:30",
        "in 20 minutes",
        "明天早上八点提醒我，亮度40",
        "!?",
    ];
    let told =
        [json!({}), json!({"level": 40, "at": "07:30"}), json!({"day": "2026-03-04", "from": "2026-03-04T10:00"})];
    let schema = json!({
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "moment": {"type": "string", "format": "date-time"},
            "clock": {"type": "string", "format": "time"},
            "named": {"type": "integer", "minimum": 5, "maximum": 9, "description": "One of `5` and `7`."},
            "few": {"type": "integer", "minimum": 30, "maximum": 50},
            "many": {"type": "number", "minimum": 901},
            "words": {"type": "string"},
        },
        "required": ["day", "moment", "clock", "named", "few", "many", "words"],
    });
    for (said, told) in said.iter().flat_map(|said| told.iter().map(move |told| (said, told))) {
        for now in ["2026-03-02T09:00:00+08:00[Asia/Shanghai]", ""] {
            let mut context = english(said);
            context.now = now.to_owned();
            std::sync::Arc::make_mut(&mut context.space).tools[0].arguments_schema = schema.clone();
            let envelope = json!({"success": true, "message": "", "data": told});
            let scene = scene(&after(context, call("keep_alarm", json!({})), envelope));
            for slot in
                &scene.offers.iter().find(|(_, offer)| offer.name.as_str() == "set_lamp").expect("an offer").1.slots
            {
                let listed = !options(&scene, slot, &Map::new()).is_empty();
                assert_eq!(is_fillable(&scene, slot), listed, "{} of {said:?} with {told} at {now:?}", slot.name);
            }
        }
    }
}
