//! What a verifier is shown.

use loopwright_contract::{
    evidence::{Deed, Step},
    json::canonical,
};

use super::{
    call::{actor_out, call_out},
    time::instant_out,
};
use crate::afv::evidence;

/// A step as a verifier gets it.
#[must_use]
pub fn step_out(step: &Step) -> evidence::Step {
    let action = match &step.deed {
        Deed::Call { call } => evidence::Action::Call(call_out(call)),
        Deed::Ask { question } => evidence::Action::Ask(question.clone()),
        Deed::Refuse { reason } => evidence::Action::Refuse(reason.clone()),
        Deed::Finish { claim } => evidence::Action::Finish(canonical(claim)),
        Deed::Other { name, value } => evidence::Action::Other((name.clone(), canonical(value))),
    };
    evidence::Step {
        index: step.index,
        turn: step.turn,
        at: instant_out(step.at_ns),
        by: actor_out(step.by),
        action,
        ok: step.ok,
        answer: canonical(&step.answer),
    }
}
