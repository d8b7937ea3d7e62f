//! Single values of results, with the words of their JSON pointers and of the record around them.

use std::sync::Arc;

use loopwright_contract::action::reserved;
use loopwright_contract::context::{Context, Event};
use serde_json::Value;

use super::{Label, Origin};
use crate::pointer::candidates::{Candidate, Pick};
use crate::pointer::glossary::pieces;
use crate::pointer::kept::Kept;

/// Values of all results together, the latest first.
pub(in crate::pointer) const LEAVES_MAX: usize = 96;
/// How deep a result is looked into.
const DEPTH_MAX: usize = 8;
/// Bytes of a text that is taken whole.
pub(in crate::pointer) const LEAF_BYTES_MAX: usize = 1_024;

/// A single value of a result.
#[derive(Debug, Clone)]
pub(in crate::pointer) struct Leaf {
    /// Text, number or boolean.
    pub(in crate::pointer) value: Value,
    /// Its text.
    pub(in crate::pointer) text: Arc<str>,
    /// The terms of its text.
    pub(in crate::pointer) terms: Arc<[u64]>,
    /// The words of its JSON pointer, the last key first.
    pub(in crate::pointer) label: Arc<Label>,
    /// The terms of the record that it is in.
    pub(in crate::pointer) record: Arc<[u64]>,
    /// How late it was observed: 1 for the latest result.
    pub(in crate::pointer) late: f32,
    /// How early it stands in its result: 1 for the first.
    pub(in crate::pointer) early: f32,
}

impl Leaf {
    /// As an option.
    pub(in crate::pointer) fn candidate(&self, pick: Pick, bits: u32) -> Candidate {
        Candidate {
            bits,
            label: Arc::clone(&self.label),
            record: Arc::clone(&self.record),
            late: self.late,
            early: self.early,
            ..Candidate::with_terms(pick, Arc::clone(&self.text), Arc::clone(&self.terms), Origin::Result)
        }
    }
}

/// The values of the results, the latest result first. What the memory answered is left out: it is remembered, and no result.
pub(super) fn leaves(kept: &Kept, context: &Context) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = Vec::new();
    let mut late = 1.0;
    for event in context.history.iter().rev() {
        let value = match event {
            Event::Answered { name, envelope, .. } if reserved::full(name) != reserved::RECALL => envelope.get("data"),
            Event::Notice { value } if value.get("memoryId").is_none() => Some(value),
            _ => continue,
        };
        let Some(value) = value else { continue };
        let mut found = Vec::new();
        walk(kept, value, &mut Vec::new(), &Arc::default(), 0, &mut found);
        #[expect(clippy::cast_precision_loss, reason = "counts of values are small")]
        for (place, (value, label, record)) in found.into_iter().enumerate() {
            let early = 1.0 / (1.0 + place as f32);
            let text = scalar(&value).unwrap_or_default();
            let (terms, label) = (kept.terms(&text), Label::new(kept, label));
            leaves.push(Leaf { terms, text: text.into(), value, label, record, late, early });
        }
        late *= 0.5;
        if leaves.len() >= LEAVES_MAX {
            break;
        }
    }
    leaves
}

type Found = (Value, String, Arc<[u64]>);

fn walk(kept: &Kept, value: &Value, path: &mut Vec<String>, record: &Arc<[u64]>, depth: usize, found: &mut Vec<Found>) {
    if depth > DEPTH_MAX || found.len() >= LEAVES_MAX {
        return;
    }
    match value {
        Value::Object(fields) => {
            let own = kept.terms(&fields.values().filter_map(scalar).collect::<Vec<_>>().join(" "));
            let record = if own.is_empty() { Arc::clone(record) } else { own };
            for (key, value) in fields {
                path.push(pieces(key).join(" "));
                walk(kept, value, path, &record, depth + 1, found);
                path.pop();
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(kept, item, path, record, depth + 1, found)),
        Value::Null => {}
        Value::String(text) if text.is_empty() || text.len() > LEAF_BYTES_MAX => {}
        scalar => {
            let label = path.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" ");
            found.push((scalar.clone(), label, Arc::clone(record)));
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.len() <= LEAF_BYTES_MAX => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
