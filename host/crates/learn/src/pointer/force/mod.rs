//! From a demonstration to the choices that make exactly it. It knows no score.
//!
//! Arguments of tools are reached as JSON values. Where an action holds free text, what reaches the same effect is taken, by these rules:
//!
//! - a question is for a slot of the kind that it asks for - a moment, a person, a place, a number - and of these for the one that has most
//!   words in common with it and the request; whether, not what, is asked where it has no interrogative. Words of the request that it has
//!   beyond the tool's own become its topic;
//! - a search is the words of the request that have most in common with its query;
//! - what is remembered is the words of the request that have most in common with it and hold every number and code in it; where a record is
//!   replaced, the record with one value changed counts as well;
//! - an answer is the longest value of a result, of the memory or of the user's words that it holds; where it holds none, and no digits
//!   either, it says no more than that all is done;
//! - a refusal is what the last trouble was: something forbidden, a state that does not let it be, or none.
//!
//! A value that was not observed is reached by nothing: a demonstration that has one is refused, since it would teach to guess.

mod free;

use loopwright_contract::action::{Action, reserved};
use loopwright_contract::context::Context;
use loopwright_contract::memory::SearchMode;
use serde_json::{Value, json};

use super::candidates::{Candidate, Pick};
use super::choice::Taken;
use super::scene::Scene;
use super::specs::Specs;
use super::walk::act::Act;
use super::walk::{Goal, Walk, get, lengths};

/// Characters of a value in an error.
const SHOWN_CHARS_MAX: usize = 80;

/// Why a demonstration cannot be made of choices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// The tool or act is not open.
    #[error("`{act}` is not open here, or something that it demands has no value")]
    Closed {
        /// The tool or reserved name.
        act: String,
    },
    /// The value was never observed.
    #[error("`{slot}` of `{act}` is {value}, which neither request, user, memory, result nor schema holds")]
    Unobserved {
        /// The tool or reserved name.
        act: String,
        /// The slot.
        slot: String,
        /// The value as JSON, cut.
        value: String,
    },
    /// The choices lead to something else.
    #[error("`{slot}` of `{act}` comes to {found}, expected {value}")]
    Differs {
        /// The tool or reserved name.
        act: String,
        /// The slot.
        slot: String,
        /// What was expected, as JSON, cut.
        value: String,
        /// What it comes to.
        found: String,
    },
    /// Something that no choice says.
    #[error("`{act}` with {what} is said by no choice")]
    Unsaid {
        /// The tool or reserved name.
        act: String,
        /// What it has.
        what: &'static str,
    },
}

impl Unreachable {
    /// The tool or act, and the slot where it is about one.
    #[must_use]
    pub fn place(&self) -> (&str, &str) {
        match self {
            Self::Closed { act } | Self::Unsaid { act, .. } => (act, ""),
            Self::Unobserved { act, slot, .. } | Self::Differs { act, slot, .. } => (act, slot),
        }
    }
}

/// What one action of the demonstration comes to.
#[derive(Debug, Clone)]
struct Target {
    act: Act,
    name: String,
    arguments: Value,
}

/// The choices whose answers make exactly this decision.
///
/// # Errors
/// [`Unreachable`] with the first thing that no choice leads to.
pub fn force(context: &Context, gold: &[Action]) -> Result<Vec<Taken>, Unreachable> {
    force_with(&Specs::new(), context, gold)
}

/// The same with specifications that were read before.
///
/// # Errors
/// As [`force`].
pub fn force_with(specs: &Specs, context: &Context, gold: &[Action]) -> Result<Vec<Taken>, Unreachable> {
    let mut walk = Walk::with(specs, context);
    let targets: Vec<Target> = gold.iter().map(|action| target(&walk, action)).collect::<Result<_, _>>()?;
    while let Some((goal, candidates)) = walk.asked() {
        let answer = answer(&walk, goal, candidates, &targets)?;
        if !walk.take(answer) {
            break;
        }
    }
    verify(&walk, &targets)?;
    Ok(walk.into_taken())
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(SHOWN_CHARS_MAX).collect()
}

/// Whether two values are the same, whole numbers however they are written.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

