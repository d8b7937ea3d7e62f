//! The same story on every kind of place.

use std::{collections::BTreeSet, path::Path};

use loopwright_contract::{digest::BlobDigest, episode::PluginKind};
use loopwright_registry::{
    Index, RegistryError,
    credentials::Credentials,
    fetch::{Judge, fetch, fetch_locked, look},
    install::install,
    key::SecretKey,
    lock::Lock,
    moment::Moment,
    name::Release,
    place::{self, HttpLimits, Place, PlaceError, Plain},
    publish::{self, Signer, releases},
    reference::Tag,
    refusal::Refusal,
    store::Store,
    trust::Trust,
};

use crate::docker::Docker;

pub(crate) fn now() -> Moment {
    Moment::from_seconds(1_796_000_000).unwrap()
}

pub(crate) fn key() -> SecretKey {
    SecretKey::from_random(&[1; 32])
}

pub(crate) fn release(text: &str) -> Release {
    text.parse().unwrap()
}

pub(crate) fn trust(keys: &[&SecretKey]) -> Trust {
    let keys: String = keys.iter().map(|key| format!("[[namespace.key]]\nid = \"{}\"\n", key.id())).collect();
    Trust::parse(&format!("version = 1\n[[namespace]]\nname = \"acme\"\n{keys}")).unwrap()
}

/// A component with the world that a plugin of the text has.
pub(crate) fn component(world: &str, filler: &str) -> Vec<u8> {
    let mut resolve = wit_parser::Resolve::default();
    let wit = format!(
        "package loopwright:afv@0.1.0;
         interface log {{ write: func(text: string); }}
         interface state-write {{ put: func(text: string); }}
         interface tool {{ call: func(name: string) -> string; }}
         world plugin {{ {world} }}"
    );
    let package = resolve.push_str("test.wit", &wit).unwrap();
    let world = resolve.select_world(&[package], Some("plugin")).unwrap();
    let mut module = wit_component::dummy_module(&resolve, world, wit_parser::ManglingAndAbi::Standard32);
    wit_component::embed_component_metadata(&mut module, &resolve, world, wit_component::StringEncoding::UTF8).unwrap();
    let mut bytes = wit_component::ComponentEncoder::default().module(&module).unwrap().encode().unwrap();
    let section = [&[filler.len() as u8 + 4, 3], b"pad".as_slice(), filler.as_bytes()].concat();
    bytes.push(0);
    bytes.extend(section);
    bytes
}

pub(crate) const LOGS: &str = "import log; export tool;";

