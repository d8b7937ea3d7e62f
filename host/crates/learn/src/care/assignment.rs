//! What a step's groups were assigned, with counters that add up. It knows not how.

use serde::{Deserialize, Serialize};

use super::group::{Group, GroupId};
use super::member::Void;
use super::regime::{Regime, Tally};

/// What one member is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// R: its reward.
    pub reward: f64,
    /// A: its advantage over the group.
    pub advantage: f64,
}

/// What holds for a group that was compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The regime that the schedule puts it in; rivals without a schedule report it too, so that they can be set side by side.
    pub regime: Regime,
    /// Whether nothing tells its members apart: their advantages are exact zeros.
    pub degenerate: bool,
    /// sigma_R: the population deviation of the rewards; exactly 0 when they are all equal.
    pub deviation: f64,
    /// What the centred rewards were divided by, before epsilon: sigma_R, the floor, 1 for the mean-centred rival, or for GDPO the deviation of
    /// the whole batch. 0 in a degenerate group without a floor, where nothing is divided.
    pub divisor: f64,
    /// Whether the floor exceeds sigma_R, and so decides.
    pub floor_active: bool,
}

/// A group with what its members were assigned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupCredit {
    /// The group.
    pub id: GroupId,
    /// Slot by slot; `None` for a void member, and for all members of a dropped group: their tokens are masked.
    pub slots: Vec<Option<Credit>>,
    /// Successes of how many valid members.
    pub tally: Tally,
    /// `None` for a group that was dropped, having fewer than two valid members.
    pub scored: Option<Scored>,
}

impl GroupCredit {
    /// What the members of a group that was not dropped were assigned; void ones are left out.
    pub fn credits(&self) -> impl Iterator<Item = Credit> {
        self.slots.iter().flatten().copied()
    }

    /// Whether it teaches nothing: dropped, or degenerate.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.scored.is_none_or(|scored| scored.degenerate)
    }
}

/// What became of the groups and members of a step, or of many.
///
/// `groups = too_small + kept` and `kept = degenerate + informative`; `members = void + dropped + assigned` and the three reasons add up to `void`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Groups that came in.
    pub groups: u64,
    /// Dropped, having fewer than two valid members.
    pub too_small: u64,
    /// Of these, groups without any valid member.
    pub all_void: u64,
    /// Groups that were compared.
    pub kept: u64,
    /// Kept groups whose members nothing tells apart.
    pub degenerate: u64,
    /// Kept groups that teach something.
    pub informative: u64,
    /// Kept groups in which the floor decides.
    pub floored: u64,
    /// Slots that came in.
    pub members: u64,
    /// Void slots.
    pub void: u64,
    /// Void because the infrastructure failed.
    pub void_infrastructure: u64,
    /// Void because a number was not finite.
    pub void_not_finite: u64,
    /// Void because a number was outside its range.
    pub void_out_of_range: u64,
    /// Valid members of dropped groups.
    pub dropped: u64,
    /// Members with an advantage, be it zero.
    pub assigned: u64,
}

impl Counters {
    /// Counts one group.
    pub(crate) fn count(&mut self, group: &Group, credit: &GroupCredit) {
        self.groups += 1;
        self.members += group.size() as u64;
        for void in group.voids() {
            self.void += 1;
            match void {
                Void::Infrastructure => self.void_infrastructure += 1,
                Void::NotFinite { .. } => self.void_not_finite += 1,
                Void::OutOfRange { .. } => self.void_out_of_range += 1,
            }
        }
        let valid = credit.tally.valid as u64;
        let Some(scored) = credit.scored else {
            self.too_small += 1;
            self.all_void += u64::from(valid == 0);
            self.dropped += valid;
            return;
        };
        self.kept += 1;
        self.assigned += valid;
        self.degenerate += u64::from(scored.degenerate);
        self.informative += u64::from(!scored.degenerate);
        self.floored += u64::from(scored.floor_active);
    }

    /// Adds those of another step.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.cells().into_iter().zip({ *other }.cells()) {
            *mine += *theirs;
        }
    }

    fn cells(&mut self) -> [&mut u64; 14] {
        let Self {
            groups,
            too_small,
            all_void,
            kept,
            degenerate,
            informative,
            floored,
            members,
            void,
            void_infrastructure,
            void_not_finite,
            void_out_of_range,
            dropped,
            assigned,
        } = self;
        [
            groups,
            too_small,
            all_void,
            kept,
            degenerate,
            informative,
            floored,
            members,
            void,
            void_infrastructure,
            void_not_finite,
            void_out_of_range,
            dropped,
            assigned,
        ]
    }
}

/// All groups of a step, in the order in which they came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assignment {
    groups: Vec<GroupCredit>,
    counters: Counters,
}

impl Assignment {
    /// Joins groups with what they were assigned.
    pub(crate) fn new(groups: &[Group], credits: Vec<GroupCredit>) -> Self {
        let mut counters = Counters::default();
        for (group, credit) in groups.iter().zip(&credits) {
            counters.count(group, credit);
        }
        Self { groups: credits, counters }
    }

    /// Group by group, as they came.
    #[must_use]
    pub fn groups(&self) -> &[GroupCredit] {
        &self.groups
    }

    /// What became of them.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}
