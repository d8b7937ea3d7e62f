//! The imports of the component, seen as the host.

use crate::bindings::{
    clock_control, consent, context, evidence, log, scratch, state_read, state_write, tool_caller, tools, types,
};
use crate::call::{Actor, CallError, Success, ToolCall};
use crate::environment::{AccessNeeds, Outcome, ToolFault};
use crate::evidence::{Action, Bookkeeping, Change, Step};
use crate::failure::{Code, Failure};
use crate::json::Json;
use crate::phone::Level;
use crate::query::{Query, Test};
use crate::scratch::ScratchError;
use crate::state::{Cursor, Doc, Page, StateError};
use crate::time::Instant;

/// The imports. It holds nothing: the host knows who calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port;

impl Port {
    pub(crate) fn get(&self, collection: &str, key: &str) -> Result<Option<Json>, StateError> {
        let found = state_read::get(collection, key).map_err(|error| state_error(error, collection, key))?;
        Ok(found.map(Json::from_host))
    }

    pub(crate) fn get_many(&self, keys: &[(&str, &str)]) -> Result<Vec<Option<Json>>, StateError> {
        let owned: Vec<(String, String)> =
            keys.iter().map(|(collection, key)| ((*collection).to_owned(), (*key).to_owned())).collect();
        let found = state_read::get_many(&owned).map_err(|error| state_error(error, "", ""))?;
        Ok(found.into_iter().map(|text| text.map(Json::from_host)).collect())
    }

    pub(crate) fn find(&self, collection: &str, query: &Query) -> Result<Page<Json>, StateError> {
        match state_read::find(collection, &lower_query(query)) {
            Ok(found) => Ok(page(found)),
            Err(error) => Err(state_error(error, collection, "")),
        }
    }

    pub(crate) fn put(&self, collection: &str, key: &str, value: Json) -> Result<(), StateError> {
        state_write::put(collection, key, value.as_str()).map_err(|error| state_error(error, collection, key))
    }

    pub(crate) fn patch(&self, collection: &str, key: &str, merge: Json) -> Result<(), StateError> {
        state_write::patch(collection, key, merge.as_str()).map_err(|error| state_error(error, collection, key))
    }

    pub(crate) fn delete(&self, collection: &str, key: &str) -> Result<bool, StateError> {
        state_write::delete(collection, key).map_err(|error| state_error(error, collection, key))
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        write_log(level, message);
    }

    pub(crate) fn now(&self) -> Instant {
        lift_instant(context::now())
    }

    pub(crate) fn zone(&self) -> String {
        context::zone()
    }

    pub(crate) fn offset_s(&self, at: Instant) -> i32 {
        context::offset_s(lower_instant(at))
    }

    pub(crate) fn random(&self) -> u64 {
        let (high, low) = context::random_bits();
        u64::from(high) << 32 | u64::from(low)
    }

    pub(crate) fn next_id(&self, prefix: &str) -> String {
        context::next_id(prefix)
    }

    pub(crate) fn installed(&self) -> Vec<String> {
        tools::installed()
    }

    pub(crate) fn access(&self, call: &ToolCall) -> Option<AccessNeeds> {
        let needs = tools::access(&lower_call(call))?;
        Some(AccessNeeds {
            effect: match needs.effect {
                types::Effect::Read => crate::access::Effect::Read,
                types::Effect::Write => crate::access::Effect::Write,
                types::Effect::Destructive => crate::access::Effect::Destructive,
            },
            requires: needs.requires,
            plugin: needs.plugin,
        })
    }

    pub(crate) fn invoke(&self, call: &ToolCall, by: Actor) -> Outcome {
        let by = match by {
            Actor::Agent => types::Actor::Agent,
            Actor::User => types::Actor::User,
            Actor::Automation => types::Actor::Automation,
        };
        match tools::invoke(&lower_call(call), by) {
            tools::Outcome::Ok(success) => {
                Outcome::Done(Success { message: success.message, data: Json::from_host(success.data) })
            }
            tools::Outcome::Failed(failure) => Outcome::Failed(lift_failure(failure)),
            tools::Outcome::Faulted(fault) => Outcome::Faulted(match fault {
                tools::Fault::Trapped => ToolFault::Trapped,
                tools::Fault::Budget(name) => ToolFault::Budget(name),
                tools::Fault::Denied(what) => ToolFault::Denied(what),
                tools::Fault::Other(what) => ToolFault::Other(what),
            }),
        }
    }

