//! Calls that a tool makes as part of a call of its own: capability `tool.call`.
//!
//! An environment looked at the outer call and let it run; it is not asked again. So an inner call may need no more than the outer one, what
//! cannot be undone takes the user's own word, and what it changes is the outer call's change: one transaction, one step, one sum of fuel.

use loopwright_contract::{
    fault::GuestFault,
    name::ToolName,
    tool::{AccessRule, Effect, ToolCall},
};

use crate::{
    bindings::{convert::call, tool_caller::CallError, types},
    core::Core,
    deadline::Deadline,
    grant,
    host::name_said_back,
    invoke::{Answer, Moved, Outcome},
    limits::Stop,
};

/// Calls that one outer call may make, however deep: each has fuel of its own.
pub(crate) const NESTED_CALLS_MAX: u32 = 64;
/// The requirement that the user is asked, as for what cannot be undone.
const ASKS: &str = "confirm";
/// The one value among requirements that takes a demand away: the call works while the phone is off.
const WORKS_WHILE_OFF: &str = "power-off-ok";
/// The id of a call that nobody outside sees.
const INNER_ID: &str = "inner";

/// What is counted and known while a call of the environment runs.
#[derive(Default)]
pub(crate) struct Nested {
    /// Calls that were made within it.
    pub(crate) calls: u32,
    /// Fuel that they spent.
    pub(crate) fuel: u64,
    /// What the call that runs now needs.
    pub(crate) needs: Option<AccessRule>,
}

impl Core {
    /// Runs a tool that another tool asked for. `granted` are those that it may call, sorted. An error ends the asking one.
    pub(crate) fn call_within(
        self: Box<Self>,
        granted: &[ToolName],
        tool: String,
        arguments: String,
        within: &Deadline,
    ) -> Moved<Result<types::Success, CallError>> {
        if !grant::has(granted, &tool) {
            let what = format!("tool `{}` is not granted", name_said_back(&tool));
            return (Some(self), Ok(Err(CallError::Denied(what))));
        }
        let call = match call::call_in(types::ToolCall { id: INNER_ID.to_owned(), tool, arguments }) {
            Ok(call) => call,
            Err(violation) => {
                let what = format!("tool-caller.call: {violation}");
                return (Some(self), Err(Stop::Guest(GuestFault::Contract { what })));
            }
        };
        if let Err(what) = self.allows(&call) {
            return (Some(self), Ok(Err(CallError::Denied(what))));
        }
        let (core, result) = self.counted().run_call(&call, within);
        let Some(mut core) = core else { return (None, result.map(|(_, answer)| out(answer))) };
        if let Ok((_, answer)) = &result {
            core.nested.fuel = core.nested.fuel.saturating_add(answer.fuel);
        }
        (Some(core), result.map(|(_, answer)| out(answer)))
    }

    fn counted(mut self: Box<Self>) -> Box<Self> {
        self.nested.calls += 1;
        self
    }

    /// Whether the call may be part of the one that runs now.
    fn allows(&self, call: &ToolCall) -> Result<(), String> {
        if self.nested.calls >= NESTED_CALLS_MAX {
            return Err(format!("more than {NESTED_CALLS_MAX} calls within one"));
        }
        // A tool that is not there, or has no rule for this call, is refused as any call of it is.
        let Some((tool, _)) = self.installed.find(call.tool.as_str()) else { return Ok(()) };
        let (Some(inner), Some(outer)) = (tool.spec.access_rule(&call.arguments), &self.nested.needs) else {
            return Err(format!("`{}` has no access rule for this call", call.tool));
        };
        let has = |rule: &AccessRule, requirement: &str| rule.requires.iter().any(|other| other == requirement);
        if inner.effect == Effect::Destructive || has(inner, ASKS) {
            if !self.consents.contains(&call.digest()) {
                return Err(format!("`{}` needs the user's confirmation of exactly this call", call.tool));
            }
        } else if inner.effect > outer.effect {
            return Err(format!("`{}` does more than the call that it would be part of says it does", call.tool));
        }
        let outside = "which the call that it would be part of does not";
        if has(outer, WORKS_WHILE_OFF) && !has(inner, WORKS_WHILE_OFF) {
            return Err(format!("`{}` needs a phone that is on, {outside}", call.tool));
        }
        let further = inner.requires.iter().find(|requirement| {
            let known = [ASKS, WORKS_WHILE_OFF].contains(&requirement.as_str());
            !known && !has(outer, requirement)
        });
        match further {
            None => Ok(()),
            Some(requirement) => Err(format!("`{}` requires `{requirement}`, {outside}", call.tool)),
        }
    }
}

fn out(answer: Answer) -> Result<types::Success, CallError> {
    let data_text = answer.data_text;
    match answer.outcome {
        Outcome::Ok(success) => {
            Ok(types::Success { message: success.message, data: data_text.unwrap_or_else(|| "null".to_owned()) })
        }
        Outcome::Failed(failure) => Err(CallError::Failed(types::Failure {
            data: data_text.or(call::failure_out(&failure).data),
            ..call::failure_out(&failure)
        })),
        Outcome::Faulted(GuestFault::Denied { what }) => Err(CallError::Denied(what)),
        Outcome::Faulted(GuestFault::Trapped { .. }) => Err(CallError::Faulted("trapped".to_owned())),
        Outcome::Faulted(GuestFault::Budget { budget, .. }) => Err(CallError::Faulted(budget.to_string())),
        Outcome::Faulted(GuestFault::Contract { .. }) => Err(CallError::Faulted("contract".to_owned())),
    }
}
