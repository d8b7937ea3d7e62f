//! What every crate has: the workspace's lints, and a first line that says what it is.

use std::fs;

use anyhow::{Context, Result};
use cargo_metadata::{Package, TargetKind};

use super::Problem;
use crate::tree::Tree;

/// Crates that do not opt in to the lints, or have no docs.
pub(super) fn problems(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for package in tree.metadata.workspace_packages() {
        let manifest = fs::read_to_string(&package.manifest_path)
            .with_context(|| format!("cannot read `{}`", package.manifest_path))?;
        problems.extend(lints(&package.name, &manifest));
        for root in roots(package) {
            // A root that cannot be read has no first line either.
            let text = fs::read_to_string(&root).unwrap_or_default();
            let path = root.strip_prefix(&tree.metadata.workspace_root).unwrap_or(&root);
            problems.extend(first_line(path.as_str(), &text));
        }
    }
    Ok(problems)
}

/// The first file of each crate that the package makes, tests and benchmarks apart.
fn roots(package: &Package) -> Vec<cargo_metadata::camino::Utf8PathBuf> {
    let documented =
        |kind: &TargetKind| !matches!(kind, TargetKind::Test | TargetKind::Bench | TargetKind::CustomBuild);
    package
        .targets
        .iter()
        .filter(|target| target.kind.iter().any(documented))
        .map(|target| target.src_path.clone())
        .collect()
}

fn lints(package: &str, manifest: &str) -> Option<Problem> {
    let table: toml::Table = match manifest.parse() {
        Ok(table) => table,
        Err(error) => {
            return Some(Problem::new(package, format!("manifest cannot be read: {error}")));
        }
    };
    let opted_in = table.get("lints").and_then(|lints| lints.get("workspace"));
    if opted_in.and_then(toml::Value::as_bool) == Some(true) {
        return None;
    }
    Some(Problem::new(package, "does not take the workspace's lints; add `[lints]` with `workspace = true`"))
}

fn first_line(path: &str, text: &str) -> Option<Problem> {
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.strip_prefix("//!").map(str::trim).unwrap_or_default();
    if sentence.is_empty() {
        return Some(Problem::new(path, "expected a first line `//! What this crate is.`, found none"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_leaves_the_lints_out_is_found() {
        for (manifest, fine) in [
            ("[package]\nname = \"a\"\n[lints]\nworkspace = true\n", true),
            ("[package]\nname = \"a\"\n", false),
            ("[lints]\nworkspace = false\n", false),
            ("[lints.rust]\nunsafe_code = \"allow\"\n", false),
            ("not a manifest", false),
        ] {
            assert_eq!(lints("a", manifest).is_none(), fine, "{manifest}");
        }
    }

    #[test]
    fn a_crate_without_docs_is_found() {
        for (text, fine) in [
            ("//! What it is.\n", true),
            ("//!\n//! What it is.\n", false),
            ("// What it is.\n", false),
            ("fn main() {}\n", false),
            ("", false),
        ] {
            assert_eq!(first_line("a.rs", text).is_none(), fine, "{text}");
        }
    }
}
