//! What a plugin may touch besides what its kind always has: what its author asks for, and what is left of that when an operator has decided.
//!
//! The author's request is the custom section [`REQUEST_SECTION`] of the component, so that the component's digest covers it:
//!
//! ```json
//! {"format": "loopwright-request/1", "capabilities": [
//!   {"capability": "collection", "name": "power", "access": "read"},
//!   {"capability": "tool.call", "tools": ["manage_wifi"]},
//!   {"capability": "scratch", "bytes": 65536},
//!   {"capability": "log", "bytes": 16384}
//! ]}
//! ```
//!
//! A capability is an object with a name, so that further ones (`http`, `model`, `device`, `secret`) join without a change of the format: a host
//! that does not know one keeps it as asked for and never gives it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::digest::RequestDigest;
use crate::episode::PluginKind;
use crate::json::{self as text, JsonLimits, canonical};
use crate::name::{CollectionName, ToolName};

/// The name of the component's custom section that holds the request.
pub const REQUEST_SECTION: &str = "loopwright:request";
/// What a request begins with.
pub const REQUEST_FORMAT: &str = "loopwright-request/1";
/// Most bytes of a request.
pub const REQUEST_BYTES_MAX: usize = 64 * 1024;
/// Most capabilities of one request or one grant.
pub const CAPABILITIES_MAX: usize = 256;
/// Most tools of one `tool.call`.
pub const CALLABLE_TOOLS_MAX: usize = 512;
/// Most bytes of scratch that can be asked for: 16 MiB.
pub const SCRATCH_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Most bytes of log that can be asked for a call: 1 MiB.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of log a call that every plugin has without asking: 4 KiB.
pub const LOG_BYTES_FREE: u64 = 4 * 1024;

/// The interface of the capability `tool.call`.
pub const TOOL_CALLER: &str = "tool-caller";
/// The interface of the capability `scratch`.
pub const SCRATCH: &str = "scratch";
/// Interfaces that stand for a capability: a plugin imports them only when it asks, and has them only when it is granted.
pub const CAPABILITY_INTERFACES: [&str; 2] = [TOOL_CALLER, SCRATCH];

/// How far a plugin may go with a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectionAccess {
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// Why a request or a grant is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {reason}")]
pub struct CapabilityError {
    /// Where, as a JSON pointer; the document itself is `request` or what the caller names.
    pub at: String,
    /// What was expected and what was found.
    pub reason: String,
}

impl CapabilityError {
    fn new(at: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { at: at.into(), reason: reason.into() }
    }
}

/// A set of capabilities in normal form. Empty is the default: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Collections and how far. Write includes read.
    pub collections: BTreeMap<CollectionName, CollectionAccess>,
    /// Tools that may be called.
    pub tools: BTreeSet<ToolName>,
    /// Bytes of scratch.
    pub scratch_bytes: u64,
    /// Bytes of log a call; 0: no more than everybody has.
    pub log_bytes: u64,
    /// Capabilities that this host does not know, by name: the canonical text of each, sorted.
    pub unknown: BTreeMap<String, BTreeSet<String>>,
}

impl Capabilities {
    /// Reads a list of capabilities. `at` is where it stands, for errors.
    ///
    /// # Errors
    /// [`CapabilityError`] for one that is malformed, over its limit, or stands there twice.
    pub fn parse(list: &Value, at: &str) -> Result<Self, CapabilityError> {
        let Value::Array(items) = list else {
            return Err(CapabilityError::new(at, "expected an array of capabilities"));
        };
        if items.len() > CAPABILITIES_MAX {
            let reason = format!("at most {CAPABILITIES_MAX} capabilities allowed, found {}", items.len());
            return Err(CapabilityError::new(at, reason));
        }
        let mut all = Self::default();
        for (position, item) in items.iter().enumerate() {
            all.add(item).map_err(|reason| CapabilityError::new(format!("{at}/{position}"), reason))?;
        }
        Ok(all)
    }