/// Runs a story on a folder and, where there is one, on a real server.
fn on_every_place(story: fn(&dyn Place, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("oci:{}", folder.path().join("mirror").display()).parse().unwrap();
    story(place::open(&address, HttpLimits::default(), Plain::Loopback).unwrap().as_ref(), folder.path());
    if let Some(docker) = Docker::start() {
        let folder = tempfile::tempdir().unwrap();
        story(docker.place().as_ref(), folder.path());
    }
}

#[test]
fn a_release_goes_from_hand_to_folder() {
    on_every_place(|place, folder| {
        let (key, bytes) = (key(), component(LOGS, "a"));
        let signer = Signer { key: &key, now: now() };
        let wanted = release("acme:notes@1.0.0");
        let published = publish::push(place, &wanted, &bytes, signer).unwrap();
        let (store, mut lock) = (Store::open(folder.join("store")).unwrap(), Lock::default());
        let trust = trust(&[&key]);
        let judge = Judge { trust: &trust, now: now() };

        let fetched = fetch(place, &store, &wanted, judge, &mut lock).unwrap();
        assert_eq!(fetched.component, bytes);
        assert_eq!((fetched.locked.manifest, fetched.locked.content), (published.manifest, published.content));
        assert_eq!(fetched.locked.signer, key.id());
        assert_eq!(fetched.inspection.kind, Some(PluginKind::Tool));

        let plugins = folder.join("plugins");
        let installed = install(&plugins, &fetched, false).unwrap();
        assert_eq!((installed.name.as_str(), installed.replaced.as_deref()), ("notes", None));
        let index = Index::open(&plugins).unwrap();
        let entry = index.find("notes").unwrap();
        assert_eq!(entry.package.as_ref().unwrap().to_string(), "acme:notes");
        assert_eq!(index.load(entry).unwrap().bytes, bytes);

        lock.set(fetched.locked);
        assert_eq!(fetch_locked(&store, &wanted, judge, &lock).unwrap().component, bytes);
        // Again, also from the registry: nothing moved.
        assert_eq!(fetch(place, &store, &wanted, judge, &mut lock).unwrap().component, bytes);
    });
}

#[test]
fn a_newer_release_takes_the_place_of_the_older_and_of_no_other_package() {
    on_every_place(|place, folder| {
        let (key, store) = (key(), Store::open(folder.join("store")).unwrap());
        let (trust, plugins) = (trust(&[&key]), folder.join("plugins"));
        let mut lock = Lock::default();
        let mut pull = |text: &str, filler: &str, replace: bool| {
            let (wanted, bytes) = (release(text), component(LOGS, filler));
            publish::push(place, &wanted, &bytes, Signer { key: &key, now: now() }).unwrap();
            let fetched = fetch(place, &store, &wanted, Judge { trust: &trust, now: now() }, &mut lock).unwrap();
            let installed = install(&plugins, &fetched, replace);
            lock.set(fetched.locked);
            installed
        };
        pull("acme:notes@1.0.0", "a", false).unwrap();
        assert_eq!(pull("acme:notes@1.1.0", "b", false).unwrap().replaced.as_deref(), Some("1.0.0"));
        let files = || {
            std::fs::read_dir(folder.join("plugins"))
                .unwrap()
                .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "wasm"))
                .count()
        };
        assert_eq!(files(), 1);
        // Another origin of the same name.
        let text = std::fs::read_to_string(plugins.join("index.json")).unwrap();
        std::fs::write(plugins.join("index.json"), text.replace("acme:notes", "other:notes")).unwrap();
        assert!(matches!(pull("acme:notes@1.2.0", "c", false), Err(RegistryError::Refused(Refusal::NameTaken { .. }))));
        assert_eq!(pull("acme:notes@1.2.0", "c", true).unwrap().replaced.as_deref(), Some("1.1.0"));
        assert_eq!(Index::open(&plugins).unwrap().entries().len(), 1);
    });
}

#[test]
fn a_release_is_published_once() {
    on_every_place(|place, _| {
        let (key, wanted) = (key(), release("acme:notes@1.0.0"));
        let signer = Signer { key: &key, now: now() };
        let first = publish::push(place, &wanted, &component(LOGS, "a"), signer).unwrap();
        let later = Signer { now: Moment::from_seconds(1_796_000_100).unwrap(), ..signer };
        assert_eq!(publish::push(place, &wanted, &component(LOGS, "a"), later).unwrap().manifest, first.manifest);
        let other = publish::push(place, &wanted, &component(LOGS, "b"), signer);
        assert!(matches!(other, Err(RegistryError::Refused(Refusal::Published { .. }))));
        assert!(matches!(
            publish::sign(place, &wanted, &component(LOGS, "b"), signer),
            Err(RegistryError::Refused(Refusal::Published { .. }))
        ));
    });
}

#[test]
fn an_added_import_needs_a_version_that_says_so() {
    on_every_place(|place, _| {
        let key = key();
        let push = |text: &str, world: &str| {
            publish::push(place, &release(text), &component(world, "a"), Signer { key: &key, now: now() })
        };
        push("acme:notes@1.0.0", LOGS).unwrap();
        let more = "import log; import state-write; export tool;";
        let error = push("acme:notes@1.1.0", more).unwrap_err();
        assert!(matches!(error, RegistryError::Refused(Refusal::Incompatible { .. })));
        assert!(error.to_string().contains("imports more: loopwright:afv/state-write@0.1"), "{error}");
        push("acme:notes@2.0.0", more).unwrap();
        assert_eq!(push("acme:notes@1.1.0", "export tool;").unwrap().compared, [release("acme:notes@1.0.0")]);
        // What 1.1.0 no longer imports, a release before it may still have had, but none after it.
        assert!(push("acme:notes@1.2.0", LOGS).is_err());
        assert_eq!(releases(place, &"acme:notes".parse().unwrap()).unwrap().len(), 3);
    });
}

