//! Rows: read as they were written, then resolved into one of their kinds.

use loopwright_sdk::{JudgeError, Snapshot};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::Deeds;
use crate::document::{Where, matching, only, passes, shown};
use crate::fold::{Fold, speech};

/// A check as it was written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    #[serde(default)]
    rows: Vec<Raw>,
    /// Where changes are allowed.
    pub(crate) unchanged_except: Option<Vec<String>>,
    /// What is folded beyond NFC.
    #[serde(default)]
    pub(crate) fold: Vec<Fold>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: Option<String>,
    weight: Option<f64>,
    collection: Option<String>,
    key: Option<String>,
    field: Option<String>,
    #[serde(default, deserialize_with = "present")]
    equals: Option<Value>,
    matches: Option<Map<String, Value>>,
    exists: Option<Where>,
    count: Option<usize>,
    absent: Option<Where>,
    answer_contains: Option<Vec<String>>,
    asked: Option<Vec<String>>,
    refused: Option<Words>,
    finished: Option<bool>,
}

/// Keeps an explicit `null` apart from an absent field.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    Any(bool),
    These(Vec<String>),
}

/// A row that is ready to be judged.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) id: String,
    pub(crate) weight: f64,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    Field { collection: &'a str, key: &'a str, field: &'a str, test: &'a str, value: &'a Value },
    Exists { collection: &'a str, wanted: &'a Where, count: Option<usize> },
    Absent { collection: &'a str, wanted: &'a Where },
    Answer(&'a [String]),
    Asked(&'a [String]),
    Refused(Option<&'a [String]>),
    Finished,
}

/// Whether a row holds, and why.
pub(crate) struct Held {
    pub(crate) passed: bool,
    pub(crate) reason: String,
}

impl Check {
    /// The rows, each of exactly one kind.
    pub(crate) fn rows(&self) -> Result<Vec<Row<'_>>, JudgeError> {
        if self.rows.is_empty() && self.unchanged_except.is_none() {
            return Err(JudgeError::InvalidCheck("no rows and no `unchanged_except`: nothing is asked".to_owned()));
        }
        self.rows.iter().enumerate().map(|(position, raw)| raw.resolve(position)).collect()
    }
}

impl Raw {
    fn resolve(&self, position: usize) -> Result<Row<'_>, JudgeError> {
        let id = self.id.clone().unwrap_or_else(|| format!("row-{position}"));
        let weight = self.weight.unwrap_or(1.0);
        if !weight.is_finite() || weight < 0.0 {
            return Err(JudgeError::InvalidCheck(format!("`{id}`: weight {weight}, expected a finite number from 0")));
        }
        let mut kinds = self.state_kinds(&id)?;
        kinds.extend(self.answer_contains.as_deref().map(Kind::Answer));
        kinds.extend(self.asked.as_deref().map(Kind::Asked));
        kinds.extend(self.refused.as_ref().map(|words| match words {
            Words::Any(_) => Kind::Refused(None),
            Words::These(words) => Kind::Refused(Some(words)),
        }));
        kinds.extend(self.finished.map(|_| Kind::Finished));
        if self.finished == Some(false) || matches!(self.refused, Some(Words::Any(false))) {
            return Err(JudgeError::InvalidCheck(format!("`{id}`: `finished` and `refused` are true or left out")));
        }
        match (kinds.pop(), kinds.is_empty()) {
            (Some(kind), true) => Ok(Row { id, weight, kind }),
            _ => Err(JudgeError::InvalidCheck(format!(
                "`{id}` is not one row: expected one of `field` with `equals` or `matches`, `exists`, `absent`, `answer_contains`, `asked`, `refused`, `finished`"
            ))),
        }
    }

    fn state_kinds(&self, id: &str) -> Result<Vec<Kind<'_>>, JudgeError> {
        let collection = || {
            self.collection
                .as_deref()
                .ok_or_else(|| JudgeError::InvalidCheck(format!("`{id}`: `collection` is missing")))
        };
        let mut kinds = Vec::new();
        if let Some(wanted) = &self.exists {
            kinds.push(Kind::Exists { collection: collection()?, wanted, count: self.count });
        }
        if let Some(wanted) = &self.absent {
            kinds.push(Kind::Absent { collection: collection()?, wanted });
        }
        if let Some(field) = &self.field {
            let key =
                self.key.as_deref().ok_or_else(|| JudgeError::InvalidCheck(format!("`{id}`: `key` is missing")))?;
            let (test, value) = match (&self.equals, &self.matches) {
                (Some(value), None) => ("eq", value),
                (None, Some(matches)) => only(matches)?,
                _ => {
                    return Err(JudgeError::InvalidCheck(format!(
                        "`{id}`: expected `equals` or `matches`, and not both"
                    )));
                }
            };
            kinds.push(Kind::Field { collection: collection()?, key, field, test, value });
        }
        Ok(kinds)
    }
}

impl Row<'_> {
    /// Judges the row on a state and on what the agent said.
    pub(crate) fn holds(&self, state: &Snapshot, deeds: &Deeds, folds: &[Fold]) -> Result<Held, JudgeError> {
        Ok(match &self.kind {
            Kind::Field { collection, key, field, test, value } => {
                let document: Option<Value> = state.get(collection, key)?;
                let found = document.as_ref().and_then(|document| document.pointer(field));
                Held {
                    passed: passes(found, test, value, folds)?,
                    reason: format!(
                        "{collection}/{key}{field}: expected {test} {}, found {}",
                        shown(Some(value)),
                        shown(found)
                    ),
                }
            }
            Kind::Exists { collection, wanted, count } => {
                let found = matching(state, collection, wanted, folds)?.len();
                let passed = count.map_or(found > 0, |count| found == count);
                let expected = count.map_or("at least 1".to_owned(), |count| count.to_string());
                Held { passed, reason: format!("{collection}: expected {expected} such documents, found {found}") }
            }
            Kind::Absent { collection, wanted } => {
                let keys = matching(state, collection, wanted, folds)?;
                Held {
                    passed: keys.is_empty(),
                    reason: format!("{collection}: expected no such document, found {}", keys.len()),
                }
            }
            Kind::Answer(parts) => said(deeds.answer.as_deref(), parts, "answer", true),
            Kind::Refused(words) => {
                said(deeds.refusal.as_deref(), words.unwrap_or_default(), "refusal", words.is_none())
            }
            Kind::Asked(words) => {
                let passed =
                    deeds.questions.iter().any(|question| words.iter().any(|word| question.contains(&speech(word))));
                Held {
                    passed,
                    reason: format!(
                        "expected a question with one of {words:?}, {} questions were asked",
                        deeds.questions.len()
                    ),
                }
            }
            Kind::Finished => {
                let passed = deeds.answer.is_some();
                Held {
                    passed,
                    reason: if passed { "the agent finished" } else { "the agent did not finish" }.to_owned(),
                }
            }
        })
    }
}

/// Whether something was said with all (or one) of the parts.
fn said(text: Option<&str>, parts: &[String], what: &str, all: bool) -> Held {
    let Some(text) = text else {
        return Held { passed: false, reason: format!("expected a {what}, there was none") };
    };
    let missing: Vec<&String> = parts.iter().filter(|part| !text.contains(&speech(part))).collect();
    let passed = if all { missing.is_empty() } else { missing.len() < parts.len() };
    let reason =
        if passed { format!("the {what} says what was expected") } else { format!("the {what} lacks {missing:?}") };
    Held { passed, reason }
}
