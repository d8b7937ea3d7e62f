//! How long things are kept. It has no clock: the caller says what time it is.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::memory::Layer;

use super::error::StoreError;
use super::handle::Store;
use super::purge::Purge;
use super::state::State;
use crate::moment::Moment;

/// How long the units of one layer are kept. Without a rule they stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rule {
    /// The most seconds since a unit was mentioned.
    pub age_seconds_max: Option<u64>,
    /// The most units; the newest stay.
    pub count_max: Option<u64>,
}

/// A rule for each layer that has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// The rules.
    pub layers: BTreeMap<Layer, Rule>,
}

impl Store {
    /// Purges what is older, or more, than the rules allow. A message that a unit rests on which stays is not purged before that unit.
    ///
    /// # Errors
    /// As [`Store::purge`].
    pub fn retain(&self, retention: &Retention, now: &Moment) -> Result<Purge, StoreError> {
        self.shared.write(|writer| {
            let gone = overdue(&writer.state, retention, now.seconds());
            self.shared.purge(writer, gone, BTreeSet::new(), now)
        })
    }

    /// Purges the sensitive working data of a task that has ended.
    ///
    /// # Errors
    /// As [`Store::purge`].
    pub fn end_task(&self, task: &str, now: &Moment) -> Result<Purge, StoreError> {
        self.shared.write(|writer| {
            let slots = writer.state.slots();
            let working = slots.filter(|(_, slot)| slot.working.as_deref() == Some(task));
            let gone = working.map(|(ordinal, _)| ordinal).collect();
            self.shared.purge(writer, gone, BTreeSet::new(), now)
        })
    }
}

fn overdue(state: &State, retention: &Retention, now: i64) -> BTreeSet<u64> {
    let mut gone = BTreeSet::new();
    for (layer, rule) in &retention.layers {
        let slots = state.slots().filter(|(_, slot)| slot.unit.layer == *layer);
        let mut said: Vec<(i64, u64)> = slots.map(|(ordinal, slot)| (slot.unit.mentioned.seconds(), ordinal)).collect();
        said.sort_unstable_by(|a, b| b.cmp(a));
        let kept = rule.count_max.map_or(said.len(), |most| usize::try_from(most).unwrap_or(usize::MAX));
        let oldest = rule.age_seconds_max.map(|most| now.saturating_sub(i64::try_from(most).unwrap_or(i64::MAX)));
        let old = |seconds: i64| oldest.is_some_and(|oldest| seconds < oldest);
        let over = said.iter().enumerate().filter(|(place, (seconds, _))| *place >= kept || old(*seconds));
        gone.extend(over.map(|(_, (_, ordinal))| *ordinal));
    }
    spare(state, &mut gone);
    gone
}

/// Takes out of `gone` what units rest on that stay.
fn spare(state: &State, gone: &mut BTreeSet<u64>) {
    loop {
        let mut needed = BTreeSet::new();
        for (_, slot) in state.slots().filter(|(ordinal, slot)| !slot.captured && !gone.contains(ordinal)) {
            let unit = &slot.unit;
            let captures = unit.evidence.iter().filter_map(|evidence| state.captures.get(&evidence.sequence));
            let derived = unit.derived_from.iter().filter_map(|id| state.ids.get(id));
            needed.extend(captures.chain(derived).filter(|ordinal| gone.contains(*ordinal)).copied());
        }
        if needed.is_empty() {
            return;
        }
        gone.retain(|ordinal| !needed.contains(ordinal));
    }
}
