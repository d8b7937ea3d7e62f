//! What a planner can do: the structured action set *A_t* and the actions in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::{CivilTime, MemoryWrite, SearchMode};
use crate::name::{CallId, MemoryId, SkillName};
use crate::skill::SkillCard;
use crate::tool::{ToolCall, ToolSpec};

/// One action. A decision holds several calls, or exactly one of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Action {
    /// Calls a tool.
    Call(ToolCall),
    /// Searches the memory.
    Recall {
        /// What to look for.
        query: String,
        /// The most items to return.
        limit: u32,
        /// Only items of this category.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        category: Option<String>,
        /// The order of the items.
        #[serde(default, skip_serializing_if = "SearchMode::is_default")]
        mode: SearchMode,
    },
    /// Adds to the memory.
    Remember {
        /// What to keep.
        content: String,
        /// A category, such as `routines_habits`.
        category: Option<String>,
        /// A short name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Words to find it by.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        /// The last moment at which it holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_until: Option<CivilTime>,
    },
    /// Says what holds now in the place of something remembered, which stays and is marked.
    Replace {
        /// What it takes the place of.
        memory: MemoryId,
        /// What holds now.
        content: String,
    },
    /// Removes something from the memory for good. Like every call that cannot be undone it waits for the user's confirmation of exactly it.
    Forget {
        /// What to remove.
        memory: MemoryId,
        /// The id under which its confirmation is asked for; the harness gives it one where there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// Loads a skill: its guidance enters the context, and its tools are offered.
    LoadSkill {
        /// Which.
        skill: SkillName,
    },
    /// Asks the user.
    Ask {
        /// The question.
        question: String,
        /// The call of an earlier turn that waits for confirmation; the user then says yes or no to exactly that call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<CallId>,
    },
    /// Refuses the request, and ends the episode.
    Refuse {
        /// Why.
        reason: String,
    },
    /// Hands a part of the request to a sub-agent.
    Delegate {
        /// Which sub-agent.
        agent: String,
        /// What it should do.
        instruction: String,
    },
    /// Ends the episode with a claimed result.
    Finish {
        /// What the user is told.
        answer: String,
        /// The result as data, where the request asks for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
}

impl Action {
    /// The call that the user can be asked to confirm: a call of a tool, or the removal of something remembered once it has an id.
    #[must_use]
    pub fn confirmable(&self) -> Option<ToolCall> {
        match self {
            Self::Call(call) => Some(call.clone()),
            Self::Forget { memory, call: Some(id) } => MemoryWrite::removal(id.clone(), memory).ok(),
            _ => None,
        }
    }
}

/// The actions that are open at a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionSpace {
    /// The offered tools: candidates in the order of recall, then those that skills exposed.
    pub tools: Vec<ToolSpec>,
    /// Skills that can be loaded and are not yet.
    pub skills: Vec<SkillCard>,
    /// Whether the memory can be searched and changed.
    pub memory: bool,
    /// Whether there is a user to ask.
    pub ask: bool,
}

/// What a planner proposed, before the harness checked it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "proposed")]
pub enum Proposed {
    /// A typed action. It is checked all the same.
    Action {
        /// The action.
        value: Action,
    },
    /// A call by name, as language models write it. The name is a tool's or one of [`reserved`]; arguments are JSON text.
    Call {
        /// The id that the model gave.
        id: Option<String>,
        /// The name.
        name: String,
        /// JSON text, perhaps malformed.
        arguments: String,
    },
    /// Output that holds no action.
    Unreadable {
        /// What was expected and what was found.
        reason: String,
    },
}

/// Names of actions that are not tools, for planners that only know calls. No tool may take one, and none may start with `skill__`.
pub mod reserved {
    /// `{question, pending_call?}`.
    pub const ASK_USER: &str = "ask_user";
    /// `{reason}`.
    pub const REFUSE: &str = "refuse";
    /// `{answer, data?}`.
    pub const FINISH: &str = "finish";
    /// `{agent, instruction}`.
    pub const DELEGATE: &str = "delegate";
    /// `{query, memoryCategory?, maxResults?, searchMode?}`.
    pub const RECALL: &str = "search_user_memory";
    /// `{content, memoryCategory?, title?, tags?, validUntil?}`.
    pub const REMEMBER: &str = "add_user_memory";
    /// `{memoryId, content}`.
    pub const REPLACE: &str = "replace_user_memory";
    /// `{memoryId}`.
    pub const FORGET: &str = "remove_user_memory";
    /// Followed by a skill's name with `_` for each `-`.
    pub const SKILL_PREFIX: &str = "skill__";
    /// Short names, and the names that they stand for. They are read and never offered.
    pub const ALIASES: [(&str, &str); 4] =
        [("search_memory", RECALL), ("add_memory", REMEMBER), ("update_memory", REPLACE), ("delete_memory", FORGET)];
    /// All whole names.
    pub const NAMES: [&str; 12] = [
        ASK_USER,
        REFUSE,
        FINISH,
        DELEGATE,
        RECALL,
        REMEMBER,
        REPLACE,
        FORGET,
        "search_memory",
        "add_memory",
        "update_memory",
        "delete_memory",
    ];

    /// The name that a short name stands for; any other name as it is.
    #[must_use]
    pub fn full(name: &str) -> &str {
        ALIASES.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| full)
    }
}
