//! The manifest: what a checkpoint consists of. It is hostile until it is checked.

use std::collections::BTreeMap;

use loopwright_contract::digest::BlobDigest;
use serde::{Deserialize, Serialize};

/// Parts of a checkpoint.
pub const PARTS_MAX: usize = 64;
/// Bytes of a part's name.
pub const NAME_BYTES_MAX: usize = 64;
/// Bytes of a part: 2 GiB.
pub const PART_BYTES_MAX: u64 = 1 << 31;
/// Bytes of a manifest.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 10;

/// The manifest's file.
pub(super) const MANIFEST: &str = "manifest.json";
/// What this code writes and reads.
const FORMAT: u32 = 1;

/// What a checkpoint consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: u32,
    pub(super) step: u64,
    pub(super) parts: Vec<Part>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) digest: BlobDigest,
}

impl Manifest {
    pub(super) fn of(step: u64, parts: &BTreeMap<String, Vec<u8>>) -> Self {
        let part = |(name, bytes): (&String, &Vec<u8>)| Part {
            name: name.clone(),
            bytes: bytes.len() as u64,
            digest: BlobDigest::of(bytes),
        };
        Self { format: FORMAT, step, parts: parts.iter().map(part).collect() }
    }

    pub(super) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the manifest of a step.
    pub(super) fn parse(step: u64, bytes: &[u8]) -> Result<Self, String> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if manifest.format != FORMAT {
            return Err(format!("expected format {FORMAT}, found {}", manifest.format));
        }
        if manifest.step != step {
            return Err(format!("expected step {step}, found {}", manifest.step));
        }
        if manifest.parts.len() > PARTS_MAX {
            return Err(format!("expected at most {PARTS_MAX} parts, found {}", manifest.parts.len()));
        }
        let mut names: Vec<&str> = manifest.parts.iter().map(|part| part.name.as_str()).collect();
        names.sort_unstable();
        let twice = names.array_windows().find(|[a, b]| a == b).map(|[name, _]| *name);
        if let Some(name) = names.iter().copied().find(|name| !is_part_name(name)).or(twice) {
            return Err(format!("`{name}` cannot name a part, or names two"));
        }
        if let Some(part) = manifest.parts.iter().find(|part| part.bytes > PART_BYTES_MAX) {
            return Err(format!("part `{}` is {} bytes, at most {PART_BYTES_MAX} are read", part.name, part.bytes));
        }
        Ok(manifest)
    }
}

/// Whether a part can have this name: one that is a plain file in every file system, and not the manifest's.
pub(super) fn is_part_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    name.len() <= NAME_BYTES_MAX
        && name != MANIFEST
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
        && name.bytes().all(plain)
}
