//! The file of vectors: its head, its records, and how it is written anew.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// First bytes of the file.
const MAGIC: &[u8; 8] = b"LWVEC\0\0\x01";
/// Bytes of a record's checksum.
const CHECK_BYTES: usize = 8;
/// Bytes of an ordinal.
const ORDINAL_BYTES: usize = 8;
const NUMBER_BYTES: usize = 4;

/// Vectors as they lie in the file.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) ordinals: Vec<u64>,
    pub(crate) numbers: Vec<f32>,
    /// Nothing was left over at the end.
    pub(crate) whole: bool,
}

pub(crate) enum Found {
    Records(Records),
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

/// Appends a record to `bytes`.
pub(crate) fn encode(bytes: &mut Vec<u8>, ordinal: u64, vector: &[f32]) {
    let start = bytes.len();
    bytes.extend_from_slice(&ordinal.to_le_bytes());
    vector.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let sum = check(bytes.get(start..).unwrap_or_default());
    bytes.extend_from_slice(&sum);
}

pub(crate) fn read(path: &Path, fingerprint: &str, width: usize) -> io::Result<Found> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::None),
        Err(error) => return Err(error),
    };
    let Some(records) = bytes.strip_prefix(head(fingerprint, width).as_slice()) else {
        return Ok(Found::Unusable("it is damaged, or of another embedder".to_owned()));
    };
    let size = ORDINAL_BYTES + width * NUMBER_BYTES + CHECK_BYTES;
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
    Ok(Found::Records(read))
}

fn decode(record: &[u8], into: &mut Records) -> Option<()> {
    let (content, sum) = record.split_at_checked(record.len().checked_sub(CHECK_BYTES)?)?;
    let (ordinal, numbers) = content.split_first_chunk::<ORDINAL_BYTES>()?;
    (check(content) == sum).then_some(())?;
    into.ordinals.push(u64::from_le_bytes(*ordinal));
    into.numbers.extend(numbers.as_chunks::<NUMBER_BYTES>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    Some(())
}

pub(crate) fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Writes the file anew beside the old one and puts it in its place.
pub(crate) fn replace(path: &Path, fingerprint: &str, width: usize, records: &Records) -> io::Result<File> {
    let mut fresh = path.file_name().unwrap_or_default().to_owned();
    fresh.push(".new");
    let fresh = path.with_file_name(fresh);
    let mut bytes = head(fingerprint, width);
    for (ordinal, vector) in records.ordinals.iter().zip(records.numbers.chunks_exact(width)) {
        encode(&mut bytes, *ordinal, vector);
    }
    let mut file = File::create(&fresh)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        File::open(parent)?.sync_all()?;
    }
    append(path)
}
