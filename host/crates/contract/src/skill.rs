//! Skills as the harness sees them, whether a component or a `SKILL.md` folder.

use serde::{Deserialize, Serialize};

use crate::name::{SkillName, ToolName};
use crate::tool::Localized;

/// What a planner sees of a skill before it loads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillCard {
    /// Its name.
    pub name: SkillName,
    /// When to load it, English first.
    pub summary: Vec<Localized>,
    /// The tools that it is about.
    pub about: Vec<ToolName>,
    /// The tools that loading it adds to the offered ones.
    pub exposes: Vec<ToolName>,
}

/// What a skill says of a call that is about to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "advice", content = "reason")]
pub enum Advice {
    /// Nothing against it.
    Allow,
    /// It runs, and the planner is told this.
    Warn(String),
    /// It does not run, and the planner is told why.
    Block(String),
}
