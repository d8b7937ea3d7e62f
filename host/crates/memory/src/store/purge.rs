//! Deletion that deletes: what is purged leaves log, snapshot and memory in one step, and only keyed tombstones stay.
//!
//! The file system frees the old files' blocks; what it or the disk keeps of freed blocks, and back-ups, is out of reach.

use std::collections::BTreeSet;

use super::batch::Batch;
use super::error::{FoldError, StoreError};
use super::event::{Event, Happened, Outcome, Purged, Tombstone};
use super::files::remove_tree;
use super::handle::{ASIDE, Shared, Store, Writer, remove_image};
use super::limits::PURGED_PER_RECORD_MAX;
use super::plan::Plan;
use super::scrub;
use super::state::State;
use crate::id::UnitId;
use crate::moment::Moment;
use crate::unit::{ClaimKey, Sequence};
use loopwright_contract::memory::Layer;

/// Links of outcomes in one record of a purge: as many as fit beside everything else.
const LINKS_PER_RECORD_MAX: usize = 10_000;

/// What is to be purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// These units.
    Units(Vec<UnitId>),
    /// All units that say something of a claim, whatever their status.
    Claim(ClaimKey),
    /// All units that were mentioned from a moment on and before another, in seconds since 1970.
    Mentioned {
        /// The first second.
        from: i64,
        /// The second after the last.
        until: i64,
    },
}

/// What becomes of the messages that purged units rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    /// They stay: what was derived is forgotten, what was said is not.
    Keep,
    /// They go too, and with them all else that rests on them alone. To forget a fact means this.
    Purge,
}

/// A unit that lost part of what it rests on, and stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    /// Its number.
    pub ordinal: u64,
    /// Its id.
    pub id: UnitId,
    /// Its layer.
    pub layer: Layer,
    /// Its text had words that only what was purged has. It is a candidate without text until it is revised, and then is to be derived again
    /// from the evidence that it still has.
    pub withheld: bool,
}

/// What a purge did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Purge {
    /// The last record.
    pub sequence: Sequence,
    /// The numbers of the units that are gone, in order: what an index must drop.
    pub ordinals: Vec<u64>,
    /// Their ids, in the same order.
    pub ids: Vec<UnitId>,
    /// The numbers of the messages whose text is gone and whose place is kept.
    pub redacted: Vec<u64>,
    /// The units that lost part of what they rest on.
    pub affected: Vec<Affected>,
    /// Units that are current again, since only units that said the same had taken their place.
    pub revived: Vec<UnitId>,
    /// Contributions to the pool that were made of what is gone or affected, and are to be taken out of it; until that is noted, they are
    /// [`Snapshot::withdrawals`](super::Snapshot::withdrawals).
    pub contributions: Vec<String>,
}

impl Store {
    /// Purges units, and with them all that rests on them alone. When this returns, no file of the store has their content any more, and
    /// capture, import and derivation do not bring it back: only a new message of the user, at a new place and a later time, does.
    ///
    /// Units that rested on them in part lose that evidence. Units whose place a purged one had taken stay superseded, by what is no longer
    /// known, unless the purged ones said the same; see [`Purge::revived`].
    ///
    /// # Errors
    /// [`StoreError::Refused`] for an unknown unit, [`StoreError::Io`] when the disk refuses; nothing is changed then.
    /// [`StoreError::Leftover`] when the purge is done and holds, but an old file is still there; it is removed at the next opening.
    pub fn purge(&self, selection: &Selection, sources: Sources, now: &Moment) -> Result<Purge, StoreError> {
        self.shared.write(|writer| {
            let gone = select(&writer.state, selection, sources)?;
            self.shared.purge(writer, gone, BTreeSet::new(), now)
        })
    }

    /// Purges units as [`Store::purge`] does with what was said, and leaves no tombstone: the same may be kept again. For a store whose giver
    /// decides what comes in, such as the pool, where the same words may be another giver's too.
    ///
    /// # Errors
    /// As [`Store::purge`].
    pub fn release(&self, ids: &[UnitId], now: &Moment) -> Result<Purge, StoreError> {
        self.shared.write(|writer| {
            let gone = select(&writer.state, &Selection::Units(ids.to_vec()), Sources::Purge)?;
            self.shared.purge_marked(writer, gone, BTreeSet::new(), false, now)
        })
    }

