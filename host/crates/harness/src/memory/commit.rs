//! What an episode leaves behind: the difference of its memory, and the verified trajectory in short.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::action::Action;
use loopwright_contract::memory::{Captured, MemoryChange, MemoryError, MemoryRecord, Remember};
use loopwright_contract::name::MemoryId;
use loopwright_contract::tool::ToolCall;
use loopwright_contract::trajectory::{Kept, TurnRecord, VerifiedTrajectory};
use loopwright_contract::verdict::Outcome;

/// What was handed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Committed {
    /// Records that were carried over.
    pub changes: usize,
    /// Whether the trajectory was kept.
    pub captured: bool,
}

/// What differs between the memory at the beginning and at the end: additions and changes in the order in which their records were made,
/// then removals.
#[must_use]
pub fn changes(before: &[MemoryRecord], after: &[MemoryRecord]) -> Vec<MemoryChange> {
    let index = |records: &[MemoryRecord]| -> BTreeMap<MemoryId, MemoryRecord> {
        records.iter().map(|record| (record.id.clone(), record.clone())).collect()
    };
    let (before, after) = (index(before), index(after));
    let ids: BTreeSet<&MemoryId> = before.keys().chain(after.keys()).collect();
    let differing = ids.into_iter().filter(|id| before.get(*id) != after.get(*id));
    let mut changes: Vec<MemoryChange> = differing
        .map(|id| MemoryChange { id: id.clone(), before: before.get(id).cloned(), after: after.get(id).cloned() })
        .collect();
    // A record that takes another's place comes before the mark on the other, which names it.
    changes.sort_by(|left, right| order(left).cmp(&order(right)));
    changes
}

fn order(change: &MemoryChange) -> (u8, Option<&str>, &MemoryId) {
    let kind = match (&change.before, &change.after) {
        (None, Some(_)) => 0,
        (Some(_), Some(_)) => 1,
        (_, None) => 2,
    };
    (kind, change.after.as_ref().map(|record| record.created.as_str()), &change.id)
}

/// Hands what an episode changed, and what it did, to a store. Only a verified episode that passed leaves anything; any other gives
/// [`Committed::default`]. Call it for a user's own session, between episodes, and never for members of a group or for replays.
///
/// # Errors
/// [`MemoryError`] of the port; what came before it was kept, and the same call again carries over the rest.
pub fn commit(
    verified: &VerifiedTrajectory,
    changes: &[MemoryChange],
    store: &dyn Remember,
) -> Result<Committed, MemoryError> {
    let Some(captured) = capture(verified) else { return Ok(Committed::default()) };
    changes.iter().try_for_each(|change| store.change(change))?;
    store.capture(&captured)?;
    Ok(Committed { changes: changes.len(), captured: true })
}

/// A verified trajectory in short; none when it did not pass.
#[must_use]
pub fn capture(verified: &VerifiedTrajectory) -> Option<Captured> {
    let trajectory = verified.trajectory();
    trajectory.footer.as_ref().filter(|footer| footer.outcome == Outcome::Pass)?;
    let header = &trajectory.header;
    let ends = trajectory.turns.iter().flat_map(|turn| &turn.actions).rev();
    let answer = ends.into_iter().find_map(|action| match action {
        Action::Finish { answer, .. } => Some(answer.clone()),
        Action::Refuse { reason } => Some(reason.clone()),
        _ => None,
    });
    Some(Captured {
        episode: header.episode.clone(),
        task: header.task.id.clone(),
        lang: header.task.lang.clone(),
        request: header.task.request.clone(),
        done: trajectory.turns.iter().flat_map(done).collect(),
        answer: answer.unwrap_or_default(),
        at_ns: header.task.start.now_ns,
        zone: header.task.start.zone.clone(),
    })
}

/// The calls of a turn that succeeded, in a turn that changed something. Where only digests were kept nobody can tell, and nothing is told.
fn done(turn: &TurnRecord) -> Vec<ToolCall> {
    let (Some(Kept::Full(result)), Kept::Full(changed)) = (&turn.result, &turn.changes) else { return Vec::new() };
    if changed.is_empty() {
        return Vec::new();
    }
    let succeeded = |call: &&ToolCall| {
        let feedback = result.feedback.iter().find(|feedback| feedback.call_id == call.id);
        feedback.is_some_and(|feedback| matches!(feedback.reply, loopwright_contract::environment::Reply::Done(_)))
    };
    let calls = turn.actions.iter().filter_map(|action| match action {
        Action::Call(call) => Some(call),
        _ => None,
    });
    calls.filter(succeeded).cloned().collect()
}
