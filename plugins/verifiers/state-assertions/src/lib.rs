//! Declarative rows over the final state and over what the agent did at the end. It knows no app: collections, keys and fields come from
//! the check.
//!
//! A check is `{"rows": [row, ...], "unchanged_except": [place, ...]?, "fold": [...]?}`; all rows must hold, and every document that changed
//! must lie in one of the places (`collection` or `collection/key`). Without `unchanged_except`, other changes are not looked at.
//!
//! | row | holds when |
//! |---|---|
//! | `{collection, key, field, equals}` | the field has this value; an absent document has no fields |
//! | `{collection, key, field, matches: {test: value}}` | the field passes the test: `eq ne lt le gt ge one_of contains starts_with exists` |
//! | `{collection, exists: {where: [{at, test, value}]}, count?}` | some document (exactly `count`) passes all clauses |
//! | `{collection, absent: {where}}` | no document does |
//! | `{answer_contains: [text]}` | the agent finished with an answer that contains every text |
//! | `{asked: [word]}` | the agent asked the user a question with one of the words |
//! | `{refused: true}` or `{refused: [word]}` | the agent refused, with one of the words |
//! | `{finished: true}` | the agent finished |
//!
//! Every row may have an `id` and a `weight`. Numbers compare by value. Text compares in Unicode NFC and then exactly; `fold` adds `nfkc`,
//! `case` and `quotes`. What people say (`answer_contains`, `asked`, `refused`) always compares without regard to case.

mod agent;
mod document;
mod fold;
mod row;

use loopwright_sdk::{Bookkeeping, Criterion, Evidence, Identity, JudgeError, Verdict, VerifierPlugin, identity};

use crate::agent::Deeds;
use crate::row::{Check, Held};

struct StateAssertions;

impl VerifierPlugin for StateAssertions {
    const IDENTITY: Identity = identity!("state-assertions");

    type Check = Check;

    fn judge(evidence: &Evidence, check: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let rows = check.rows()?;
        let initial = evidence.initial();
        let nothing_done = Deeds::default();
        let at_reset = rows
            .iter()
            .map(|row| row.holds(&initial, &nothing_done, &check.fold).map(|held| held.passed))
            .collect::<Result<Vec<bool>, JudgeError>>()?;
        let mut verdicts = Vec::with_capacity(upto.len());
        for &count in upto {
            let state = evidence.after(count).ok_or_else(|| {
                JudgeError::MissingEvidence(format!("state after {count} steps: there are {}", evidence.step_count()))
            })?;
            let deeds = Deeds::of(evidence, count);
            let mut criteria = Vec::with_capacity(rows.len() + 1);
            for (row, held_at_reset) in rows.iter().zip(&at_reset) {
                let Held { passed, reason } = row.holds(&state, &deeds, &check.fold)?;
                criteria.push(Criterion {
                    id: row.id.clone(),
                    passed,
                    held_at_reset: *held_at_reset,
                    weight: row.weight,
                    reason,
                });
            }
            if let Some(places) = &check.unchanged_except {
                criteria.push(unchanged(evidence, &initial, &state, places));
            }
            verdicts.push(Verdict::of(criteria));
        }
        Ok(verdicts)
    }
}

/// Whether every change lies in one of the places.
fn unchanged(
    evidence: &Evidence,
    initial: &loopwright_sdk::Snapshot,
    state: &loopwright_sdk::Snapshot,
    places: &[String],
) -> Criterion {
    let strange: Vec<String> = evidence
        .changes(initial, state, Bookkeeping::Ignored)
        .into_iter()
        .filter(|change| !places.iter().any(|place| covers(place, &change.collection, &change.key)))
        .map(|change| format!("{}/{}", change.collection, change.key))
        .take(8)
        .collect();
    let reason = if strange.is_empty() {
        "nothing else changed".to_owned()
    } else {
        format!("expected no other change, found {}", strange.join(", "))
    };
    Criterion {
        id: "unchanged-except".to_owned(),
        passed: strange.is_empty(),
        held_at_reset: true,
        weight: 1.0,
        reason,
    }
}

/// Whether a place names this document: `collection`, `collection/*` or `collection/key`.
fn covers(place: &str, collection: &str, key: &str) -> bool {
    match place.split_once('/') {
        None => place == collection,
        Some((named, "*")) => named == collection,
        Some((named, named_key)) => named == collection && named_key == key,
    }
}

loopwright_sdk::export_verifier!(StateAssertions);

#[cfg(test)]
mod tests;
