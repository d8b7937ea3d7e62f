//! Plays as the tables that the training pass reads: end to end, without padding, what occurs again kept once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::error::PointerError;
use super::shape::{ANSWER_INPUT, PAST_INPUT, QUESTION_INPUT};
use crate::nn::{Lists, Segments, Share};
use crate::pointer::choice::{
    Answer, Bag, Choice, FACT_MAX, Kind, OPTIONS_MAX, PAST_MAX, Past, Play, Question, STATUSES, TYPE_BITS, UNITS_MAX,
    Unit,
};

/// Answers that a part of a batch is cut off at: what the layers then touch stays in the nearer caches, and the table's gradient, which each
/// part has of its own, costs little beside it.
pub const PART_ANSWERS: usize = 4096;

/// Plays laid out for the training pass.
#[derive(Default)]
pub(super) struct Batch {
    /// The grams of each distinct bag.
    pub(super) bags: Lists,
    /// Of each unit its bag, and its types (`[units, TYPE_BITS]`).
    pub(super) unit_bags: Vec<u32>,
    pub(super) unit_types: Vec<f32>,
    /// Units of each play.
    pub(super) requests: Vec<usize>,
    /// Of each earlier call its bag, and what became of it (`[calls, PAST_INPUT]`).
    pub(super) past_bags: Vec<u32>,
    pub(super) past_facts: Vec<f32>,
    /// Of each question its bag, its numbers (`[questions, QUESTION_INPUT]`), and the units and earlier calls that it reads.
    pub(super) question_bags: Vec<u32>,
    pub(super) question_facts: Vec<f32>,
    pub(super) question_units: Vec<Range<usize>>,
    pub(super) question_past: Vec<Range<usize>>,
    /// Each bag that answers of a play have, and the units of that play.
    pub(super) pair_bags: Vec<u32>,
    pub(super) pair_units: Vec<Range<usize>>,
    /// The units of each span that answers of a play point to.
    pub(super) spans: Lists,
    /// Of each answer its pair, its numbers (`[answers, ANSWER_INPUT]`), its span if it has one, and its question.
    pub(super) answer_pairs: Vec<u32>,
    pub(super) answer_facts: Vec<f32>,
    pub(super) answer_spans: Lists,
    pub(super) answer_questions: Vec<u32>,
    /// Answers of each choice.
    pub(super) choices: Vec<usize>,
    /// What was taken, as places among all answers.
    pub(super) taken: Vec<u32>,
}

/// What was seen while plays are laid out.
#[derive(Default)]
struct Seen<'a> {
    bags: BTreeMap<&'a Bag, u32>,
    /// Of the play at hand.
    pairs: BTreeMap<u32, u32>,
    spans: BTreeMap<(usize, usize), u32>,
    past: Option<(&'a Arc<[Past]>, Range<usize>)>,
}

impl Batch {
    /// Lays plays out; they have been checked.
    pub(super) fn new(plays: &[Play]) -> Self {
        let mut batch = Self { bags: Lists::new(Share::Root), ..Self::default() };
        let mut seen = Seen::default();
        for play in plays {
            seen.pairs.clear();
            seen.spans.clear();
            seen.past = None;
            let first = batch.unit_bags.len();
            for unit in play.units.iter() {
                let bag = batch.bag(&mut seen, &unit.bag);
                batch.unit_bags.push(bag);
                batch.unit_types.extend(types_of(unit));
            }
            batch.requests.push(play.units.len());
            for taken in &play.choices {
                batch.choice(&mut seen, &taken.choice, taken.answer, first..first + play.units.len());
            }
        }
        batch.fill();
        batch
    }

    /// Gives a batch without any unit, or any earlier call, one that nobody reads: candle adds nothing to a tensor of no rows, the second one's
    /// weights included, which would then have no gradient.
    fn fill(&mut self) {
        if self.unit_bags.is_empty() {
            self.bags.push([]);
            self.unit_bags.push(index(self.bags.len() - 1));
            self.unit_types.extend([0.0; TYPE_BITS]);
            self.requests.push(1);
        }
        if self.past_bags.is_empty() {
            self.bags.push([]);
            self.past_bags.push(index(self.bags.len() - 1));
            self.past_facts.extend([0.0; PAST_INPUT]);
        }
    }

