//! What may lie where: the top level is closed, and binaries stay out of git.

use super::Problem;

/// The top level, besides dotfiles.
const TOP: [&str; 17] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "clippy.toml",
    "deny.toml",
    "examples",
    "host",
    "plugins",
    "registry",
    "rustfmt.toml",
    "sdk",
    "tests",
    "wit",
];

/// Files that are built, not written, whatever is in them.
const BINARIES: [&str; 10] = ["a", "cwasm", "dll", "dylib", "gguf", "o", "rlib", "safetensors", "so", "wasm"];

/// The binaries that are kept all the same, each with the text beside it that says how it is made again.
const KEPT: [(&str, &str); 1] = [("host/assets/phone-policy.safetensors", "host/assets/README.md")];
/// Bytes of a binary that is kept.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// Files and folders of the top level that do not belong there, each named once.
pub(super) fn stray<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Problem> {
    let mut names: Vec<&str> = paths.filter_map(|path| path.split('/').next()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter(|name| !name.starts_with('.') && !TOP.contains(name))
        .map(|name| Problem::new(name, "stray at the top level; put it into one of the project's folders"))
        .collect()
}

/// A binary that is kept must be small, and what says how it is made must be there.
pub(super) fn kept(path: &str, bytes: usize, exists: impl Fn(&str) -> bool) -> Option<Vec<Problem>> {
    let (_, recipe) = KEPT.iter().find(|(kept, _)| *kept == path)?;
    let mut problems = Vec::new();
    if bytes > KEPT_BYTES_MAX {
        problems.push(Problem::new(path, format!("{bytes} bytes, at most {KEPT_BYTES_MAX} are kept")));
    }
    if !exists(recipe) {
        problems.push(Problem::new(path, format!("kept without `{recipe}`, which says how it is made")));
    }
    Some(problems)
}

/// A file that is no text.
pub(super) fn binary(path: &str) -> Vec<Problem> {
    vec![Problem::new(path, "binary file; nobody can review it: build or generate it instead")]
}

/// A text file that is named like something built.
pub(super) fn binary_name(path: &str) -> Vec<Problem> {
    match path.rsplit_once('.') {
        Some((_, extension)) if BINARIES.contains(&extension) => binary(path),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_is_kept_is_small_and_says_how_it_is_made() {
        let policy = "host/assets/phone-policy.safetensors";
        assert_eq!(kept(policy, 3 << 20, |_| true).map(|problems| problems.len()), Some(0));
        assert_eq!(kept(policy, 5 << 20, |_| false).map(|problems| problems.len()), Some(2));
        assert!(kept("host/assets/other.safetensors", 1, |_| true).is_none());
    }

    #[test]
    fn the_top_level_is_closed() {
        let paths = ["Cargo.toml", ".ci/run", "host/src/lib.rs", "notes.md", "src/a.rs", "src/b.rs"];
        let found = stray(paths.into_iter());
        let places: Vec<_> = found.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["notes.md", "src"]);
    }

    #[test]
    fn binaries_are_found_by_name() {
        for (path, count) in [("tests/guests/x.wasm", 1), ("m.gguf", 1), ("wit/types.wit", 0), ("LICENSE", 0)] {
            assert_eq!(binary_name(path).len(), count, "{path}");
        }
    }
}
