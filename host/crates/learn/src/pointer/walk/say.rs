//! The few sentences that the policy says by itself, built from the words of specifications, results and the request. What is asked for is
//! named by the slot's own words and by what its type is asked with, so that whoever answers knows what is meant.

use std::sync::Arc;

use loopwright_contract::limits::MESSAGE_BYTES_MAX;
use serde_json::Value;

use crate::pointer::candidates::moment::Format;
use crate::pointer::glossary::{chinese, pieces};
use crate::pointer::scene::{Pending, Scene};
use crate::pointer::spec::{Shape, Slot};

/// Words of slots that stand for a person, and for a place or a device.
const PERSONS: [&str; 5] = ["contact", "recipient", "person", "attendee", "attendees"];
const PLACES: [&str; 5] = ["device", "location", "place", "city", "address"];

/// The question for a slot of an offered tool, or whether to call it: arguments are `thing` and perhaps `topic`.
pub(in crate::pointer) fn question(scene: &Scene, arguments: &Value) -> Option<String> {
    let thing = arguments.get("thing")?;
    let place = usize::try_from(thing.get(0)?.as_u64()?).ok()?;
    let (_, offer) = scene.offers.get(place)?;
    let topic = arguments.get("topic").and_then(Value::as_str);
    let about = topic.map(|topic| if scene.chinese { format!("（{topic}）") } else { format!(" ({topic})") });
    let about = about.unwrap_or_default();
    let said = if scene.chinese { &offer.said.1 } else { &offer.said.0 };
    let name = pieces(offer.name.as_str()).join(" ");
    let Some(slot) = slot_of(scene, thing) else {
        return Some(cut(if scene.chinese {
            format!("现在可以执行吗{about}？方便吗？{name}：{said}")
        } else {
            format!("May I do this now{about}, is that okay? {name}: {said}")
        }));
    };
    let words = pieces(&slot.name);
    Some(cut(if scene.chinese {
        let words: Vec<&str> = words.iter().filter_map(|word| chinese(word)).collect();
        let words = if words.is_empty() { slot.name.clone() } else { words.join("") };
        format!("请问要用哪个{words}{about}？{}", hint(&slot, true))
    } else {
        format!("Which {}{about} do you mean? {}", words.join(" "), hint(&slot, false))
    }))
}

/// The slot that a question is for: none where it asks whether, not what.
pub(in crate::pointer) fn slot_of(scene: &Scene, thing: &Value) -> Option<Arc<Slot>> {
    let place = usize::try_from(thing.get(0)?.as_u64()?).ok()?;
    let name = thing.get(1)?.as_str()?;
    scene.offers.get(place)?.1.slots.iter().find(|slot| slot.name == name).map(Arc::clone)
}

/// What kind of thing a slot asks for: what it is asked with follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pointer) enum Sort {
    /// A time of day, a day, or both.
    Moment,
    /// A person.
    Person,
    /// A place or a device.
    Place,
    /// A number.
    Number,
    /// Anything else.
    Other,
}

/// What kind of thing a slot asks for.
pub(in crate::pointer) fn sort(slot: &Slot) -> Sort {
    let words = pieces(&slot.name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match slot.shape {
        Shape::Text { format: Some(_), .. } | Shape::Text { moment: true, .. } => Sort::Moment,
        Shape::Number { .. } => Sort::Number,
        _ if has(&PERSONS) => Sort::Person,
        _ if has(&PLACES) => Sort::Place,
        _ => Sort::Other,
    }
}

/// What a value of the slot's type is asked with.
fn hint(slot: &Slot, chinese: bool) -> &'static str {
    let two = match (sort(slot), &slot.shape) {
        (Sort::Moment, Shape::Text { format: Some(Format::Time), .. }) => ("When, at what time?", "什么时候，几点？"),
        (Sort::Moment, Shape::Text { format: Some(Format::Date), .. }) => ("When, on which day?", "什么时候，哪一天？"),
        (Sort::Moment, _) => ("When, on which day and at what time?", "什么时候，哪一天、几点？"),
        (Sort::Person, _) => ("Who is it?", "是谁？"),
        (Sort::Place, _) => ("Where?", "在哪里？"),
        (Sort::Number, _) => ("How much?", "是多少？"),
        (Sort::Other, _) => ("", ""),
    };
    if chinese { two.1 } else { two.0 }
}

/// The question whether a call that waits is to be made.
pub(in crate::pointer) fn confirmation(scene: &Scene, waits: &Pending) -> String {
    let name = pieces(waits.call.tool.as_str()).join(" ");
    let what = waits.call.arguments.as_object().into_iter().flatten();
    let what: Vec<String> = what.map(|(key, value)| format!("{key} {value}")).collect();
    let known = waits.call.arguments.get("memoryId").and_then(Value::as_str);
    let known = known.and_then(|id| scene.memories.iter().find(|memory| memory.id == *id));
    let known = known.map(|memory| &*memory.content).unwrap_or_default();
    cut(if scene.chinese {
        format!("确定要执行吗？请确认：{name}，{}。{known}", what.join("，"))
    } else {
        format!("Are you sure? Please confirm: {name}, {}. {known}", what.join(", "))
    })
}

/// Why a request is refused, with what the last answer that was no success said.
pub(in crate::pointer) fn refusal(scene: &Scene, reason: &str) -> String {
    let trouble = scene.history.trouble.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default();
    cut(match (reason, scene.chinese) {
        ("unknown", false) => {
            "I cannot do that: I only have what this phone offers, and nothing of it does this.".to_owned()
        }
        ("unknown", true) => "我无法做到：我只能使用这台手机提供的功能，没有合适的。".to_owned(),
        ("forbidden", false) => format!("I cannot do that: it is not allowed, access is denied. {trouble}"),
        ("forbidden", true) => format!("无法做到：没有权限，被拒绝了。{trouble}"),
        (_, false) => format!("I cannot do that now. {trouble}"),
        (_, true) => format!("现在无法做到。{trouble}"),
    })
}

/// What the user is told in the end: a value, or no more than that all is done.
pub(in crate::pointer) fn answer(scene: &Scene, answer: Option<&str>) -> String {
    match (answer, scene.chinese) {
        (Some(answer), _) => cut(answer.to_owned()),
        (None, false) => "All done.".to_owned(),
        (None, true) => "都办好了。".to_owned(),
    }
}

/// A message is never longer than the contract takes.
fn cut(text: String) -> String {
    let end = (0..=MESSAGE_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default().to_owned()
}
