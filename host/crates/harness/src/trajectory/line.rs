//! One line's text, and the chain from line to line.

use loopwright_contract::digest::LineDigest;
use loopwright_contract::json::{UnwritableError, canonical_of};
use loopwright_contract::trajectory::{Kept, Line, Record};
use serde::Serialize;

/// How a header without plugins shows them.
const NO_PLUGINS: &str = "\"plugins\":[]";

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
    pub fn append(&mut self, line: &Line) -> Result<String, UnwritableError> {
        Ok(self.close(canonical_of(line)?))
    }

    /// The same of a header whose plugins were left out, with their canonical text in place: all episodes of a run have the same.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn append_with_plugins(&mut self, header: &Line, plugins: &str) -> Result<String, UnwritableError> {
        let mut text = canonical_of(header)?;
        // The member itself, by the last key that would stand before it.
        let at = place(&text, "pluginr");
        if let Some(end) = text.get(at..).filter(|rest| rest.starts_with(NO_PLUGINS)).map(|_| at + NO_PLUGINS.len()) {
            text.replace_range(end - 2..end, plugins);
        }
        Ok(self.close(text))
    }

    fn close(&mut self, mut text: String) -> String {
        insert(&mut text, "prev", self.last);
        self.last = LineDigest::of(text.as_bytes());
        insert(&mut text, "digest", self.last);
        text
    }

    /// Moves the chain over a line that was read.
    pub(crate) fn advance(&mut self, digest: LineDigest) {
        self.last = digest;
    }
}

/// Puts a member into the canonical text of a line, in its place: keys of lines are ASCII, so that byte order is RFC 8785's order.
fn insert(text: &mut String, key: &str, digest: LineDigest) {
    let at = place(text, key);
    // A line has at least the member that says what line it is.
    let member = if text.as_bytes().get(at) == Some(&b'}') {
        format!(",\"{key}\":\"{digest}\"")
    } else {
        format!("\"{key}\":\"{digest}\",")
    };
    text.insert_str(at, &member);
}

/// Where the first member with a greater key begins, or the brace that closes the object.
fn place(text: &str, key: &str) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => {
                in_string = !in_string;
                let begins = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
                let member = in_string && depth == 1 && matches!(begins, Some(b'{' | b','));
                let name = || text.get(at + 1..).and_then(|rest| rest.split('"').next()).unwrap_or_default();
                if member && name() > key {
                    return at;
                }
            }
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// A line's canonical text without chain.
///
/// # Errors
/// As [`Chain::append`].
pub fn canonical_line(line: &Line) -> Result<String, UnwritableError> {
    canonical_of(line)
}

/// A value, or its digest when only digests are recorded.
pub(crate) fn kept<T: Serialize>(record: Record, value: T) -> Kept<T> {
    match record {
        Record::Full => Kept::Full(value),
        Record::Digest => {
            // No value of ours is unwritable.
            let text = canonical_of(&value).unwrap_or_else(|_| "null".to_owned());
            Kept::Digest(LineDigest::of(text.as_bytes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_gets_its_place_among_the_line_s_own() {
        let digest = LineDigest::of(b"");
        for (text, key, expected) in [
            (r#"{"line":"x"}"#, "digest", r#"{"digest":"D","line":"x"}"#),
            (r#"{"line":"x"}"#, "prev", r#"{"line":"x","prev":"D"}"#),
            (
                r#"{"a":{"z":[1,"}"]},"line":"\"z\",\\","t":1}"#,
                "prev",
                r#"{"a":{"z":[1,"}"]},"line":"\"z\",\\","prev":"D","t":1}"#,
            ),
            (
                r#"{"a":["q","z"],"line":"x","z":{"p":1}}"#,
                "prev",
                r#"{"a":["q","z"],"line":"x","prev":"D","z":{"p":1}}"#,
            ),
        ] {
            let mut found = text.to_owned();
            insert(&mut found, key, digest);
            assert_eq!(found, expected.replace("\"D\"", &format!("\"{digest}\"")), "{text}");
        }
    }
}
