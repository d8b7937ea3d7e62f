//! One decision, choice by choice: from a context to tables, and from answers to actions. It knows no score and no gold.
//!
//! What may not be chosen is not listed: a tool without a value for what it demands is not offered, what is demanded cannot be left out, and
//! values that no schema takes do not appear. A choice with a single answer is no choice: it is taken and not asked.

pub(super) mod act;
pub(super) mod say;
mod table;

use std::sync::Arc;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::name::CallId;
use serde_json::{Map, Value};

use self::act::Act;
use super::candidates::moment::{Format, Moment};
use super::candidates::{Candidate, Pick, options};
use super::choice::{Choice, OPTIONS_MAX, Taken, Unit};
use super::scene::{Origin, Scene};
use super::spec::{Shape, Slot};
use super::specs::Specs;
use super::units::{Meaning, bits};

/// Calls of one decision.
pub(super) const CALLS_MAX: usize = 4;
/// Lengths by which a moment can be moved.
pub(super) const SHIFTS_MAX: usize = 4;
/// Choices of one decision; a policy that asks for more is stopped where it is.
pub const CHOICES_MAX: usize = 192;

/// What is to be settled next.
#[derive(Debug, Clone)]
pub(super) enum Goal {
    /// What to do.
    Act,
    /// What a slot gets, at a place in the arguments.
    Slot { slot: Arc<Slot>, at: Vec<String> },
    /// The next item of a list.
    Item { slot: Arc<Slot>, at: Vec<String>, index: usize, bounds: (usize, usize) },
    /// The first unit of some words of a text.
    First { slot: Arc<Slot>, at: Vec<String>, source: usize },
    /// The last one.
    Last { slot: Arc<Slot>, at: Vec<String>, source: usize, first: usize },
    /// Whether a moment is moved.
    Shift { slot: Arc<Slot>, at: Vec<String>, moment: Moment, format: Format },
    /// The act is complete.
    Close,
    /// Whether another call follows.
    More,
}

/// What was asked, and what could be answered.
#[derive(Debug, Clone)]
struct Current {
    goal: Goal,
    choice: Choice,
    candidates: Vec<Candidate>,
}

/// One decision while it is made.
#[derive(Debug, Clone)]
pub struct Walk {
    scene: Arc<Scene>,
    goals: Vec<Goal>,
    current: Option<Current>,
    acts: Vec<Act>,
    act: Option<Act>,
    arguments: Value,
    done: Vec<(Act, Value)>,
    taken: Vec<Taken>,
}

/// What a decision came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Walked {
    /// What is proposed, in order.
    pub proposed: Vec<Proposed>,
    /// The units of the request that the choices point into.
    pub units: Arc<[Unit]>,
    /// What was chosen.
    pub taken: Vec<Taken>,
}

