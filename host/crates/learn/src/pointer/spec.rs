//! What an offered tool asks for: its slots, read from the JSON Schema of its arguments. It knows no request and no tool by name.

use std::sync::Arc;

use loopwright_contract::name::ToolName;
use loopwright_contract::tool::{Effect, ToolSpec};
use serde_json::{Map, Value};

use super::candidates::moment::Format;
use super::choice::Bag;
use super::glossary::{pieces, spoken};
use super::grams::{Grams, terms};
use super::scene::Label;

/// How deep objects and lists nest in arguments; what is deeper is left out.
const DEPTH_MAX: usize = 3;
/// Slots of a tool or an object; further ones are never filled.
pub(super) const SLOTS_MAX: usize = 24;
/// Items of a list.
pub(super) const ITEMS_MAX: usize = 4;
/// Values that a description names.
const DESCRIBED_MAX: usize = 24;

/// In what a length of time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Seconds,
    Minutes,
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

impl Count {
    /// All, with the words that name them.
    const ALL: [(Self, &'static [&'static str]); 7] = [
        (Self::Seconds, &["sec", "secs", "second", "seconds"]),
        (Self::Minutes, &["min", "mins", "minute", "minutes"]),
        (Self::Hours, &["hour", "hours"]),
        (Self::Days, &["day", "days"]),
        (Self::Weeks, &["week", "weeks"]),
        (Self::Months, &["month", "months"]),
        (Self::Years, &["year", "years"]),
    ];

    fn named(words: &[String]) -> Option<Self> {
        words.iter().find_map(|word| {
            Self::ALL.iter().find(|(_, names)| names.contains(&word.as_str())).map(|(count, _)| *count)
        })
    }
}

/// What a slot takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// One of these.
    Enum(Vec<Closed>),
    /// Yes or no.
    Bool,
    /// A number within bounds.
    Number { whole: bool, least: Option<f64>, most: Option<f64> },
    /// A text: of a form, or any; whether a moment may be meant where no form is named.
    Text { format: Option<Format>, moment: bool },
    /// A list.
    List { item: Arc<Slot>, least: usize, most: usize },
    /// An object.
    Object(Vec<Arc<Slot>>),
    /// An act's own: something remembered.
    Memory,
    /// An act's own: what to keep, out of the request or as a record with one value changed.
    Content,
    /// An act's own: what to look for.
    Query,
    /// An act's own: a category of memories.
    Category,
    /// An act's own: what the user is told in the end.
    Answer,
    /// An act's own: why the request is refused.
    Reason,
    /// An act's own: what the user is asked for.
    Thing,
    /// An act's own: which words of the request a question is about.
    Topic,
}

/// A value of a closed list, with what people say for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Closed {
    /// The value.
    pub(super) value: Value,
    /// Its words.
    pub(super) words: Arc<str>,
    /// Their terms.
    pub(super) terms: Arc<[u64]>,
}

impl Closed {
    fn new(value: &Value) -> Self {
        let words = value.as_str().map_or_else(|| value.to_string(), spoken);
        Self { value: value.clone(), terms: terms(&words).into(), words: words.into() }
    }
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slot {
    /// Its name.
    pub(super) name: String,
    /// Whether the schema demands it.
    pub(super) required: bool,
    /// What it takes.
    pub(super) shape: Shape,
    /// Its name's words, with what people say for them.
    pub(super) spoken: String,
    /// Its description, and the words of it.
    pub(super) description: String,
    pub(super) says: Vec<String>,
    /// Values that its description names.
    pub(super) described: Vec<String>,
    /// The terms of name and description.
    pub(super) terms: Vec<u64>,
    /// In what it counts time, where it does.
    pub(super) count: Option<Count>,
    /// Its words and its owner's.
    pub(super) bag: Bag,
}

/// Some values of one argument need, or speak of, another argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    /// The argument that decides.
    pub(super) by: String,
    /// Its values.
    pub(super) values: Vec<String>,
    /// What they need.
    pub(super) slots: Vec<String>,
}

/// An offered tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offer {
    /// Its name.
    pub(super) name: ToolName,
    /// Its slots: closed choices that are required, then what else is required, then the rest.
    pub(super) slots: Vec<Arc<Slot>>,
    /// Its words: name, descriptions, keywords.
    pub(super) bag: Bag,
    /// Their terms.
    pub(super) terms: Arc<[u64]>,
    /// Its name's words.
    pub(super) label: Arc<Label>,
    /// The strongest effect of a call.
    pub(super) effect: Effect,
    /// What its descriptions say that arguments need.
    pub(super) needs: Vec<Need>,
    /// Its name and first description in both languages, for questions.
    pub(super) said: (String, String),
}

