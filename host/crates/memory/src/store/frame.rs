//! The framing of log and snapshot: a header, and records with checksums. It knows no event.
//!
//! All numbers are little-endian. A file begins with its magic (8 bytes), the version of the format (u32), zeros (4), the first sequence
//! (u64) and a CRC-32C of these 24 bytes (u32). A record is
//!
//! ```text
//! length of the body (u32) | CRC-32C of length and body (u32) | body
//! body: sequence (u64) | sequence of its batch's first record (u64) | seconds since 1970 (i64) | kind (u8) | flags (u8) | payload
//! ```
//!
//! The records of one commit are a batch: each names the batch, the last one is flagged. A batch without its last record was never committed.
//! A payload is JSON text, which has no zero byte, and a body has several: no text can pass for a record.

use super::limits::RECORD_BYTES_MAX;
use crate::unit::Sequence;

/// The first bytes of a segment of the log.
pub(super) const LOG_MAGIC: [u8; 8] = *b"LWMEMLOG";
/// The first bytes of a snapshot.
pub(super) const SNAPSHOT_MAGIC: [u8; 8] = *b"LWMEMSNP";
/// The first bytes of a small file: the list of segments, or the mark of a root.
pub(super) const NOTE_MAGIC: [u8; 8] = *b"LWMEMNTE";
/// The version of the format that is written and read.
pub(super) const FORMAT_VERSION: u32 = 1;
/// Bytes of a file's header.
pub(super) const HEADER_BYTES: usize = 28;
/// Bytes of a record before its body.
pub(super) const FRAME_BYTES: usize = 8;
/// Bytes of a body before its payload.
pub(super) const BODY_BYTES: usize = 26;

/// The record ends its batch.
pub(super) const LAST: u8 = 1;
/// The record was rewritten by a purge: what it no longer says may leave it incomplete.
pub(super) const SCRUBBED: u8 = 2;

/// One record, as it lies in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) sequence: Sequence,
    pub(super) batch: Sequence,
    pub(super) at: i64,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) payload: &'a [u8],
}

impl Record<'_> {
    pub(super) fn is_last(&self) -> bool {
        self.flags & LAST != 0
    }

    pub(super) fn is_scrubbed(&self) -> bool {
        self.flags & SCRUBBED != 0
    }
}

/// What stands where something else should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bad {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Bad {
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

