//! The builder of one instance: its parameters, initial state, gold and checks. Methods follow the order in which a task is thought of.

use loopwright_contract::action::Action;
use loopwright_contract::memory::{SEARCH_LIMIT_DEFAULT, SearchMode};
use loopwright_contract::name::{CallId, MemoryId, NameError, PluginName, SkillName, ToolName};
use loopwright_contract::task::{Check, Consent, DocumentEdit, Slot, UserScript};
use loopwright_contract::tool::ToolCall;
use serde_json::{Map, Value, json};

use super::draw::Tongue;

/// One instance, as a family describes it.
#[derive(Default)]
pub(super) struct Plan {
    /// What the request's `{name}`s stand for.
    pub(super) words: Vec<(&'static str, String)>,
    /// Which of the family's phrasings: 0 unless the family has several.
    pub(super) phrasing: usize,
    /// Overrides the family's category, for the twin of a task with missing information.
    pub(super) category: Option<&'static str>,
    pub(super) setup: Option<Value>,
    pub(super) edits: Vec<DocumentEdit>,
    pub(super) user: UserScript,
    pub(super) gold: Vec<Vec<Action>>,
    rows: Vec<Value>,
    unchanged_except: Option<Vec<&'static str>>,
    further: Vec<Check>,
    calls: u32,
    problem: Option<NameError>,
}

impl Plan {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Fills `{name}` of the request.
    pub(super) fn word(mut self, name: &'static str, text: impl ToString) -> Self {
        self.words.push((name, text.to_string()));
        self
    }

    /// Takes another of the family's phrasings.
    pub(super) fn phrased(mut self, phrasing: usize) -> Self {
        self.phrasing = phrasing;
        self
    }

    pub(super) fn category(mut self, category: &'static str) -> Self {
        self.category = Some(category);
        self
    }

    // Initial state.

    pub(super) fn put(mut self, collection: &str, key: &str, value: Value) -> Self {
        self.edits.push(DocumentEdit::Put { collection: collection.to_owned(), key: key.to_owned(), value });
        self
    }

    pub(super) fn patch(mut self, collection: &str, key: &str, value: Value) -> Self {
        self.edits.push(DocumentEdit::Patch { collection: collection.to_owned(), key: key.to_owned(), value });
        self
    }

    // The scripted user.

    /// Something that the user tells when a question has one of `asked_by` in it.
    pub(super) fn slot(mut self, name: &str, asked_by: &[&str], answer: impl ToString) -> Self {
        let asked_by = asked_by.iter().map(|word| (*word).to_owned()).collect();
        self.user.slots.push(Slot { name: name.to_owned(), asked_by, answer: answer.to_string() });
        self
    }

    // Gold.

    /// One call, in a turn of its own.
    pub(super) fn call(self, tool: &str, arguments: Value) -> Self {
        self.together(vec![(tool, arguments)])
    }

    /// Several calls in one turn.
    pub(super) fn together(mut self, calls: Vec<(&str, Value)>) -> Self {
        let turn = calls.into_iter().filter_map(|(tool, arguments)| self.one(tool, arguments)).collect();
        self.gold.push(turn);
        self
    }

    /// A call that needs the user's word: it is tried, the user is asked for exactly it and agrees, and it is made again.
    pub(super) fn confirmed(mut self, tool: &str, arguments: Value, question: &str) -> Self {
        self = self.proposed(tool, arguments.clone(), question);
        if let Ok(tool) = ToolName::new(tool) {
            self.user.consents.push(Consent { tool, arguments: Some(arguments.clone()) });
        }
        self.call(tool, arguments)
    }

    /// The same, but the user says no.
    pub(super) fn proposed(mut self, tool: &str, arguments: Value, question: &str) -> Self {
        self = self.call(tool, arguments);
        let pending = CallId::new(format!("c{}", self.calls)).ok();
        self.gold.push(vec![Action::Ask { question: question.to_owned(), pending }]);
        self
    }

    // Gold on the memory.

