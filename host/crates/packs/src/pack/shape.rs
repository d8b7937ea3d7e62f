//! Which fields the objects of a task line may have. Serde ignores fields that it does not know, and a misspelt `consents` would go
//! unnoticed until an episode fails.

use serde_json::{Map, Value};

/// What may stand at a place.
#[derive(Clone, Copy)]
enum Shape {
    /// Anything: the type is checked when the value is read.
    Any,
    /// An object of these fields.
    Fields(&'static [(&'static str, Shape)]),
    /// A list of these.
    List(&'static Shape),
    /// An object whose field of this name decides which further fields it has.
    Tagged(&'static str, &'static [(&'static str, &'static [(&'static str, Shape)])]),
}

use Shape::{Any, Fields, List, Tagged};

const EDIT: Shape = Tagged(
    "edit",
    &[
        ("put", &[("collection", Any), ("key", Any), ("value", Any)]),
        ("patch", &[("collection", Any), ("key", Any), ("value", Any)]),
        ("delete", &[("collection", Any), ("key", Any)]),
    ],
);

const ACTION: Shape = Tagged(
    "action",
    &[
        ("call", &[("id", Any), ("tool", Any), ("arguments", Any)]),
        ("recall", &[("query", Any), ("limit", Any), ("category", Any), ("mode", Any)]),
        ("remember", &[("content", Any), ("category", Any), ("title", Any), ("tags", Any), ("valid_until", Any)]),
        ("replace", &[("memory", Any), ("content", Any)]),
        ("forget", &[("memory", Any), ("call", Any)]),
        ("load_skill", &[("skill", Any)]),
        ("ask", &[("question", Any), ("pending", Any)]),
        ("refuse", &[("reason", Any)]),
        ("delegate", &[("agent", Any), ("instruction", Any)]),
        ("finish", &[("answer", Any), ("data", Any)]),
    ],
);

const USER: Shape = Fields(&[
    ("slots", List(&Fields(&[("name", Any), ("asked_by", Any), ("answer", Any)]))),
    ("consents", List(&Fields(&[("tool", Any), ("arguments", Any)]))),
]);

const BUDGET: Shape = Fields(&[
    ("steps", Any),
    ("tokens", Any),
    ("cost_micros", Any),
    ("wall", Fields(&[("secs", Any), ("nanos", Any)])),
]);

const TASK: Shape = Fields(&[
    ("id", Any),
    ("family", Any),
    ("category", Any),
    ("split", Any),
    ("lang", Any),
    ("request", Any),
    ("environment", Any),
    ("setup", Any),
    ("start", Fields(&[("now_ns", Any), ("zone", Any), ("seed", Any)])),
    ("world", Any),
    ("edits", List(&EDIT)),
    ("user", USER),
    ("gold", List(&List(&ACTION))),
    ("checks", List(&Fields(&[("verifier", Any), ("check", Any)]))),
    ("budget", BUDGET),
    ("provenance", Fields(&[("source", Any), ("licence", Any), ("source_hash", Any), ("transform", Any)])),
]);

/// Says which field of a task line is unknown, and which ones are known there.
///
/// # Errors
/// The place of the field as a JSON pointer, its name and the allowed ones.
pub(super) fn check_task(value: &Value) -> Result<(), String> {
    check(value, TASK, &mut String::new())
}

fn check(value: &Value, shape: Shape, at: &mut String) -> Result<(), String> {
    match (shape, value) {
        (Fields(fields), Value::Object(map)) => check_fields(map, fields, None, at),
        (List(inner), Value::Array(items)) => {
            for (position, item) in items.iter().enumerate() {
                within(at, &position.to_string(), |at| check(item, *inner, at))?;
            }
            Ok(())
        }
        (Tagged(tag, cases), Value::Object(map)) => {
            let found = map.get(tag).and_then(Value::as_str);
            match cases.iter().find(|(name, _)| Some(*name) == found) {
                Some((_, fields)) => check_fields(map, fields, Some(tag), at),
                None => {
                    let names: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
                    Err(format!(
                        "at `{at}`: `{tag}` is {}, expected one of {names:?}",
                        map.get(tag).map_or("absent".to_owned(), short)
                    ))
                }
            }
        }
        // A value of the wrong type is refused when it is read.
        _ => Ok(()),
    }
}

fn check_fields(
    map: &Map<String, Value>,
    fields: &[(&str, Shape)],
    tag: Option<&str>,
    at: &mut String,
) -> Result<(), String> {
    for (name, value) in map {
        if tag == Some(name) {
            continue;
        }
        let Some((_, shape)) = fields.iter().find(|(known, _)| known == name) else {
            let names: Vec<&str> = tag.into_iter().chain(fields.iter().map(|(known, _)| *known)).collect();
            let found: String = name.chars().take(80).collect();
            return Err(format!("at `{at}`: unknown field `{found}`, expected one of {names:?}"));
        };
        within(at, name, |at| check(value, *shape, at))?;
    }
    Ok(())
}

fn within<R>(at: &mut String, part: &str, inner: impl FnOnce(&mut String) -> R) -> R {
    let length = at.len();
    at.push('/');
    at.push_str(part);
    let result = inner(at);
    at.truncate(length);
    result
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 {
        format!("`{}...`", text.chars().take(40).collect::<String>())
    } else {
        format!("`{text}`")
    }
}
