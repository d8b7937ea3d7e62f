//! `registry`: publishes, fetches, lists and withdraws plugins, and keeps the local store small.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use loopwright_contract::digest::BlobDigest;
use loopwright_contract::plain;
use loopwright_registry::credentials::{Credentials, Login};
use loopwright_registry::fetch::{Fetched, Judge, fetch, fetch_locked, look};
use loopwright_registry::install::install;
use loopwright_registry::key::SecretKey;
use loopwright_registry::lock::{LOCK_FILE, Lock};
use loopwright_registry::moment::Moment;
use loopwright_registry::name::Package;
use loopwright_registry::place::{self, HttpLimits, Place, PlaceError, Plain};
use loopwright_registry::publish::{self, Published, Signer, releases};
use loopwright_registry::reference::{Address, Server};
use loopwright_registry::refusal::Refusal;
use loopwright_registry::store::Store;
use loopwright_registry::trust::Trust;
use loopwright_registry::{COMPONENT_BYTES_LIMIT, INDEX_FILE, Index, RegistryError};
use serde_json::json;

use super::consent::{self, Arrival};
use crate::cli::Shared;
use crate::cli_registry::{LocalArgs, PlaceArgs, PullArgs, RegistryCommand, SignArgs, YankArgs};
use crate::exit::{Exit, NotInstalled};
use crate::output;
use crate::table::{Align, cut, render};

/// Runs it. What is refused is told with its reason and ends with 1, what is not there with 3.
///
/// # Errors
/// Bad arguments and bad files.
pub fn registry(shared: &Shared, command: &RegistryCommand) -> anyhow::Result<Exit> {
    let done = match command {
        RegistryCommand::Keygen { file } => keygen(shared, file),
        RegistryCommand::Push(args) => push(shared, args),
        RegistryCommand::Sign(args) => sign(shared, args),
        RegistryCommand::Pull(args) => pull(shared, args),
        RegistryCommand::List { package, trust, place, local } => match package {
            Some(package) => list_package(shared, package, trust.as_deref(), place, local),
            None => list_installed(shared, local),
        },
        RegistryCommand::Yank(args) => yank(shared, args),
        RegistryCommand::Gc { local, dry_run } => gc(shared, local, *dry_run),
    };
    done.or_else(|error| refused(shared, error))
}

/// Turns a refusal into the exit code that says so.
fn refused(shared: &Shared, error: anyhow::Error) -> anyhow::Result<Exit> {
    let missing = |error: &RegistryError| {
        matches!(
            error,
            RegistryError::Place(
                PlaceError::NotThere { .. } | PlaceError::Unreachable { .. } | PlaceError::TimedOut { .. }
            )
        )
    };
    match error.downcast_ref::<RegistryError>() {
        Some(RegistryError::Refused(refusal)) => {
            if shared.json {
                output::json(&json!({"refused": refusal.to_string()}));
            }
            output::problem(&error);
            Ok(Exit::Differs)
        }
        Some(found) if missing(found) => Err(NotInstalled(found.to_string()).into()),
        _ => Err(error),
    }
}

#[expect(clippy::disallowed_methods, reason = "the edge: this is where the machine's clock is read, and passed on")]
fn now() -> anyhow::Result<Moment> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    Moment::from_seconds(seconds)
        .ok_or_else(|| anyhow::anyhow!("this machine's clock says {seconds} s after 1970, which is no date"))
}

fn open(args: &PlaceArgs) -> anyhow::Result<Box<dyn Place>> {
    let Some(address) = &args.at else {
        anyhow::bail!("no registry is named\nhint: name one with --at ADDRESS, or in LOOPWRIGHT_REGISTRY");
    };
    let address: Address = address.parse()?;
    let plain = if args.plain_http { Plain::Anywhere } else { Plain::Loopback };
    let login = match &address {
        Address::Server { server, .. } => login(args, server)?,
        Address::Folder(_) => Login::default(),
    };
    Ok(place::open_as(&address, HttpLimits::default(), plain, login)?)
}

