//! Whether a component keeps what an earlier release of the same range promised. Types are compared, not what tools say of themselves: that
//! needs an engine.
//!
//! For a plugin the newer may export more and import less, never the other way round: an import is something that every host of the range has
//! to grant, so one more of it is a change that operators must see in the version.

use wit_component::{DecodedWasm, decode, semver_check};
use wit_parser::{Resolve, WorldId};

/// A component as types.
struct World {
    resolve: Resolve,
    world: WorldId,
}

/// Says what `newer` breaks of what `older` promised.
///
/// # Errors
/// The first difference that breaks a promise, or why one of the two cannot be read.
pub fn check(older: &[u8], newer: &[u8]) -> Result<(), String> {
    let older = World::read(older).map_err(|reason| format!("the earlier release cannot be compared: {reason}"))?;
    let newer = World::read(newer)?;
    compare_names(&older, &newer)?;
    // The newer has to fit wherever the older did: it takes the place of what is instantiated, the older that of what is expected.
    let (resolve, was, now) = join(older, newer).map_err(|reason| format!("types cannot be compared: {reason}"))?;
    semver_check(resolve, now, was).map_err(|error| format!("a type changed: {error:#}"))
}

impl World {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        match decode(bytes).map_err(|error| format!("not a component that can be read: {error:#}"))? {
            DecodedWasm::Component(resolve, world) => Ok(Self { resolve, world }),
            DecodedWasm::WitPackage(..) => Err("expected a component, found a package of interfaces".to_owned()),
        }
    }

    /// Names of imports or exports, each with the part of its version that compatibility is promised for.
    fn names(&self, exports: bool) -> Vec<String> {
        let Some(world) = self.resolve.worlds.get(self.world) else { return Vec::new() };
        let items = if exports { &world.exports } else { &world.imports };
        items.keys().map(|key| without_patch(&self.resolve.name_world_key(key))).collect()
    }
}

/// `a:b/c@1.2.3` as `a:b/c@1`: linking joins versions of one range.
fn without_patch(name: &str) -> String {
    let Some((interface, version)) = name.rsplit_once('@') else { return name.to_owned() };
    match semver::Version::parse(version) {
        Ok(version) if !version.pre.is_empty() => name.to_owned(),
        Ok(version) if version.major > 0 => format!("{interface}@{}", version.major),
        Ok(version) if version.minor > 0 => format!("{interface}@0.{}", version.minor),
        _ => name.to_owned(),
    }
}

fn compare_names(older: &World, newer: &World) -> Result<(), String> {
    let missing = |of: &[String], from: &[String]| -> Vec<String> {
        of.iter().filter(|name| !from.contains(name)).cloned().collect()
    };
    let added = missing(&newer.names(false), &older.names(false));
    if !added.is_empty() {
        return Err(format!("it imports more: {}", added.join(", ")));
    }
    let gone = missing(&older.names(true), &newer.names(true));
    if !gone.is_empty() {
        return Err(format!("it no longer exports {}", gone.join(", ")));
    }
    Ok(())
}

/// Both in one set of types. Packages of the older get a version of their own first, or the two would be taken for one; the comparison itself
/// looks at no version.
fn join(older: World, newer: World) -> Result<(Resolve, WorldId, WorldId), String> {
    let World { resolve: mut old, world: was } = older;
    let World { resolve: mut both, world: now } = newer;
    let mark = semver::BuildMetadata::new("earlier").map_err(|error| error.to_string())?;
    for (_, package) in old.packages.iter_mut() {
        let version = package.name.version.get_or_insert(semver::Version::new(0, 0, 0));
        version.build = mark.clone();
    }
    old.package_names = old.packages.iter().map(|(id, package)| (package.name.clone(), id)).collect();
    let remap = both.merge(old).map_err(|error| format!("{error:#}"))?;
    let was = remap.map_world(was, wit_parser::Span::default()).map_err(|error| error.to_string())?;
    Ok((both, was, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component whose world is that of the text, with functions that do nothing.
    fn component(world: &str) -> Vec<u8> {
        let mut resolve = Resolve::default();
        let package = resolve.push_str("test.wit", world).unwrap();
        let world = resolve.select_world(&[package], Some("plugin")).unwrap();
        let mut module = wit_component::dummy_module(&resolve, world, wit_parser::ManglingAndAbi::Standard32);
        wit_component::embed_component_metadata(&mut module, &resolve, world, wit_component::StringEncoding::UTF8)
            .unwrap();
        wit_component::ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
    }

    fn wit(version: &str, world: &str) -> Vec<u8> {
        component(&format!(
            "package a:b@{version};
             interface log {{ write: func(text: string); }}
             interface clock {{ now: func() -> u64; }}
             interface tool {{ record answer {{ text: string }} call: func(name: string) -> answer; }}
             interface more {{ extra: func() -> u32; }}
             world plugin {{ {world} }}"
        ))
    }

    #[test]
    fn the_rule_is_fewer_imports_and_more_exports() {
        let base = wit("1.0.0", "import log; export tool;");
        for (newer, broken) in [
            (wit("1.0.0", "import log; export tool;"), None),
            (wit("1.1.0", "import log; export tool;"), None),
            (wit("1.0.0", "export tool;"), None),
            (wit("1.0.0", "import log; export tool; export more;"), None),
            (wit("1.0.0", "import log; import clock; export tool;"), Some("imports more: a:b/clock@1")),
            (wit("1.0.0", "import log; export more;"), Some("no longer exports a:b/tool@1")),
            (wit("2.0.0", "import log; export tool;"), Some("imports more: a:b/log@2")),
        ] {
            let found = check(&base, &newer);
            match broken {
                None => assert_eq!(found, Ok(())),
                Some(part) => assert!(found.clone().is_err_and(|reason| reason.contains(part)), "{part}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_changed_type_breaks() {
        let with = |record: &str, parameter: &str| {
            component(&format!(
                "package a:b@0.1.0; interface tool {{ record answer {{ {record} }} call: func(name: {parameter}) -> answer; }} world plugin {{ export tool; }}"
            ))
        };
        let base = with("text: string", "string");
        assert_eq!(check(&base, &with("text: string", "string")), Ok(()));
        for newer in [with("text: string, code: u8", "string"), with("text: string", "u32")] {
            assert!(check(&base, &newer).is_err_and(|reason| reason.contains("a type changed")));
        }
    }

    #[test]
    fn what_is_no_component_is_said() {
        let good = wit("1.0.0", "export tool;");
        assert!(check(&good, b"no").is_err());
        assert!(check(b"no", &good).is_err_and(|reason| reason.contains("earlier")));
    }

    #[test]
    fn versions_are_compared_by_what_they_promise() {
        for (name, expected) in [
            ("a:b/c@1.2.3", "a:b/c@1"),
            ("a:b/c@0.2.3", "a:b/c@0.2"),
            ("a:b/c@0.0.3", "a:b/c@0.0.3"),
            ("a:b/c@1.0.0-rc.1", "a:b/c@1.0.0-rc.1"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_patch(name), expected);
        }
    }
}
