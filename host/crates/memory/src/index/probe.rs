//! Looks into the files of an index, for the proof that nothing is left of what was purged.

use std::collections::BTreeSet;
use std::path::Path;

use super::IndexError;
use super::schema::Fields;

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

/// How many segment files lie in the directory that belong to no live segment.
pub(crate) fn files_of_no_segment(path: &Path, index: &tantivy::Index) -> Result<usize, IndexError> {
    let metas = index.searchable_segment_metas().map_err(|error| super::error::engine(path, "read", error))?;
    let live: BTreeSet<String> = metas.iter().map(|meta| meta.id().uuid_string()).collect();
    let failed = |error| super::io(path, "read", error);
    let mut held = 0;
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        let segment = name.split('.').next().unwrap_or_default();
        let is_segment = segment.len() == 32 && segment.bytes().all(|byte| byte.is_ascii_hexdigit());
        held += usize::from(is_segment && !live.contains(segment));
    }
    Ok(held)
}
