//! Forgetting: from log, snapshot, index, vectors and pool; and the proof that nothing is left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::share::Pool;
use super::step::Difference;
use super::{Memory, MemoryFault};
use crate::corpus::Corpus as _;
use crate::extract::extract;
use crate::id::UnitId;
use crate::message::Message;
use crate::moment::Moment;
use crate::store::{Purge, Retention, Selection, Snapshot, Sources, StoreError, Transaction, Verification, content_of};
use crate::unit::{ClaimKey, Sequence, Status, Unit};
use crate::verify::{Captures, verify, verify_evidence};

/// The longest text that is looked for, in bytes.
const SOUGHT_BYTES_MAX: usize = 4_096;
/// The most derived units that one purge derives again.
const REDERIVED_MAX: usize = 10_000;

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// What the store did.
    pub purge: Purge,
    /// Derived units that were derived again from the evidence that they still have.
    pub rederived: Vec<UnitId>,
    /// Derived units that could not be, and went too.
    pub dropped: Vec<UnitId>,
    /// The claims of which something went, in order.
    pub claims: Vec<ClaimKey>,
    /// Contributions that were taken out of the pool.
    pub withdrawn: usize,
    /// Contributions that are still to be taken out of the pool, since none was given; [`Memory::settle`] does that.
    pub pending: usize,
    /// Files of the index that could not be removed yet, as where a search still reads them; the next commit removes them.
    pub files_left: usize,
}

/// Where a text was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// In the bytes of a file.
    Bytes {
        /// Which.
        file: PathBuf,
        /// Where, in bytes.
        at: usize,
    },
    /// In a dictionary of the index, where bytes alone do not show it.
    Term {
        /// Which term.
        term: String,
    },
    /// In a file that lies in the folder of the index and is no part of it: its dictionary is not read, so that it is not known to be free of it.
    Stray {
        /// Which.
        file: PathBuf,
    },
    /// In a unit that is in memory.
    Unit {
        /// Which.
        id: UnitId,
    },
    /// In the pool, where anybody of the workspace may have put it.
    Pool(Box<Trace>),
}

/// What a check found to be as it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What the store counted.
    pub store: Verification,
    /// Units that the index has.
    pub indexed: usize,
    /// Units that have a vector on the disk; none: the vectors do not read.
    pub vectors: Option<usize>,
    /// Where index and vectors are not those of the log.
    pub difference: Difference,
    /// Files of the index that are not as they were written.
    pub damaged: Vec<PathBuf>,
    /// What lies in the folder of the index and is no part of it. It may have what was forgotten.
    pub strays: Vec<PathBuf>,
}

impl Checked {
    /// Whether index and vectors have what the log has, and nothing else, and are as they were written.
    #[must_use]
    pub fn is_in_step(&self) -> bool {
        self.faults().is_empty()
    }

    /// What is not as it should be, a line for each; `memory rebuild` mends all of it.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let Difference { not_indexed, indexed_in_vain, without_vector, vectors_in_vain } = self.difference;
        let counts = [
            (not_indexed, "units are not in the index"),
            (indexed_in_vain, "units are in the index that the log does not have"),
            (without_vector, "units have no vector"),
            (vectors_in_vain, "vectors are of what the log does not have any more"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let damaged = self.damaged.iter().map(|file| format!("`{}` is damaged", file.display()));
        let strays = self.strays.iter().map(|file| format!("`{}` is no part of the index", file.display()));
        let vectors = self.vectors.is_none().then(|| "the vectors are damaged".to_owned());
        counts.chain(damaged).chain(strays).chain(vectors).collect()
    }
}

impl Memory {
    /// Removes what is selected, and what rests on it alone, for good. `sources` says whether what was said goes too. The user's own memory
    /// comes first and the pool after it; what the pool was not told, since none was given or the process ended, is kept in mind, and told by
    /// the next of these calls that has a pool, or by [`Memory::settle`].
    ///
    /// # Errors
    /// [`MemoryFault::Unknown`] for a unit that is not there. Else [`MemoryFault`] when nothing was removed, or when the log is purged and what
    /// is derived from it could not follow: opening the memory again makes that anew.
    pub fn forget(
        &self,
        selection: &Selection,
        sources: Sources,
        pool: Option<&Pool>,
        now: &Moment,
    ) -> Result<Forgotten, MemoryFault> {
        let _writing = self.writing();
        let before = self.snapshot();
        if let Selection::Units(ids) = selection
            && let Some(id) = ids.iter().find(|id| before.ordinal(id).is_none())
        {
            return Err(MemoryFault::Unknown { id: *id });
        }
        let purge = self.store.purge(selection, sources, now)?;
        self.after(&before, purge, pool, now)
    }

