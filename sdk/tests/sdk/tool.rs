//! Declared tools, their schemas and what becomes of a call.

use loopwright_sdk::testing::{Problem, TestPhone, assert_valid_plugin, problems_of, specs};
use loopwright_sdk::{
    ArgumentValues, Code, Collection, Failure, Identity, NoArguments, Phone, Query, Reply, Requirement, StateError,
    Storage, Tool, ToolPlugin, identity,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// Puts a box on the shelf.
    Store,
    /// Takes a box away.
    Drop,
    /// Looks.
    Query,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Arguments {
    /// What to do.
    action: Action,
    /// The box.
    box_name: Option<String>,
    /// How heavy, in grams.
    weight: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    changed: bool,
    boxes: Vec<String>,
}

fn manage(phone: &mut Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    let name = arguments.box_name.unwrap_or_default();
    let changed = match arguments.action {
        Action::Query => false,
        Action::Store => {
            phone.put("boxes", &name, &json!({"weight": arguments.weight}))?;
            if arguments.weight > Some(1_000) {
                return Err(Failure::limit("the weight in grams", 1_000, arguments.weight));
            }
            true
        }
        Action::Drop => phone.delete("boxes", &name)?,
    };
    let boxes = phone.find_all::<Value>("boxes", &Query::new())?;
    let boxes = boxes.into_iter().map(|doc| doc.key).collect();
    Ok(Reply::new("the shelf", Answer { changed, boxes }))
}

fn peek(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    let secret: Value = phone.require("vault", "secret")?;
    Ok(Reply::new("seen", json!({ "secret": secret })))
}

fn meddle(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    phone.put("contacts", "me", &json!({}))?;
    Ok(Reply::new("written", json!({})))
}

fn misread(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    let weight: u32 = phone.require("boxes", "first")?;
    Ok(Reply::new("read", json!({ "weight": weight })))
}

struct Shelf;

impl ToolPlugin for Shelf {
    const IDENTITY: Identity = identity!("shelf");

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("manage_shelf", manage)
                .domain("storage")
                .en("Stores and drops boxes.", "shelf, box")
                .zh("存放和丢弃箱子。", "架子 箱子")
                .when("action", &["query"])
                .reads()
                .requires(Requirement::Unlocked)
                .when("boxName", ArgumentValues::Absent)
                .writes()
                .destructive()
                .requires(Requirement::Confirm)
                .requires(Requirement::Permission("storage")),
            Tool::new("peek", peek).domain("storage").en("Peeks.", "peek").reads(),
            Tool::new("meddle", meddle).domain("storage").en("Meddles.", "meddle").writes(),
            Tool::new("misread", misread).domain("storage").en("Misreads.", "misread").reads(),
        ]
    }

    fn storage() -> Storage {
        let boxes =
            Collection::new("boxes").bookkeeping("/touched").index("/weight").initial("first", json!({"weight": 5}));
        Storage::new().owns(boxes).reads("contacts")
    }
}

fn shelf() -> TestPhone {
    TestPhone::new().plugin::<Shelf>()
}

fn code(failure: &Failure) -> Option<u16> {
    failure.code().map(Code::get)
}

#[test]
fn the_declarations_are_valid() {
    assert_valid_plugin::<Shelf>();
}

#[test]
fn the_catalogue_says_what_was_declared() {
    let found = specs::<Shelf>();
    let tool = &found["tools"][0];
    assert_eq!(
        tool["arguments_schema"],
        json!({
            "type": "object", "additionalProperties": false, "required": ["action"],
            "properties": {
                "action": {"type": "string", "enum": ["store", "drop", "query"], "description": "What to do."},
                "boxName": {"type": "string", "description": "The box."},
                "weight": {"type": "integer", "minimum": 0, "description": "How heavy, in grams."},
            },
        })
    );
    assert_eq!(
        tool["result_schema"],
        json!({
            "type": "object", "additionalProperties": false, "required": ["changed", "boxes"],
            "properties": {"changed": {"type": "boolean"}, "boxes": {"type": "array", "items": {"type": "string"}}},
        })
    );
    assert_eq!(
        tool["access"],
        json!([
            {"when": {"argument": "action", "one_of": ["query"]}, "effect": "read", "requires": ["unlocked"]},
            {"when": {"argument": "boxName", "one_of": [null]}, "effect": "write", "requires": []},
            {"when": null, "effect": "destructive", "requires": ["confirm", "perm:storage"]},
        ])
    );
    assert_eq!(found["uses"], json!([{"name": "contacts", "write": false}]));
    assert_eq!(found["collections"][0]["initial"], json!({"first": {"weight": 5}}));
}

#[test]
fn a_call_that_fails_leaves_no_write_behind() {
    let mut test = shelf();
    let failure =
        test.call("manage_shelf", json!({"action": "store", "boxName": "heavy", "weight": 2_000})).unwrap_err();
    assert_eq!(code(&failure), Some(429));
    assert_eq!(test.keys("boxes"), ["first"]);
    let reply = test.call("manage_shelf", json!({"action": "store", "boxName": "light", "weight": 1})).unwrap();
    assert_eq!(reply.data, json!({"changed": true, "boxes": ["first", "light"]}));
}

