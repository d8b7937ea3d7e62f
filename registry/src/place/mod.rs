//! Where releases are kept: a server that speaks OCI distribution, or a folder of OCI image layouts. A place moves bytes; whether they are
//! what they should be is for those who asked to compare, and nothing here decides whom to trust.

mod auth;
mod client;
mod http;
mod layout;

use std::path::PathBuf;

use loopwright_contract::digest::{BlobDigest, ManifestDigest};

pub use client::{HttpLimits, Plain};
pub use http::{HttpPlace, TAGS_PAGES_LIMIT};
pub use layout::FolderPlace;

use crate::{
    RegistryError,
    credentials::Login,
    oci::Descriptor,
    reference::{Address, Repository, Tag},
};

/// Why a place did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// No answer, or one that broke off.
    #[error("{what}: no answer from {address}: {reason}")]
    Unreachable {
        /// What was asked for.
        what: &'static str,
        /// Whom.
        address: String,
        /// Why.
        reason: String,
    },
    /// It took too long.
    #[error("{what}: {address} did not finish within {limit_ms} ms")]
    TimedOut {
        /// What was asked for.
        what: &'static str,
        /// Whom.
        address: String,
        /// How long it may take.
        limit_ms: u128,
    },
    /// It wants to send us elsewhere.
    #[error("{what}: {address} redirects to {to}, which is not followed: only the named server is asked")]
    Redirect {
        /// What was asked for.
        what: &'static str,
        /// Whom.
        address: String,
        /// Where it sends us.
        to: String,
    },
    /// It refuses, or says something that does not fit the question.
    #[error("{what}: {address} answers {status}{hint}")]
    Status {
        /// What was asked for.
        what: &'static str,
        /// Whom.
        address: String,
        /// Its status.
        status: u16,
        /// What to do.
        hint: &'static str,
    },
    /// What was asked for is not there.
    #[error("{what} is not at {address}")]
    NotThere {
        /// What was asked for, with its name.
        what: String,
        /// Where it was looked for.
        address: String,
    },
    /// More than allowed came.
    #[error("{what}: {address} sends more than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        what: &'static str,
        /// Whom.
        address: String,
        /// Bytes allowed.
        limit: u64,
    },
    /// Passwords and components would travel in plain text.
    #[error(
        "{address} is not on this machine and would be spoken to in plain text\nhint: use https, or allow it with --plain-http"
    )]
    PlainText {
        /// Whom.
        address: String,
    },
    /// It wants to know who asks, and was told nothing that it accepts.
    #[error("{what}: {address} wants credentials: {reason}")]
    Denied {
        /// What was asked for.
        what: &'static str,
        /// Whom.
        address: String,
        /// Why none were sent, or that those that were sent are not accepted.
        reason: String,
    },
    /// It says that tokens are to be had from somebody whom nobody named.
    #[error(
        "{address} sends us to {to} for a token, and credentials go to no other server than the one they are for\nhint: only when that is where its operator says tokens come from, name it with --token-server"
    )]
    TokensElsewhere {
        /// Who says so.
        address: String,
        /// Where it sends us.
        to: String,
    },
    /// Passwords would travel to the token server in plain text.
    #[error(
        "the token server {address} is not on this machine and would be told passwords in plain text\nhint: use https"
    )]
    PlainTokens {
        /// Whom.
        address: String,
    },
    /// The client cannot be set up.
    #[error("the HTTP client cannot be set up: {reason}")]
    SetUp {
        /// Why.
        reason: String,
    },
    /// The folder is no image layout.
    #[error("`{}` is no OCI image layout: {reason}", path.display())]
    Layout {
        /// Which folder.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
}

/// Takes a blob's bytes as they come, and may refuse to go on.
pub type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), RegistryError>;

/// A manifest's bytes, named by what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawManifest {
    /// The digest of the bytes.
    pub digest: ManifestDigest,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl RawManifest {
    /// Names bytes by their digest.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { digest: ManifestDigest::of(&bytes), bytes }
    }
}

/// A place that keeps releases.
pub trait Place {
    /// How the place is called, for messages and lock files.
    fn address(&self) -> &Address;

    /// The tags of a repository; none where there is no such repository.
    ///
    /// # Errors
    /// When the place does not answer as it should, or names something that is no tag.
    fn tags(&self, repository: &Repository) -> Result<Vec<Tag>, RegistryError>;

    /// What a tag names at this moment. One question, one answer: whoever asks twice may get two.
    ///
    /// # Errors
    /// When the place does not answer as it should, or says another digest than that of the bytes it sends.
    fn resolve(&self, repository: &Repository, tag: &Tag) -> Result<Option<RawManifest>, RegistryError>;

    /// A manifest by its digest, which its bytes have.
    ///
    /// # Errors
    /// When the place does not answer as it should; `Refused` for other bytes.
    fn manifest(&self, repository: &Repository, digest: &ManifestDigest) -> Result<Option<Vec<u8>>, RegistryError>;

    /// A blob's bytes, as they come. They are not compared with anything here.
    ///
    /// # Errors
    /// When the place does not answer as it should or sends more than `limit` bytes, and whatever the sink says.
    fn blob(
        &self,
        repository: &Repository,
        digest: &BlobDigest,
        limit: u64,
        sink: Sink<'_>,
    ) -> Result<(), RegistryError>;

    /// The manifests that say something about another one: by the referrers API, or by the tag that stands in for it.
    ///
    /// # Errors
    /// When the place does not answer as it should.
    fn referrers(&self, repository: &Repository, subject: &ManifestDigest) -> Result<Vec<Descriptor>, RegistryError>;

    /// Keeps a blob.
    ///
    /// # Errors
    /// When the place does not take it.
    fn put_blob(&self, repository: &Repository, bytes: &[u8]) -> Result<(), RegistryError>;

    /// Keeps a manifest, under a tag or by its digest alone.
    ///
    /// # Errors
    /// When the place does not take it.
    fn put_manifest(&self, repository: &Repository, tag: Option<&Tag>, bytes: &[u8]) -> Result<(), RegistryError>;

    /// Keeps a manifest that says something about another one, so that [`Place::referrers`] finds it.
    ///
    /// # Errors
    /// When the place does not take it.
    fn attach(
        &self,
        repository: &Repository,
        subject: &ManifestDigest,
        manifest: &[u8],
        descriptor: Descriptor,
    ) -> Result<(), RegistryError>;
}

/// Opens the place at an address, as nobody in particular.
///
/// # Errors
/// `PlainText` for a server elsewhere without TLS, unless that is allowed; `SetUp` and `Layout`.
pub fn open(address: &Address, limits: HttpLimits, plain: Plain) -> Result<Box<dyn Place>, RegistryError> {
    open_as(address, limits, plain, Login::default())
}

/// Opens the place at an address. Who asks is told only to a server that wants to know, and only over TLS or within this machine.
///
/// # Errors
/// Those of [`open`], and `PlainTokens` for a token server elsewhere without TLS.
pub fn open_as(
    address: &Address,
    limits: HttpLimits,
    plain: Plain,
    login: Login,
) -> Result<Box<dyn Place>, RegistryError> {
    match address {
        Address::Server { server, .. } => Ok(Box::new(HttpPlace::new(address.clone(), server, limits, plain, login)?)),
        Address::Folder(folder) => Ok(Box::new(FolderPlace::new(address.clone(), folder.clone()))),
    }
}
