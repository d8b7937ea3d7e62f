//! The documents of an OCI registry, as far as releases need them: read strictly, written canonically.
//!
//! Why not `oci-client` and `oci-spec`: the client (as read at 0.17) leaves the HTTP library's redirects on, reads manifests, token answers and
//! error texts whole whatever their size, and brings an authentication stack of some sixty crates; the types read a document whose keys stand
//! there twice. Those are the findings that this crate exists to answer, and what is left of the two after that is this file.

use std::collections::BTreeMap;

use loopwright_contract::{
    digest::{BlobDigest, ContentDigest, ManifestDigest},
    json::{JsonLimits, canonical, parse},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{COMPONENT_BYTES_LIMIT, component::Inspection, moment::Moment, name::Release, refusal::Refusal};

/// The media type of a manifest.
pub const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of a list of manifests.
pub const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of a release's config.
pub const WASM_CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
/// The media type of a component.
pub const WASM_TYPE: &str = "application/wasm";
/// What a manifest that carries a signed statement is.
pub const STATEMENT_ARTIFACT: &str = "application/vnd.loopwright.statement.v1";
/// The config of a manifest that needs none, and its type.
pub const EMPTY_CONFIG: &[u8] = b"{}";
/// The media type of [`EMPTY_CONFIG`].
pub const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// Most bytes of a manifest.
pub const MANIFEST_BYTES_LIMIT: u64 = 256 * 1024;
/// Most bytes of an index.
pub const INDEX_BYTES_LIMIT: u64 = 1024 * 1024;
/// Most entries of an index.
pub const INDEX_ENTRIES_LIMIT: usize = 4_096;
/// The annotation that names a tag in an image layout.
pub const REF_NAME: &str = "org.opencontainers.image.ref.name";
/// The annotation that names a file; other tools write a layer under it.
const TITLE: &str = "org.opencontainers.image.title";
const VERSION: &str = "org.opencontainers.image.version";
const CREATED: &str = "org.opencontainers.image.created";
const DEPTH_MAX: usize = 8;

/// What names a blob or a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// What it is.
    pub media_type: String,
    /// Its digest.
    pub digest: BlobDigest,
    /// How many bytes it has.
    pub size: u64,
    /// What the manifest that it names is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// Texts for people and tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// Describes bytes.
    #[must_use]
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: BlobDigest::of(bytes),
            size: bytes.len() as u64,
            artifact_type: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// A manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    schema_version: u32,
    media_type: Option<String>,
    /// What it is, when its config does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// Facts about the layers.
    pub config: Descriptor,
    /// The content.
    pub layers: Vec<Descriptor>,
    /// The manifest that this one says something about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    /// Texts for people and tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A list of manifests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageIndex {
    schema_version: u32,
    media_type: Option<String>,
    /// The manifests.
    pub manifests: Vec<Descriptor>,
}

/// Reads a document of a registry: I-JSON within limits, so no key twice. Keys that we do not know are allowed, as the standard wants.
pub(crate) fn read<T: DeserializeOwned>(what: &'static str, bytes: &[u8], limit: u64) -> Result<T, Refusal> {
    let document = |reason: String| Refusal::Document { what, reason };
    let text = std::str::from_utf8(bytes).map_err(|error| document(error.to_string()))?;
    let limits = JsonLimits { bytes_max: usize::try_from(limit).unwrap_or(usize::MAX), depth_max: DEPTH_MAX };
    let value = parse(text, &limits).map_err(|error| document(error.to_string()))?;
    serde_json::from_value(value).map_err(|error| document(error.to_string()))
}

fn write(value: &impl Serialize) -> Vec<u8> {
    // Every field is a text, a number or a list of them, so there always is a JSON form.
    canonical(&serde_json::to_value(value).unwrap_or_default()).into_bytes()
}

impl Manifest {
    const WHAT: &'static str = "manifest";

    fn new(config: Descriptor, layers: Vec<Descriptor>) -> Self {
        Self {
            schema_version: 2,
            media_type: Some(MANIFEST_TYPE.to_owned()),
            artifact_type: None,
            config,
            layers,
            subject: None,
            annotations: BTreeMap::new(),
        }
    }

    /// The manifest of a release.
    #[must_use]
    pub fn of_release(release: &Release, config: Descriptor, mut component: Descriptor, issued: Moment) -> Self {
        component.annotations.insert(TITLE.to_owned(), format!("{}.wasm", release.package.name));
        let mut manifest = Self::new(config, vec![component]);
        manifest.annotations.insert(VERSION.to_owned(), release.version.to_string());
        manifest.annotations.insert(CREATED.to_owned(), issued.to_string());
        manifest
    }

    /// The manifest that carries an envelope about another manifest.
    #[must_use]
    pub fn of_envelope(envelope: Descriptor, subject: Descriptor) -> Self {
        let mut manifest = Self::new(Descriptor::of(EMPTY_TYPE, EMPTY_CONFIG), vec![envelope]);
        manifest.artifact_type = Some(STATEMENT_ARTIFACT.to_owned());
        manifest.subject = Some(subject);
        manifest
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// [`Refusal::Document`] for what is no image manifest, or breaks a limit.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let manifest: Self = read(Self::WHAT, bytes, MANIFEST_BYTES_LIMIT)?;
        let wrong = |reason: String| Refusal::Document { what: Self::WHAT, reason };
        if manifest.schema_version != 2 {
            return Err(wrong(format!("expected schemaVersion 2, found {}", manifest.schema_version)));
        }
        match manifest.media_type.as_deref() {
            None | Some(MANIFEST_TYPE) => Ok(manifest),
            Some(other) => Err(wrong(format!("expected mediaType `{MANIFEST_TYPE}`, found `{}`", short(other)))),
        }
    }

