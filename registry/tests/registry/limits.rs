//! Limits that no honest release comes near, each at its last good value and one beyond.

use std::{path::Path, sync::Arc};

use loopwright_registry::{
    ENTRIES_LIMIT, INDEX_FILE, Index, RegistryError,
    attack::{Answer, Request, Server},
    fetch::{Fetched, Judge, STATEMENTS_LIMIT, fetch},
    install::install,
    key::SecretKey,
    lock::Lock,
    oci::{ImageIndex, REF_NAME},
    place::{self, HttpLimits, Place, Plain, TAGS_PAGES_LIMIT},
    publish::{self, PRIORS_LIMIT, Published, Signer},
    refusal::Refusal,
    store::Store,
};

use crate::releases::{LOGS, component, key, now, release, trust};

fn mirror(folder: &Path) -> Box<dyn Place> {
    let address = format!("oci:{}", folder.join("mirror").display()).parse().unwrap();
    place::open(&address, HttpLimits::default(), Plain::Loopback).unwrap()
}

fn push(folder: &Path, version: &str) -> Result<Published, RegistryError> {
    let signer = Signer { key: &key(), now: now() };
    publish::push(mirror(folder).as_ref(), &release(&format!("acme:notes@{version}")), &component(LOGS, "a"), signer)
}

fn pull(folder: &Path) -> Result<Fetched, RegistryError> {
    let (store, trust) = (Store::open(folder.join("store")).unwrap(), trust(&[&key()]));
    let judge = Judge { trust: &trust, now: now() };
    fetch(mirror(folder).as_ref(), &store, &release("acme:notes@1.0.0"), judge, &mut Lock::default())
}

fn too_many<T>(result: Result<T, RegistryError>) -> Option<(u64, u64)> {
    match result {
        Err(RegistryError::Refused(Refusal::TooMany { limit, found, .. })) => Some((limit, found)),
        _ => None,
    }
}

#[test]
fn a_list_of_tags_has_an_end() {
    let tags = |pages: usize| {
        let page = move |request: &Request| {
            let before = request.path.split_once("last=t").and_then(|(_, number)| number.parse::<usize>().ok());
            let number = before.map_or(1, |before| before + 1);
            let answer = Answer::of(200, format!("{{\"tags\":[\"t{number}\"]}}"));
            if number < pages { answer.with("Link", "</v2/next>; rel=\"next\"") } else { answer }
        };
        let server = Server::start(Arc::new(page)).unwrap();
        let address = server.address().parse().unwrap();
        let place = place::open(&address, HttpLimits::default(), Plain::Loopback).unwrap();
        place.tags(&"acme/notes".parse().unwrap())
    };
    assert_eq!(tags(TAGS_PAGES_LIMIT).unwrap().len(), TAGS_PAGES_LIMIT);
    let limit = TAGS_PAGES_LIMIT as u64;
    assert_eq!(too_many(tags(TAGS_PAGES_LIMIT + 1)), Some((limit, limit + 1)));
}

/// Lets so many versions of one range name the same manifest.
fn crowd(folder: &Path, versions: usize) {
    let path = folder.join("mirror/acme/notes/index.json");
    let mut index = ImageIndex::read(&std::fs::read(&path).unwrap()).unwrap();
    let named = index.manifests.iter().find(|one| one.annotations.contains_key(REF_NAME)).unwrap().clone();
    for patch in 1..versions {
        let mut other = named.clone();
        other.annotations.insert(REF_NAME.to_owned(), format!("1.0.{patch}"));
        index.manifests.push(other);
    }
    std::fs::write(&path, index.write()).unwrap();
}

#[test]
fn a_release_is_compared_with_so_many_earlier_ones() {
    let limit = PRIORS_LIMIT as u64;
    for (versions, beyond) in [(PRIORS_LIMIT, None), (PRIORS_LIMIT + 1, Some((limit, limit + 1)))] {
        let folder = tempfile::tempdir().unwrap();
        push(folder.path(), "1.0.0").unwrap();
        crowd(folder.path(), versions);
        let pushed = push(folder.path(), "1.1.0");
        if beyond.is_none() {
            assert_eq!(pushed.as_ref().unwrap().compared.len(), PRIORS_LIMIT);
        }
        assert_eq!(too_many(pushed), beyond);
    }
}

#[test]
fn so_many_statements_about_a_release_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    push(folder.path(), "1.0.0").unwrap();
    let sign = |by: usize| {
        let stranger = SecretKey::from_random(&[u8::try_from(by).unwrap() + 100; 32]);
        let signer = Signer { key: &stranger, now: now() };
        let wanted = release("acme:notes@1.0.0");
        publish::sign(mirror(folder.path()).as_ref(), &wanted, &component(LOGS, "a"), signer).unwrap();
    };
    (1..STATEMENTS_LIMIT).for_each(sign);
    assert_eq!(pull(folder.path()).unwrap().locked.signer, key().id());
    sign(STATEMENTS_LIMIT);
    let limit = STATEMENTS_LIMIT as u64;
    assert_eq!(too_many(pull(folder.path())), Some((limit, limit + 1)));
}

#[test]
fn an_index_that_is_full_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    push(folder.path(), "1.0.0").unwrap();
    let fetched = pull(folder.path()).unwrap();
    let full = |entries: usize| {
        let plugins = tempfile::tempdir().unwrap();
        let entry = |number: usize| {
            format!(
                r#"{{"name":"p{number}","version":"1.0.0","kind":"tool","file":"p{number}.wasm","sha256":"{}","size":1}}"#,
                "0".repeat(64)
            )
        };
        let entries: Vec<String> = (0..entries).map(entry).collect();
        std::fs::write(plugins.path().join(INDEX_FILE), format!("[{}]", entries.join(","))).unwrap();
        let before = std::fs::read(plugins.path().join(INDEX_FILE)).unwrap();
        (plugins, before)
    };
    let (room, _) = full(ENTRIES_LIMIT - 1);
    install(room.path(), &fetched, false).unwrap();
    assert_eq!(Index::open(room.path()).unwrap().entries().len(), ENTRIES_LIMIT);

    let (none, before) = full(ENTRIES_LIMIT);
    let error = install(none.path(), &fetched, false).unwrap_err();
    assert!(error.to_string().contains("at most 4096 entries, found 4097"), "{error}");
    assert_eq!(std::fs::read(none.path().join(INDEX_FILE)).unwrap(), before);
    let components = std::fs::read_dir(none.path()).unwrap();
    assert!(components.into_iter().all(|entry| !entry.unwrap().file_name().to_string_lossy().ends_with(".wasm")));
}