/// Who this machine is to a server.
fn login(args: &PlaceArgs, server: &Server) -> anyhow::Result<Login> {
    let named = args.credentials.clone();
    let Some(path) = named.clone().or_else(|| docker_config(|name| std::env::var_os(name))) else {
        return with_tokens(args, Login::default());
    };
    let login = match Credentials::read(&path)? {
        Some(credentials) => credentials.login(server).map_err(anyhow::Error::msg)?,
        None if named.is_some() => {
            anyhow::bail!(
                "credentials file `{}`: there is no such file\nhint: `docker login` writes one",
                path.display()
            )
        }
        None => Login::default(),
    };
    with_tokens(args, login)
}

fn with_tokens(args: &PlaceArgs, login: Login) -> anyhow::Result<Login> {
    match args.token_server.as_deref().map(str::parse).transpose()? {
        None => Ok(login),
        Some(Address::Server { server, prefix: None }) => Ok(login.with_token_server(server)),
        Some(other) => anyhow::bail!("--token-server `{other}`: expected `[https://]HOST[:PORT]`"),
    }
}

/// Where `docker login` leaves what it was told.
fn docker_config(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("DOCKER_CONFIG").or_else(|| set("HOME").map(|home| home.join(".docker")))?;
    Some(folder.join("config.json"))
}

