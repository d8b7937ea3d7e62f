//! A verifier's evidence in memory.

use core::cell::RefCell;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::documents::Documents;
use super::values::{remove, same};
use super::world::TestPhone;
use crate::call::{Actor, ToolCall};
use crate::evidence::{Action, Bookkeeping, Change, Evidence, Step};
use crate::host::EvidencePort;
use crate::json::Json;
use crate::phone::Level;
use crate::time::Instant;
use crate::verifier::{JudgeError, Verdict, VerifierPlugin};

const DIFFERENCES_MAX: usize = 16;

/// What the fake host recorded.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// State after 0, 1, 2, ... steps.
    states: Vec<Rc<Documents>>,
    target: Option<Rc<Documents>>,
    steps: Vec<Step>,
    bookkeeping: BTreeMap<String, Vec<String>>,
    log: RefCell<Vec<(Level, String)>>,
}

impl Record {
    pub(crate) fn initial(&self) -> Rc<Documents> {
        self.states.first().cloned().unwrap_or_default()
    }

    pub(crate) fn after(&self, count: u32) -> Option<Rc<Documents>> {
        self.states.get(count as usize).cloned()
    }

    pub(crate) fn target(&self) -> Option<Rc<Documents>> {
        self.target.clone()
    }

    pub(crate) fn changes(
        &self,
        a: &Documents,
        b: &Documents,
        bookkeeping: Bookkeeping,
        range: Range<u32>,
    ) -> (Vec<Change>, Option<u32>) {
        let all = self.all_changes(a, b, bookkeeping, &[]);
        let page: Vec<Change> = all.iter().skip(range.start as usize).take(range.len()).cloned().collect();
        let next = ((range.end as usize) < all.len()).then_some(range.end);
        (page, next)
    }

    pub(crate) fn differences(&self, a: &Documents, b: &Documents, except: &[String]) -> Vec<String> {
        let line = |change: &Change| {
            let text = |side: &Option<Json>| {
                side.as_ref().map_or_else(|| "absent".to_owned(), |text| text.as_str().to_owned())
            };
            format!("`{}/{}`: {} against {}", change.collection, change.key, text(&change.before), text(&change.after))
        };
        let changes = self.all_changes(a, b, Bookkeeping::Ignored, except);
        changes.iter().take(DIFFERENCES_MAX).map(line).collect()
    }

    pub(crate) fn step_count(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn steps(&self, start: u32, limit: u32) -> Vec<Step> {
        self.steps.iter().skip(start as usize).take(limit as usize).cloned().collect()
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        self.log.borrow_mut().push((level, message.to_owned()));
    }

    fn all_changes(&self, a: &Documents, b: &Documents, bookkeeping: Bookkeeping, except: &[String]) -> Vec<Change> {
        let names: BTreeSet<String> = a.collections().into_iter().chain(b.collections()).collect();
        let mut changes = Vec::new();
        for collection in names.into_iter().filter(|name| !except.contains(name)) {
            let keys: BTreeSet<&String> =
                a.collection(&collection).chain(b.collection(&collection)).map(|(key, _)| key).collect();
            for key in keys {
                let (before, after) = (a.value(&collection, key), b.value(&collection, key));
                if !self.unchanged(&collection, before, after, bookkeeping) {
                    changes.push(Change {
                        collection: collection.clone(),
                        key: key.clone(),
                        before: before.map(Json::from),
                        after: after.map(Json::from),
                    });
                }
            }
        }
        changes
    }

    fn unchanged(
        &self,
        collection: &str,
        before: Option<&Value>,
        after: Option<&Value>,
        bookkeeping: Bookkeeping,
    ) -> bool {
        let (Some(before), Some(after), Bookkeeping::Ignored) = (before, after, bookkeeping) else {
            return Documents::same_document(before, after);
        };
        let (mut before, mut after) = (before.clone(), after.clone());
        for pointer in self.bookkeeping.get(collection).into_iter().flatten() {
            remove(&mut before, pointer);
            remove(&mut after, pointer);
        }
        same(&before, &after)
    }
}

/// Builds the evidence of an episode step by step.
///
/// Each step opens a turn of its own unless [`same_turn`](Self::same_turn) follows it. [`differences`](Evidence::differences) compares
/// without bookkeeping fields; unlike the host it does not rename ids, and words its lines differently.
///
/// ```
/// use loopwright_sdk::testing::TestEvidence;
/// use serde_json::json;
///
/// let evidence = TestEvidence::new(json!({"lamp": {"on": false}}))
///     .call("toggle_lamp", json!({}))
///     .changed(json!({"lamp": {"on": true}}))
///     .finish("the lamp is on")
///     .evidence();
/// let last = evidence.after(evidence.step_count());
/// let on: Option<bool> = last.and_then(|state| state.get("lamp", "on").ok().flatten());
/// assert_eq!(on, Some(true));
/// ```
#[derive(Clone, Debug)]
pub struct TestEvidence {
    record: Record,
    turn: u32,
}

impl TestEvidence {
    /// An episode that begins with these documents, given as `{"collection": {"key": document}}`.
    pub fn new(initial: Value) -> Self {
        Self::from_documents(Documents::from_value(initial))
    }

    /// An episode that begins with a test phone's documents.
    pub fn starting_at(phone: &TestPhone) -> Self {
        Self::from_documents(phone.documents())
    }

