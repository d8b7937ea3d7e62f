//! A phone in memory, with its clock, ids, installed tools and the user's word.

use core::cell::RefCell;
use core::fmt;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use serde_json::Value;

use super::calls::{FakeTool, Served, invoke, matches};
use super::documents::Documents;
use super::kept::Kept;
use super::values::same;
use crate::access::Effect;
use crate::call::{Actor, CallError, Reply, Success, ToolCall};
use crate::environment::{AccessNeeds, EnvironmentPlugin, Observation, Outcome, ToolFault, Turn, TurnResult, World};
use crate::failure::Failure;
use crate::host::{Grants, Port};
use crate::json::Json;
use crate::phone::{Level, Phone, PhoneView};
use crate::plugin::{ToolPlugin, ToolTable};
use crate::state::StateError;
use crate::time::Instant;

/// 2026-01-01T00:00:00Z, where the clock of a test begins.
const BEGIN: Instant = Instant::from_unix_ns(1_767_225_600_000_000_000);

/// Everything that a test world holds.
pub(crate) struct Inner {
    pub(crate) documents: Documents,
    pub(crate) kept: Kept,
    pub(crate) now: Instant,
    pub(crate) zone: String,
    pub(crate) offset: Rc<dyn Fn(Instant) -> i32>,
    pub(crate) log: Vec<(Level, String)>,
    pub(crate) installed: BTreeMap<String, Served>,
    pub(crate) planted: Option<StateError>,
    random: u64,
    counters: BTreeMap<String, u32>,
    confirmed: Vec<(String, Value)>,
    pub(super) invoked: Vec<(Actor, ToolCall)>,
    pub(super) called: Vec<ToolCall>,
    /// Plugins whose calls are open, the outermost first.
    pub(super) running: Vec<&'static str>,
}

impl Inner {
    /// The next number of SplitMix64 (Steele, Lea and Flood, 2014).
    pub(crate) fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn next_id(&mut self, prefix: &str) -> String {
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let first = prefix.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        assert!(
            first && prefix.len() <= 32 && prefix.bytes().all(letters),
            "`{prefix}` is no prefix of an id: expected 1 to 32 of `a-z`, `0-9` and `_`, a letter first; the host traps here"
        );
        let count = self.counters.entry(prefix.to_owned()).or_insert(0);
        *count += 1;
        format!("{prefix}-{count:04}")
    }

    pub(crate) fn advance_to(&mut self, at: Instant) {
        assert!(
            at >= self.now,
            "the clock cannot go back from {} to {}; the host traps here",
            self.now.to_rfc3339(0),
            at.to_rfc3339(0)
        );
        self.now = at;
    }

    pub(crate) fn access(&self, call: &ToolCall) -> Option<AccessNeeds> {
        match self.installed.get(&call.tool)? {
            Served::Fake { needs, .. } => Some(needs.clone()),
            Served::Plugin { table, plugin, .. } => {
                let rule = table.get(&call.tool)?.rules.iter().find(|rule| matches(rule, call))?;
                Some(AccessNeeds {
                    effect: rule.effect,
                    requires: rule.requires.iter().map(|requirement| requirement.to_text()).collect(),
                    plugin: (*plugin).to_owned(),
                })
            }
        }
    }

    pub(crate) fn confirmed(&self, call: &ToolCall) -> bool {
        let arguments: Value = call.arguments.parse().unwrap_or_default();
        self.confirmed.iter().any(|(tool, confirmed)| *tool == call.tool && same(confirmed, &arguments))
    }
}

/// A phone in memory.
///
/// A builder sets it up; then [`call`](Self::call) runs a tool as the host would, and [`reset`](Self::reset) and [`step`](Self::step) run an
/// environment. The clock begins at 2026-01-01T00:00:00Z and stands still, the zone is UTC, ids are `PREFIX-0001` and so on, and the random
/// stream is one for all plugins, where the host gives each its own.
///
/// ```
/// use loopwright_sdk::testing::TestPhone;
/// use loopwright_sdk::Instant;
///
/// let test = TestPhone::new()
///     .clock("2026-03-02T09:00:00+08:00")
///     .zone("Asia/Shanghai", 8 * 3600)
///     .state(serde_json::json!({"contacts": {"contact-1": {"name": "Li Lei"}}}));
/// let phone = test.phone();
/// assert_eq!(phone.local(phone.now()).to_string(), "2026-03-02T09:00:00");
/// ```
pub struct TestPhone {
    world: Rc<RefCell<Inner>>,
}

impl Default for TestPhone {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TestPhone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = self.world.borrow();
        formatter
            .debug_struct("TestPhone")
            .field("documents", &world.documents)
            .field("now", &world.now.to_rfc3339(0))
            .field("log", &world.log)
            .finish_non_exhaustive()
    }
}

