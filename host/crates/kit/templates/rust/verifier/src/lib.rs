//! Passes when one field of one document is as the check says: `{"collection", "key", "at", "equals"}`.

use loopwright_sdk::{
    Criterion, Evidence, Identity, JudgeError, Snapshot, StateError, Verdict, VerifierPlugin, export_verifier, identity,
};
use serde_json::Value;

/// What is checked.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    collection: String,
    key: String,
    /// A JSON pointer into the document.
    at: String,
    equals: Value,
}

/// The plugin.
pub struct PluginName;

impl VerifierPlugin for PluginName {
    const IDENTITY: Identity = identity!("plugin-name");
    type Check = Check;

    fn judge(evidence: &Evidence, check: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let held_at_reset = field(&evidence.initial(), check)?.as_ref() == Some(&check.equals);
        let judge = |&count: &u32| {
            let missing = || JudgeError::MissingEvidence(format!("state after {count} steps"));
            let found = field(&evidence.after(count).ok_or_else(missing)?, check)?;
            Ok(Verdict::of(vec![Criterion {
                id: "document".to_owned(),
                passed: found.as_ref() == Some(&check.equals),
                held_at_reset,
                weight: 1.0,
                reason: format!(
                    "{}/{}{}: expected {}, found {}",
                    check.collection,
                    check.key,
                    check.at,
                    check.equals,
                    found.unwrap_or_default()
                ),
            }]))
        };
        upto.iter().map(judge).collect()
    }
}

fn field(state: &Snapshot, check: &Check) -> Result<Option<Value>, StateError> {
    let document: Option<Value> = state.get(&check.collection, &check.key)?;
    Ok(document.and_then(|document| document.pointer(&check.at).cloned()))
}

export_verifier!(PluginName);
