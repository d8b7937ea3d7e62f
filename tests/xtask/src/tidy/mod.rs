//! `cargo xtask tidy`: the rules of the tree that the compiler does not know. Also a test, so that it runs with the tests.
//!
//! Each rule is a plain function from text to problems, in a module of its own, with a test that shows what it catches.

mod contract;
mod edges;
mod layout;
mod length;
mod manifest;
mod semver;
mod sources;
mod text;

use std::fmt;

use anyhow::{Result, bail};
use clap::Args;

use crate::tree::Tree;
use sources::Source;

/// What to do about golden files.
#[derive(Args, Clone)]
pub(crate) struct Options {
    /// Writes the golden surface of the WIT package anew, to be reviewed as a change of it.
    #[arg(long)]
    bless: bool,
}

/// A rule that is broken, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    /// A path, a path with a line, or the name of a package or WIT item.
    place: String,
    /// What was expected against what was found, and what to do.
    message: String,
}

impl Problem {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

/// Runs `cargo xtask tidy`.
pub(crate) fn command(options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    if options.bless {
        contract::bless(tree.root())?;
    }
    check(&tree)
}

/// Checks every rule; prints what is broken and fails when something is.
pub(crate) fn check(tree: &Tree) -> Result<()> {
    let (problems, notes) = all(tree)?;
    for note in notes {
        eprintln!("tidy: {note}");
    }
    for problem in &problems {
        eprintln!("tidy: {problem}");
    }
    if !problems.is_empty() {
        bail!("{} rules of the tree are broken; see the lines above", problems.len());
    }
    eprintln!("tidy: ok");
    Ok(())
}

/// Everything that is broken, in the order of places, and what is worth knowing besides.
fn all(tree: &Tree) -> Result<(Vec<Problem>, Vec<String>)> {
    let sources = sources::read(tree.root())?;
    let mut problems = edges::problems(&tree.metadata);
    problems.extend(manifest::problems(tree)?);
    problems.extend(layout::stray(sources.iter().map(|source| source.path.as_str())));
    for source in &sources {
        let exists = |path: &str| sources.iter().any(|source| source.path == path);
        problems.extend(layout::kept(&source.path, source.length(), exists).unwrap_or_else(|| of_one(source)));
    }
    let surface = contract::problems(tree.root())?;
    problems.extend(surface.problems);
    problems.sort();
    Ok((problems, surface.notes))
}

fn of_one(source: &Source) -> Vec<Problem> {
    let Some(text) = source.text() else {
        return layout::binary(&source.path);
    };
    let mut problems = layout::binary_name(&source.path);
    problems.extend(text::machine_paths(&source.path, text));
    problems.extend(text::unfinished(&source.path, text));
    if source.path.ends_with(".rs") {
        problems.extend(length::problems(&source.path, text));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let (problems, _) = all(&Tree::find().unwrap()).unwrap();
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}
