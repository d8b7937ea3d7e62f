//! Equality with the state that the gold actions lead to. The host replayed them; this verifier sees only both states. It knows no app.
//!
//! A check is `{"except": [collection, ...]?}`: collections that are not compared. Same means: equal documents up to a renaming of ids that
//! the host issued in the episode, without bookkeeping fields.
//!
//! Progress is the share of the target's changes that are made: of the documents in which the target differs from the initial state, those
//! that are as in the target. Documents that the episode created under ids of its own count when the whole state is the same.

use loopwright_sdk::{
    Bookkeeping, Criterion, Evidence, Identity, JudgeError, Snapshot, Verdict, VerifierPlugin, identity,
};
use serde::Deserialize;
use serde_json::Value;

/// What is compared.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    /// Collections that are left out.
    #[serde(default)]
    except: Vec<String>,
}

struct TargetState;

impl VerifierPlugin for TargetState {
    const IDENTITY: Identity = identity!("target-state");

    type Check = Check;

    fn judge(evidence: &Evidence, check: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let target = evidence
            .target()
            .ok_or_else(|| JudgeError::MissingEvidence("a target state: the task has no gold".to_owned()))?;
        let initial = evidence.initial();
        let wanted: Vec<(String, String)> = evidence
            .changes(&initial, &target, Bookkeeping::Ignored)
            .into_iter()
            .filter(|change| !check.except.contains(&change.collection))
            .map(|change| (change.collection, change.key))
            .collect();
        upto.iter()
            .map(|&count| {
                let state = evidence.after(count).ok_or_else(|| {
                    JudgeError::MissingEvidence(format!(
                        "state after {count} steps: there are {}",
                        evidence.step_count()
                    ))
                })?;
                verdict(evidence, check, &target, &state, &wanted)
            })
            .collect()
    }
}

fn verdict(
    evidence: &Evidence,
    check: &Check,
    target: &Snapshot,
    state: &Snapshot,
    wanted: &[(String, String)],
) -> Result<Verdict, JudgeError> {
    let differences = evidence.differences(state, target, &check.except);
    let same = differences.is_empty();
    let mut criteria = Vec::with_capacity(wanted.len() + 1);
    let reason = if same { "the state is the target".to_owned() } else { differences.join("; ") };
    criteria.push(Criterion {
        id: "same".to_owned(),
        passed: same,
        held_at_reset: wanted.is_empty(),
        weight: 1.0,
        reason,
    });
    for (collection, key) in wanted {
        let passed = same || state.get::<Value>(collection, key)? == target.get::<Value>(collection, key)?;
        let reason = if passed { "as in the target" } else { "not as in the target" };
        criteria.push(Criterion {
            id: format!("{collection}/{key}"),
            passed,
            held_at_reset: false,
            weight: 1.0,
            reason: reason.to_owned(),
        });
        if criteria.len() == CRITERIA_MAX {
            break;
        }
    }
    Ok(Verdict::of(criteria))
}

/// The most criteria that a verdict may carry.
const CRITERIA_MAX: usize = 256;

loopwright_sdk::export_verifier!(TargetState);

#[cfg(test)]
mod tests {
    use loopwright_sdk::testing::TestEvidence;
    use serde_json::json;

    use super::TargetState;

    fn episode() -> TestEvidence {
        TestEvidence::new(json!({"net": {"wifi": {"on": true}, "mobile": {"on": true}}, "log": {"a": {"n": 0}}}))
            .target(json!({"net": {"wifi": {"on": false}, "mobile": {"on": false}}, "log": {"a": {"n": 0}}}))
    }

    #[test]
    fn progress_grows_change_by_change_until_the_target_is_reached() {
        let evidence = episode()
            .call("x", json!({}))
            .changed(json!({"net": {"wifi": {"on": false}}}))
            .call("x", json!({}))
            .changed(json!({"net": {"mobile": {"on": false}}}));
        let verdicts = evidence.judge_prefixes::<TargetState>(json!({}), &[0, 1, 2]).expect("verdicts");
        let seen: Vec<(bool, f64)> = verdicts.iter().map(|verdict| (verdict.passed(), verdict.progress())).collect();
        assert_eq!(seen, [(false, 0.0), (false, 1.0 / 3.0), (true, 1.0)]);
    }

    #[test]
    fn a_further_change_fails_unless_its_collection_is_left_out() {
        let evidence = episode()
            .call("x", json!({}))
            .changed(json!({"net": {"wifi": {"on": false}, "mobile": {"on": false}}, "log": {"a": {"n": 1}}}));
        assert!(!evidence.judge::<TargetState>(json!({})).expect("a verdict").passed());
        assert!(evidence.judge::<TargetState>(json!({"except": ["log"]})).expect("a verdict").passed());
    }

    #[test]
    fn without_a_target_there_is_no_verdict() {
        let error = TestEvidence::new(json!({})).judge::<TargetState>(json!({})).expect_err("no target");
        assert!(error.to_string().contains("target"), "{error}");
        assert!(episode().judge::<TargetState>(json!({"exept": []})).is_err());
    }
}