    /// Removes units and what was said of them, and leaves no mark that refuses the same again.
    pub(super) fn release(&self, ids: &[UnitId], now: &Moment) -> Result<Forgotten, MemoryFault> {
        let _writing = self.writing();
        let before = self.snapshot();
        let purge = self.store.release(ids, now)?;
        self.after(&before, purge, None, now)
    }

    /// Takes what was forgotten out of the pool too, where that was not done yet. Returns how many contributions there were.
    ///
    /// # Errors
    /// [`MemoryFault`] when a disk fails; it is still kept in mind then.
    pub fn settle(&self, pool: &Pool, now: &Moment) -> Result<usize, MemoryFault> {
        let _writing = self.writing();
        self.withdraw_pending(pool, now)
    }

    /// The same for a writer.
    pub(super) fn withdraw_pending(&self, pool: &Pool, now: &Moment) -> Result<usize, MemoryFault> {
        let snapshot = self.snapshot();
        let pending: Vec<String> = snapshot.withdrawals().map(str::to_owned).collect();
        if pending.is_empty() {
            return Ok(0);
        }
        let withdrawn = pool.withdraw(&pending, now)?;
        let mut transaction = Transaction::at(&snapshot);
        transaction.withdraw(&pending);
        self.store.commit(transaction, now)?;
        self.keep_step(snapshot.sequence())?;
        Ok(withdrawn)
    }

    /// Goes on with what a process left that ended in the middle: derived units that a purge had emptied, and messages that nothing was
    /// derived from yet.
    ///
    /// # Errors
    /// As [`Memory::forget`] and [`Memory::capture`].
    pub fn recover(&self, now: &Moment) -> Result<(), MemoryFault> {
        let _writing = self.writing();
        let before = self.snapshot();
        if before.units().any(|(_, unit)| is_withheld(unit)) {
            self.after(&before, Purge { sequence: before.sequence(), ..Purge::default() }, None, now)?;
        }
        let before = self.snapshot().sequence();
        self.derive_pending(now)?;
        self.keep_step(before)
    }

    /// Removes the text of messages and keeps their place in the dialogue.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn redact(&self, ids: &[UnitId], pool: Option<&Pool>, now: &Moment) -> Result<Forgotten, MemoryFault> {
        let _writing = self.writing();
        let before = self.snapshot();
        let purge = self.store.redact(ids, now)?;
        self.after(&before, purge, pool, now)
    }

