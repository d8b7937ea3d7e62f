//! SHA-256 digests, one type for each thing that is digested, so that they cannot be confused.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a digest: expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct DigestError {
    /// What stood there, cut to 80 characters.
    pub found: String,
}

fn read_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:")?;
    if digits.len() != 64 || digits.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

macro_rules! digests {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The SHA-256 of `bytes`.
            #[must_use]
            pub fn of(bytes: &[u8]) -> Self {
                Self(Sha256::digest(bytes).into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "sha256:{}", hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = DigestError;

            fn from_str(text: &str) -> Result<Self, DigestError> {
                read_hex(text).map(Self).ok_or_else(|| DigestError { found: text.chars().take(80).collect() })
            }
        }

        impl TryFrom<String> for $name {
            type Error = DigestError;

            fn try_from(text: String) -> Result<Self, DigestError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(digest: $name) -> String {
                digest.to_string()
            }
        }
    )*};
}

digests! {
    /// The digest of a component's bytes.
    ContentDigest;
    /// The digest of what a verdict was given on: the check, the worlds and the steps.
    InputDigest;
    /// The digest of a registry's manifest: of a release as a registry holds it, with its component's digest inside.
    ManifestDigest;
    /// The digest of what a component's author asks for: the bytes of its request section, or of no bytes where there is none.
    RequestDigest;
    /// The digest of any other blob that a registry holds, such as a config or the envelope of a signature.
    BlobDigest;
    /// The digest of a world's documents.
    StateDigest;
    /// The digest of what a store of memory holds.
    MemoryDigest;
    /// The digest of one line of a trajectory, the line before it included.
    LineDigest;
    /// The digest of a task's canonical text.
    TaskDigest;
    /// The digest of a planner's parameters: model file, policy weights or program.
    PolicyDigest;
    /// The digest of a harness's configuration and rules.
    HarnessDigest;
    /// The digest of a tool and its canonical arguments: what a user confirms.
    CallDigest;
    /// The digest of the grammar that masked a planner's output.
    GrammarDigest;
}

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// A digest of `parts`, one behind the other, that only a holder of the key can make: HMAC-SHA-256 (RFC 2104).
#[must_use]
pub fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let pad = |byte: u8| {
        let mut block = [byte; BLOCK];
        block.iter_mut().zip(key).for_each(|(to, from)| *to ^= from);
        block
    };
    let mut inner = Sha256::new_with_prefix(pad(0x36));
    parts.iter().for_each(|part| inner.update(part));
    Sha256::new_with_prefix(pad(0x5c)).chain_update(inner.finalize()).finalize().into()
}

impl From<ContentDigest> for BlobDigest {
    /// A component is a blob too. There is no way back: that a blob is a component is for a signed statement to say.
    fn from(digest: ContentDigest) -> Self {
        Self(digest.0)
    }
}

impl From<ManifestDigest> for BlobDigest {
    /// In a folder a manifest lies among the blobs.
    fn from(digest: ManifestDigest) -> Self {
        Self(digest.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_keyed_digest_is_hmac() {
        // Python: hmac.new(bytes(range(32)), b"abc", "sha256").hexdigest()
        let mut key = [0; 32];
        key.iter_mut().zip(0..).for_each(|(byte, value)| *byte = value);
        assert_eq!(
            hex::encode(keyed(&key, &[b"a", b"", b"bc"])),
            "f0133729c4163dede81e21cd47839256da58171238c8a0d874397c73b14e1e47"
        );
    }

    proptest! {
        #[test]
        fn every_digest_reads_back(bytes: [u8; 32]) {
            let digest = ManifestDigest(bytes);
            prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        }

        #[test]
        fn what_reads_is_written_the_same_way(text in ".{0,80}|sha256:[0-9a-fA-F]{63,65}") {
            if let Ok(digest) = text.parse::<ManifestDigest>() {
                prop_assert_eq!(digest.to_string(), text);
            }
        }
    }

    #[test]
    fn a_digest_reads_back_and_nothing_else_reads() {
        let digest = ContentDigest::of(b"abc");
        // FIPS 180-4, example of SHA-256.
        assert_eq!(digest.to_string(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for text in
            ["", "sha256:", "sha256:../../etc", "sha512:00", &digest.to_string().to_uppercase(), &format!("{digest}0")]
        {
            assert!(text.parse::<ContentDigest>().is_err(), "`{text}` was read");
        }
    }
}
