use std::path::{Path, PathBuf};

use loopwright_contract::action::Action;
use loopwright_contract::evidence::Change;
use loopwright_contract::name::ToolName;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{RecordedCall, RecordedChange, changes_difference, first_difference, import, recording, result_difference};

/// The folder of a public pack beside the repository; says so and gives nothing where it is absent.
fn public(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/packs").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: `{}` is not there; it holds public records that are read by path", folder.display());
    None
}

#[test]
fn retail_is_read_whole() {
    let Some(folder) = public("tau2-retail") else { return };
    let imported = import(&folder).expect("it is read");
    assert_eq!(imported.recording.name, "tau2-retail");
    assert_eq!(imported.recording.tools.len(), 16);
    assert_eq!(imported.recording.replays.len(), 74);
    assert_eq!(imported.recording.replays.iter().map(|replay| replay.calls.len()).sum::<usize>(), 365);
    assert!(imported.policy.is_some_and(|policy| !policy.is_empty()));
    let count = |collection: &str| {
        imported.recording.world.get(collection).and_then(Value::as_object).map(serde_json::Map::len)
    };
    assert_eq!((count("products"), count("users"), count("orders")), (Some(50), Some(500), Some(1000)));
    assert_eq!(imported.pack.tasks().len(), 74);
    for task in imported.pack.tasks() {
        assert!(!task.request.is_empty() && !task.checks.is_empty());
        assert!(usize::try_from(task.budget.steps).expect("small") > task.gold.len());
        assert!(matches!(task.gold.last().and_then(|turn| turn.first()), Some(Action::Finish { .. })));
    }
}

#[test]
fn the_gold_of_the_tasks_is_what_was_recorded() {
    let Some(folder) = public("tau2-retail") else { return };
    let imported = import(&folder).expect("it is read");
    for replay in &imported.recording.replays {
        let id = super::task_id("tau2-retail", &replay.task_id);
        let task =
            imported.pack.tasks().iter().find(|task| task.id == *id.as_str()).expect("each recording has its task");
        let gold: Vec<(&ToolName, &Value)> = task
            .gold
            .iter()
            .flatten()
            .filter_map(
                |action| if let Action::Call(call) = action { Some((&call.tool, &call.arguments)) } else { None },
            )
            .collect();
        let recorded: Vec<(&ToolName, &Value)> =
            replay.calls.iter().map(|call| (&call.name, &call.arguments)).collect();
        assert_eq!(gold, recorded, "{id}");
    }
}

#[test]
fn an_imported_pack_is_written_and_read_back() {
    let Some(folder) = public("tau2-retail") else { return };
    let imported = import(&folder).expect("it is read");
    let target = tempfile::tempdir().expect("a folder");
    crate::pack::write(&imported.pack, target.path()).expect("written");
    assert_eq!(crate::pack::read(target.path()).expect("read"), imported.pack);
}

#[test]
fn airline_has_the_same_form_and_others_are_refused_by_name() {
    if let Some(folder) = public("tau2-airline") {
        let imported = import(&folder).expect("it is read");
        assert_eq!(
            (imported.pack.tasks().len(), imported.recording.tools.len(), imported.recording.replays.len()),
            (30, 14, 30)
        );
    }
    if let Some(folder) = public("tau2-telecom") {
        let error = recording(&folder).expect_err("its documents are TOML");
        assert!(error.to_string().contains("`db.json`"), "{error}");
    }
    if let Some(folder) = public("bfcl-multi-turn") {
        assert!(recording(&folder).is_err());
    }
}