#[test]
fn keys_rotate() {
    on_every_place(|place, folder| {
        let (old, new) = (key(), SecretKey::from_random(&[2; 32]));
        let (wanted, bytes) = (release("acme:notes@1.0.0"), component(LOGS, "a"));
        publish::push(place, &wanted, &bytes, Signer { key: &old, now: now() }).unwrap();
        let (store, only_new) = (Store::open(folder.join("store")).unwrap(), trust(&[&new]));
        let judge = Judge { trust: &only_new, now: now() };
        let before = fetch(place, &store, &wanted, judge, &mut Lock::default());
        assert!(matches!(before, Err(RegistryError::Refused(Refusal::Untrusted { .. }))));
        publish::sign(place, &wanted, &bytes, Signer { key: &new, now: now() }).unwrap();
        assert_eq!(fetch(place, &store, &wanted, judge, &mut Lock::default()).unwrap().locked.signer, new.id());
        let only_old = trust(&[&old]);
        let judge = Judge { trust: &only_old, now: now() };
        assert_eq!(fetch(place, &store, &wanted, judge, &mut Lock::default()).unwrap().locked.signer, old.id());
    });
}

#[test]
fn a_yank_stops_new_installs_and_not_old_ones() {
    on_every_place(|place, folder| {
        let (key, wanted) = (key(), release("acme:notes@1.0.0"));
        let signer = Signer { key: &key, now: now() };
        publish::push(place, &wanted, &component(LOGS, "a"), signer).unwrap();
        let (store, trust) = (Store::open(folder.join("store")).unwrap(), trust(&[&key]));
        let judge = Judge { trust: &trust, now: now() };
        let mut old = Lock::default();
        let fetched = fetch(place, &store, &wanted, judge, &mut old).unwrap();
        old.set(fetched.locked);

        // A stranger's word counts for nothing.
        let stranger = Signer { key: &SecretKey::from_random(&[9; 32]), now: now() };
        publish::yank(place, &wanted, "because I say so".parse().unwrap(), stranger).unwrap();
        assert!(!fetch(place, &store, &wanted, judge, &mut Lock::default()).unwrap().yanked);

        publish::yank(place, &wanted, "leaks phone numbers".parse().unwrap(), signer).unwrap();
        let mut new = Lock::default();
        let refused = fetch(place, &store, &wanted, judge, &mut new);
        assert!(matches!(refused, Err(RegistryError::Refused(Refusal::Yanked { .. }))));
        assert_eq!(new.yanked().len(), 1, "the lock remembers it");
        assert!(fetch(place, &store, &wanted, judge, &mut old).unwrap().yanked);
        assert_eq!(
            look(place, &wanted, judge, &mut Lock::default()).unwrap().yanked.as_deref(),
            Some("leaks phone numbers")
        );
    });
}

#[test]
fn statements_stand_under_the_tag_of_the_fall_back() {
    let Some(docker) = Docker::start() else { return };
    let (place, key, wanted) = (docker.place(), key(), release("acme:notes@1.0.0"));
    let published =
        publish::push(place.as_ref(), &wanted, &component(LOGS, "a"), Signer { key: &key, now: now() }).unwrap();
    let repository = place.address().repository(&wanted.package).unwrap();
    let tags: Vec<String> = place.tags(&repository).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(tags, ["1.0.0".to_owned(), Tag::of_referrers(&published.manifest).to_string()]);
    assert_eq!(releases(place.as_ref(), &wanted.package).unwrap(), [wanted]);
}

