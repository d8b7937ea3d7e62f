//! The harness's settings and its digest: everything of the harness that decides how an episode goes.

use std::time::Duration;

use loopwright_contract::digest::HarnessDigest;
use loopwright_contract::json::{INTEGER_MAX, canonical};
use loopwright_contract::limits::{CALLS_PER_TURN_MAX, CANDIDATES_MAX, EpisodeBudget, MESSAGE_BYTES_MAX};
use loopwright_contract::memory::{ADDED_MAX, REMINDERS_MAX, SEARCH_LIMIT_MAX};
use loopwright_contract::name::Lang;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::{LAYOUT_VERSION, rules};
use crate::episode::{REPEATS_MAX, SKILL_CARDS_MAX};
use crate::memory::{DUE_SERVED_MAX, FITTING_SERVED_MAX, PROFILE_SERVED_MAX, SERVED_BYTES_MAX, WORD_OVERLAP};
use crate::recall::{BM25_B, BM25_K1};

/// The version of the plugin contract, as trajectories name it.
pub const WIT_VERSION: &str = "loopwright:afv@0.1.0";

/// Which prefixes of an episode are judged at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prefixes {
    /// The whole episode only.
    #[default]
    Final,
    /// The episode after each turn, for per-step progress. Costs about three times the verdict on the whole.
    All,
}

/// Which tools are offered at the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// The [`CANDIDATES_MAX`] best by recall out of what the environment exposes. Gold is never added.
    #[default]
    Recalled,
    /// Everything that the environment exposes: for checking tasks, where a miss of recall is not the question.
    Exposed,
}

/// What decides how an episode goes, besides task, planner and plugins. The default is how agents are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Arguments are never repaired.
    pub strict: bool,
    /// Which prefixes are judged.
    pub prefixes: Prefixes,
    /// Which tools are offered.
    pub offer: Offer,
    /// Whether the memory is served from, reminds, and can be searched and changed.
    pub memory: bool,
    /// Lowers every task's own budget, field by field.
    pub budget: Option<EpisodeBudget>,
    /// Seconds of wall time in place of every task's own, which are meant for a planner that answers in seconds. It ends an episode as void:
    /// it is a backstop against a planner that hangs, and no measure of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strict: false,
            prefixes: Prefixes::Final,
            offer: Offer::Recalled,
            memory: true,
            budget: None,
            wall_s: None,
        }
    }
}

impl Settings {
    /// The settings as a trajectory's header keeps them.
    #[must_use]
    pub fn record(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// What an episode may use: the smaller of the task's budget and [`Settings::budget`] in each field, and the wall time of
    /// [`Settings::wall_s`] where it is given.
    #[must_use]
    pub fn budget(&self, task: &EpisodeBudget) -> EpisodeBudget {
        let cap = self.budget.unwrap_or(*task);
        EpisodeBudget {
            steps: task.steps.min(cap.steps),
            tokens: task.tokens.min(cap.tokens),
            cost_micros: task.cost_micros.min(cap.cost_micros),
            wall: self.wall_s.map_or_else(|| task.wall.min(cap.wall), Duration::from_secs),
        }
    }

    /// The same settings within what a record can hold: counts end at 2^53 - 1.
    #[must_use]
    pub(crate) fn recordable(self) -> Self {
        let most = INTEGER_MAX.unsigned_abs();
        let bounded = |budget: EpisodeBudget| EpisodeBudget {
            tokens: budget.tokens.min(most),
            cost_micros: budget.cost_micros.min(most),
            ..budget
        };
        Self { budget: self.budget.map(bounded), ..self }
    }

    /// The digest of rules, budgets, recall constants, context layout and settings.
    #[must_use]
    pub fn digest(&self) -> HarnessDigest {
        let revision = json!({
            "settings": self.record(),
            "rules": [rules(&Lang::english()), rules(&Lang::chinese())],
            "layout": LAYOUT_VERSION,
            "recall": {"candidates": CANDIDATES_MAX, "k1": BM25_K1, "b": BM25_B},
            "memory": [SEARCH_LIMIT_MAX, ADDED_MAX, REMINDERS_MAX, PROFILE_SERVED_MAX, DUE_SERVED_MAX, FITTING_SERVED_MAX, SERVED_BYTES_MAX, WORD_OVERLAP],
            "limits": [CALLS_PER_TURN_MAX, MESSAGE_BYTES_MAX, REPEATS_MAX, SKILL_CARDS_MAX],
            "budget": serde_json::to_value(EpisodeBudget::default()).unwrap_or(Value::Null),
        });
        HarnessDigest::of(canonical(&revision).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_part_of_the_digest() {
        let base = Settings::default();
        let budget = EpisodeBudget { steps: 6, ..EpisodeBudget::default() };
        let all = [
            base,
            Settings { strict: true, ..base },
            Settings { prefixes: Prefixes::All, ..base },
            Settings { offer: Offer::Exposed, ..base },
            Settings { memory: false, ..base },
            Settings { budget: Some(budget), ..base },
            Settings { wall_s: Some(9), ..base },
        ];
        let digests: BTreeSet<HarnessDigest> = all.iter().map(Settings::digest).collect();
        assert_eq!(digests.len(), all.len());
        for settings in all {
            assert_eq!(serde_json::from_value::<Settings>(settings.record()).expect("reads back"), settings);
        }
    }

    #[test]
    fn settings_only_lower_a_budget() {
        let task = EpisodeBudget { steps: 10, tokens: 100, cost_micros: 5, wall: Duration::from_secs(9) };
        let cap = EpisodeBudget { steps: 6, tokens: 1000, cost_micros: 1, wall: Duration::from_secs(99) };
        let settings = Settings { budget: Some(cap), ..Settings::default() };
        assert_eq!(
            settings.budget(&task),
            EpisodeBudget { steps: 6, tokens: 100, cost_micros: 1, wall: Duration::from_secs(9) }
        );
        assert_eq!(Settings::default().budget(&task), task);
        let patient = Settings { wall_s: Some(3_600), ..settings };
        assert_eq!(patient.budget(&task).wall, Duration::from_secs(3_600), "wall time is no measure of an agent");
    }
}
