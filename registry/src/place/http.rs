//! OCI distribution over HTTP. Who asks is the business of [`Client`].

use std::{fmt::Display, time::Duration};

use loopwright_contract::digest::{BlobDigest, ManifestDigest};
use reqwest::Method;
use serde::Deserialize;

use super::{
    HttpLimits, Place, PlaceError, Plain, RawManifest, Sink,
    auth::Scope,
    client::{Answer, Body, Client, Question},
};
use crate::{
    RegistryError,
    credentials::Login,
    oci::{self, Descriptor, INDEX_BYTES_LIMIT, INDEX_TYPE, ImageIndex, MANIFEST_BYTES_LIMIT, MANIFEST_TYPE},
    reference::{Address, Repository, Server, Tag},
    refusal::Refusal,
    store::check_digest,
};

/// Most bytes of one page of tags.
const TAGS_BYTES_LIMIT: u64 = 1024 * 1024;
/// Tags asked for at a time.
const TAGS_PAGE: usize = 1_000;
/// Most pages of a list of tags: sixteen thousand tags.
pub const TAGS_PAGES_LIMIT: usize = 16;
/// What a server says about the bytes it sends.
const DIGEST_HEADER: &str = "docker-content-digest";
/// What a server with a referrers API says when it took a manifest about another one.
const SUBJECT_HEADER: &str = "oci-subject";

/// A server that speaks OCI distribution.
pub struct HttpPlace {
    address: Address,
    client: Client,
    limits: HttpLimits,
}

#[derive(Deserialize)]
struct TagList {
    // Some registries write `null` for a repository whose last tag is gone.
    tags: Option<Vec<String>>,
}

impl HttpPlace {
    pub(super) fn new(
        address: Address,
        server: &Server,
        limits: HttpLimits,
        plain: Plain,
        login: Login,
    ) -> Result<Self, PlaceError> {
        Ok(Self { address, client: Client::new(server, limits, plain, login)?, limits })
    }

    /// A question about a repository; what changes something needs the right to.
    fn question(
        &self,
        what: &'static str,
        method: Method,
        repository: &Repository,
        path: &str,
    ) -> Result<Question<'static>, PlaceError> {
        let url = self.client.url(&format!("v2/{repository}/{path}"))?;
        let scope = Scope { repository: repository.clone(), push: method != Method::GET && method != Method::HEAD };
        Ok(Question { what, method, url, accept: &[], body: Body::None, scope, within: self.limits.document })
    }

    fn refuses(&self, what: &'static str, answer: &Answer) -> RegistryError {
        let hint = match answer.status {
            403 => "\nhint: whoever the credentials are for lacks the right to",
            429 => "\nhint: it asks to wait; try again later",
            _ => "",
        };
        PlaceError::Status { what, address: self.client.address(), status: answer.status, hint }.into()
    }

    /// A document's bytes; none for 404.
    fn document(&self, question: &Question<'_>, limit: u64) -> Result<Option<(Answer, Vec<u8>)>, RegistryError> {
        let what = question.what;
        let mut bytes = Vec::new();
        let answer = self.client.ask(question, limit, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        match answer.status {
            200 => Ok(Some((answer, bytes))),
            404 => Ok(None),
            _ => Err(self.refuses(what, &answer)),
        }
    }

    fn manifest_by(&self, repository: &Repository, name: &dyn Display) -> Result<Option<RawManifest>, RegistryError> {
        let mut question = self.question("manifest", Method::GET, repository, &format!("manifests/{name}"))?;
        question.accept = &[MANIFEST_TYPE, INDEX_TYPE];
        let Some((answer, bytes)) = self.document(&question, INDEX_BYTES_LIMIT)? else { return Ok(None) };
        let raw = RawManifest::of(bytes);
        if let Some(said) = answer.header(DIGEST_HEADER) {
            let wrong = |error: loopwright_contract::digest::DigestError| Refusal::Document {
                what: "manifest",
                reason: error.to_string(),
            };
            let said: ManifestDigest = said.parse().map_err(wrong)?;
            check_digest("manifest", &said.into(), &raw.digest.into())?;
        }
        Ok(Some(raw))
    }

    /// Sends something; the answer has to be a success.
    fn send(&self, question: &Question<'_>) -> Result<Answer, RegistryError> {
        let what = question.what;
        let answer = self.client.ask(question, MANIFEST_BYTES_LIMIT, &mut |_| Ok(()))?;
        if (200..300).contains(&answer.status) { Ok(answer) } else { Err(self.refuses(what, &answer)) }
    }

    fn put_document(
        &self,
        repository: &Repository,
        name: &dyn Display,
        media_type: &'static str,
        bytes: &[u8],
    ) -> Result<Answer, RegistryError> {
        let question = self.question("publishing a manifest", Method::PUT, repository, &format!("manifests/{name}"))?;
        self.send(&Question { body: Body::Bytes(media_type, bytes), ..question })
    }

    /// The list that stands in for the referrers API.
    fn listed(&self, repository: &Repository, subject: &ManifestDigest) -> Result<ImageIndex, RegistryError> {
        match self.manifest_by(repository, &Tag::of_referrers(subject))? {
            Some(raw) => Ok(ImageIndex::read(&raw.bytes)?),
            None => Ok(ImageIndex::new(Vec::new())),
        }
    }
}

