//! What an argument could be: values that were observed, and nothing else. It knows no score.
//!
//! A value is observed where it stands in the request, in what the user said since, in something remembered, in a result, in the schema or
//! its description, or follows from one of these by a rule that is written here: a length of time counted as the slot counts it, a date and
//! a time of day put together, a moment moved by a length, a record with one of its values changed.

pub(super) mod moment;
mod numbers;
pub(super) mod own;
mod texts;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use self::moment::{Format, Moment};
use super::choice::OPTIONS_MAX;
use super::scene::{Label, Origin, Scene};
use super::spec::{Shape, Slot};
use super::units::{Near, Part, bits};

/// Values of one list of options besides those that open other choices.
pub(super) const VALUES_MAX: usize = OPTIONS_MAX - super::scene::SOURCES_MAX - 2;

/// Yes and no, with what people say for them.
const BOOLEANS: [(bool, &str); 2] = [(true, "true yes on 是 开"), (false, "false no off 否 关")];

/// What an answer does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pick {
    /// Takes an act, by its place among the acts.
    Act(usize),
    /// Leaves a slot out, or ends a list.
    Omit,
    /// Fills an object or a list.
    Open,
    /// A value.
    Value(Value),
    /// A moment in a form; it may still be moved.
    Moment(Moment, Format),
    /// Some words of a text, which further choices settle.
    Words(usize),
    /// A unit of a text: the first or the last of those words.
    Unit(usize),
    /// Whether another call follows.
    More(bool),
}

/// One option, before it becomes an answer of a table.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// What it does.
    pub(super) pick: Pick,
    /// Its words.
    pub(super) words: Arc<str>,
    /// The terms of its words.
    pub(super) terms: Arc<[u64]>,
    /// What it is called where it was observed.
    pub(super) label: Arc<Label>,
    /// Where it was observed.
    pub(super) origin: Origin,
    /// The types of the span, see [`super::units::bits`].
    pub(super) bits: u32,
    /// The text that it stands in, with its part there.
    pub(super) place: Option<(usize, Arc<Part>)>,
    /// The terms of the record that it is in.
    pub(super) record: Arc<[u64]>,
    /// How late it was observed.
    pub(super) late: f32,
    /// How early it stands where it was observed.
    pub(super) early: f32,
    /// A fact of its own kind; see the table of facts.
    pub(super) own: f32,
}

impl Candidate {
    /// An option without words.
    pub(super) fn bare(pick: Pick) -> Self {
        Self::with_terms(pick, Arc::default(), Arc::default(), Origin::Schema)
    }

    /// An option that points nowhere.
    pub(super) fn plain(scene: &Scene, pick: Pick, words: impl Into<Arc<str>>, origin: Origin) -> Self {
        let words = words.into();
        Self::with_terms(pick, Arc::clone(&words), scene.kept.terms(&words), origin)
    }

    /// The same where the terms of the words are known.
    pub(super) fn with_terms(pick: Pick, words: Arc<str>, terms: Arc<[u64]>, origin: Origin) -> Self {
        Self {
            pick,
            words,
            terms,
            label: Arc::default(),
            origin,
            bits: 0,
            place: None,
            record: Arc::default(),
            late: 0.0,
            early: 0.0,
            own: 0.0,
        }
    }

    /// An option out of a text.
    pub(super) fn of(scene: &Scene, source: usize, bytes: &Range<usize>, bit: u32, pick: Pick) -> Option<Self> {
        let from = scene.sources.get(source)?;
        let part = from.read.part(bytes);
        #[expect(clippy::cast_precision_loss, reason = "bytes of a text are few")]
        let early = 1.0 - bytes.start as f32 / from.reading().text.len().max(1) as f32;
        Some(Self {
            pick,
            words: Arc::clone(&part.words),
            terms: Arc::clone(&part.terms),
            label: Arc::clone(&from.label),
            origin: from.origin,
            bits: bit,
            place: Some((source, part)),
            record: Arc::clone(from.terms()),
            late: from.late,
            early,
            own: 0.0,
        })
    }

