//! Where a walk stands: what is open, what was chosen, and what is asked now. It follows from the scene and from the answers that led here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value};

use super::act::Act;
use super::{CALLS_MAX, CHOICES_MAX, SHIFTS_MAX, table};
use crate::pointer::candidates::moment::{Format, Moment};
use crate::pointer::candidates::{Candidate, Pick, options};
use crate::pointer::choice::{Choice, OPTIONS_MAX};
use crate::pointer::facts::flag;
use crate::pointer::memo::Memo;
use crate::pointer::scene::{Origin, Scene, Source};
use crate::pointer::spec::{Shape, Slot};
use crate::pointer::units::{Meaning, Piece, bits};

/// Places that are kept of one decision; where answers lead beyond them is found out each time. With `WALKS_MAX` decisions, hostile ones take about
/// 150 MB at most.
pub(super) const STATES_MAX: usize = 64;

/// What is to be settled next.
#[derive(Debug, Clone)]
pub(in crate::pointer) enum Goal {
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
pub(super) struct Current {
    pub(super) goal: Goal,
    pub(super) choice: Arc<Choice>,
    pub(super) candidates: Vec<Candidate>,
}

/// Where a walk stands.
#[derive(Debug)]
pub(super) struct State {
    scene: Arc<Scene>,
    goals: Vec<Goal>,
    current: Option<Current>,
    acts: Vec<Act>,
    act: Option<Act>,
    arguments: Value,
    done: Vec<(Act, Value)>,
    /// Choices that were made.
    made: usize,
    /// Where answers lead.
    next: Memo<usize, Arc<State>>,
    /// Places that are kept of the decision.
    kept: Arc<AtomicUsize>,
}

impl State {
    /// Begins with what is to be done.
    pub(super) fn new(scene: Scene) -> Self {
        let mut state = Self {
            scene: Arc::new(scene),
            goals: vec![Goal::Act],
            current: None,
            acts: Vec::new(),
            act: None,
            arguments: Value::Object(Map::new()),
            done: Vec::new(),
            made: 0,
            next: Memo::new(STATES_MAX),
            kept: Arc::default(),
        };
        state.advance();
        state
    }

    /// Where an answer leads that there is.
    pub(super) fn after(before: &Arc<Self>, answer: usize) -> Arc<Self> {
        if let Some(known) = before.next.get(&answer) {
            return known;
        }
        let mut state = Self {
            scene: Arc::clone(&before.scene),
            goals: before.goals.clone(),
            current: None,
            acts: before.acts.clone(),
            act: before.act,
            arguments: before.arguments.clone(),
            done: before.done.clone(),
            made: before.made + 1,
            next: Memo::new(STATES_MAX),
            kept: Arc::clone(&before.kept),
        };
        if let Some(current) = &before.current
            && let Some(candidate) = current.candidates.get(answer)
        {
            state.apply(current.goal.clone(), candidate.clone());
        }
        state.advance();
        let state = Arc::new(state);
        let room = |kept| (kept < STATES_MAX).then_some(kept + 1);
        if before.kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_ok() {
            before.next.keep(answer, Arc::clone(&state));
        }
        state
    }

    /// Answers whose outcome it keeps itself, and places that are kept of the decision.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.next.len(), self.kept.load(Ordering::Relaxed))
    }

    /// What is asked.
    pub(super) fn current(&self) -> Option<&Current> {
        self.current.as_ref()
    }

    /// The context that it decides on.
    pub(super) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The acts that are open.
    pub(super) fn acts(&self) -> &[Act] {
        &self.acts
    }

    /// The act that is being filled.
    pub(super) fn act(&self) -> Option<Act> {
        self.act
    }

    /// Its arguments so far.
    pub(super) fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The acts that are complete, with their arguments.
    pub(super) fn complete(&self) -> &[(Act, Value)] {
        &self.done
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
                if self.made < CHOICES_MAX {
                    let choice = Arc::new(table::choice(self, &goal, &candidates));
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
                // Their words are the act's own, which the table takes from it.
                (0..self.acts.len()).map(|place| Candidate::bare(Pick::Act(place))).collect()
            }
            Goal::Slot { slot, .. } => options(&self.scene, slot, &self.chosen()),
            Goal::Item { slot, at, index, bounds } => self.items(slot, at, *index, *bounds),
            Goal::First { source, .. } => self.firsts(*source, 0),
            Goal::Last { source, first, .. } => self.firsts(*source, *first),
            Goal::Shift { moment, format, .. } => self.shifts(*moment, *format),
            Goal::Close => Vec::new(),
            Goal::More => [false, true].map(|more| Candidate::bare(Pick::More(more))).into(),
        }
    }

    fn items(&self, slot: &Slot, at: &[String], index: usize, bounds: (usize, usize)) -> Vec<Candidate> {
        let taken = get(&self.arguments, at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let fresh = |candidate: &Candidate| candidate.value().is_none_or(|value| !taken.contains(value.as_ref()));
        let mut candidates: Vec<Candidate> =
            options(&self.scene, slot, &self.chosen()).into_iter().filter(fresh).collect();
        if index > 0 && index >= bounds.0 {
            candidates.insert(0, Candidate::bare(Pick::Omit));
        }
        candidates
    }

    /// The units of a text from one on.
    fn firsts(&self, source: usize, from: usize) -> Vec<Candidate> {
        let Some(text) = self.scene.sources.get(source) else { return Vec::new() };
        let unit = |(place, piece): (usize, &Piece)| {
            let candidate = Candidate::of(&self.scene, source, &piece.bytes, piece.types, Pick::Unit(place))?;
            Some(Candidate { own: flag(piece.types & bits::STOP != 0), ..candidate })
        };
        text.reading().pieces.iter().enumerate().skip(from).filter_map(unit).collect()
    }

    pub(super) fn shifts(&self, moment: Moment, format: Format) -> Vec<Candidate> {
        let mut candidates = vec![Candidate::bare(Pick::Moment(moment, format))];
        for (source, bytes, length) in lengths(&self.scene) {
            for later in [false, true] {
                let moved = moment.moved(length, later).filter(|moved| moved.written(format).is_some());
                let Some(moved) = moved else { continue };
                let pick = Pick::Moment(moved, format);
                let candidate = Candidate::of(&self.scene, source, &bytes, bits::LENGTH, pick);
                candidates.extend(candidate.map(|mut candidate| {
                    let moved = if later { " later after 之后" } else { " earlier before 提前" };
                    candidate.words = format!("{}{moved}", candidate.words).into();
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
                let reading = self.scene.sources.get(source).map(Source::reading);
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
        let slot = |slot: &Arc<Slot>| Goal::Slot { at: vec![slot.name.clone()], slot: Arc::clone(slot) };
        self.goals.extend(act.slots(&self.scene).iter().rev().map(slot));
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
pub(in crate::pointer) fn lengths(scene: &Scene) -> Vec<Length> {
    let mut lengths: Vec<Length> = Vec::new();
    for (place, source) in scene.sources.iter().enumerate().filter(|(_, source)| source.origin != Origin::Result) {
        for found in &source.reading().found {
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
pub(in crate::pointer) fn get<'a>(value: &'a Value, at: &[String]) -> Option<&'a Value> {
    at.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

/// Puts a value at a place; what is on the way is made.
pub(super) fn put(target: &mut Value, at: &[String], value: Value) {
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
