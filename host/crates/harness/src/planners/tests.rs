use loopwright_contract::planner::Planner;
use loopwright_contract::verdict::Outcome;
use loopwright_testkit::task::{mixed_tasks, torch_task};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::generate::generate;
use super::{Random, Scripted};
use crate::random::Generator;
use crate::run::{RunOptions, run_tasks};
use crate::settings::Settings;
use crate::testing::{harness, options, run_one};

fn valid(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::new(schema).is_ok_and(|validator| validator.is_valid(value))
}

proptest! {
    #[test]
    fn generated_arguments_conform(seed: u64) {
        for schema in [
            json!({"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
                "a": {"type": "integer", "minimum": 3, "maximum": 5}, "b": {"type": "string", "minLength": 8, "maxLength": 9},
                "c": {"enum": ["x", 1, null]}, "d": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
                "e": {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 2}, {"type": "null"}]}, "f": {"const": 7},
                "g": {"type": ["string", "null"]}, "h": {"type": "object", "properties": {"x": {"type": "integer", "exclusiveMaximum": -3}}},
            }}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "integer", "minimum": i64::MAX}),
        ] {
            let value = generate(&schema, &mut Generator::new(seed));
            prop_assert!(valid(&schema, &value), "{value} does not conform to {schema}");
            prop_assert_eq!(generate(&schema, &mut Generator::new(seed)), value);
        }
    }
}

#[test]
fn hostile_schemas_are_generated_from_within_bounds() {
    let mut deep = json!({"type": "integer"});
    for _ in 0..30 {
        deep = json!({"type": "array", "minItems": 1_000_000, "items": deep});
    }
    let value = generate(&deep, &mut Generator::new(1));
    assert!(value.is_array() && value.to_string().len() < 100_000);
    assert!(
        generate(&json!({"type": "string", "minLength": u64::MAX}), &mut Generator::new(1))
            .as_str()
            .is_some_and(|text| text.len() < 2000)
    );
}

#[test]
fn random_acts_differently_with_another_seed_and_alike_with_the_same() {
    let tasks = mixed_tasks(6);
    let lines = |seed: u64| -> Vec<Option<Vec<String>>> {
        let options = RunOptions { seed, ..options() };
        run_tasks(&harness(Settings::default()), &Random, &tasks, &options, &|_| {})
            .into_iter()
            .map(|result| result.lines)
            .collect()
    };
    assert_eq!(lines(1), lines(1));
    assert_ne!(lines(1), lines(2));
}

#[test]
fn scripted_without_gold_is_void_and_with_other_decisions_plays_those() {
    let task = torch_task("t");
    let unknown = run_one(&harness(Settings::default()), &Scripted::new(&[]), &task);
    assert_eq!(unknown.outcome, Outcome::Void("planner failed: there is no gold for task `t`".to_owned()));
    let minus = Scripted::new(&[]).with_decisions(&task, vec![task.gold[1].clone()]);
    assert_eq!(run_one(&harness(Settings::default()), &minus, &task).outcome, Outcome::Fail);
    assert_eq!(minus.version().name, "scripted");
}
