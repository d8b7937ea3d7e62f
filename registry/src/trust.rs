//! Who may publish what: a file of the operator that gives namespaces their keys. A namespace that is not there has none, and nothing of it
//! is accepted.
//!
//! ```toml
//! version = 1
//!
//! [[namespace]]
//! name = "acme"
//!
//! [[namespace.key]]
//! id = "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
//! until = "2027-01-01T00:00:00Z"
//!
//! [[namespace.key]]
//! id = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
//! from = "2026-12-01T00:00:00Z"
//! ```
//!
//! Two keys whose ranges overlap are a rotation: both count in the overlap, and what the old one signed in its range stays good. The time in a
//! statement is its issuer's word. Whoever steals a key can date a statement back, so a *stolen* key has to leave the file; an end date is for
//! a key that is merely retired.

use std::path::Path;

use serde::Deserialize;

use crate::{
    RegistryError,
    envelope::Envelope,
    file,
    key::KeyId,
    moment::Moment,
    name::{Namespace, Release},
    refusal::Doubt,
};

/// Most bytes of a trust policy.
pub const TRUST_BYTES_LIMIT: u64 = 1024 * 1024;
/// How far a publisher's clock may be ahead of ours, in seconds.
pub const CLOCK_SKEW_SECONDS: u64 = 300;
const WHAT: &str = "trust policy";

/// Which keys speak for which namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    namespaces: Vec<RawNamespace>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrust {
    version: u32,
    #[serde(default)]
    namespace: Vec<RawNamespace>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNamespace {
    name: Namespace,
    #[serde(default)]
    key: Vec<TrustedKey>,
}

/// A key and when it counts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKey {
    /// The key.
    pub id: KeyId,
    /// The first second that it is valid in; none: always was.
    pub from: Option<Moment>,
    /// The first second that it is no longer valid in; none: still is.
    pub until: Option<Moment>,
}

impl TrustedKey {
    fn covers(&self, moment: Moment) -> bool {
        self.from.is_none_or(|from| from <= moment) && self.until.is_none_or(|until| moment < until)
    }

    fn range(&self) -> String {
        match (self.from, self.until) {
            (None, None) => "always".to_owned(),
            (Some(from), None) => format!("from {from}"),
            (None, Some(until)) => format!("until {until}"),
            (Some(from), Some(until)) => format!("from {from} until {until}"),
        }
    }
}

impl Trust {
    /// Reads a trust policy.
    ///
    /// # Errors
    /// `BadFile` when it is missing or not what it should be: an operator who names a policy wants it to hold.
    pub fn read(path: &Path) -> Result<Self, RegistryError> {
        let bad = |reason: String| RegistryError::BadFile { what: WHAT, path: path.to_owned(), reason };
        let missing = || {
            bad("there is no such file, so no key is trusted\nhint: `loopwright registry --help` shows what stands in one".to_owned())
        };
        let text = file::read_text(WHAT, path, TRUST_BYTES_LIMIT)?.ok_or_else(missing)?;
        Self::parse(&text).map_err(bad)
    }