#[test]
fn malformed_arguments_are_refused_and_name_the_field() {
    let mut test = shelf();
    let cases = [
        (json!({"action": "store", "weight": "heavy"}), Some("weight")),
        (json!({"action": "fly"}), Some("action")),
        (json!({"action": "store", "weight": -1}), Some("weight")),
    ];
    for (arguments, field) in cases {
        let failure = test.call("manage_shelf", arguments).unwrap_err();
        assert_eq!(code(&failure), Some(400), "{failure}");
        let named = failure.data().and_then(|data| data.get("argument")).and_then(Value::as_str);
        assert_eq!(named, field, "{failure}");
    }
    let unknown = test.call("manage_shelf", json!({"action": "query", "colour": "red"})).unwrap_err();
    assert!(unknown.message().contains("`colour`"), "{unknown}");
    let missing = test.call("manage_shelf", json!({})).unwrap_err();
    assert!(missing.message().contains("`action`"), "{missing}");
    let unknown = test.call("peek", json!({"at": 1})).unwrap_err();
    assert_eq!(code(&unknown), Some(400));
}

#[test]
fn a_tool_that_is_not_there_is_not_found() {
    assert_eq!(code(&shelf().call("fly", json!({})).unwrap_err()), Some(404));
}

#[test]
fn a_plugin_touches_what_it_declared_and_nothing_else() {
    let mut test = shelf().state(json!({"vault": {"secret": 42}, "contacts": {}}));
    let unread = test.call("peek", json!({})).unwrap_err();
    assert_eq!((code(&unread), unread.data()), (Some(403), Some(&json!({"collection": "vault"}))));
    let unwritten = test.call("meddle", json!({})).unwrap_err();
    assert_eq!(code(&unwritten), Some(403));
    assert_eq!(test.document("contacts", "me"), None);
}

#[test]
fn a_document_of_another_shape_is_a_fault() {
    let mut test = shelf();
    let failure = test.call("misread", json!({})).unwrap_err();
    assert!(failure.as_fault().is_some(), "{failure}");
    assert!(failure.message().contains("`first`"), "{failure}");
    assert_eq!(test.log().len(), 1);
}

#[test]
fn a_planted_error_reaches_the_planner_by_the_rule() {
    let mut test = shelf();
    test.fail_next(StateError::Conflict { collection: "boxes".to_owned(), key: "first".to_owned() });
    let failure = test.call("manage_shelf", json!({"action": "query"})).unwrap_err();
    assert_eq!(code(&failure), Some(409));
    assert!(test.call("manage_shelf", json!({"action": "query"})).is_ok());
}

#[test]
fn a_key_that_cannot_be_is_absent() {
    let mut test = shelf();
    let reply = test.call("manage_shelf", json!({"action": "drop", "boxName": ""})).unwrap();
    assert_eq!(reply.data["changed"], json!(false));
    assert_eq!(test.phone().get::<Value>("boxes", &"x".repeat(257)), Ok(None));
}

#[derive(Deserialize, JsonSchema)]
struct Undescribed {
    #[expect(dead_code, reason = "only the schema matters")]
    what: Option<Action>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Recursive {
    /// Itself.
    inner: Option<Box<Recursive>>,
}

fn undescribed(_: &mut Phone, _: Undescribed) -> Result<Reply<Vec<u8>>, Failure> {
    Err(Failure::unavailable("it"))
}

fn recursive(_: &mut Phone, _: Recursive) -> Result<Reply, Failure> {
    Err(Failure::unavailable("it"))
}

fn open(_: &mut Phone, _: Value) -> Result<Reply, Failure> {
    Err(Failure::unavailable("it"))
}

struct Sloppy;

impl ToolPlugin for Sloppy {
    const IDENTITY: Identity = identity!("Sloppy");

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("twice", undescribed)
                .domain("")
                .en("", "words")
                .when("what", &["store", "fly"])
                .reads()
                .when("who", true)
                .reads()
                .writes(),
            Tool::new("twice", recursive).domain("d").en("It.", "it").writes(),
            Tool::new("not a name", open).domain("d").en("It.", "it").text("en", "It.", "it").writes(),
        ]
    }

    fn storage() -> Storage {
        let owned = Collection::new("Boxes").bookkeeping("touched").initial("a", json!(1)).initial("a", json!(2));
        Storage::new().owns(owned).reads("other").writes("other")
    }
}

#[test]
fn sloppy_declarations_are_told_one_by_one() {
    let found: Vec<String> = problems_of::<Sloppy>().iter().map(Problem::to_string).collect();
    let expected = [
        "identity: `Sloppy` is no plugin name",
        "twice: has no domain",
        "twice in en: expected a text of 1 to 2048 bytes, found 0",
        "twice arguments: `what` has no description",
        "twice access: `what` is never `fly`",
        "twice access: there is no argument `who`",
        "twice: declared twice",
        "twice arguments: has a `$ref`",
        "not a name: is no tool name",
        "not a name in en: said twice",
        "not a name arguments: arguments are an object",
        "other: declared twice",
        "Boxes: `touched` is no pointer",
        "Boxes: the initial document `a` is declared twice",
        "Boxes: malformed state operation",
    ];
    for line in expected {
        assert!(found.iter().any(|problem| problem.starts_with(line)), "`{line}` is not in {found:#?}");
    }
}
