//! An honest publisher with an honest registry, and a customer who has never seen either: what attacks start from.

use std::{cell::RefCell, sync::Arc, time::Duration};

use loopwright_contract::digest::{BlobDigest, ManifestDigest};

use super::server::{Answer, Request, Script, Server};
use crate::{
    COMPONENT_BYTES_LIMIT, RegistryError,
    component::inspect,
    credentials::{Credentials, Login},
    envelope::{ENVELOPE_TYPE, Envelope},
    fetch::{Fetched, Judge, fetch, fetch_locked},
    key::SecretKey,
    lock::Lock,
    moment::Moment,
    name::Release,
    oci::{Descriptor, EMPTY_CONFIG, ImageIndex, MANIFEST_TYPE, Manifest, STATEMENT_ARTIFACT},
    place::{self, HttpLimits, Place, PlaceError, Plain, RawManifest},
    publish::{self, Signer, repository, tag},
    reference::{Address, Repository, Tag},
    statement::{Act, Statement},
    store::Store,
    trust::Trust,
};

/// What time it is on the stage: 2026-11-30T00:53:20Z.
pub(super) const NOW_SECONDS: u64 = 1_796_000_000;
/// How long a server may take there.
const LIMITS: HttpLimits = HttpLimits {
    connect: Duration::from_secs(5),
    document: Duration::from_millis(400),
    blob: Duration::from_millis(400),
};

/// Who the customer is, to the registry: base64 of `alice:open sesame`.
pub(super) const LOGIN: &str = "YWxpY2U6b3BlbiBzZXNhbWU=";

/// A component without code: a section of the given size, so that its bytes are what they are for.
#[must_use]
pub fn padded_component(filler_bytes: u32, filler: u8) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    let name = b"\x03pad";
    let size = filler_bytes.saturating_add(4);
    bytes.push(0);
    // LEB128 in five bytes, whatever the size.
    bytes.extend((0..5_u32).map(|group| {
        let low = ((u64::from(size) >> (7 * group)) & 0x7f) as u8;
        if group < 4 { low | 0x80 } else { low }
    }));
    bytes.extend_from_slice(name);
    bytes.resize(bytes.len() + filler_bytes as usize, filler);
    bytes
}

/// The stage.
pub(super) struct Stage {
    folder: tempfile::TempDir,
    pub(super) release: Release,
    pub(super) component: Vec<u8>,
    /// Whose key the customer trusts.
    pub(super) publisher: SecretKey,
    /// Somebody else.
    pub(super) stranger: SecretKey,
    pub(super) trust: Trust,
    pub(super) now: Moment,
    pub(super) store: Store,
    pub(super) lock: RefCell<Lock>,
    /// Whether the customer has credentials for whatever server is started here.
    pub(super) has_login: bool,
}

impl Stage {
    /// Nothing is published yet.
    pub(super) fn new() -> Result<Self, RegistryError> {
        let folder = tempfile::tempdir().map_err(RegistryError::io("temporary folder"))?;
        let store = Store::open(folder.path().join("store"))?;
        let set_up = |reason: String| PlaceError::SetUp { reason };
        let publisher = SecretKey::from_random(&[1; 32]);
        let policy = format!(
            "version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"{}\"\nfrom = \"2026-01-01T00:00:00Z\"\n",
            publisher.id()
        );
        Ok(Self {
            folder,
            release: "acme:notes@1.0.0".parse::<Release>().map_err(|error| set_up(format!("{error}")))?,
            component: padded_component(2_000, b'a'),
            publisher,
            stranger: SecretKey::from_random(&[2; 32]),
            trust: Trust::parse(&policy).map_err(set_up)?,
            now: Moment::from_seconds(NOW_SECONDS).ok_or_else(|| set_up("the time is none".to_owned()))?,
            store,
            lock: RefCell::new(Lock::default()),
            has_login: false,
        })
    }

    /// Everything is as it should be.
    pub(super) fn published() -> Result<Self, RegistryError> {
        let stage = Self::new()?;
        stage.publish(&stage.component)?;
        Ok(stage)
    }

