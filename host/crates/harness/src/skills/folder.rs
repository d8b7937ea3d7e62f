//! A folder of skills: each subfolder with a `SKILL.md` is one. The path is given; nothing is searched for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file::{SKILL_FILE_BYTES_MAX, SkillFile, SkillFileError};

/// Skills in one folder.
pub const SKILL_FOLDERS_MAX: usize = 256;

/// Why a folder of skills was not read.
#[derive(Debug, thiserror::Error)]
pub enum SkillFolderError {
    /// A path cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no skill.
    #[error("`{}` is not a skill", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: SkillFileError,
    },
    /// The folder's name is not the skill's.
    #[error("`{}` holds the skill `{found}`, expected one of the folder's name", path.display())]
    Named {
        /// The file.
        path: PathBuf,
        /// The skill's name.
        found: String,
    },
    /// A link, which could lead out of the folder.
    #[error("`{}` is a link; put the file itself there", .0.display())]
    Link(PathBuf),
    /// Too many.
    #[error("`{}` holds more than {SKILL_FOLDERS_MAX} folders", .0.display())]
    TooMany(PathBuf),
}

/// Reads `FOLDER/*/SKILL.md`, sorted by name. Subfolders without that file are passed over.
///
/// # Errors
/// [`SkillFolderError`] for the first file that is not as it should be.
pub fn read_skill_folder(folder: &Path) -> Result<Vec<SkillFile>, SkillFolderError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| SkillFolderError::Io { path, source }
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let entry = entry.map_err(failed(folder))?;
        if paths.len() == SKILL_FOLDERS_MAX {
            return Err(SkillFolderError::TooMany(folder.to_owned()));
        }
        paths.push(entry.path());
    }
    // The order of a folder's entries is the file system's.
    paths.sort();
    paths.iter().filter_map(|path| read_one(path).transpose()).collect()
}

fn read_one(folder: &Path) -> Result<Option<SkillFile>, SkillFolderError> {
    let path = folder.join("SKILL.md");
    let failed = |source| SkillFolderError::Io { path: path.clone(), source };
    if !fs::symlink_metadata(folder).map_err(failed)?.is_dir() {
        return Ok(None);
    }
    let metadata = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    if metadata.is_symlink() {
        return Err(SkillFolderError::Link(path));
    }
    let wrong = |source| SkillFolderError::File { path: path.clone(), source };
    // Before reading, so that a large file is never held.
    let bytes = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    if bytes > SKILL_FILE_BYTES_MAX {
        return Err(wrong(SkillFileError::TooLong { found: bytes }));
    }
    let file = SkillFile::parse(&fs::read(&path).map_err(failed)?).map_err(wrong)?;
    if folder.file_name().and_then(|name| name.to_str()) != Some(file.card().name.as_str()) {
        return Err(SkillFolderError::Named { path, found: file.card().name.as_str().to_owned() });
    }
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str) -> String {
        format!("---\nname: {name}\ndescription: text\n---\nguidance of {name}\n")
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b-skill", "a-skill"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
            fs::write(folder.path().join(name).join("SKILL.md"), skill(name)).expect("a file");
        }
        fs::create_dir(folder.path().join("empty")).expect("a folder");
        fs::write(folder.path().join("README.md"), "not a folder").expect("a file");
        let files = read_skill_folder(folder.path()).expect("skills");
        assert_eq!(files.iter().map(|file| file.card().name.as_str()).collect::<Vec<_>>(), ["a-skill", "b-skill"]);
    }

    #[test]
    fn tricks_with_paths_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("mine");
        fs::create_dir(&inner).expect("a folder");
        let check = |part: &str| {
            let error = read_skill_folder(folder.path()).expect_err("accepted");
            assert!(loopwright_contract::fault::chain(&error).contains(part), "`{error}` does not say `{part}`");
        };
        fs::write(inner.join("SKILL.md"), skill("other")).expect("a file");
        check("expected one of the folder's name");
        fs::write(inner.join("SKILL.md"), "x".repeat(SKILL_FILE_BYTES_MAX + 1)).expect("a file");
        check("at most 65536");
        #[cfg(unix)]
        {
            fs::remove_file(inner.join("SKILL.md")).expect("a file");
            std::os::unix::fs::symlink("/etc/passwd", inner.join("SKILL.md")).expect("a link");
            check("is a link");
        }
        assert!(matches!(read_skill_folder(&folder.path().join("absent")), Err(SkillFolderError::Io { .. })));
    }
}
