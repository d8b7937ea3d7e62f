//! The WIT package: every item documented and dated, its surface equal to the golden file, no broken promise.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wit_component::WitPrinter;
use wit_parser::{Docs, Interface, PackageId, Resolve, Stability, TypeDef, TypeDefKind, TypeOwner};

use super::{Problem, semver};
use crate::file;

/// The surface as it was last reviewed.
const GOLDEN: &str = "tests/golden/wit/afv.wit";

/// Surfaces that were released, `VERSION.wit` each.
const RELEASED: &str = "tests/golden/wit/released";

/// What the checks of the WIT package found.
#[derive(Default)]
pub(super) struct Surface {
    /// Broken rules.
    pub(super) problems: Vec<Problem>,
    /// Worth knowing.
    pub(super) notes: Vec<String>,
}

/// Checks the package under `wit/`.
pub(super) fn problems(root: &Path) -> Result<Surface> {
    let (resolve, package) = read(root)?;
    let surface = print(&resolve, package, true)?;
    let golden = fs::read_to_string(root.join(GOLDEN)).unwrap_or_default();
    let mut found = Surface { problems: documented(&resolve, package), notes: Vec::new() };
    found.problems.extend(compare(&golden, &surface));
    match semver::latest(&root.join(RELEASED))? {
        None => {
            found.notes.push("no surface of the WIT package is released yet: nothing to be compatible with".to_owned())
        }
        Some(released) => {
            found.notes.push(format!("WIT package compared with the released {}", released.version));
            found.problems.extend(semver::problems(&released, &surface)?);
        }
    }
    Ok(found)
}

/// Writes the golden file anew.
pub(super) fn bless(root: &Path) -> Result<()> {
    let (resolve, package) = read(root)?;
    file::write(&root.join(GOLDEN), print(&resolve, package, true)?.as_bytes())?;
    eprintln!("tidy: wrote {GOLDEN}; review it as a change of the contract");
    Ok(())
}

fn read(root: &Path) -> Result<(Resolve, PackageId)> {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    let (package, _) = resolve.push_dir(root.join("wit")).context("the WIT package does not parse")?;
    Ok((resolve, package))
}

