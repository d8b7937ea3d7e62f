//! Reading what an export wrote: all of it or nothing. Whoever wrote the file is not trusted.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read as _};

use super::batch::Batch;
use super::error::StoreError;
use super::event::{Contested, Derived, Event, Happened, Replaced};
use super::export::{EXPORT_FORMAT, EXPORT_VERSION, First, Row};
use super::handle::Store;
use super::limits::RECORD_BYTES_MAX;
use super::state::content_of;
use super::transaction::{At, Capture, Kept};
use crate::id::UnitId;
use crate::message::Message;
use crate::moment::Moment;
use crate::unit::{Confidence, Sequence, Status, Trust, Unit};
use crate::verify::{Rejection, derive_again};
use loopwright_contract::memory::Layer;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Units that are new here.
    pub added: Vec<At>,
    /// How many were here already.
    pub known: u64,
    /// The lines, from 1, of units that were purged here, or rest on such, and were left out.
    pub purged: Vec<u64>,
}

fn refuse(line: u64, reason: impl Into<String>) -> StoreError {
    StoreError::Import { line, reason: reason.into() }
}

/// Reads lines, each within its limit and all together within theirs.
struct Lines<'a> {
    from: &'a mut dyn BufRead,
    number: u64,
    left: u64,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.number += 1;
        let mut line = Vec::new();
        let most = (RECORD_BYTES_MAX as u64 + 1).min(self.left.saturating_add(1));
        let read = (&mut *self.from).take(most).read_until(b'\n', &mut line);
        read.map_err(|error| refuse(self.number, format!("it cannot be read: {error}")))?;
        if line.is_empty() {
            return Ok(None);
        }
        let Some(left) = self.left.checked_sub(line.len() as u64) else {
            return Err(refuse(self.number, "the file is longer than an import may be"));
        };
        self.left = left;
        if line.pop_if(|byte| *byte == b'\n').is_none() && line.len() > RECORD_BYTES_MAX {
            return Err(refuse(self.number, format!("it has more than {RECORD_BYTES_MAX} bytes")));
        }
        Ok(Some(line))
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, line: &[u8]) -> Result<T, StoreError> {
        serde_json::from_slice(line).map_err(|error| refuse(self.number, error.to_string()))
    }
}

fn read(from: &mut dyn BufRead, bytes_max: u64) -> Result<Vec<(u64, Row)>, StoreError> {
    let mut lines = Lines { from, number: 0, left: bytes_max };
    let Some(line) = lines.next()? else { return Err(refuse(1, "the file is empty")) };
    let first: First = lines.parse(&line)?;
    if first.format != EXPORT_FORMAT || first.version != EXPORT_VERSION {
        let found = format!("`{}` version {}", first.format.chars().take(64).collect::<String>(), first.version);
        return Err(refuse(1, format!("the format is {found}: expected `{EXPORT_FORMAT}` version {EXPORT_VERSION}")));
    }
    let mut rows = Vec::new();
    while let Some(line) = lines.next()? {
        rows.push((lines.number, lines.parse::<Row>(&line)?));
    }
    if rows.len() as u64 != first.units {
        let reason = format!("the file ends after {} units: expected {}", rows.len(), first.units);
        return Err(refuse(lines.number, reason));
    }
    Ok(rows)
}

/// What became of a line.
enum Became {
    New(At),
    Known(At),
    Purged,
}

struct Import<'a> {
    batch: Batch,
    now: &'a Moment,
    /// From the file's records of messages to ours; none: purged here.
    captures: HashMap<Sequence, Option<Sequence>>,
    /// From the file's ids to what became of them.
    ids: HashMap<UnitId, Became>,
    report: Imported,
}

