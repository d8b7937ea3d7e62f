//! The table of families, one file for each part of the phone.

mod calendar;
mod clock;
mod devices;
mod display;
mod guard;
mod hotspot;
mod memory;
mod messages;
mod net;
mod office;
mod people;
mod power;
mod radio;
mod recall;
mod remind;
mod settings;
mod sound;
mod timers;

use super::PhrasingSet;
use super::draw::{Draw, Tongue};
use super::plan::Plan;

/// How a request can be said: the first four are used in tasks, the last two are kept back.
pub(super) struct Phrases {
    en: [&'static str; PHRASINGS],
    zh: [&'static str; PHRASINGS],
}

const PHRASINGS: usize = 6;
const SEEN: usize = 4;

impl Phrases {
    pub(super) fn of(&self, tongue: Tongue, set: PhrasingSet) -> &[&'static str] {
        let all = match tongue {
            Tongue::English => &self.en,
            Tongue::Chinese => &self.zh,
        };
        let (seen, unseen) = all.split_at(SEEN);
        match set {
            PhrasingSet::Seen => seen,
            PhrasingSet::Unseen => unseen,
        }
    }
}

/// Tasks that differ in parameters only.
pub(super) struct Family {
    /// In the kebab case; its split follows from it.
    pub(super) name: &'static str,
    pub(super) category: &'static str,
    /// Usually one; a family whose instances say different things has several.
    pub(super) phrases: &'static [Phrases],
    pub(super) plan: fn(&mut Draw) -> Plan,
}

/// The categories.
mod category {
    pub(super) const SINGLE: &str = "single";
    pub(super) const QUERY: &str = "query";
    pub(super) const ORDERED: &str = "ordered";
    pub(super) const PARALLEL: &str = "parallel";
    pub(super) const CONDITIONAL: &str = "conditional";
    pub(super) const CONFLICT: &str = "conflict";
    pub(super) const CROSS_APP: &str = "cross_app";
    pub(super) const MISSING: &str = "missing_information";
    pub(super) const REFUSE: &str = "must_refuse";
    pub(super) const CONFIRM: &str = "confirmation";
    pub(super) const SKILL: &str = "skill";
    pub(super) const MEMORY: &str = "memory";
}

/// Every family, in the order of the pack.
pub(super) fn all() -> impl Iterator<Item = &'static Family> {
    [
        net::FAMILIES,
        hotspot::FAMILIES,
        radio::FAMILIES,
        display::FAMILIES,
        sound::FAMILIES,
        power::FAMILIES,
        settings::FAMILIES,
        clock::FAMILIES,
        timers::FAMILIES,
        calendar::FAMILIES,
        people::FAMILIES,
        messages::FAMILIES,
        office::FAMILIES,
        devices::FAMILIES,
        guard::FAMILIES,
        recall::FAMILIES,
        memory::FAMILIES,
        remind::FAMILIES,
    ]
    .into_iter()
    .flatten()
}
