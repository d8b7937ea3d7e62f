//! Looks into the files of an index, for the proof that nothing is left of what was purged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tantivy::IndexMeta;
use tantivy::index::SegmentComponent;

use super::IndexError;
use super::error::is_unreadable;
use super::schema::Fields;

/// The least that the engine takes for the end of a file, in bytes: it counts back from there without looking.
const FOOTER_BYTES_MIN: u64 = 8;

/// Whether a term dictionary of a live segment has `term`.
pub(crate) fn holds_term(index: &tantivy::Index, fields: &Fields, term: &str) -> tantivy::Result<bool> {
    for segment in index.searchable_segments()? {
        let reader = tantivy::SegmentReader::open(&segment)?;
        for field in [fields.body, fields.names, fields.dates] {
            let inverted = reader.inverted_index(field)?;
            let mut stream = inverted.terms().stream()?;
            while stream.advance() {
                if stream.key() == term.as_bytes() {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The files of live segments whose bytes are not those that were written, or that are gone.
pub(crate) fn damaged(folder: &Path, index: &tantivy::Index, metas: &IndexMeta) -> tantivy::Result<Vec<PathBuf>> {
    let mut damaged = Vec::new();
    for path in files_of(metas) {
        // What is not there, or cannot be asked, is the engine's to tell.
        if std::fs::metadata(folder.join(&path)).is_ok_and(|found| found.len() < FOOTER_BYTES_MIN) {
            damaged.push(path);
            continue;
        }
        match index.directory().validate_checksum(&path) {
            Ok(true) => {}
            Ok(false) => damaged.push(path),
            Err(error) => {
                let error = error.into();
                if !is_unreadable(&error) {
                    return Err(error);
                }
                damaged.push(path);
            }
        }
    }
    Ok(damaged)
}

/// Why an index is not to be trusted; none when every file is as it was written.
pub(crate) fn damage(folder: &Path, index: &tantivy::Index, metas: &IndexMeta) -> tantivy::Result<Option<String>> {
    let damaged = damaged(folder, index, metas)?;
    Ok(damaged.first().map(|first| format!("{} of its files are damaged, as `{}`", damaged.len(), first.display())))
}

/// The files that live segments have.
fn files_of(metas: &IndexMeta) -> BTreeSet<PathBuf> {
    let mut files: BTreeSet<PathBuf> = metas.list_segment_files().into_iter().collect();
    for whole in metas.segments.iter().filter(|segment| !segment.has_deletes()) {
        files.remove(&whole.relative_path(SegmentComponent::Delete));
    }
    files
}

/// What lies in the directory and belongs to no live segment.
pub(crate) fn strays(path: &Path, metas: &IndexMeta) -> Result<Vec<PathBuf>, IndexError> {
    let live = files_of(metas);
    let failed = |error| super::io(path, "read", error);
    let mut strays = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let own = name == "meta.json" || name == ".managed.json" || name.to_string_lossy().ends_with(".lock");
        if !own && !live.contains(Path::new(&name)) {
            strays.push(path.join(name));
        }
    }
    Ok(strays)
}
