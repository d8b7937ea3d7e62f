//! Whatever reads, writes back the same; and nothing that is thrown at a parser ends it.

use loopwright_contract::digest::{BlobDigest, ContentDigest, ManifestDigest, RequestDigest};
use loopwright_registry::{
    INDEX_FILE, Index,
    envelope::Envelope,
    key::{KeyId, SecretKey},
    lock::{Lock, Locked, Yanked},
    moment::Moment,
    name::{Package, Release},
    oci::{Descriptor, ImageIndex, Manifest},
    reference::{Address, Reference, Repository, Tag},
    statement::{Act, Reason, Statement},
    trust::Trust,
};
use proptest::prelude::*;

const KEBAB: &str = "[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8}){0,2}";

fn release() -> impl Strategy<Value = Release> {
    (KEBAB, KEBAB, any::<(u16, u16, u16)>(), prop::option::of("[a-z]{1,4}(\\.[1-9][0-9]{0,3})?")).prop_map(
        |(namespace, name, (major, minor, patch), pre)| {
            let pre = pre.map(|pre| format!("-{pre}")).unwrap_or_default();
            format!("{namespace}:{name}@{major}.{minor}.{patch}{pre}").parse().unwrap()
        },
    )
}

prop_compose! {
    fn statement()(
        release in release(),
        digests in any::<([u8; 32], [u8; 32], [u8; 32])>(),
        seconds in 0_u64..253_402_207_200,
        reason in prop::option::of("[!-~é😀]{1,60}"),
    ) -> Statement {
        Statement {
            act: reason.map_or(Act::Publish, |reason| Act::Yank { reason: reason.parse().unwrap() }),
            release,
            content: ContentDigest(digests.0),
            manifest: ManifestDigest(digests.1),
            request: RequestDigest(digests.2),
            issued: Moment::from_seconds(seconds).unwrap(),
        }
    }
}

prop_compose! {
    fn locked()(statement in statement(), random: [u8; 32], source in "[ -~\n\"]{0,40}") -> Locked {
        let Statement { release, manifest, content, request, issued, .. } = statement;
        let signer = SecretKey::from_random(&random).id();
        Locked { release, manifest, content, request, signer, issued, envelope: BlobDigest(random), source }
    }
}

/// Text that is nearly what is expected, so that more than the first check is met.
fn nearly(good: &'static str) -> impl Strategy<Value = String> {
    (0..good.len(), 0..good.len(), "\\PC{0,6}").prop_map(move |(from, to, insert)| {
        let (from, to) = (from.min(to), from.max(to));
        let bytes = [&good.as_bytes()[..from], insert.as_bytes(), &good.as_bytes()[to..]].concat();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        nearly(include_str!("../golden/publish.statement")),
        nearly(include_str!("../golden/loopwright.lock")),
        nearly(include_str!("../golden/publish.envelope.json")),
        nearly(
            "https://registry.example:5000/acme/notes@sha256:0000000000000000000000000000000000000000000000000000000000000000"
        ),
        nearly(
            "version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c\"\n"
        ),
    ]
}

proptest! {
    #[test]
    fn releases_read_back(release in release()) {
        prop_assert_eq!(release.to_string().parse(), Ok(release.clone()));
        prop_assert!(Tag::of(&release.version).is_ok());
        let package = release.package;
        prop_assert!("host.example".parse::<Address>().unwrap().repository(&package).is_ok());
    }

    #[test]
    fn references_read_back(host in "[a-z]{1,8}(\\.[a-z]{1,8}){0,2}|127\\.0\\.0\\.1|\\[::1\\]", port in prop::option::of(1_u16..), secure: bool, repository in "[a-z0-9]{1,4}(/[a-z0-9]{1,4}){0,3}", digest in prop::option::of(any::<[u8; 32]>()), tag in "[a-zA-Z0-9_][a-zA-Z0-9._-]{0,20}") {
        let scheme = if secure { "https" } else { "http" };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let at = digest.map_or(format!(":{tag}"), |digest| format!("@{}", ManifestDigest(digest)));
        let reference: Reference = format!("{scheme}://{host}{port}/{repository}{at}").parse().unwrap();
        prop_assert_eq!(reference.to_string().parse(), Ok(reference));
    }

    #[test]
    fn statements_read_back(statement in statement()) {
        let text = statement.to_string();
        prop_assert_eq!(text.parse(), Ok(statement.clone()));
        let key = SecretKey::from_random(&[7; 32]);
        let envelope = Envelope::sign(statement, &[&key]);
        prop_assert!(envelope.is_signed_by(&key.id()));
        prop_assert_eq!(Envelope::read(envelope.write().as_bytes()), Ok(envelope));
    }

    #[test]
    fn locks_read_back(locked in prop::collection::vec(locked(), 0..4)) {
        let mut lock = Lock::default();
        for locked in locked {
            let Locked { release, manifest, signer, issued, .. } = locked.clone();
            lock.note_yank(Yanked { release, manifest, reason: "why".to_owned(), signer, issued });
            lock.set(locked);
        }
        let text = lock.write_text().unwrap();
        prop_assert_eq!(Lock::parse(&text), Ok(lock));
    }

    #[test]
    fn manifests_read_back(size: u32, media_type in "[ -~]{0,40}", content: [u8; 32]) {
        let layer = Descriptor { media_type, digest: BlobDigest(content), size: size.into(), ..Descriptor::of("", b"") };
        let subject = Descriptor::of("a", b"b");
        let manifest = Manifest::of_envelope(layer, subject);
        prop_assert_eq!(Manifest::read(&manifest.write()), Ok(manifest));
    }

    #[test]
    fn no_text_ends_a_parser(text in any_text()) {
        // What reads has one form.
        if let Ok(statement) = text.parse::<Statement>() {
            prop_assert_eq!(statement.to_string(), text.clone());
        }
        if let Ok(release) = text.parse::<Release>() {
            prop_assert_eq!(release.to_string().parse(), Ok(release));
        }
        if let Ok(reference) = text.parse::<Reference>() {
            prop_assert_eq!(reference.to_string().parse(), Ok(reference));
        }
        if let Ok(address) = text.parse::<Address>() {
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }
        let _ = (text.parse::<Package>(), text.parse::<Repository>(), text.parse::<Tag>(), text.parse::<KeyId>());
        let _ = (text.parse::<Reason>(), text.parse::<Moment>(), Trust::parse(&text));
        if let Ok(lock) = Lock::parse(&text) {
            prop_assert_eq!(Lock::parse(&lock.write_text().unwrap()), Ok(lock));
        }
    }

    #[test]
    fn no_bytes_end_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (Envelope::read(&bytes), Manifest::read(&bytes), ImageIndex::read(&bytes));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(INDEX_FILE), &bytes).unwrap();
        let _ = Index::open(folder.path());
    }
}