impl Walk {
    /// Begins a decision on a context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self::with(&Specs::new(), context)
    }

    /// The same with specifications that were read before.
    #[must_use]
    pub fn with(specs: &Specs, context: &Context) -> Self {
        let mut walk = Self {
            scene: Arc::new(Scene::new(specs, context)),
            goals: vec![Goal::Act],
            current: None,
            acts: Vec::new(),
            act: None,
            arguments: Value::Object(Map::new()),
            done: Vec::new(),
            taken: Vec::new(),
        };
        walk.advance();
        walk
    }

    /// The request's units.
    #[must_use]
    pub fn units(&self) -> &Arc<[Unit]> {
        &self.scene.units
    }

    /// What is to be chosen now; none when the decision is made.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.current.as_ref().map(|current| &current.choice)
    }

    /// Takes an answer by its place. False, and nothing happens, when there is no such answer.
    pub fn take(&mut self, answer: usize) -> bool {
        let Some(current) = self.current.take() else { return false };
        let Some(candidate) = current.candidates.get(answer).cloned() else {
            self.current = Some(current);
            return false;
        };
        self.taken.push(Taken { choice: current.choice, answer });
        self.apply(current.goal, candidate);
        self.advance();
        true
    }

    /// What was decided. A walk that was left before its end proposes the acts that were complete.
    #[must_use]
    pub fn finish(self) -> Walked {
        let proposed = self.actions().into_iter().map(|value| Proposed::Action { value }).collect();
        Walked { proposed, units: Arc::clone(&self.scene.units), taken: self.taken }
    }

    /// The actions that are complete.
    pub(super) fn actions(&self) -> Vec<Action> {
        let action = |(position, (act, arguments)): (usize, &(Act, Value))| {
            let id = CallId::new(format!("call-{}-{position}", self.scene.turn)).ok()?;
            act.action(&self.scene, arguments, id)
        };
        self.done.iter().enumerate().filter_map(action).collect()
    }

    /// The context that it decides on.
    pub(super) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// What is asked now, with its candidates in the order of the answers.
    pub(super) fn asked(&self) -> Option<(&Goal, &[Candidate])> {
        self.current.as_ref().map(|current| (&current.goal, current.candidates.as_slice()))
    }

    /// The acts that are open.
    pub(super) fn acts(&self) -> &[Act] {
        &self.acts
    }

    /// The acts that are complete, with their arguments.
    pub(super) fn complete(&self) -> &[(Act, Value)] {
        &self.done
    }

    /// What was chosen so far.
    pub(super) fn into_taken(self) -> Vec<Taken> {
        self.taken
    }

    /// Goes on to the next choice that has more than one answer.
    fn advance(&mut self) {
        while let Some(goal) = self.goals.pop() {
            if matches!(goal, Goal::Close) {
                self.close();
                continue;
            }
            let mut candidates = self.candidates(&goal);
            candidates.truncate(OPTIONS_MAX);
            if candidates.len() > 1 {
                if self.taken.len() < CHOICES_MAX {
                    let choice = table::choice(self, &goal, &candidates);
                    self.current = Some(Current { goal, choice, candidates });
                }
                return;
            }
            if let Some(only) = candidates.pop() {
                self.apply(goal, only);
            }
        }
    }

    fn close(&mut self) {
        if let Some(act) = self.act.take() {
            let arguments = std::mem::replace(&mut self.arguments, Value::Object(Map::new()));
            self.done.push((act, arguments));
        }
    }

    /// The arguments at the top.
    pub(super) fn chosen(&self) -> Map<String, Value> {
        self.arguments.as_object().cloned().unwrap_or_default()
    }

    fn candidates(&mut self, goal: &Goal) -> Vec<Candidate> {
        match goal {
            Goal::Act => {
                self.acts = Act::open(&self.scene, !self.done.is_empty());
                let candidate =
                    |(place, act): (usize, &Act)| Candidate::plain(Pick::Act(place), act.words(), Origin::Schema);
                self.acts.iter().enumerate().map(candidate).collect()
            }
            Goal::Slot { slot, .. } => options(&self.scene, slot, &self.chosen()),
            Goal::Item { slot, at, index, bounds } => self.items(slot, at, *index, *bounds),
            Goal::First { source, .. } => self.firsts(*source, 0),
            Goal::Last { source, first, .. } => self.firsts(*source, *first),
            Goal::Shift { moment, format, .. } => self.shifts(*moment, *format),
            Goal::Close => Vec::new(),
            Goal::More => [false, true].map(|more| Candidate::plain(Pick::More(more), "", Origin::Schema)).into(),
        }
    }

    fn items(&self, slot: &Slot, at: &[String], index: usize, bounds: (usize, usize)) -> Vec<Candidate> {
        let taken = get(&self.arguments, at).and_then(Value::as_array).cloned().unwrap_or_default();
        let fresh = |candidate: &Candidate| candidate.value().is_none_or(|value| !taken.contains(&value));
        let mut candidates: Vec<Candidate> =
            options(&self.scene, slot, &self.chosen()).into_iter().filter(fresh).collect();
        if index > 0 && index >= bounds.0 {
            candidates.insert(0, Candidate::plain(Pick::Omit, "", Origin::Schema));
        }
        candidates
    }

    /// The units of a text from one on.
    fn firsts(&self, source: usize, from: usize) -> Vec<Candidate> {
        let Some(text) = self.scene.sources.get(source) else { return Vec::new() };
        let unit = |(place, piece): (usize, &super::units::Piece)| {
            let candidate = Candidate::of(&self.scene, source, &piece.bytes, piece.types, Pick::Unit(place))?;
            Some(Candidate { own: super::facts::flag(piece.types & bits::STOP != 0), ..candidate })
        };
        text.reading.pieces.iter().enumerate().skip(from).filter_map(unit).collect()
    }

    fn shifts(&self, moment: Moment, format: Format) -> Vec<Candidate> {
        let mut candidates = vec![Candidate::plain(Pick::Moment(moment, format), "", Origin::Schema)];
        for (source, bytes, length) in lengths(&self.scene) {
            for later in [false, true] {
                let moved = moment.moved(length, later).filter(|moved| moved.written(format).is_some());
                let Some(moved) = moved else { continue };
                let pick = Pick::Moment(moved, format);
                let candidate = Candidate::of(&self.scene, source, &bytes, bits::LENGTH, pick);
                candidates.extend(candidate.map(|mut candidate| {
                    candidate.words.push_str(if later { " later after 之后" } else { " earlier before 提前" });
                    candidate.own = if later { 1.0 } else { -1.0 };
                    candidate
                }));
            }
        }
        candidates
    }

    fn apply(&mut self, goal: Goal, candidate: Candidate) {
        match (goal, candidate.pick) {
            (Goal::Act, Pick::Act(place)) => self.begin(place),
            (Goal::More, Pick::More(true)) => self.goals.push(Goal::Act),
            (Goal::Slot { slot, at }, Pick::Open) => self.open(&slot, &at),
            (Goal::Slot { slot, at }, pick) => self.fill(slot, at, pick),
            (Goal::Item { slot, mut at, index, bounds }, pick) => {
                if pick == Pick::Omit {
                    return;
                }
                if index + 1 < bounds.1 {
                    self.goals.push(Goal::Item { slot: Arc::clone(&slot), at: at.clone(), index: index + 1, bounds });
                }
                at.push(index.to_string());
                if pick == Pick::Open { self.open(&slot, &at) } else { self.fill(slot, at, pick) }
            }
            (Goal::First { slot, at, source }, Pick::Unit(first)) => {
                self.goals.push(Goal::Last { slot, at, source, first });
            }
            (Goal::Last { at, source, first, .. }, Pick::Unit(last)) => {
                let reading = self.scene.sources.get(source).map(|source| &source.reading);
                let text = reading.and_then(|reading| Some(reading.slice(&reading.between(first, last)?).to_owned()));
                put(&mut self.arguments, &at, Value::String(text.unwrap_or_default()));
            }
            (Goal::Shift { at, .. }, Pick::Moment(moment, format)) => self.write(&at, moment, format),
            _ => {}
        }
    }

    fn begin(&mut self, place: usize) {
        let Some(act) = self.acts.get(place).copied() else { return };
        self.act = Some(act);
        self.arguments = Value::Object(Map::new());
        if matches!(act, Act::Tool(_)) && self.done.len() + 1 < CALLS_MAX {
            self.goals.push(Goal::More);
        }
        self.goals.push(Goal::Close);
        let slots = act.slots(&self.scene);
        self.goals.extend(slots.into_iter().rev().map(|slot| Goal::Slot { at: vec![slot.name.clone()], slot }));
    }

    fn open(&mut self, slot: &Slot, at: &[String]) {
        match &slot.shape {
            Shape::Object(slots) => {
                put(&mut self.arguments, at, Value::Object(Map::new()));
                let inner = |slot: &Arc<Slot>| {
                    let at = at.iter().cloned().chain([slot.name.clone()]).collect();
                    Goal::Slot { slot: Arc::clone(slot), at }
                };
                self.goals.extend(slots.iter().rev().map(inner));
            }
            Shape::List { item, least, most } => {
                put(&mut self.arguments, at, Value::Array(Vec::new()));
                let bounds = (*least, *most);
                self.goals.push(Goal::Item { slot: Arc::clone(item), at: at.to_vec(), index: 0, bounds });
            }
            _ => {}
        }
    }

    fn fill(&mut self, slot: Arc<Slot>, at: Vec<String>, pick: Pick) {
        match pick {
            Pick::Value(value) => put(&mut self.arguments, &at, value),
            Pick::Words(source) => self.goals.push(Goal::First { slot, at, source }),
            Pick::Moment(moment, format) if lengths(&self.scene).is_empty() => self.write(&at, moment, format),
            Pick::Moment(moment, format) => self.goals.push(Goal::Shift { slot, at, moment, format }),
            _ => {}
        }
    }

    fn write(&mut self, at: &[String], moment: Moment, format: Format) {
        if let Some(text) = moment.written(format) {
            put(&mut self.arguments, at, Value::String(text));
        }
    }
}