    /// Removes the text of messages and keeps their place in the dialogue. What was derived from them is purged as by [`Store::purge`].
    ///
    /// # Errors
    /// As [`Store::purge`]; also for a unit that is no captured message.
    pub fn redact(&self, ids: &[UnitId], now: &Moment) -> Result<Purge, StoreError> {
        self.shared.write(|writer| {
            let mut redacted = BTreeSet::new();
            for id in ids {
                let ordinal = writer.state.ordinal_of(*id)?;
                let slot = writer.state.slot(ordinal).ok_or(FoldError::Unknown { id: *id })?;
                if !slot.captured {
                    let (id, status) = (*id, slot.unit.status);
                    return Err(FoldError::Status { id, status, verb: "redacted" }.into());
                }
                redacted.insert(ordinal);
            }
            self.shared.purge(writer, BTreeSet::new(), redacted, now)
        })
    }
}

fn select(state: &State, selection: &Selection, sources: Sources) -> Result<BTreeSet<u64>, FoldError> {
    let mut gone: BTreeSet<u64> = match selection {
        Selection::Units(ids) => ids.iter().map(|id| state.ordinal_of(*id)).collect::<Result<_, _>>()?,
        Selection::Claim(key) => {
            state.claims.get(key).map(|claims| claims.members.iter().copied().collect()).unwrap_or_default()
        }
        Selection::Mentioned { from, until } => {
            let said = state.slots().filter(|(_, slot)| (*from..*until).contains(&slot.unit.mentioned.seconds()));
            said.map(|(ordinal, _)| ordinal).collect()
        }
    };
    if sources == Sources::Purge {
        let evidence = gone.iter().filter_map(|ordinal| state.unit(*ordinal)).flat_map(|unit| &unit.evidence);
        let captures: Vec<u64> =
            evidence.filter_map(|evidence| state.captures.get(&evidence.sequence).copied()).collect();
        gone.extend(captures);
    }
    Ok(gone)
}

/// Outcomes in runs that fit into one record each.
fn in_records(outcomes: Vec<Outcome>) -> Vec<Vec<Outcome>> {
    let mut runs: Vec<Vec<Outcome>> = Vec::new();
    let mut links = 0;
    for outcome in outcomes {
        links += outcome.supersedes.len() + outcome.conflicts.len();
        match runs.last_mut() {
            Some(run) if run.len() < PURGED_PER_RECORD_MAX && links <= LINKS_PER_RECORD_MAX => run.push(outcome),
            _ => {
                links = outcome.supersedes.len() + outcome.conflicts.len();
                runs.push(vec![outcome]);
            }
        }
    }
    runs
}

fn purged_events(ordinals: u64, tombstones: &[Tombstone], outcomes: Vec<Outcome>) -> Vec<Event> {
    let graves = tombstones.chunks(PURGED_PER_RECORD_MAX).map(|chunk| (chunk.to_vec(), Vec::new()));
    let links = in_records(outcomes).into_iter().map(|run| (Vec::new(), run));
    let mut parts: Vec<_> = graves.chain(links).collect();
    if parts.is_empty() {
        // That something was purged is told in any case.
        parts.push(<_>::default());
    }
    let event = |(tombstones, outcomes)| Event::Purged(Purged { ordinals, tombstones, outcomes });
    parts.into_iter().map(event).collect()
}

impl Shared {
    pub(super) fn purge(
        &self,
        writer: &mut Writer,
        gone: BTreeSet<u64>,
        redacted: BTreeSet<u64>,
        now: &Moment,
    ) -> Result<Purge, StoreError> {
        self.purge_marked(writer, gone, redacted, true, now)
    }

