//! From a goal and its candidates to a choice: bags and facts.

use std::sync::Arc;

use serde_json::Value;

use super::act::Act;
use super::state::{Goal, State};
use crate::pointer::candidates::{Candidate, Pick};
use crate::pointer::choice::{Answer, Bag, Choice, Kind, Question};
use crate::pointer::facts::{self, Asked, Told, flag};
use crate::pointer::grams::{Grams, shared};
use crate::pointer::scene::{Origin, Scene, Status};
use crate::pointer::spec::{Shape, Slot};
use crate::pointer::units::bits;

/// Characters of a candidate's words that enter its bag.
const WORDS_CHARS_MAX: usize = 160;

/// The choice that a goal is.
pub(super) fn choice(walk: &State, goal: &Goal, candidates: &[Candidate]) -> Choice {
    let scene = walk.scene();
    let answers = match goal {
        Goal::Act => walk.acts().iter().map(|act| act_answer(walk, *act)).collect(),
        _ => {
            let ground = Ground::new(walk, goal);
            candidates.iter().map(|candidate| ground.answer(goal, candidate)).collect()
        }
    };
    Choice { question: question(walk, goal), answers, past: Arc::clone(&scene.history.past) }
}

fn question(walk: &State, goal: &Goal) -> Question {
    let scene = walk.scene();
    let (kind, slot) = match goal {
        Goal::Act => (Kind::Act, None),
        Goal::More | Goal::Close => (Kind::More, None),
        Goal::Slot { slot, .. }
        | Goal::Item { slot, .. }
        | Goal::First { slot, .. }
        | Goal::Last { slot, .. }
        | Goal::Shift { slot, .. } => (Kind::Slot, Some(slot)),
    };
    let waits = scene.history.pending.first().map_or(0.0, |waits| if waits.asked { -1.0 } else { 1.0 });
    let last = scene.history.calls.last().map_or(0.0, |call| outcome(call.status));
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let mut question = facts::Question::default()
        .set(Asked::Turn, scene.turn as f32 / 8.0)
        .set(Asked::Calls, walk.complete().len() as f32 / 4.0)
        .set(Asked::Open, scene.share(&scene.wanted, &scene.open))
        .set(Asked::Last1, last)
        .set(Asked::Waits, waits);
    if let Some(slot) = slot {
        question = of_slot(walk, slot, goal, question);
    }
    let bag = match (kind, slot) {
        (_, Some(slot)) => slot.bag.clone(),
        (Kind::More, _) => walk.complete().last().map(|(act, _)| act.bag(scene)).unwrap_or_default(),
        _ => Bag::default(),
    };
    Question { kind, bag, facts: question.all() }
}

fn of_slot(walk: &State, slot: &Slot, goal: &Goal, question: facts::Question) -> facts::Question {
    let moment = matches!(slot.shape, Shape::Text { format: Some(_), .. } | Shape::Text { moment: true, .. });
    let own = !matches!(
        slot.shape,
        Shape::Enum(_)
            | Shape::Bool
            | Shape::Number { .. }
            | Shape::Text { .. }
            | Shape::List { .. }
            | Shape::Object(_)
    );
    let index = if let Goal::Item { index, .. } = goal { *index } else { 0 };
    #[expect(clippy::cast_precision_loss, reason = "lists are short")]
    let item = index as f32 / 4.0;
    question
        .set(Asked::Required, flag(slot.required))
        .set(Asked::Item, item)
        .set(Asked::First, flag(matches!(goal, Goal::First { .. })))
        .set(Asked::Last, flag(matches!(goal, Goal::Last { .. })))
        .set(Asked::Shift, flag(matches!(goal, Goal::Shift { .. })))
        .set(Asked::Text, flag(matches!(slot.shape, Shape::Text { .. })))
        .set(Asked::Number, flag(matches!(slot.shape, Shape::Number { .. })))
        .set(Asked::Closed, flag(matches!(slot.shape, Shape::Enum(_) | Shape::Bool)))
        .set(Asked::Moment, flag(moment))
        .set(Asked::Own, flag(own))
        .set(Asked::Wanted, walk.wants(slot))
}

fn outcome(status: Status) -> f32 {
    match status {
        Status::Done => 1.0,
        Status::Silent => 0.0,
        _ => -1.0,
    }
}

