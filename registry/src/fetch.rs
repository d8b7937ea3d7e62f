//! Getting a release: the operator's side.
//!
//! The order is the point. The tag is resolved once, and its bytes are hashed; from then on everything is asked for by digest. Signatures are
//! judged over that digest before the component is asked for; the component is hashed while it streams into the store, and once more when it
//! is loaded; what it really is must be what the statement says.

use loopwright_contract::digest::{BlobDigest, ContentDigest, ManifestDigest};

use crate::{
    COMPONENT_BYTES_LIMIT, RegistryError,
    component::{Inspection, inspect},
    envelope::{ENVELOPE_BYTES_LIMIT, ENVELOPE_TYPE, Envelope},
    key::KeyId,
    lock::{Lock, Locked, Yanked},
    moment::Moment,
    name::Release,
    oci::{Descriptor, Manifest, STATEMENT_ARTIFACT},
    place::{Place, RawManifest},
    publish::{not_there, repository, tag},
    reference::{Address, Reference, Repository, Selector},
    refusal::{Doubt, Refusal},
    statement::Act,
    store::{Expected, Store},
    trust::Trust,
};

/// Most statements about one release that are looked at.
pub const STATEMENTS_LIMIT: usize = 32;

/// What a release is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// Whose signatures count.
    pub trust: &'a Trust,
    /// What time it is.
    pub now: Moment,
}

/// A release that was verified, with its component.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// What the lock file has to say of it.
    pub locked: Locked,
    /// The component.
    pub component: Vec<u8>,
    /// Its face.
    pub inspection: Inspection,
    /// Its publisher withdrew it, and it is installed all the same because it was before.
    pub yanked: bool,
}

/// A statement that counts, and the blob that it came in.
struct Vouched {
    envelope: Envelope,
    signer: KeyId,
    blob: Vec<u8>,
}

/// Gets a release from a place into the store, and verifies all of it.
///
/// A yank that is seen is noted in `lock`, also when the release is refused for it; the caller writes the lock file in any case.
///
/// # Errors
/// `Refused` with the check that failed; nothing is in the store under a name that it does not have. Whatever place and store say.
pub fn fetch(
    place: &dyn Place,
    store: &Store,
    release: &Release,
    judge: Judge<'_>,
    lock: &mut Lock,
) -> Result<Fetched, RegistryError> {
    let repository = repository(place, release)?;
    let raw = place.resolve(&repository, &tag(release)?)?.ok_or_else(|| not_there(place, release))?;
    let known = lock.of_release(release).cloned();
    if let Some(known) = known.as_ref().filter(|known| known.manifest != raw.digest) {
        return Err(Refusal::Moved { release: release.clone(), locked: known.manifest, found: raw.digest }.into());
    }
    let manifest = Manifest::read(&raw.bytes)?;
    let (content, size) = manifest.component()?;
    let vouched = vouched(place, &repository, release, &raw, judge)?;
    for yank in vouched.yanks {
        lock.note_yank(yank);
    }
    // What is installed already stays installable, or a withdrawn release would break those who depend on it; anew it is refused.
    refuse_yanked(release, lock, known.is_some())?;
    let publish = vouched.publish.map_err(|reasons| Refusal::Untrusted {
        release: release.clone(),
        manifest: raw.digest,
        reasons,
    })?;
    agree("component", content, publish.envelope.statement.content)?;
    into_store(place, &repository, store, content, size)?;
    store.put_unsynced("manifest", &raw.bytes)?;
    let envelope = store.put_unsynced("envelope", &publish.blob)?;
    // Three names, one trip to the disk; what has no name yet after a stop is fetched again.
    store.sync(&envelope)?;
    let statement = &publish.envelope.statement;
    let locked = Locked {
        release: release.clone(),
        manifest: raw.digest,
        content,
        request: statement.request,
        signer: publish.signer,
        issued: statement.issued,
        envelope,
        source: source(place, &repository, &raw),
    };
    finish(store, locked, lock)
}

/// Gets a locked release from the store alone: no place is asked, and signature, digests and request are verified all over again.
///
/// # Errors
/// `Refused` when something no longer fits or is not in the store.
pub fn fetch_locked(store: &Store, release: &Release, judge: Judge<'_>, lock: &Lock) -> Result<Fetched, RegistryError> {
    let gone = |what: &'static str| Refusal::Document {
        what,
        reason: format!("`{release}` is not in the lock file and the store whole\nhint: pull it again"),
    };
    let locked = lock.of_release(release).cloned().ok_or_else(|| gone("lock file"))?;
    let bytes =
        store.load("envelope", &locked.envelope, ENVELOPE_BYTES_LIMIT as u64)?.ok_or_else(|| gone("envelope"))?;
    let untrusted = |doubt: Doubt| Refusal::Untrusted {
        release: release.clone(),
        manifest: locked.manifest,
        reasons: doubt.to_string(),
    };
    let envelope = Envelope::read(&bytes).map_err(untrusted)?;
    let statement = &envelope.statement;
    judge.trust.accept(&envelope, release, judge.now).map_err(untrusted)?;
    agree("manifest", locked.manifest, statement.manifest)?;
    agree("component", locked.content, statement.content)?;
    agree("request", locked.request, statement.request)?;
    finish(store, locked, lock)
}

