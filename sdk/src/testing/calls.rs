//! Calls of the tools of a test world, each a transaction.

use core::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;

use super::values::same;
use super::world::Inner;
use crate::access::Rule;
use crate::call::{Actor, CallError, Success, ToolCall};
use crate::environment::{AccessNeeds, Outcome, ToolFault};
use crate::failure::Failure;
use crate::host::{Grants, Port};
use crate::json::Json;
use crate::phone::{Level, Phone};
use crate::plugin::ToolTable;

pub(super) type FakeTool = Rc<dyn Fn(&mut Phone, &Value) -> Outcome>;

/// How a tool of the test world is served.
#[derive(Clone)]
pub(crate) enum Served {
    Plugin { table: Rc<ToolTable>, grants: Rc<Grants>, plugin: &'static str },
    Fake { needs: AccessNeeds, serve: FakeTool },
}

impl Served {
    /// The plugin behind it; none for a fake.
    fn plugin(&self) -> Option<&'static str> {
        match self {
            Self::Plugin { plugin, .. } => Some(plugin),
            Self::Fake { .. } => None,
        }
    }
}

/// Whether an access rule is the one for a call.
pub(super) fn matches(rule: &Rule, call: &ToolCall) -> bool {
    let Some((argument, values)) = rule.when else {
        return true;
    };
    let found = call.argument(argument).ok().flatten().unwrap_or(Value::Null);
    values.to_values().iter().any(|value| same(value, &found))
}

/// Runs a call as a transaction.
pub(crate) fn invoke(world: &Rc<RefCell<Inner>>, call: &ToolCall, by: Actor) -> Outcome {
    let served = {
        let mut world = world.borrow_mut();
        world.invoked.push((by, call.clone()));
        world.installed.get(&call.tool).cloned()
    };
    match served {
        Some(served) => run(world, call, served),
        None => Outcome::Failed(Failure::not_found("tool", call.tool.as_str())),
    }
}

/// Runs a call that a plugin makes within its own. What is installed may be called: what is granted of it is the operator's to say.
pub(crate) fn call_within(
    world: &Rc<RefCell<Inner>>,
    by: &'static str,
    tool: &str,
    arguments: Json,
) -> Result<Success, CallError> {
    let given = arguments.parse::<Value>().is_ok_and(|value| value.is_object());
    assert!(given, "the arguments of `{tool}` are `{}`: expected an object; the host traps here", arguments.as_str());
    let call = ToolCall { id: "inner".to_owned(), tool: tool.to_owned(), arguments };
    let served = {
        let mut world = world.borrow_mut();
        world.called.push(call.clone());
        let served = world.installed.get(tool).cloned();
        let served = served.ok_or_else(|| CallError::Denied(format!("tool `{tool}` is not granted")))?;
        if served.plugin().is_some_and(|plugin| plugin == by || world.running.contains(&plugin)) {
            return Err(CallError::Denied("busy".to_owned()));
        }
        served
    };
    match run(world, &call, served) {
        Outcome::Done(success) => Ok(success),
        Outcome::Failed(failure) => Err(CallError::Failed(failure)),
        Outcome::Faulted(ToolFault::Denied(what)) => Err(CallError::Denied(what)),
        Outcome::Faulted(ToolFault::Trapped) => Err(CallError::Faulted("trapped".to_owned())),
        Outcome::Faulted(ToolFault::Budget(what) | ToolFault::Other(what)) => Err(CallError::Faulted(what)),
    }
}

fn run(world: &Rc<RefCell<Inner>>, call: &ToolCall, served: Served) -> Outcome {
    let plugin = served.plugin().unwrap_or_default();
    let before = {
        let mut world = world.borrow_mut();
        world.running.push(plugin);
        (world.documents.clone(), world.kept.clone())
    };
    let phone = |grants: Rc<Grants>| Phone::new(Port { world: Rc::clone(world), grants, plugin });
    let outcome = match served {
        Served::Fake { serve, .. } => serve(&mut phone(Rc::default()), &call.arguments.parse().unwrap_or_default()),
        Served::Plugin { table, grants, .. } => match table.call(&mut phone(grants), call) {
            Ok(success) => Outcome::Done(success),
            Err(failure) if failure.as_fault().is_some() => {
                world.borrow_mut().log.push((Level::Error, failure.message().to_owned()));
                Outcome::Faulted(ToolFault::Trapped)
            }
            Err(failure) => Outcome::Failed(failure),
        },
    };
    let mut world = world.borrow_mut();
    world.running.pop();
    if !matches!(outcome, Outcome::Done(_)) {
        (world.documents, world.kept) = before;
    }
    drop(world);
    outcome
}