impl TestPhone {
    /// An empty phone: no documents and no tools.
    pub fn new() -> Self {
        let inner = Inner {
            documents: Documents::default(),
            kept: Kept::default(),
            now: BEGIN,
            zone: "UTC".to_owned(),
            offset: Rc::new(|_| 0),
            log: Vec::new(),
            installed: BTreeMap::new(),
            planted: None,
            random: 0,
            counters: BTreeMap::new(),
            confirmed: Vec::new(),
            invoked: Vec::new(),
            called: Vec::new(),
            running: Vec::new(),
        };
        Self { world: Rc::new(RefCell::new(inner)) }
    }

    /// Installs a tool plugin, with its initial documents and a grant for exactly what its storage declares.
    #[must_use]
    pub fn plugin<P: ToolPlugin>(self) -> Self {
        let storage = P::storage();
        let grants = Rc::new(Grants::of(&storage));
        let table = Rc::new(ToolTable::of::<P>());
        let mut world = self.world.borrow_mut();
        for collection in storage.owned {
            world.documents.declare(collection.name);
            for (key, document) in collection.initial {
                world.documents.set(collection.name, &key, document);
            }
        }
        for tool in table.iter() {
            let served =
                Served::Plugin { table: Rc::clone(&table), grants: Rc::clone(&grants), plugin: P::IDENTITY.name };
            world.installed.insert(tool.name.to_owned(), served);
        }
        drop(world);
        self
    }

    /// Installs a tool that answers as told, for the test of an environment.
    ///
    /// ```
    /// use loopwright_sdk::testing::TestPhone;
    /// use loopwright_sdk::{Effect, Failure};
    ///
    /// let mut test = TestPhone::new().fake_tool("send_sms", Effect::Write, &["network"], |_, arguments| {
    ///     match arguments.get("text") {
    ///         Some(text) => Ok(serde_json::json!({"sent": text})),
    ///         None => Err(Failure::missing_argument("text", "a text", "sending")),
    ///     }
    /// });
    /// assert!(test.call("send_sms", serde_json::json!({})).is_err());
    /// ```
    #[must_use]
    pub fn fake_tool(
        self,
        name: &str,
        effect: Effect,
        requires: &[&str],
        serve: impl Fn(&mut Phone, &Value) -> Result<Value, Failure> + 'static,
    ) -> Self {
        self.fake(
            name,
            effect,
            requires,
            Rc::new(move |phone, arguments| match serve(phone, arguments) {
                Ok(data) => Outcome::Done(Success { message: "done".to_owned(), data: data.into() }),
                Err(failure) => Outcome::Failed(failure),
            }),
        )
    }

    /// Installs a tool whose code always fails in this way.
    #[must_use]
    pub fn faulty_tool(self, name: &str, effect: Effect, fault: ToolFault) -> Self {
        self.fake(name, effect, &[], Rc::new(move |_, _| Outcome::Faulted(fault.clone())))
    }

    /// Installs a tool of another plugin that answers one call after the other as told, for the test of a tool that calls it: the data of a
    /// success, or why not. One call more fails the test. [`Phone::call_tool`] has an example.
    ///
    /// Any installed tool may be called within a call, a [`plugin`](Self::plugin)'s too; one that is not installed is denied, as the host
    /// denies what is not granted. What effect the inner call has, and how many there are, is not checked here.
    #[must_use]
    pub fn answers(self, name: &str, answers: impl IntoIterator<Item = Result<Value, CallError>>) -> Self {
        let answers = RefCell::new(answers.into_iter().collect::<VecDeque<_>>());
        let tool = name.to_owned();
        self.fake(
            name,
            Effect::Read,
            &[],
            Rc::new(move |_, _| {
                let answer = answers.borrow_mut().pop_front();
                assert!(answer.is_some(), "`{tool}` is called once more than there are answers");
                match answer {
                    Some(Ok(data)) => Outcome::Done(Success { message: "done".to_owned(), data: data.into() }),
                    Some(Err(CallError::Failed(failure))) => Outcome::Failed(failure),
                    Some(Err(CallError::Denied(what))) => Outcome::Faulted(ToolFault::Denied(what)),
                    Some(Err(CallError::Faulted(what))) => Outcome::Faulted(ToolFault::Other(what)),
                    Some(Err(CallError::Shape(error))) => Outcome::Faulted(ToolFault::Other(error.to_string())),
                    None => Outcome::Faulted(ToolFault::Trapped),
                }
            }),
        )
    }

    /// Grants each plugin so many bytes of scratch; none without. The phone of [`phone`](Self::phone) has as many of its own.
    #[must_use]
    pub fn scratch_bytes(self, bytes: usize) -> Self {
        self.world.borrow_mut().kept.quota = bytes;
        self
    }

    fn fake(self, name: &str, effect: Effect, requires: &[&str], serve: FakeTool) -> Self {
        let needs = AccessNeeds {
            effect,
            requires: requires.iter().map(|text| (*text).to_owned()).collect(),
            plugin: "fake".to_owned(),
        };
        self.world.borrow_mut().installed.insert(name.to_owned(), Served::Fake { needs, serve });
        self
    }

    /// Lays documents, given as `{"collection": {"key": document}}`, over those that are there.
    #[must_use]
    pub fn state(self, documents: Value) -> Self {
        self.world.borrow_mut().documents.lay(documents);
        self
    }