    pub(crate) fn confirmed(&self, call: &ToolCall) -> bool {
        consent::confirmed(&lower_call(call))
    }

    pub(crate) fn advance_to(&self, at: Instant) {
        clock_control::advance_to(lower_instant(at));
    }

    pub(crate) fn call_tool(&self, tool: &str, arguments: Json) -> Result<Success, CallError> {
        match tool_caller::call(tool, arguments.as_str()) {
            Ok(success) => Ok(Success { message: success.message, data: Json::from_host(success.data) }),
            Err(tool_caller::CallError::Failed(failure)) => Err(CallError::Failed(lift_failure(failure))),
            Err(tool_caller::CallError::Denied(what)) => Err(CallError::Denied(what)),
            Err(tool_caller::CallError::Faulted(what)) => Err(CallError::Faulted(what)),
        }
    }

    pub(crate) fn scratch_get(&self, key: &str) -> Option<Vec<u8>> {
        scratch::get(key)
    }

    pub(crate) fn scratch_put(&self, key: &str, value: &[u8]) -> Result<(), ScratchError> {
        scratch::put(key, value).map_err(|error| match error {
            scratch::ScratchError::Quota(limit) => ScratchError::Quota(limit),
            scratch::ScratchError::Invalid(what) => ScratchError::Invalid(what),
        })
    }

    pub(crate) fn scratch_delete(&self, key: &str) -> bool {
        scratch::delete(key)
    }

    pub(crate) fn scratch_keys(&self) -> Vec<String> {
        scratch::keys()
    }
}

/// Writes one line to the host's trace.
pub(crate) fn write_log(level: Level, message: &str) {
    let level = match level {
        Level::Debug => log::Level::Debug,
        Level::Info => log::Level::Info,
        Level::Warn => log::Level::Warn,
        Level::Error => log::Level::Error,
    };
    log::write(level, message);
}

fn state_error(error: types::StateError, collection: &str, key: &str) -> StateError {
    let (collection, key) = (collection.to_owned(), key.to_owned());
    match error {
        types::StateError::Denied(collection) => StateError::Denied { collection },
        types::StateError::NotFound => StateError::NotFound { collection, key },
        types::StateError::Conflict => StateError::Conflict { collection, key },
        types::StateError::Limit(limit) => StateError::Limit(limit),
        types::StateError::Invalid(what) => StateError::Invalid(what),
        types::StateError::Other(what) => StateError::Other(what),
    }
}

fn page(found: types::Page) -> Page<Json> {
    let docs = found.docs.into_iter().map(|doc| Doc { key: doc.key, value: Json::from_host(doc.value) });
    Page { docs: docs.collect(), next: found.next.map(Cursor), total: found.total }
}

fn lower_query(query: &Query) -> types::Query {
    let clauses =
        query.clauses.iter().map(|clause| types::Clause { at: clause.at.clone(), test: lower_test(&clause.test) });
    let orders = query.order.iter().map(|order| types::Order { at: order.at.clone(), descending: order.descending });
    types::Query {
        where_: clauses.collect(),
        order_by: orders.collect(),
        fields: query.fields.clone(),
        limit: query.limit,
        cursor: query.cursor.as_ref().map(|cursor| cursor.0.clone()),
    }
}

fn lower_test(test: &Test) -> types::Test {
    match test {
        Test::Eq(value) => types::Test::Eq(value.to_string()),
        Test::Ne(value) => types::Test::Ne(value.to_string()),
        Test::Lt(value) => types::Test::Lt(value.to_string()),
        Test::Le(value) => types::Test::Le(value.to_string()),
        Test::Gt(value) => types::Test::Gt(value.to_string()),
        Test::Ge(value) => types::Test::Ge(value.to_string()),
        Test::OneOf(values) => types::Test::OneOf(values.iter().map(ToString::to_string).collect()),
        Test::Contains(value) => types::Test::Contains(value.to_string()),
        Test::StartsWith(prefix) => types::Test::StartsWith(prefix.clone()),
        Test::Exists(expected) => types::Test::Exists(*expected),
    }
}

fn lift_instant(at: types::Instant) -> Instant {
    Instant::from_parts(at.seconds, at.nanoseconds)
}

fn lower_instant(at: Instant) -> types::Instant {
    let (seconds, nanoseconds) = at.to_parts();
    types::Instant { seconds, nanoseconds }
}

