//! A folder of OCI image layouts, one for each package at `FOLDER/NAMESPACE/NAME`: for mirrors without a network, and readable by other tools
//! (`oras pull --oci-layout FOLDER/NAMESPACE/NAME:VERSION`).

use std::path::PathBuf;

use loopwright_contract::digest::{BlobDigest, ManifestDigest};

use super::{Place, PlaceError, RawManifest, Sink};
use crate::{
    RegistryError,
    file::{self, Hold},
    oci::{
        Descriptor, INDEX_BYTES_LIMIT, INDEX_ENTRIES_LIMIT, ImageIndex, MANIFEST_BYTES_LIMIT, MANIFEST_TYPE, Manifest,
        REF_NAME,
    },
    reference::{Address, Repository, Tag},
    refusal::Refusal,
    store::check_digest,
};

/// The file that makes a folder a layout, and what stands in it.
const MARK: (&str, &[u8]) = ("oci-layout", b"{\"imageLayoutVersion\":\"1.0.0\"}");
const INDEX: &str = "index.json";
/// Bytes handed over at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A folder of image layouts.
#[derive(Debug, Clone)]
pub struct FolderPlace {
    address: Address,
    folder: PathBuf,
}

impl FolderPlace {
    pub(super) fn new(address: Address, folder: PathBuf) -> Self {
        Self { address, folder }
    }

    /// A repository holds nothing but words, `/`, `.`, `_` and `-`, and no word is empty, so it leads nowhere else.
    fn layout(&self, repository: &Repository) -> PathBuf {
        self.folder.join(repository.as_str())
    }

    fn blob_path(&self, repository: &Repository, digest: &BlobDigest) -> PathBuf {
        self.layout(repository).join("blobs").join("sha256").join(hex::encode(digest.0))
    }

    fn index(&self, repository: &Repository) -> Result<Option<ImageIndex>, RegistryError> {
        let layout = self.layout(repository);
        let Some(bytes) = there(file::read(&layout.join(INDEX), INDEX_BYTES_LIMIT))? else { return Ok(None) };
        let mark = there(file::read(&layout.join(MARK.0), MANIFEST_BYTES_LIMIT))?;
        if mark.is_none_or(|mark| !String::from_utf8_lossy(&mark).contains("\"1.0.0\"")) {
            let reason = format!("expected a file `{}` with version 1.0.0", MARK.0);
            return Err(PlaceError::Layout { path: layout, reason }.into());
        }
        Ok(Some(ImageIndex::read(&bytes)?))
    }

    /// Changes the index while nobody else does.
    fn change(&self, repository: &Repository, change: impl FnOnce(&mut Vec<Descriptor>)) -> Result<(), RegistryError> {
        let layout = self.layout(repository);
        let _hold = Hold::take(&layout, false)?;
        let mut manifests = self.index(repository)?.map(|index| index.manifests).unwrap_or_default();
        change(&mut manifests);
        if manifests.len() > INDEX_ENTRIES_LIMIT {
            let (limit, found) = (INDEX_ENTRIES_LIMIT as u64, manifests.len() as u64);
            return Err(Refusal::TooMany { what: "entries of an index", limit, found }.into());
        }
        file::replace(&layout.join(MARK.0), MARK.1, 0o644)?;
        file::replace(&layout.join(INDEX), &ImageIndex::new(manifests).write(), 0o644)
    }
}

