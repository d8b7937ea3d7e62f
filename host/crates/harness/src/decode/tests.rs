use std::collections::BTreeMap;

use loopwright_contract::action::{Action, ActionSpace, Proposed};
use loopwright_contract::context::LoadedSkill;
use loopwright_contract::json::{JsonLimits, canonical, parse};
use loopwright_contract::memory::SearchMode;
use loopwright_contract::name::{CallId, MemoryId, SkillName};
use loopwright_contract::tool::{InstalledTool, ToolCall};
use loopwright_testkit::host::{FakeHost, SKILL};
use loopwright_testkit::planner::{action, raw};
use loopwright_testkit::task::{call, finish};
use loopwright_testkit::tool::installed;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

struct World {
    schemas: SchemaCache,
    space: ActionSpace,
    pending: BTreeMap<CallId, ToolCall>,
    loaded: Vec<LoadedSkill>,
}

/// The fake tools, and one whose schema has every form that repairs look at.
fn world() -> World {
    use loopwright_contract::episode::EpisodeHost;
    let mut tools: Vec<InstalledTool> = installed();
    let mut forms = tools.first().expect("a tool").clone();
    forms.spec.name = call("c", "all_forms", json!({})).tool;
    forms.spec.arguments_schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "i": {"type": "integer", "minimum": 0}, "n": {"type": ["number", "null"]}, "b": {"type": "boolean"}, "e": {"enum": [1, 2]},
        "l": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object", "properties": {"k": {"type": "integer"}}, "additionalProperties": false},
        "u": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "s": {"type": "string", "pattern": "^[a-z]+$"},
    }});
    let mut broken = forms.clone();
    broken.spec.name = call("c", "broken", json!({})).tool;
    broken.spec.arguments_schema = json!({"$ref": "https://example.org/x"});
    tools.extend([forms, broken]);
    World {
        schemas: SchemaCache::new(&tools),
        space: ActionSpace {
            tools: tools.iter().map(|tool| tool.spec.clone()).collect(),
            skills: FakeHost::new().skills().to_vec(),
            memory: true,
            ask: true,
        },
        pending: [call("c9", "wipe_notes", json!({}))].into_iter().map(|call| (call.id.clone(), call)).collect(),
        loaded: vec![LoadedSkill { name: SkillName::new("old-one").expect("a name"), guidance: String::new() }],
    }
}

fn read(world: &World, proposed: &[Proposed], strict: bool) -> Decoded {
    decode(
        proposed,
        Grounds {
            schemas: &world.schemas,
            space: &world.space,
            pending: &world.pending,
            loaded: &world.loaded,
            strict,
            turn: 3,
        },
    )
}

/// What became of a decision, in one line.
fn summary(decoded: &Decoded) -> String {
    let taken = decoded.taken.iter().map(|taken| canonical(&serde_json::to_value(&taken.action).expect("JSON")));
    let coerced = decoded
        .coercions
        .iter()
        .map(|coercion| format!("{}: {} -> {}", coercion.at, canonical(&coercion.from), canonical(&coercion.to)));
    taken.chain(coerced).chain(decoded.malformed.iter().cloned()).collect::<Vec<_>>().join(" | ")
}

fn check(proposed: Vec<Proposed>, strict: bool, parts: &[&str]) {
    let found = summary(&read(&world(), &proposed, strict));
    for part in parts {
        assert!(found.contains(part), "{proposed:?}\n  gave     `{found}`\n  expected `{part}`");
    }
}