    fn add(&mut self, item: &Value) -> Result<(), String> {
        let name = item
            .get("capability")
            .and_then(Value::as_str)
            .ok_or("expected an object with `capability`, its name as a string")?;
        match name {
            "collection" => {
                let Asked { name, access } = read(item)?;
                if self.collections.insert(name.clone(), access).is_some() {
                    return Err(format!("collection `{name}` stands there twice"));
                }
            }
            "tool.call" => {
                let Callable { tools } = read(item)?;
                if tools.is_empty() {
                    return Err("`tools` is empty: name the tools, or leave the capability out".to_owned());
                }
                self.tools.extend(tools);
                if self.tools.len() > CALLABLE_TOOLS_MAX {
                    return Err(format!("at most {CALLABLE_TOOLS_MAX} tools allowed, found {}", self.tools.len()));
                }
            }
            "scratch" => set(&mut self.scratch_bytes, item, SCRATCH_BYTES_MAX)?,
            "log" => set(&mut self.log_bytes, item, LOG_BYTES_MAX)?,
            other => {
                if !(1..=64).contains(&other.len())
                    || !other.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.')
                {
                    return Err("a capability's name has 1 to 64 characters out of a-z and `.`".to_owned());
                }
                if !self.unknown.entry(other.to_owned()).or_default().insert(canonical(item)) {
                    return Err(format!("`{other}` stands there twice"));
                }
            }
        }
        Ok(())
    }

