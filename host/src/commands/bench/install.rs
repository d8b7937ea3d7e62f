//! Rows about installing: 5 MB from a registry on this machine, with hashes and signature and without compiling it.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use loopwright_contract::digest::ContentDigest;
use loopwright_registry::attack::{Answer, Request, Server, honest, padded_component};
use loopwright_registry::fetch::{Judge, fetch};
use loopwright_registry::install::install;
use loopwright_registry::key::SecretKey;
use loopwright_registry::lock::Lock;
use loopwright_registry::moment::Moment;
use loopwright_registry::name::Release;
use loopwright_registry::place::{self, HttpLimits, Place, Plain};
use loopwright_registry::publish::{self, Signer};
use loopwright_registry::reference::Address;
use loopwright_registry::store::Store;
use loopwright_registry::trust::Trust;

use loopwright_testkit::guests::hostile::neighbours;

use super::costs::Row;
use super::measure::{beside, row_beside, timed};

pub(super) const FOLDER: &str = "install 5 MB from a folder, hashes and signature";
pub(super) const SERVER: &str = "install 5 MB over HTTP of this machine";
const AIM: &str = "<= 40 ms";

/// The component's size.
const COMPONENT_BYTES: u32 = 5_000_000;
/// A fixed time, within what the policy allows.
const NOW_SECONDS: u64 = 1_796_000_000;

/// What an operator has before anything is installed.
struct Customer {
    trust: Trust,
    now: Moment,
    release: Release,
}

/// Both rows. The floor is the least that can be done with the bytes: they are hashed twice, as they come and as they are installed.
pub(super) fn rows(samples: usize) -> anyhow::Result<Vec<Row>> {
    let shelf = tempfile::tempdir()?;
    let address = Address::Folder(shelf.path().to_owned());
    let folder = place::open(&address, HttpLimits::default(), Plain::Loopback)?;
    let bytes = component()?;
    let customer = publish(folder.as_ref(), &bytes)?;
    let server = Server::start(remembering(address))?;
    let over_http = place::open(&server.address().parse()?, HttpLimits::default(), Plain::Loopback)?;
    [(FOLDER, &folder), (SERVER, &over_http)]
        .into_iter()
        .map(|(name, place)| {
            let sampled = beside(
                samples,
                || once(place.as_ref(), &customer),
                || {
                    timed(|| {
                        black_box((ContentDigest::of(black_box(&bytes)), ContentDigest::of(black_box(&bytes))));
                        Ok(())
                    })
                },
            )?;
            Ok(row_beside(name, AIM, &sampled))
        })
        .collect()
}

fn component() -> anyhow::Result<Vec<u8>> {
    let [(_, mut bytes), ..] = neighbours()?;
    // The filler is a custom section; what stands before it in its own component is the head.
    bytes.extend(padded_component(COMPONENT_BYTES, b'x').into_iter().skip(8));
    Ok(bytes)
}

fn publish(place: &dyn Place, bytes: &[u8]) -> anyhow::Result<Customer> {
    let key = SecretKey::from_random(&[1; 32]);
    let now = Moment::from_seconds(NOW_SECONDS).context("the time is none")?;
    let release: Release = "acme:notes@1.0.0".parse()?;
    publish::push(place, &release, bytes, Signer { key: &key, now })?;
    let policy = format!("version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"{}\"\n", key.id());
    let trust = Trust::parse(&policy).map_err(anyhow::Error::msg)?;
    Ok(Customer { trust, now, release })
}

/// From nothing to an installed component, with the lock file written. The folder is made and removed outside of the time.
fn once(place: &dyn Place, customer: &Customer) -> anyhow::Result<Duration> {
    let folder = tempfile::tempdir()?;
    timed(|| installed(place, customer, folder.path()))
}

fn installed(place: &dyn Place, customer: &Customer, folder: &Path) -> anyhow::Result<()> {
    let Customer { trust, now, release } = customer;
    let store = Store::open(folder.join("store"))?;
    let mut lock = Lock::default();
    let fetched = fetch(place, &store, release, Judge { trust, now: *now }, &mut lock)?;
    install(&folder.join("plugins"), &fetched, false)?;
    lock.set(fetched.locked);
    Ok(lock.write(&folder.join("loopwright.lock"))?)
}

/// An honest server that reads each answer from the folder once: what it costs to make an answer is no part of installing.
fn remembering(address: Address) -> loopwright_registry::attack::Script {
    let answers: Mutex<BTreeMap<String, Answer>> = Mutex::default();
    Arc::new(move |request: &Request| {
        let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.entry(request.path.clone()).or_insert_with(|| honest(&address, request)).clone()
    })
}