fn act_answer(walk: &State, act: Act) -> Answer {
    let scene = walk.scene();
    let words = act.terms(scene);
    let before = || scene.history.calls.iter().filter(|call| act.is_named(scene, &call.name));
    let here = walk.complete().iter().filter(|(done, _)| *done == act).count();
    let (early, effect, about) = match act {
        Act::Tool(place) => scene.offers.get(place).map_or((0.0, 0.0, 0.0), |(rank, offer)| {
            #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
            let early = 1.0 / (1.0 + *rank as f32);
            let effect = match offer.effect {
                loopwright_contract::tool::Effect::Read => 0.0,
                loopwright_contract::tool::Effect::Write => 0.5,
                loopwright_contract::tool::Effect::Destructive => 1.0,
            };
            (early, effect, 0.0)
        }),
        Act::Skill(place) => (0.0, 0.0, scene.cards.get(place).map_or(0.0, |card| 0.25 + card.about)),
        _ => (0.0, 0.0, 0.0),
    };
    let whole = match act {
        Act::Tool(place) => scene.totals.get(place).copied().unwrap_or(0.0),
        _ => scene.sum(words.iter().copied()),
    };
    let meeting = scene.meeting(words, whole);
    let waits = if let Act::Confirm(place) = act { scene.history.pending.get(place) } else { None };
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let facts = facts::Option::default()
        .set(Told::Schema, flag(matches!(act, Act::Tool(_))))
        .set(Told::Meets, meeting.meets)
        .set(Told::Covers, meeting.covers)
        .set(Told::CoversOpen, meeting.covers_open)
        .set(Told::Early, early)
        .set(Told::Effect, effect)
        .set(Told::Again, before().count() as f32 / 4.0)
        .set(Told::Outcome, before().next_back().map_or(0.0, |call| outcome(call.status)))
        .set(Told::Twice, here as f32)
        .set(Told::Own, waits.map_or(0.0, |waits| if waits.asked { -1.0 } else { 1.0 }))
        .set(Told::Ends, flag(matches!(act, Act::Refuse | Act::Finish)))
        .set(Told::Leaves, flag(matches!(act, Act::Refuse)))
        .set(Told::Remembers, flag(matches!(act, Act::Recall | Act::Remember | Act::Replace | Act::Forget)))
        .set(Told::Speaks, flag(matches!(act, Act::Ask | Act::Confirm(_))))
        .set(Told::Opens, flag(matches!(act, Act::Ask)))
        .set(Told::Skill, about);
    Answer { bag: act.bag(scene), facts: facts.all(), span: None }
}

/// What all options of a slot are measured against.
struct Ground<'a> {
    scene: &'a Scene,
    slot: Option<&'a Slot>,
    /// Values of earlier calls, and of this decision.
    used: Vec<&'a Value>,
    here: Vec<&'a Value>,
}

impl<'a> Ground<'a> {
    fn new(walk: &'a State, goal: &'a Goal) -> Self {
        let slot = match goal {
            Goal::Slot { slot, .. }
            | Goal::Item { slot, .. }
            | Goal::First { slot, .. }
            | Goal::Last { slot, .. }
            | Goal::Shift { slot, .. } => Some(slot.as_ref()),
            _ => None,
        };
        let mut used = Vec::new();
        walk.scene().history.calls.iter().for_each(|call| scalars(&call.arguments, &mut used));
        let mut here = Vec::new();
        walk.complete().iter().for_each(|(_, arguments)| scalars(arguments, &mut here));
        scalars(walk.arguments(), &mut here);
        Self { scene: walk.scene(), slot, used, here }
    }

    /// How clearly some terms name the slot, 0 to 1.
    fn names(&self, words: &[u64]) -> f32 {
        let named = self.slot.map(|slot| slot.terms.as_slice()).unwrap_or_default();
        let sum: f32 = shared(words, named).map(|term| self.scene.weight(term)).sum();
        sum / (1.0 + sum)
    }

