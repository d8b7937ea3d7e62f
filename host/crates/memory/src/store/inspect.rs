//! Looking at a store: reading it again from its files, counting it, and telling what happened to a unit. Printing is not done here.

use std::collections::BTreeMap;

use loopwright_contract::memory::Layer;

use super::error::StoreError;
use super::event::Event;
use super::handle::{SNAPSHOT, Store, follow};
use super::image;
use super::state::State;
use crate::id::UnitId;
use crate::unit::{Sequence, Status};

/// What reading a store again found. If something is wrong it is an error instead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Records, each with its checksum.
    pub records: u64,
    /// Bytes of the log.
    pub bytes: u64,
    /// Units.
    pub units: u64,
    /// Pieces of evidence, each quoted from its message with the right digest.
    pub evidence: u64,
    /// Links between units, each to a unit that is there.
    pub links: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// The record up to which the snapshot file shows the memory; none: there is none, or it is of no use and will be written again.
    pub snapshot: Option<Sequence>,
}

/// How much a memory holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Units by layer and status.
    pub units: BTreeMap<(Layer, Status), u64>,
    /// Claim keys.
    pub claims: u64,
    /// Numbers that were ever given to units.
    pub ordinals: u64,
    /// The last record.
    pub sequence: Sequence,
    /// The last record that is in the snapshot file.
    pub snapshot: Sequence,
    /// The last record that is in the index.
    pub indexed: Sequence,
    /// Segments of the log.
    pub segments: u64,
    /// Bytes of the log.
    pub bytes: u64,
    /// Texts that do not come back.
    pub tombstones: u64,
    /// Proposals that were not kept.
    pub rejected: u64,
    /// Contributions to the pool.
    pub contributions: u64,
}

/// Something that happened to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The record.
    pub sequence: Sequence,
    /// When it was written, in seconds since 1970.
    pub at: i64,
    /// What happened.
    pub event: Event,
}

impl Event {
    /// Whether it tells something of this unit.
    fn names(&self, id: UnitId, ordinal: u64) -> bool {
        match self {
            Self::Captured(captured) => captured.ordinal == ordinal,
            Self::Verified(verified) => verified.ordinal == ordinal || verified.content.derived_from.contains(&id),
            Self::Merged(replaced) | Self::Superseded(replaced) => replaced.old == id || replaced.new == Some(id),
            Self::Contested(contested) => contested.left == id || contested.right == id,
            Self::Revised(revised) => revised.id == id,
            Self::Fired(past) | Self::Completed(past) | Self::Expired(past) | Self::Redacted(past) => past.id == id,
            Self::Purged(purged) => purged.outcomes.iter().any(|outcome| outcome.ordinal == ordinal),
            Self::Exported(exported) => exported.of.contains(&id),
            Self::Rejected(_) | Self::Indexed(_) | Self::Void(_) | Self::Withdrawn(_) | Self::Derived(_) => false,
        }
    }
}

impl Store {
    /// Reads the whole store again: every checksum, every event, every quote and every link, and compares what comes out with what is shown.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] or [`StoreError::Record`] for the first thing that is wrong.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        self.shared.write(|writer| {
            let mut state = State::new(self.shared.key.clone(), self.shared.sizes.units_max);
            let (mut records, logs) = (0, writer.log.folder.clone());
            let bytes = writer.log.replay(0, &mut |record| {
                records += 1;
                follow(&mut state, &logs, record)
            })?;
            let sequence = state.sequence;
            state.settled().map_err(|(sequence, source)| StoreError::Record {
                folder: logs.clone(),
                sequence,
                source,
            })?;
            let wrong = |found: String| StoreError::Damaged {
                file: logs.clone(),
                offset: 0,
                expected: "what the memory shows".to_owned(),
                found,
            };
            if let Some(difference) = state.difference(&writer.state) {
                return Err(wrong(difference));
            }
            if !image::links_are_known(&state) {
                return Err(wrong("a link that leads nowhere".to_owned()));
            }
            let image = self.shared.files.read(&self.shared.folder.join(SNAPSHOT)).ok();
            let generation = writer.log.list.generation;
            let image = image.and_then(|bytes| image::decode(&bytes, &state.key, state.units_max, generation));
            if let Some(difference) =
                image.as_ref().filter(|image| image.sequence == sequence).and_then(|image| image.difference(&state))
            {
                return Err(wrong(format!("in the snapshot file, {difference}")));
            }
            let links = |slot: &super::state::Slot| {
                let unit = &slot.unit;
                unit.supersedes.len()
                    + unit.conflicts.len()
                    + unit.derived_from.len()
                    + usize::from(unit.superseded_by.is_some())
            };
            Ok(Verification {
                records,
                bytes,
                units: state.live,
                evidence: state.slots().map(|(_, slot)| slot.unit.evidence.len() as u64).sum(),
                links: state.slots().map(|(_, slot)| links(slot) as u64).sum(),
                tombstones: state.purged_identities.len() as u64,
                snapshot: image.map(|image| image.sequence),
            })
        })
    }

    /// Counts the memory.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the sizes of its files cannot be read.
    pub fn stats(&self) -> Result<Stats, StoreError> {
        self.shared.write(|writer| {
            let state = &writer.state;
            let mut units = BTreeMap::new();
            for (_, slot) in state.slots() {
                *units.entry((slot.unit.layer, slot.unit.status)).or_default() += 1;
            }
            Ok(Stats {
                units,
                claims: state.claims.len() as u64,
                ordinals: state.ordinals(),
                sequence: state.sequence,
                snapshot: writer.imaged,
                indexed: state.indexed,
                segments: writer.log.list.segments.len() as u64,
                bytes: writer.log.bytes()?,
                tombstones: state.purged_texts.len() as u64,
                rejected: state.rejected,
                contributions: state.contributions.len() as u64,
            })
        })
    }

    /// What happened to a unit, in order, as the log has it. Reads the whole log.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the unit is unknown; as [`Store::verify`] when the log does not read.
    pub fn history(&self, id: &UnitId) -> Result<Vec<Past>, StoreError> {
        self.shared.write(|writer| {
            let ordinal = writer.state.ordinal_of(*id)?;
            let logs = writer.log.folder.clone();
            let mut past = Vec::new();
            writer.log.replay(0, &mut |record| {
                let sequence = record.sequence;
                let event = Event::read(record.kind, record.payload).map_err(|source| StoreError::Record {
                    folder: logs.clone(),
                    sequence,
                    source,
                })?;
                if event.names(*id, ordinal) {
                    past.push(Past { sequence, at: record.at, event });
                }
                Ok(())
            })?;
            Ok(past)
        })
    }
}
