//! Publishing, signing again and withdrawing: the author's side.
//!
//! The component that is signed is the one in the author's hand, never one that a registry hands out.

use loopwright_contract::digest::{ContentDigest, ManifestDigest, RequestDigest};
use serde::Serialize;

use crate::{
    COMPONENT_BYTES_LIMIT, RegistryError, compat,
    component::inspect,
    envelope::{ENVELOPE_TYPE, Envelope},
    fetch,
    key::{KeyId, SecretKey},
    moment::Moment,
    name::{Package, Release, parse_version, same_range},
    oci::{
        Descriptor, EMPTY_CONFIG, MANIFEST_TYPE, Manifest, STATEMENT_ARTIFACT, WASM_CONFIG_TYPE, WASM_TYPE, wasm_config,
    },
    place::{Place, PlaceError, RawManifest},
    reference::{Repository, Tag},
    refusal::Refusal,
    statement::{Act, Reason, Statement},
};

/// Most earlier releases of a range that a new one is compared with.
pub const PRIORS_LIMIT: usize = 256;

/// Who signs, and when.
#[derive(Debug, Clone, Copy)]
pub struct Signer<'a> {
    /// The key.
    pub key: &'a SecretKey,
    /// The time.
    pub now: Moment,
}

/// What was published, signed or withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Published {
    /// The release.
    pub release: Release,
    /// Its manifest.
    pub manifest: ManifestDigest,
    /// Its component.
    pub content: ContentDigest,
    /// What it asks for.
    pub request: RequestDigest,
    /// Who signed.
    pub signer: KeyId,
    /// The earlier releases of the range that it was compared with.
    pub compared: Vec<Release>,
}

/// Publishes a component and signs it.
///
/// A release that is there with the same component is only signed again, so that a push that broke off can be repeated.
///
/// # Errors
/// `Refused` for what is no component, for a version that is there with another component, and for a change that breaks an earlier release of
/// the same range; whatever the place says.
pub fn push(
    place: &dyn Place,
    release: &Release,
    component: &[u8],
    signer: Signer<'_>,
) -> Result<Published, RegistryError> {
    let found = component.len() as u64;
    if found > COMPONENT_BYTES_LIMIT {
        return Err(Refusal::TooLarge { what: "component", limit: COMPONENT_BYTES_LIMIT, found }.into());
    }
    let inspection = inspect(component)?;
    let repository = repository(place, release)?;
    let tag = tag(release)?;
    let content = ContentDigest::of(component);
    if let Some(there) = place.resolve(&repository, &tag)? {
        return sign_there(place, release, component, &there, signer);
    }
    let compared = compare_with_earlier(place, &repository, release, component)?;
    let config = wasm_config(&inspection, &content, signer.now);
    let manifest = Manifest::of_release(
        release,
        Descriptor::of(WASM_CONFIG_TYPE, &config),
        Descriptor::of(WASM_TYPE, component),
        signer.now,
    );
    let raw = RawManifest::of(manifest.write());
    place.put_blob(&repository, component)?;
    place.put_blob(&repository, &config)?;
    // Under its digest first and signed there; only then does the version exist for others.
    place.put_manifest(&repository, None, &raw.bytes)?;
    let published = Published { compared, ..attach(place, release, Act::Publish, component, &raw, signer)? };
    place.put_manifest(&repository, Some(&tag), &raw.bytes)?;
    Ok(published)
}

/// Signs a published release once more, such as with the next key of a rotation.
///
/// # Errors
/// `Refused` when the release has another component than the one in hand; whatever the place says.
pub fn sign(
    place: &dyn Place,
    release: &Release,
    component: &[u8],
    signer: Signer<'_>,
) -> Result<Published, RegistryError> {
    let there = published(place, release)?;
    sign_there(place, release, component, &there, signer)
}

/// Withdraws a release: a signed statement beside it says so, and new installs are refused wherever it is seen.
///
/// # Errors
/// `Refused` when what is published is no release; whatever the place says.
pub fn yank(
    place: &dyn Place,
    release: &Release,
    reason: Reason,
    signer: Signer<'_>,
) -> Result<Published, RegistryError> {
    let there = published(place, release)?;
    let (content, size) = Manifest::read(&there.bytes)?.component()?;
    let component = fetch::component(place, &repository(place, release)?, content, size)?;
    attach(place, release, Act::Yank { reason }, &component, &there, signer)
}

