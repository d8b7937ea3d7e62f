//! Keys that sign, and what they are called. Randomness is passed in; only [`SecretKey::save`] and [`SecretKey::load`] touch files.

use std::{fmt, fs, io::Write as _, path::Path, str::FromStr};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::{
    RegistryError, file,
    name::{NameError, as_text},
};

/// What the one line of a secret key's file starts with.
const SECRET: &str = "loopwright-secret-key-v1:";
/// What a key's name starts with.
const PUBLIC: &str = "ed25519:";
/// Most bytes of a key's file.
const KEY_FILE_BYTES_LIMIT: u64 = 1_024;

/// A public key, which is its own name: `ed25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId([u8; 32]);

impl KeyId {
    /// Whether the key made this signature over exactly these bytes.
    #[must_use]
    pub(crate) fn made(&self, signature: &[u8; 64], bytes: &[u8]) -> bool {
        // Strict: no signature that somebody could change and that would still fit.
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PUBLIC}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let key = text.strip_prefix(PUBLIC).and_then(read_hex);
        // A point of small order would accept signatures that nobody made.
        key.filter(|key| VerifyingKey::from_bytes(key).is_ok_and(|key| !key.is_weak())).map(Self).ok_or_else(|| {
            NameError::new(
                "public key",
                text,
                "`ed25519:` and 64 lower-case hexadecimal digits that are a point of the curve",
            )
        })
    }
}

as_text!(KeyId, NameError);

fn read_hex(digits: &str) -> Option<[u8; 32]> {
    if digits.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

/// A key that signs. It is wiped from memory when dropped, and no output shows it.
pub struct SecretKey(SigningKey);

impl fmt::Debug for SecretKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SecretKey({})", self.id())
    }
}

impl SecretKey {
    /// The key that 32 random bytes make.
    #[must_use]
    pub fn from_random(random: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(random))
    }

    /// Its public half.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId(self.0.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }

    /// Writes a new file that its owner alone can read.
    ///
    /// # Errors
    /// `Io` when it cannot be written, also when there is a file already: a key is never replaced.
    pub fn save(&self, path: &Path) -> Result<(), RegistryError> {
        let mut options = fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(RegistryError::io(path))?;
        let text = format!("{SECRET}{}\n", hex::encode(self.0.as_bytes()));
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(RegistryError::io(path))
    }

    /// Reads a key's file.
    ///
    /// # Errors
    /// `BadFile` when it is no key, or when others than its owner can read it; `Missing` and `Io`.
    pub fn load(path: &Path) -> Result<Self, RegistryError> {
        let bad = |reason: String| RegistryError::BadFile { what: "secret key", path: path.to_owned(), reason };
        let missing = || bad("there is no such file\nhint: make one with `loopwright registry keygen`".to_owned());
        let text = file::read_text("secret key", path, KEY_FILE_BYTES_LIMIT)?.ok_or_else(missing)?;
        if let Some(mode) = readable_by_others(path)? {
            return Err(bad(format!("others can read it (mode {mode:o})\nhint: `chmod 600`, or make a new key")));
        }
        let line = text.strip_suffix('\n').unwrap_or(&text);
        // What stood there is not shown: it may be most of a key.
        let key = line.strip_prefix(SECRET).and_then(read_hex);
        key.map(|key| Self::from_random(&key))
            .ok_or_else(|| bad(format!("expected one line of `{SECRET}` and 64 lower-case hexadecimal digits")))
    }
}

#[cfg(unix)]
fn readable_by_others(path: &Path) -> Result<Option<u32>, RegistryError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).map_err(RegistryError::io(path))?.permissions().mode() & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path) -> Result<Option<u32>, RegistryError> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_one_of_the_standard() {
        // RFC 8032, section 7.1, test 2.
        let secret = read_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").unwrap();
        let key = SecretKey::from_random(&secret);
        assert_eq!(key.id().to_string(), "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
        let signature = key.sign(&[0x72]);
        assert_eq!(
            hex::encode(signature),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        );
        assert!(key.id().made(&signature, &[0x72]));
        assert!(!key.id().made(&signature, &[0x73]));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let good = SecretKey::from_random(&[7; 32]).id().to_string();
        assert!(good.parse::<KeyId>().is_ok());
        // The neutral point of the curve is 1.
        let weak = format!("ed25519:01{}", "0".repeat(62));
        for text in [
            "",
            "ed25519:",
            &good.to_uppercase(),
            &good[..71],
            &format!("{good}0"),
            &good.replace("ed25519", "rsa"),
            &weak,
        ] {
            assert!(text.parse::<KeyId>().is_err(), "`{text}` was read");
        }
    }

    #[test]
    fn a_key_file_is_its_owners_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = SecretKey::from_random(&[7; 32]);
        key.save(&path).unwrap();
        assert_eq!(SecretKey::load(&path).unwrap().id(), key.id());
        assert!(key.save(&path).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            assert!(SecretKey::load(&path).unwrap_err().to_string().contains("mode 640"));
        }
        assert!(!format!("{key:?}").contains(&hex::encode([7; 32])));
    }

    #[test]
    fn a_bad_key_file_is_told_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert!(SecretKey::load(&path).unwrap_err().to_string().contains("keygen"));
        SecretKey::from_random(&[7; 32]).save(&path).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        for text in [
            good.replace("07", "0g"),
            good.replace("secret", "sekret"),
            good[..60].to_owned(),
            format!("{good}\n"),
            "x".repeat(2_000),
        ] {
            fs::write(&path, text).unwrap();
            let error = SecretKey::load(&path).unwrap_err().to_string();
            assert!(!error.contains("070707"), "{error}");
        }
    }
}
