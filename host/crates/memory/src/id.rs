//! Names of users, workspaces and units, and the keyed digests that stand for them on disk.

use std::fmt;
use std::str::FromStr;

use loopwright_contract::digest::keyed;
use serde::{Deserialize, Serialize};

/// The longest id of a user or a workspace, in bytes.
pub const OWNER_BYTES_MAX: usize = 256;
/// Bytes of a unit's id.
const UNIT_ID_BYTES: usize = 10;

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The id of a user or a workspace is empty or too long.
    #[error("the id of a {of} has {found} bytes: expected 1 to {OWNER_BYTES_MAX}")]
    Length {
        /// Whose id.
        of: &'static str,
        /// Its bytes.
        found: usize,
    },
    /// No id of a unit.
    #[error(
        "`{found}` is not the id of a unit: expected `u` and 20 lower-case hexadecimal digits, as `memory search` prints them"
    )]
    Unit {
        /// What was found, cut to 40 characters.
        found: String,
    },
}

macro_rules! owners {
    ($($(#[$doc:meta])* $name:ident, $of:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Keeps an id. Any text will do: it never becomes a path.
            ///
            /// # Errors
            /// [`IdError::Length`] when it is empty or longer than [`OWNER_BYTES_MAX`] bytes.
            pub fn new(id: impl Into<String>) -> Result<Self, IdError> {
                let id = id.into();
                if (1..=OWNER_BYTES_MAX).contains(&id.len()) {
                    Ok(Self(id))
                } else {
                    Err(IdError::Length { of: $of, found: id.len() })
                }
            }

            /// The id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

owners! {
    /// Whose memory it is, as the operator names them.
    UserId, "user";
    /// Where users share a pool.
    WorkspaceId, "workspace";
}

/// A secret of this installation, of 256 bits. Whoever has it can tell which user a directory belongs to.
#[derive(Clone, PartialEq, Eq)]
pub struct RootKey([u8; 32]);

impl RootKey {
    /// Keeps 32 random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A digest of `parts` that only the key's holder can compute: HMAC-SHA-256 (RFC 2104) over each part behind its length, after `domain`.
    #[must_use]
    pub fn digest(&self, domain: &str, parts: &[&[u8]]) -> [u8; 32] {
        let whole = || std::iter::once(domain.as_bytes()).chain(parts.iter().copied());
        let lengths: Vec<[u8; 8]> = whole().map(|part| (part.len() as u64).to_le_bytes()).collect();
        let framed: Vec<&[u8]> =
            lengths.iter().zip(whole()).flat_map(|(length, part)| [length.as_slice(), part]).collect();
        keyed(&self.0, &framed)
    }
}

impl fmt::Debug for RootKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RootKey(..)")
    }
}

/// A unit's id: opaque, and the same for the same log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UnitId([u8; UNIT_ID_BYTES]);

impl UnitId {
    /// The id of the `number`th unit of the user whose key this is.
    #[must_use]
    pub fn of(user_key: &RootKey, number: u64) -> Self {
        let digest = user_key.digest("unit", &[&number.to_le_bytes()]);
        let mut id = [0; UNIT_ID_BYTES];
        id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(id)
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "u{}", hex::encode(self.0))
    }
}

impl fmt::Debug for UnitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UnitId({self})")
    }
}

impl FromStr for UnitId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError::Unit { found: text.chars().take(40).collect() };
        let digits = text.strip_prefix('u').ok_or_else(error)?;
        if digits.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(error());
        }
        let mut id = [0; UNIT_ID_BYTES];
        hex::decode_to_slice(digits, &mut id).map_err(|_| error())?;
        Ok(Self(id))
    }
}

impl TryFrom<String> for UnitId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<UnitId> for String {
    fn from(id: UnitId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyed_digest_is_hmac() {
        // The same message, built by hand, under Python's `hmac.new(bytes(range(32)), message, "sha256")`.
        let mut key = [0; 32];
        key.iter_mut().zip(0..).for_each(|(byte, value)| *byte = value);
        let digest = RootKey::new(key).digest("unit", &[b"abc"]);
        assert_eq!(hex::encode(digest), "93a981f4eb6a418db817611215a3c60ea3c8fc0b2e3d0be21841618d992613b3");
    }

    #[test]
    fn parts_do_not_run_together() {
        let key = RootKey::new([7; 32]);
        assert_ne!(key.digest("d", &[b"ab", b"c"]), key.digest("d", &[b"a", b"bc"]));
        assert_ne!(key.digest("d", &[b"a"]), key.digest("e", &[b"a"]));
        assert_ne!(key.digest("d", &[b"a"]), RootKey::new([8; 32]).digest("d", &[b"a"]));
    }

    #[test]
    fn ids_read_back_and_nothing_else_does() {
        let id = UnitId::of(&RootKey::new([7; 32]), 3);
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "u", "u0", "x00112233445566778899", "u0011223344556677889G", "u001122334455667788990", "u００"]
        {
            assert!(text.parse::<UnitId>().is_err(), "{text}");
        }
    }

    #[test]
    fn owners_are_any_text_within_the_limit() {
        for good in ["a", "../../etc", "用户", "x\0y", &"x".repeat(OWNER_BYTES_MAX)] {
            assert!(UserId::new(good).is_ok());
        }
        assert!(UserId::new("").is_err() && WorkspaceId::new("x".repeat(OWNER_BYTES_MAX + 1)).is_err());
    }
}