    /// Reads a trust policy's text.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: RawTrust = toml::from_str(text).map_err(|error| error.to_string())?;
        if raw.version != 1 {
            return Err(format!("expected version 1, found {}", raw.version));
        }
        let mut names: Vec<&Namespace> = raw.namespace.iter().map(|namespace| &namespace.name).collect();
        names.sort();
        if let Some((twice, _)) = names.iter().zip(names.iter().skip(1)).find(|(a, b)| a == b) {
            return Err(format!("namespace `{twice}` stands there twice"));
        }
        for key in raw.namespace.iter().flat_map(|namespace| &namespace.key) {
            if let (Some(from), Some(until)) = (key.from, key.until)
                && from >= until
            {
                return Err(format!("key {} is valid from {from} until {until}, which is never", key.id));
            }
        }
        Ok(Self { namespaces: raw.namespace })
    }

    /// The keys of a namespace.
    #[must_use]
    pub fn keys(&self, namespace: &Namespace) -> &[TrustedKey] {
        self.namespaces.iter().find(|known| known.name == *namespace).map_or(&[], |known| &known.key)
    }

    /// The key whose signature makes this envelope count for the release.
    ///
    /// # Errors
    /// Why none does.
    pub fn accept(&self, envelope: &Envelope, release: &Release, now: Moment) -> Result<KeyId, Doubt> {
        let statement = &envelope.statement;
        if statement.release != *release {
            let (expected, found) = (release.to_string(), statement.release.to_string());
            return Err(Doubt::AboutAnother { field: "release", expected, found });
        }
        if statement.issued.seconds() > now.seconds().saturating_add(CLOCK_SKEW_SECONDS) {
            return Err(Doubt::FromTheFuture { issued: statement.issued.to_string(), now: now.to_string() });
        }
        let mut doubt = Doubt::Malformed { reason: "no signatures".to_owned() };
        for claimed in envelope.claimed() {
            match self.judge(envelope, release, &claimed) {
                Ok(()) => return Ok(claimed),
                Err(reason) => doubt = reason,
            }
        }
        Err(doubt)
    }

    fn judge(&self, envelope: &Envelope, release: &Release, claimed: &KeyId) -> Result<(), Doubt> {
        let issued = envelope.statement.issued;
        let namespace = &release.package.namespace;
        let mut known = self.keys(namespace).iter().filter(|key| key.id == *claimed).peekable();
        let Some(first) = known.peek().copied() else {
            return Err(Doubt::UnknownKey { key: *claimed, namespace: namespace.to_string() });
        };
        if !known.any(|key| key.covers(issued)) {
            return Err(Doubt::OutsideRange { key: *claimed, range: first.range(), issued: issued.to_string() });
        }
        if envelope.is_signed_by(claimed) { Ok(()) } else { Err(Doubt::Forged { key: *claimed }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::SecretKey;

    const STATEMENT: &str = include_str!("../tests/golden/publish.statement");

    fn now() -> Moment {
        Moment::from_seconds(1_796_000_000).unwrap()
    }

    fn policy(keys: &str) -> Trust {
        Trust::parse(&format!("version = 1\n[[namespace]]\nname = \"acme\"\n{keys}")).unwrap()
    }

    fn key(id: KeyId, range: &str) -> String {
        format!("[[namespace.key]]\nid = \"{id}\"\n{range}\n")
    }

    #[test]
    fn a_key_counts_in_its_range_for_its_namespace() {
        let (old, new, other) = ([1; 32], [2; 32], [3; 32]);
        let [old, new, other] = [old, new, other].map(|random| SecretKey::from_random(&random));
        let sign = |key: &SecretKey| Envelope::sign(STATEMENT.parse().unwrap(), &[key]);
        let release = "acme:notes@1.2.0".parse().unwrap();
        let trust = policy(
            &(key(old.id(), "until = \"2026-11-30T00:53:20Z\"") + &key(new.id(), "from = \"2026-11-30T00:53:20Z\"")),
        );
        assert_eq!(trust.accept(&sign(&new), &release, now()), Ok(new.id()));
        assert!(matches!(trust.accept(&sign(&old), &release, now()), Err(Doubt::OutsideRange { .. })));
        assert!(matches!(trust.accept(&sign(&other), &release, now()), Err(Doubt::UnknownKey { .. })));
        assert!(matches!(Trust::default().accept(&sign(&new), &release, now()), Err(Doubt::UnknownKey { .. })));
        let both = Envelope::sign(STATEMENT.parse().unwrap(), &[&other, &new]);
        assert_eq!(trust.accept(&both, &release, now()), Ok(new.id()));
        let elsewhere = "acme:notes@1.2.1".parse().unwrap();
        assert!(matches!(trust.accept(&sign(&new), &elsewhere, now()), Err(Doubt::AboutAnother { .. })));
    }

    #[test]
    fn a_statement_is_not_from_the_future() {
        let signer = SecretKey::from_random(&[1; 32]);
        let trust = policy(&key(signer.id(), ""));
        let envelope = Envelope::sign(STATEMENT.parse().unwrap(), &[&signer]);
        let release = "acme:notes@1.2.0".parse().unwrap();
        let at = |seconds: u64| trust.accept(&envelope, &release, Moment::from_seconds(seconds).unwrap());
        assert!(at(1_796_000_000 - CLOCK_SKEW_SECONDS).is_ok());
        assert!(matches!(at(1_796_000_000 - CLOCK_SKEW_SECONDS - 1), Err(Doubt::FromTheFuture { .. })));
    }

    #[test]
    fn a_bad_policy_is_refused_whole() {
        let id = SecretKey::from_random(&[1; 32]).id();
        for (text, part) in [
            ("".to_owned(), "version"),
            ("version = 2".to_owned(), "version 1"),
            ("version = 1\nversion = 1".to_owned(), "duplicate"),
            ("version = 1\nmore = 1".to_owned(), "more"),
            ("version = 1\n[[namespace]]\nname = \"*\"".to_owned(), "namespace"),
            ("version = 1\n[[namespace]]\nname = \"a\"\n[[namespace]]\nname = \"a\"".to_owned(), "twice"),
            (format!("version = 1\n[[namespace]]\nname = \"a\"\n{}", key(id, "since = 1")), "since"),
            (
                format!(
                    "version = 1\n[[namespace]]\nname = \"a\"\n{}",
                    key(id, "from = \"2026-01-02T00:00:00Z\"\nuntil = \"2026-01-02T00:00:00Z\"")
                ),
                "never",
            ),
            (
                "version = 1\n[[namespace]]\nname = \"a\"\n[[namespace.key]]\nid = \"ed25519:00\"".to_owned(),
                "public key",
            ),
        ] {
            let error = Trust::parse(&text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
