//! The file of vectors: its head, its records, and how it is written anew.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{FINGERPRINT_BYTES_MAX, WIDTH_MAX};

/// First bytes of the file.
const MAGIC: &[u8; 8] = b"LWVEC\0\0\x02";
/// Bytes of a record's checksum.
const CHECK_BYTES: usize = 8;
/// Bytes of an ordinal.
const ORDINAL_BYTES: usize = 8;
/// Bytes of a mark.
const MARK_BYTES: usize = 8;
const NUMBER_BYTES: usize = 4;

/// Vectors as they lie in the file.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) ordinals: Vec<u64>,
    /// What stands for the text of each.
    pub(crate) marks: Vec<u64>,
    pub(crate) numbers: Vec<f32>,
    /// Nothing was left over at the end.
    pub(crate) whole: bool,
}

pub(crate) enum Found {
    /// The embedder's fingerprint and width, and what it made.
    Records(String, usize, Records),
    Unusable(String),
    None,
}

fn check(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    check.iter_mut().zip(Sha256::digest(bytes)).for_each(|(to, from)| *to = from);
    check
}

fn head(fingerprint: &str, width: usize) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&(width as u64).to_le_bytes());
    head.extend_from_slice(&(fingerprint.len() as u64).to_le_bytes());
    head.extend_from_slice(fingerprint.as_bytes());
    head.extend_from_slice(&check(&head));
    head
}

/// The fingerprint, the width, and what follows.
fn read_head(bytes: &[u8]) -> Option<(String, usize, &[u8])> {
    let (width, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= FINGERPRINT_BYTES_MAX)?;
    let width = usize::try_from(u64::from_le_bytes(*width)).ok().filter(|width| (1..=WIDTH_MAX).contains(width))?;
    let fingerprint = std::str::from_utf8(rest.get(..length)?).ok()?;
    Some((fingerprint.to_owned(), width, bytes.strip_prefix(head(fingerprint, width).as_slice())?))
}

/// Appends a record to `bytes`.
pub(crate) fn encode(bytes: &mut Vec<u8>, ordinal: u64, mark: u64, vector: &[f32]) {
    let start = bytes.len();
    bytes.extend_from_slice(&ordinal.to_le_bytes());
    bytes.extend_from_slice(&mark.to_le_bytes());
    vector.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let sum = check(bytes.get(start..).unwrap_or_default());
    bytes.extend_from_slice(&sum);
}

/// Reads a file, whatever embedder it is of.
pub(crate) fn read(path: &Path) -> io::Result<Found> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::None),
        Err(error) => return Err(error),
    };
    let Some((fingerprint, width, records)) = read_head(&bytes) else {
        return Ok(Found::Unusable("its head is damaged, or of another format".to_owned()));
    };
    let size = ORDINAL_BYTES + MARK_BYTES + width * NUMBER_BYTES + CHECK_BYTES;
    let chunks = records.chunks_exact(size);
    // Less than a record at the end was being written when the process died.
    let mut read = Records { whole: chunks.remainder().is_empty(), ..Records::default() };
    let count = records.len() / size;
    for (at, record) in chunks.enumerate() {
        match decode(record, &mut read) {
            Some(()) => {}
            // Of an append that was cut off, the length may be on the disk before the bytes are.
            None if at + 1 == count => read.whole = false,
            None => return Ok(Found::Unusable(format!("the checksum of record {at} of {count} does not fit"))),
        }
    }
    Ok(Found::Records(fingerprint, width, read))
}

fn decode(record: &[u8], into: &mut Records) -> Option<()> {
    let (content, sum) = record.split_at_checked(record.len().checked_sub(CHECK_BYTES)?)?;
    let (ordinal, rest) = content.split_first_chunk::<ORDINAL_BYTES>()?;
    let (mark, numbers) = rest.split_first_chunk::<MARK_BYTES>()?;
    (check(content) == sum).then_some(())?;
    into.ordinals.push(u64::from_le_bytes(*ordinal));
    into.marks.push(u64::from_le_bytes(*mark));
    into.numbers.extend(numbers.as_chunks::<NUMBER_BYTES>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    Some(())
}

/// Appends to the file; what is appended lasts when this returns.
pub(crate) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_data())
}

fn fresh(path: &Path) -> PathBuf {
    let mut fresh = path.file_name().unwrap_or_default().to_owned();
    fresh.push(".new");
    path.with_file_name(fresh)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Writes the file anew beside the old one and puts it in its place.
pub(crate) fn replace(path: &Path, fingerprint: &str, width: usize, records: &Records) -> io::Result<()> {
    let fresh = fresh(path);
    let mut bytes = head(fingerprint, width);
    let rows = records.ordinals.iter().zip(&records.marks).zip(records.numbers.chunks_exact(width));
    for ((ordinal, mark), vector) in rows {
        encode(&mut bytes, *ordinal, *mark, vector);
    }
    let mut file = File::create(&fresh)?;
    let written = file.write_all(&bytes).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&fresh, path));
    if let Err(error) = written {
        // What cannot be removed now is removed at the next opening.
        std::fs::remove_file(&fresh).ok();
        return Err(error);
    }
    sync_folder(path)
}

fn remove_file(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a file that a replacement did not finish: it has what was in the file then.
pub(crate) fn remove_unfinished(path: &Path) -> io::Result<()> {
    // Looked at first: where nothing is to be removed a disk that cannot be written is no hindrance.
    if fresh(path).try_exists()? && remove_file(&fresh(path))? { sync_folder(path) } else { Ok(()) }
}

/// Removes the file.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if remove_file(path)? { sync_folder(path) } else { Ok(()) }
}
