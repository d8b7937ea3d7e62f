//! A context, read once for all choices of a turn: texts that can be pointed into, results, what is remembered, offered tools, earlier calls.

mod history;
mod leaves;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::DateTime;
use loopwright_contract::action::reserved;
use loopwright_contract::context::{Context, Event};
use loopwright_contract::memory::RecordStatus;
use loopwright_contract::name::{MemoryId, SkillName};
use loopwright_contract::tool::localized;
use serde_json::Value;

use super::candidates::moment::of_now;
use super::choice::{Bag, Unit};
use super::grams::{Grams, shared, terms};
use super::spec::Offer;
use super::specs::Specs;
use super::units::Reading;

pub(super) use history::{History, Pending, Status};
pub(super) use leaves::Leaf;

/// Texts that can be pointed into; the request first, then the latest.
pub(super) const SOURCES_MAX: usize = 24;
/// Remembered things, as served before the first step, found and reminded of.
pub(super) const MEMORIES_MAX: usize = 24;
/// Tools that are looked at, in the order in which they are offered.
pub(super) const OFFERS_MAX: usize = 48;
/// Skills that can be loaded.
pub(super) const SKILLS_MAX: usize = 16;
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
    pub(super) terms: Vec<u64>,
}

impl Label {
    /// A label of some words.
    pub(super) fn new(words: String) -> Arc<Self> {
        Arc::new(Self { terms: if words.is_empty() { Vec::new() } else { terms(&words) }, words })
    }
}

/// A text that can be pointed into.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Where it was observed.
    pub(super) origin: Origin,
    /// Its units and typed spans.
    pub(super) reading: Reading,
    /// What it is: the words of a JSON pointer, or of a memory's category.
    pub(super) label: Arc<Label>,
    /// Its terms.
    pub(super) terms: Arc<[u64]>,
    /// How late it was observed: 1 for the latest.
    pub(super) late: f32,
    /// A place in [`Scene::memories`].
    pub(super) memory: Option<usize>,
}

/// Something remembered.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// Its id.
    pub(super) id: MemoryId,
    /// What it says.
    pub(super) content: String,
    /// A category, where there is one.
    pub(super) category: Option<String>,
    /// Whether it holds, and nothing contradicts it.
    pub(super) holds: bool,
    /// Whether the phone reminded of it.
    pub(super) due: bool,
    /// Its terms.
    pub(super) terms: Arc<[u64]>,
}

/// A skill that can be loaded.
#[derive(Debug, Clone)]
pub(super) struct Card {
    /// Its name.
    pub(super) name: SkillName,
    /// Its words.
    pub(super) bag: Bag,
    /// Their terms.
    pub(super) terms: Vec<u64>,
    /// The share of the offered tools that it is about.
    pub(super) about: f32,
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
    /// The offered tools that can be called, each with its place by recall.
    pub(super) offers: Vec<(usize, Arc<Offer>)>,
    /// The skills that can be loaded.
    pub(super) cards: Vec<Card>,
    /// What was done.
    pub(super) history: History,
    /// The request's terms, with what the user said since.
    pub(super) wanted: Vec<u64>,
    /// Those that no earlier call took up.
    pub(super) open: Vec<u64>,
    /// The weight of each offered tool's terms together.
    pub(super) totals: Vec<f32>,
    weights: HashMap<u64, f32>,
}

impl Scene {
    /// Reads a context.
    pub(super) fn new(specs: &Specs, context: &Context) -> Self {
        let now = of_now(&context.now);
        let chinese = context.lang.as_str().starts_with("zh");
        let offers: Vec<(usize, Arc<Offer>)> = context
            .space
            .tools
            .iter()
            .take(OFFERS_MAX)
            .enumerate()
            .filter_map(|(place, spec)| Some((place, specs.read(spec, chinese)?)))
            .collect();
        let history = History::new(context);
        let memories = memories(context);
        let mut leaves = leaves::leaves(context);
        leaves.truncate(leaves::LEAVES_MAX);
        let sources = sources(context, &memories, &leaves, now);
        let mut wanted: Vec<u64> = sources.first().map(|source| source.terms.to_vec()).unwrap_or_default();
        for source in sources.iter().filter(|source| source.origin == Origin::User) {
            wanted.extend(source.terms.iter());
        }
        wanted.sort_unstable();
        wanted.dedup();
        let weights = weights(&offers);
        let units = sources.first().map(|source| source.reading.units()).unwrap_or_default();
        let mut scene = Self {
            chinese,
            now,
            turn: context.turn,
            memory: context.space.memory,
            ask: context.space.ask,
            units: units.into(),
            sources,
            leaves,
            memories,
            cards: cards(context, &offers),
            offers,
            history,
            open: wanted.clone(),
            wanted,
            totals: Vec::new(),
            weights,
        };
        scene.totals = scene.offers.iter().map(|(_, offer)| scene.sum(offer.terms.iter().copied())).collect();
        scene.open = scene.uncovered();
        scene
    }

