//! The pool that a workspace's users share: experience without what identifies anybody, each piece under an id that says nothing of who gave it.
//!
//! It is a memory like any other, with its own log and index. Nothing in it is anonymous for certain; see [`crate::privacy`].

use loopwright_contract::memory::Role;

use super::find::unit_of;
use super::{Helpers, Memory, MemoryFault};
use crate::id::{UnitId, UserId, WorkspaceId};
use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};
use crate::privacy::{DeIdentified, Outcome, deidentify, gate};
use crate::retrieve::{Ledger, Query};
use crate::store::{Capture, Kept, Root, StoreError, Transaction};
use crate::unit::{Trust, Unit};

/// The dialogue that all contributions are of.
const DIALOGUE: &str = "pool";
/// Who says them.
const SPEAKER: &str = "workspace";
/// Seconds of a day: when something was shared is told to the day.
const DAY: i64 = 86_400;

/// What a workspace shares.
#[derive(Debug)]
pub struct Pool {
    memory: Memory,
}

/// Whether a person has looked at a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody has: what is doubtful is not shared.
    Unreviewed,
    /// A person has, and lets the doubtful places stand.
    Reviewed,
}

/// What became of something that was to be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shared {
    /// It is in the pool.
    Given {
        /// Its opaque id.
        contribution: String,
        /// What stands there.
        text: DeIdentified,
    },
    /// A person has to look at it first.
    Doubtful {
        /// The text with placeholders, and its doubts.
        text: DeIdentified,
    },
    /// The pool has a mark against it, of the time when what was withdrawn from it left one: it is not in the pool.
    Refused {
        /// The text with placeholders.
        text: DeIdentified,
    },
}

/// What became of a user's whole memory that was to be forgotten.
#[derive(Debug)]
pub struct UserForgotten {
    /// Contributions that were taken out of the pool.
    pub withdrawn: usize,
    /// Contributions that are still in the pool, and why; [`finish_purges`] takes them out.
    pub pending: Option<(usize, MemoryFault)>,
}

/// Removes a user's whole memory for good, and then what the user gave to the pool. None: there is no such memory.
///
/// # Errors
/// [`MemoryFault::Store`] as [`Root::purge_user`]. A pool that cannot be told is no error: the user's memory is gone, and [`finish_purges`]
/// goes on.
pub fn forget_user(
    root: &Root,
    workspace: &WorkspaceId,
    user: &UserId,
    helpers: Helpers,
    now: &Moment,
) -> Result<Option<UserForgotten>, MemoryFault> {
    let Some(purge) = root.purge_user(workspace, user, now)? else { return Ok(None) };
    if purge.contributions.is_empty() {
        return Ok(Some(UserForgotten { withdrawn: 0, pending: None }));
    }
    let told = Pool::open(root, workspace, helpers).and_then(|pool| {
        let withdrawn = pool.withdraw(&purge.contributions, now)?;
        root.finish(&purge)?;
        Ok(withdrawn)
    });
    Ok(Some(match told {
        Ok(withdrawn) => UserForgotten { withdrawn, pending: None },
        Err(fault) => UserForgotten { withdrawn: 0, pending: Some((purge.contributions.len(), fault)) },
    }))
}

/// Goes on with purges of whole memories that were not finished: removes what is left of them, and takes out of the pool what they had given
/// to it. Whoever opens a root for work calls it. A pool that another process has open is told the next time. Returns how many contributions
/// were taken out.
///
/// # Errors
/// [`MemoryFault`] when a disk refuses.
pub fn finish_purges(
    root: &Root,
    workspace: &WorkspaceId,
    helpers: Helpers,
    now: &Moment,
) -> Result<usize, MemoryFault> {
    let purges = root.unfinished(workspace)?;
    if purges.is_empty() {
        return Ok(0);
    }
    let Some(pool) = Pool::open_free(root, workspace, helpers)? else { return Ok(0) };
    let mut withdrawn = 0;
    for purge in purges {
        withdrawn += pool.withdraw(&purge.contributions, now)?;
        root.finish(&purge)?;
    }
    Ok(withdrawn)
}

impl Pool {
    /// Opens a workspace's pool.
    ///
    /// # Errors
    /// As [`Memory::open`].
    pub fn open(root: &Root, workspace: &WorkspaceId, helpers: Helpers) -> Result<Self, MemoryFault> {
        // Nothing is derived from what others gave.
        Ok(Self { memory: Memory::over(root.pool_store(workspace)?, Helpers { proposer: None, ..helpers })? })
    }