#[test]
fn calls_are_read_and_what_is_wrong_is_said() {
    for (name, arguments, parts) in [
        ("set_torch", r#"{"on":true}"#, &[r#""arguments":{"on":true},"id":"call-3-0""#][..]),
        ("set_torch", r#"{"on":true,"level":2.0}"#, &[r#""level":2"#]),
        ("set_torch", r#"{"on": tr"#, &["not acceptable JSON", "line 1 column"]),
        ("set_torch", r#"{"on":true,"on":false}"#, &["duplicate key `on`"]),
        ("set_torch", r#"{"on":true,"colour":"red"}"#, &["unknown `colour`", "allowed: `level`, `on`"]),
        ("set_torch", r"{}", &["`on` is missing"]),
        ("set_torch", r#"{"on":true,"level":9}"#, &["`/level`: found number `9`, expected at most 5"]),
        ("set_torch", r#"{"on":1}"#, &["`/on`: found number `1`, expected boolean"]),
        ("set_torch", r"[true]", &["expected one JSON object"]),
        ("set_torch", r"9007199254740993", &["2^53-1"]),
        ("manage_note", r#"{"action":"burn","key":"a"}"#, &["`/action`", r#"allowed: "put", "query", "delete""#]),
        ("manage_note", r#"{"action":"put","key":"a","tags":[1]}"#, &["`/tags/0`: found number `1`, expected string"]),
        (
            "launch_rocket",
            "{}",
            &["no tool `launch_rocket`", "manage_note, set_torch, wipe_notes", "skill__note_keeper", "finish"],
        ),
        ("broken", "{}", &["its schema is unusable", "`$ref` is not allowed"]),
        ("skill__note_keeper", "{}", &[r#""action":"load_skill","skill":"note-keeper""#]),
        ("skill__note-keeper", "{}", &["load_skill"]),
        ("skill__old_one", "{}", &["already loaded"]),
        ("skill__unknown", "{}", &["can be loaded: `skill__broken_skill`, `skill__note_keeper`"]),
        ("skill__note_keeper", r#"{"reason":"to learn"}"#, &["load_skill"]),
        ("skill__note_keeper", r#"{"why":1}"#, &["unknown `why`; allowed: `reason`"]),
        ("ask_user", r#"{"question":"When?"}"#, &[r#""action":"ask""#]),
        ("ask_user", r#"{"question":"Sure?","pending_call":"c9"}"#, &[r#""pending":"c9""#]),
        ("ask_user", r#"{"question":"Sure?","pending_call":"c1"}"#, &["no call `c1` waits", "waiting: `c9`"]),
        ("ask_user", "{}", &["`question` is missing"]),
        ("refuse", r#"{"reason":"unsafe"}"#, &[r#""action":"refuse""#]),
        ("finish", r#"{"answer":"ok","data":{"n":2.0}}"#, &[r#""data":{"n":2}"#]),
        ("delegate", r#"{"agent":"gui","instruction":"tap"}"#, &[r#""action":"delegate""#]),
        ("search_user_memory", r#"{"query":"car","maxResults":3}"#, &[r#""limit":3"#]),
        ("search_user_memory", r#"{"query":"car"}"#, &[r#""limit":5"#]),
        ("search_user_memory", r#"{"query":"car","maxResults":1000}"#, &["expected at most 20"]),
        (
            "search_user_memory",
            r#"{"query":"car","memoryCategory":"habits","searchMode":"time"}"#,
            &[r#"{"action":"recall","category":"habits","limit":5,"mode":"time","query":"car"}"#],
        ),
        (
            "search_user_memory",
            r#"{"query":"car","searchMode":"random"}"#,
            &["`/searchMode`", r#"allowed: "relevance", "time""#],
        ),
        ("search_memory", r#"{"query":"car","maxResults":3}"#, &[r#"{"action":"recall","limit":3,"query":"car"}"#]),
        ("add_user_memory", r#"{"content":"likes tea","memoryCategory":"habits"}"#, &[r#""category":"habits""#]),
        (
            "add_memory",
            r#"{"content":"likes tea","title":"tea","tags":["drink"],"validUntil":"2026-03-31"}"#,
            &[
                r#""action":"remember","category":null,"content":"likes tea","tags":["drink"],"title":"tea","valid_until":"2026-03-31T23:59:59""#,
            ],
        ),
        (
            "add_user_memory",
            r#"{"content":"x","validUntil":"2026-02-31"}"#,
            &["`validUntil`", "`2026-02-31` is not a time"],
        ),
        ("add_user_memory", r#"{"content":"x","validUntil":"2026-03-02T09:00Z"}"#, &["without an offset"]),
        ("add_user_memory", r#"{"content":"x","source":"user"}"#, &["unknown `source`"]),
        (
            "replace_user_memory",
            r#"{"memoryId":"memory-0001","content":"likes coffee"}"#,
            &[r#"{"action":"replace","content":"likes coffee","memory":"memory-0001"}"#],
        ),
        ("update_memory", r#"{"memoryId":"memory-0001","content":"x"}"#, &[r#""action":"replace""#]),
        ("replace_user_memory", r#"{"memoryId":"memory 1","content":"x"}"#, &["`memoryId`", "is not a memory id"]),
        (
            "remove_user_memory",
            r#"{"memoryId":"memory-0001"}"#,
            &[r#"{"action":"forget","call":"call-3-0","memory":"memory-0001"}"#],
        ),
        ("delete_memory", r#"{"memoryId":"memory-0001"}"#, &[r#""action":"forget""#]),
        ("remove_user_memory", r#"{"query":"all"}"#, &["unknown `query`", "`memoryId` is missing"]),
    ] {
        check(vec![raw(name, arguments)], false, parts);
    }
}

#[test]
fn one_repair_is_made_and_logged_and_strict_mode_makes_none() {
    for (arguments, repaired) in [
        (r#"{"i":"5"}"#, "/i: \"5\" -> 5"),
        (r#"{"i":" 5.0 "}"#, "-> 5"),
        (r#"{"n":"2.5"}"#, "/n: \"2.5\" -> 2.5"),
        (r#"{"b":"true"}"#, "/b: \"true\" -> true"),
        (r#"{"e":"2"}"#, "/e: \"2\" -> 2"),
        (r#"{"l":"[1,2]"}"#, "/l: \"[1,2]\" -> [1,2]"),
        (r#"{"l":[1,"2"]}"#, "/l/1: \"2\" -> 2"),
        (r#"{"o":"{\"k\":1}"}"#, "-> {\"k\":1}"),
        (r#"{"u":"false"}"#, "/u: \"false\" -> false"),
        (r#""{\"i\":5}""#, ": \"\\\"{\\\\\\\"i\\\\\\\":5}\\\"\" -> {\"i\":5}"),
        ("```json\n{\"i\":5}\n```", "-> {\"i\":5}"),
        ("", ": \"\" -> {}"),
    ] {
        check(vec![raw("all_forms", arguments)], false, &["\"action\":\"call\"", repaired]);
        let strict = read(&world(), &[raw("all_forms", arguments)], true);
        assert!(
            strict.taken.is_empty() && strict.coercions.is_empty() && strict.malformed.len() == 1,
            "{arguments} was repaired in strict mode"
        );
    }
    // What is no spelling of an allowed value stays wrong, and is quoted as it was written.
    for (arguments, part) in [
        (r#"{"i":"five"}"#, "`/i`: found string `\"five\"`, expected integer"),
        (r#"{"i":"-5"}"#, "expected integer"),
        (r#"{"i":"2.5"}"#, "expected integer"),
        (r#"{"l":"[1,\"x\"]"}"#, "`/l`"),
        (r#"{"b":"True"}"#, "expected boolean"),
        (r#"{"i":"5","zzz":1}"#, "unknown `zzz`"),
        (r#"{"s":"A1"}"#, "expected a match of `^[a-z]+$`"),
    ] {
        check(vec![raw("all_forms", arguments)], false, &[part]);
    }
}

#[test]
fn bombs_are_refused() {
    let nested = format!("{{\"l\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    check(vec![raw("all_forms", &nested)], false, &["nested deeper than 32 levels"]);
    check(
        vec![raw("all_forms", &format!("{{\"s\":\"{}\"}}", "a".repeat(300_000)))],
        false,
        &["at most 262144 are allowed"],
    );
    check(
        vec![raw("finish", &format!("{{\"answer\":\"{}\"}}", "a".repeat(5000)))],
        false,
        &["at most 4096 characters"],
    );
    check(vec![action(finish(&"长".repeat(2000)))], false, &["`answer` has 6000 bytes"]);
    let many = format!("{{{}}}", (0..3000).map(|number| format!("\"k{number}\":1")).collect::<Vec<_>>().join(","));
    let told = summary(&read(&world(), &[raw("all_forms", &many)], false));
    assert!(told.len() < 3000, "the planner is told {} bytes", told.len());
}

#[test]
fn a_decision_holds_several_calls_or_one_other_action() {
    let torch = || raw("set_torch", r#"{"on":true}"#);
    check(vec![], false, &["holds no action"]);
    check(vec![torch(), torch()], false, &["\"id\":\"call-3-0\"", "\"id\":\"call-3-1\""]);
    check(
        vec![torch(), raw("finish", r#"{"answer":"ok"}"#)],
        false,
        &["found `finish` beside `set_torch`; none was run"],
    );
    check(vec![action(finish("a")), action(finish("b"))], false, &["found `finish` beside another of its kind"]);
    check(vec![raw("skill__note_keeper", "{}"), torch()], false, &["found `skill__note_keeper` beside `set_torch`"]);
    let forget = || raw("delete_memory", r#"{"memoryId":"m-1"}"#);
    check(vec![forget(), torch()], false, &["found `remove_user_memory` beside `set_torch`"]);
    check(
        vec![torch(), Proposed::Unreadable { reason: "prose".to_owned() }],
        false,
        &["\"action\":\"call\"", "the output holds no action: prose"],
    );
    check(vec![torch(), raw("launch_rocket", "{}")], false, &["\"action\":\"call\"", "no tool `launch_rocket`"]);
    assert_eq!(read(&world(), &vec![torch(); 16], false).taken.len(), 16);
    let many = read(&world(), &vec![torch(); 17], false);
    assert!(many.taken.is_empty() && summary(&many).contains("at most 16"));
}

#[test]
fn duplicate_call_ids_get_new_names() {
    let same = |id: &str| Proposed::Call {
        id: Some(id.to_owned()),
        name: "set_torch".to_owned(),
        arguments: r#"{"on":true}"#.to_owned(),
    };
    let long = "x".repeat(64);
    for (ids, expected) in [
        (["a", "a", "a"], ["a", "a~2", "a~3"]),
        (["a~2", "a", "a"], ["a~2", "a", "a~3"]),
        (["", "with space", "call-3-0"], ["call-3-0", "call-3-1", "call-3-0~2"]),
        ([long.as_str(), long.as_str(), "b"], [long.as_str(), &format!("{}~2", "x".repeat(56)), "b"]),
    ] {
        let decoded = read(&world(), &ids.map(same), false);
        assert_eq!(decoded.taken.iter().map(|taken| taken.id.as_str().to_owned()).collect::<Vec<_>>(), expected);
        assert!(decoded.taken.iter().all(|taken| matches!(&taken.action, Action::Call(call) if call.id == taken.id)));
    }
}

#[test]
fn what_is_not_offered_cannot_be_done() {
    let mut world = world();
    world.space.memory = false;
    world.space.ask = false;
    world.space.tools.truncate(1);
    for (proposal, part) in [
        (raw("search_user_memory", r#"{"query":"x"}"#), "there is no memory here"),
        (raw("delete_memory", r#"{"memoryId":"m-1"}"#), "there is no memory here"),
        (action(Action::Replace { memory: memory("m-1"), content: "x".to_owned() }), "there is no memory here"),
        (raw("ask_user", r#"{"question":"x"}"#), "there is no user to ask"),
        (raw("set_torch", r#"{"on":true}"#), "no tool `set_torch` here; offered: manage_note, skill__"),
        (action(Action::Call(call("c", "set_torch", json!({"on": true})))), "no tool `set_torch` here"),
    ] {
        let found = summary(&read(&world, &[proposal], false));
        assert!(found.contains(part), "`{found}` does not say `{part}`");
    }
}

#[test]
fn typed_actions_are_checked_like_text() {
    for (value, part) in [
        (Action::Call(call("c", "set_torch", json!({"on": "true"}))), "/on: \"true\" -> true"),
        (Action::Call(call("c", "set_torch", json!({"on": 7}))), "expected boolean"),
        (Action::LoadSkill { skill: SkillName::new("unknown").expect("a name") }, "there is no skill `skill__unknown`"),
        (Action::LoadSkill { skill: SkillName::new(SKILL).expect("a name") }, "load_skill"),
        (Action::Ask { question: "Sure?".to_owned(), pending: CallId::new("c1").ok() }, "no call `c1` waits"),
        (
            Action::Recall { query: "x".to_owned(), limit: 1000, category: None, mode: SearchMode::Relevance },
            "\"limit\":20",
        ),
        (Action::Forget { memory: memory("m-1"), call: CallId::new("c7").ok() }, "\"call\":\"c7\""),
        (Action::Forget { memory: memory("m-1"), call: None }, "\"call\":\"call-3-0\""),
        (remember("likes tea", Some("x".repeat(65)), Vec::new()), "`memoryCategory` has 65 bytes"),
        (remember("likes tea", None, vec!["x".to_owned(); 17]), "`tags` has 17 elements"),
        (remember(&"x".repeat(5000), None, Vec::new()), "`content` has 5000 bytes"),
    ] {
        check(vec![action(value)], false, &[part]);
    }
}

fn memory(id: &str) -> MemoryId {
    MemoryId::new(id).expect("an id")
}

fn remember(content: &str, category: Option<String>, tags: Vec<String>) -> Action {
    Action::Remember { content: content.to_owned(), category, title: None, tags, valid_until: None }
}

fn any_arguments() -> impl Strategy<Value = String> {
    let key = prop_oneof!["[inbelous]", Just("on".to_owned()), "\\PC{0,3}"];
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| json!(number)),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        "-?[0-9]{1,3}(\\.[05])?".prop_map(Value::String),
        "true|false|null|\\[1,2\\]|\\[\"1\"\\]|\\{\"k\":\"1\"\\}".prop_map(Value::String),
        "[a-zA-Z]{0,5}".prop_map(Value::String),
    ];
    let value = leaf.prop_recursive(2, 12, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map("[ks]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    let object = proptest::collection::btree_map(key, value, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()).to_string());
    prop_oneof![4 => object.clone(), 1 => "\\PC{0,40}", 1 => object.prop_map(|text| format!("```json\n{text}\n```"))]
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_taken_conforms(name in "all_forms|set_torch|manage_note|finish|ask_user|skill__note_keeper|\\PC{0,12}", arguments in any_arguments(), strict: bool) {
        let world = world();
        let decoded = read(&world, &[raw(&name, &arguments)], strict);
        prop_assert_eq!(decoded.taken.len() + decoded.malformed.len(), 1);
        prop_assert!(!strict || decoded.coercions.is_empty());
        for taken in &decoded.taken {
            if let Action::Call(call) = &taken.action {
                let schema = world.schemas.tool(&call.tool).expect("an offered tool").expect("a schema that compiles");
                prop_assert!(schema.validator.is_valid(&call.arguments), "{} does not conform", call.arguments);
                // A repair is the only thing that may change what was written.
                let written = parse(&arguments, &JsonLimits::CONTRACT).ok();
                prop_assert!(!decoded.coercions.is_empty() || written.as_ref() == Some(&call.arguments));
            }
        }
        for reason in &decoded.malformed {
            prop_assert!(!reason.is_empty() && reason.len() < 8192);
        }
    }
}
