//! What is refused: a release that is not what it says, that nobody trusted signed, or that may not be published.

use loopwright_contract::digest::ManifestDigest;

use crate::{key::KeyId, name::Release};

/// Why a release is not accepted. None of these goes away by trying again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Bytes have another digest than the one that they were asked for by.
    #[error("{what}: expected {expected}, found {found}; nothing of it was kept")]
    Digest {
        /// What was read.
        what: &'static str,
        /// The digest that was asked for.
        expected: String,
        /// The digest of what came.
        found: String,
    },
    /// There are fewer or more bytes than declared.
    #[error("{what} {digest}: expected {expected} bytes, found {found}; nothing of it was kept")]
    Length {
        /// What was read.
        what: &'static str,
        /// Its digest.
        digest: String,
        /// Bytes declared.
        expected: u64,
        /// Bytes found, or the first number beyond what was declared.
        found: u64,
    },
    /// Something is larger than allowed.
    #[error("{what}: {found} bytes or more, at most {limit} are allowed")]
    TooLarge {
        /// What was read.
        what: &'static str,
        /// Bytes allowed.
        limit: u64,
        /// Bytes declared or found.
        found: u64,
    },
    /// There are more of something than are looked at.
    #[error("{what}: {found} or more, at most {limit} are allowed")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
        /// How many there are, or the first number beyond what is allowed.
        found: u64,
    },
    /// A document of a registry is not what it should be.
    #[error("{what}: {reason}")]
    Document {
        /// Which kind of document.
        what: &'static str,
        /// What was expected and what was found.
        reason: String,
    },
    /// No signature counts.
    #[error(
        "`{release}` ({manifest}) has no signature that the trust policy accepts: {reasons}\nhint: `registry list {package} --from ADDRESS` shows who signed; the keys of `{namespace}` stand in the trust policy",
        package = release.package, namespace = release.package.namespace
    )]
    Untrusted {
        /// What was asked for.
        release: Release,
        /// Its manifest.
        manifest: ManifestDigest,
        /// Why each signature does not count, or that there is none.
        reasons: String,
    },
    /// Its publisher withdrew it.
    #[error("`{release}` was yanked: {reason}\nhint: take another version; `registry list` shows them")]
    Yanked {
        /// What was asked for.
        release: Release,
        /// The publisher's reason.
        reason: String,
    },
    /// The lock file knows the release under another digest.
    #[error(
        "`{release}` is locked to {locked}, and the registry now names {found}: a release never changes\nhint: ask its publisher; only when the change is known to be honest, remove the entry from the lock file"
    )]
    Moved {
        /// What was asked for.
        release: Release,
        /// The manifest in the lock file.
        locked: ManifestDigest,
        /// The manifest that the registry names.
        found: ManifestDigest,
    },
    /// The version exists with another component.
    #[error("`{release}` is published already, with another component ({found})\nhint: publish a new version")]
    Published {
        /// What was to be published.
        release: Release,
        /// The component that is there.
        found: String,
    },
    /// The contract changed in a way that the version does not say.
    #[error(
        "`{release}` breaks what `{prior}` promised: {reason}\nhint: publish it as a version that is not compatible with {prior_version}",
        prior_version = prior.version
    )]
    Incompatible {
        /// What was to be published.
        release: Release,
        /// The release that it breaks.
        prior: Release,
        /// What changed.
        reason: String,
    },
    /// Another package holds the plugin's name in the folder.
    #[error(
        "a plugin `{name}` from {other} is installed already; {package} has the same name\nhint: install it into another folder with --into, or replace the installed one with --replace"
    )]
    NameTaken {
        /// The plugin's name.
        name: String,
        /// Where the installed one is from.
        other: String,
        /// The package that was to be installed.
        package: String,
    },
    /// A release would be left out for want of a grant, and an earlier one serves.
    #[error(
        "`{release}` is not installed, and version {serves} serves on: it imports `{lacks}`, which it was not granted\nhint: pull it with --grant to consent to: {asks}"
    )]
    Ungranted {
        /// The release.
        release: String,
        /// The version that serves.
        serves: String,
        /// The interfaces.
        lacks: String,
        /// All that it asks for, in words.
        asks: String,
    },
    /// The bytes are no plugin component.
    #[error("component: {reason}")]
    Component {
        /// What was expected and what was found.
        reason: String,
    },
}

/// Why one signature does not count; texts for people, in the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// Nobody gave the key this namespace.
    #[error("key {key} is not one of the namespace `{namespace}`")]
    UnknownKey {
        /// Whose signature it claims to be.
        key: KeyId,
        /// The namespace.
        namespace: String,
    },
    /// The key did not make this signature.
    #[error("the signature of key {key} does not fit")]
    Forged {
        /// Whose signature it claims to be.
        key: KeyId,
    },
    /// The key was not valid when it says it signed.
    #[error("key {key} is valid {range}, and the statement was issued {issued}")]
    OutsideRange {
        /// The key.
        key: KeyId,
        /// From when to when.
        range: String,
        /// When it says it was issued.
        issued: String,
    },
    /// It says that it was made later than now.
    #[error("the statement was issued {issued}, and it is {now}")]
    FromTheFuture {
        /// When it says it was issued.
        issued: String,
        /// What time it is.
        now: String,
    },
    /// It is about something else.
    #[error("the statement is about {field} {found}, not {expected}")]
    AboutAnother {
        /// Which field.
        field: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// It is no statement of ours.
    #[error("not a signature of ours: {reason}")]
    Malformed {
        /// What was wrong.
        reason: String,
    },
}
