//! The files of the tree, as git sees them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// A file that is in git, or would be with the next `git add`.
pub(super) struct Source {
    /// From the top of the tree, with `/`.
    pub(super) path: String,
    bytes: Vec<u8>,
}

impl Source {
    /// How long it is.
    pub(super) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// The file's text; `None` for a binary.
    pub(super) fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        (!text.contains('\0')).then_some(text)
    }
}

/// Reads them all. A file that git knows and that is gone is left out.
pub(super) fn read(root: &Path) -> Result<Vec<Source>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let list = process::capture(&mut git)?;
    let mut sources = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        if let Ok(bytes) = fs::read(root.join(path)) {
            sources.push(Source { path: path.to_owned(), bytes });
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_have_no_text() {
        for (bytes, expected) in
            [(b"fn main() {}".as_slice(), Some("fn main() {}")), (b"\0asm\x01\0\0\0", None), (b"\xff\xfe", None)]
        {
            let source = Source { path: "x".into(), bytes: bytes.to_vec() };
            assert_eq!(source.text(), expected);
        }
    }

    #[test]
    fn new_files_count_and_ignored_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        process::run(Command::new("git").current_dir(folder.path()).args(["init", "--quiet"])).unwrap();
        for (name, text) in [(".gitignore", "/target\n"), ("new.rs", ""), ("target/x.rs", "")] {
            crate::file::write(&folder.path().join(name), text.as_bytes()).unwrap();
        }
        let mut paths: Vec<_> = read(folder.path()).unwrap().into_iter().map(|source| source.path).collect();
        paths.sort();
        assert_eq!(paths, [".gitignore", "new.rs"]);
    }
}