fn component(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file =
        File::open(path).map_err(|error| anyhow::anyhow!("component `{}` cannot be read: {error}", path.display()))?;
    let mut bytes = Vec::new();
    // One more byte than allowed is enough for the registry to refuse it.
    file.take(COMPONENT_BYTES_LIMIT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn keygen(shared: &Shared, file: &Path) -> anyhow::Result<Exit> {
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let key = SecretKey::from_random(&random);
    key.save(file)?;
    if shared.json {
        output::json(&json!({"key": key.id(), "file": file}));
        return Ok(Exit::Good);
    }
    output::line(key.id());
    output::note(format_args!("the secret half is in `{}`: keep it, and show it to nobody", file.display()));
    Ok(Exit::Good)
}

fn tell(shared: &Shared, verb: &str, published: &Published) -> anyhow::Result<Exit> {
    if shared.json {
        output::json(published);
        return Ok(Exit::Good);
    }
    output::line(format_args!(
        "{verb} {}\nmanifest {}\ncontent  {}\nrequest  {}\nsigner   {}",
        published.release, published.manifest, published.content, published.request, published.signer
    ));
    for prior in &published.compared {
        output::line(format_args!("compatible with {prior}"));
    }
    Ok(Exit::Good)
}

fn push(shared: &Shared, args: &SignArgs) -> anyhow::Result<Exit> {
    let (bytes, key) = (component(&args.file)?, SecretKey::load(&args.key)?);
    let signer = Signer { key: &key, now: now()? };
    tell(shared, "published", &publish::push(open(&args.place)?.as_ref(), &args.release, &bytes, signer)?)
}

fn sign(shared: &Shared, args: &SignArgs) -> anyhow::Result<Exit> {
    let (bytes, key) = (component(&args.file)?, SecretKey::load(&args.key)?);
    let signer = Signer { key: &key, now: now()? };
    tell(shared, "signed", &publish::sign(open(&args.place)?.as_ref(), &args.release, &bytes, signer)?)
}

fn yank(shared: &Shared, args: &YankArgs) -> anyhow::Result<Exit> {
    let key = SecretKey::load(&args.key)?;
    let signer = Signer { key: &key, now: now()? };
    let reason = args.reason.parse()?;
    tell(shared, "yanked", &publish::yank(open(&args.place)?.as_ref(), &args.release, reason, signer)?)
}

/// The folder of plugins, and its lock file.
fn places<'a>(shared: &'a Shared, local: &'a LocalArgs) -> (&'a Path, PathBuf) {
    let folder = local.into.as_deref().unwrap_or(&shared.plugins);
    (folder, local.lock.clone().unwrap_or_else(|| folder.join(LOCK_FILE)))
}

fn pull(shared: &Shared, args: &PullArgs) -> anyhow::Result<Exit> {
    let (folder, lock_path) = places(shared, &args.local);
    let trust = Trust::read(&args.trust)?;
    let store = Store::open(&args.local.store)?;
    let _guard = Lock::guard(&lock_path)?;
    let mut lock = Lock::read(&lock_path)?;
    let judge = Judge { trust: &trust, now: now()? };
    let _hold = store.hold()?;
    let fetched = if args.offline {
        fetch_locked(&store, &args.release, judge, &lock)
    } else {
        let before = lock.clone();
        let fetched = fetch(open(&args.place)?.as_ref(), &store, &args.release, judge, &mut lock);
        if lock != before {
            // A yank that was seen stays known, whatever became of the pull.
            lock.write(&lock_path)?;
        }
        fetched
    }?;
    // Grants lie beside the plugins that they are for.
    let beside = Shared { plugins: folder.to_owned(), ..shared.clone() };
    let arrival = consent::arrival(&beside, &fetched, args.grant)?;
    stays(folder, &fetched, &arrival)?;
    let installed = install(folder, &fetched, args.replace)?;
    lock.set(fetched.locked.clone());
    lock.write(&lock_path)?;
    if fetched.yanked {
        output::note(format_args!(
            "warning: `{}` was yanked; it is kept because it was installed before",
            args.release
        ));
    }
    let locked = &fetched.locked;
    let Arrival { decision, lacks } = &arrival;
    if shared.json {
        output::json(
            &json!({"installed": installed, "locked": locked, "yanked": fetched.yanked, "imports": fetched.inspection.imports, "asks": fetched.inspection.request.capabilities.to_list(), "granted": decision.effective.to_list(), "decided": decision.standing, "lacks": lacks}),
        );
        return Ok(Exit::Good);
    }
    output::line(format_args!("installed {} as {}", locked.release, folder.join(&installed.file).display()));
    if let Some(replaced) = &installed.replaced {
        output::line(format_args!("in the place of version {replaced}"));
    }
    output::line(format_args!(
        "manifest {}\ncontent  {}\nrequest  {}\nsigner   {}",
        locked.manifest, locked.content, locked.request, locked.signer
    ));
    let asked = fetched.inspection.request.capabilities.lines();
    for line in &asked {
        output::line(format_args!("asks to   {}", plain::Plain(line)));
    }
    if !asked.is_empty() {
        output::line(format_args!(
            "granted   {} of {}: {}",
            asked.len().saturating_sub(decision.denied.len()),
            asked.len(),
            decision.standing
        ));
    }
    if !decision.denied.is_empty() {
        let name = &locked.release.package.name;
        let out = if lacks.is_empty() { "" } else { ", without which it is left out" };
        output::note(format_args!(
            "hint: `loopwright plugin explain {name}` says more, `loopwright plugin grant {name}` grants what it asks for{out}"
        ));
    }
    Ok(Exit::Good)
}

/// A release that would be left out for want of a grant does not take the place of one that serves.
fn stays(folder: &Path, fetched: &Fetched, arrival: &Arrival) -> Result<(), RegistryError> {
    let release = &fetched.locked.release;
    if arrival.lacks.is_empty() || !folder.join(INDEX_FILE).exists() {
        return Ok(());
    }
    let index = Index::open(folder)?;
    let serves = index.entries().iter().find(|entry| entry.package.as_ref() == Some(&release.package));
    let Some(serves) = serves.filter(|entry| entry.version != release.version) else { return Ok(()) };
    let asks = fetched.inspection.request.capabilities.lines().join(", ");
    let (release, serves, lacks) = (release.to_string(), serves.version.to_string(), arrival.lacks.join("`, `"));
    Err(Refusal::Ungranted { release, serves, lacks, asks }.into())
}

fn list_installed(shared: &Shared, local: &LocalArgs) -> anyhow::Result<Exit> {
    let (_, lock_path) = places(shared, local);
    let lock = Lock::read(&lock_path)?;
    if shared.json {
        output::json(&json!({"locked": lock.locked(), "yanked": lock.yanked()}));
        return Ok(Exit::Good);
    }
    let rows: Vec<Vec<String>> = lock
        .locked()
        .iter()
        .map(|locked| {
            let yanked = lock.yank_of(&locked.release).map(|yank| format!("yanked: {}", cut(&yank.reason, 60)));
            vec![
                locked.release.to_string(),
                short(&locked.manifest.to_string()),
                short(&locked.signer.to_string()),
                yanked.unwrap_or_default(),
            ]
        })
        .collect();
    output::print(render(
        &[("release", Align::Left), ("manifest", Align::Left), ("signer", Align::Left), ("", Align::Left)],
        &rows,
    ));
    Ok(Exit::Good)
}

fn list_package(
    shared: &Shared,
    package: &Package,
    trust: Option<&Path>,
    place: &PlaceArgs,
    local: &LocalArgs,
) -> anyhow::Result<Exit> {
    let place = open(place)?;
    let trust = match trust {
        Some(path) => Trust::read(path)?,
        None => Trust::default(),
    };
    let (_, lock_path) = places(shared, local);
    let _guard = Lock::guard(&lock_path)?;
    let mut lock = Lock::read(&lock_path)?;
    let before = lock.clone();
    let judge = Judge { trust: &trust, now: now()? };
    let releases = releases(place.as_ref(), package)?;
    if releases.is_empty() {
        return Err(NotInstalled(format!("no version of `{package}` is at {}", place.address())).into());
    }
    let mut rows = Vec::new();
    for release in releases {
        rows.push((look(place.as_ref(), &release, judge, &mut lock)?, release));
    }
    if lock != before {
        // A yank that was seen stays known.
        lock.write(&lock_path)?;
    }
    if shared.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(seen, release)| json!({"release": release, "manifest": seen.manifest, "signer": seen.signer.as_ref().ok(), "doubt": seen.signer.as_ref().err(), "yanked": seen.yanked}))
            .collect();
        output::json(&rows);
        return Ok(Exit::Good);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(seen, release)| {
            let signer = seen
                .signer
                .as_ref()
                .map_or_else(|doubt| format!("untrusted: {}", cut(doubt, 80)), |key| short(&key.to_string()));
            let yanked = seen.yanked.as_ref().map(|reason| format!("yanked: {}", cut(reason, 60)));
            vec![release.to_string(), short(&seen.manifest.to_string()), signer, yanked.unwrap_or_default()]
        })
        .collect();
    output::print(render(
        &[("release", Align::Left), ("manifest", Align::Left), ("signer", Align::Left), ("", Align::Left)],
        &cells,
    ));
    Ok(Exit::Good)
}

