//! What the operator lets plugins touch: the second of two documents. The first is the author's request, inside the component; what a plugin
//! gets is what both say, and a plugin that no grant matches gets nothing.
//!
//! ```toml
//! version = 1
//!
//! [[grant]]
//! publisher = "acme"          # the namespace that it was pulled from; left out: built on this machine
//! name = "notes"
//! versions = "^1.2"
//! request = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//! capabilities = [
//!   { capability = "collection", name = "power", access = "read" },
//!   { capability = "scratch", bytes = 65536 },
//! ]
//! ```
//!
//! A grant is consent to one request. When a later version in its range asks for something else, the grant stays what it was: the plugin goes
//! on with what was granted, and is said to ask for more.

use std::{fmt, path::Path};

use loopwright_contract::{
    capability::{Capabilities, Request},
    digest::RequestDigest,
    name::PluginName,
};
use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Entry, RegistryError,
    file::{self, Hold},
    name::Namespace,
};

/// The file's name, beside the installed components.
pub const GRANTS_FILE: &str = "grants.toml";
/// Most bytes of the file.
pub const GRANTS_BYTES_LIMIT: u64 = 1024 * 1024;
/// Most grants of the file.
pub const GRANTS_LIMIT: usize = 4_096;
const WHAT: &str = "grant file";
const HEAD: &str = "\
# What plugins may touch besides what is their own. `loopwright plugin explain NAME` says what one asks for, what it got and why.
# `loopwright plugin grant` and `revoke` write this file anew: comments are not kept.
";

/// One decision of the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// Whose plugin; none: built on this machine.
    pub publisher: Option<Namespace>,
    /// Which plugin.
    pub name: PluginName,
    /// In which versions.
    pub versions: VersionReq,
    /// The request that it answers.
    pub request: RequestDigest,
    /// What is granted of it.
    pub capabilities: Capabilities,
}

/// Every decision of the operator. Empty is the default: nobody is granted anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants(Vec<Granted>);

/// Whom a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Whose plugin; none: built on this machine.
    pub publisher: Option<Namespace>,
    /// Which plugin.
    pub name: PluginName,
    /// Which version.
    pub version: Version,
    /// Whether the operator built it from sources of the operator's own: it gets what it asks for.
    pub first_party: bool,
}

impl From<&Entry> for Subject {
    fn from(entry: &Entry) -> Self {
        Self {
            publisher: entry.package.as_ref().map(|package| package.namespace.clone()),
            name: entry.name.clone(),
            version: entry.version.clone(),
            first_party: entry.first_party,
        }
    }
}

/// How a decision came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// It asks for nothing.
    AsksNothing,
    /// The operator built it.
    FirstParty,
    /// A grant answers exactly this request.
    Granted {
        /// The grant's versions.
        versions: String,
    },
    /// A grant answers another request of the plugin, and stays what it was.
    OtherRequest {
        /// The grant's versions.
        versions: String,
        /// The request that was granted.
        granted: RequestDigest,
        /// What this one asks for beyond it, in words; empty when it asks for no more.
        more: Vec<String>,
    },
    /// The plugin has grants, and none for this version.
    OtherVersions {
        /// Their versions.
        granted: Vec<String>,
    },
    /// No grant is about the plugin.
    NoGrant,
}

impl fmt::Display for Standing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsksNothing => write!(formatter, "it asks for nothing"),
            Self::FirstParty => write!(formatter, "it was built on this machine and gets what it asks for"),
            Self::Granted { versions } => write!(formatter, "a grant for versions {versions} answers this request"),
            Self::OtherRequest { versions, more, .. } if more.is_empty() => {
                write!(
                    formatter,
                    "a grant for versions {versions} answers an earlier request, and this one asks for no more"
                )
            }
            Self::OtherRequest { versions, more, .. } => write!(
                formatter,
                "a grant for versions {versions} answers an earlier request and stays what it was; this one asks for more: {}",
                more.join(", ")
            ),
            Self::OtherVersions { granted } => {
                write!(formatter, "its grants are for versions {}", granted.join(" and "))
            }
            Self::NoGrant => write!(formatter, "no grant is about it"),
        }
    }
}

/// What a plugin asks for, what it was granted, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What the operator gives: by itself it may be more than was asked for.
    pub given: Capabilities,
    /// What both documents say: all that the plugin gets.
    pub effective: Capabilities,
    /// What was asked for and is not given, in words.
    pub denied: Vec<String>,
    /// How it came about.
    pub standing: Standing,
}

