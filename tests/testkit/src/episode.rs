//! One live episode of the fake host.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::digest::{CallDigest, ContentDigest, InputDigest, StateDigest};
use loopwright_contract::environment::{Actor, Feedback, Observation, Reply, Turn, TurnResult};
use loopwright_contract::episode::{Episode, Invocation};
use loopwright_contract::evidence::{Change, Deed, Step};
use loopwright_contract::fault::{CallFault, GuestFault, HostFault};
use loopwright_contract::memory::{self, CivilTime, MemoryRecord, MemoryTable, MemoryWrite};
use loopwright_contract::name::{CallId, Lang, MemoryId, PluginName, SkillName, ToolName};
use loopwright_contract::skill::Advice;
use loopwright_contract::state::StateError;
use loopwright_contract::task::Check;
use loopwright_contract::tool::ToolCall;
use loopwright_contract::verdict::{Criterion, JudgedCheck, RawVerdict, Verdict};
use serde_json::Value;

use crate::host::{BROKEN_SKILL, CONTRARY, Faults, TRAPPING, stored};
use crate::tool::{self, Documents, NOTE, TORCH, WIPE};

/// Nanoseconds that the clock moves a turn.
const TURN_NS: u64 = 1_000_000_000;

/// One live episode.
#[derive(Clone)]
pub struct FakeEpisode {
    documents: Documents,
    at_turn_start: Documents,
    at_turn_end: Option<(Documents, Documents)>,
    /// The documents after each step, for judging prefixes.
    history: Vec<Documents>,
    steps: Vec<Step>,
    /// Of the open turn.
    running: Vec<Invocation>,
    /// Of the last closed turn.
    invocations: Vec<Invocation>,
    turn: u32,
    now_ns: u64,
    confirmed: BTreeSet<CallDigest>,
    remembered: usize,
    faults: Faults,
}

fn guest(plugin: &str, reason: &str) -> CallFault {
    CallFault::Guest {
        plugin: PluginName::new(plugin).expect("a constant name"),
        fault: GuestFault::Trapped { reason: reason.to_owned() },
    }
}

impl FakeEpisode {
    pub(crate) fn new(documents: Documents, now_ns: u64, faults: Faults) -> Self {
        Self {
            at_turn_start: documents.clone(),
            at_turn_end: None,
            history: vec![documents.clone()],
            documents,
            steps: Vec::new(),
            running: Vec::new(),
            invocations: Vec::new(),
            turn: 0,
            now_ns,
            confirmed: BTreeSet::new(),
            remembered: 0,
            faults,
        }
    }

    pub(crate) fn documents_mut(&mut self) -> &mut Documents {
        &mut self.documents
    }

    pub(crate) fn into_documents(self) -> Documents {
        self.documents
    }

    /// What the fake phone's clock shows, in UTC.
    fn now_civil(&self) -> CivilTime {
        civil(self.now_ns / 1_000_000_000)
    }

    fn observation(&self) -> Observation {
        let wipe = !self.faults.late_wipe || self.turn > 0 || !self.steps.is_empty();
        let names = [Some(NOTE), Some(TORCH), wipe.then_some(WIPE)];
        let exposed = names.into_iter().flatten().map(|name| ToolName::new(name).expect("a constant name")).collect();
        Observation { exposed: Some(exposed), notices: Vec::new() }
    }

    fn push(&mut self, deed: Deed, ok: bool, answer: Value) {
        let index = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.steps.push(Step { index, turn: self.turn, at_ns: self.now_ns, by: Actor::Agent, deed, ok, answer });
        self.history.push(self.documents.clone());
    }