/// Every release of a package, the oldest first; tags that are no versions are left out.
///
/// # Errors
/// Whatever the place says.
pub fn releases(place: &dyn Place, package: &Package) -> Result<Vec<Release>, RegistryError> {
    let named = place.address().repository(package);
    let repository = named.map_err(|error| Refusal::Document { what: "address", reason: error.to_string() })?;
    let tags = place.tags(&repository)?;
    let versions = tags.iter().filter_map(|tag| parse_version(tag.as_str()));
    let mut releases: Vec<Release> = versions.map(|version| Release { package: package.clone(), version }).collect();
    releases.sort();
    Ok(releases)
}

fn published(place: &dyn Place, release: &Release) -> Result<RawManifest, RegistryError> {
    let there = place.resolve(&repository(place, release)?, &tag(release)?)?;
    there.ok_or_else(|| not_there(place, release))
}

pub(crate) fn not_there(place: &dyn Place, release: &Release) -> RegistryError {
    PlaceError::NotThere { what: format!("`{release}`"), address: place.address().to_string() }.into()
}

pub(crate) fn repository(place: &dyn Place, release: &Release) -> Result<Repository, RegistryError> {
    let named = place.address().repository(&release.package);
    Ok(named.map_err(|error| Refusal::Document { what: "address", reason: error.to_string() })?)
}

pub(crate) fn tag(release: &Release) -> Result<Tag, RegistryError> {
    Ok(Tag::of(&release.version).map_err(|error| Refusal::Document { what: "version", reason: error.to_string() })?)
}

fn sign_there(
    place: &dyn Place,
    release: &Release,
    component: &[u8],
    there: &RawManifest,
    signer: Signer<'_>,
) -> Result<Published, RegistryError> {
    let (content, _) = Manifest::read(&there.bytes)?.component()?;
    if content != ContentDigest::of(component) {
        return Err(Refusal::Published { release: release.clone(), found: content.to_string() }.into());
    }
    attach(place, release, Act::Publish, component, there, signer)
}

/// Signs a statement about a manifest and puts it beside.
fn attach(
    place: &dyn Place,
    release: &Release,
    act: Act,
    component: &[u8],
    manifest: &RawManifest,
    signer: Signer<'_>,
) -> Result<Published, RegistryError> {
    let statement = Statement {
        act,
        release: release.clone(),
        content: ContentDigest::of(component),
        manifest: manifest.digest,
        request: inspect(component)?.request.digest,
        issued: signer.now,
    };
    let (content, request) = (statement.content, statement.request);
    let envelope = Envelope::sign(statement, &[signer.key]).write();
    let repository = repository(place, release)?;
    place.put_blob(&repository, envelope.as_bytes())?;
    place.put_blob(&repository, EMPTY_CONFIG)?;
    let subject = Descriptor::of(MANIFEST_TYPE, &manifest.bytes);
    let carrier = Manifest::of_envelope(Descriptor::of(ENVELOPE_TYPE, envelope.as_bytes()), subject).write();
    let mut descriptor = Descriptor::of(MANIFEST_TYPE, &carrier);
    descriptor.artifact_type = Some(STATEMENT_ARTIFACT.to_owned());
    place.attach(&repository, &manifest.digest, &carrier, descriptor)?;
    let signer = signer.key.id();
    Ok(Published {
        release: release.clone(),
        manifest: manifest.digest,
        content,
        request,
        signer,
        compared: Vec::new(),
    })
}

/// Compares a component with every earlier release of its range, so that no chain of small steps breaks what the first promised; and with
/// later ones of the range, which must not lose what it has.
fn compare_with_earlier(
    place: &dyn Place,
    repository: &Repository,
    release: &Release,
    component: &[u8],
) -> Result<Vec<Release>, RegistryError> {
    let all = releases(place, &release.package)?.into_iter();
    let range: Vec<Release> = all.filter(|other| same_range(&other.version, &release.version)).collect();
    if range.len() > PRIORS_LIMIT {
        let (limit, found) = (PRIORS_LIMIT as u64, range.len() as u64);
        return Err(Refusal::TooMany { what: "releases of one range", limit, found }.into());
    }
    let mut compared = Vec::new();
    for prior in range {
        let Some(raw) = place.resolve(repository, &tag(&prior)?)? else { continue };
        let (content, size) = Manifest::read(&raw.bytes)?.component()?;
        let other = fetch::component(place, repository, content, size)?;
        let is_earlier = prior.version < release.version;
        let (older, newer) = if is_earlier { (other.as_slice(), component) } else { (component, other.as_slice()) };
        if let Err(reason) = compat::check(older, newer) {
            let (release, prior) = if is_earlier { (release.clone(), prior) } else { (prior, release.clone()) };
            return Err(Refusal::Incompatible { release, prior, reason }.into());
        }
        compared.push(prior);
    }
    Ok(compared)
}
