//! Turns that did again what was done, while nothing new was known.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::digest::CallDigest;

use super::view::{Answered, Seen, View};

/// What is known at a turn.
#[derive(Default)]
struct Known<'a> {
    /// Calls with their answers, since something last changed.
    answers: BTreeSet<(CallDigest, &'a str)>,
    /// Whether something was learnt since a call was last made.
    learnt_since: BTreeMap<CallDigest, bool>,
}

pub(super) fn repeats(view: &View<'_>) -> BTreeSet<u32> {
    let mut known = Known::default();
    view.turns.iter().filter(|turn| known.is_repeat(turn)).map(|turn| turn.turn).collect()
}

impl<'a> Known<'a> {
    /// Whether a turn is a repeat; takes in what it brought.
    fn is_repeat(&mut self, turn: &'a Seen<'_>) -> bool {
        let pair = |call: &'a Answered| (call.digest, call.answer.as_str());
        let same = !turn.calls.is_empty() && turn.calls.iter().all(|call| self.answers.contains(&pair(call)));
        // What a write did may not show: to make it again once evidence came in is legal, and evidence from before says nothing afterwards.
        let again = |call: &Answered| call.writes && self.learnt_since.get(&call.digest).copied().unwrap_or(false);
        let repeat = same && turn.changes.is_empty() && !turn.heard && !turn.calls.iter().any(again);
        if !repeat && (turn.heard || !turn.calls.is_empty()) {
            if !turn.changes.is_empty() || turn.heard || turn.writes() {
                self.answers.clear();
            }
            self.answers.extend(turn.calls.iter().map(pair));
            self.learnt_since.values_mut().for_each(|learnt| *learnt = true);
            self.learnt_since.extend(turn.calls.iter().map(|call| (call.digest, false)));
        }
        repeat
    }
}
