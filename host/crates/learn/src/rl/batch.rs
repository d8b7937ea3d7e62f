//! From rolled out groups to samples with advantages. It knows no weight.

use std::collections::VecDeque;

use loopwright_contract::digest::PolicyDigest;

use super::error::TrainError;
use super::loss::TokenData;
use super::policy::Policy;
use super::port::{Rolled, RolledMember};
use crate::care::{Assignment, Group, GroupSize, Member, Void};

/// What a step trains on.
pub(super) struct Batch<S> {
    /// Samples with choices whose group teaches something, in the order (group, member).
    pub(super) samples: Vec<S>,
    pub(super) data: TokenData,
    /// Tokens of members that were assigned an advantage, those of silent groups included.
    pub(super) trained: u64,
    /// Tokens that were masked because their policy is too old.
    pub(super) stale: u64,
}

/// Policies of the last updates, newest last.
pub(super) type Versions = VecDeque<PolicyDigest>;

/// A group for the assignment of credit. A member without a recording is void: nothing can be learnt from it, and that is our doing.
pub(super) fn group_of<S>(rolled: &Rolled<S>, members: GroupSize, step: u64) -> Result<Group, TrainError> {
    let slots = rolled.members.iter().map(|member| match (&member.measured, &member.recording) {
        (Some(measured), Some(_)) => Member::new(*measured),
        _ => Err(Void::Infrastructure),
    });
    Group::new(rolled.id, members, slots.collect())
        .map_err(|error| TrainError::Returned { step, what: error.to_string() })
}

/// The samples of groups, with what each was assigned.
pub(super) fn batch_of<P: Policy>(
    rolled: &[Rolled<P::Sample>],
    assignment: &Assignment,
    versions: &Versions,
    stale_updates_max: u32,
) -> Result<Batch<P::Sample>, TrainError> {
    let mut batch = Batch { samples: Vec::new(), data: TokenData::default(), trained: 0, stale: 0 };
    let fresh = usize::try_from(stale_updates_max).unwrap_or(usize::MAX).saturating_add(1);
    for (rolled, credits) in rolled.iter().zip(assignment.groups()) {
        for (slot, (member, credit)) in rolled.members.iter().zip(&credits.slots).enumerate() {
            let (Some(credit), RolledMember { recording: Some(recording), .. }) = (credit, member) else { continue };
            let (expected, found) = (P::choices(&recording.sample), recording.log_probs.len());
            if expected != found {
                return Err(TrainError::Recording { group: rolled.id, slot, expected, found });
            }
            if !versions.iter().rev().take(fresh).any(|version| *version == recording.policy) {
                batch.stale += found as u64;
                continue;
            }
            batch.trained += found as u64;
            if credits.is_silent() || found == 0 {
                continue;
            }
            batch.samples.push(recording.sample.clone());
            batch.data.sampled.extend(recording.log_probs.iter().copied().map(f64::from));
            batch.data.advantages.extend(std::iter::repeat_n(credit.advantage, found));
        }
    }
    Ok(batch)
}