    fn answer(&self, goal: &Goal, candidate: &Candidate) -> Answer {
        let scene = self.scene;
        let (words, characters) = cut(&candidate.words);
        let near = candidate.near();
        let has = |bit: u32| flag(candidate.bits & bit != 0);
        let value = if self.used.is_empty() && self.here.is_empty() { None } else { candidate.value() };
        let within = |values: &[&Value]| flag(value.as_deref().is_some_and(|value| values.contains(&value)));
        let origin = |origin: Origin| flag(candidate.origin == origin);
        #[expect(clippy::cast_precision_loss, reason = "texts are short")]
        let length = match (goal, &candidate.pick) {
            (Goal::Last { first, .. }, Pick::Unit(last)) => last.saturating_sub(*first) as f32 / 8.0,
            _ => (1.0 + characters as f32).ln() / 2.0,
        };
        let meeting = scene.meeting(&candidate.terms, scene.sum(candidate.terms.iter().copied()));
        let facts = facts::Option::default()
            .set(Told::Request, origin(Origin::Request))
            .set(Told::User, origin(Origin::User))
            .set(Told::Memory, origin(Origin::Memory))
            .set(Told::Result, origin(Origin::Result))
            .set(Told::Schema, origin(Origin::Schema))
            .set(Told::Meets, meeting.meets)
            .set(Told::Covers, meeting.covers)
            .set(Told::CoversOpen, meeting.covers_open)
            .set(Told::Before, self.names(near.map(|near| near.before.as_slice()).unwrap_or_default()))
            .set(Told::After, self.names(near.map(|near| near.after.as_slice()).unwrap_or_default()))
            .set(Told::Label, self.names(&candidate.label.terms))
            .set(Told::Record, scene.meeting(&candidate.record, 0.0).covers)
            .set(Told::Early, candidate.early)
            .set(Told::Late, candidate.late)
            .set(Told::Own, candidate.own)
            .set(Told::Leaves, flag(matches!(candidate.pick, Pick::Omit | Pick::More(false))))
            .set(Told::Opens, flag(matches!(candidate.pick, Pick::Open | Pick::Words(_) | Pick::More(true))))
            .set(Told::Number, has(bits::NUMBER | bits::PERCENT))
            .set(Told::Time, has(bits::CLOCK | bits::DATE | bits::LENGTH))
            .set(Told::Quote, has(bits::QUOTE))
            .set(Told::Name, has(bits::NAME | bits::CODE))
            .set(Told::Clause, has(bits::CLAUSE | bits::WHOLE))
            .set(Told::Used, within(&self.used))
            .set(Told::Twice, within(&self.here))
            .set(Told::Length, length);
        Answer { bag: bag(scene, candidate, words), facts: facts.all(), span: self.span(goal, candidate) }
    }

    /// The units of the request that an option points to: for the last unit of a raw span, the whole span.
    fn span(&self, goal: &Goal, candidate: &Candidate) -> Option<std::ops::Range<usize>> {
        let (source, part) = candidate.place.as_ref()?;
        if *source != 0 || self.slot.is_none() {
            return None;
        }
        match (goal, &candidate.pick) {
            (Goal::Last { first, .. }, Pick::Unit(last)) => Some(*first..last + 1),
            (_, Pick::Unit(place)) => Some(*place..place + 1),
            _ => part.span.clone(),
        }
    }
}

/// The beginning of some words that enters a bag, with its characters.
fn cut(words: &str) -> (&str, usize) {
    match words.char_indices().nth(WORDS_CHARS_MAX) {
        Some((end, _)) => (words.get(..end).unwrap_or_default(), WORDS_CHARS_MAX),
        None => (words, words.chars().count()),
    }
}

fn bag(scene: &Scene, candidate: &Candidate, words: &str) -> Bag {
    let mark = match candidate.pick {
        Pick::Omit => "omit",
        Pick::Open => "open",
        Pick::Words(_) => "words",
        Pick::More(true) => "more",
        Pick::More(false) => "end",
        _ => "value",
    };
    let label = candidate.label.words.as_str();
    let (last, next) = candidate.near().map(|near| (near.last.as_str(), near.next.as_str())).unwrap_or_default();
    scene.kept.bag(&["answer", mark, label, last, next, words], || {
        Grams::default()
            .marked("pick", mark)
            .marked("label", label)
            .marked("before", last)
            .marked("after", next)
            .text(words)
            .bag()
    })
}

/// The single values of some arguments.
fn scalars<'a>(value: &'a Value, into: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, into)),
        Value::Object(fields) => fields.values().for_each(|value| scalars(value, into)),
        Value::Null => {}
        scalar => into.push(scalar),
    }
}

impl State {
    /// Whether what was chosen so far needs a slot.
    fn wants(&self, slot: &Slot) -> f32 {
        match self.act() {
            Some(Act::Tool(place)) => {
                self.scene().offers.get(place).map_or(0.0, |(_, offer)| offer.wants(slot, &self.chosen()))
            }
            _ => 0.0,
        }
    }
}
