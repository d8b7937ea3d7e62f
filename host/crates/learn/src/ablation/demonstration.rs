//! A teacher's episode as a sequence to learn from. It knows not which turns are wrong: the caller says so.

use std::collections::BTreeSet;

use loopwright_contract::action::Action;
use loopwright_contract::trajectory::{Kept, TurnRecord, VerifiedTrajectory};

use super::vocabulary::{Code, Requests, Tool};
use super::writer::Writer;
use crate::decoder::Sequence;
use crate::nn::Allowed;

/// Why a trajectory is no demonstration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DemonstrationError {
    /// Another task.
    #[error("the request `{found}` is not of the ablation task")]
    Request {
        /// The request.
        found: String,
    },
    /// A turn that is no single call of the task's tools, nor the end.
    #[error("turn {turn} does {found}, expected one call of a tool of the ablation task")]
    Turn {
        /// The turn.
        turn: u32,
        /// What it does.
        found: String,
    },
    /// Answers that were not kept.
    #[error("turn {turn} keeps the digest of its answer alone\nhint: record demonstrations in full")]
    NotKept {
        /// The turn.
        turn: u32,
    },
    /// A tool that was not offered.
    #[error("turn {turn} calls `{tool}`, which was not offered")]
    NotOffered {
        /// The turn.
        turn: u32,
        /// The tool.
        tool: &'static str,
    },
    /// Nothing to learn from.
    #[error("all {turns} turns are erroneous: nothing is left to learn from")]
    NothingLeft {
        /// Its turns.
        turns: usize,
    },
}

/// The sequence of a trajectory. The turns in `erroneous` stay in it as context, with their answers, and are not learnt.
///
/// # Errors
/// [`DemonstrationError`] for a trajectory of another task, one recorded by digest, and one of which nothing is left.
pub fn demonstration(
    trajectory: &VerifiedTrajectory,
    requests: &Requests,
    erroneous: &BTreeSet<u32>,
) -> Result<Sequence, DemonstrationError> {
    let trajectory = trajectory.trajectory();
    let header = &trajectory.header;
    let request = &header.task.request;
    let mark = requests.mark(request).ok_or_else(|| DemonstrationError::Request { found: request.clone() })?;
    let exposed = header.observation.exposed.as_deref();
    let offered = |tool: &Tool| exposed.is_none_or(|names| names.iter().any(|name| name.as_str() == tool.name()));
    let symbols: Vec<u8> = Tool::ALL.into_iter().filter(offered).map(Tool::symbol).collect();
    // Every symbol of a tool is within the vocabulary.
    let allowed = Allowed::of(&symbols).unwrap_or_default();
    let mut writer = Writer::new(mark);
    for turn in &trajectory.turns {
        let Some((tool, code)) = step(turn)? else { break };
        if !allowed.contains(usize::from(tool.symbol())) {
            return Err(DemonstrationError::NotOffered { turn: turn.turn, tool: tool.name() });
        }
        writer.tool(tool, Some(allowed).filter(|_| !erroneous.contains(&turn.turn)));
        writer.answer(code);
    }
    let sequence = writer.into_sequence();
    if sequence.choices.is_empty() {
        return Err(DemonstrationError::NothingLeft { turns: trajectory.turns.len() });
    }
    Ok(sequence)
}

/// The call of a turn and its answer's code; none for the turn that ends the episode.
fn step(turn: &TurnRecord) -> Result<Option<(Tool, Code)>, DemonstrationError> {
    let other = |found: String| DemonstrationError::Turn { turn: turn.turn, found };
    let tool = match turn.actions.as_slice() {
        [Action::Finish { .. }] => return Ok(None),
        [Action::Call(call)] => {
            Tool::named(call.tool.as_str()).ok_or_else(|| other(format!("call `{}`", call.tool)))?
        }
        actions => return Err(other(format!("{} actions", actions.len()))),
    };
    match &turn.result {
        Some(Kept::Digest(_)) => Err(DemonstrationError::NotKept { turn: turn.turn }),
        Some(Kept::Full(result)) => {
            let reply = result.feedback.first().map(|feedback| feedback.reply.envelope());
            Ok(Some((tool, reply.as_ref().map_or(Code::Failed, Code::of_envelope))))
        }
        None => Ok(Some((tool, Code::Failed))),
    }
}