fn target(walk: &Walk, action: &Action) -> Result<Target, Unreachable> {
    let scene = walk.scene();
    let (act, name, arguments) = match action {
        Action::Call(call) => {
            let name = call.tool.as_str().to_owned();
            let place = scene.offers.iter().position(|(_, offer)| offer.name == call.tool);
            let place = place.ok_or_else(|| Unreachable::Closed { act: name.clone() })?;
            (Act::Tool(place), name, call.arguments.clone())
        }
        Action::LoadSkill { skill } => {
            let name = skill.action_name();
            let place = scene.cards.iter().position(|card| card.name == *skill);
            (Act::Skill(place.ok_or_else(|| Unreachable::Closed { act: name.clone() })?), name, json!({}))
        }
        other => {
            let (act, arguments) = own(scene, other)?;
            (act, act.reserved().unwrap_or_default().to_owned(), arguments)
        }
    };
    // Later calls of a decision have the same tools open as its first.
    if !walk.acts().contains(&act) {
        return Err(Unreachable::Closed { act: name });
    }
    Ok(Target { act, name, arguments })
}

/// An act that is no tool, with what it takes.
fn own(scene: &Scene, action: &Action) -> Result<(Act, Value), Unreachable> {
    let unsaid = |act: &str, what| Err(Unreachable::Unsaid { act: act.to_owned(), what });
    let unobserved = |act: &str, slot: &str, text: &str| Unreachable::Unobserved {
        act: act.to_owned(),
        slot: slot.to_owned(),
        value: shown(&json!(text)),
    };
    Ok(match action {
        Action::Recall { category: None, mode: SearchMode::Relevance, query, .. } => {
            let found = free::query(scene, query).ok_or_else(|| unobserved(reserved::RECALL, "query", query))?;
            (Act::Recall, json!({"query": found}))
        }
        Action::Recall { .. } => return unsaid(reserved::RECALL, "a category or an order"),
        Action::Remember { content, category, title: None, tags, valid_until: None } if tags.is_empty() => {
            let found = free::content(scene, content, None);
            let found = found.ok_or_else(|| unobserved(reserved::REMEMBER, "content", content))?;
            let mut arguments = json!({"content": found});
            if let (Value::Object(fields), Some(category)) = (&mut arguments, category) {
                fields.insert("memoryCategory".to_owned(), json!(category));
            }
            (Act::Remember, arguments)
        }
        Action::Remember { .. } => return unsaid(reserved::REMEMBER, "a title, tags or an end"),
        Action::Replace { memory, content } => {
            let found = free::content(scene, content, Some(memory.as_str()));
            let found = found.ok_or_else(|| unobserved(reserved::REPLACE, "content", content))?;
            (Act::Replace, json!({"memoryId": memory.as_str(), "content": found}))
        }
        Action::Forget { memory, .. } => (Act::Forget, json!({"memoryId": memory.as_str()})),
        Action::Ask { pending: Some(id), .. } => {
            let place = scene.history.pending.iter().position(|waits| waits.id == *id);
            let closed = || Unreachable::Closed { act: reserved::ASK_USER.to_owned() };
            (Act::Confirm(place.ok_or_else(closed)?), json!({}))
        }
        Action::Ask { question, pending: None } => {
            let thing = free::question(scene, question);
            (Act::Ask, thing.ok_or_else(|| unobserved(reserved::ASK_USER, "question", question))?)
        }
        Action::Refuse { .. } => (Act::Refuse, json!({"reason": free::reason(scene)})),
        Action::Finish { answer, data: None } => {
            let found = free::answer(scene, answer).ok_or_else(|| unobserved(reserved::FINISH, "answer", answer))?;
            (Act::Finish, json!({"answer": found}))
        }
        Action::Finish { .. } => return unsaid(reserved::FINISH, "data"),
        Action::Delegate { .. } => return unsaid(reserved::DELEGATE, "an instruction"),
        Action::Call(_) | Action::LoadSkill { .. } => return unsaid("call", "a second reading"),
    })
}