    fn choice<'a>(&mut self, seen: &mut Seen<'a>, choice: &'a Choice, taken: usize, units: Range<usize>) {
        let question = self.question_bags.len();
        let bag = self.bag(seen, &choice.question.bag);
        self.question_bags.push(bag);
        self.question_facts.extend(question_input(&choice.question));
        let past = self.past(seen, &choice.past);
        self.question_past.push(past);
        let first = self.answer_pairs.len();
        for answer in &choice.answers {
            let bag = self.bag(seen, &answer.bag);
            let pair = *seen.pairs.entry(bag).or_insert_with(|| {
                self.pair_bags.push(bag);
                self.pair_units.push(units.clone());
                index(self.pair_bags.len() - 1)
            });
            self.answer_pairs.push(pair);
            self.answer_facts.extend(answer_input(answer));
            let span = answer.span.as_ref().map(|span| {
                *seen.spans.entry((span.start, span.end)).or_insert_with(|| {
                    self.spans.push(span.clone().map(|unit| index(units.start + unit)));
                    index(self.spans.len() - 1)
                })
            });
            self.answer_spans.push(span);
            self.answer_questions.push(index(question));
        }
        self.question_units.push(units);
        self.choices.push(choice.answers.len());
        self.taken.push(index(first + taken));
    }

    fn bag<'a>(&mut self, seen: &mut Seen<'a>, bag: &'a Bag) -> u32 {
        *seen.bags.entry(bag).or_insert_with(|| {
            self.bags.push(bag.grams().iter().copied());
            index(self.bags.len() - 1)
        })
    }

    /// The rows of some earlier calls; choices of a turn have the same.
    fn past<'a>(&mut self, seen: &mut Seen<'a>, past: &'a Arc<[Past]>) -> Range<usize> {
        if let Some((known, rows)) = &seen.past
            && (Arc::ptr_eq(known, past) || *known == past)
        {
            return rows.clone();
        }
        let first = self.past_bags.len();
        for (place, call) in past.iter().enumerate() {
            let bag = self.bag(seen, &call.bag);
            self.past_bags.push(bag);
            self.past_facts.extend(past_input(call, past.len() - place - 1));
        }
        let rows = first..self.past_bags.len();
        seen.past = Some((past, rows.clone()));
        rows
    }

    /// The choices as segments of the answers.
    pub(super) fn segments(&self) -> Segments {
        Segments::new(&self.choices)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a part of a batch is far below 2^32 of anything")]
fn index(place: usize) -> u32 {
    place as u32
}

/// A unit's types, a number each.
pub(super) fn types_of(unit: &Unit) -> [f32; TYPE_BITS] {
    std::array::from_fn(|bit| if unit.types >> bit & 1 == 1 { 1.0 } else { 0.0 })
}

/// The numbers of a question.
pub(super) fn question_input(question: &Question) -> impl Iterator<Item = f32> {
    let Question { kind, facts, .. } = *question;
    let kinds = Kind::ALL.map(|other| if other == kind { 1.0 } else { 0.0 });
    debug_assert_eq!(kinds.len() + facts.len(), QUESTION_INPUT);
    kinds.into_iter().chain(facts)
}

/// The numbers of an earlier call; the last one is 0 old.
pub(super) fn past_input(past: &Past, age: usize) -> [f32; PAST_INPUT] {
    let status = usize::from(past.status);
    std::array::from_fn(|place| {
        let set = match place {
            _ if place < STATUSES => place == status,
            STATUSES => past.changed,
            _ => place - STATUSES - 1 == age,
        };
        if set { 1.0 } else { 0.0 }
    })
}

/// The numbers of an answer.
pub(super) fn answer_input(answer: &Answer) -> impl Iterator<Item = f32> {
    let points = if answer.span.is_some() { 1.0 } else { 0.0 };
    debug_assert_eq!(answer.facts.len() + 2, ANSWER_INPUT);
    [1.0, points].into_iter().chain(answer.facts)
}

/// Cuts plays into parts of about [`PART_ANSWERS`] answers; plays without a choice are in none.
///
/// # Errors
/// A play that does not fit the network, named by its place; no choice at all.
pub(super) fn parts(plays: &[Play]) -> Result<Vec<&[Play]>, PointerError> {
    for (number, play) in plays.iter().enumerate() {
        check_units(&play.units, || format!("play {number}"))?;
        for (count, taken) in play.choices.iter().enumerate() {
            let place = || format!("choice {count} of play {number}");
            check_choice(&taken.choice, play.units.len(), place)?;
            let (answer, answers) = (taken.answer, taken.choice.answers.len());
            if answer >= answers {
                return Err(PointerError::Taken { place: place(), answer, answers });
            }
        }
    }
    let answers = |play: &Play| play.choices.iter().map(|taken| taken.choice.answers.len()).sum::<usize>();
    let (mut parts, mut start, mut rows) = (Vec::new(), 0, 0);
    for (number, play) in plays.iter().enumerate() {
        if rows > 0 && rows + answers(play) > PART_ANSWERS {
            parts.extend(plays.get(start..number));
            (start, rows) = (number, 0);
        }
        rows += answers(play);
    }
    parts.extend(plays.get(start..).filter(|_| rows > 0));
    if parts.is_empty() {
        return Err(PointerError::NoChoice { plays: plays.len() });
    }
    Ok(parts)
}

/// That a request is not too long.
pub(super) fn check_units(units: &[Unit], place: impl Fn() -> String) -> Result<(), PointerError> {
    within(units.len(), "units", 0..=UNITS_MAX, place)
}

/// That a choice is one, for a request of so many units.
pub(super) fn check_choice(choice: &Choice, units: usize, place: impl Fn() -> String) -> Result<(), PointerError> {
    within(choice.answers.len(), "answers", 1..=OPTIONS_MAX, &place)?;
    within(choice.past.len(), "earlier calls", 0..=PAST_MAX, &place)?;
    check_facts(&choice.question.facts, "question", &place)?;
    for past in choice.past.iter() {
        if usize::from(past.status) >= STATUSES {
            return Err(PointerError::Status { place: place(), found: past.status, statuses: STATUSES });
        }
    }
    for (answer, found) in choice.answers.iter().enumerate() {
        check_facts(&found.facts, "answer", &place)?;
        if let Some(span) = found.span.as_ref().filter(|span| span.is_empty() || span.end > units) {
            return Err(PointerError::Span { place: place(), answer, span: span.clone(), units });
        }
    }
    Ok(())
}

fn check_facts(facts: &[f32], of: &'static str, place: impl Fn() -> String) -> Result<(), PointerError> {
    match facts.iter().position(|fact| !(-FACT_MAX..=FACT_MAX).contains(fact)) {
        Some(number) => {
            let value = facts.get(number).copied().unwrap_or(f32::NAN);
            Err(PointerError::Fact { place: place(), of, number, value })
        }
        None => Ok(()),
    }
}

fn within(
    found: usize,
    what: &'static str,
    range: std::ops::RangeInclusive<usize>,
    place: impl Fn() -> String,
) -> Result<(), PointerError> {
    if range.contains(&found) {
        return Ok(());
    }
    Err(PointerError::Count { place: place(), what, found, least: *range.start(), most: *range.end() })
}
