//! One line's text, and the chain from line to line.

use loopwright_contract::digest::LineDigest;
use loopwright_contract::json::canonical;
use loopwright_contract::trajectory::{Kept, Line, Record};
use serde::Serialize;
use serde_json::Value;

/// The chain: the digest of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    last: LineDigest,
}

impl Default for Chain {
    fn default() -> Self {
        Self { last: LineDigest::of(b"") }
    }
}

impl Chain {
    /// The digest of the last line.
    #[must_use]
    pub fn last(&self) -> LineDigest {
        self.last
    }

    /// The text of the next line, without a line break, and moves the chain on.
    ///
    /// # Errors
    /// A line that cannot be written as JSON; no line of ours is one.
    pub fn append(&mut self, line: &Line) -> Result<String, serde_json::Error> {
        let value = serde_json::to_value(line)?;
        let mut entries: Vec<(String, String)> = vec![("prev".to_owned(), quoted(self.last))];
        for (key, inner) in value.as_object().into_iter().flatten() {
            entries.push((key.clone(), canonical(inner)));
        }
        // Keys of lines are ASCII, so byte order is RFC 8785's order.
        entries.sort();
        self.last = LineDigest::of(joined(&entries).as_bytes());
        entries.push(("digest".to_owned(), quoted(self.last)));
        entries.sort();
        Ok(joined(&entries))
    }

    /// Moves the chain over a line that was read.
    pub(crate) fn advance(&mut self, digest: LineDigest) {
        self.last = digest;
    }
}

fn quoted(digest: LineDigest) -> String {
    format!("\"{digest}\"")
}

fn joined(entries: &[(String, String)]) -> String {
    let bytes: usize = entries.iter().map(|(key, value)| key.len() + value.len() + 4).sum();
    let mut text = String::with_capacity(bytes + 2);
    for (key, value) in entries {
        text.push(if text.is_empty() { '{' } else { ',' });
        text.push('"');
        text.push_str(key);
        text.push_str("\":");
        text.push_str(value);
    }
    text.push('}');
    text
}

/// A line's canonical text without chain.
///
/// # Errors
/// As [`Chain::append`].
pub fn canonical_line(line: &Line) -> Result<String, serde_json::Error> {
    serde_json::to_value(line).map(|value| canonical(&value))
}

/// A value, or its digest when only digests are recorded.
pub(crate) fn kept<T: Serialize>(record: Record, value: T) -> Kept<T> {
    match record {
        Record::Full => Kept::Full(value),
        Record::Digest => {
            let value = serde_json::to_value(&value).unwrap_or(Value::Null);
            Kept::Digest(LineDigest::of(canonical(&value).as_bytes()))
        }
    }
}