impl Offer {
    /// Reads a spec. None: a required argument has a form that no pointer fills, so that the tool cannot be called.
    pub(super) fn read(spec: &ToolSpec, chinese: bool) -> Option<Self> {
        let name = spec.name.as_str();
        let slots = object_slots(&spec.arguments_schema, name, 0)?;
        let text = |of_chinese: bool| {
            let texts = spec.description.iter().chain(&spec.keywords);
            let wanted = texts.filter(|text| text.lang.as_str().starts_with("zh") == of_chinese);
            wanted.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let (first, second) = (text(chinese), text(!chinese));
        let values = slots.iter().filter_map(|slot| match &slot.shape {
            Shape::Enum(values) => Some(values.iter().map(|closed| &*closed.words).collect::<String>()),
            _ => None,
        });
        let values: String = values.collect();
        let described = |of_chinese: bool| {
            let mut texts = spec.description.iter().filter(|text| text.lang.as_str().starts_with("zh") == of_chinese);
            texts.next().map(|text| text.text.clone()).unwrap_or_default()
        };
        let words = pieces(name).join(" ");
        Some(Self {
            name: spec.name.clone(),
            bag: Grams::default().text(&words).text(&first).text(&second).bag(),
            terms: terms(&format!("{words}\n{first}\n{second}\n{values}")).into(),
            label: Arc::new(Label { terms: terms(&words).into(), words }),
            effect: spec.strongest_effect(),
            needs: slots.iter().flat_map(|slot| needs(slot, &slots)).collect(),
            said: (described(false), described(true)),
            slots,
        })
    }

    /// Whether a slot is needed (1), spoken of (0.5) or neither (0), given the arguments that were chosen so far.
    pub(super) fn wants(&self, slot: &Slot, chosen: &Map<String, Value>) -> f32 {
        let is = |by: &str, values: &[String]| {
            chosen.get(by).and_then(Value::as_str).is_some_and(|value| values.iter().any(|other| other == value))
        };
        if self.needs.iter().any(|need| is(&need.by, &need.values) && need.slots.contains(&slot.name)) {
            return 1.0;
        }
        let words = &slot.says;
        let named = |value: &Value| {
            let value = pieces(value.as_str().unwrap_or_default());
            !value.is_empty() && words.windows(value.len()).any(|window| *window == *value)
        };
        if chosen.values().any(named) { 0.5 } else { 0.0 }
    }
}

/// The slots of an object; none where a required one cannot be filled.
fn object_slots(schema: &Value, owner: &str, depth: usize) -> Option<Vec<Arc<Slot>>> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut slots = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let demanded = required.contains(&name.as_str());
        match slot(name, property, owner, demanded, depth) {
            Some(slot) => slots.push(Arc::new(slot)),
            None if demanded => return None,
            None => {}
        }
    }
    let known = |name: &&str| slots.iter().any(|slot: &Arc<Slot>| slot.name == **name);
    if !required.iter().all(known) {
        return None;
    }
    slots.sort_by_key(|slot| (!slot.required, !matches!(slot.shape, Shape::Enum(_)), slot.name.clone()));
    let demanded = slots.iter().filter(|slot| slot.required).count();
    slots.truncate(SLOTS_MAX);
    (demanded <= SLOTS_MAX).then_some(slots)
}

fn slot(name: &str, schema: &Value, owner: &str, required: bool, depth: usize) -> Option<Slot> {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let shape = shape(name, schema, owner, &description, depth)?;
    let spoken = spoken(name);
    let says = pieces(&description);
    let words: Vec<String> = pieces(name).into_iter().chain(says.iter().cloned()).collect();
    let free = matches!(shape, Shape::Text { .. } | Shape::Number { .. });
    Some(Slot {
        described: if free { described(&description) } else { Vec::new() },
        terms: terms(&format!("{spoken} {description}")),
        count: Count::named(&words),
        bag: Grams::default().text(&spoken).marked("owner", &pieces(owner).join(" ")).text(&description).bag(),
        name: name.to_owned(),
        required,
        shape,
        spoken,
        description,
        says,
    })
}