    /// [`Pool::open`]; none when another process has it open.
    ///
    /// # Errors
    /// As [`Memory::open`], but for [`StoreError::Locked`].
    pub fn open_free(root: &Root, workspace: &WorkspaceId, helpers: Helpers) -> Result<Option<Self>, MemoryFault> {
        match Self::open(root, workspace, helpers) {
            Ok(pool) => Ok(Some(pool)),
            Err(MemoryFault::Store(StoreError::Locked { .. })) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Its memory, for searches and statistics.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What the workspace knows of something.
    ///
    /// # Errors
    /// As [`Memory::search`].
    pub fn search(&self, query: &Query) -> Result<Ledger, MemoryFault> {
        self.memory.search(query)
    }

    /// Whether it is in the pool now.
    fn give(&self, contribution: &str, text: &str, now: &Moment) -> Result<bool, MemoryFault> {
        let place = Place {
            dialogue: DIALOGUE.to_owned(),
            session: contribution.to_owned(),
            position: 0,
            speaker: SPEAKER.to_owned(),
            role: Role::Memory,
        };
        // To the day, in no zone: when it was shared to the second would tell by whom.
        let day = now.seconds().div_euclid(DAY) * DAY;
        let mentioned = Moment::new(day, Zone::utc()).unwrap_or_else(|_| now.clone());
        let message = Message { place, text: text.to_owned(), mentioned: mentioned.clone() };
        let kept = self.memory.capture(vec![Capture::of(message, Trust::Heard)], &mentioned)?;
        Ok(kept.iter().all(|one| !matches!(one.message, Kept::Tombstoned { .. })))
    }

    /// Takes contributions out for good; how many there were. No mark stays of them: the same words may be another giver's too, and what is
    /// given again is given by somebody who still has it.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn withdraw(&self, contributions: &[String], now: &Moment) -> Result<usize, MemoryFault> {
        let snapshot = self.memory.snapshot();
        let given = |unit: &Unit| unit.place.as_ref().is_some_and(|place| contributions.contains(&place.session));
        let ids: Vec<UnitId> =
            snapshot.units().map(|(_, unit)| unit).filter(|unit| given(unit)).map(|unit| unit.id).collect();
        if !ids.is_empty() {
            self.memory.release(&ids, now)?;
        }
        Ok(ids.len())
    }
}

impl Memory {
    /// Gives one unit to the pool, without what identifies anybody. Giving it again changes nothing.
    ///
    /// # Errors
    /// [`MemoryFault::Identifying`] when names or numbers of this memory are still in it; [`MemoryFault::Privacy`] when it is too long.
    pub fn share(&self, id: UnitId, sharing: Sharing, pool: &Pool, now: &Moment) -> Result<Shared, MemoryFault> {
        let names = self.derived().names.clone();
        let snapshot = self.store.snapshot();
        let unit = unit_of(&snapshot, id)?;
        let text = match gate(deidentify(&unit.text, &names)?, &names) {
            Outcome::Pass(text) => text,
            Outcome::Review { text } if sharing == Sharing::Reviewed => text,
            Outcome::Review { text } => return Ok(Shared::Doubtful { text }),
            Outcome::Refuse { tokens } => return Err(MemoryFault::Identifying { tokens }),
        };
        let digest = self.store.key().digest("contribution", &[id.to_string().as_bytes()]);
        let contribution = hex::encode(digest);
        // What the pool has of it from before a purge goes first.
        self.settle(pool, now)?;
        let snapshot = self.snapshot();
        if !snapshot.contributions().any(|known| known == contribution) {
            // Noted before it is given: a purge then reaches it, whatever happens in between.
            let mut transaction = Transaction::at(&snapshot);
            transaction.contribute(contribution.clone(), vec![id]);
            self.store.commit(transaction, now)?;
        }
        if pool.give(&contribution, &text.text, now)? {
            return Ok(Shared::Given { contribution, text });
        }
        let mut transaction = Transaction::at(&self.snapshot());
        transaction.withdraw(&[contribution]);
        self.store.commit(transaction, now)?;
        Ok(Shared::Refused { text })
    }
}