/// The first twelve digits of a digest or a key.
fn short(text: &str) -> String {
    let digits = text.split_once(':').map_or(text, |(_, digits)| digits);
    digits.chars().take(12).collect()
}

fn gc(shared: &Shared, local: &LocalArgs, dry_run: bool) -> anyhow::Result<Exit> {
    let (folder, lock_path) = places(shared, local);
    let keep = || {
        let mut keep = Lock::read(&lock_path)?.blobs();
        match Index::open(folder) {
            Ok(index) => keep.extend(index.entries().iter().map(|entry| BlobDigest::from(entry.digest))),
            Err(RegistryError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(keep)
    };
    let collected = Store::open(&local.store)?.collect(keep, dry_run)?;
    if shared.json {
        output::json(
            &json!({"kept": collected.kept, "removed": collected.removed, "removed_bytes": collected.removed_bytes, "dry_run": dry_run}),
        );
        return Ok(Exit::Good);
    }
    let verb = if dry_run { "would remove" } else { "removed" };
    output::line(format_args!(
        "{verb} {} blobs of {} KiB, kept {}",
        collected.removed,
        collected.removed_bytes / 1024,
        collected.kept
    ));
    Ok(Exit::Good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_where_docker_leaves_them() {
        let find = |known: &[(&str, &str)]| {
            docker_config(|name| known.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).into()))
        };
        assert_eq!(find(&[("HOME", "there")]), Some("there/.docker/config.json".into()));
        assert_eq!(find(&[("HOME", "there"), ("DOCKER_CONFIG", "elsewhere")]), Some("elsewhere/config.json".into()));
        assert_eq!(find(&[("HOME", "there"), ("DOCKER_CONFIG", "")]), Some("there/.docker/config.json".into()));
        assert_eq!(find(&[]), None);
    }
}