fn shape(name: &str, schema: &Value, owner: &str, description: &str, depth: usize) -> Option<Shape> {
    if depth > DEPTH_MAX {
        return None;
    }
    if let Some(value) = schema.get("const") {
        return Some(Shape::Enum(vec![Closed::new(value)]));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<Closed> = values.iter().filter(|value| !value.is_null()).map(Closed::new).collect();
        return (!values.is_empty()).then_some(Shape::Enum(values));
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        // Of alternatives the first that can be filled is taken.
        if let Some(schemas) = schema.get(keyword).and_then(Value::as_array) {
            return schemas.iter().find_map(|inner| shape(name, inner, owner, description, depth + 1));
        }
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let number = |whole| {
        let least =
            bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| if whole { least + 1.0 } else { least }));
        let most =
            bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| if whole { most - 1.0 } else { most }));
        Some(Shape::Number { whole, least, most })
    };
    match kind(schema)? {
        "boolean" => Some(Shape::Bool),
        "integer" => number(true),
        "number" => number(false),
        "string" => {
            let format = format(schema, description);
            Some(Shape::Text { format, moment: format.is_none() && may_be_moment(name) })
        }
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
            let most = schema.get("maxItems").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
            let (least, most) = (least.unwrap_or(0), most.unwrap_or(ITEMS_MAX).min(ITEMS_MAX));
            let item = slot(name, schema.get("items")?, owner, true, depth + 1)?;
            (least <= most && most > 0).then(|| Shape::List { item: Arc::new(item), least, most })
        }
        "object" => {
            let slots = object_slots(schema, &format!("{owner} {name}"), depth + 1)?;
            (!slots.is_empty()).then_some(Shape::Object(slots))
        }
        _ => None,
    }
}

fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ if schema.get("properties").is_some() => Some("object"),
        _ => None,
    }
}

/// The form of a moment that the schema or the description names.
fn format(schema: &Value, description: &str) -> Option<Format> {
    match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => return Some(Format::DateTime),
        Some("date") => return Some(Format::Date),
        Some("time") => return Some(Format::Time),
        _ => {}
    }
    let has = |part: &str| description.contains(part);
    if has("YYYY-MM-DDTHH:MM") || has("YYYY-MM-DD HH:MM") {
        Some(Format::DateTime)
    } else if has("YYYY-MM-DD") {
        Some(Format::Date)
    } else if has("HH:MM") {
        Some(Format::Time)
    } else {
        None
    }
}

/// Whether a name without a form may still ask for a moment.
fn may_be_moment(name: &str) -> bool {
    let words = ["time", "date", "datetime", "day", "when", "start", "end", "until", "due", "deadline"];
    pieces(name).iter().any(|piece| words.contains(&piece.as_str()))
}

/// Values that a description names: in backticks, or in a row after a colon.
fn described(description: &str) -> Vec<String> {
    let mut values: Vec<String> = ticked(description).into_iter().map(|(value, _)| value.to_owned()).collect();
    for part in description.split(". ").filter_map(|sentence| sentence.split_once(": ").map(|(_, row)| row)) {
        let row: Vec<&str> =
            part.split(", ").flat_map(|item| item.split(" or ")).flat_map(|item| item.split(" and ")).collect();
        let short = |item: &&str| (1..=3).contains(&item.split_whitespace().count());
        if row.len() >= 2 && row.iter().all(short) {
            values.extend(row.iter().map(|item| item.trim_matches(['.', '`', ' ']).to_owned()));
        }
    }
    values.retain(|value| !value.is_empty() && !value.contains("YYYY") && !value.contains("HH:MM"));
    let mut kept: Vec<String> = Vec::new();
    for value in values {
        if !kept.contains(&value) && kept.len() < DESCRIBED_MAX {
            kept.push(value);
        }
    }
    kept
}

/// The texts in backticks, each with what follows it up to the next one.
fn ticked(text: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = text.split('`').collect();
    parts.windows(2).skip(1).step_by(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect()
}

/// What a closed choice's description says that its values need: "`a` and `b` need `x` or `y`".
fn needs(slot: &Slot, slots: &[Arc<Slot>]) -> Vec<Need> {
    let Shape::Enum(values) = &slot.shape else { return Vec::new() };
    let is_value = |text: &str| values.iter().any(|closed| closed.value.as_str() == Some(text));
    let is_slot = |text: &str| slots.iter().any(|slot| slot.name == text);
    let mut needs: Vec<Need> = Vec::new();
    let mut subjects: Vec<String> = Vec::new();
    let mut asks = false;
    for (text, after) in ticked(&slot.description) {
        let verb = after.trim_start().starts_with("need");
        if is_value(text) && (verb || !asks || !is_slot(text)) {
            if asks {
                subjects.clear();
                asks = false;
            }
            subjects.push(text.to_owned());
        } else if asks
            && is_slot(text)
            && let Some(need) = needs.last_mut()
        {
            need.slots.push(text.to_owned());
        }
        if verb && !subjects.is_empty() {
            asks = true;
            needs.push(Need { by: slot.name.clone(), values: subjects.clone(), slots: Vec::new() });
        }
    }
    needs.retain(|need| !need.slots.is_empty());
    needs
}

#[cfg(test)]
mod tests;