/// Reads the component back and compares what it asks for.
fn finish(store: &Store, locked: Locked, lock: &Lock) -> Result<Fetched, RegistryError> {
    let gone = || Refusal::Document {
        what: "store",
        reason: format!("component {} is not there\nhint: pull it again", locked.content),
    };
    let component = store.load("component", &locked.content.into(), COMPONENT_BYTES_LIMIT)?.ok_or_else(gone)?;
    let inspection = inspect(&component)?;
    agree("request", inspection.request.digest, locked.request)?;
    let yanked = lock.yank_of(&locked.release).is_some();
    Ok(Fetched { locked, component, inspection, yanked })
}

fn agree<T: PartialEq + ToString>(what: &'static str, expected: T, found: T) -> Result<(), Refusal> {
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Digest { what, expected: expected.to_string(), found: found.to_string() })
}

fn refuse_yanked(release: &Release, lock: &Lock, installed: bool) -> Result<(), Refusal> {
    match lock.yank_of(release) {
        Some(yank) if !installed => Err(Refusal::Yanked { release: release.clone(), reason: yank.reason.clone() }),
        _ => Ok(()),
    }
}

fn source(place: &dyn Place, repository: &Repository, raw: &RawManifest) -> String {
    match place.address() {
        Address::Server { server, .. } => {
            Reference { server: server.clone(), repository: repository.clone(), selector: Selector::Digest(raw.digest) }
                .to_string()
        }
        folder @ Address::Folder(_) => format!("{folder}/{repository}@{}", raw.digest),
    }
}

/// Streams a component into the store, unless it is there whole. Its name is on disk once the caller has synced the store.
fn into_store(
    place: &dyn Place,
    repository: &Repository,
    store: &Store,
    content: ContentDigest,
    size: u64,
) -> Result<(), RegistryError> {
    let digest = BlobDigest::from(content);
    if matches!(store.load("component", &digest, COMPONENT_BYTES_LIMIT), Ok(Some(_))) {
        return Ok(());
    }
    let mut ingest = store.ingest(Expected { what: "component", digest, size_bytes: size })?;
    // One byte beyond what is declared is enough for the store to see that there is more.
    place.blob(repository, &digest, COMPONENT_BYTES_LIMIT + 1, &mut |chunk| ingest.write(chunk))?;
    ingest.finish_unsynced()
}

/// A component's bytes, compared with digest and size, without a store.
pub(crate) fn component(
    place: &dyn Place,
    repository: &Repository,
    content: ContentDigest,
    size: u64,
) -> Result<Vec<u8>, RegistryError> {
    let descriptor = Descriptor { digest: content.into(), size, ..Descriptor::of("", b"") };
    whole(place, repository, &descriptor, COMPONENT_BYTES_LIMIT, "component")
}

/// A blob in memory, compared with digest and size.
fn whole(
    place: &dyn Place,
    repository: &Repository,
    wanted: &Descriptor,
    limit: u64,
    what: &'static str,
) -> Result<Vec<u8>, RegistryError> {
    if wanted.size > limit {
        return Err(Refusal::TooLarge { what, limit, found: wanted.size }.into());
    }
    let mut bytes = Vec::new();
    place.blob(repository, &wanted.digest, limit + 1, &mut |chunk| {
        bytes.extend_from_slice(chunk);
        length(what, wanted, bytes.len() as u64, false)
    })?;
    length(what, wanted, bytes.len() as u64, true)?;
    crate::store::check_digest(what, &wanted.digest, &BlobDigest::of(&bytes))?;
    Ok(bytes)
}

fn length(what: &'static str, wanted: &Descriptor, found: u64, at_end: bool) -> Result<(), RegistryError> {
    if found > wanted.size || (at_end && found < wanted.size) {
        return Err(Refusal::Length { what, digest: wanted.digest.to_string(), expected: wanted.size, found }.into());
    }
    Ok(())
}

/// What statements say of a release.
struct Said {
    publish: Result<Vouched, String>,
    yanks: Vec<Yanked>,
}