/// The header of a file.
pub(super) fn header(magic: [u8; 8], first: Sequence) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend(magic);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(first.to_le_bytes());
    let crc = crc32c::crc32c(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Why a header was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadHeader {
    Bad(Bad),
    Version(u32),
}

/// Reads a header and returns the first sequence.
pub(super) fn read_header(bytes: &[u8], magic: [u8; 8]) -> Result<Sequence, BadHeader> {
    let bad = |expected: &str, found: String| BadHeader::Bad(Bad::new(expected, found));
    let head =
        bytes.get(..HEADER_BYTES - 4).ok_or_else(|| bad("a header of 28 bytes", format!("{} bytes", bytes.len())))?;
    if !head.starts_with(&magic) {
        let start = head.get(..8).unwrap_or_default();
        return Err(bad(&format!("`{}`", magic.escape_ascii()), format!("`{}`", start.escape_ascii())));
    }
    let crc = crc32c::crc32c(head);
    match u32_at(bytes, HEADER_BYTES - 4) {
        Some(found) if found == crc => {}
        Some(found) => return Err(bad(&format!("checksum {crc:08x}"), format!("{found:08x}"))),
        None => return Err(bad("a header of 28 bytes", format!("{} bytes", bytes.len()))),
    }
    match (u32_at(head, 8), u64_at(head, 16)) {
        (Some(FORMAT_VERSION), Some(first)) => Ok(first),
        (version, _) => Err(BadHeader::Version(version.unwrap_or_default())),
    }
}

/// Appends a record to `to`. The caller has checked the payload's length.
pub(super) fn write(to: &mut Vec<u8>, record: &Record<'_>) {
    let start = to.len();
    let length = u32::try_from(BODY_BYTES + record.payload.len()).unwrap_or(u32::MAX);
    to.extend(length.to_le_bytes());
    to.extend([0; 4]);
    to.extend(record.sequence.to_le_bytes());
    to.extend(record.batch.to_le_bytes());
    to.extend(record.at.to_le_bytes());
    to.extend([record.kind, record.flags]);
    to.extend_from_slice(record.payload);
    let body = to.get(start + FRAME_BYTES..).unwrap_or_default();
    let crc = crc32c::crc32c_append(crc32c::crc32c(&length.to_le_bytes()), body);
    if let Some(place) = to.get_mut(start + 4..start + FRAME_BYTES) {
        place.copy_from_slice(&crc.to_le_bytes());
    }
}

/// Reads the record at `at` and returns it with the place after it; none at the end.
pub(super) fn read(bytes: &[u8], at: usize) -> Result<Option<(Record<'_>, usize)>, Bad> {
    if at == bytes.len() {
        return Ok(None);
    }
    let short = || Bad::new("a whole record", format!("{} bytes", bytes.len().saturating_sub(at)));
    let length = u32_at(bytes, at).ok_or_else(short)?;
    let size = usize::try_from(length).unwrap_or(usize::MAX);
    if !(BODY_BYTES..=BODY_BYTES + RECORD_BYTES_MAX).contains(&size) {
        let most = BODY_BYTES + RECORD_BYTES_MAX;
        return Err(Bad::new(format!("a length of {BODY_BYTES} to {most}"), length.to_string()));
    }
    let next = at + FRAME_BYTES + size;
    let body = bytes.get(at + FRAME_BYTES..next).ok_or_else(short)?;
    let found = u32_at(bytes, at + 4).ok_or_else(short)?;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&length.to_le_bytes()), body);
    if found != crc {
        return Err(Bad::new(format!("checksum {crc:08x}"), format!("{found:08x}")));
    }
    Ok(body_of(body).map(|record| (record, next)))
}

fn body_of(body: &[u8]) -> Option<Record<'_>> {
    Some(Record {
        sequence: u64_at(body, 0)?,
        batch: u64_at(body, 8)?,
        at: array(body, 16).map(i64::from_le_bytes)?,
        kind: *body.get(24)?,
        flags: *body.get(25)?,
        payload: body.get(BODY_BYTES..)?,
    })
}

/// Whether a record could begin at `at`, by what is cheap to look at.
fn plausible(bytes: &[u8], at: usize, after: Sequence) -> Option<usize> {
    let size = usize::try_from(u32_at(bytes, at)?).ok()?;
    let sequence = u64_at(bytes, at + FRAME_BYTES)?;
    let batch = u64_at(bytes, at + FRAME_BYTES + 8)?;
    let fits = (BODY_BYTES..=BODY_BYTES + RECORD_BYTES_MAX).contains(&size)
        && at + FRAME_BYTES + size <= bytes.len()
        && sequence > after
        && (1..=sequence).contains(&batch);
    fits.then_some(size)
}

/// What a search for the next record came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resumed {
    /// A record begins here.
    At(usize),
    /// There is none.
    Nowhere,
    /// It was given up: the bytes look like records at too many places.
    GivenUp,
}

/// The next record at or after `at` whose sequence is greater than `after`, by its checksum. `budget` is how many bytes may still be read
/// for checksums.
pub(super) fn resume(bytes: &[u8], at: usize, after: Sequence, budget: &mut usize) -> Resumed {
    for start in at..bytes.len() {
        let Some(size) = plausible(bytes, start, after) else { continue };
        let Some(left) = budget.checked_sub(size) else { return Resumed::GivenUp };
        *budget = left;
        if matches!(read(bytes, start), Ok(Some(_))) {
            return Resumed::At(start);
        }
    }
    Resumed::Nowhere
}
