//! A context, read once for all choices of a turn: texts that can be pointed into, results, what is remembered, offered tools, earlier calls.

mod history;
mod leaves;

use std::ops::Deref;
use std::sync::Arc;

use jiff::civil::DateTime;
use loopwright_contract::action::reserved;
use loopwright_contract::context::{Context, Event};
use loopwright_contract::memory::RecordStatus;
use loopwright_contract::name::MemoryId;
use serde_json::Value;

use super::candidates::moment::of_now;
use super::choice::Unit;
use super::grams::shared;
use super::kept::{Kept, Read};
use super::offered::{Offered, is_chinese};
use super::specs::Specs;
use super::units::Reading;

pub(super) use history::{History, Pending, Status};
pub(super) use leaves::Leaf;

/// Texts that can be pointed into; the request first, then the latest.
pub(super) const SOURCES_MAX: usize = 24;
/// Remembered things, as served before the first step, found and reminded of.
pub(super) const MEMORIES_MAX: usize = 24;
/// Units of a text of a result from which on parts of it can be pointed to.
const LONG_UNITS_MIN: usize = 3;

/// Where a value was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Origin {
    /// What the user asked for.
    Request,
    /// What the user said since.
    User,
    /// What is remembered.
    Memory,
    /// What a call answered.
    Result,
    /// What the schema allows, the phone's clock included.
    Schema,
}

/// What something is called where it was observed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Label {
    /// Its words.
    pub(super) words: String,
    /// Their terms.
    pub(super) terms: Arc<[u64]>,
}

impl Label {
    /// A label of some words.
    pub(super) fn new(kept: &Kept, words: String) -> Arc<Self> {
        Arc::new(Self { terms: kept.terms(&words), words })
    }
}

/// A text that can be pointed into.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Where it was observed.
    pub(super) origin: Origin,
    /// Its units, typed spans and parts.
    pub(super) read: Read,
    /// What it is: the words of a JSON pointer, or of a memory's category.
    pub(super) label: Arc<Label>,
    /// How late it was observed: 1 for the latest.
    pub(super) late: f32,
    /// A place in [`Scene::memories`].
    pub(super) memory: Option<usize>,
}

impl Source {
    /// Its units and typed spans.
    pub(super) fn reading(&self) -> &Reading {
        &self.read.reading
    }

    /// Its terms.
    pub(super) fn terms(&self) -> &Arc<[u64]> {
        &self.read.parts.terms
    }
}

/// Something remembered.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// Its id.
    pub(super) id: MemoryId,
    /// What it says.
    pub(super) content: Arc<str>,
    /// A category, where there is one.
    pub(super) category: Option<String>,
    /// Whether it holds, and nothing contradicts it.
    pub(super) holds: bool,
    /// Whether the phone reminded of it.
    pub(super) due: bool,
    /// Its terms.
    pub(super) terms: Arc<[u64]>,
}

/// A context as the choices of one turn see it.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// Whether the request is Chinese.
    pub(super) chinese: bool,
    /// The moment of the request.
    pub(super) now: Option<DateTime>,
    /// Decisions made so far.
    pub(super) turn: u32,
    /// Whether the memory is open.
    pub(super) memory: bool,
    /// Whether there is a user to ask.
    pub(super) ask: bool,
    /// The request's units.
    pub(super) units: Arc<[Unit]>,
    /// Texts that can be pointed into; the first is the request.
    pub(super) sources: Vec<Source>,
    /// Single values of results, the latest first.
    pub(super) leaves: Vec<Leaf>,
    /// What is remembered.
    pub(super) memories: Vec<Memory>,
    /// What was done.
    pub(super) history: History,
    /// The request's terms, with what the user said since.
    pub(super) wanted: Vec<u64>,
    /// Those that no earlier call took up.
    pub(super) open: Vec<u64>,
    /// What was made of texts before.
    pub(super) kept: Arc<Kept>,
    offered: Arc<Offered>,
    measure: Measure,
}

