//! Whether all settings of the ablation world are really set. It looks at the world's own state and not at what the agent was told or claims; it
//! knows no chances and counts no calls.
//!
//! A check is `{}`. Each setting is a criterion of weight 1; none holds at reset, so progress is the share of settings that are really set, and
//! an agent that does nothing has score 0.

use loopwright_sdk::{Criterion, Evidence, Identity, JudgeError, Snapshot, Verdict, VerifierPlugin, identity};
use serde::Deserialize;

/// Where the environment keeps its state.
const COLLECTION: &str = "environment";
const KEY: &str = "ablation";

/// Nothing is to be said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {}

/// What of the state counts.
#[derive(Debug, Deserialize)]
struct Course {
    really: Vec<bool>,
}

struct AblationVerdict;

impl VerifierPlugin for AblationVerdict {
    const IDENTITY: Identity = identity!("ablation-verdict");

    type Check = Check;

    fn judge(evidence: &Evidence, _: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let before = course(&evidence.initial())?;
        let verdict = |count: &u32| {
            let after = evidence.after(*count).ok_or_else(|| {
                let steps = evidence.step_count();
                JudgeError::MissingEvidence(format!("state after {count} steps: there are {steps}"))
            })?;
            Ok(verdict(&before, &course(&after)?))
        };
        upto.iter().map(verdict).collect()
    }
}

fn course(state: &Snapshot) -> Result<Course, JudgeError> {
    let missing = || JudgeError::MissingEvidence(format!("document `{KEY}` of `{COLLECTION}`: this is another world"));
    state.get(COLLECTION, KEY)?.ok_or_else(missing)
}

fn verdict(before: &Course, after: &Course) -> Verdict {
    let criterion = |(index, really): (usize, &bool)| Criterion {
        id: format!("setting-{}", index + 1),
        passed: *really,
        held_at_reset: before.really.get(index) == Some(&true),
        weight: 1.0,
        reason: if *really { "is set" } else { "is not set" }.to_owned(),
    };
    Verdict::of(after.really.iter().enumerate().map(criterion).collect())
}

loopwright_sdk::export_verifier!(AblationVerdict);

#[cfg(test)]
mod tests {
    use loopwright_sdk::testing::TestEvidence;
    use serde_json::{Value, json};

    use super::AblationVerdict;

    fn state(really: [bool; 3]) -> Value {
        json!({"environment": {"ablation": {"really": really, "at": 1}}})
    }

    #[test]
    fn progress_is_the_share_that_is_set_and_doing_nothing_scores_nothing() {
        let evidence = TestEvidence::new(state([false; 3]))
            .call("set_setting", json!({}))
            .changed(state([true, false, false]))
            .call("set_setting", json!({}))
            .changed(state([true, false, true]))
            .call("set_setting", json!({}))
            .changed(state([true; 3]));
        let verdicts = evidence.judge_prefixes::<AblationVerdict>(json!({}), &[0, 1, 2, 3]).expect("verdicts");
        let seen: Vec<_> =
            verdicts.iter().map(|verdict| (verdict.passed(), verdict.score(), verdict.progress())).collect();
        let third = 1.0 / 3.0;
        assert_eq!(seen, [(false, 0.0, 0.0), (false, third, third), (false, 2.0 / 3.0, 2.0 / 3.0), (true, 1.0, 1.0)]);
    }

    #[test]
    fn what_the_agent_claims_counts_for_nothing() {
        let evidence = TestEvidence::new(state([false; 3])).finish("all three are set");
        assert!(!evidence.judge::<AblationVerdict>(json!({})).expect("a verdict").passed());
    }

    #[test]
    fn another_world_or_check_is_refused() {
        let elsewhere = TestEvidence::new(json!({"environment": {}, "net": {}}));
        assert!(elsewhere.judge::<AblationVerdict>(json!({})).expect_err("no state").to_string().contains("ablation"));
        assert!(TestEvidence::new(state([false; 3])).judge::<AblationVerdict>(json!({"rows": []})).is_err());
    }
}
