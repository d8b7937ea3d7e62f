//! The evidence: what was done, with the world after each step. The host writes it from its own view of every invocation.

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use loopwright_bindings::{afv::evidence, convert::evidence::step_out};
use loopwright_contract::{
    environment::{Actor, TurnResult},
    episode::Invocation,
    evidence::{Deed, Step},
    json::canonical_of,
    tool::{Failure, ToolCall},
};
use loopwright_world::{Ids, World};
use serde_json::Value;

use crate::{
    core::Core,
    invoke::{Invoked, Outcome},
};

/// Where the task's gold leads to.
pub(crate) struct Target {
    pub(crate) world: World,
    pub(crate) ids: Ids,
}

/// What happened in an episode. A clone shares everything until one of the two goes on.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) steps: Arc<Vec<Step>>,
    /// The texts of the step at the same place in `steps`.
    pub(crate) texts: Arc<Vec<Arc<StepText>>>,
    /// The world after the first `n` steps, at `n`; at 0 the world after reset.
    pub(crate) worlds: Arc<Vec<World>>,
    pub(crate) target: Option<Arc<Target>>,
    /// The turn that is open, or that comes next.
    pub(crate) turn: u32,
    open: bool,
    /// The world when the last turn began.
    pub(crate) turn_start: World,
    /// The calls of the last turn, in the order of its steps.
    pub(crate) invocations: Vec<Invocation>,
}

/// A step without its place.
struct Draft {
    by: Actor,
    call: ToolCall,
    ok: bool,
    answer: Value,
    at_ns: u64,
    /// The world when it began, for calls that were invoked.
    before: Option<World>,
    invocation: Invocation,
}

impl Record {
    pub(crate) fn new(initial: World, target: Option<Arc<Target>>) -> Self {
        let (steps, invocations) = (Arc::default(), Vec::new());
        Self {
            steps,
            texts: Arc::default(),
            worlds: Arc::new(vec![initial.fork()]),
            target,
            turn: 0,
            open: false,
            turn_start: initial,
            invocations,
        }
    }

    /// The world that the steps begin from, once reset has made it.
    pub(crate) fn begin_at(&mut self, initial: World) {
        self.worlds = Arc::new(vec![initial.fork()]);
        self.turn_start = initial;
    }

    /// Opens the turn if it is not open yet.
    pub(crate) fn open_turn(&mut self, world: impl FnOnce() -> World) {
        if !self.open {
            self.open = true;
            self.turn_start = world();
            self.invocations.clear();
        }
    }

    pub(crate) fn close_turn(&mut self) {
        self.open = false;
        self.turn = self.turn.saturating_add(1);
    }

    pub(crate) fn push(&mut self, by: Actor, deed: Deed, ok: bool, answer: Value, at_ns: u64, after: World) {
        let index = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        Arc::make_mut(&mut self.steps).push(Step { index, turn: self.turn, at_ns, by, deed, ok, answer });
        Arc::make_mut(&mut self.texts).push(Arc::default());
        Arc::make_mut(&mut self.worlds).push(after);
    }

    /// The texts of a step.
    pub(crate) fn text(&self, at: usize) -> Option<StepTextOf<'_>> {
        StepTextOf::at(&self.steps, &self.texts, at)
    }
}

/// The canonical texts of a step, made when the first verifier asks. The evidence and its digest use the same, and so do the verifiers after it.
#[derive(Default)]
pub(crate) struct StepText {
    shown: OnceLock<evidence::Step>,
    deed: OnceLock<String>,
}

/// A step with its texts.
pub(crate) struct StepTextOf<'a> {
    pub(crate) step: &'a Step,
    text: &'a StepText,
}

impl<'a> StepTextOf<'a> {
    pub(crate) fn at(steps: &'a [Step], texts: &'a [Arc<StepText>], at: usize) -> Option<Self> {
        Some(Self { step: steps.get(at)?, text: texts.get(at)? })
    }

    /// The step as a verifier gets it.
    pub(crate) fn shown(&self) -> &'a evidence::Step {
        self.text.shown.get_or_init(|| step_out(self.step))
    }

    /// What was done, as the record's own JSON.
    pub(crate) fn deed(&self) -> &'a str {
        // No deed is unwritable.
        self.text.deed.get_or_init(|| canonical_of(&self.step.deed).unwrap_or_else(|_| "null".to_owned()))
    }
}

/// Turns the calls that the environment was given and those that it made into steps.
pub(crate) fn record_turn(core: &mut Core, result: &TurnResult) {
    let invoked = mem::take(&mut core.invoked);
    let running = mem::take(&mut core.running);
    let Some(turn) = running.turn else { return };
    let now_ns = core.state.clock.now_ns();
    let answers: Vec<Value> = result.feedback.iter().map(|feedback| feedback.reply.envelope()).collect();
    let mut drafts = Vec::with_capacity(turn.calls.len().max(invoked.len()));
    let mut rest = invoked.into_iter().peekable();
    let mut done = vec![false; turn.calls.len()];
    for (position, call) in turn.calls.into_iter().enumerate() {
        if done.get(position) == Some(&true) {
            continue;
        }
        if running.used.get(position) == Some(&true) {
            // What the environment did before this call came before it.
            for invoked in rest.by_ref() {
                let at = invoked.position;
                drafts.push(draft(invoked, &answers));
                if let Some(flag) = at.and_then(|at| done.get_mut(at)) {
                    *flag = true;
                }
                if at == Some(position) {
                    break;
                }
            }
        } else {
            let answer = answers.get(position).cloned().unwrap_or(Value::Null);
            let invocation = Invocation { plugin: None, fault: None, fuel: 0 };
            drafts.push(Draft { by: turn.actor, call, ok: false, answer, at_ns: now_ns, before: None, invocation });
        }
    }
    drafts.extend(rest.map(|invoked| draft(invoked, &answers)));
    push_drafts(core, drafts);
}

fn draft(invoked: Invoked, answers: &[Value]) -> Draft {
    let told = invoked.position.and_then(|position| answers.get(position)).cloned();
    let (ok, envelope, fault) = match invoked.outcome {
        Outcome::Ok(success) => (true, success.envelope(), None),
        Outcome::Failed(failure) => (false, failure.envelope(), None),
        Outcome::Faulted(fault) => (false, Failure::new(503, "the tool's code failed").envelope(), Some(fault)),
    };
    let invocation = Invocation { plugin: invoked.plugin, fault, fuel: invoked.fuel };
    Draft {
        by: invoked.by,
        call: invoked.call,
        ok,
        answer: told.unwrap_or(envelope),
        at_ns: invoked.at_ns,
        before: Some(invoked.before),
        invocation,
    }
}

/// The world after a step is the world in which the next invocation begins, or in which the turn ends.
fn push_drafts(core: &mut Core, drafts: Vec<Draft>) {
    let mut next = core.snapshot();
    let mut after = Vec::with_capacity(drafts.len());
    for draft in drafts.iter().rev() {
        after.push(next.fork());
        if let Some(before) = &draft.before {
            next = before.fork();
        }
    }
    for (draft, after) in drafts.into_iter().zip(after.into_iter().rev()) {
        core.record.push(draft.by, Deed::Call { call: draft.call }, draft.ok, draft.answer, draft.at_ns, after);
        core.record.invocations.push(draft.invocation);
    }
}
