//! The context *c_t* and the rules in it.
//!
//! # Layout
//!
//! Planners that read text render the fields of [`Context`] in the order of their declaration, from `rules` to `remaining`, so that what
//! changes least stands first and a cached prefix stays valid as long as possible:
//!
//! | part | changes when |
//! |---|---|
//! | `rules` | the request's language differs |
//! | `space` | a skill is loaded, or the environment exposes other tools |
//! | `memory`, `lang`, `now`, `request` | the task differs |
//! | `skills` | a skill is loaded, or the offered tools change |
//! | `history` | each turn; it only grows |
//! | `remaining` | each turn |
//!
//! `episode`, `task` and `task_digest` are for planners that are not models; rendering them would tell a model which task it is in.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use loopwright_contract::context::Context;
use loopwright_contract::name::Lang;

/// Raised whenever the layout or the meaning of a part changes; it is part of the harness's digest.
pub const LAYOUT_VERSION: u32 = 2;

/// The rules for planners in a language; English for languages that we have none for.
#[must_use]
pub fn rules(lang: &Lang) -> &'static str {
    if is_chinese(lang) { include_str!("rules_zh.txt") } else { include_str!("rules_en.txt") }
}

/// Whether a language tag is Chinese, with or without a region.
#[must_use]
pub fn is_chinese(lang: &Lang) -> bool {
    let primary = lang.as_str().split('-').next().unwrap_or_default();
    primary.eq_ignore_ascii_case("zh")
}

/// The rules as the context shares them.
pub(crate) fn shared_rules(lang: &Lang) -> Arc<str> {
    Arc::from(rules(lang))
}

/// A context as plain text in the documented layout: for people and for goldens, not for models.
#[must_use]
pub fn outline(context: &Context) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let first = context.rules.lines().next().unwrap_or_default();
    let _ = writeln!(text, "rules: {first} ({} lines)", context.rules.lines().count());
    let tools: Vec<&str> = context.space.tools.iter().map(|spec| spec.name.as_str()).collect();
    let skills: Vec<&str> = context.space.skills.iter().map(|card| card.name.as_str()).collect();
    let _ = writeln!(text, "tools: {}", tools.join(", "));
    let _ = writeln!(text, "skills to load: {}", skills.join(", "));
    let _ = writeln!(text, "memory {}, ask {}", context.space.memory, context.space.ask);
    for item in &context.memory {
        let _ = writeln!(text, "remembered {}: {}", item.id, item.content);
    }
    let _ = writeln!(text, "request ({}, {}): {}", context.lang, context.now, context.request);
    for skill in &context.skills {
        let _ = writeln!(text, "skill {}: {}", skill.name, skill.guidance.trim_end());
    }
    for event in &context.history {
        let value = serde_json::to_value(event).unwrap_or_default();
        let _ = writeln!(text, "- {}", loopwright_contract::json::canonical(&value));
    }
    let _ = writeln!(text, "remaining: {} steps, {} tokens", context.remaining.steps, context.remaining.tokens);
    text
}