    /// What the honest registry keeps.
    pub(super) fn shelf(&self) -> Result<Box<dyn Place>, RegistryError> {
        place::open(&Address::Folder(self.folder.path().join("shelf")), LIMITS, Plain::Loopback)
    }

    pub(super) fn signer(&self) -> Signer<'_> {
        Signer { key: &self.publisher, now: self.now }
    }

    pub(super) fn publish(&self, component: &[u8]) -> Result<(), RegistryError> {
        publish::push(self.shelf()?.as_ref(), &self.release, component, self.signer()).map(|_| ())
    }

    /// Puts a release there without a statement, and returns its manifest.
    pub(super) fn shelve(&self, component: &[u8]) -> Result<RawManifest, RegistryError> {
        let shelf = self.shelf()?;
        let repository = repository(shelf.as_ref(), &self.release)?;
        let config = Descriptor::of(crate::oci::WASM_CONFIG_TYPE, EMPTY_CONFIG);
        let layer = Descriptor::of(crate::oci::WASM_TYPE, component);
        let raw = RawManifest::of(Manifest::of_release(&self.release, config, layer, self.now).write());
        shelf.put_blob(&repository, component)?;
        shelf.put_blob(&repository, EMPTY_CONFIG)?;
        shelf.put_manifest(&repository, Some(&tag(&self.release)?), &raw.bytes)?;
        Ok(raw)
    }

    /// A true statement about a manifest, to be made false.
    pub(super) fn statement(&self, raw: &RawManifest) -> Result<Statement, RegistryError> {
        let (content, _) = Manifest::read(&raw.bytes)?.component()?;
        let request = inspect(&self.component)?.request.digest;
        Ok(Statement {
            act: Act::Publish,
            release: self.release.clone(),
            content,
            manifest: raw.digest,
            request,
            issued: self.now,
        })
    }

    /// Puts an envelope beside a manifest, whatever it says.
    pub(super) fn attach(&self, raw: &RawManifest, envelope: &str) -> Result<(), RegistryError> {
        let shelf = self.shelf()?;
        let repository = repository(shelf.as_ref(), &self.release)?;
        shelf.put_blob(&repository, envelope.as_bytes())?;
        let subject = Descriptor::of(MANIFEST_TYPE, &raw.bytes);
        let carrier = Manifest::of_envelope(Descriptor::of(ENVELOPE_TYPE, envelope.as_bytes()), subject).write();
        let mut descriptor = Descriptor::of(MANIFEST_TYPE, &carrier);
        descriptor.artifact_type = Some(STATEMENT_ARTIFACT.to_owned());
        shelf.attach(&repository, &raw.digest, &carrier, descriptor)
    }

    /// A release with one statement, made false and signed by a key.
    pub(super) fn publish_false(
        &self,
        key: &SecretKey,
        change: impl FnOnce(&mut Statement),
    ) -> Result<(), RegistryError> {
        let raw = self.shelve(&self.component)?;
        let mut statement = self.statement(&raw)?;
        change(&mut statement);
        self.attach(&raw, &Envelope::sign(statement, &[key]).write())
    }

    /// The customer pulls from a server that answers honestly but for what `twist` changes.
    pub(super) fn pull(
        &self,
        twist: impl Fn(&Request, Answer) -> Answer + Send + Sync + 'static,
    ) -> Result<Fetched, RegistryError> {
        let (_server, place) = self.serve(twist)?;
        self.pull_from(place.as_ref())
    }

    /// The customer pulls.
    pub(super) fn pull_from(&self, place: &dyn Place) -> Result<Fetched, RegistryError> {
        let mut lock = self.lock.borrow_mut();
        let judge = Judge { trust: &self.trust, now: self.now };
        let fetched = fetch(place, &self.store, &self.release, judge, &mut lock)?;
        lock.set(fetched.locked.clone());
        Ok(fetched)
    }

    /// The customer takes what is locked, from the store alone.
    pub(super) fn pull_locked(&self) -> Result<Fetched, RegistryError> {
        let judge = Judge { trust: &self.trust, now: self.now };
        fetch_locked(&self.store, &self.release, judge, &self.lock.borrow())
    }

    /// A server with what is on the shelf, and a client of it.
    pub(super) fn serve(
        &self,
        twist: impl Fn(&Request, Answer) -> Answer + Send + Sync + 'static,
    ) -> Result<(Server, Box<dyn Place>), RegistryError> {
        let address = Address::Folder(self.folder.path().join("shelf"));
        let script: Script = Arc::new(move |request| twist(request, honest(&address, request)));
        let server = Server::start(script).map_err(RegistryError::io("127.0.0.1"))?;
        let set_up = |reason: String| PlaceError::SetUp { reason };
        let address = server.address().parse::<Address>().map_err(|error| set_up(format!("{error}")))?;
        let file = match self.has_login {
            true => format!(r#"{{"auths":{{"{}":{{"auth":"{LOGIN}"}}}}}}"#, server.address()),
            false => "{}".to_owned(),
        };
        let login = match &address {
            Address::Server { server, .. } => {
                Credentials::parse(&file, "config.json").and_then(|all| all.login(server))
            }
            Address::Folder(_) => Ok(Login::default()),
        };
        let place = place::open_as(&address, LIMITS, Plain::Loopback, login.map_err(set_up)?)?;
        Ok((server, place))
    }

    /// Whether the store has the component, whole.
    #[cfg(test)]
    pub(super) fn has_component(&self) -> Result<bool, RegistryError> {
        let digest = BlobDigest::of(&self.component);
        Ok(self.store.load("component", &digest, COMPONENT_BYTES_LIMIT)?.is_some())
    }

    /// Changes a byte of the stored component behind the store's back.
    pub(super) fn tamper_with_store(&self) -> Result<(), RegistryError> {
        let path = self.folder.path().join("store/blobs/sha256").join(hex::encode(BlobDigest::of(&self.component).0));
        let mut bytes = self.component.clone();
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        std::fs::remove_file(&path).and_then(|()| std::fs::write(&path, bytes)).map_err(RegistryError::io(path))
    }
}