    /// Sets the clock, as RFC 3339 text.
    #[must_use]
    pub fn clock(self, moment: &str) -> Self {
        let parsed = Instant::parse_rfc3339(moment);
        assert!(parsed.is_some(), "`{moment}` is no RFC 3339 moment such as `2026-03-02T09:00:00+08:00`");
        self.world.borrow_mut().now = parsed.unwrap_or(BEGIN);
        self
    }

    /// Sets the zone's name and its fixed offset from UTC in seconds, east positive.
    #[must_use]
    pub fn zone(self, name: &str, offset_s: i32) -> Self {
        self.zone_with(name, move |_| offset_s)
    }

    /// Sets the zone's name and how its offset follows from the moment.
    #[must_use]
    pub fn zone_with(self, name: &str, offset_s: impl Fn(Instant) -> i32 + 'static) -> Self {
        let mut world = self.world.borrow_mut();
        name.clone_into(&mut world.zone);
        world.offset = Rc::new(offset_s);
        drop(world);
        self
    }

    /// Sets the seed of the random stream.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.world.borrow_mut().random = seed;
        self
    }

    /// Lets the user confirm exactly this call.
    pub fn confirm(&mut self, tool: &str, arguments: Value) {
        self.world.borrow_mut().confirmed.push((tool.to_owned(), arguments));
    }

    /// Lets the next state operation fail with this error.
    pub fn fail_next(&mut self, error: StateError) {
        self.world.borrow_mut().planted = Some(error);
    }

    /// Runs a tool as the host would: a failure leaves no write behind.
    ///
    /// # Errors
    /// When the tool refuses. A fault, where the host sees a trap, comes as a failure whose [`as_fault`](Failure::as_fault) is set.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Reply, Failure> {
        match invoke(&self.world, &ToolCall::new("call-0", tool, &arguments), Actor::Agent) {
            Outcome::Done(success) => Ok(Reply::new(success.message, success.data.parse()?)),
            Outcome::Failed(failure) => Err(failure),
            Outcome::Faulted(fault) => {
                let logged = self.world.borrow().log.last().map(|(_, message)| message.clone());
                Err(Failure::fault(logged.unwrap_or_else(|| format!("{fault:?}"))))
            }
        }
    }

    /// Starts an episode of an environment.
    ///
    /// # Errors
    /// When the set-up does not fit, or the environment refuses.
    pub fn reset<E: EnvironmentPlugin>(&mut self, setup: Value) -> Result<Observation, Failure> {
        let setup = Json::from(setup).parse().map_err(|error| Failure::malformed_arguments(&error))?;
        E::reset(&mut self.world(), setup)
    }

    /// Runs one turn of an environment. Calls get the ids `call-0`, `call-1` and so on.
    ///
    /// # Errors
    /// When the environment refuses the turn.
    pub fn step<E: EnvironmentPlugin>(&mut self, actor: Actor, calls: &[(&str, Value)]) -> Result<TurnResult, Failure> {
        let calls = calls.iter().enumerate();
        let calls = calls.map(|(index, (tool, arguments))| ToolCall::new(format!("call-{index}"), *tool, arguments));
        let turn = Turn { actor, calls: calls.collect() };
        E::step(&mut self.world(), turn)
    }

    /// One document.
    pub fn document(&self, collection: &str, key: &str) -> Option<Value> {
        self.world.borrow().documents.value(collection, key).cloned()
    }

    /// The keys of a collection, sorted.
    pub fn keys(&self, collection: &str) -> Vec<String> {
        self.world.borrow().documents.collection(collection).map(|(key, _)| key.clone()).collect()
    }

    /// The calls that ran so far, with who asked for them.
    pub fn invoked(&self) -> Vec<(Actor, ToolCall)> {
        self.world.borrow().invoked.clone()
    }

    /// The calls that tools made within their own, answered or not, in the order in which they began.
    pub fn called(&self) -> Vec<ToolCall> {
        self.world.borrow().called.clone()
    }

    /// What a plugin keeps under a key of its scratch.
    pub fn kept(&self, plugin: &str, key: &str) -> Option<Vec<u8>> {
        self.world.borrow().kept.get(plugin, key)
    }

    /// The lines that were logged so far.
    pub fn log(&self) -> Vec<(Level, String)> {
        self.world.borrow().log.clone()
    }

    /// The phone itself, granted everything, for testing plain functions.
    pub fn phone(&self) -> Phone {
        Phone::new(self.port())
    }

    /// The phone for reading, as a skill gets it.
    pub fn view(&self) -> PhoneView {
        PhoneView::new(self.port())
    }

    /// The world of an environment.
    pub fn world(&self) -> World {
        World::new(self.port())
    }

    /// Copies the documents, for a verifier's evidence.
    pub(crate) fn documents(&self) -> Documents {
        self.world.borrow().documents.clone()
    }

    fn port(&self) -> Port {
        Port { world: Rc::clone(&self.world), grants: Rc::default(), plugin: "" }
    }
}