fn answer(walk: &Walk, goal: &Goal, candidates: &[Candidate], targets: &[Target]) -> Result<usize, Unreachable> {
    let position = |wanted: &dyn Fn(&Candidate) -> bool| candidates.iter().position(wanted);
    let place = walk.complete().len();
    if let Goal::More | Goal::Close = goal {
        let more = place < targets.len();
        return position(&|candidate| candidate.pick == Pick::More(more)).ok_or_else(|| closed(targets.get(place)));
    }
    let target = targets.get(place).ok_or_else(|| closed(None))?;
    let missing = |at: &[String], value: &Value| Unreachable::Unobserved {
        act: target.name.clone(),
        slot: at.join("/"),
        value: shown(value),
    };
    match goal {
        Goal::Act => {
            let act = walk.acts().iter().position(|act| *act == target.act);
            act.ok_or_else(|| closed(Some(target)))
        }
        Goal::Slot { at, .. } => match get(&target.arguments, at) {
            None => position(&|candidate| candidate.pick == Pick::Omit).ok_or_else(|| missing(at, &Value::Null)),
            Some(value) => reach(walk, candidates, value).ok_or_else(|| missing(at, value)),
        },
        Goal::Item { at, index, .. } => {
            let list = get(&target.arguments, at).unwrap_or(&Value::Null);
            match list.get(index) {
                None => position(&|candidate| candidate.pick == Pick::Omit).ok_or_else(|| missing(at, list)),
                Some(value) => reach(walk, candidates, value).ok_or_else(|| missing(at, value)),
            }
        }
        Goal::First { at, source, .. } | Goal::Last { at, source, .. } => {
            let value = get(&target.arguments, at).unwrap_or(&Value::Null);
            let units = value.as_str().and_then(|text| free::units_of(walk.scene(), *source, text));
            let (first, last) = units.ok_or_else(|| missing(at, value))?;
            let unit = if matches!(goal, Goal::First { .. }) { first } else { last };
            position(&|candidate| candidate.pick == Pick::Unit(unit)).ok_or_else(|| missing(at, value))
        }
        Goal::Shift { at, .. } => {
            let value = get(&target.arguments, at).unwrap_or(&Value::Null);
            position(&|candidate| candidate.value().is_some_and(|own| same(&own, value)))
                .ok_or_else(|| missing(at, value))
        }
        Goal::More | Goal::Close => Err(closed(Some(target))),
    }
}

fn closed(target: Option<&Target>) -> Unreachable {
    Unreachable::Closed { act: target.map(|target| target.name.clone()).unwrap_or_default() }
}

/// The answer that leads to a value: the value itself, a moment that can be moved to it, the words of a text.
fn reach(walk: &Walk, candidates: &[Candidate], value: &Value) -> Option<usize> {
    let position = |wanted: &dyn Fn(&Candidate) -> bool| candidates.iter().position(wanted);
    let itself = |candidate: &Candidate| candidate.value().is_some_and(|own| same(&own, value));
    let lengths = lengths(walk.scene());
    let moved = |candidate: &Candidate| {
        let Pick::Moment(moment, format) = candidate.pick else { return false };
        lengths.iter().flat_map(|(.., length)| [(length, false), (length, true)]).any(|(length, later)| {
            let moved = moment.moved(*length, later).and_then(|moved| moved.written(format));
            moved.as_deref() == value.as_str() && moved.is_some()
        })
    };
    let words = |candidate: &Candidate| {
        let Pick::Words(source) = candidate.pick else { return false };
        value.as_str().is_some_and(|text| free::units_of(walk.scene(), source, text).is_some())
    };
    let opens = |candidate: &Candidate| candidate.pick == Pick::Open && (value.is_object() || value.is_array());
    position(&itself).or_else(|| position(&moved)).or_else(|| position(&words)).or_else(|| position(&opens))
}

/// Whether the walk came to the targets: single answers are taken without a choice.
fn verify(walk: &Walk, targets: &[Target]) -> Result<(), Unreachable> {
    for (place, target) in targets.iter().enumerate() {
        let Some((act, arguments)) = walk.complete().get(place) else { return Err(closed(Some(target))) };
        if *act != target.act {
            return Err(closed(Some(target)));
        }
        if same(arguments, &target.arguments) {
            continue;
        }
        let keys = [arguments, &target.arguments].into_iter().filter_map(Value::as_object).flat_map(|map| map.keys());
        let part = |value: &Value, key: &str| value.get(key).cloned().unwrap_or_default();
        let mut keys = keys.filter(|key| !same(&part(arguments, key), &part(&target.arguments, key)));
        let slot = keys.next().cloned().unwrap_or_default();
        return Err(Unreachable::Differs {
            act: target.name.clone(),
            value: shown(&part(&target.arguments, &slot)),
            found: shown(&part(arguments, &slot)),
            slot,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