    /// The weight of a term: the rarer among the offered tools, the more.
    pub(super) fn weight(&self, term: u64) -> f32 {
        self.weights.get(&term).copied().unwrap_or(UNKNOWN_WEIGHT)
    }

    /// The share of `of`'s weight that `by` has too.
    pub(super) fn share(&self, of: &[u64], by: &[u64]) -> f32 {
        self.share_of(self.sum(of.iter().copied()), of, by)
    }

    /// The same where the weight of `of` is known.
    pub(super) fn share_of(&self, whole: f32, of: &[u64], by: &[u64]) -> f32 {
        let (few, many) = if of.len() < by.len() { (of, by) } else { (by, of) };
        if whole > 0.0 { self.sum(shared(few, many)) / whole } else { 0.0 }
    }

    /// The weight of some terms together.
    fn sum(&self, terms: impl Iterator<Item = u64>) -> f32 {
        terms.map(|term| self.weight(term)).sum()
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
            covered.extend(terms(&call.said));
        }
        covered.sort_unstable();
        self.wanted.iter().copied().filter(|term| covered.binary_search(term).is_err()).collect()
    }
}

/// The weight of a term that no offered tool has.
const UNKNOWN_WEIGHT: f32 = 1.0;

#[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
fn weights(offers: &[(usize, Arc<Offer>)]) -> HashMap<u64, f32> {
    let mut counts: HashMap<u64, u16> = HashMap::new();
    for term in offers.iter().flat_map(|(_, offer)| offer.terms.iter()) {
        *counts.entry(*term).or_default() += 1;
    }
    let all = offers.len() as f32;
    let weight = |count: u16| ((1.0 + all) / (0.5 + f32::from(count))).ln().max(0.05);
    counts.into_iter().map(|(term, count)| (term, weight(count))).collect()
}

fn cards(context: &Context, offers: &[(usize, Arc<Offer>)]) -> Vec<Card> {
    let card = |card: &loopwright_contract::skill::SkillCard| {
        let name = card.name.as_str().replace('-', " ");
        let summary = localized(&card.summary, &context.lang).unwrap_or_default();
        let all: String = card.summary.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n");
        let about = offers.iter().filter(|(_, offer)| card.about.contains(&offer.name)).count();
        Card {
            name: card.name.clone(),
            bag: Grams::default().text(&name).text(summary).bag(),
            terms: terms(&format!("{name}\n{all}")),
            #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
            about: about as f32 / offers.len().max(1) as f32,
        }
    };
    context.space.skills.iter().take(SKILLS_MAX).map(card).collect()
}

/// What is remembered, each once: what was served, then what was found and reminded of.
fn memories(context: &Context) -> Vec<Memory> {
    let mut memories: Vec<Memory> = Vec::new();
    for item in &context.memory {
        keep(
            &mut memories,
            Memory {
                id: item.id.clone(),
                content: item.content.clone(),
                category: item.category.clone(),
                holds: item.status == RecordStatus::Current,
                due: item.due.is_some(),
                terms: terms(&item.content).into(),
            },
        );
    }
    for event in &context.history {
        match event {
            Event::Answered { name, envelope, .. } if reserved::full(name) == reserved::RECALL => {
                let items = envelope.pointer("/data/items").and_then(Value::as_array);
                for item in items.into_iter().flatten() {
                    if let Some(memory) = told(item, "id") {
                        keep(&mut memories, memory);
                    }
                }
            }
            Event::Notice { value } => {
                if let Some(memory) = told(value, "memoryId") {
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

fn told(item: &Value, id: &str) -> Option<Memory> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let content = text("content")?;
    Some(Memory {
        id: MemoryId::new(text(id)?).ok()?,
        content: content.to_owned(),
        category: text("category").map(str::to_owned),
        holds: matches!(text("status"), None | Some("current")),
        due: text("due").is_some(),
        terms: terms(content).into(),
    })
}

fn sources(context: &Context, memories: &[Memory], leaves: &[Leaf], now: Option<DateTime>) -> Vec<Source> {
    let source = |origin, text: &str, label: Arc<Label>, late, memory| {
        let reading = Reading::new(text, now);
        let terms = reading.terms(&(0..reading.pieces.len())).into();
        Source { origin, reading, label, terms, late, memory }
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
        let label = Label::new(memory.category.as_deref().unwrap_or_default().replace('_', " "));
        let late = if memory.due { 1.0 } else { 0.5 };
        sources.push(source(Origin::Memory, &memory.content, label, late, Some(place)));
    }
    for leaf in leaves {
        if sources.len() >= SOURCES_MAX {
            break;
        }
        let Some(text) = leaf.value.as_str() else { continue };
        let found = source(Origin::Result, text, Arc::clone(&leaf.label), leaf.late, None);
        if found.reading.pieces.len() >= LONG_UNITS_MIN && super::candidates::moment::of_written(text).is_none() {
            sources.push(found);
        }
    }
    sources.truncate(SOURCES_MAX);
    sources
}

#[cfg(test)]
mod tests;