    /// Removes what its layer does not keep so long, or so many of.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn retain(&self, retention: &Retention, pool: Option<&Pool>, now: &Moment) -> Result<Forgotten, MemoryFault> {
        let _writing = self.writing();
        let before = self.snapshot();
        let purge = self.store.retain(retention, now)?;
        self.after(&before, purge, pool, now)
    }

    /// Removes the sensitive working data of a task that ended.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn end_task(&self, task: &str, pool: Option<&Pool>, now: &Moment) -> Result<Forgotten, MemoryFault> {
        let _writing = self.writing();
        let before = self.snapshot();
        let purge = self.store.end_task(task, now)?;
        self.after(&before, purge, pool, now)
    }

    /// Lets everything that is derived follow a purge.
    fn after(
        &self,
        before: &Snapshot,
        mut purge: Purge,
        pool: Option<&Pool>,
        now: &Moment,
    ) -> Result<Forgotten, MemoryFault> {
        let (rederived, dropped) = self.derive_again(&purge, now)?;
        if !dropped.is_empty() {
            let more = self.store.purge(&Selection::Units(dropped.clone()), Sources::Keep, now)?;
            purge.ordinals.extend(more.ordinals);
            purge.ids.extend(more.ids);
            purge.contributions.extend(more.contributions);
            purge.sequence = more.sequence;
        }
        let snapshot = self.store.snapshot();
        let gone: Vec<u64> = purge.ordinals.iter().chain(&purge.redacted).copied().collect();
        let touched: BTreeSet<u64> =
            snapshot.changed_since(before.sequence()).unwrap_or_default().into_iter().collect();
        let touched: Vec<u64> = touched.into_iter().filter(|ordinal| !gone.contains(ordinal)).collect();
        let mut stale = gone.clone();
        stale.extend(touched.iter().filter(|ordinal| !snapshot.is_captured(**ordinal)));
        let mut derived = self.derived_mut();
        if let Some(vectors) = &mut derived.vectors {
            vectors.drop_units(&stale)?;
        }
        // What a purge withheld may have terms in the index that nothing has any more: it is purged, and put again.
        let purged = derived.index.purge(&stale, snapshot.sequence())?;
        let again: Vec<u64> =
            stale.iter().chain(&touched).copied().filter(|ordinal| snapshot.unit(*ordinal).is_some()).collect();
        drop(derived);
        self.follow(&snapshot, &again)?;
        let mut derived = self.derived_mut();
        derived.speakers.clear();
        derived.names = crate::names::KnownNames::new();
        snapshot.units().for_each(|(_, unit)| derived.learn(unit));
        let files_left = if purged.files_left == 0 { 0 } else { derived.index.collect()? };
        drop(derived);
        let claims: BTreeSet<ClaimKey> =
            gone.iter().filter_map(|ordinal| Some(before.unit(*ordinal)?.claim.as_ref()?.key.clone())).collect();
        let withdrawn = pool.map_or(Ok(0), |pool| self.withdraw_pending(pool, now))?;
        let pending = self.snapshot().withdrawals().count();
        Ok(Forgotten {
            purge,
            rederived,
            dropped,
            claims: claims.into_iter().collect(),
            withdrawn,
            pending,
            files_left,
        })
    }

    /// Derives units again that lost part of what they rest on: those that a purge emptied, this one or one that a kill cut off, and those whose
    /// words do not follow from what is left.
    fn derive_again(&self, purge: &Purge, now: &Moment) -> Result<(Vec<UnitId>, Vec<UnitId>), MemoryFault> {
        let (mut rederived, mut dropped) = (Vec::new(), Vec::new());
        let snapshot = self.store.snapshot();
        let withheld = snapshot.units().filter(|(_, unit)| is_withheld(unit)).map(|(ordinal, _)| ordinal);
        let affected = purge.affected.iter().map(|affected| affected.ordinal).filter(|ordinal| {
            let unit = snapshot.unit(*ordinal).filter(|unit| !is_withheld(unit));
            unit.is_some_and(|unit| verify_evidence(unit, &said(&snapshot, unit)).is_err())
        });
        let wanted: BTreeSet<u64> = withheld.chain(affected).take(REDERIVED_MAX).collect();
        for ordinal in wanted {
            let snapshot = self.store.snapshot();
            let Some(unit) = snapshot.unit(ordinal) else { continue };
            let (id, withheld) = (unit.id, is_withheld(unit));
            let Some(found) = again(&snapshot, unit) else {
                // What has no word of what went stays.
                dropped.extend(withheld.then_some(id));
                continue;
            };
            let mut transaction = Transaction::at(&snapshot);
            transaction.revise(id, content_of(&found));
            match self.store.commit(transaction, now) {
                Ok(_) => rederived.push(id),
                Err(StoreError::Tombstoned { .. } | StoreError::Refused { .. }) => {
                    dropped.extend(withheld.then_some(id));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok((rederived, dropped))
    }

    /// Looks for a text, as it is and as JSON escapes it, in every file of the memory and of what a purge left of an earlier one, in the
    /// dictionaries of its index and in what is in memory. Empty: it is nowhere.
    ///
    /// # Errors
    /// [`MemoryFault::Check`] when a file cannot be read: then it is not known.
    pub fn traces(&self, text: &str) -> Result<Vec<Trace>, MemoryFault> {
        let text = text.get(..text.floor_char_boundary(SOUGHT_BYTES_MAX)).unwrap_or_default();
        let mut traces = Vec::new();
        let derived = self.derived();
        let spellings = spellings(text);
        traces_in(self.store.folder(), &spellings, &mut traces)?;
        for left in self.store.unfinished()? {
            traces_in(&left, &spellings, &mut traces)?;
        }
        let tokens = loopwright_text::tokenize(text);
        let telling: BTreeSet<&str> =
            tokens.iter().filter(|token| !token.stop).map(|token| token.text.as_str()).collect();
        for term in telling {
            if derived.index.holds_term(term)? {
                traces.push(Trace::Term { term: term.to_owned() });
            }
        }
        traces.extend(derived.index.strays()?.into_iter().map(|file| Trace::Stray { file }));
        let snapshot = self.store.snapshot();
        let holding = snapshot.units().filter(|(_, unit)| spellings.iter().any(|text| says(unit, text)));
        traces.extend(holding.map(|(_, unit)| Trace::Unit { id: unit.id }));
        Ok(traces)
    }

    /// [`Memory::traces`], and those in a pool.
    ///
    /// # Errors
    /// As [`Memory::traces`].
    pub fn traces_with(&self, text: &str, pool: Option<&Pool>) -> Result<Vec<Trace>, MemoryFault> {
        let mut traces = self.traces(text)?;
        if let Some(pool) = pool {
            traces.extend(pool.memory().traces(text)?.into_iter().map(|trace| Trace::Pool(Box::new(trace))));
        }
        Ok(traces)
    }

    /// Reads everything again: the log with its checksums, evidence and links, whether every unit follows from what it quotes, the
    /// files of the index with their checksums, and whether index and vectors, as they lie on the disk, are those of the log.
    ///
    /// # Errors
    /// [`MemoryFault::Store`] or [`MemoryFault::Unfounded`] for the first thing that is wrong.
    pub fn check(&self) -> Result<Checked, MemoryFault> {
        let _writing = self.writing();
        let store = self.store.verify()?;
        let snapshot = self.store.snapshot();
        // What a purge withheld says nothing.
        let derived =
            snapshot.units().filter(|(ordinal, unit)| !snapshot.is_captured(*ordinal) && !unit.text.is_empty());
        for (_, unit) in derived {
            verify_evidence(unit, &said(&snapshot, unit))
                .map_err(|source| MemoryFault::Unfounded { id: unit.id, source })?;
        }
        let derived = self.derived();
        let (damaged, strays) = (derived.index.damaged()?, derived.index.strays()?);
        let indexed = derived.index.searcher().rows().len();
        drop(derived);
        let (difference, vectors) = self.difference(&self.store.snapshot())?;
        Ok(Checked { store, indexed, vectors, difference, damaged, strays })
    }
}

/// What a unit rests on.
fn said(snapshot: &Snapshot, unit: &Unit) -> BTreeMap<Sequence, Message> {
    let quoted = unit.evidence.iter().map(|evidence| evidence.sequence);
    quoted.filter_map(|sequence| Some((sequence, snapshot.captured_at(sequence)?.1.as_message()?))).collect()
}

/// The captured message at one place of the log.
struct One<'a> {
    sequence: Sequence,
    message: &'a Message,
}

impl Captures for One<'_> {
    fn message(&self, sequence: Sequence) -> Option<&Message> {
        (sequence == self.sequence).then_some(self.message)
    }
}

