//! Writes the table of files that `plugin new` copies: templates, SDKs and the contract, as they are in this tree.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders by the name that the table gives them, and the kinds of files that count in each.
const FOLDERS: [(&str, &str, &[&str]); 5] = [
    ("templates", "templates", &["rs", "py", "js", "json", "toml", "md", "txt", "dot-gitignore"]),
    ("sdk/rust", "../../../sdk/src", &["rs"]),
    ("sdk/python", "../../../sdk/python/loopwright", &["py"]),
    ("sdk/js", "../../../sdk/js", &["js"]),
    ("wit", "../../../wit", &["wit"]),
];

/// Folders that tests leave beside the sources.
const LEFT_OUT: [&str; 3] = ["__pycache__", "node_modules", "tests"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut table = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for (name, folder, extensions) in FOLDERS {
        let folder = root.join(folder).canonicalize()?;
        let mut files = Vec::new();
        walk(&folder, name != "templates", &mut files)?;
        files.sort();
        for file in files {
            let counts = file.extension().or(file.file_name()).and_then(|end| end.to_str());
            let Ok(inside) = file.strip_prefix(&folder) else { continue };
            if counts.is_some_and(|end| extensions.contains(&end)) {
                let _ =
                    writeln!(table, "    ({:?}, include_str!({:?})),", format!("{name}/{}", inside.display()), file);
            }
        }
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("files.rs");
    fs::write(out, table)
}

fn walk(folder: &Path, leave_out: bool, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !path.is_dir() {
            files.push(path);
        } else if !(leave_out && LEFT_OUT.contains(&name)) {
            walk(&path, leave_out, files)?;
        }
    }
    Ok(())
}
