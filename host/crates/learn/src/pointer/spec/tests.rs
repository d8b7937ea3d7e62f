use loopwright_contract::name::Lang;
use loopwright_contract::tool::{AccessRule, Localized};
use serde_json::json;

use super::*;

fn spec(schema: Value) -> ToolSpec {
    ToolSpec {
        name: ToolName::new("keep_lamp").expect("a name"),
        domain: "home".to_owned(),
        description: vec![Localized { lang: Lang::english(), text: "Sets a lamp.".to_owned() }],
        keywords: vec![Localized { lang: Lang::chinese(), text: "灯".to_owned() }],
        arguments_schema: schema,
        result_schema: json!({}),
        access: vec![AccessRule { when: None, effect: Effect::Write, requires: Vec::new() }],
        ext: Vec::new(),
    }
}

fn names(offer: &Offer) -> Vec<&str> {
    offer.slots.iter().map(|slot| slot.name.as_str()).collect()
}

#[test]
fn slots_come_in_the_order_in_which_they_decide() {
    let offer = Offer::read(
        &spec(json!({
            "properties": {
                "amount": {"type": "integer", "minimum": 1, "maximum": 3},
                "at": {"type": "string", "description": "When, `HH:MM`."},
                "endTime": {"type": ["string", "null"]},
                "kind": {"enum": ["a", "b", null], "description": "`a` and `b` need `amount`, `b` needs `at`."},
                "odd": {"type": "null"},
            },
            "required": ["amount", "kind"],
        })),
        false,
    )
    .expect("an offer");
    assert_eq!(names(&offer), ["kind", "amount", "at", "endTime"]);
    assert!(
        matches!(&offer.slots[0].shape, Shape::Enum(values) if values.iter().map(|closed| &closed.value).eq([&json!("a"), &json!("b")]))
    );
    assert_eq!(offer.slots[1].shape, Shape::Number { whole: true, least: Some(1.0), most: Some(3.0) });
    assert_eq!(offer.slots[2].shape, Shape::Text { format: Some(Format::Time), moment: false });
    assert_eq!(offer.slots[3].shape, Shape::Text { format: None, moment: true });
    let chosen = |kind: &str| json!({"kind": kind}).as_object().cloned().expect("an object");
    let wants = |kind: &str, slot: usize| offer.wants(&offer.slots[slot], &chosen(kind));
    assert_eq!((wants("a", 1), wants("b", 1)), (1.0, 1.0));
    assert_eq!((wants("a", 2), wants("b", 2)), (0.0, 1.0));
}

#[test]
fn a_value_that_is_also_a_slot_is_told_apart_by_its_verb() {
    let offer = Offer::read(
        &spec(json!({"properties": {
            "action": {"enum": ["start", "mode"], "description": "What to do; `start` needs `device`, `mode` needs `mode`."},
            "device": {"type": "string"}, "mode": {"enum": ["x"]},
        }})),
        true,
    )
    .expect("an offer");
    let need = |values: &str, slots: &str| Need {
        by: "action".to_owned(),
        values: vec![values.to_owned()],
        slots: vec![slots.to_owned()],
    };
    assert_eq!(offer.needs, [need("start", "device"), need("mode", "mode")]);
}

#[test]
fn what_no_pointer_fills_keeps_a_tool_from_being_offered() {
    for schema in [
        json!({"properties": {"a": {"type": "null"}}, "required": ["a"]}),
        json!({"properties": {}, "required": ["a"]}),
        json!({"properties": {"a": {}}, "required": ["a"]}),
    ] {
        assert_eq!(Offer::read(&spec(schema.clone()), false), None, "{schema}");
    }
    let mut deep = json!({"type": "string"});
    for _ in 0..=DEPTH_MAX {
        deep = json!({"type": "array", "items": deep});
    }
    let offer = Offer::read(&spec(json!({"properties": {"a": deep}})), false).expect("an offer");
    assert!(offer.slots.is_empty());
}

#[test]
fn slots_beyond_the_limit_are_left_out() {
    let properties: Map<String, Value> =
        (0..SLOTS_MAX + 4).map(|number| (format!("s{number:02}"), json!({"type": "string"}))).collect();
    let offer = Offer::read(&spec(json!({"properties": properties})), false).expect("an offer");
    assert_eq!(offer.slots.len(), SLOTS_MAX);
    let required: Vec<String> = properties.keys().cloned().collect();
    assert_eq!(Offer::read(&spec(json!({"properties": properties, "required": required})), false), None);
}

#[test]
fn descriptions_name_values() {
    for (text, expected) in [
        ("The tone: Classic, Sunrise, Drop or Bell.", vec!["Classic", "Sunrise", "Drop", "Bell"]),
        ("`speaker`, `earpiece` or a connected device.", vec!["speaker", "earpiece"]),
        ("The day, `YYYY-MM-DD`.", vec![]),
        ("A note: it is kept until the owner of it takes it away, or for a year.", vec![]),
    ] {
        assert_eq!(described(text), expected, "{text}");
    }
    let many: Vec<String> = (0..2 * DESCRIBED_MAX).map(|number| format!("v{number}")).collect();
    assert_eq!(described(&format!("One of: {}.", many.join(", "))).len(), DESCRIBED_MAX);
}