    /// A search of the memory.
    pub(super) fn recall(mut self, query: impl ToString) -> Self {
        let action = Action::Recall {
            query: query.to_string(),
            limit: SEARCH_LIMIT_DEFAULT,
            category: None,
            mode: SearchMode::Relevance,
        };
        self.gold.push(vec![action]);
        self
    }

    /// Something to keep.
    pub(super) fn remember(mut self, content: impl ToString, category: &str) -> Self {
        self.gold.push(vec![Action::Remember {
            content: content.to_string(),
            category: Some(category.to_owned()),
            title: None,
            tags: Vec::new(),
            valid_until: None,
        }]);
        self
    }

    /// What holds now in the place of something remembered.
    pub(super) fn replace(mut self, memory: &str, content: impl ToString) -> Self {
        match MemoryId::new(memory) {
            Ok(memory) => self.gold.push(vec![Action::Replace { memory, content: content.to_string() }]),
            Err(error) => self.problem = Some(error),
        }
        self
    }

    /// The removal of something remembered: it is tried, the user is asked for exactly it, and where the user agrees it is made again.
    pub(super) fn forget(mut self, memory: &str, question: &str, agrees: bool) -> Self {
        let Some((pending, first)) = self.removal(memory) else { return self };
        self.gold.push(vec![first]);
        self.gold.push(vec![Action::Ask { question: question.to_owned(), pending: Some(pending) }]);
        if agrees && let Some((_, second)) = self.removal(memory) {
            self.user
                .consents
                .extend(second.confirmable().map(|call| Consent { tool: call.tool, arguments: Some(call.arguments) }));
            self.gold.push(vec![second]);
        }
        self
    }

    fn removal(&mut self, memory: &str) -> Option<(CallId, Action)> {
        self.calls = self.calls.saturating_add(1);
        let named = CallId::new(format!("c{}", self.calls)).and_then(|id| Ok((id, MemoryId::new(memory)?)));
        match named {
            Ok((id, memory)) => Some((id.clone(), Action::Forget { memory, call: Some(id) })),
            Err(error) => {
                self.problem = Some(error);
                None
            }
        }
    }

    pub(super) fn ask(mut self, question: &str) -> Self {
        self.gold.push(vec![Action::Ask { question: question.to_owned(), pending: None }]);
        self
    }

    pub(super) fn skill(mut self, name: &str) -> Self {
        match SkillName::new(name) {
            Ok(skill) => self.gold.push(vec![Action::LoadSkill { skill }]),
            Err(error) => self.problem = Some(error),
        }
        self
    }

    pub(super) fn finish(mut self, answer: impl ToString) -> Self {
        self.gold.push(vec![Action::Finish { answer: answer.to_string(), data: None }]);
        self
    }

    pub(super) fn refuse(mut self, reason: impl ToString) -> Self {
        self.gold.push(vec![Action::Refuse { reason: reason.to_string() }]);
        self
    }

    fn one(&mut self, tool: &str, arguments: Value) -> Option<Action> {
        self.calls = self.calls.saturating_add(1);
        let named = CallId::new(format!("c{}", self.calls)).and_then(|id| Ok((id, ToolName::new(tool)?)));
        match named {
            Ok((id, tool)) => Some(Action::Call(ToolCall { id, tool, arguments })),
            Err(error) => {
                self.problem = Some(error);
                None
            }
        }
    }

    // Checks.

    /// The field of a document has this value.
    pub(super) fn is(self, collection: &str, key: &str, field: &str, value: impl Into<Value>) -> Self {
        self.row(json!({"collection": collection, "key": key, "field": field, "equals": value.into()}))
    }

    /// A document with these values exists.
    pub(super) fn exists(self, collection: &str, fields: &[(&str, Value)]) -> Self {
        self.row(json!({"collection": collection, "exists": {"where": clauses(fields)}}))
    }

    /// Exactly so many documents with these values exist.
    pub(super) fn counted(self, collection: &str, fields: &[(&str, Value)], count: u32) -> Self {
        self.row(json!({"collection": collection, "exists": {"where": clauses(fields)}, "count": count}))
    }