    /// What both have. Of capabilities that this host does not know, nothing.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let both = |(name, access): (&CollectionName, &CollectionAccess)| {
            other.collections.get(name).map(|theirs| (name.clone(), *access.min(theirs)))
        };
        Self {
            collections: self.collections.iter().filter_map(both).collect(),
            tools: self.tools.intersection(&other.tools).cloned().collect(),
            scratch_bytes: self.scratch_bytes.min(other.scratch_bytes),
            log_bytes: self.log_bytes.min(other.log_bytes),
            unknown: BTreeMap::new(),
        }
    }

    /// What this set has and `other` has not, one line each, in words; empty when `other` covers it.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, access) in &self.collections {
            if other.collections.get(name).is_none_or(|theirs| theirs < access) {
                lines.push(format!("{} collection `{name}`", word(*access)));
            }
        }
        for tool in self.tools.difference(&other.tools) {
            lines.push(format!("call tool `{tool}`"));
        }
        for (what, mine, theirs) in [
            ("scratch", self.scratch_bytes, other.scratch_bytes),
            ("log a call", self.log_bytes.max(LOG_BYTES_FREE), other.log_bytes.max(LOG_BYTES_FREE)),
        ] {
            if mine > theirs {
                let instead = if theirs == 0 { String::new() } else { format!(" instead of {theirs}") };
                lines.push(format!("{mine} bytes of {what}{instead}"));
            }
        }
        for (name, details) in &self.unknown {
            let theirs = other.unknown.get(name);
            for detail in details.iter().filter(|detail| theirs.is_none_or(|theirs| !theirs.contains(*detail))) {
                lines.push(format!("`{name}`, which this host does not know: {detail}"));
            }
        }
        lines
    }

    /// What of it a plugin of a kind may have at all. A verifier sees evidence and nothing else, a skill reads, and only a tool calls tools or
    /// keeps bytes of its own.
    #[must_use]
    pub fn for_kind(&self, kind: PluginKind) -> Self {
        let mut rest = self.clone();
        match kind {
            PluginKind::Tool => {}
            PluginKind::Environment | PluginKind::Skill | PluginKind::Verifier => {
                rest.tools.clear();
                rest.scratch_bytes = 0;
            }
        }
        match kind {
            PluginKind::Tool | PluginKind::Environment => {}
            PluginKind::Skill => rest.collections.values_mut().for_each(|access| *access = CollectionAccess::Read),
            PluginKind::Verifier => rest.collections.clear(),
        }
        rest
    }

    /// The same, one thing at a time: each collection, each tool, each quota.
    #[must_use]
    pub fn singles(&self) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let collections = self.collections.iter().map(|(name, access)| BTreeMap::from([(name.clone(), *access)]));
        all.extend(collections.map(|collections| Self { collections, ..Self::default() }));
        all.extend(self.tools.iter().map(|tool| Self { tools: BTreeSet::from([tool.clone()]), ..Self::default() }));
        if self.scratch_bytes > 0 {
            all.push(Self { scratch_bytes: self.scratch_bytes, ..Self::default() });
        }
        if self.log_bytes > LOG_BYTES_FREE {
            all.push(Self { log_bytes: self.log_bytes, ..Self::default() });
        }
        let details = |(name, details): (&String, &BTreeSet<String>)| -> Vec<(String, String)> {
            details.iter().map(|detail| (name.clone(), detail.clone())).collect()
        };
        let unknown = self.unknown.iter().flat_map(details);
        all.extend(unknown.map(|(name, detail)| Self {
            unknown: BTreeMap::from([(name, BTreeSet::from([detail]))]),
            ..Self::default()
        }));
        all
    }

    /// Takes out what a word names: a collection, a tool, or a whole capability such as `tool.call`. Says whether there was anything.
    pub fn remove(&mut self, word: &str) -> bool {
        let before = self.clone();
        self.collections.retain(|name, _| name.as_str() != word && word != "collection");
        self.tools.retain(|name| name.as_str() != word && word != "tool.call");
        self.unknown.retain(|name, _| name != word);
        match word {
            "scratch" => self.scratch_bytes = 0,
            "log" => self.log_bytes = 0,
            _ => {}
        }
        *self != before
    }

    /// The interfaces that it takes, beside those of every plugin: names without package and version.
    #[must_use]
    pub fn interfaces(&self) -> Vec<&'static str> {
        let asked = [(TOOL_CALLER, !self.tools.is_empty()), (SCRATCH, self.scratch_bytes > 0)];
        asked.into_iter().filter_map(|(name, asked)| asked.then_some(name)).collect()
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The set as documents write it: [`Capabilities::parse`] reads it back.
    #[must_use]
    pub fn to_list(&self) -> Vec<Value> {
        let collections = self
            .collections
            .iter()
            .map(|(name, access)| json!({"capability": "collection", "name": name, "access": access}));
        let mut list: Vec<Value> = collections.collect();
        if !self.tools.is_empty() {
            list.push(json!({"capability": "tool.call", "tools": self.tools}));
        }
        for (name, bytes) in [("scratch", self.scratch_bytes), ("log", self.log_bytes)] {
            if bytes > 0 {
                list.push(json!({"capability": name, "bytes": bytes}));
            }
        }
        // What is kept here was JSON when it came in.
        list.extend(self.unknown.values().flatten().filter_map(|text| serde_json::from_str(text).ok()));
        list
    }

    /// The set in words, a line for each capability; empty for nothing.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.beyond(&Self::default())
    }
}

fn word(access: CollectionAccess) -> &'static str {
    match access {
        CollectionAccess::Read => "read",
        CollectionAccess::Write => "read and write",
    }
}

#[derive(Deserialize)]
struct Asked {
    name: CollectionName,
    access: CollectionAccess,
}

#[derive(Deserialize)]
struct Callable {
    tools: BTreeSet<ToolName>,
}

#[derive(Deserialize)]
struct Quota {
    bytes: u64,
}

/// Reads the fields of a capability besides its name, and no others.
fn read<T: for<'de> Deserialize<'de> + Fields>(item: &Value) -> Result<T, String> {
    if let Some(extra) = item
        .as_object()
        .into_iter()
        .flatten()
        .find(|(key, _)| !T::NAMES.contains(&key.as_str()) && *key != "capability")
    {
        return Err(format!("unknown field `{}`, expected {}", extra.0, T::NAMES.join(" and ")));
    }
    T::deserialize(item).map_err(|error| error.to_string())
}

trait Fields {
    const NAMES: &'static [&'static str];
}

impl Fields for Asked {
    const NAMES: &'static [&'static str] = &["name", "access"];
}