/// Reads every statement about a manifest and keeps those that the policy accepts. One that cannot be read costs only itself: a stranger can
/// put one there, and it must not keep others from counting.
fn vouched(
    place: &dyn Place,
    repository: &Repository,
    release: &Release,
    raw: &RawManifest,
    judge: Judge<'_>,
) -> Result<Said, RegistryError> {
    let referrers = place.referrers(repository, &raw.digest)?;
    let ours: Vec<&Descriptor> =
        referrers.iter().filter(|one| one.artifact_type.as_deref() == Some(STATEMENT_ARTIFACT)).collect();
    if ours.len() > STATEMENTS_LIMIT {
        let (limit, found) = (STATEMENTS_LIMIT as u64, ours.len() as u64);
        return Err(Refusal::TooMany { what: "statements about one release", limit, found }.into());
    }
    let (mut publish, mut yanks, mut doubts) = (None, Vec::new(), Vec::new());
    for descriptor in ours {
        match statement(place, repository, release, raw, descriptor, judge)? {
            Ok(found) => match &found.envelope.statement.act {
                Act::Publish if publish.is_none() => publish = Some(found),
                Act::Publish => {}
                Act::Yank { reason } => yanks.push(Yanked {
                    release: release.clone(),
                    manifest: raw.digest,
                    reason: reason.as_str().to_owned(),
                    signer: found.signer,
                    issued: found.envelope.statement.issued,
                }),
            },
            Err(doubt) => doubts.push(doubt.to_string()),
        }
    }
    let reasons = if doubts.is_empty() { "there is none".to_owned() } else { doubts.join("; ") };
    Ok(Said { publish: publish.ok_or(reasons), yanks })
}

/// One statement, when it counts; the outer error is for a place that does not answer.
fn statement(
    place: &dyn Place,
    repository: &Repository,
    release: &Release,
    raw: &RawManifest,
    descriptor: &Descriptor,
    judge: Judge<'_>,
) -> Result<Result<Vouched, Doubt>, RegistryError> {
    let carried = match carried(place, repository, descriptor) {
        Err(RegistryError::Refused(refusal)) => Err(Doubt::Malformed { reason: refusal.to_string() }),
        other => Ok(other?),
    };
    Ok(carried.and_then(|blob| {
        let envelope = Envelope::read(&blob)?;
        let said = &envelope.statement;
        if said.manifest != raw.digest {
            let (expected, found) = (raw.digest.to_string(), said.manifest.to_string());
            return Err(Doubt::AboutAnother { field: "manifest", expected, found });
        }
        let signer = judge.trust.accept(&envelope, release, judge.now)?;
        Ok(Vouched { envelope, signer, blob })
    }))
}

/// The envelope that a referrer carries. What its own `subject` says does not matter: the statement names the manifest, and it is signed.
fn carried(place: &dyn Place, repository: &Repository, descriptor: &Descriptor) -> Result<Vec<u8>, RegistryError> {
    let wrong = |reason: String| Refusal::Document { what: "statement", reason };
    let carrier = whole_manifest(place, repository, descriptor)?;
    let [layer] = carrier.layers.as_slice() else {
        return Err(wrong(format!("expected one layer, found {}", carrier.layers.len())).into());
    };
    if layer.media_type != ENVELOPE_TYPE {
        return Err(wrong(format!("expected a layer of type `{ENVELOPE_TYPE}`")).into());
    }
    whole(place, repository, layer, ENVELOPE_BYTES_LIMIT as u64, "envelope")
}

fn whole_manifest(
    place: &dyn Place,
    repository: &Repository,
    descriptor: &Descriptor,
) -> Result<Manifest, RegistryError> {
    let digest = ManifestDigest(descriptor.digest.0);
    let gone = || Refusal::Document { what: "statement", reason: format!("manifest {digest} is listed and not there") };
    let bytes = place.manifest(repository, &digest)?.ok_or_else(gone)?;
    Ok(Manifest::read(&bytes)?)
}

/// What is known of a release without getting it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The manifest that its tag names now.
    pub manifest: ManifestDigest,
    /// Whose signature counts, or why none does.
    pub signer: Result<KeyId, String>,
    /// Why it was withdrawn, when somebody whose word counts said so.
    pub yanked: Option<String>,
}

/// Looks at a release and its statements, without its component. Yanks that count are noted in `lock`.
///
/// # Errors
/// Whatever the place says.
pub fn look(place: &dyn Place, release: &Release, judge: Judge<'_>, lock: &mut Lock) -> Result<Seen, RegistryError> {
    let repository = repository(place, release)?;
    let raw = place.resolve(&repository, &tag(release)?)?.ok_or_else(|| not_there(place, release))?;
    let said = vouched(place, &repository, release, &raw, judge)?;
    for yank in said.yanks {
        lock.note_yank(yank);
    }
    let yanked = lock.yank_of(release).map(|yank| yank.reason.clone());
    Ok(Seen { manifest: raw.digest, signer: said.publish.map(|publish| publish.signer), yanked })
}
