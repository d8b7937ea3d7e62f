//! Reads trajectories that may come from anywhere.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use loopwright_contract::digest::LineDigest;
use loopwright_contract::json::{JsonLimits, canonical, parse};
use loopwright_contract::trajectory::{FORMAT, Footer, Header, Line, Trajectory};
use serde_json::{Map, Value};

use super::line::Chain;

/// Bytes of one line.
pub const LINE_BYTES_MAX: usize = JsonLimits::FILE.bytes_max;
/// Bytes of one file, uncompressed.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Why a file is no trajectory.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too large.
    #[error("more than {FILE_BYTES_MAX} bytes")]
    TooLong,
    /// It holds no whole line.
    #[error("no whole line; expected a header")]
    Empty,
    /// A line is not as it should be.
    #[error("line {line}: {reason}")]
    Line {
        /// From 1.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
}

/// A trajectory as it was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrajectory {
    /// Its content.
    pub trajectory: Trajectory,
    /// The text of each line, in order, without line breaks.
    pub lines: Vec<String>,
    /// Bytes after the last whole line, which were left out: a run that was cut off while it wrote.
    pub torn_bytes: usize,
}

impl StoredTrajectory {
    /// Whether the run was recorded to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.trajectory.footer.is_some()
    }

    /// Lines that are neither verdicts nor the footer: the header and the turns.
    #[must_use]
    pub fn course_lines(&self) -> usize {
        1 + self.trajectory.turns.len()
    }
}

/// Reads a file, compressed when its name ends in `.zst`, up to its last whole line.
///
/// # Errors
/// [`ReadError`].
pub fn read_file(path: &Path) -> Result<StoredTrajectory, ReadError> {
    let failed = |source| ReadError::Io { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "zst") {
        let read = zstd::Decoder::new(file).map_err(failed)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
        // A compressed file that was cut off still gives what came before.
        if let Err(source) = read
            && bytes.is_empty()
        {
            return Err(failed(source));
        }
    } else {
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ReadError::TooLong);
    }
    read_bytes(&bytes)
}

/// The files of a folder that are named as trajectories, sorted by name; other files are passed over.
///
/// # Errors
/// [`ReadError::Io`] when the folder cannot be read.
pub fn read_folder(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let failed = |source| ReadError::Io { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads the bytes of an uncompressed file up to its last whole line.
///
/// # Errors
/// [`ReadError`] with the number of the first line that is not as it should be.
pub fn read_bytes(bytes: &[u8]) -> Result<StoredTrajectory, ReadError> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let torn_bytes = bytes.len() - whole;
    let mut chain = Chain::default();
    let mut reading = Reading::default();
    let mut lines = Vec::new();
    for (index, line) in bytes.get(..whole).unwrap_or_default().split_inclusive(|byte| *byte == b'\n').enumerate() {
        let at = |reason: String| ReadError::Line { line: index + 1, reason };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let text =
            std::str::from_utf8(line).map_err(|error| at(format!("not UTF-8 after {} bytes", error.valid_up_to())))?;
        reading.take(chained(text, &mut chain).map_err(at)?).map_err(at)?;
        lines.push(text.to_owned());
    }
    let trajectory = reading.finish().ok_or(ReadError::Empty)?;
    Ok(StoredTrajectory { trajectory, lines, torn_bytes })
}

/// Reads one line, checks that it is canonical and continues the chain.
fn chained(text: &str, chain: &mut Chain) -> Result<Line, String> {
    let value = parse(text, &JsonLimits::FILE).map_err(|error| error.to_string())?;
    if canonical(&value) != text {
        return Err("not in canonical form".to_owned());
    }
    let Value::Object(mut map) = value else { return Err("expected a JSON object".to_owned()) };
    let stated = digest(&mut map, "digest")?;
    let text = canonical(&Value::Object(map.clone()));
    let found = LineDigest::of(text.as_bytes());
    if found != stated {
        return Err(format!("the line was changed: it says digest {stated}, its content has {found}"));
    }
    let previous = digest(&mut map, "prev")?;
    if previous != chain.last() {
        return Err(format!(
            "the line does not follow the one before: it says prev {previous}, the line before has {}",
            chain.last()
        ));
    }
    chain.advance(stated);
    serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())
}

fn digest(map: &mut Map<String, Value>, key: &str) -> Result<LineDigest, String> {
    match map.remove(key) {
        Some(Value::String(text)) => text.parse().map_err(|error| format!("`{key}`: {error}")),
        Some(_) => Err(format!("`{key}` is not a text")),
        None => Err(format!("`{key}` is missing")),
    }
}

/// The lines so far, in the order that the format demands.
#[derive(Default)]
struct Reading {
    header: Option<Header>,
    turns: Vec<loopwright_contract::trajectory::TurnRecord>,
    verdicts: Vec<loopwright_contract::verdict::JudgedCheck>,
    footer: Option<Footer>,
}

impl Reading {
    fn take(&mut self, line: Line) -> Result<(), String> {
        if self.footer.is_some() {
            return Err("a line after the footer".to_owned());
        }
        match line {
            Line::Header(header) if self.header.is_none() => self.header = Some(checked(*header)?),
            Line::Header(_) => return Err("a second header".to_owned()),
            _ if self.header.is_none() => return Err("expected a header".to_owned()),
            Line::Turn(_) if !self.verdicts.is_empty() => return Err("a turn after a verdict".to_owned()),
            Line::Turn(turn) if turn.turn as usize != self.turns.len() => {
                return Err(format!("turn {}, expected turn {}", turn.turn, self.turns.len()));
            }
            Line::Turn(turn) => self.turns.push(*turn),
            Line::Verdict(verdict) => self.verdicts.push(*verdict),
            Line::Footer(footer) if footer.turns as usize != self.turns.len() => {
                return Err(format!("the footer says {} turns, found {}", footer.turns, self.turns.len()));
            }
            Line::Footer(footer) => self.footer = Some(*footer),
        }
        Ok(())
    }

    fn finish(self) -> Option<Trajectory> {
        Some(Trajectory { header: self.header?, turns: self.turns, verdicts: self.verdicts, footer: self.footer })
    }
}

fn checked(header: Header) -> Result<Header, String> {
    if header.format != FORMAT {
        return Err(format!("format `{}`, expected `{FORMAT}`", crate::decode::cut(&header.format, 80)));
    }
    let found = header.task.digest();
    if found != header.task_digest {
        return Err(format!("the task has digest {found}, the header says {}", header.task_digest));
    }
    Ok(header)
}