/// The unit as the evidence that is left has it: of the same layer and the same claim key.
fn again(snapshot: &Snapshot, unit: &Unit) -> Option<Unit> {
    let mut names = crate::names::KnownNames::new();
    if let Some(claim) = &unit.claim {
        // Whom it is about was known when it was derived.
        names.add(&claim.key.subject, &[]);
    }
    for evidence in &unit.evidence {
        let Some((_, said)) = snapshot.captured_at(evidence.sequence) else { continue };
        let Some(place) = said.place.clone() else { continue };
        let message = Message { place, text: said.text.clone(), mentioned: said.mentioned.clone() };
        let source = said.id;
        for proposal in extract(&message, &names) {
            let key = proposal.claim.as_ref().map(|claim| &claim.key);
            let same = proposal.layer == unit.layer
                && key == unit.claim.as_ref().map(|claim| &claim.key)
                && (key.is_some() || proposal.quote == (evidence.start as usize..evidence.end as usize));
            let one = One { sequence: evidence.sequence, message: &message };
            if same && let Ok(verified) = verify(proposal, evidence.sequence, &one) {
                let mut found = verified.into_unit(unit.id, &message, unit.ingested.clone(), Some(source));
                found.evidence.clone_from(&unit.evidence);
                return Some(found);
            }
        }
    }
    None
}

/// Whether a purge took the unit's text, and it was not derived again yet.
fn is_withheld(unit: &Unit) -> bool {
    unit.status == Status::Candidate && unit.text.is_empty()
}

/// The text as it is, as JSON escapes it, and as JSON inside JSON does.
fn spellings(text: &str) -> Vec<String> {
    let mut spellings = vec![text.to_owned()];
    for _ in 0..2 {
        let escaped = serde_json::to_string(spellings.last().unwrap_or(&String::new())).unwrap_or_default();
        let inner = escaped.get(1..escaped.len().saturating_sub(1)).unwrap_or_default().to_owned();
        if !spellings.contains(&inner) {
            spellings.push(inner);
        }
    }
    spellings.retain(|spelling| !spelling.is_empty());
    spellings
}

fn says(unit: &Unit, text: &str) -> bool {
    let claim = unit.claim.as_ref();
    unit.text.contains(text)
        || claim.is_some_and(|claim| claim.value.contains(text) || claim.key.subject.contains(text))
        || unit.tags.iter().any(|tag| tag.contains(text))
}

fn traces_in(folder: &Path, needles: &[String], traces: &mut Vec<Trace>) -> Result<(), MemoryFault> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| MemoryFault::Check { path, source }
    };
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        if path.is_dir() {
            traces_in(&path, needles, traces)?;
            continue;
        }
        let bytes = std::fs::read(&path).map_err(failed(&path))?;
        let found = |needle: &String| bytes.windows(needle.len()).position(|window| window == needle.as_bytes());
        if let Some(at) = needles.iter().find_map(found) {
            traces.push(Trace::Bytes { file: path, at });
        }
    }
    Ok(())
}