impl Grants {
    /// Reads the file; where there is none, nothing is granted.
    ///
    /// # Errors
    /// `BadFile` when it is not what it should be.
    pub fn read(path: &Path) -> Result<Self, RegistryError> {
        match file::read_text(WHAT, path, GRANTS_BYTES_LIMIT)? {
            None => Ok(Self::default()),
            Some(text) => Self::parse(&text).map_err(|reason| bad(path, reason)),
        }
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: RawGrants = toml::from_str(text).map_err(|error| error.to_string())?;
        if raw.version != 1 {
            return Err(format!("expected version 1, found {}", raw.version));
        }
        if raw.grant.len() > GRANTS_LIMIT {
            return Err(format!("expected at most {GRANTS_LIMIT} grants, found {}", raw.grant.len()));
        }
        let grants = raw.grant.into_iter().enumerate().map(|(at, grant)| {
            let place = format!("grant {} of `{}`", at + 1, grant.name);
            let list = Value::Array(grant.capabilities.clone());
            let capabilities =
                Capabilities::parse(&list, "/capabilities").map_err(|error| format!("{place}: {error}"))?;
            let Raw { publisher, name, versions, request, .. } = grant;
            Ok(Granted { publisher, name, versions, request, capabilities })
        });
        grants.collect::<Result<_, String>>().map(Self)
    }

    /// Every grant, in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = &Granted> {
        self.0.iter()
    }

    /// Decides. Of several grants for one request the last in the file counts, and of grants for other requests the last too.
    #[must_use]
    pub fn decide(&self, subject: &Subject, request: &Request) -> Decision {
        let asked = &request.capabilities;
        let (given, standing) = self.given(subject, request);
        let effective = asked.intersection(&given);
        let denied = asked.beyond(&effective);
        Decision { given, effective, denied, standing }
    }

    fn given(&self, subject: &Subject, request: &Request) -> (Capabilities, Standing) {
        let nothing = Capabilities::default;
        if request.capabilities.is_empty() {
            return (nothing(), Standing::AsksNothing);
        }
        if subject.first_party {
            return (request.capabilities.clone(), Standing::FirstParty);
        }
        let about: Vec<&Granted> =
            self.0.iter().filter(|grant| grant.publisher == subject.publisher && grant.name == subject.name).collect();
        let in_range = || about.iter().rev().filter(|grant| grant.versions.matches(&subject.version));
        if let Some(exact) = in_range().find(|grant| grant.request == request.digest) {
            return (exact.capabilities.clone(), Standing::Granted { versions: exact.versions.to_string() });
        }
        if let Some(earlier) = in_range().next() {
            let standing = Standing::OtherRequest {
                versions: earlier.versions.to_string(),
                granted: earlier.request,
                more: request.capabilities.beyond(&earlier.capabilities),
            };
            return (earlier.capabilities.clone(), standing);
        }
        if about.is_empty() {
            return (nothing(), Standing::NoGrant);
        }
        let granted = about.iter().map(|grant| grant.versions.to_string()).collect();
        (nothing(), Standing::OtherVersions { granted })
    }

    /// Adds a grant, in the place of the one for the same request and versions.
    pub fn add(&mut self, grant: Granted) {
        let same = |other: &Granted| {
            (&other.publisher, &other.name, &other.versions, other.request)
                == (&grant.publisher, &grant.name, &grant.versions, grant.request)
        };
        self.0.retain(|other| !same(other));
        self.0.push(grant);
    }

    /// Takes back every grant of a plugin, and says how many there were.
    pub fn remove(&mut self, publisher: Option<&Namespace>, name: &PluginName) -> usize {
        let before = self.0.len();
        self.0.retain(|grant| grant.publisher.as_ref() != publisher || grant.name != *name);
        before - self.0.len()
    }

    /// Keeps other processes from changing a grant file between reading and writing it.
    ///
    /// # Errors
    /// `Io` when the lock cannot be taken.
    pub fn guard(path: &Path) -> Result<Hold, RegistryError> {
        Hold::beside(path)
    }

    /// Puts the file in the place of the old one, whole.
    ///
    /// # Errors
    /// `Io` when it cannot be written; `BadFile` for more than [`GRANTS_LIMIT`] grants, `TooLarge` for more bytes than are read.
    pub fn write(&self, path: &Path) -> Result<(), RegistryError> {
        if self.0.len() > GRANTS_LIMIT {
            return Err(bad(path, format!("expected at most {GRANTS_LIMIT} grants, found {}", self.0.len())));
        }
        let text = self.to_text().map_err(|reason| bad(path, reason))?;
        file::readable(path, &text, GRANTS_BYTES_LIMIT)?;
        file::replace(path, text.as_bytes(), 0o644)
    }

    fn to_text(&self) -> Result<String, String> {
        let raw = RawGrants { version: 1, grant: self.0.iter().map(Raw::from).collect() };
        let body = toml::to_string(&raw).map_err(|error| error.to_string())?;
        Ok(format!("{HEAD}{body}"))
    }
}

fn bad(path: &Path, reason: String) -> RegistryError {
    RegistryError::BadFile { what: WHAT, path: path.to_owned(), reason }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGrants {
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grant: Vec<Raw>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    publisher: Option<Namespace>,
    name: PluginName,
    versions: VersionReq,
    request: RequestDigest,
    capabilities: Vec<Value>,
}

impl From<&Granted> for Raw {
    fn from(grant: &Granted) -> Self {
        let Granted { publisher, name, versions, request, capabilities } = grant.clone();
        Self { publisher, name, versions, request, capabilities: capabilities.to_list() }
    }
}

#[cfg(test)]
mod tests;