fn lower_call(call: &ToolCall) -> types::ToolCall {
    types::ToolCall { id: call.id.clone(), tool: call.tool.clone(), arguments: call.arguments.as_str().to_owned() }
}

/// A call as the host gives it.
pub(crate) fn lift_call(call: types::ToolCall) -> ToolCall {
    ToolCall { id: call.id, tool: call.tool, arguments: Json::from_host(call.arguments) }
}

/// Who asks, as the host says it.
pub(crate) fn lift_actor(actor: types::Actor) -> Actor {
    match actor {
        types::Actor::Agent => Actor::Agent,
        types::Actor::User => Actor::User,
        types::Actor::Automation => Actor::Automation,
    }
}

fn lift_failure(failure: types::Failure) -> Failure {
    // The host has checked the text. Facts that cannot be read all the same are worth less than the refusal that carries them.
    let data = failure.data.and_then(|text| match Json::from_host(text).parse() {
        Ok(data) => Some(data),
        Err(error) => {
            write_log(Level::Warn, &format!("data of a refusal: {error}"));
            None
        }
    });
    Failure::from_host(Code::from_host(failure.code), failure.message, data)
}

/// The evidence interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvidencePort;

impl EvidencePort {
    pub(crate) fn initial(&self) -> SnapshotPort {
        SnapshotPort(evidence::initial())
    }

    pub(crate) fn after(&self, count: u32) -> Option<SnapshotPort> {
        evidence::after(count).map(SnapshotPort)
    }

    pub(crate) fn target(&self) -> Option<SnapshotPort> {
        evidence::target().map(SnapshotPort)
    }

    pub(crate) fn changes(
        &self,
        a: &SnapshotPort,
        b: &SnapshotPort,
        bookkeeping: Bookkeeping,
        cursor: u32,
        limit: u32,
    ) -> (Vec<Change>, Option<u32>) {
        let included = bookkeeping == Bookkeeping::Included;
        let (page, next) = evidence::changes(&a.0, &b.0, included, cursor, limit);
        let changes = page.into_iter().map(|change| Change {
            collection: change.collection,
            key: change.key,
            before: change.before.map(Json::from_host),
            after: change.after.map(Json::from_host),
        });
        (changes.collect(), next)
    }

    pub(crate) fn differences(&self, a: &SnapshotPort, b: &SnapshotPort, except: &[String]) -> Vec<String> {
        evidence::differences(&a.0, &b.0, except)
    }

    pub(crate) fn step_count(&self) -> u32 {
        evidence::step_count()
    }

    pub(crate) fn steps(&self, start: u32, limit: u32) -> Vec<Step> {
        evidence::steps(start, limit).into_iter().map(lift_step).collect()
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        write_log(level, message);
    }
}

fn lift_step(step: evidence::Step) -> Step {
    Step {
        index: step.index,
        turn: step.turn,
        at: lift_instant(step.at),
        by: lift_actor(step.by),
        action: match step.action {
            evidence::Action::Call(call) => Action::Call(lift_call(call)),
            evidence::Action::Ask(question) => Action::Ask(question),
            evidence::Action::Refuse(reason) => Action::Refuse(reason),
            evidence::Action::Finish(claim) => Action::Finish(Json::from_host(claim)),
            evidence::Action::Other((name, carried)) => Action::Other(name, Json::from_host(carried)),
        },
        ok: step.ok,
        answer: Json::from_host(step.answer),
    }
}

/// A handle to a snapshot that the host keeps.
#[derive(Debug)]
pub(crate) struct SnapshotPort(evidence::Snapshot);

impl SnapshotPort {
    pub(crate) fn get(&self, collection: &str, key: &str) -> Result<Option<Json>, StateError> {
        let found = self.0.get(collection, key).map_err(|error| state_error(error, collection, key))?;
        Ok(found.map(Json::from_host))
    }

    pub(crate) fn find(&self, collection: &str, query: &Query) -> Result<Page<Json>, StateError> {
        match self.0.find(collection, &lower_query(query)) {
            Ok(found) => Ok(page(found)),
            Err(error) => Err(state_error(error, collection, "")),
        }
    }

    pub(crate) fn collections(&self) -> Vec<String> {
        self.0.collections()
    }

    pub(crate) fn digest(&self) -> Vec<u8> {
        self.0.digest()
    }
}