    /// A purge; `marked`: with tombstones.
    fn purge_marked(
        &self,
        writer: &mut Writer,
        gone: BTreeSet<u64>,
        redacted: BTreeSet<u64>,
        marked: bool,
        now: &Moment,
    ) -> Result<Purge, StoreError> {
        let before = writer.state.clone();
        if gone.is_empty() && redacted.is_empty() {
            return Ok(Purge { sequence: before.sequence, ..Purge::default() });
        }
        let mut plan = Plan::of(&before, gone, redacted);
        let contributions = contributions(&before, &plan);
        let mut state = before.clone();
        let first = before.sequence + 1;
        let outcomes = plan.carry_out(&mut state, first)?;
        let made_of = std::mem::take(&mut state.contributions).into_iter();
        let stays = |of: Vec<UnitId>| if of.iter().any(|id| plan.changes(&before, id)) { Vec::new() } else { of };
        state.contributions = made_of.map(|(id, of)| (id, stays(of))).collect();
        let tombstones = if marked { plan.tombstones(&before, now.seconds()) } else { Vec::new() };
        let mut batch = Batch::new(&state, now);
        for event in purged_events(before.ordinals(), &tombstones, outcomes) {
            batch.push(event)?;
        }
        for ordinal in &plan.redacted {
            let id = UnitId::of(&before.key, *ordinal);
            batch.push(Event::Redacted(Happened { id, at: now.clone() }))?;
        }
        self.rewrite(writer, &before, &plan, &batch, now)?;
        let report = report(&before, &plan, batch.state.sequence, contributions);
        self.publish(writer, batch.state);
        self.clear(writer)?;
        Ok(report)
    }

    fn rewrite(
        &self,
        writer: &mut Writer,
        before: &State,
        plan: &Plan,
        batch: &Batch,
        now: &Moment,
    ) -> Result<(), StoreError> {
        let first = before.sequence + 1;
        let log = &mut writer.log;
        let (limit, folder) = (log.sizes.batch_bytes_max, log.folder.clone());
        log.rewrite_or_sweep(&mut |listed, old, last| {
            let new = plan.segment(before, &folder, listed, old)?;
            if last {
                let bytes = scrub::with_batch(old, new, &batch.lines, first, now.seconds(), limit)?;
                return Ok(Some(bytes));
            }
            Ok(new)
        })?;
        log.last = batch.state.sequence;
        Ok(())
    }

    /// Removes all files that show what was purged.
    fn clear(&self, writer: &mut Writer) -> Result<(), StoreError> {
        remove_image(self.files.as_ref(), &self.folder)?;
        writer.log.sweep()?;
        let aside = self.folder.join(ASIDE);
        remove_tree(self.files.as_ref(), &aside).map_err(|source| StoreError::Leftover { path: aside, source })?;
        let synced = self.files.sync_folder(&self.folder);
        synced.map_err(|source| StoreError::Leftover { path: self.folder.clone(), source })?;
        if let Err(error) = self.checkpoint(writer) {
            tracing::warn!(error = &error as &dyn std::error::Error, "no snapshot was written");
        }
        Ok(())
    }
}

/// The contributions that were made of something that goes, or that loses part of what it rests on.
fn contributions(state: &State, plan: &Plan) -> Vec<String> {
    let silent = |id: &UnitId| plan.changes(state, id);
    let made_of = state.contributions.iter().filter(|(_, of)| of.iter().any(silent));
    made_of.map(|(id, _)| id.clone()).collect()
}

fn report(state: &State, plan: &Plan, sequence: Sequence, contributions: Vec<String>) -> Purge {
    let affected = plan.affected.iter().filter_map(|(ordinal, withheld)| {
        let unit = state.unit(*ordinal)?;
        Some(Affected { ordinal: *ordinal, id: unit.id, layer: unit.layer, withheld: *withheld })
    });
    Purge {
        sequence,
        ordinals: plan.gone.iter().copied().collect(),
        ids: plan.gone.iter().map(|ordinal| UnitId::of(&state.key, *ordinal)).collect(),
        redacted: plan.redacted.iter().copied().collect(),
        affected: affected.collect(),
        revived: plan.revived.clone(),
        contributions,
    }
}