/// None for a file that is not there.
fn there<T>(read: Result<T, RegistryError>) -> Result<Option<T>, RegistryError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(RegistryError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn tag_of(descriptor: &Descriptor) -> Option<&String> {
    descriptor.annotations.get(REF_NAME)
}

impl Place for FolderPlace {
    fn address(&self) -> &Address {
        &self.address
    }

    fn tags(&self, repository: &Repository) -> Result<Vec<Tag>, RegistryError> {
        let index = self.index(repository)?;
        let manifests = index.map(|index| index.manifests).unwrap_or_default();
        let tags = manifests.iter().filter_map(tag_of).map(|tag| tag.parse());
        Ok(tags
            .collect::<Result<_, _>>()
            .map_err(|error| Refusal::Document { what: "index of manifests", reason: format!("{error}") })?)
    }

    fn resolve(&self, repository: &Repository, tag: &Tag) -> Result<Option<RawManifest>, RegistryError> {
        let Some(index) = self.index(repository)? else { return Ok(None) };
        let named: Vec<&Descriptor> =
            index.manifests.iter().filter(|one| tag_of(one).is_some_and(|name| name == tag.as_str())).collect();
        let digest = match named.as_slice() {
            [] => return Ok(None),
            [one] => ManifestDigest(one.digest.0),
            more => {
                let reason = format!("tag `{tag}` stands there {} times", more.len());
                return Err(Refusal::Document { what: "index of manifests", reason }.into());
            }
        };
        Ok(self.manifest(repository, &digest)?.map(RawManifest::of))
    }

    fn manifest(&self, repository: &Repository, digest: &ManifestDigest) -> Result<Option<Vec<u8>>, RegistryError> {
        let path = self.blob_path(repository, &(*digest).into());
        let Some(bytes) = there(file::read(&path, MANIFEST_BYTES_LIMIT))? else { return Ok(None) };
        check_digest("manifest", &(*digest).into(), &BlobDigest::of(&bytes))?;
        Ok(Some(bytes))
    }

    fn blob(
        &self,
        repository: &Repository,
        digest: &BlobDigest,
        limit: u64,
        sink: Sink<'_>,
    ) -> Result<(), RegistryError> {
        let path = self.blob_path(repository, digest);
        let not_there = || PlaceError::NotThere { what: format!("blob {digest}"), address: self.address.to_string() };
        let bytes = there(file::read(&path, limit))?.ok_or_else(not_there)?;
        bytes.chunks(CHUNK_BYTES).try_for_each(sink)
    }

    fn referrers(&self, repository: &Repository, subject: &ManifestDigest) -> Result<Vec<Descriptor>, RegistryError> {
        let index = self.index(repository)?;
        let about = |descriptor: &Descriptor| -> Result<bool, RegistryError> {
            if descriptor.artifact_type.is_none() {
                return Ok(false);
            }
            let Some(bytes) = self.manifest(repository, &ManifestDigest(descriptor.digest.0))? else {
                return Ok(false);
            };
            Ok(Manifest::read(&bytes)?.subject.is_some_and(|found| found.digest == BlobDigest::from(*subject)))
        };
        let mut referrers = Vec::new();
        for descriptor in index.map(|index| index.manifests).unwrap_or_default() {
            if about(&descriptor)? {
                referrers.push(descriptor);
            }
        }
        Ok(referrers)
    }

    fn put_blob(&self, repository: &Repository, bytes: &[u8]) -> Result<(), RegistryError> {
        file::replace(&self.blob_path(repository, &BlobDigest::of(bytes)), bytes, 0o644)
    }

    fn put_manifest(&self, repository: &Repository, tag: Option<&Tag>, bytes: &[u8]) -> Result<(), RegistryError> {
        self.put_blob(repository, bytes)?;
        let Some(tag) = tag else { return Ok(()) };
        let mut descriptor = Descriptor::of(MANIFEST_TYPE, bytes);
        descriptor.annotations.insert(REF_NAME.to_owned(), tag.to_string());
        self.change(repository, |manifests| {
            manifests.retain(|known| tag_of(known).is_none_or(|name| name != tag.as_str()));
            manifests.push(descriptor);
        })
    }

    fn attach(
        &self,
        repository: &Repository,
        _: &ManifestDigest,
        manifest: &[u8],
        descriptor: Descriptor,
    ) -> Result<(), RegistryError> {
        self.put_blob(repository, manifest)?;
        self.change(repository, |manifests| {
            if !manifests.iter().any(|known| known.digest == descriptor.digest) {
                manifests.push(descriptor);
            }
        })
    }
}
