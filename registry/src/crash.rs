//! Moments between two steps of a pull at which the machine may stop. In the product they are nothing; in tests a process of their own is killed at
//! each of them, and what it leaves is looked at. It does not know what the steps are for.

/// A moment at which everything may end.
#[cfg(not(test))]
pub(crate) const fn point(_: &'static str) {}

#[cfg(test)]
pub(crate) use tests::point;

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        io::{BufRead as _, BufReader, Read as _, Write as _},
        path::Path,
        process::{Child, Command, Stdio},
        sync::atomic::{AtomicUsize, Ordering},
    };

    use loopwright_contract::digest::BlobDigest;

    use crate::{
        COMPONENT_BYTES_LIMIT, Index, RegistryError,
        attack::padded_component,
        fetch::{Judge, fetch, fetch_locked},
        install::install,
        key::SecretKey,
        lock::{LOCK_FILE, Lock},
        moment::Moment,
        name::Release,
        place::{self, HttpLimits, Place, Plain},
        publish::{self, Signer},
        store::Store,
        trust::Trust,
    };

    /// Names the folder that the child works in.
    const FOLDER: &str = "LOOPWRIGHT_TEST_CRASH_FOLDER";
    /// The number of the point at which the child waits to be killed; beyond the last, it is not.
    const AT: &str = "LOOPWRIGHT_TEST_CRASH_AT";
    const CHILD: &str = "crash::tests::a_pull_in_a_process_of_its_own";
    /// More points than a pull has.
    const NEVER: usize = 1_000;

    static PASSED: AtomicUsize = AtomicUsize::new(0);

    /// Says that it was passed, and in the child waits for the end when it is the one to end at.
    #[expect(clippy::disallowed_methods, reason = "how the parent tells its child where to end")]
    pub(crate) fn point(name: &'static str) {
        let Some(at) = std::env::var(AT).ok().and_then(|at| at.parse::<usize>().ok()) else { return };
        // Where the child's own pull begins is where it counts from.
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        let mut out = std::io::stdout();
        writeln!(out, "\nPOINT {number} {name}").and_then(|()| out.flush()).unwrap();
        if number == at {
            // Nobody writes there: it ends when the process does.
            let _ = std::io::stdin().read(&mut [0]);
            std::process::exit(1);
        }
    }

    /// A component that a folder takes as a plugin, in more than one chunk.
    fn component(filler: u8) -> Vec<u8> {
        let tool = r#"(component (instance $i) (export "loopwright:afv/tool@0.1.0" (instance $i)))"#;
        let mut bytes = wat::parse_str(tool).unwrap();
        bytes.extend_from_slice(&padded_component(70_000, filler)[8..]);
        bytes
    }

    fn now() -> Moment {
        Moment::from_seconds(1_796_000_000).unwrap()
    }

    fn key() -> SecretKey {
        SecretKey::from_random(&[1; 32])
    }

    fn trust() -> Trust {
        let key = key().id();
        Trust::parse(&format!("version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"{key}\"\n"))
            .unwrap()
    }

    fn release(version: u8) -> Release {
        format!("acme:notes@{version}.0.0").parse().unwrap()
    }

    fn mirror(folder: &Path) -> Box<dyn Place> {
        let address = format!("oci:{}", folder.join("mirror").display()).parse().unwrap();
        place::open(&address, HttpLimits::default(), Plain::Loopback).unwrap()
    }

    /// What `registry pull` does.
    fn pull(folder: &Path, release: &Release) -> Result<(), RegistryError> {
        let plugins = folder.join("plugins");
        let lock_path = plugins.join(LOCK_FILE);
        let store = Store::open(folder.join("store"))?;
        let _guard = Lock::guard(&lock_path)?;
        let _hold = store.hold()?;
        let mut lock = Lock::read(&lock_path)?;
        let judge = Judge { trust: &trust(), now: now() };
        let fetched = fetch(mirror(folder).as_ref(), &store, release, judge, &mut lock)?;
        install(&plugins, &fetched, false)?;
        lock.set(fetched.locked);
        lock.write(&lock_path)
    }

    /// Two releases on the mirror, and the older one installed.
    fn prepare() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let key = key();
        for version in [1, 2] {
            let signer = Signer { key: &key, now: now() };
            publish::push(mirror(folder.path()).as_ref(), &release(version), &component(version), signer).unwrap();
        }
        pull(folder.path(), &release(1)).unwrap();
        folder
    }

    /// What the test below starts, once for each point; by itself it has nothing to do.
    #[test]
    fn a_pull_in_a_process_of_its_own() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        pull(Path::new(&folder), &release(2)).unwrap();
    }

    /// Starts the child, and returns the points that it passed; killed at the one that was asked for.
    fn run_child(folder: &Path, at: usize) -> Vec<String> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", CHILD, "--nocapture", "--test-threads=1"]);
        command.env(FOLDER, folder).env(AT, at.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut points = Vec::new();
        for line in out.lines() {
            let line = line.unwrap();
            let Some(point) = line.strip_prefix("POINT ") else { continue };
            points.push(point.split_once(' ').unwrap().1.to_owned());
            if points.len() == at {
                kill(&mut child);
                return points;
            }
        }
        assert!(child.wait().unwrap().success(), "the pull failed by itself after {points:?}");
        points
    }

    /// `kill -9`: no destructor runs, and nothing is written any more.
    fn kill(child: &mut Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What the folder has: the version that is installed and the one that is locked, each whole.
    fn look(folder: &Path) -> (u64, u64) {
        let plugins = folder.join("plugins");
        let index = Index::open(&plugins).unwrap();
        let entry = index.find("notes").unwrap();
        let version = entry.version.major;
        assert_eq!(index.load(entry).unwrap().bytes, component(u8::try_from(version).unwrap()));
        let store = Store::open(folder.join("store")).unwrap();
        let lock = Lock::read(&plugins.join(LOCK_FILE)).unwrap();
        let locked = lock.locked()[0].release.clone();
        let judge = Judge { trust: &trust(), now: now() };
        let fetched = fetch_locked(&store, &locked, judge, &lock).unwrap();
        assert_eq!(fetched.component, component(u8::try_from(locked.version.major).unwrap()));
        for entry in std::fs::read_dir(folder.join("store/blobs/sha256")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let digest: BlobDigest = format!("sha256:{name}").parse().unwrap();
            assert!(store.load("blob", &digest, COMPONENT_BYTES_LIMIT).unwrap().is_some());
        }
        (version, locked.version.major)
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_pull_that_is_killed_leaves_one_release_whole_and_the_next_pull_ends_well() {
        let whole = prepare();
        let points = run_child(whole.path(), NEVER);
        assert_eq!(look(whole.path()), (2, 2));
        for step in
            ["part of a blob", "half a part", "a component that no index names", "an installation that the lock"]
        {
            assert!(points.iter().any(|point| point.starts_with(step)), "{step}: {points:?}");
        }
        let mut seen = Vec::new();
        for at in 1..=points.len() {
            let folder = prepare();
            assert_eq!(run_child(folder.path(), at), points[..at]);
            seen.push(look(folder.path()));
            pull(folder.path(), &release(2)).unwrap();
            assert_eq!(look(folder.path()), (2, 2), "after {}", points[at - 1]);
            // Nothing of the first attempt is left beside the plugins, and what is left in the store is collected.
            assert_eq!(names(&folder.path().join("plugins")), names(&whole.path().join("plugins")));
            let lock = Lock::read(&folder.path().join("plugins").join(LOCK_FILE)).unwrap();
            let store = Store::open(folder.path().join("store")).unwrap();
            store.collect(|| Ok(lock.blobs()), false).unwrap();
            assert_eq!(names(&folder.path().join("store/parts")), BTreeSet::new());
            assert_eq!(look(folder.path()), (2, 2));
        }
        // First the index, then the lock file, and never back.
        assert!(seen.is_sorted(), "{seen:?}");
        seen.dedup();
        assert_eq!(seen, [(1, 1), (2, 1), (2, 2)]);
    }
}
