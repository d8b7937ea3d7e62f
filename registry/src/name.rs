//! Names of packages, and of the releases of a package: `namespace:name` and `namespace:name@version`.

use std::{fmt, str::FromStr};

use loopwright_contract::name::PluginName;
use semver::Version;
use serde::{Deserialize, Serialize};

/// Most characters of a namespace or a name.
pub const NAME_CHARACTERS_LIMIT: usize = 64;
/// Most characters of a version.
pub const VERSION_CHARACTERS_LIMIT: usize = 64;

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

impl NameError {
    pub(crate) fn new(kind: &'static str, found: &str, expected: &'static str) -> Self {
        Self { kind, found: found.chars().take(80).collect(), expected }
    }
}

/// Words of a-z and 0-9 joined by single `-`, the first of which starts with a letter: valid in WIT, in repositories and in file names.
pub(crate) fn is_kebab(text: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.len() <= NAME_CHARACTERS_LIMIT
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.split('-').all(word)
}

/// Passes serde through the text form, which is checked.
macro_rules! as_text {
    ($name:ident, $error:ty) => {
        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}
pub(crate) use as_text;

/// Who publishes: the part of a package's name that a trust policy is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Namespace(String);

impl Namespace {
    /// The namespace.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Namespace {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if is_kebab(text) {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError::new("namespace", text, "words of a-z and 0-9 joined by `-`, at most 64 characters"))
    }
}

as_text!(Namespace, NameError);

/// A package: `namespace:name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Package {
    /// Who publishes it.
    pub namespace: Namespace,
    /// What it is called, also where it is installed.
    pub name: PluginName,
}

impl fmt::Display for Package {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.namespace, self.name)
    }
}

impl FromStr for Package {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let wrong = || {
            NameError::new(
                "package",
                text,
                "`namespace:name`, each of words of a-z and 0-9 joined by `-`, at most 64 characters",
            )
        };
        let (namespace, name) = text.split_once(':').ok_or_else(wrong)?;
        if !is_kebab(namespace) || !is_kebab(name) {
            return Err(wrong());
        }
        let name = PluginName::new(name).map_err(|_| wrong())?;
        Ok(Self { namespace: Namespace(namespace.to_owned()), name })
    }
}

as_text!(Package, NameError);

/// A release: `namespace:name@version`. It never changes once published.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Release {
    /// Of which package.
    pub package: Package,
    /// Its version; without build metadata, which tags cannot hold and which has no order.
    pub version: Version,
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.package, self.version)
    }
}

impl FromStr for Release {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let wrong = || NameError::new("release", text, "`namespace:name@version`, such as `acme:notes@1.2.0`");
        let (package, version) = text.split_once('@').ok_or_else(wrong)?;
        Ok(Self { package: package.parse()?, version: parse_version(version).ok_or_else(wrong)? })
    }
}

as_text!(Release, NameError);

/// A version as releases have it; none for what tags cannot hold.
pub(crate) fn parse_version(text: &str) -> Option<Version> {
    if text.len() > VERSION_CHARACTERS_LIMIT {
        return None;
    }
    Version::parse(text).ok().filter(|version| version.build.is_empty())
}

/// Whether semantic versioning promises that `newer` can stand in for `older`: the same leftmost number that is not zero.
#[must_use]
pub fn same_range(older: &Version, newer: &Version) -> bool {
    match (older.major, older.minor) {
        (0, 0) => (older.major, older.minor, older.patch) == (newer.major, newer.minor, newer.patch),
        (0, _) => (older.major, older.minor) == (newer.major, newer.minor),
        _ => older.major == newer.major,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_release_is_refused() {
        for text in [
            "",
            "acme:notes",
            "acme:notes@",
            "acme:notes@1",
            "acme:notes@1.0",
            "acme:notes@1.0.0+linux",
            "Acme:notes@1.0.0",
            "acme:../x@1.0.0",
            "acme:-n@1.0.0",
            "acme:n-@1.0.0",
            "acme:n--m@1.0.0",
            "acme:7up@1.0.0",
            "acme/notes@1.0.0",
            "acme:notes@1.0.0@2.0.0",
            "acme: notes@1.0.0",
            "acme:notes@v1.0.0",
            "a:b:c@1.0.0",
        ] {
            assert!(text.parse::<Release>().is_err(), "`{text}` was read");
        }
    }

    #[test]
    fn each_limit_is_held() {
        let name = "n".repeat(NAME_CHARACTERS_LIMIT);
        assert!(format!("{name}:{name}@1.0.0").parse::<Release>().is_ok());
        assert!(format!("{name}n:{name}@1.0.0").parse::<Release>().is_err());
        assert!(format!("{name}:{name}n@1.0.0").parse::<Release>().is_err());
        let pre = "a".repeat(VERSION_CHARACTERS_LIMIT - "1.0.0-".len());
        assert!(format!("a:b@1.0.0-{pre}").parse::<Release>().is_ok());
        assert!(format!("a:b@1.0.0-{pre}a").parse::<Release>().is_err());
    }

    #[test]
    fn ranges_are_those_of_cargo() {
        for (older, newer, same) in [
            ("1.2.0", "1.9.9", true),
            ("1.2.0", "2.0.0", false),
            ("0.2.0", "0.2.7", true),
            ("0.2.0", "0.3.0", false),
            ("0.0.1", "0.0.2", false),
            ("0.0.1", "0.0.1", true),
        ] {
            assert_eq!(same_range(&older.parse().unwrap(), &newer.parse().unwrap()), same, "{older} {newer}");
        }
    }
}