impl Import<'_> {
    fn became(&mut self, line: u64, id: UnitId, became: Became) -> Result<(), StoreError> {
        match &became {
            Became::New(at) => self.report.added.push(*at),
            Became::Known(_) => self.report.known += 1,
            Became::Purged => self.report.purged.push(line),
        }
        match self.ids.insert(id, became) {
            Some(_) => Err(refuse(line, format!("unit {id} comes twice"))),
            None => Ok(()),
        }
    }

    fn capture(&mut self, line: u64, row: Row) -> Result<(), StoreError> {
        let Row { sequence, unit, .. } = row;
        let own = unit.evidence.first().filter(|own| own.sequence == sequence && unit.evidence.len() == 1);
        let Some((own, place)) = own.zip(unit.place.clone()) else {
            return Err(refuse(line, "a message is its own evidence and has a place"));
        };
        if unit.layer != Layer::Episodic || unit.claim.is_some() || own.role != place.role {
            return Err(refuse(line, "a message is episodic, claims nothing by itself, and is its speaker's"));
        }
        let capture = Capture {
            message: Message { place, text: unit.text.clone(), mentioned: unit.mentioned.clone() },
            trust: own.trust.min(Trust::Imported),
            category: unit.category.clone(),
            tags: unit.tags.clone(),
            key: None,
            working: None,
        };
        let kept = self.batch.capture(capture, 0, self.now).map_err(|error| because(line, &error))?;
        if self.captures.insert(sequence, kept.at().map(|at| at.sequence)).is_some() {
            return Err(refuse(line, format!("record {sequence} comes twice")));
        }
        let became = match kept {
            Kept::New(at) => Became::New(at),
            Kept::Known(at) => Became::Known(at),
            Kept::Tombstoned { .. } => Became::Purged,
        };
        self.became(line, unit.id, became)
    }

    /// Adds a derived unit.
    fn derive(&mut self, line: u64, unit: &Unit) -> Result<(), StoreError> {
        let mut content = content_of(unit);
        for evidence in &mut content.evidence {
            let Some(ours) = self.captures.get(&evidence.sequence) else {
                return Err(refuse(
                    line,
                    format!("its evidence, record {}, is no message of this file", evidence.sequence),
                ));
            };
            let Some(ours) = ours else { return self.became(line, unit.id, Became::Purged) };
            evidence.sequence = *ours;
            let trust = self.batch.state.captured_at(*ours).and_then(|(_, slot)| slot.unit.evidence.first());
            evidence.trust = evidence.trust.min(Trust::Imported).min(trust.map_or(Trust::Heard, |own| own.trust));
        }
        let mut derived_from = Vec::new();
        for id in &content.derived_from {
            match self.ids.get(id) {
                Some(Became::New(at) | Became::Known(at)) => derived_from.push(at.id),
                Some(Became::Purged) => return self.became(line, unit.id, Became::Purged),
                None => {}
            }
        }
        content.derived_from = derived_from;
        let became = match self.batch.add(content, None, self.now) {
            Ok(added) if added.new => Became::New(added.at),
            Ok(added) => Became::Known(added.at),
            Err(StoreError::Tombstoned { .. }) => Became::Purged,
            Err(error) => return Err(because(line, &error)),
        };
        self.became(line, unit.id, became)
    }

    fn here(&self, id: UnitId) -> Option<UnitId> {
        match self.ids.get(&id) {
            Some(Became::New(at) | Became::Known(at)) => Some(at.id),
            _ => None,
        }
    }

    /// Puts a new unit where it stood.
    fn settle(&mut self, line: u64, unit: &Unit) -> Result<(), StoreError> {
        let Some(Became::New(At { id, .. })) = self.ids.get(&unit.id) else { return Ok(()) };
        let id = *id;
        let event = match unit.status {
            Status::Superseded => self.superseded(id, unit),
            Status::Completed => {
                let at = unit.activation.as_ref().and_then(|activation| activation.completed.clone());
                Event::Completed(Happened { id, at: at.unwrap_or_else(|| self.now.clone()) })
            }
            Status::Expired => Event::Expired(Happened { id, at: self.now.clone() }),
            Status::Contested => return self.contest(line, id, unit),
            Status::Verified => return Ok(()),
            Status::Candidate | Status::Redacted => return Err(refuse(line, "a unit without text is not exported")),
        };
        self.batch.push(event).map_err(|error| because(line, &error.into()))?;
        Ok(())
    }

    fn superseded(&self, old: UnitId, unit: &Unit) -> Event {
        let new = unit.superseded_by.and_then(|id| self.here(id)).filter(|new| *new != old);
        let claim = |id: UnitId| {
            let ordinal = self.batch.state.ids.get(&id)?;
            self.batch.state.unit(*ordinal)?.claim.as_ref().map(|claim| &claim.key)
        };
        let replaced = Replaced { old, new };
        // What has no claim in common was merged.
        let same = new.is_none_or(|new| claim(new).is_some() && claim(new) == claim(old));
        if same { Event::Superseded(replaced) } else { Event::Merged(replaced) }
    }

    fn contest(&mut self, line: u64, left: UnitId, unit: &Unit) -> Result<(), StoreError> {
        let rights = unit.conflicts.iter().filter_map(|id| self.here(*id)).filter(|right| *right != left);
        for right in rights.collect::<Vec<_>>() {
            let other = self.batch.state.ids.get(&right).and_then(|ordinal| self.batch.state.unit(*ordinal));
            if other.is_some_and(|other| other.status.is_current() && !other.conflicts.contains(&left)) {
                let contested = Event::Contested(Contested { left, right });
                self.batch.push(contested).map_err(|error| because(line, &error.into()))?;
            }
        }
        Ok(())
    }
}

