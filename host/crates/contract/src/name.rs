//! Names that were checked once, when they were made.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a {kind}: expected {expected}")]
pub struct NameError {
    /// What kind of name it should be.
    pub kind: &'static str,
    /// What stood there, cut to 80 characters.
    pub found: String,
    /// The rule.
    pub expected: &'static str,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $expected:literal, $accepts:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and keeps a name.
            ///
            /// # Errors
            /// [`NameError`] with the rule that the text breaks.
            pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
                let text = text.as_ref();
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(NameError { kind: $kind, found: text.chars().take(80).collect(), expected: $expected })
                }
            }

            /// The name.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({:?})", stringify!($name), &*self.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.as_ref().to_owned()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }
    )*};
}

fn each(text: &str, max: usize, accepts: fn(char) -> bool) -> bool {
    (1..=max).contains(&text.len()) && text.chars().all(accepts)
}

names! {
    /// The name of a tool.
    ToolName, "tool name", "1 to 64 characters out of a-z, A-Z, 0-9, `_` and `-`",
        |text| each(text, 64, |character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'));
    /// The name of a plugin.
    PluginName, "plugin name", "1 to 64 characters out of a-z, 0-9 and `-`",
        |text| each(text, 64, |character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-');
    /// The name of a skill.
    SkillName, "skill name", "1 to 48 characters out of a-z, 0-9 and `-`",
        |text| each(text, 48, |character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-');
    /// The name of a collection of documents.
    CollectionName, "collection name", "1 to 64 characters out of a-z, 0-9, `_` and `-`",
        |text| each(text, 64, |character| character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '_' | '-'));
    /// The id of a task, unique in its pack.
    TaskId, "task id", "1 to 128 characters out of a-z, A-Z, 0-9, `_`, `-`, `.`, `#` and `:`",
        |text| each(text, 128, |character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '#' | ':'));
    /// The id of an episode: one run of one task by one planner.
    EpisodeId, "episode id", "1 to 160 characters out of a-z, A-Z, 0-9, `_`, `-`, `.`, `#` and `:`",
        |text| each(text, 160, |character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '#' | ':'));
    /// The id of a call, unique in its turn.
    CallId, "call id", "1 to 64 printable ASCII characters without white space",
        |text| each(text, 64, |character| character.is_ascii_graphic());
    /// The id of something remembered.
    MemoryId, "memory id", "1 to 64 characters out of a-z, A-Z, 0-9, `_`, `-` and `.`",
        |text| each(text, 64, |character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.'));
    /// A language tag (BCP 47), such as `en` or `zh`.
    Lang, "language tag", "1 to 35 characters out of a-z, A-Z, 0-9 and `-`",
        |text| each(text, 35, |character| character.is_ascii_alphanumeric() || character == '-');
}

impl SkillName {
    /// The name of the action that loads the skill: `skill__` and the name with `_` for each `-`.
    #[must_use]
    pub fn action_name(&self) -> String {
        format!("skill__{}", self.0.replace('-', "_"))
    }
}

impl Lang {
    /// English.
    #[must_use]
    pub fn english() -> Self {
        Self("en".into())
    }

    /// Chinese.
    #[must_use]
    pub fn chinese() -> Self {
        Self("zh".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_name_is_refused_also_through_serde() {
        assert!(ToolName::new("manage_note").is_ok());
        for text in ["", "a b", "名", "../x", &"x".repeat(65)] {
            assert!(ToolName::new(text).is_err(), "`{text}` was accepted");
        }
        assert!(serde_json::from_str::<ToolName>("\"a b\"").is_err());
        assert!(
            serde_json::from_str::<PluginName>("\"Notes\"")
                .is_err_and(|error| error.to_string().contains("a-z, 0-9 and `-`"))
        );
    }

    #[test]
    fn a_skill_is_loaded_by_an_action_of_its_name() {
        assert_eq!(
            SkillName::new("conflict-order-arbiter").map(|name| name.action_name()),
            Ok("skill__conflict_order_arbiter".to_owned())
        );
    }
}