impl Place for HttpPlace {
    fn address(&self) -> &Address {
        &self.address
    }

    fn tags(&self, repository: &Repository) -> Result<Vec<Tag>, RegistryError> {
        let mut tags: Vec<Tag> = Vec::new();
        for _ in 0..TAGS_PAGES_LIMIT {
            let after = tags.last().map(|tag| format!("&last={tag}")).unwrap_or_default();
            let question =
                self.question("list of tags", Method::GET, repository, &format!("tags/list?n={TAGS_PAGE}{after}"))?;
            let Some((answer, bytes)) = self.document(&question, TAGS_BYTES_LIMIT)? else { return Ok(tags) };
            let page: TagList = oci::read("list of tags", &bytes, TAGS_BYTES_LIMIT)?;
            let before = tags.len();
            for tag in page.tags.unwrap_or_default() {
                tags.push(
                    tag.parse()
                        .map_err(|error| Refusal::Document { what: "list of tags", reason: format!("{error}") })?,
                );
            }
            if answer.header("link").is_none() || tags.len() == before {
                return Ok(tags);
            }
        }
        let limit = TAGS_PAGES_LIMIT as u64;
        Err(Refusal::TooMany { what: "pages of tags", limit, found: limit + 1 }.into())
    }

    fn resolve(&self, repository: &Repository, tag: &Tag) -> Result<Option<RawManifest>, RegistryError> {
        self.manifest_by(repository, tag)
    }

    fn manifest(&self, repository: &Repository, digest: &ManifestDigest) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some(raw) = self.manifest_by(repository, digest)? else { return Ok(None) };
        check_digest("manifest", &(*digest).into(), &raw.digest.into())?;
        Ok(Some(raw.bytes))
    }

    fn blob(
        &self,
        repository: &Repository,
        digest: &BlobDigest,
        limit: u64,
        sink: Sink<'_>,
    ) -> Result<(), RegistryError> {
        let mut question = self.question("blob", Method::GET, repository, &format!("blobs/{digest}"))?;
        question.within = self.limits.blob;
        let answer = self.client.ask(&question, limit, sink)?;
        match answer.status {
            200 => Ok(()),
            404 => Err(PlaceError::NotThere { what: format!("blob {digest}"), address: self.client.address() }.into()),
            _ => Err(self.refuses("blob", &answer)),
        }
    }

    fn referrers(&self, repository: &Repository, subject: &ManifestDigest) -> Result<Vec<Descriptor>, RegistryError> {
        let mut question =
            self.question("list of referrers", Method::GET, repository, &format!("referrers/{subject}"))?;
        question.accept = &[INDEX_TYPE];
        match self.document(&question, INDEX_BYTES_LIMIT)? {
            Some((_, bytes)) => Ok(ImageIndex::read(&bytes)?.manifests),
            None => Ok(self.listed(repository, subject)?.manifests),
        }
    }

    fn put_blob(&self, repository: &Repository, bytes: &[u8]) -> Result<(), RegistryError> {
        const WHAT: &str = "publishing a blob";
        let digest = BlobDigest::of(bytes);
        let there = self.question(WHAT, Method::HEAD, repository, &format!("blobs/{digest}"))?;
        if self.client.ask(&there, 0, &mut |_| Ok(()))?.status == 200 {
            return Ok(());
        }
        let start = self.question(WHAT, Method::POST, repository, "blobs/uploads/")?;
        let started = self.send(&start)?;
        let Some(location) = started.location() else { return Err(self.refuses(WHAT, &started)) };
        let mut url = self.client.own(WHAT, location)?;
        url.query_pairs_mut().append_pair("digest", &digest.to_string());
        let body = Body::Bytes("application/octet-stream", bytes);
        let within: Duration = self.limits.blob;
        self.send(&Question { method: Method::PUT, url, body, within, ..start })?;
        Ok(())
    }

    fn put_manifest(&self, repository: &Repository, tag: Option<&Tag>, bytes: &[u8]) -> Result<(), RegistryError> {
        let digest = ManifestDigest::of(bytes);
        let name: &dyn Display = match tag {
            Some(tag) => tag,
            None => &digest,
        };
        self.put_document(repository, name, MANIFEST_TYPE, bytes).map(|_| ())
    }

    fn attach(
        &self,
        repository: &Repository,
        subject: &ManifestDigest,
        manifest: &[u8],
        descriptor: Descriptor,
    ) -> Result<(), RegistryError> {
        let taken = self.put_document(repository, &ManifestDigest::of(manifest), MANIFEST_TYPE, manifest)?;
        if taken.header(SUBJECT_HEADER).is_some() {
            return Ok(());
        }
        // Two publishers at once can lose one of two entries here; the standard's fall-back has no remedy, and signing again is one.
        let mut index = self.listed(repository, subject)?;
        if !index.manifests.iter().any(|known| known.digest == descriptor.digest) {
            index.manifests.push(descriptor);
        }
        self.put_document(repository, &Tag::of_referrers(subject), INDEX_TYPE, &index.write())?;
        Ok(())
    }
}
