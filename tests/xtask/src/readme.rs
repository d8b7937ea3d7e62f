//! The README's way from nothing to a plugin that runs, walked by running its lines as they stand.
//!
//! They are run in a stand-in of a checkout: a folder with what `cargo xtask run` leaves in `target`, so that neither the real folder of plugins
//! nor the folder beside the checkout is touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use loopwright_kit::Lang;

use crate::process;
use crate::tree::Tree;

/// The section that is walked.
const SECTION: &str = "## Write a plugin";

/// Walks the way of each language.
pub(crate) fn check(tree: &Tree, program: &Path, cargo_target: &Path, langs: &[Lang]) -> Result<()> {
    let text = fs::read_to_string(tree.root().join("README.md")).context("README.md cannot be read")?;
    for lang in langs {
        let lines = lines_for(&text, *lang)?;
        let start = Instant::now();
        let folder = tree.products().join("kit/readme").join(lang.as_str());
        let checkout = stand_in(tree, program, &folder)?;
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", &lines]).current_dir(&checkout);
        // The caller's own settings are no part of the way; the folder of builds only saves time.
        for name in ["PLUGINS", "CACHE", "GRANTS", "STORE", "TRUST", "KEY", "REGISTRY", "GUEST_TOOLS"] {
            shell.env_remove(format!("LOOPWRIGHT_{name}"));
        }
        shell.env("CARGO_TARGET_DIR", cargo_target);
        process::run(&mut shell).with_context(|| format!("README.md, `{SECTION}` in {lang}: its lines do not run"))?;
        eprintln!("readme: the way in {lang} was walked in {} s", start.elapsed().as_secs());
    }
    Ok(())
}

/// A folder that looks as a checkout does after its first command.
fn stand_in(tree: &Tree, program: &Path, folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let checkout = folder.join("checkout");
    fs::create_dir_all(checkout.join("target/bin"))?;
    symlink(program, checkout.join("target/bin/loopwright"))?;
    fs::create_dir_all(checkout.join("target/plugins"))?;
    for entry in fs::read_dir(tree.plugins())? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), checkout.join("target/plugins").join(entry.file_name()))?;
        }
    }
    // Compiled code is what the first command leaves too.
    let cache = tree.products().join("cache");
    fs::create_dir_all(&cache)?;
    symlink(cache, checkout.join("target/cache"))?;
    Ok(checkout)
}

/// The shell lines of the section for a language: the first block of code after its heading.
fn lines_for(readme: &str, lang: Lang) -> Result<String> {
    let section =
        readme.split_once(SECTION).map(|(_, rest)| rest).with_context(|| format!("README.md has no `{SECTION}`"))?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let heading = match lang {
        Lang::Rust => "### In Rust",
        Lang::Python => "### In Python",
        Lang::Js => "### In JavaScript",
    };
    let part =
        section.split_once(heading).map(|(_, rest)| rest).with_context(|| format!("`{SECTION}` has no `{heading}`"))?;
    let part = part.split("\n### ").next().unwrap_or_default();
    let block = part.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("\n```"));
    let Some((lines, _)) = block else { bail!("`{heading}` has no block of shell lines") };
    Ok(lines.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_own_lines() {
        let readme = "# x\n## Write a plugin\n### In Rust\n```sh\na\nb\n```\n### In Python\ntext\n```sh\nc\n```\n## Next\n### In JavaScript\n```sh\nd\n```\n";
        assert_eq!(lines_for(readme, Lang::Rust).unwrap(), "a\nb");
        assert_eq!(lines_for(readme, Lang::Python).unwrap(), "c");
        assert!(lines_for(readme, Lang::Js).unwrap_err().to_string().contains("In JavaScript"));
        assert!(lines_for("# x", Lang::Js).is_err());
        assert!(lines_for("## Write a plugin\n### In Rust\nno lines\n", Lang::Rust).is_err());
    }

    #[test]
    fn the_readme_has_a_way_in_each_language() {
        let readme = include_str!("../../../README.md");
        for lang in Lang::ALL {
            let lines = lines_for(readme, lang).unwrap();
            for step in [
                "plugin new",
                "plugin build",
                "plugin check",
                "plugin test",
                "registry push",
                "registry pull",
                "plugin call",
            ] {
                assert!(lines.contains(step), "{lang}: {step}");
            }
        }
    }
}