    /// The value that it stands for, where it is one.
    pub(super) fn value(&self) -> Option<Cow<'_, Value>> {
        match &self.pick {
            Pick::Value(value) => Some(Cow::Borrowed(value)),
            Pick::Moment(moment, format) => moment.written(*format).map(|text| Cow::Owned(Value::String(text))),
            _ => None,
        }
    }

    /// What stands beside it, where it is a part of a text and not the whole.
    pub(super) fn near(&self) -> Option<&Near> {
        self.place.as_ref().filter(|_| self.bits & bits::WHOLE == 0).map(|(_, part)| &part.near)
    }
}

/// Whether a slot has any option at all: what [`options`] would list, without listing it.
pub(super) fn is_fillable(scene: &Scene, slot: &Slot) -> bool {
    match &slot.shape {
        _ if !slot.required => true,
        Shape::Number { whole, least, most } => numbers::any(scene, slot, (*whole, *least, *most)),
        Shape::Text { format: Some(format), .. } => texts::any_moment(scene, *format),
        Shape::Text { format: None, .. } if scene.sources.iter().any(|source| !source.reading().pieces.is_empty()) => {
            true
        }
        _ => !options(scene, slot, &Map::new()).is_empty(),
    }
}

/// The values that a slot could take, each once, with what opens further choices. What may be left out can be.
pub(super) fn options(scene: &Scene, slot: &Slot, chosen: &Map<String, Value>) -> Vec<Candidate> {
    let mut openers = Vec::new();
    if !slot.required {
        openers.push(Candidate::bare(Pick::Omit));
    }
    let mut values = Vec::new();
    match &slot.shape {
        Shape::Enum(allowed) => values.extend(allowed.iter().map(|closed| {
            let pick = Pick::Value(closed.value.clone());
            Candidate::with_terms(pick, Arc::clone(&closed.words), Arc::clone(&closed.terms), Origin::Schema)
        })),
        Shape::Bool => values.extend(
            BOOLEANS
                .map(|(value, words)| Candidate::plain(scene, Pick::Value(Value::Bool(value)), words, Origin::Schema)),
        ),
        Shape::Number { whole, least, most } => numbers::collect(scene, slot, (*whole, *least, *most), &mut values),
        Shape::Text { format: Some(format), .. } => texts::moments(scene, *format, &mut values),
        Shape::Text { format: None, moment } => {
            texts::collect(scene, slot, &mut values);
            if *moment {
                for format in [Format::DateTime, Format::Date, Format::Time] {
                    texts::moments(scene, format, &mut values);
                }
            }
            openers.extend(words_of(scene, |_| true));
        }
        Shape::List { .. } | Shape::Object(_) => openers.push(Candidate::bare(Pick::Open)),
        own => own::collect(scene, own, chosen, &mut values, &mut openers),
    }
    openers.extend(once(values));
    openers
}

/// The openers of the texts whose words can be pointed to.
pub(super) fn words_of(scene: &Scene, wanted: impl Fn(Origin) -> bool) -> Vec<Candidate> {
    let opener = |(place, source): (usize, &super::scene::Source)| {
        if source.reading().pieces.is_empty() || !wanted(source.origin) {
            return None;
        }
        let whole = 0..source.reading().text.len();
        Candidate::of(scene, place, &whole, bits::WHOLE, Pick::Words(place))
    };
    scene.sources.iter().enumerate().filter_map(opener).collect()
}

/// Each value once: what else was observed of it is added to its first candidate.
fn once(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut known: HashMap<Value, usize> = HashMap::with_capacity(candidates.len().min(VALUES_MAX));
    let mut kept: Vec<Candidate> = Vec::with_capacity(candidates.len().min(VALUES_MAX));
    for candidate in candidates {
        let Some(value) = candidate.value() else { continue };
        if let Some(place) = known.get(value.as_ref()) {
            let Some(first) = kept.get_mut(*place) else { continue };
            first.bits |= candidate.bits;
            first.late = first.late.max(candidate.late);
            first.own = first.own.max(candidate.own);
            if first.label.words.is_empty() {
                first.label = candidate.label;
            }
        } else if kept.len() < VALUES_MAX {
            known.insert(value.into_owned(), kept.len());
            kept.push(candidate);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
