//! A trajectory as the finder looks at it, turn by turn.

use std::collections::BTreeSet;

use loopwright_contract::action::Action;
use loopwright_contract::digest::CallDigest;
use loopwright_contract::environment::Reply;
use loopwright_contract::evidence::Change;
use loopwright_contract::json::canonical;
use loopwright_contract::name::ToolName;
use loopwright_contract::trajectory::{Kept, Trajectory, TurnRecord};

use super::{FindError, Rules};

/// Refusals that the policy does not cause: too many calls, something that is down, a deadline.
const OURS: [u16; 3] = [429, 503, 504];
/// Calls made, times calls of the gold, that are compared; in a longer trajectory no refusal is taken for one of the gold.
const COMPARED_MAX: usize = 1 << 22;

/// A call with its answer.
pub(super) struct Answered {
    pub(super) digest: CallDigest,
    pub(super) tool: ToolName,
    /// Canonical text of the envelope; empty without an answer.
    pub(super) answer: String,
    pub(super) writes: bool,
    /// Whether the policy's doing was refused.
    refused: bool,
}

/// One turn.
pub(super) struct Seen<'a> {
    pub(super) turn: u32,
    pub(super) calls: Vec<Answered>,
    /// An output that could not be taken, or a call that was refused where the gold makes no such call.
    pub(super) is_error: bool,
    pub(super) changes: &'a [Change],
    /// Whether something was heard that no call asked for: a user, a memory, a skill, a notice.
    pub(super) heard: bool,
}

impl Seen<'_> {
    pub(super) fn writes(&self) -> bool {
        self.calls.iter().any(|call| call.writes)
    }
}

/// All turns.
pub(super) struct View<'a> {
    pub(super) turns: Vec<Seen<'a>>,
    /// Calls of the task's gold; empty without gold.
    pub(super) gold: BTreeSet<CallDigest>,
}

impl<'a> View<'a> {
    pub(super) fn of(trajectory: &'a Trajectory, rules: &Rules) -> Result<Self, FindError> {
        let mut turns = trajectory.turns.iter().map(seen).collect::<Result<Vec<_>, _>>()?;
        let inferred = || {
            let changing = turns.iter().filter(|turn| !turn.changes.is_empty());
            changing.flat_map(|turn| turn.calls.iter().map(|call| call.tool.clone())).collect::<BTreeSet<_>>()
        };
        let writers = rules.writers.clone().unwrap_or_else(inferred);
        for call in turns.iter_mut().flat_map(|turn| &mut turn.calls) {
            call.writes = writers.contains(&call.tool);
        }
        let gold: Vec<CallDigest> = trajectory.header.task.gold.iter().flatten().filter_map(called).collect();
        let made: Vec<CallDigest> = turns.iter().flat_map(|turn| turn.calls.iter().map(|call| call.digest)).collect();
        let mut planned = aligned(&made, &gold).into_iter();
        for turn in &mut turns {
            // Each call has its place, whatever was found before it.
            let places = planned.by_ref().take(turn.calls.len());
            turn.is_error |=
                turn.calls.iter().zip(places).filter(|(call, planned)| call.refused && !planned).count() > 0;
        }
        Ok(Self { turns, gold: gold.into_iter().collect() })
    }

    /// Whether the task's gold makes a call of that turn.
    pub(super) fn is_gold(&self, turn: &Seen<'_>) -> bool {
        turn.calls.iter().any(|call| self.gold.contains(&call.digest))
    }
}

fn called(action: &Action) -> Option<CallDigest> {
    match action {
        Action::Call(call) => Some(call.digest()),
        _ => None,
    }
}

/// Which of the calls that were made are calls of the gold at their place in it: those of the longest common subsequence, which passes over a call
/// of the gold only where more is common so.
fn aligned(made: &[CallDigest], gold: &[CallDigest]) -> Vec<bool> {
    let mut planned = vec![false; made.len()];
    let width = gold.len() + 1;
    if gold.is_empty() || made.len().saturating_mul(width) > COMPARED_MAX {
        return planned;
    }
    // Of the calls from `made[i]` and `gold[j]` on, how many are common.
    let mut common = vec![0_u32; (made.len() + 1) * width];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, call) in made.iter().enumerate().rev() {
        for (j, right) in gold.iter().enumerate().rev() {
            let longest = if call == right {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = longest;
            }
        }
    }
    let mut j = 0;
    for (i, (call, planned)) in made.iter().zip(&mut planned).enumerate() {
        while at(&common, i, j) > at(&common, i + 1, j) && gold.get(j) != Some(call) {
            j += 1;
        }
        if at(&common, i, j) > 0 && gold.get(j) == Some(call) {
            *planned = true;
            j += 1;
        }
    }
    planned
}

fn seen(record: &TurnRecord) -> Result<Seen<'_>, FindError> {
    let not_kept = || FindError::NotKept { turn: record.turn };
    let result = match &record.result {
        Some(Kept::Full(result)) => Some(result),
        Some(Kept::Digest(_)) => return Err(not_kept()),
        None => None,
    };
    let Kept::Full(changes) = &record.changes else { return Err(not_kept()) };
    let is_error = !record.malformed.is_empty();
    let mut calls = Vec::new();
    for action in &record.actions {
        let Action::Call(call) = action else { continue };
        let feedback = result.into_iter().flat_map(|result| &result.feedback).find(|given| given.call_id == call.id);
        let reply = feedback.map(|given| &given.reply);
        let refused = matches!(reply, Some(Reply::Failed(failure)) if !OURS.contains(&failure.code));
        let answer = feedback.map(|given| canonical(&given.reply.envelope())).unwrap_or_default();
        calls.push(Answered { digest: call.digest(), tool: call.tool.clone(), answer, writes: false, refused });
    }
    let notices = result.is_some_and(|result| !result.observation.notices.is_empty());
    let heard = notices || !record.answers.is_empty();
    Ok(Seen { turn: record.turn, calls, is_error, changes, heard })
}
