//! What a context offers, read once for all decisions that offer the same: tools, skills, and how rare their words are. It knows no request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use loopwright_contract::action::ActionSpace;
use loopwright_contract::context::Context;
use loopwright_contract::name::{Lang, SkillName};
use loopwright_contract::skill::SkillCard;
use loopwright_contract::tool::localized;

use super::choice::Bag;
use super::grams::{Grams, terms};
use super::spec::Offer;
use super::specs::Specs;

/// Tools that are looked at, in the order in which they are offered.
pub(super) const OFFERS_MAX: usize = 48;
/// Skills that can be loaded.
pub(super) const SKILLS_MAX: usize = 16;
/// Spaces that are kept; when there are more, all are read again.
pub(super) const SPACES_MAX: usize = 256;
/// The weight of a term that no offered tool has.
const UNKNOWN_WEIGHT: f32 = 1.0;

/// A skill that can be loaded.
#[derive(Debug, Clone)]
pub(super) struct Card {
    /// Its name.
    pub(super) name: SkillName,
    /// Its words.
    pub(super) bag: Bag,
    /// Their terms.
    pub(super) terms: Arc<[u64]>,
    /// The share of the offered tools that it is about.
    pub(super) about: f32,
}

/// What is offered.
#[derive(Debug)]
pub(super) struct Offered {
    /// The offered tools that can be called, each with its place by recall.
    pub(super) offers: Vec<(usize, Arc<Offer>)>,
    /// The skills that can be loaded.
    pub(super) cards: Vec<Card>,
    /// The weight of each offered tool's terms together.
    pub(super) totals: Vec<f32>,
    /// The offered tools' terms in ascending order, each with its weight.
    weights: Vec<(u64, f32)>,
}

impl Offered {
    /// Reads what a context offers.
    fn new(specs: &Specs, context: &Context) -> Self {
        let chinese = is_chinese(&context.lang);
        let tools = context.space.tools.iter().take(OFFERS_MAX).enumerate();
        let offers: Vec<(usize, Arc<Offer>)> =
            tools.filter_map(|(place, spec)| Some((place, specs.read(spec, chinese)?))).collect();
        let cards = cards(context, &offers);
        let mut offered = Self { weights: weights(&offers), totals: Vec::new(), cards, offers };
        offered.totals = offered.offers.iter().map(|(_, offer)| offered.sum(offer.terms.iter().copied())).collect();
        offered
    }

    /// The weight of a term: the rarer among the offered tools, the more.
    pub(super) fn weight(&self, term: u64) -> f32 {
        let found = self.weights.binary_search_by_key(&term, |(known, _)| *known);
        found.ok().and_then(|place| self.weights.get(place)).map_or(UNKNOWN_WEIGHT, |(_, weight)| *weight)
    }

    /// The weight of some terms together.
    pub(super) fn sum(&self, terms: impl Iterator<Item = u64>) -> f32 {
        terms.map(|term| self.weight(term)).sum()
    }
}

/// Whether a language is read as Chinese.
pub(super) fn is_chinese(lang: &Lang) -> bool {
    lang.as_str().starts_with("zh")
}

#[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
fn weights(offers: &[(usize, Arc<Offer>)]) -> Vec<(u64, f32)> {
    let mut counts: BTreeMap<u64, u16> = BTreeMap::new();
    for term in offers.iter().flat_map(|(_, offer)| offer.terms.iter()) {
        *counts.entry(*term).or_default() += 1;
    }
    let all = offers.len() as f32;
    let weight = |count: u16| ((1.0 + all) / (0.5 + f32::from(count))).ln().max(0.05);
    counts.into_iter().map(|(term, count)| (term, weight(count))).collect()
}

fn cards(context: &Context, offers: &[(usize, Arc<Offer>)]) -> Vec<Card> {
    let card = |card: &SkillCard| {
        let name = card.name.as_str().replace('-', " ");
        let summary = localized(&card.summary, &context.lang).unwrap_or_default();
        let all: String = card.summary.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n");
        let about = offers.iter().filter(|(_, offer)| card.about.contains(&offer.name)).count();
        Card {
            name: card.name.clone(),
            bag: Grams::default().text(&name).text(summary).bag(),
            terms: terms(&format!("{name}\n{all}")).into(),
            #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
            about: about as f32 / offers.len().max(1) as f32,
        }
    };
    context.space.skills.iter().take(SKILLS_MAX).map(card).collect()
}

/// Spaces that were read before, in the language of those who asked.
#[derive(Debug, Default)]
pub(super) struct Spaces(Mutex<Vec<Space>>);

/// A space in a language, with what it offers.
type Space = (Arc<ActionSpace>, Lang, Arc<Offered>);

impl Spaces {
    /// What a context offers.
    pub(super) fn read(&self, specs: &Specs, context: &Context) -> Arc<Offered> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_lang = || known.iter().filter(|(_, lang, _)| *lang == context.lang);
        // Episodes mostly share what they offer, and then nothing needs to be compared.
        let same = of_lang().find(|(space, ..)| Arc::ptr_eq(space, &context.space));
        let same = same.or_else(|| of_lang().find(|(space, ..)| *space == context.space));
        if let Some((.., offered)) = same {
            return Arc::clone(offered);
        }
        drop(known);
        let offered = Arc::new(Offered::new(specs, context));
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SPACES_MAX {
            known.clear();
        }
        known.push((Arc::clone(&context.space), context.lang.clone(), Arc::clone(&offered)));
        offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointer::testing::{context, english};

    #[test]
    fn what_is_offered_is_read_once_and_by_its_content() {
        let specs = Specs::new();
        let first = specs.offered(&english("Turn on the lamp"));
        assert!(Arc::ptr_eq(&first, &specs.offered(&english("Wake me"))));
        assert!(!Arc::ptr_eq(&first, &specs.offered(&context(Lang::chinese(), "开灯"))));
        let mut fewer = english("Turn on the lamp");
        Arc::make_mut(&mut fewer.space).tools.truncate(1);
        assert_eq!(specs.offered(&fewer).offers.len(), 1);
        assert_eq!(specs.offered(&english("")).offers.len(), first.offers.len());
    }

    #[test]
    fn no_more_than_the_limit_are_kept() {
        let specs = Specs::new();
        for number in 0..=SPACES_MAX {
            let mut context = english("");
            let space = Arc::make_mut(&mut context.space);
            space.tools.truncate(1);
            space.tools[0].domain = format!("domain_{number}");
            assert_eq!(specs.offered(&context).offers.len(), 1);
        }
        assert_eq!(specs.spaces().0.lock().expect("a lock").len(), 1);
    }
}
