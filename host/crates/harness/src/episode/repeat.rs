//! Counts failures of one and the same call, so that a planner that guesses is told to stop.

use std::collections::BTreeMap;

use loopwright_contract::name::Lang;
use serde_json::{Value, json};

use crate::context::is_chinese;

/// Failures of one call after which the planner is told to stop guessing.
pub(crate) const REPEATS_MAX: u32 = 2;

/// Failures so far, by call or by what was wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    failures: BTreeMap<String, u32>,
}

impl Repeats {
    /// Counts one attempt. True when it failed for the second time or more.
    pub(super) fn count(&mut self, what: &str, ok: bool) -> bool {
        if ok {
            self.failures.remove(what);
            return false;
        }
        let count = self.failures.entry(what.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count >= REPEATS_MAX
    }
}

/// What the planner is told.
pub(super) fn stop_guessing(lang: &Lang) -> Value {
    let message = if is_chinese(lang) {
        "同样的操作已多次失败。不要再猜：换个办法、询问用户或拒绝。"
    } else {
        "The same thing failed repeatedly. Stop guessing: try another way, ask the user, or refuse."
    };
    json!({"kind": "stop_guessing", "message": message})
}
