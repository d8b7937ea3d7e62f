//! Trajectories of one task that are compared with each other. It knows no schedule.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::member::{Member, Void};
use super::regime::Tally;

/// The fewest members of a group: one alone has nothing to be compared with.
pub const GROUP_SIZE_MIN: usize = 2;
/// The most members of a group.
pub const GROUP_SIZE_MAX: usize = 4_096;

/// Which group of a step it is. Members are compared within one group and never across two, which is why this is no plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(pub u64);

impl fmt::Display for GroupId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A configured number of members per group that has no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a group must have {GROUP_SIZE_MIN} to {GROUP_SIZE_MAX} members, found {found}\nhint: an advantage compares members of a group; 8 is usual"
)]
pub struct GroupSizeError {
    /// What was asked for.
    pub found: usize,
}

/// G: the members of each group, [`GROUP_SIZE_MIN`] to [`GROUP_SIZE_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
pub struct GroupSize(usize);

impl GroupSize {
    /// A checked size.
    ///
    /// # Errors
    /// [`GroupSizeError`] for less than 2 or more than [`GROUP_SIZE_MAX`].
    pub const fn new(members: usize) -> Result<Self, GroupSizeError> {
        if members < GROUP_SIZE_MIN || members > GROUP_SIZE_MAX {
            return Err(GroupSizeError { found: members });
        }
        Ok(Self(members))
    }

    /// Members.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

impl TryFrom<usize> for GroupSize {
    type Error = GroupSizeError;

    fn try_from(members: usize) -> Result<Self, GroupSizeError> {
        Self::new(members)
    }
}

impl From<GroupSize> for usize {
    fn from(size: GroupSize) -> Self {
        size.0
    }
}

/// A group with a slot too many or too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("group {id} has {found} slots, expected {expected}\nhint: a member that is missing keeps its slot and is void")]
pub struct GroupError {
    /// The group.
    pub id: GroupId,
    /// Its configured size.
    pub expected: usize,
    /// Slots found.
    pub found: usize,
}

/// A group whose slots are all filled, with a member or with the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    id: GroupId,
    slots: Vec<Result<Member, Void>>,
}

impl Group {
    /// A group of `size` slots. A void member stays in its slot, so that slots and token records keep standing side by side.
    ///
    /// # Errors
    /// [`GroupError`] when there are more or fewer slots than `size`.
    pub fn new(id: GroupId, size: GroupSize, slots: Vec<Result<Member, Void>>) -> Result<Self, GroupError> {
        if slots.len() != size.get() {
            return Err(GroupError { id, expected: size.get(), found: slots.len() });
        }
        Ok(Self { id, slots })
    }

    /// Which group it is.
    #[must_use]
    pub const fn id(&self) -> GroupId {
        self.id
    }

    /// Slot by slot; `None` for a void one.
    pub fn slots(&self) -> impl Iterator<Item = Option<Member>> {
        self.slots.iter().map(|slot| slot.as_ref().ok().copied())
    }

    /// The members that count.
    pub fn members(&self) -> impl Iterator<Item = Member> {
        self.slots().flatten()
    }

    /// Why the others do not.
    pub fn voids(&self) -> impl Iterator<Item = Void> {
        self.slots.iter().filter_map(|slot| slot.as_ref().err().copied())
    }

    /// Slots, void ones included.
    #[must_use]
    pub fn size(&self) -> usize {
        self.slots.len()
    }

    /// Successes of how many valid members.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.members().fold(Tally::default(), |tally, member| Tally {
            successes: tally.successes + usize::from(member.success()),
            valid: tally.valid + 1,
        })
    }
}
