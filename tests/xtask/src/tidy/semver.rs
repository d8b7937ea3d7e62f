//! Compatibility of the WIT package with the last surface that was released.

use std::fs;
use std::path::Path;

use ::semver::Version;
use anyhow::{Context, Result};
use wit_parser::{PackageId, Resolve, WorldId};

use super::{Problem, contract};

/// A surface that plugins in the field were built against.
pub(super) struct Released {
    /// Its version.
    pub(super) version: Version,
    text: String,
}

/// The newest of the released surfaces, `VERSION.wit` each; `None` before the first release.
pub(super) fn latest(folder: &Path) -> Result<Option<Released>> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(None);
    };
    let mut newest: Option<Released> = None;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let version = Version::parse(&name)
            .with_context(|| format!("expected a name like 0.1.0.wit, found `{}`", path.display()))?;
        if newest.as_ref().is_none_or(|known| known.version < version) {
            newest = Some(Released { version, text: fs::read_to_string(&path)? });
        }
    }
    Ok(newest)
}

/// Where the present surface breaks what was promised with the released one.
///
/// A host of the present surface must run plugins of the released one, so for each world the released one is the
/// older side and the present one the newer. (For a plugin's own package the two change places.)
pub(super) fn problems(released: &Released, surface: &str) -> Result<Vec<Problem>> {
    let present = parse(surface)?;
    let now = present.version().context("the WIT package has no version")?;
    if now == released.version {
        return same_version(released, &present);
    }
    if now < released.version {
        let message = format!("expected a version above the released {}, found {now}", released.version);
        return Ok(vec![Problem::new("wit", message)]);
    }
    if !compatible(&released.version, &now) {
        return Ok(Vec::new());
    }
    let mut problems = Vec::new();
    for world in parse(&released.text)?.world_names() {
        if let Err(error) = check_world(&released.text, surface, &world) {
            problems.push(Problem::new(
                format!("wit: {world}"),
                format!("{now} breaks plugins built for {}: {error:#}", released.version),
            ));
        }
    }
    Ok(problems)
}

/// Within a version nothing but docs may change.
fn same_version(released: &Released, present: &Parsed) -> Result<Vec<Problem>> {
    if parse(&released.text)?.without_docs()? == present.without_docs()? {
        return Ok(Vec::new());
    }
    let message = format!("{} is released and cannot change; step the version of the package", released.version);
    Ok(vec![Problem::new("wit", message)])
}

/// Whether cargo's rule promises compatibility between two versions: same major, or same minor below 1.0.
fn compatible(old: &Version, new: &Version) -> bool {
    match (old.major, old.minor) {
        (0, 0) => (old.major, old.minor, old.patch) == (new.major, new.minor, new.patch),
        (0, _) => (old.major, old.minor) == (new.major, new.minor),
        _ => old.major == new.major,
    }
}

/// Both surfaces side by side, one world of each.
fn check_world(released: &str, present: &str, world: &str) -> Result<()> {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    let old = resolve.push_str("released.wit", released)?;
    let new = resolve.push_str("present.wit", present)?;
    let old = find_world(&resolve, old, world)?;
    let new = find_world(&resolve, new, world).context("the world is gone")?;
    wit_component::semver_check(resolve, old, new)
}

fn find_world(resolve: &Resolve, package: PackageId, world: &str) -> Result<WorldId> {
    let package = resolve.packages.get(package).context("the package was just read")?;
    package.worlds.get(world).copied().with_context(|| format!("no world `{world}`"))
}

struct Parsed {
    resolve: Resolve,
    package: PackageId,
}

fn parse(text: &str) -> Result<Parsed> {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    let package = resolve.push_str("surface.wit", text)?;
    Ok(Parsed { resolve, package })
}

impl Parsed {
    fn version(&self) -> Option<Version> {
        self.resolve.packages.get(self.package)?.name.version.clone()
    }

    fn world_names(&self) -> Vec<String> {
        let package = self.resolve.packages.get(self.package);
        package.map(|package| package.worlds.keys().cloned().collect()).unwrap_or_default()
    }

    fn without_docs(&self) -> Result<String> {
        contract::print(&self.resolve, self.package, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "package test:t@0.1.0;
        interface log { write: func(text: string); }
        interface tool { call: func(name: string) -> string; }
        world plugin { import log; export tool; }";

    fn check(new: &str) -> Vec<String> {
        let released = Released { version: Version::new(0, 1, 0), text: OLD.to_owned() };
        problems(&released, new).unwrap().into_iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn a_host_may_offer_more() {
        let more = OLD
            .replace("0.1.0", "0.1.1")
            .replace("import log;", "import log; import clock;")
            .replace("interface tool", "interface clock { now: func() -> u64; } interface tool");
        assert_eq!(check(&more), [""; 0]);
    }

    #[test]
    fn a_host_may_not_take_away_or_change() {
        let newer = OLD.replace("0.1.0", "0.1.1");
        for (from, to) in [
            ("import log; ", ""),
            ("write: func(text: string)", "write: func(text: string, level: u8)"),
            ("call: func(name: string) -> string", "call: func(name: string) -> u32"),
            ("world plugin", "world plug"),
        ] {
            let broken = newer.replace(from, to);
            assert_ne!(broken, newer, "{from}");
            let found = check(&broken);
            assert_eq!(found.len(), 1, "{from}");
            assert!(found.first().unwrap().contains("breaks plugins built for 0.1.0"), "{found:?}");
        }
    }

    #[test]
    fn a_released_version_does_not_change() {
        assert_eq!(check(OLD), [""; 0]);
        assert_eq!(check(&OLD.replace("interface log", "/// Docs may.\ninterface log")), [""; 0]);
        assert_eq!(check(&OLD.replace("-> string", "-> u32")).len(), 1);
    }

    #[test]
    fn an_older_version_is_refused_and_a_new_line_is_free() {
        assert_eq!(check(&OLD.replace("0.1.0", "0.0.9")).len(), 1);
        assert_eq!(check(&OLD.replace("0.1.0", "0.2.0").replace("-> string", "-> u32")), [""; 0]);
    }

    #[test]
    fn the_newest_release_counts_by_number() {
        let folder = tempfile::tempdir().unwrap();
        assert!(latest(&folder.path().join("none")).unwrap().is_none());
        for version in ["0.2.0", "0.10.0", "0.9.3"] {
            fs::write(folder.path().join(format!("{version}.wit")), OLD).unwrap();
        }
        assert_eq!(latest(folder.path()).unwrap().unwrap().version, Version::new(0, 10, 0));
        fs::write(folder.path().join("draft.wit"), OLD).unwrap();
        assert!(latest(folder.path()).is_err());
    }
}