impl Fields for Callable {
    const NAMES: &'static [&'static str] = &["tools"];
}

impl Fields for Quota {
    const NAMES: &'static [&'static str] = &["bytes"];
}

fn set(quota: &mut u64, item: &Value, max: u64) -> Result<(), String> {
    let Quota { bytes } = read(item)?;
    if !(1..=max).contains(&bytes) {
        return Err(format!("`bytes`: expected 1 to {max}, found {bytes}"));
    }
    if *quota != 0 {
        return Err("stands there twice".to_owned());
    }
    *quota = bytes;
    Ok(())
}

/// What an author asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The capabilities.
    pub capabilities: Capabilities,
    /// Of the section's bytes; of no bytes where there is no section.
    pub digest: RequestDigest,
}

impl Default for Request {
    /// A component without the section: it asks for nothing.
    fn default() -> Self {
        Self { capabilities: Capabilities::default(), digest: RequestDigest::of(b"") }
    }
}

impl Request {
    /// Reads the bytes of the section. No bytes ask for nothing.
    ///
    /// # Errors
    /// [`CapabilityError`] with the place and what was expected.
    pub fn parse(section: &[u8]) -> Result<Self, CapabilityError> {
        if section.is_empty() {
            return Ok(Self::default());
        }
        let whole = |reason: String| CapabilityError::new("request", reason);
        let section_text = std::str::from_utf8(section).map_err(|error| whole(format!("expected UTF-8: {error}")))?;
        let limits = JsonLimits { bytes_max: REQUEST_BYTES_MAX, ..JsonLimits::CONTRACT };
        let value = text::parse(section_text, &limits).map_err(|error| whole(error.to_string()))?;
        let Value::Object(fields) = &value else { return Err(whole("expected an object".to_owned())) };
        match fields.get("format").and_then(Value::as_str) {
            Some(REQUEST_FORMAT) => {}
            Some(other) => return Err(whole(format!("expected format `{REQUEST_FORMAT}`, found `{other}`"))),
            None => return Err(whole(format!("expected `format` with `{REQUEST_FORMAT}`"))),
        }
        if let Some(extra) = fields.keys().find(|key| !matches!(key.as_str(), "format" | "capabilities")) {
            return Err(whole(format!("unknown field `{extra}`, expected `format` and `capabilities`")));
        }
        let list = fields.get("capabilities").ok_or_else(|| whole("expected `capabilities`, an array".to_owned()))?;
        Ok(Self { capabilities: Capabilities::parse(list, "/capabilities")?, digest: RequestDigest::of(section) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(capabilities: &Value) -> Result<Request, CapabilityError> {
        Request::parse(json!({"format": REQUEST_FORMAT, "capabilities": capabilities}).to_string().as_bytes())
    }

    fn set(capabilities: &Value) -> Capabilities {
        request(capabilities).unwrap().capabilities
    }

    fn everything() -> Value {
        json!([
            {"capability": "collection", "name": "notes", "access": "write"},
            {"capability": "collection", "name": "power", "access": "read"},
            {"capability": "tool.call", "tools": ["manage_wifi", "set_alarm"]},
            {"capability": "scratch", "bytes": 65_536},
            {"capability": "log", "bytes": 16_384},
            {"capability": "http", "hosts": ["example.org"]},
        ])
    }

    #[test]
    fn a_request_is_read_and_written_back() {
        let all = set(&everything());
        assert_eq!(Value::from(all.to_list()), everything());
        assert_eq!(
            all.lines(),
            [
                "read and write collection `notes`",
                "read collection `power`",
                "call tool `manage_wifi`",
                "call tool `set_alarm`",
                "65536 bytes of scratch",
                "16384 bytes of log a call instead of 4096",
                "`http`, which this host does not know: {\"capability\":\"http\",\"hosts\":[\"example.org\"]}",
            ]
        );
        assert_eq!(Request::parse(b"").unwrap(), Request::default());
        assert!(Request::default().capabilities.is_empty());
    }

    #[test]
    fn what_is_given_is_what_both_have_and_nothing_that_is_not_known() {
        let all = set(&everything());
        let given = set(&json!([
            {"capability": "collection", "name": "notes", "access": "read"},
            {"capability": "collection", "name": "sms", "access": "write"},
            {"capability": "tool.call", "tools": ["set_alarm", "send_sms"]},
            {"capability": "scratch", "bytes": 100},
            {"capability": "http", "hosts": ["example.org"]},
        ]));
        let both = all.intersection(&given);
        let expected = json!([
            {"capability": "collection", "name": "notes", "access": "read"},
            {"capability": "tool.call", "tools": ["set_alarm"]},
            {"capability": "scratch", "bytes": 100},
        ]);
        assert_eq!(Value::from(both.to_list()), expected);
        assert!(all.intersection(&Capabilities::default()).is_empty());
        assert_eq!(all.beyond(&given).len(), 5, "{:?}", all.beyond(&given));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            (json!({}), "/capabilities: expected an array"),
            (json!([1]), "/capabilities/0: expected an object with `capability`"),
            (json!([{"capability": "collection", "name": "Notes", "access": "read"}]), "/capabilities/0"),
            (json!([{"capability": "collection", "name": "notes", "access": "all"}]), "/capabilities/0"),
            (json!([{"capability": "collection", "name": "notes"}]), "access"),
            (json!([{"capability": "scratch", "bytes": 1, "path": "/"}]), "unknown field `path`, expected bytes"),
            (json!([{"capability": "scratch", "bytes": 0}]), "expected 1 to 16777216, found 0"),
            (json!([{"capability": "scratch", "bytes": SCRATCH_BYTES_MAX + 1}]), "expected 1 to 16777216"),
            (json!([{"capability": "log", "bytes": LOG_BYTES_MAX + 1}]), "expected 1 to 1048576"),
            (
                json!([{"capability": "log", "bytes": 1}, {"capability": "log", "bytes": 2}]),
                "/capabilities/1: stands there twice",
            ),
            (json!([{"capability": "tool.call", "tools": []}]), "`tools` is empty"),
            (json!([{"capability": "tool.call", "tools": ["a b"]}]), "/capabilities/0"),
            (json!([{"capability": "HTTP"}]), "a-z and `.`"),
            (json!([{"capability": "http"}, {"capability": "http"}]), "`http` stands there twice"),
        ];
        for (capabilities, expected) in cases {
            let error = request(&capabilities).unwrap_err().to_string();
            assert!(error.contains(expected), "{capabilities}: {error}");
        }
        for (text, expected) in [
            ("[]", "expected an object"),
            ("{", "request:"),
            (r#"{"capabilities": []}"#, "expected `format`"),
            (r#"{"format": "loopwright-request/2", "capabilities": []}"#, "found `loopwright-request/2`"),
            (r#"{"format": "loopwright-request/1"}"#, "expected `capabilities`"),
            (r#"{"format": "loopwright-request/1", "capabilities": [], "grant": 1}"#, "unknown field `grant`"),
            (r#"{"format": "loopwright-request/1", "format": "loopwright-request/1", "capabilities": []}"#, "format"),
        ] {
            let error = Request::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn each_limit_is_at_its_number() {
        let http =
            |count: usize| Value::from((0..count).map(|n| json!({"capability": "http", "n": n})).collect::<Vec<_>>());
        assert!(request(&http(CAPABILITIES_MAX)).is_ok());
        assert!(request(&http(CAPABILITIES_MAX + 1)).unwrap_err().reason.contains("at most 256"));
        let tools = |count: usize| {
            let names: Vec<String> = (0..count).map(|n| format!("t{n}")).collect();
            json!([{"capability": "tool.call", "tools": names}])
        };
        assert!(request(&tools(CALLABLE_TOOLS_MAX)).is_ok());
        assert!(request(&tools(CALLABLE_TOOLS_MAX + 1)).unwrap_err().reason.contains("at most 512"));
        let two: Vec<Value> = [tools(CALLABLE_TOOLS_MAX), json!([{"capability": "tool.call", "tools": ["x"]}])]
            .into_iter()
            .flat_map(|list| list.as_array().cloned().unwrap())
            .collect();
        assert!(request(&Value::from(two)).is_err(), "also in two lists");
        let padded = |bytes: usize| {
            let text = json!({"format": REQUEST_FORMAT, "capabilities": []}).to_string();
            format!("{text}{}", " ".repeat(bytes - text.len()))
        };
        assert!(Request::parse(padded(REQUEST_BYTES_MAX).as_bytes()).is_ok());
        assert!(Request::parse(padded(REQUEST_BYTES_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    fn a_kind_has_no_more_than_its_kind_may() {
        let all = set(&everything());
        assert_eq!(all.for_kind(PluginKind::Tool), all);
        let names = |kind| {
            let rest = all.for_kind(kind);
            assert!(rest.beyond(&all).is_empty() && rest.interfaces().is_empty(), "{kind:?}");
            (rest.collections.len(), rest.log_bytes)
        };
        assert_eq!(names(PluginKind::Environment), (2, 16_384));
        assert_eq!(names(PluginKind::Skill), (2, 16_384));
        assert_eq!(names(PluginKind::Verifier), (0, 16_384));
        let skill = all.for_kind(PluginKind::Skill);
        assert!(skill.collections.values().all(|access| *access == CollectionAccess::Read));
        assert_eq!(all.interfaces(), CAPABILITY_INTERFACES);
    }

    fn arbitrary() -> impl Strategy<Value = Capabilities> {
        let access = prop_oneof![Just(CollectionAccess::Read), Just(CollectionAccess::Write)];
        let collections = proptest::collection::btree_map("[a-c]", access, 0..3);
        let tools = proptest::collection::btree_set("[a-c]", 0..3);
        let unknown = proptest::collection::btree_set("[a-c]", 0..2);
        (collections, tools, 0..3_u64, 0..20_000_u64, unknown).prop_map(
            |(collections, tools, scratch, log, unknown)| Capabilities {
                collections: collections.into_iter().map(|(name, access)| (name.parse().unwrap(), access)).collect(),
                tools: tools.into_iter().map(|name| name.parse().unwrap()).collect(),
                scratch_bytes: scratch,
                log_bytes: log,
                unknown: if unknown.is_empty() {
                    BTreeMap::new()
                } else {
                    let details = unknown.iter().map(|at| json!({"capability": "http", "at": at}));
                    BTreeMap::from([("http".to_owned(), details.map(|detail| canonical(&detail)).collect())])
                },
            },
        )
    }

    proptest! {
        #[test]
        fn singles_are_the_set(a in arbitrary()) {
            let lines: Vec<String> = a.singles().iter().flat_map(Capabilities::lines).collect();
            prop_assert_eq!(lines, a.lines());
        }

        #[test]
        fn an_intersection_is_within_both_and_nothing_more_is(a in arbitrary(), b in arbitrary()) {
            let both = a.intersection(&b);
            prop_assert!(both.beyond(&a).is_empty() && both.beyond(&b).is_empty());
            prop_assert_eq!(&both, &b.intersection(&a));
            prop_assert_eq!(&both, &both.intersection(&a));
            // What a has beyond b is exactly what it loses, but for what nobody is given and the log that everybody has.
            let known = Capabilities { unknown: BTreeMap::new(), log_bytes: a.log_bytes.max(LOG_BYTES_FREE), ..a.clone() };
            let left = Capabilities { log_bytes: both.log_bytes.max(LOG_BYTES_FREE), ..both };
            prop_assert_eq!(known.beyond(&b).is_empty(), known == left);
        }

        #[test]
        fn a_list_is_read_back(a in arbitrary()) {
            prop_assert_eq!(Capabilities::parse(&Value::from(a.to_list()), "").unwrap(), a);
        }

        #[test]
        fn no_bytes_end_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Request::parse(&bytes);
        }
    }
}
