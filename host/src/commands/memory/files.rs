//! Reads the data sets of `memory bench` from the disk.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use loopwright_memory::bench::{BEAM_BYTES_MAX, BYTES_MAX, Form, Trajectory, load_beam, load_memdaily};

use super::bench::Set;

/// A file of at most so many bytes.
pub(super) fn read(path: &Path, bytes_max: usize) -> anyhow::Result<Vec<u8>> {
    let at = || format!("`{}`", path.display());
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).with_context(at)?.take(most).read_to_end(&mut bytes).with_context(at)?;
    ensure!(bytes.len() <= bytes_max, "`{}` has more than {bytes_max} bytes, the most that is read", path.display());
    Ok(bytes)
}

/// What a folder has, by name; numbers by their size.
fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let at = || format!("`{}`", folder.display());
    let mut paths = std::fs::read_dir(folder)
        .with_context(at)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .with_context(at)?;
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    paths.sort_by_key(|path| (name(path).parse::<u64>().unwrap_or(u64::MAX), name(path)));
    Ok(paths)
}

/// The conversations of a folder of BEAM, or the one that it is.
pub(super) fn beam(folder: &Path) -> anyhow::Result<Set> {
    let folders = if folder.join("chat.json").exists() { vec![folder.to_owned()] } else { entries(folder)? };
    let mut set = Set { form: Form::Beam, conversations: Vec::new(), bytes: Vec::new() };
    for folder in folders.into_iter().filter(|folder| folder.join("chat.json").exists()) {
        let chat = read(&folder.join("chat.json"), BEAM_BYTES_MAX)?;
        let names = ["probing_questions/probing_questions.json", "probing_questions.json"];
        let questions = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
        let Some(questions) = questions else { bail!("`{}` has no `probing_questions`", folder.display()) };
        let questions = read(&questions, BEAM_BYTES_MAX)?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let read = load_beam(&name, &chat, &questions).with_context(|| format!("`{}`", folder.display()))?;
        set.conversations.push(read);
        set.bytes.extend(chat.iter().chain(&questions));
    }
    ensure!(
        !set.conversations.is_empty(),
        "no conversation in `{}`\nhint: a conversation is a folder with `chat.json`",
        folder.display()
    );
    Ok(set)
}

/// The people of every file of a folder of MemDaily, or of one file.
pub(super) fn memdaily(path: &Path) -> anyhow::Result<Vec<Trajectory>> {
    let files = if path.is_dir() { entries(path)? } else { vec![path.to_owned()] };
    let mut all = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = read(file, BYTES_MAX)?;
        all.extend(load_memdaily(&name, &bytes).with_context(|| format!("`{}`", file.display()))?);
    }
    ensure!(!all.is_empty(), "no questions in `{}`\nhint: its files end in `.json`", path.display());
    Ok(all)
}