    fn from_documents(initial: Documents) -> Self {
        let record = Record {
            states: vec![Rc::new(initial)],
            target: None,
            steps: Vec::new(),
            bookkeeping: BTreeMap::new(),
            log: RefCell::default(),
        };
        Self { record, turn: 0 }
    }

    /// Says which fields of a collection are bookkeeping.
    #[must_use]
    pub fn bookkeeping(mut self, collection: &str, pointers: &[&str]) -> Self {
        let pointers = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
        self.record.bookkeeping.insert(collection.to_owned(), pointers);
        self
    }

    /// The agent calls a tool, which does what was asked. The state stays as it is unless [`changed`](Self::changed) follows.
    #[must_use]
    pub fn call(self, tool: &str, arguments: Value) -> Self {
        let answer = json!({"success": true, "message": "done", "data": {}});
        self.call_with(Actor::Agent, tool, &arguments, true, &answer)
    }

    /// The agent calls a tool, which refuses with this code.
    #[must_use]
    pub fn failed_call(self, tool: &str, arguments: Value, code: u16) -> Self {
        let answer = json!({"success": false, "error": "refused", "code": code});
        self.call_with(Actor::Agent, tool, &arguments, false, &answer)
    }

    /// Someone calls a tool, with an answer given in full.
    #[must_use]
    pub fn call_with(self, by: Actor, tool: &str, arguments: &Value, ok: bool, answer: &Value) -> Self {
        let call = ToolCall::new(format!("call-{}", self.record.steps.len()), tool, arguments);
        self.step(by, Action::Call(call), ok, answer)
    }

    /// The agent asks the user.
    #[must_use]
    pub fn ask(self, question: &str) -> Self {
        self.step(Actor::Agent, Action::Ask(question.to_owned()), true, &Value::Null)
    }

    /// The agent refuses.
    #[must_use]
    pub fn refuse(self, reason: &str) -> Self {
        self.step(Actor::Agent, Action::Refuse(reason.to_owned()), true, &Value::Null)
    }

    /// The agent finishes with this claim.
    #[must_use]
    pub fn finish(self, answer: &str) -> Self {
        self.step(Actor::Agent, Action::Finish(json!({"answer": answer}).into()), true, &Value::Null)
    }

    /// The agent does something else, such as loading a skill.
    #[must_use]
    pub fn other(self, name: &str, carried: Value) -> Self {
        self.step(Actor::Agent, Action::Other(name.to_owned(), carried.into()), true, &Value::Null)
    }

    /// Lays documents over the state that the last step left.
    #[must_use]
    pub fn changed(mut self, documents: Value) -> Self {
        if let Some(last) = self.record.states.last_mut() {
            Rc::make_mut(last).lay(documents);
        }
        self
    }

    /// Removes a document from the state that the last step left.
    #[must_use]
    pub fn removed(mut self, collection: &str, key: &str) -> Self {
        if let Some(last) = self.record.states.last_mut() {
            let removed = Rc::make_mut(last).delete(collection, key);
            assert_eq!(removed, Ok(true), "there is no document `{key}` in `{collection}` to remove");
        }
        self
    }

    /// Puts the last step into the turn of the one before it.
    #[must_use]
    pub fn same_turn(mut self) -> Self {
        let before = self.record.steps.iter().rev().nth(1).map(|step| step.turn);
        assert!(before.is_some(), "`same_turn` needs two steps before it");
        if let (Some(last), Some(before)) = (self.record.steps.last_mut(), before) {
            last.turn = before;
            self.turn = before + 1;
        }
        self
    }

    /// Says where the task's gold actions lead, as documents laid over the initial state.
    #[must_use]
    pub fn target(mut self, documents: Value) -> Self {
        let mut target = (*self.record.initial()).clone();
        target.lay(documents);
        self.record.target = Some(Rc::new(target));
        self
    }

    /// The evidence, as a verifier gets it.
    pub fn evidence(&self) -> Evidence {
        Evidence::new(EvidencePort(Rc::new(self.record.clone())))
    }

    /// Judges the whole episode. A check that does not fit is answered as the export glue answers it.
    ///
    /// # Errors
    /// When the verifier gives no verdict, or not exactly one.
    pub fn judge<V: VerifierPlugin>(&self, check: Value) -> Result<Verdict, JudgeError> {
        let mut verdicts = self.judge_prefixes::<V>(check, &[self.record.step_count()])?;
        match (verdicts.pop(), verdicts.is_empty()) {
            (Some(verdict), true) => Ok(verdict),
            _ => Err(JudgeError::Other("expected one verdict for one prefix".to_owned())),
        }
    }

    /// Judges prefixes, given as step counts.
    ///
    /// # Errors
    /// When the verifier gives no verdict.
    pub fn judge_prefixes<V: VerifierPlugin>(&self, check: Value, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let check = crate::verifier::read_check::<V>(&Json::from(check))?;
        V::judge(&self.evidence(), &check, upto)
    }

    fn step(mut self, by: Actor, action: Action, ok: bool, answer: &Value) -> Self {
        let index = self.record.step_count();
        self.record.steps.push(Step {
            index,
            turn: self.turn,
            at: Instant::from_unix_ns(u64::from(self.turn) * 1_000_000_000),
            by,
            action,
            ok,
            answer: answer.into(),
        });
        self.turn += 1;
        let state = self.record.states.last().cloned().unwrap_or_default();
        self.record.states.push(state);
        self
    }
}