#[test]
fn what_is_not_there_is_said() {
    on_every_place(|place, folder| {
        let (store, trust) = (Store::open(folder.join("store")).unwrap(), trust(&[&key()]));
        let judge = Judge { trust: &trust, now: now() };
        let error = fetch(place, &store, &release("acme:gone@1.0.0"), judge, &mut Lock::default()).unwrap_err();
        assert!(error.to_string().contains("`acme:gone@1.0.0` is not at"), "{error}");
        assert!(releases(place, &"acme:gone".parse().unwrap()).unwrap().is_empty());
    });
    let nobody = place::open(&"127.0.0.1:1".parse().unwrap(), HttpLimits::default(), Plain::Loopback).unwrap();
    let error = releases(nobody.as_ref(), &"acme:gone".parse().unwrap()).unwrap_err();
    assert!(error.to_string().contains("no answer from 127.0.0.1:1"), "{error}");
}

#[test]
fn plain_http_is_for_this_machine_unless_the_operator_says_otherwise() {
    let open = |plain| place::open(&"http://registry.invalid".parse().unwrap(), HttpLimits::default(), plain);
    assert!(open(Plain::Loopback).is_err_and(|error| error.to_string().contains("--plain-http")));
    assert!(open(Plain::Anywhere).is_ok());
}

#[test]
fn a_server_with_a_password_lets_in_whoever_has_it() {
    let Some(docker) = Docker::start_private() else { return };
    let (key, wanted, bytes) = (key(), release("acme:notes@1.0.0"), component(LOGS, "a"));
    let signer = Signer { key: &key, now: now() };
    let knowing = |auth: &str| {
        let file = format!(r#"{{"auths":{{"{}":{{"auth":"{auth}"}}}}}}"#, docker.address);
        docker.place_as(&Credentials::parse(&file, "config.json").unwrap())
    };
    let refused = |place: &dyn Place| match publish::push(place, &wanted, &bytes, signer) {
        Err(RegistryError::Place(PlaceError::Denied { reason, .. })) => reason,
        other => panic!("{other:?}"),
    };
    assert!(refused(docker.place().as_ref()).contains("none were given"));
    // `alice:close sesame` and `alice:open sesame`
    assert!(refused(knowing("YWxpY2U6Y2xvc2Ugc2VzYW1l").as_ref()).contains("not accepted"));
    let place = knowing("YWxpY2U6b3BlbiBzZXNhbWU=");
    publish::push(place.as_ref(), &wanted, &bytes, signer).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let (store, trust) = (Store::open(folder.path()).unwrap(), trust(&[&key]));
    let judge = Judge { trust: &trust, now: now() };
    assert_eq!(fetch(place.as_ref(), &store, &wanted, judge, &mut Lock::default()).unwrap().component, bytes);
    assert!(fetch(docker.place().as_ref(), &store, &wanted, judge, &mut Lock::default()).is_err());
}

#[test]
fn collection_keeps_what_lock_and_index_name() {
    on_every_place(|place, folder| {
        let (key, wanted) = (key(), release("acme:notes@1.0.0"));
        publish::push(place, &wanted, &component(LOGS, "a"), Signer { key: &key, now: now() }).unwrap();
        let (store, trust) = (Store::open(folder.join("store")).unwrap(), trust(&[&key]));
        let judge = Judge { trust: &trust, now: now() };
        let mut lock = Lock::default();
        let fetched = fetch(place, &store, &wanted, judge, &mut lock).unwrap();
        lock.set(fetched.locked);
        store.put("blob", b"nobody names this").unwrap();
        let collected = store.collect(|| Ok(lock.blobs()), false).unwrap();
        assert_eq!((collected.kept, collected.removed), (3, 1));
        assert!(fetch_locked(&store, &wanted, judge, &lock).is_ok());
        let content = BTreeSet::from([BlobDigest::from(lock.locked()[0].content)]);
        assert_eq!(store.collect(|| Ok(content), false).unwrap().removed, 2);
        assert!(fetch_locked(&store, &wanted, judge, &lock).is_err());
    });
}
