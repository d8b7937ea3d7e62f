//! Writes that were taken back or written over, or that served nothing.

use std::collections::BTreeSet;

use loopwright_contract::evidence::Change;
use serde_json::Value;

use super::Rules;
use super::criteria::Criteria;
use super::view::{Seen, View};

/// Nesting that is looked into; what lies deeper is compared as a whole.
const DEPTH_MAX: usize = 16;

/// What was found.
#[derive(Default)]
pub(super) struct Writes {
    pub(super) undone: BTreeSet<u32>,
    pub(super) corrected: BTreeSet<u32>,
    pub(super) side_effects: BTreeSet<u32>,
}

/// One value that a change changed.
struct Leaf {
    /// JSON pointer into the document; empty for the document itself.
    at: String,
    before: Option<Value>,
    after: Option<Value>,
}

pub(super) fn writes(view: &View<'_>, criteria: &Criteria, rules: &Rules) -> Writes {
    let mut found = Writes::default();
    for (place, turn) in view.turns.iter().enumerate() {
        if !turn.writes() || view.is_gold(turn) || criteria.gained.contains(&turn.turn) {
            continue;
        }
        let later = view.turns.get(place + 1..).unwrap_or_default();
        let earlier = view.turns.get(..place).unwrap_or_default();
        for change in turn.changes {
            let leaves = leaves_of(change, rules);
            if leaves.is_empty() {
                continue;
            }
            if !view.gold.is_empty() && !puts_back(&leaves, change, earlier) {
                found.side_effects.insert(turn.turn);
            }
            if stands(&leaves, change, later) {
                continue;
            }
            match undone_at(&leaves, change, later) {
                Some(by) if criteria.lost.contains(&by) || is_toggle(view, criteria, turn.turn, by) => {}
                Some(_) => {
                    found.undone.insert(turn.turn);
                }
                None if corrected(turn, change, later, criteria) => {
                    found.corrected.insert(turn.turn);
                }
                None => {}
            }
        }
    }
    found
}

/// Whether something that is switched and switched back served a purpose: with gold the gold says so, and this turn is not in it; without gold,
/// a criterion came to hold in between.
fn is_toggle(view: &View<'_>, criteria: &Criteria, from: u32, by: u32) -> bool {
    view.gold.is_empty() && criteria.gained.iter().any(|turn| (from..by).contains(turn))
}

/// Whether all of it was so before an earlier change.
fn puts_back(leaves: &[Leaf], change: &Change, earlier: &[Seen<'_>]) -> bool {
    let was = |leaf: &Leaf, other: &Change| at(other.before.as_ref(), &leaf.at) == leaf.after.as_ref();
    leaves.iter().all(|leaf| of_document(change, earlier).any(|(_, other)| was(leaf, other)))
}

/// Changes of the same document in other turns, with those.
fn of_document<'a>(
    change: &'a Change,
    others: &'a [Seen<'a>],
) -> impl DoubleEndedIterator<Item = (&'a Seen<'a>, &'a Change)> {
    let same = |other: &Change| other.collection == change.collection && other.key == change.key;
    others
        .iter()
        .flat_map(move |seen| seen.changes.iter().filter(move |other| same(other)).map(move |other| (seen, other)))
}

/// Whether what was written is there at the end.
fn stands(leaves: &[Leaf], change: &Change, later: &[Seen<'_>]) -> bool {
    let last = of_document(change, later).next_back().map_or(change.after.as_ref(), |(_, last)| last.after.as_ref());
    leaves.iter().all(|leaf| at(last, &leaf.at) == leaf.after.as_ref())
}

/// The first later turn after which everything is as it was before the change.
fn undone_at(leaves: &[Leaf], change: &Change, later: &[Seen<'_>]) -> Option<u32> {
    let restores =
        |other: &Change| leaves.iter().all(|leaf| at(other.after.as_ref(), &leaf.at) == leaf.before.as_ref());
    of_document(change, later).find(|(_, other)| restores(other)).map(|(seen, _)| seen.turn)
}

/// Whether the same tool wrote something else over it on purpose: called otherwise, and not by an erroneous turn.
fn corrected(turn: &Seen<'_>, change: &Change, later: &[Seen<'_>], criteria: &Criteria) -> bool {
    of_document(change, later).next().is_some_and(|(seen, _)| {
        let same_tool = seen.calls.iter().any(|call| turn.calls.iter().any(|mine| mine.tool == call.tool));
        let same_call = seen.calls.iter().any(|call| turn.calls.iter().any(|mine| mine.digest == call.digest));
        same_tool && !same_call && !criteria.lost.contains(&seen.turn)
    })
}

fn at<'a>(document: Option<&'a Value>, pointer: &str) -> Option<&'a Value> {
    document?.pointer(pointer)
}

/// The values that a change changed, bookkeeping left out.
fn leaves_of(change: &Change, rules: &Rules) -> Vec<Leaf> {
    let ignored: Vec<&str> = rules
        .bookkeeping
        .iter()
        .filter(|(collection, _)| collection.as_str() == change.collection)
        .flat_map(|(_, pointers)| pointers.iter().map(String::as_str))
        .collect();
    let mut leaves = Vec::new();
    compare(change.before.as_ref(), change.after.as_ref(), String::new(), 0, &mut leaves);
    leaves.retain(|leaf| !ignored.iter().any(|pointer| is_under(&leaf.at, pointer)));
    leaves
}

fn is_under(at: &str, pointer: &str) -> bool {
    at.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn compare(before: Option<&Value>, after: Option<&Value>, place: String, depth: usize, leaves: &mut Vec<Leaf>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(left)), Some(Value::Object(right))) if depth < DEPTH_MAX => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let place = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(left.get(key), right.get(key), place, depth + 1, leaves);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) if left.len() == right.len() && depth < DEPTH_MAX => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(Some(left), Some(right), format!("{place}/{index}"), depth + 1, leaves);
            }
        }
        (before, after) => leaves.push(Leaf { at: place, before: before.cloned(), after: after.cloned() }),
    }
}