/// The weights of [`Scene::wanted`].
#[derive(Debug, Clone, Default)]
struct Measure {
    /// Of each term, and whether it is open.
    terms: Vec<(f32, bool)>,
    /// Together, and of the open ones.
    whole: f32,
    open: f32,
}

/// How some terms and the request meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    /// The share of the terms that the request has.
    pub(super) meets: f32,
    /// The share of the request that the terms have.
    pub(super) covers: f32,
    /// The share of what is open of it.
    pub(super) covers_open: f32,
}

impl Deref for Scene {
    type Target = Offered;

    /// What the context offers.
    fn deref(&self) -> &Offered {
        &self.offered
    }
}

impl Scene {
    /// Reads a context.
    pub(super) fn new(specs: &Specs, context: &Context) -> Self {
        let (kept, offered) = (Arc::clone(specs.kept()), specs.offered(context));
        let now = of_now(&context.now);
        let memories = memories(&kept, context);
        let mut leaves = leaves::leaves(&kept, context);
        leaves.truncate(leaves::LEAVES_MAX);
        let sources = sources(&kept, context, &memories, &leaves, now);
        let mut wanted: Vec<u64> = sources.first().map(|source| source.terms().to_vec()).unwrap_or_default();
        for source in sources.iter().filter(|source| source.origin == Origin::User) {
            wanted.extend(source.terms().iter());
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut scene = Self {
            chinese: is_chinese(&context.lang),
            now,
            turn: context.turn,
            memory: context.space.memory,
            ask: context.space.ask,
            units: sources.first().map(|source| source.read.units()).unwrap_or_default(),
            sources,
            leaves,
            memories,
            history: History::new(&kept, context),
            open: Vec::new(),
            wanted,
            kept,
            offered,
            measure: Measure::default(),
        };
        scene.open = scene.uncovered();
        scene.measure = scene.measured();
        scene
    }

    /// The share of `of`'s weight that `by` has too.
    pub(super) fn share(&self, of: &[u64], by: &[u64]) -> f32 {
        let (few, many) = if of.len() < by.len() { (of, by) } else { (by, of) };
        share(self.sum(shared(few, many)), self.sum(of.iter().copied()))
    }

    /// How some terms, of so much weight together, and the request meet.
    pub(super) fn meeting(&self, terms: &[u64], whole: f32) -> Meeting {
        // What a sum begins with.
        let (mut both, mut open) = (std::iter::empty::<f32>().sum(), std::iter::empty::<f32>().sum());
        let mut add = |place: usize| {
            if let Some((weight, is_open)) = self.measure.terms.get(place) {
                both += weight;
                if *is_open {
                    open += weight;
                }
            }
        };
        if terms.len() < self.wanted.len() {
            terms.iter().filter_map(|term| self.wanted.binary_search(term).ok()).for_each(&mut add);
        } else {
            let found = self.wanted.iter().enumerate().filter(|(_, term)| terms.binary_search(term).is_ok());
            found.for_each(|(place, _)| add(place));
        }
        let Measure { whole: wanted, open: wanted_open, .. } = self.measure;
        Meeting { meets: share(both, whole), covers: share(both, wanted), covers_open: share(open, wanted_open) }
    }

    fn measured(&self) -> Measure {
        let term = |term: &u64| (self.weight(*term), self.open.binary_search(term).is_ok());
        Measure {
            terms: self.wanted.iter().map(term).collect(),
            whole: self.sum(self.wanted.iter().copied()),
            open: self.sum(self.open.iter().copied()),
        }
    }

    /// The request.
    pub(super) fn request(&self) -> Option<&Source> {
        self.sources.first()
    }

    /// The request's terms without those that the words of calls that succeeded have.
    fn uncovered(&self) -> Vec<u64> {
        let mut covered: Vec<u64> = Vec::new();
        for call in self.history.calls.iter().filter(|call| call.status == Status::Done) {
            if let Some((_, offer)) = self.offers.iter().find(|(_, offer)| offer.name.as_str() == call.name) {
                covered.extend(shared(&self.wanted, &offer.terms));
            }
            covered.extend(self.kept.terms(&call.said).iter());
        }
        covered.sort_unstable();
        self.wanted.iter().copied().filter(|term| covered.binary_search(term).is_err()).collect()
    }
}

fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// What is remembered, each once: what was served, then what was found and reminded of.
fn memories(kept: &Kept, context: &Context) -> Vec<Memory> {
    let mut memories: Vec<Memory> = Vec::new();
    for item in &context.memory {
        keep(
            &mut memories,
            Memory {
                id: item.id.clone(),
                content: item.content.as_str().into(),
                category: item.category.clone(),
                holds: item.status == RecordStatus::Current,
                due: item.due.is_some(),
                terms: kept.terms(&item.content),
            },
        );
    }
    for event in &context.history {
        match event {
            Event::Answered { name, envelope, .. } if reserved::full(name) == reserved::RECALL => {
                let items = envelope.pointer("/data/items").and_then(Value::as_array);
                for item in items.into_iter().flatten() {
                    if let Some(memory) = told(kept, item, "id") {
                        keep(&mut memories, memory);
                    }
                }
            }
            Event::Notice { value } => {
                if let Some(memory) = told(kept, value, "memoryId") {
                    keep(&mut memories, Memory { due: true, ..memory });
                }
            }
            _ => {}
        }
    }
    memories
}

/// Keeps what is new; of what is known the later telling counts.
fn keep(memories: &mut Vec<Memory>, memory: Memory) {
    let room = memories.len() < MEMORIES_MAX;
    match memories.iter_mut().find(|known| known.id == memory.id) {
        Some(known) => *known = Memory { due: known.due || memory.due, ..memory },
        None if room => memories.push(memory),
        None => {}
    }
}

fn told(kept: &Kept, item: &Value, id: &str) -> Option<Memory> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let content = text("content")?;
    Some(Memory {
        id: MemoryId::new(text(id)?).ok()?,
        content: content.into(),
        category: text("category").map(str::to_owned),
        holds: matches!(text("status"), None | Some("current")),
        due: text("due").is_some(),
        terms: kept.terms(content),
    })
}

