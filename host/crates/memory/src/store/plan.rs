//! What a purge takes with it. It knows no file: from a state and what is to go, it makes the state without it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use loopwright_text::tokenize;

use super::error::FoldError;
use super::event::{Content, Outcome, Tombstone};
use super::mark::Mark;
use super::state::{Slot, State, content_of};
use crate::id::UnitId;
use crate::unit::{Activation, Confidence, Sequence, Status};

/// Why a unit whose text was withheld is not sure.
const WITHHELD: &str = "part of its evidence was purged";
/// Words are compared by as many characters, so that other forms of a purged word count as that word.
const STEM_CHARS: usize = 5;

/// What is to go, and what that means for the rest.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The numbers of the units that go.
    pub(super) gone: BTreeSet<u64>,
    /// Their ids.
    pub(super) gone_ids: HashSet<UnitId>,
    /// The messages whose text goes and whose place stays.
    pub(super) redacted: BTreeSet<u64>,
    /// The records of the messages whose text goes.
    pub(super) silenced: HashSet<Sequence>,
    /// Units that lose part of what they rest on; whether their text is withheld.
    pub(super) affected: BTreeMap<u64, bool>,
    /// Units that say themselves what took their place, and are current again.
    pub(super) revived: Vec<UnitId>,
    /// Texts of what goes, by what evidence and derivation name.
    texts: BTreeMap<Sequence, String>,
    derived_texts: BTreeMap<UnitId, String>,
}

impl Plan {
    /// Follows provenance from `gone` and `redacted` to everything that must go with them.
    pub(super) fn of(state: &State, gone: BTreeSet<u64>, redacted: BTreeSet<u64>) -> Self {
        let mut plan = Self { gone, redacted, ..Self::default() };
        loop {
            plan.note(state);
            plan.affected.clear();
            let mut more = BTreeSet::new();
            for (ordinal, slot) in state.slots() {
                if slot.captured || plan.gone.contains(&ordinal) {
                    continue;
                }
                let content = content_of(&slot.unit);
                if !plan.touches(&content) {
                    continue;
                }
                let withheld = plan.leaks(state, &content) || content.text.is_empty();
                if plan.bereaves(&content) || (withheld && !is_live(slot.unit.status)) {
                    more.insert(ordinal);
                } else {
                    plan.affected.insert(ordinal, withheld);
                }
            }
            if more.is_empty() {
                return plan;
            }
            plan.gone.extend(more);
        }
    }

    /// Notes ids, records and texts of what goes.
    fn note(&mut self, state: &State) {
        for ordinal in self.gone.iter().chain(&self.redacted) {
            let Some(slot) = state.slot(*ordinal) else { continue };
            if slot.captured {
                self.silenced.insert(slot.sequence);
                self.texts.insert(slot.sequence, slot.unit.text.clone());
            } else {
                self.derived_texts.insert(slot.unit.id, spoken(&content_of(&slot.unit)).join("\n"));
            }
            if self.gone.contains(ordinal) {
                self.gone_ids.insert(slot.unit.id);
            }
        }
    }

    /// Whether content rests on something that goes.
    pub(super) fn touches(&self, content: &Content) -> bool {
        content.evidence.iter().any(|evidence| self.silenced.contains(&evidence.sequence))
            || content.derived_from.iter().any(|id| self.gone_ids.contains(id))
    }

    /// Whether a unit goes, loses its text or loses part of what it rests on.
    pub(super) fn changes(&self, before: &State, id: &UnitId) -> bool {
        let changed = |ordinal: &u64| self.redacted.contains(ordinal) || self.affected.contains_key(ordinal);
        self.gone_ids.contains(id) || before.ids.get(id).is_some_and(changed)
    }

    /// Whether nothing is left that content rests on.
    fn bereaves(&self, content: &Content) -> bool {
        let evidence = content.evidence.iter().any(|evidence| !self.silenced.contains(&evidence.sequence));
        let derived = content.derived_from.iter().any(|id| !self.gone_ids.contains(id));
        !evidence || (!content.derived_from.is_empty() && !derived)
    }