/// A length of time with its place.
type Length = (usize, std::ops::Range<usize>, (i32, i32, i64));

/// The lengths of time that were said or are remembered.
pub(super) fn lengths(scene: &Scene) -> Vec<Length> {
    let mut lengths: Vec<Length> = Vec::new();
    for (place, source) in scene.sources.iter().enumerate().filter(|(_, source)| source.origin != Origin::Result) {
        for found in &source.reading.found {
            if let Meaning::Length(months, days, seconds) = found.meaning
                && lengths.len() < SHIFTS_MAX
                && lengths.iter().all(|(.., known)| *known != (months, days, seconds))
            {
                lengths.push((place, found.bytes.clone(), (months, days, seconds)));
            }
        }
    }
    lengths
}

/// The value at a place.
pub(super) fn get<'a>(value: &'a Value, at: &[String]) -> Option<&'a Value> {
    at.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

/// Puts a value at a place; what is on the way is made.
fn put(target: &mut Value, at: &[String], value: Value) {
    let Some((key, rest)) = at.split_first() else {
        *target = value;
        return;
    };
    if let Value::Array(items) = target {
        let Ok(index) = key.parse::<usize>() else { return };
        if index == items.len() {
            items.push(Value::Null);
        }
        if let Some(item) = items.get_mut(index) {
            put(item, rest, value);
        }
        return;
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(fields) = target {
        put(fields.entry(key.clone()).or_insert(Value::Null), rest, value);
    }
}

#[cfg(test)]
mod tests;
