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

/// A call with its answer.
pub(super) struct Answered {
    pub(super) digest: CallDigest,
    pub(super) tool: ToolName,
    /// Canonical text of the envelope; empty without an answer.
    pub(super) answer: String,
    pub(super) writes: bool,
}

/// One turn.
pub(super) struct Seen<'a> {
    pub(super) turn: u32,
    pub(super) calls: Vec<Answered>,
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
        let gold = trajectory.header.task.gold.iter().flatten().filter_map(|action| match action {
            Action::Call(call) => Some(call.digest()),
            _ => None,
        });
        Ok(Self { turns, gold: gold.collect() })
    }

    /// Whether the task's gold makes a call of that turn.
    pub(super) fn is_gold(&self, turn: &Seen<'_>) -> bool {
        turn.calls.iter().any(|call| self.gold.contains(&call.digest))
    }
}

fn seen(record: &TurnRecord) -> Result<Seen<'_>, FindError> {
    let not_kept = || FindError::NotKept { turn: record.turn };
    let result = match &record.result {
        Some(Kept::Full(result)) => Some(result),
        Some(Kept::Digest(_)) => return Err(not_kept()),
        None => None,
    };
    let Kept::Full(changes) = &record.changes else { return Err(not_kept()) };
    let mut is_error = !record.malformed.is_empty();
    let mut calls = Vec::new();
    for action in &record.actions {
        let Action::Call(call) = action else { continue };
        let feedback = result.into_iter().flat_map(|result| &result.feedback).find(|given| given.call_id == call.id);
        if let Some(Reply::Failed(failure)) = feedback.map(|given| &given.reply) {
            is_error |= !OURS.contains(&failure.code);
        }
        let answer = feedback.map(|given| canonical(&given.reply.envelope())).unwrap_or_default();
        calls.push(Answered { digest: call.digest(), tool: call.tool.clone(), answer, writes: false });
    }
    let notices = result.is_some_and(|result| !result.observation.notices.is_empty());
    let heard = notices || !record.answers.is_empty();
    Ok(Seen { turn: record.turn, calls, is_error, changes, heard })
}