/// An error told with its causes, as the reason why a line is refused.
fn because(line: u64, error: &StoreError) -> StoreError {
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        reason = format!("{reason}: {error}");
        cause = error.source();
    }
    refuse(line, reason)
}

/// Splits off the derived units, in an order in which each comes after those that it was derived from, as far as there is one.
fn in_order(derived: Vec<(u64, Unit)>) -> Vec<(u64, Unit)> {
    let index: HashMap<UnitId, usize> = derived.iter().enumerate().map(|(at, (_, unit))| (unit.id, at)).collect();
    let (mut order, mut seen) = (Vec::new(), vec![false; derived.len()]);
    for start in 0..derived.len() {
        let mut stack = vec![(start, false)];
        while let Some((at, done)) = stack.pop() {
            if done {
                order.push(at);
            } else if let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                stack.push((at, true));
                let from = derived.get(at).into_iter().flat_map(|(_, unit)| &unit.derived_from);
                stack.extend(from.filter_map(|id| index.get(id)).map(|at| (*at, false)));
            }
        }
    }
    let mut derived: Vec<Option<(u64, Unit)>> = derived.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| derived.get_mut(at).and_then(Option::take)).collect()
}

/// Decides whether a unit follows from the messages of a file, and how sure it is.
type Judge<'a> = &'a dyn Fn(&Unit, &BTreeMap<Sequence, Message>) -> Result<Confidence, Rejection>;

/// Refuses the first derived unit that does not follow from the messages of the file.
fn judge_all(rows: &mut [(u64, Row)], judge: Judge<'_>) -> Result<(), StoreError> {
    let captured = rows.iter().filter(|(_, row)| row.captured);
    let said: BTreeMap<Sequence, Message> =
        captured.filter_map(|(_, row)| Some((row.sequence, row.unit.as_message()?))).collect();
    for (line, row) in rows.iter_mut().filter(|(_, row)| !row.captured) {
        let unit = &mut row.unit;
        unit.confidence = judge(unit, &said).map_err(|rejection| {
            refuse(*line, format!("unit {} does not follow from what was said: {rejection}", unit.id))
        })?;
    }
    Ok(())
}

impl Store {
    /// Keeps the units of an export, in one commit. What is here already, or was purged here, is not added. Mention times and zones are those
    /// of the file; `now` is when they are kept. Nothing is trusted more than [`Trust::Imported`], and what is derived is derived again from the
    /// messages of the file: what does not come out is refused.
    ///
    /// # Errors
    /// [`StoreError::Import`] for the first line that is refused, [`StoreError::Io`] when the disk refuses; nothing is kept then.
    pub fn import(&self, from: &mut dyn BufRead, now: &Moment) -> Result<Imported, StoreError> {
        self.import_judged(from, now, &|unit, said| derive_again(unit, said))
    }

    /// The same, and nobody looks whether what is derived follows from what was said.
    #[cfg(test)]
    pub(crate) fn import_unjudged(&self, from: &mut dyn BufRead, now: &Moment) -> Result<Imported, StoreError> {
        self.import_judged(from, now, &|unit, _| Ok(unit.confidence.clone()))
    }

    /// The same, with whoever decides whether a derived unit follows from the messages of the file, and how sure it is.
    fn import_judged(&self, from: &mut dyn BufRead, now: &Moment, judge: Judge<'_>) -> Result<Imported, StoreError> {
        let mut rows = read(from, self.shared.sizes.import_bytes_max)?;
        judge_all(&mut rows, judge)?;
        self.shared.write(|writer| {
            let batch = Batch::new(&writer.state, now);
            let mut import =
                Import { batch, now, captures: HashMap::new(), ids: HashMap::new(), report: Imported::default() };
            let (mut derived, mut stands) = (Vec::new(), Vec::new());
            for (line, row) in rows {
                if row.captured {
                    stands.push((line, row.unit.clone()));
                    import.capture(line, row)?;
                } else {
                    derived.push((line, row.unit));
                }
            }
            let derived = in_order(derived);
            for (line, unit) in &derived {
                import.derive(*line, unit)?;
            }
            for (line, unit) in stands.iter().chain(&derived) {
                import.settle(*line, unit)?;
            }
            import.report.purged.sort_unstable();
            if !import.batch.lines.is_empty() {
                // What was derived from its messages is in the file.
                let through = import.batch.state.sequence;
                import.batch.push(Event::Derived(Derived { through }))?;
            }
            self.shared.commit(writer, import.batch, now)?;
            Ok(import.report)
        })
    }
}