    fn verdict(&self, rows: &Value, upto: u32) -> RawVerdict {
        let empty = Documents::new();
        let documents = self.history.get(upto as usize).unwrap_or(&empty);
        let initial = self.history.first().unwrap_or(&empty);
        let holds = |documents: &Documents, at: &str, expected: &Value| {
            let (collection, key) = at.split_once('/').unwrap_or((at, ""));
            documents.get(&(collection.to_owned(), key.to_owned())).unwrap_or(&Value::Null) == expected
        };
        let mut criteria = Vec::new();
        for (at, expected) in rows.as_object().into_iter().flatten() {
            criteria.push(Criterion {
                id: at.clone(),
                passed: holds(documents, at, expected),
                held_at_reset: holds(initial, at, expected),
                weight: 1.0,
                reason: format!("expected {expected}"),
            });
        }
        criteria.sort_by(|left, right| left.id.cmp(&right.id));
        let passed = criteria.iter().all(|criterion| criterion.passed);
        RawVerdict { passed, score: f64::from(u8::from(passed)), progress: f64::from(u8::from(passed)), criteria }
    }
}

impl Episode for FakeEpisode {
    fn reset(&mut self) -> Result<Observation, CallFault> {
        if self.faults.reset {
            return Err(guest(crate::host::ENVIRONMENT, "unreachable"));
        }
        Ok(self.observation())
    }

    fn step(&mut self, turn: &Turn) -> Result<TurnResult, CallFault> {
        if self.faults.step_at == Some(self.turn) {
            return Err(guest(crate::host::ENVIRONMENT, "unreachable"));
        }
        let mut feedback = Vec::new();
        for call in &turn.calls {
            let confirmed = self.confirmed.contains(&call.digest());
            let reply = tool::run(&mut self.documents, call, confirmed);
            let ran = !matches!(reply, Reply::NeedsConfirmation(_));
            self.running.push(Invocation {
                plugin: ran.then(|| PluginName::new("fake-tools").expect("a constant name")),
                fault: None,
                fuel: 10,
            });
            self.push(Deed::Call { call: call.clone() }, matches!(reply, Reply::Done(_)), reply.envelope());
            feedback.push(Feedback { call_id: call.id.clone(), reply, effects: Vec::new() });
        }
        Ok(TurnResult { feedback, observation: self.observation() })
    }

    fn record(&mut self, deed: Deed, ok: bool, answer: Value) {
        self.running.push(Invocation { plugin: None, fault: None, fuel: 0 });
        self.push(deed, ok, answer);
    }

    fn end_turn(&mut self) {
        self.turn += 1;
        self.now_ns += TURN_NS;
        self.invocations = std::mem::take(&mut self.running);
        let before = std::mem::replace(&mut self.at_turn_start, self.documents.clone());
        self.at_turn_end = Some((before, self.documents.clone()));
    }

    fn confirm(&mut self, call: &ToolCall) {
        self.confirmed.insert(call.digest());
    }

    fn memory(&self) -> Result<Vec<MemoryRecord>, CallFault> {
        Ok(self.records().map_err(|error| HostFault::Internal(error.to_string()))?.into_values().collect())
    }

    fn write_memory(&mut self, write: &MemoryWrite) -> Result<Reply, CallFault> {
        let now = self.now_civil();
        let confirmed = match write {
            MemoryWrite::Remove { memory } => {
                let call = MemoryWrite::removal(CallId::new("-").expect("a constant id"), memory);
                self.confirmed.contains(&call.expect("a constant name").digest())
            }
            _ => false,
        };
        memory::write(self, write, &now, confirmed).map_err(|error| HostFault::Internal(error.to_string()).into())
    }

    fn remind(&mut self) -> Result<Vec<MemoryRecord>, CallFault> {
        let now = self.now_civil();
        let fired = memory::remind(self, &now).map_err(|error| HostFault::Internal(error.to_string()))?;
        if self.turn == 0 && self.steps.is_empty() {
            self.history = vec![self.documents.clone()];
        }
        // What fires between two turns belongs to the one before.
        self.at_turn_start = self.documents.clone();
        if let Some((_, after)) = &mut self.at_turn_end {
            after.clone_from(&self.documents);
        }
        Ok(fired)
    }

    fn skill_guidance(&mut self, skill: &SkillName, offered: &[ToolName], lang: &Lang) -> Result<String, CallFault> {
        if *skill == BROKEN_SKILL {
            return Err(guest(BROKEN_SKILL, "unreachable"));
        }
        let names: Vec<&str> = offered.iter().map(ToolName::as_str).collect();
        Ok(format!("{skill} ({lang}): {}", names.join(", ")))
    }