/// The surface in one text, with or without its docs.
pub(super) fn print(resolve: &Resolve, package: PackageId, docs: bool) -> Result<String> {
    let mut printer = WitPrinter::default();
    printer.emit_docs(docs).print(resolve, package, &[])?;
    let mut text = String::from(printer.output);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn compare(golden: &str, surface: &str) -> Option<Problem> {
    let mut pairs = (1..).zip(golden.lines().chain(std::iter::repeat("(nothing)")).zip(surface.lines()));
    if golden == surface {
        return None;
    }
    let first = pairs.find(|(_, (old, new))| old != new);
    let (line, old, new) = first.map_or((0, "more lines", "the end"), |(line, (old, new))| (line, old, new));
    Some(Problem::new(
        format!("{GOLDEN}:{line}"),
        format!(
            "the contract changed: expected `{}`, found `{}`; run `cargo xtask tidy --bless` and step the version if it was released",
            old.trim(),
            new.trim()
        ),
    ))
}

/// Items without docs or without a version.
fn documented(resolve: &Resolve, package: PackageId) -> Vec<Problem> {
    let mut check = Check { resolve, problems: Vec::new() };
    let Some(package) = resolve.packages.get(package) else {
        return check.problems;
    };
    check.docs(&package.name.to_string(), &package.docs);
    for (name, id) in &package.worlds {
        if let Some(world) = resolve.worlds.get(*id) {
            check.item(name, &world.docs, &world.stability);
        }
    }
    for (name, id) in &package.interfaces {
        if let Some(interface) = resolve.interfaces.get(*id) {
            check.item(name, &interface.docs, &interface.stability);
            check.interface(name, interface);
        }
    }
    check.problems
}

struct Check<'a> {
    resolve: &'a Resolve,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn docs(&mut self, name: &str, docs: &Docs) {
        if docs.contents.as_deref().unwrap_or_default().trim().is_empty() {
            self.problems
                .push(Problem::new(format!("wit: {name}"), "no docs; say what it is, its units and its limits"));
        }
    }

    fn item(&mut self, name: &str, docs: &Docs, stability: &Stability) {
        self.docs(name, docs);
        if stability.is_unknown() {
            self.problems.push(Problem::new(format!("wit: {name}"), "no version; add `@since(version = ...)`"));
        }
    }

    fn interface(&mut self, name: &str, interface: &Interface) {
        for (item, function) in &interface.functions {
            self.item(&format!("{name}.{item}"), &function.docs, &function.stability);
        }
        for (item, id) in &interface.types {
            if let Some(definition) = self.resolve.types.get(*id)
                && !self.is_used_from_elsewhere(definition)
            {
                let place = format!("{name}.{item}");
                self.item(&place, &definition.docs, &definition.stability);
                self.parts(&place, &definition.kind);
            }
        }
    }

    /// `use other.{name}` makes an alias, which has its docs where it was defined.
    fn is_used_from_elsewhere(&self, definition: &TypeDef) -> bool {
        let TypeDefKind::Type(wit_parser::Type::Id(target)) = definition.kind else {
            return false;
        };
        let target = self.resolve.types.get(target);
        target.is_some_and(|target| matches!(target.owner, TypeOwner::Interface(_)) && target.owner != definition.owner)
    }

    fn parts(&mut self, place: &str, kind: &TypeDefKind) {
        let parts: Vec<(&String, &Docs)> = match kind {
            TypeDefKind::Record(record) => record.fields.iter().map(|part| (&part.name, &part.docs)).collect(),
            TypeDefKind::Variant(variant) => variant.cases.iter().map(|part| (&part.name, &part.docs)).collect(),
            TypeDefKind::Enum(cases) => cases.cases.iter().map(|part| (&part.name, &part.docs)).collect(),
            TypeDefKind::Flags(flags) => flags.flags.iter().map(|part| (&part.name, &part.docs)).collect(),
            _ => Vec::new(),
        };
        for (name, docs) in parts {
            self.docs(&format!("{place}.{name}"), docs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<String> {
        let mut resolve = Resolve::default();
        let package = resolve.push_str("test.wit", text).unwrap();
        documented(&resolve, package).into_iter().map(|problem| problem.place).collect()
    }

    const WHOLE: &str = "
        /// A package.
        package test:t@0.1.0;
        /// An interface.
        @since(version = 0.1.0)
        interface i {
            /// A record.
            @since(version = 0.1.0)
            record r {
                /// A field.
                f: u32,
            }
            /// An enumeration.
            @since(version = 0.1.0)
            enum e {
                /// A case.
                c,
            }
            /// A function.
            @since(version = 0.1.0)
            g: func() -> r;
        }
        /// Another interface.
        @since(version = 0.1.0)
        interface j {
            use i.{r};
            /// A function.
            @since(version = 0.1.0)
            h: func() -> r;
        }
        /// A world.
        @since(version = 0.1.0)
        world w {
            import i;
            export j;
        }
    ";

    #[test]
    fn a_package_with_everything_passes() {
        assert_eq!(places(WHOLE), [""; 0]);
    }

    #[test]
    fn every_missing_doc_is_found() {
        for (doc, place) in [
            ("/// A package.", "wit: test:t@0.1.0"),
            ("/// An interface.", "wit: i"),
            ("/// A record.", "wit: i.r"),
            ("/// A field.", "wit: i.r.f"),
            ("/// An enumeration.", "wit: i.e"),
            ("/// A case.", "wit: i.e.c"),
            ("/// A world.", "wit: w"),
        ] {
            assert!(WHOLE.contains(doc));
            assert_eq!(places(&WHOLE.replace(doc, "")), [place]);
        }
        assert_eq!(places(&WHOLE.replace("/// A function.", "")), ["wit: i.g", "wit: j.h"]);
    }

    #[test]
    fn every_missing_version_is_found() {
        let since = "@since(version = 0.1.0)";
        let count = WHOLE.matches(since).count();
        let expected = ["wit: i", "wit: i.r", "wit: i.e", "wit: i.g", "wit: j", "wit: j.h", "wit: w"];
        assert_eq!(count, expected.len());
        for (number, place) in expected.into_iter().enumerate() {
            let (at, _) = WHOLE.match_indices(since).nth(number).unwrap();
            let mut text = WHOLE.to_owned();
            text.replace_range(at..at + since.len(), "");
            assert_eq!(places(&text), [place]);
        }
    }

    #[test]
    fn a_changed_surface_is_found_and_blessing_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        file::write(&root.join("wit/all.wit"), WHOLE.as_bytes()).unwrap();
        assert_eq!(problems(root).unwrap().problems.len(), 1, "no golden file yet");
        bless(root).unwrap();
        assert_eq!(problems(root).unwrap().problems, []);
        file::write(&root.join("wit/all.wit"), WHOLE.replace("f: u32", "f: u64").as_bytes()).unwrap();
        let found = problems(root).unwrap().problems;
        let message = found.first().unwrap().to_string();
        assert!(message.contains("expected `f: u32,`, found `f: u64,`"), "{message}");
    }

    #[test]
    fn a_released_surface_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let golden = |text: &str| {
            file::write(&root.join("wit/all.wit"), text.as_bytes()).unwrap();
            bless(root).unwrap();
            problems(root).unwrap()
        };
        assert!(golden(WHOLE).notes.first().unwrap().contains("nothing to be compatible with"));
        let released = fs::read(root.join(GOLDEN)).unwrap();
        file::write(&root.join(RELEASED).join("0.1.0.wit"), &released).unwrap();
        assert_eq!(golden(WHOLE).problems, []);
        assert_eq!(golden(&WHOLE.replace("f: u32", "f: u64")).problems.len(), 1);
    }
}