    /// The field of a document is there, or is not.
    pub(super) fn has(self, collection: &str, key: &str, field: &str, there: bool) -> Self {
        self.row(json!({"collection": collection, "key": key, "field": field, "matches": {"exists": there}}))
    }

    /// Some document has a text in this field that contains a part.
    pub(super) fn says(self, collection: &str, field: &str, part: &str, more: &[(&str, Value)]) -> Self {
        let mut wanted = clauses(more);
        wanted.push(json!({"at": field, "test": "contains", "value": part}));
        self.row(json!({"collection": collection, "exists": {"where": wanted}, "count": 1}))
    }

    /// No document has a text in this field that contains a part.
    pub(super) fn says_not(self, collection: &str, field: &str, part: &str, more: &[(&str, Value)]) -> Self {
        let mut wanted = clauses(more);
        wanted.push(json!({"at": field, "test": "contains", "value": part}));
        self.row(json!({"collection": collection, "absent": {"where": wanted}}))
    }

    /// No document with these values exists.
    pub(super) fn absent(self, collection: &str, fields: &[(&str, Value)]) -> Self {
        self.row(json!({"collection": collection, "absent": {"where": clauses(fields)}}))
    }

    /// The final answer contains all of these.
    pub(super) fn answers(self, parts: &[&str]) -> Self {
        self.row(json!({"answer_contains": parts}))
    }

    /// The user was asked with one of these words.
    pub(super) fn asked(self, words: &[&str]) -> Self {
        self.row(json!({"asked": words}))
    }

    /// The request was refused with one of these words.
    pub(super) fn refused(self, words: &[&str]) -> Self {
        self.row(json!({"refused": words}))
    }

    pub(super) fn row(mut self, row: Value) -> Self {
        self.rows.push(row);
        self
    }

    /// Nothing changed but these collections and documents.
    pub(super) fn only(mut self, places: &[&'static str]) -> Self {
        self.unchanged_except.get_or_insert_default().extend(places);
        self
    }

    /// The final state is the one that gold leads to.
    pub(super) fn reaches_gold(self) -> Self {
        self.check("target-state", json!({}))
    }

    /// These calls were made, each after those that it names; further reads do no harm. Arguments that say what is so anyway are passed over.
    pub(super) fn made(self, calls: Value) -> Self {
        let free = ["simSlot", "castDirection", "connectionMethod", "targetDeviceType"];
        self.check(
            "tool-calls",
            json!({"calls": calls, "order": "partial", "extra": "reads", "ignore_arguments": free}),
        )
    }

    /// A further check.
    pub(super) fn check(mut self, verifier: &str, check: Value) -> Self {
        match PluginName::new(verifier) {
            Ok(verifier) => self.further.push(Check { verifier, check }),
            Err(error) => self.problem = Some(error),
        }
        self
    }

    /// Ends the gold, when the family did not, and gives the checks.
    pub(super) fn close(&mut self, tongue: Tongue) -> Result<Vec<Check>, NameError> {
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        let ended =
            self.gold.iter().flatten().any(|action| matches!(action, Action::Finish { .. } | Action::Refuse { .. }));
        if !ended {
            let answer = tongue.of(("All done.", "都办好了。")).to_owned();
            self.gold.push(vec![Action::Finish { answer, data: None }]);
        }
        let mut checks = Vec::new();
        if !self.rows.is_empty() {
            let mut check = Map::new();
            check.insert("rows".to_owned(), Value::Array(std::mem::take(&mut self.rows)));
            if let Some(places) = &self.unchanged_except {
                check.insert("unchanged_except".to_owned(), json!(places));
            }
            checks.push(Check { verifier: PluginName::new("state-assertions")?, check: Value::Object(check) });
        }
        checks.append(&mut self.further);
        Ok(checks)
    }
}

fn clauses(fields: &[(&str, Value)]) -> Vec<Value> {
    fields.iter().map(|(at, value)| json!({"at": at, "test": "eq", "value": value})).collect()
}