#[test]
fn a_bad_folder_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).expect("written");
    write("db.json", r#"{"users":{"a":{"n":1}}}"#);
    write("tools.json", r#"[{"name":"get","inputSchema":{}}]"#);
    write("replays.jsonl", "{\"task_id\":\"0\",\"calls\":[],\"changes\":[]}\n\n{\"task_id\":\"1\"}\n");
    let error = recording(folder.path()).expect_err("line 3 is short").to_string();
    assert!(error.contains("`replays.jsonl` line 3: missing field `calls`"), "{error}");
    write("replays.jsonl", "{\"task_id\":\"0\",\"calls\":[],\"changes\":[]}\n");
    assert_eq!(recording(folder.path()).expect("it is read").replays.len(), 1);
    write("db.json", r#"{"Users":{"a":{"n":1}}}"#);
    let error = recording(folder.path()).expect_err("no collection name").to_string();
    assert!(error.contains("`Users` is not a collection name"), "{error}");
    write("db.json", r#"{"users":[1]}"#);
    assert!(recording(folder.path()).is_err_and(|error| error.to_string().contains("collection `users`")));
    write("tools.json", r#"[{"name":"ge t","inputSchema":{}}]"#);
    write("db.json", "{}");
    assert!(recording(folder.path()).is_err_and(|error| error.to_string().contains("`tools.json` line 1")));
}

fn recorded(ok: bool, result: Value) -> RecordedCall {
    RecordedCall { name: ToolName::new("get").expect("a name"), arguments: json!({}), ok, result }
}

#[test]
fn differences_are_named_by_pointer() {
    for (found, expected, at) in [
        (json!({"a": 1}), json!({"a": 1}), None),
        (json!({"a": 1.5, "b": [1, {"c": 2}]}), json!({"a": 1.5, "b": [1, {"c": 3}]}), Some("/b/1/c")),
        (json!({"a": 1}), json!({"a": 1, "z": null}), Some("/z")),
        (json!([1, 2]), json!([1]), Some("/1")),
        (json!({"a/b": {"~": 1}}), json!({"a/b": {"~": 2}}), Some("/a~1b/~0")),
        (json!("1"), json!(1), Some("")),
        (json!(25.0), json!(25), None),
    ] {
        assert_eq!(first_difference(&found, &expected).as_deref(), at, "{found} {expected}");
    }
}

#[test]
fn errors_are_equal_to_errors_whatever_they_say() {
    assert_eq!(
        result_difference(false, &json!("not here"), &recorded(false, json!("ValueError: Order not found"))),
        None
    );
    assert_eq!(result_difference(true, &json!("x"), &recorded(false, json!("x"))).as_deref(), Some("/ok"));
    assert_eq!(result_difference(false, &json!("x"), &recorded(true, json!("x"))).as_deref(), Some("/ok"));
    assert_eq!(
        result_difference(true, &json!({"a": {"b": 1}}), &recorded(true, json!({"a": {"b": 2}}))).as_deref(),
        Some("/result/a/b")
    );
    assert_eq!(result_difference(true, &json!({"b": 1, "a": 2}), &recorded(true, json!("{\"a\": 2, \"b\": 1}"))), None);
}

#[test]
fn changes_are_compared_as_sets_of_documents() {
    let change = |key: &str, after: Option<Value>| Change {
        collection: "orders".to_owned(),
        key: key.to_owned(),
        before: Some(json!({})),
        after,
    };
    let wanted = |key: &str, after: Option<Value>| RecordedChange {
        collection: "orders".to_owned(),
        key: key.to_owned(),
        after,
    };
    let found = [change("b", Some(json!({"n": 1}))), change("a", None)];
    assert_eq!(changes_difference(&found, &[wanted("a", Some(Value::Null)), wanted("b", Some(json!({"n": 1})))]), None);
    assert_eq!(
        changes_difference(&found, &[wanted("a", None), wanted("b", Some(json!({"n": 2})))]).as_deref(),
        Some("/changes/orders/b/n")
    );
    assert_eq!(changes_difference(&found, &[wanted("a", None)]).as_deref(), Some("/changes/orders/b"));
    assert_eq!(changes_difference(&[], &[wanted("a", None)]).as_deref(), Some("/changes/orders/a"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-9..9_i64).prop_map(Value::from),
        "[a-c/~]{0,2}".prop_map(Value::String)
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::btree_map("[a-c/~]{0,2}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_difference_is_there_exactly_when_values_differ_and_the_pointer_leads_to_it(a in any_json(), b in any_json()) {
        match first_difference(&a, &b) {
            None => prop_assert_eq!(a, b),
            Some(at) => prop_assert_ne!(a.pointer(&at), b.pointer(&at)),
        }
    }
}