fn sources(kept: &Kept, context: &Context, memories: &[Memory], leaves: &[Leaf], now: Option<DateTime>) -> Vec<Source> {
    let source = |origin, text: &str, label: Arc<Label>, late, memory| Source {
        origin,
        read: kept.read(text, now),
        label,
        late,
        memory,
    };
    let mut sources = vec![source(Origin::Request, &context.request, Arc::default(), 0.0, None)];
    for event in context.history.iter().rev() {
        if let Event::User { text } = event {
            let late = if sources.len() == 1 { 1.0 } else { 0.5 };
            sources.push(source(Origin::User, text, Arc::default(), late, None));
        }
    }
    sources.truncate(SOURCES_MAX / 2);
    for (place, memory) in memories.iter().enumerate() {
        let label = Label::new(kept, memory.category.as_deref().unwrap_or_default().replace('_', " "));
        let late = if memory.due { 1.0 } else { 0.5 };
        sources.push(source(Origin::Memory, &memory.content, label, late, Some(place)));
    }
    for leaf in leaves {
        if sources.len() >= SOURCES_MAX {
            break;
        }
        let text = leaf.value.as_str().filter(|text| super::candidates::moment::of_written(text).is_none());
        let found = text.map(|text| source(Origin::Result, text, Arc::clone(&leaf.label), leaf.late, None));
        sources.extend(found.filter(|found| found.reading().pieces.len() >= LONG_UNITS_MIN));
    }
    sources.truncate(SOURCES_MAX);
    sources
}

#[cfg(test)]
mod tests;