    /// Whether content has a word that it can only have from what goes: one that a purged text has and none of the texts that stay.
    fn leaks(&self, state: &State, content: &Content) -> bool {
        let mut purged = BTreeSet::new();
        for evidence in &content.evidence {
            purged.extend(self.texts.get(&evidence.sequence).into_iter().flat_map(|text| stems(text)));
        }
        for id in &content.derived_from {
            purged.extend(self.derived_texts.get(id).into_iter().flat_map(|text| stems(text)));
        }
        for evidence in content.evidence.iter().filter(|evidence| !self.silenced.contains(&evidence.sequence)) {
            let stays = state.captured_at(evidence.sequence).map(|(_, slot)| stems(&slot.unit.text));
            for stem in stays.unwrap_or_default() {
                purged.remove(&stem);
            }
        }
        spoken(content).iter().any(|text| stems(text).iter().any(|stem| purged.contains(stem)))
    }

    /// Takes out of content what it has from what goes.
    pub(super) fn scrub(&self, state: &State, content: &Content) -> Content {
        let mut left = content.clone();
        if self.leaks(state, content) {
            left.text.clear();
            left.category = None;
            left.tags.clear();
            left.claim = None;
            left.event = None;
            left.confidence = Confidence { thousandths: 0, reason: WITHHELD.to_owned() };
            left.activation = content.activation.as_ref().map(|activation| Activation {
                due: None,
                condition: None,
                valid_until: None,
                fired: activation.fired.clone(),
                completed: activation.completed.clone(),
            });
        }
        left.evidence.retain(|evidence| !self.silenced.contains(&evidence.sequence));
        left.derived_from.retain(|id| !self.gone_ids.contains(id));
        left
    }

    /// What stands for the units that go.
    pub(super) fn tombstones(&self, state: &State, now: i64) -> Vec<Tombstone> {
        let slots = self.gone.iter().chain(&self.redacted).filter_map(|ordinal| state.slot(*ordinal));
        let of = |slot: &std::sync::Arc<Slot>| Tombstone {
            // Of a redacted message the text was marked when it was redacted.
            text: if slot.unit.text.is_empty() { slot.identity } else { Mark::of_text(&state.key, &slot.unit.text) },
            identity: slot.identity,
            until: Some(slot.unit.mentioned.seconds()).filter(|said| *said > now),
        };
        slots.map(of).collect()
    }

    /// Takes everything out of a state that goes, and returns how the units stand that were linked to it.
    pub(super) fn carry_out(&mut self, state: &mut State, sequence: Sequence) -> Result<Vec<Outcome>, FoldError> {
        let before = state.clone();
        for ordinal in &self.gone {
            state.remove(*ordinal);
        }
        let mut withheld = Vec::new();
        for (ordinal, hidden) in &self.affected {
            let Some(unit) = before.unit(*ordinal) else { continue };
            if *hidden {
                state.leave_conflicts(*ordinal, sequence);
                withheld.push((*ordinal, unit.conflicts.clone()));
            }
            let content = self.scrub(&before, &content_of(unit));
            let identity = Mark::of_content(&state.key, &content);
            state.replace_content(*ordinal, content, identity, sequence);
        }
        let mut linked = self.linked(&before);
        linked.extend(self.affected.keys());
        let freed = withheld.iter().flat_map(|(_, conflicts)| conflicts);
        linked.extend(freed.filter_map(|id| state.ids.get(id)));
        linked.retain(|ordinal| state.slot(*ordinal).is_some());
        for ordinal in &linked {
            self.relink(&before, state, *ordinal);
        }
        // Successors that took over a purged unit's predecessors are among those whose links changed.
        let outcomes = linked.iter().chain(self.successors(&before, &linked).iter()).copied().collect::<BTreeSet<_>>();
        Ok(outcomes.into_iter().filter_map(|ordinal| self.outcome(state, ordinal)).collect())
    }

    /// The units that have a link to one that goes.
    fn linked(&self, state: &State) -> BTreeSet<u64> {
        let goes = |id: &UnitId| self.gone_ids.contains(id);
        let linked = state.slots().filter(|(_, slot)| {
            let unit = &slot.unit;
            unit.superseded_by.iter().any(goes) || unit.supersedes.iter().any(goes) || unit.conflicts.iter().any(goes)
        });
        linked.map(|(ordinal, _)| ordinal).collect()
    }

