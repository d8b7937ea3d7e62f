//! One line of an index: read raw, then checked.

use loopwright_contract::{digest::ContentDigest, episode::PluginKind, name::PluginName};
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::name::Package;

/// The kind that the index gives to components of the test suite, which are of any kind.
const KIND_OF_TESTS: &str = "guest";

/// One installed component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: PluginName,
    /// Its version.
    pub version: Version,
    /// What it is; none for a component of the test suite, which tells only by what it exports.
    pub kind: Option<PluginKind>,
    /// The digest of its bytes.
    pub digest: ContentDigest,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// Whether the operator marked it as built from the operator's own source. A component cannot say this of itself.
    pub first_party: bool,
    /// The package that it was pulled as; none for what was built here.
    pub package: Option<Package>,
    /// The file's name beside the index.
    pub(crate) file: String,
}

/// An entry as it stands in the file. Keys that a later version adds are refused: an index is rebuilt, not migrated.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEntry {
    name: String,
    version: String,
    kind: String,
    file: String,
    sha256: String,
    size: u64,
    /// Absent: not marked.
    #[serde(default)]
    first_party: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    package: Option<String>,
}

impl From<&Entry> for RawEntry {
    fn from(entry: &Entry) -> Self {
        Self {
            name: entry.name.to_string(),
            version: entry.version.to_string(),
            kind: kind_text(entry.kind).to_owned(),
            file: entry.file.clone(),
            sha256: hex::encode(entry.digest.0),
            size: entry.size_bytes,
            first_party: entry.first_party,
            package: entry.package.as_ref().map(Package::to_string),
        }
    }
}

impl RawEntry {
    /// Checks every part.
    pub(crate) fn check(self) -> Result<Entry, String> {
        let in_entry = |what: String| format!("entry `{}`: {what}", self.name.chars().take(80).collect::<String>());
        if !is_file_name(&self.file) {
            return Err(in_entry(format!(
                "file `{}`: expected a name out of a-z, 0-9, `_` and `-` that ends in `.wasm`",
                self.file
            )));
        }
        let digest =
            if self.sha256.starts_with("sha256:") { self.sha256.clone() } else { format!("sha256:{}", self.sha256) };
        Ok(Entry {
            name: self.name.parse().map_err(|error| in_entry(format!("{error}")))?,
            version: self.version.parse().map_err(|error| in_entry(format!("version `{}`: {error}", self.version)))?,
            kind: kind(&self.kind).map_err(in_entry)?,
            digest: digest.parse().map_err(|error| in_entry(format!("{error}")))?,
            size_bytes: self.size,
            // Whatever an index says: what came from elsewhere is not ours.
            first_party: self.first_party && self.package.is_none(),
            package: self
                .package
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(|error| in_entry(format!("{error}")))?,
            file: self.file,
        })
    }
}

/// Whether a name stays in its folder whatever it is joined to.
fn is_file_name(name: &str) -> bool {
    let accepts = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    name.len() <= 128 && name.strip_suffix(".wasm").is_some_and(|stem| !stem.is_empty() && stem.bytes().all(accepts))
}

fn kind_text(kind: Option<PluginKind>) -> &'static str {
    match kind {
        Some(PluginKind::Tool) => "tool",
        Some(PluginKind::Environment) => "environment",
        Some(PluginKind::Verifier) => "verifier",
        Some(PluginKind::Skill) => "skill",
        None => KIND_OF_TESTS,
    }
}

fn kind(text: &str) -> Result<Option<PluginKind>, String> {
    match text {
        "tool" => Ok(Some(PluginKind::Tool)),
        "environment" => Ok(Some(PluginKind::Environment)),
        "verifier" => Ok(Some(PluginKind::Verifier)),
        "skill" => Ok(Some(PluginKind::Skill)),
        KIND_OF_TESTS => Ok(None),
        other => Err(format!("kind `{other}`: expected tool, environment, verifier, skill or guest")),
    }
}
