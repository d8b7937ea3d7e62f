//! The check of a call's arguments alone, for callers that are no planner of an episode.

use loopwright_contract::name::ToolName;
use loopwright_contract::tool::InstalledTool;
use serde_json::Value;

use super::arguments::from_value;
use super::schema::SchemaCache;

/// Checks arguments as an episode does, in the same words, and repairs nothing.
#[derive(Debug)]
pub struct ToolArguments(SchemaCache);

impl ToolArguments {
    /// For these tools. A schema is compiled when it is first needed.
    #[must_use]
    pub fn new(tools: &[InstalledTool]) -> Self {
        Self(SchemaCache::new(tools))
    }

    /// The arguments in the contract's form, when they conform to the tool's schema.
    ///
    /// # Errors
    /// What is wrong, where, what was found and what is allowed.
    pub fn conform(&self, tool: &ToolName, given: &Value) -> Result<Value, String> {
        let schema = self.0.tool(tool).ok_or_else(|| format!("there is no tool `{tool}`"))?;
        from_value(tool.as_str(), schema, given, true).map(|conforming| conforming.value)
    }
}

#[cfg(test)]
mod tests {
    use loopwright_testkit::tool::{TORCH, installed};
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_conform_or_are_refused_in_the_words_of_an_episode() {
        let arguments = ToolArguments::new(&installed());
        let torch = ToolName::new(TORCH).expect("a name");
        assert_eq!(arguments.conform(&torch, &json!({"on": true, "level": 2.0})), Ok(json!({"on": true, "level": 2})));
        for (given, part) in [
            (json!({"on": "true"}), "`/on`: found string `\"true\"`, expected boolean"),
            (json!({}), "`on` is missing"),
            (json!({"on": true, "reset": 1}), "unknown `reset`; allowed: `level`, `on`"),
            (json!([]), "expected one JSON object"),
            (json!({"on": true, "level": 1e300}), "set_torch"),
        ] {
            let error = arguments.conform(&torch, &given).expect_err("a refusal");
            assert!(error.contains(part), "{given}: `{error}` does not say `{part}`");
        }
        assert!(arguments.conform(&ToolName::new("reset").expect("a name"), &json!({})).is_err());
    }
}
