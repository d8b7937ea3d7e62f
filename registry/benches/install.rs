//! What it costs to install a component of 5 MB from a registry on this machine, with hashes and signature and without compiling it.
//!
//! Aim: 40 ms. The registry is `docker-registry` where that is installed; a folder of image layouts is measured beside it, and so are the two
//! hashes alone, which nothing can be faster than.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a bench that cannot run ends"
)]

#[path = "../tests/registry/docker.rs"]
mod docker;

use std::{hint::black_box, path::Path};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loopwright_contract::digest::ContentDigest;
use loopwright_registry::{
    attack::padded_component,
    fetch::{Judge, fetch},
    install::install,
    key::SecretKey,
    lock::Lock,
    moment::Moment,
    place::{self, HttpLimits, Place, Plain},
    publish::{self, Signer},
    store::Store,
    trust::Trust,
};

/// The size of the component.
const COMPONENT_BYTES: u32 = 5_000_000;

/// A tool plugin without code: an empty instance under the interface's name, and filler.
fn component() -> Vec<u8> {
    let mut bytes =
        wat::parse_str(r#"(component (instance $i) (export "loopwright:afv/tool@0.1.0" (instance $i)))"#).unwrap();
    bytes.extend_from_slice(&padded_component(COMPONENT_BYTES, b'x')[8..]);
    bytes
}

fn installs(criterion: &mut Criterion, name: &str, place: &dyn Place) {
    let key = SecretKey::from_random(&[1; 32]);
    let now = Moment::from_seconds(1_796_000_000).unwrap();
    let release = "acme:notes@1.0.0".parse().unwrap();
    publish::push(place, &release, &component(), Signer { key: &key, now }).unwrap();
    let policy = format!("version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"{}\"\n", key.id());
    let trust = Trust::parse(&policy).unwrap();
    let once = |folder: &Path| {
        let store = Store::open(folder.join("store")).unwrap();
        let mut lock = Lock::default();
        let fetched = fetch(place, &store, &release, Judge { trust: &trust, now }, &mut lock).unwrap();
        install(&folder.join("plugins"), &fetched, false).unwrap();
        lock.set(fetched.locked);
        lock.write(&folder.join("loopwright.lock")).unwrap();
    };
    let fresh = || tempfile::tempdir().unwrap();
    criterion.bench_function(name, |bencher| {
        bencher.iter_batched(
            fresh,
            |folder| {
                once(folder.path());
                folder
            },
            BatchSize::PerIteration,
        )
    });
}

fn bench(criterion: &mut Criterion) {
    if let Some(docker) = docker::Docker::start() {
        installs(criterion, "install 5 MB from docker-registry", docker.place().as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    let address = format!("oci:{}", folder.path().display()).parse().unwrap();
    let place = place::open(&address, HttpLimits::default(), Plain::Loopback).unwrap();
    installs(criterion, "install 5 MB from a folder", place.as_ref());
    let bytes = component();
    criterion.bench_function("hash 5 MB twice", |bencher| {
        bencher.iter(|| (ContentDigest::of(black_box(&bytes)), ContentDigest::of(black_box(&bytes))));
    });
}

criterion_group!(benches, bench);
criterion_main!(benches);