    fn successors(&self, before: &State, linked: &BTreeSet<u64>) -> BTreeSet<u64> {
        let units = linked.iter().filter_map(|ordinal| before.unit(*ordinal));
        units.filter_map(|unit| self.successor(before, unit.superseded_by?).0).collect()
    }

    /// The first unit from `id` on, along what took its place, that stays; and the units that go before it.
    fn successor(&self, before: &State, id: UnitId) -> (Option<u64>, Vec<u64>) {
        let (mut next, mut passed) = (Some(id), Vec::new());
        while let Some(ordinal) = next.and_then(|id| before.ids.get(&id).copied()) {
            if !self.gone.contains(&ordinal) {
                return (Some(ordinal), passed);
            }
            passed.push(ordinal);
            next = before.unit(ordinal).and_then(|unit| unit.superseded_by);
        }
        (None, passed)
    }

    /// Puts a unit's links right. What only a purged unit had replaced stays replaced: the user had said that it no longer holds, and the
    /// purge does not make it hold again. It is current again only if all that replaced it said the same as it does, and nothing else is
    /// current in its claim.
    fn relink(&mut self, before: &State, state: &mut State, ordinal: u64) {
        let Some(old) = before.unit(ordinal) else { return };
        let replaced = old.superseded_by.filter(|id| self.gone_ids.contains(id));
        let (successor, passed) = replaced.map(|id| self.successor(before, id)).unwrap_or_default();
        let same = replaced.is_some()
            && successor.is_none()
            && passed.iter().all(|gone| {
                let claims = before.unit(*gone).and_then(|unit| unit.claim.as_ref()).zip(old.claim.as_ref());
                claims.is_some_and(|(gone, own)| gone == own)
            });
        let free = old.claim.as_ref().and_then(|claim| state.claims.get(&claim.key)).is_some_and(|claims| {
            claims.members.iter().all(|member| state.unit(*member).is_none_or(|unit| !unit.status.is_current()))
        });
        let id = old.id;
        let new = successor.and_then(|ordinal| state.unit(ordinal)).map(|unit| unit.id);
        let withheld = self.affected.get(&ordinal).copied().unwrap_or_default();
        let Some(slot) = state.slot_mut(ordinal) else { return };
        let unit = &mut slot.unit;
        unit.supersedes.retain(|id| !self.gone_ids.contains(id));
        unit.conflicts.retain(|id| !self.gone_ids.contains(id));
        if unit.status == Status::Contested && unit.conflicts.is_empty() {
            unit.status = Status::Verified;
        }
        if withheld {
            unit.status = Status::Candidate;
        }
        if replaced.is_some() {
            unit.superseded_by = new;
            if same && free {
                unit.status = Status::Verified;
                self.revived.push(id);
            }
        }
        if let Some(slot) = successor.and_then(|ordinal| state.slot_mut(ordinal)) {
            // Past the limit the link is one-sided, which says less and nothing wrong.
            super::check::link(&mut slot.unit.supersedes, id).ok();
        }
    }

    fn outcome(&self, state: &State, ordinal: u64) -> Option<Outcome> {
        let unit = state.unit(ordinal)?;
        Some(Outcome {
            ordinal,
            status: unit.status,
            supersedes: unit.supersedes.clone(),
            superseded_by: unit.superseded_by,
            conflicts: unit.conflicts.clone(),
        })
    }
}

/// Whether a unit is one that is, or may be, shown.
fn is_live(status: Status) -> bool {
    status.is_current() || status == Status::Candidate
}

/// The texts of content that somebody might read.
fn spoken(content: &Content) -> Vec<&str> {
    let mut texts = vec![content.text.as_str(), content.confidence.reason.as_str()];
    texts.extend(content.category.as_deref());
    texts.extend(content.tags.iter().map(String::as_str));
    if let Some(claim) = &content.claim {
        texts.extend([claim.key.subject.as_str(), claim.value.as_str()]);
        texts.extend(claim.key.qualifier.as_deref());
    }
    texts.extend(content.activation.as_ref().and_then(|activation| activation.condition.as_deref()));
    texts
}

/// The beginnings of a text's words, and its Han characters alone and in pairs; no stop words.
fn stems(text: &str) -> BTreeSet<String> {
    let tokens = tokenize(text).into_iter().filter(|token| !token.stop);
    tokens.map(|token| token.text.chars().take(STEM_CHARS).collect()).collect()
}