/// What an honest registry without a referrers API answers, that keeps what is in this folder of image layouts.
pub fn honest(address: &Address, request: &Request) -> Answer {
    let path = request.path.split('?').next().unwrap_or_default();
    let found = answer_honestly(address, path).unwrap_or_default();
    found.unwrap_or_else(|| Answer::of(404, "{}"))
}

fn answer_honestly(address: &Address, path: &str) -> Result<Option<Answer>, RegistryError> {
    let shelf = place::open(address, LIMITS, Plain::Loopback)?;
    let parts = path.strip_prefix("/v2/").and_then(|rest| {
        let (rest, name) = rest.rsplit_once('/')?;
        let (repository, what) = rest.rsplit_once('/')?;
        Some((repository.parse::<Repository>().ok()?, what, name))
    });
    let Some((repository, what, name)) = parts else { return Ok(None) };
    Ok(match what {
        "tags" => {
            let tags: Vec<String> = shelf.tags(&repository)?.iter().map(Tag::to_string).collect();
            Some(Answer::of(200, serde_json::json!({ "tags": tags }).to_string()))
        }
        "blobs" => {
            let Ok(digest) = name.parse::<BlobDigest>() else { return Ok(None) };
            let mut bytes = Vec::new();
            shelf.blob(&repository, &digest, COMPONENT_BYTES_LIMIT, &mut |chunk| {
                bytes.extend_from_slice(chunk);
                Ok(())
            })?;
            Some(Answer::of(200, bytes))
        }
        "manifests" => manifest(shelf.as_ref(), &repository, name)?.map(|bytes| Answer::of(200, bytes)),
        _ => None,
    })
}

fn manifest(shelf: &dyn Place, repository: &Repository, name: &str) -> Result<Option<Vec<u8>>, RegistryError> {
    if let Ok(digest) = name.parse::<ManifestDigest>() {
        return shelf.manifest(repository, &digest);
    }
    if let Some(subject) = name.strip_prefix("sha256-").and_then(|hex| format!("sha256:{hex}").parse().ok()) {
        return Ok(Some(ImageIndex::new(shelf.referrers(repository, &subject)?).write()));
    }
    match name.parse::<Tag>() {
        Ok(tag) => Ok(shelf.resolve(repository, &tag)?.map(|raw| raw.bytes)),
        Err(_) => Ok(None),
    }
}