    /// Its bytes; the same manifest has the same bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }

    /// The component of a release: the one layer there is. More layers are refused rather than left out, because what is left out is what
    /// somebody else thought was in force.
    ///
    /// # Errors
    /// [`Refusal::Document`] for another kind of manifest, [`Refusal::TooLarge`] for a component beyond the limit.
    pub fn component(&self) -> Result<(ContentDigest, u64), Refusal> {
        let wrong = |reason: String| Refusal::Document { what: Self::WHAT, reason };
        if self.config.media_type != WASM_CONFIG_TYPE {
            let found = short(&self.config.media_type);
            return Err(wrong(format!("expected a config of type `{WASM_CONFIG_TYPE}`, found `{found}`")));
        }
        let [layer] = self.layers.as_slice() else {
            return Err(wrong(format!("expected exactly one layer, found {}", self.layers.len())));
        };
        if layer.media_type != WASM_TYPE {
            return Err(wrong(format!("expected a layer of type `{WASM_TYPE}`, found `{}`", short(&layer.media_type))));
        }
        if layer.size > COMPONENT_BYTES_LIMIT {
            return Err(Refusal::TooLarge { what: "component", limit: COMPONENT_BYTES_LIMIT, found: layer.size });
        }
        // The one place where a registry's word makes a blob a component; the signed statement has to agree.
        Ok((ContentDigest(layer.digest.0), layer.size))
    }
}

impl ImageIndex {
    const WHAT: &'static str = "index of manifests";

    /// A list of manifests.
    #[must_use]
    pub fn new(manifests: Vec<Descriptor>) -> Self {
        Self { schema_version: 2, media_type: Some(INDEX_TYPE.to_owned()), manifests }
    }

    /// Reads a list of manifests.
    ///
    /// # Errors
    /// [`Refusal::Document`] for what is none, or breaks a limit.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let index: Self = read(Self::WHAT, bytes, INDEX_BYTES_LIMIT)?;
        let wrong = |reason: String| Err(Refusal::Document { what: Self::WHAT, reason });
        if index.schema_version != 2 {
            return wrong(format!("expected schemaVersion 2, found {}", index.schema_version));
        }
        if index.manifests.len() > INDEX_ENTRIES_LIMIT {
            return wrong(format!("expected at most {INDEX_ENTRIES_LIMIT} entries, found {}", index.manifests.len()));
        }
        Ok(index)
    }

    /// Its bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }
}

/// The config of a release, in the form that `wkg` writes and reads.
#[must_use]
pub fn wasm_config(component: &Inspection, content: &ContentDigest, issued: Moment) -> Vec<u8> {
    write(&json!({
        "created": issued,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [content],
        "component": {"imports": component.imports, "exports": component.exports, "target": null},
    }))
}

/// The digest of a manifest's bytes.
#[must_use]
pub fn manifest_digest(bytes: &[u8]) -> ManifestDigest {
    ManifestDigest::of(bytes)
}

fn short(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> Manifest {
        let issued = Moment::from_seconds(1_796_000_000).unwrap();
        let config = Descriptor::of(WASM_CONFIG_TYPE, b"config");
        Manifest::of_release(
            &"acme:notes@1.2.0".parse().unwrap(),
            config,
            Descriptor::of(WASM_TYPE, b"component"),
            issued,
        )
    }

    fn refused(text: &str) -> String {
        match Manifest::read(text.as_bytes()).and_then(|manifest| manifest.component()) {
            Ok(_) => panic!("{text} was read"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_release_reads_back() {
        let manifest = release();
        assert_eq!(Manifest::read(&manifest.write()).unwrap(), manifest);
        assert_eq!(manifest.component().unwrap(), (ContentDigest::of(b"component"), 9));
    }

    #[test]
    fn what_is_no_release_says_why() {
        let good = String::from_utf8(release().write()).unwrap();
        let content = ContentDigest::of(b"component").to_string();
        for (text, part) in [
            (good.replacen('{', "{\"config\":{},", 1), "duplicate key `config`"),
            (good.replace("\"schemaVersion\":2", "\"schemaVersion\":1"), "schemaVersion 2"),
            (good.replace(MANIFEST_TYPE, INDEX_TYPE), "mediaType"),
            (good.replace(WASM_CONFIG_TYPE, EMPTY_TYPE), "config of type"),
            (
                good.replace("\"application/wasm\"", "\"text/plain\\u001b\""),
                "layer of type `application/wasm`, found `text/plain`",
            ),
            (good.replace(&content, "sha256:../../../etc/passwd"), "not a digest"),
            (good.replace(&content, &content.to_uppercase()), "not a digest"),
            (good.replace("\"size\":9", "\"size\":-9"), "invalid value"),
            (good.replace("\"size\":9", &format!("\"size\":{}", COMPONENT_BYTES_LIMIT + 1)), "at most"),
            (
                good.replace("\"layers\":[", "\"layers\":[{\"mediaType\":\"a\",\"digest\":\"CONTENT\",\"size\":1},")
                    .replace("CONTENT", &content),
                "one layer, found 2",
            ),
            (format!("{good}{}", " ".repeat(MANIFEST_BYTES_LIMIT as usize)), "at most"),
            ("[".repeat(100), "nested"),
            ("\u{feff}{}".to_owned(), "manifest"),
        ] {
            let error = refused(&text);
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn an_index_has_a_limit() {
        let entries = |count: usize| ImageIndex::new(vec![Descriptor::of("a", b""); count]);
        let few = entries(3);
        assert_eq!(ImageIndex::read(&few.write()).unwrap(), few);
        assert!(ImageIndex::read(&entries(INDEX_ENTRIES_LIMIT + 1).write()).is_err());
    }
}
