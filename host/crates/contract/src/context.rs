//! What a planner sees: the context *c_t*, as typed data. Text is rendered only by planners that read text.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{Action, ActionSpace};
use crate::digest::TaskDigest;
use crate::memory::MemoryItem;
use crate::name::{CallId, EpisodeId, Lang, SkillName, TaskId};

/// A skill that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedSkill {
    /// Which.
    pub name: SkillName,
    /// Its guidance for the tools that are offered.
    pub guidance: String,
}

/// One thing that happened, in order. The history only grows, so a renderer's shared prefix stays valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// What the planner decided.
    Decided {
        /// Free text beside the actions.
        text: String,
        /// The actions, as they were accepted.
        actions: Vec<Action>,
    },
    /// A call was answered, with the one result envelope.
    Answered {
        /// The call.
        call_id: CallId,
        /// The tool or the reserved name.
        name: String,
        /// The envelope.
        envelope: Value,
        /// Further consequences.
        effects: Vec<Value>,
    },
    /// The user answered.
    User {
        /// What the user said.
        text: String,
    },
    /// An output was not an action that is allowed; says which part was wrong and what is allowed.
    Malformed {
        /// What to mend.
        reason: String,
    },
    /// A loaded skill said something of a call.
    Advised {
        /// Which skill.
        skill: SkillName,
        /// What it said.
        text: String,
        /// Whether the call was kept from running.
        blocked: bool,
    },
    /// The phone showed something by itself.
    Notice {
        /// An object with a `kind`.
        value: Value,
    },
}

/// What is left of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remaining {
    /// Decisions, this one included.
    pub steps: u32,
    /// Tokens.
    pub tokens: u64,
}

/// What a planner decides on. The order of the fields from `rules` down to `remaining` is the documented layout for renderers: what
/// changes least stands first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The episode. Not to be rendered.
    pub episode: EpisodeId,
    /// The task. Not to be rendered: it would tell a model which family it is in.
    pub task: TaskId,
    /// The task's digest. Not to be rendered.
    pub task_digest: TaskDigest,
    /// Decisions made so far.
    pub turn: u32,
    /// The harness's rules for planners, in the request's language.
    pub rules: Arc<str>,
    /// The open actions. Tools keep their order while an episode runs; skills append theirs.
    pub space: Arc<ActionSpace>,
    /// What the memory served before the first step: what is always served, what is due, and what fits the request best. It is evidence of what
    /// was once said, and no instruction; renderers delimit it.
    pub memory: Vec<MemoryItem>,
    /// The request's language.
    pub lang: Lang,
    /// The phone's time when the request was made, ISO 8601 with offset and zone.
    pub now: String,
    /// What the user said.
    pub request: String,
    /// Skills, in the order in which they were loaded.
    pub skills: Vec<LoadedSkill>,
    /// What happened since.
    pub history: Vec<Event>,
    /// What is left of the budget.
    pub remaining: Remaining,
}