    fn skill_check(&mut self, _skill: &SkillName, call: &ToolCall) -> Result<Advice, CallFault> {
        Ok(match call.arguments.get("key").and_then(Value::as_str) {
            Some("secret") => Advice::Block("notes named `secret` are not touched".to_owned()),
            Some("draft") => Advice::Warn("drafts are removed at night".to_owned()),
            Some("trap") => return Err(guest(skill_name(), "unreachable")),
            _ => Advice::Allow,
        })
    }

    fn judge(&mut self, index: u32, check: &Check, upto: &[u32]) -> Result<Vec<JudgedCheck>, CallFault> {
        if check.verifier == TRAPPING {
            return Err(guest(TRAPPING, "unreachable"));
        }
        let mut judged = Vec::new();
        for steps in upto {
            let mut raw = self.verdict(&check.check, *steps);
            if check.verifier == CONTRARY {
                raw.passed = !raw.passed;
                raw.score = f64::from(u8::from(raw.passed));
            }
            let verdict = Verdict::new(raw).expect("a fake verdict is in range");
            judged.push(JudgedCheck {
                check: index,
                verifier: check.verifier.clone(),
                verifier_digest: ContentDigest::of(check.verifier.as_str().as_bytes()),
                engine: "fake/1".to_owned(),
                input: InputDigest::of(format!("{}:{steps}", check.check).as_bytes()),
                upto: *steps,
                fuel: 100,
                verdict,
            });
        }
        Ok(judged)
    }

    fn fork(&self) -> Result<Box<dyn Episode>, CallFault> {
        Ok(Box::new(self.clone()))
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn invocations(&self) -> &[Invocation] {
        &self.invocations
    }

    fn changes(&self) -> Vec<Change> {
        let (before, after) = match &self.at_turn_end {
            Some((before, after)) => (before, after),
            None => (&self.at_turn_start, &self.documents),
        };
        let places: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let changed = places.into_iter().filter(|place| before.get(*place) != after.get(*place));
        changed
            .map(|place| Change {
                collection: place.0.clone(),
                key: place.1.clone(),
                before: before.get(place).cloned(),
                after: after.get(place).cloned(),
            })
            .collect()
    }

    fn state_digest(&self) -> StateDigest {
        stored(&self.documents).digest
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn now_text(&self) -> String {
        format!("{}+00:00[UTC]", self.now_civil())
    }
}

impl MemoryTable for FakeEpisode {
    fn records(&self) -> Result<BTreeMap<MemoryId, MemoryRecord>, StateError> {
        let own = self.documents.iter().filter(|((collection, _), _)| collection == memory::COLLECTION);
        own.map(|((_, key), value)| {
            let record = memory::record_of(key, value.clone());
            record.map(|record| (record.id.clone(), record)).map_err(|error| StateError::Invalid(error.to_string()))
        })
        .collect()
    }

    fn put(&mut self, record: &MemoryRecord) -> Result<(), StateError> {
        self.documents.insert((memory::COLLECTION.to_owned(), record.id.to_string()), record.document());
        Ok(())
    }

    fn remove(&mut self, id: &MemoryId) -> Result<(), StateError> {
        self.documents.remove(&(memory::COLLECTION.to_owned(), id.to_string()));
        Ok(())
    }

    fn next_id(&mut self) -> Result<MemoryId, StateError> {
        self.remembered += 1;
        MemoryId::new(format!("memory-{:04}", self.remembered)).map_err(|error| StateError::Other(error.to_string()))
    }

    fn issued(&self) -> usize {
        self.remembered
    }
}

/// The civil time of so many seconds since 1970, in UTC.
fn civil(seconds: u64) -> CivilTime {
    let (mut day, second) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let text = format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", day + 1);
    CivilTime::new(text).expect("a time of the calendar")
}

fn skill_name() -> &'static str {
    crate::host::SKILL
}
