//! What a publisher signs: one text, of one form, for one meaning.
//!
//! A statement is lines of a word and a value in a fixed order. It has exactly one text: what reads is written back the same, so no two
//! readers can see different things in the same signed bytes. The golden files beside the tests hold the form.

use std::{fmt, str::FromStr};

use loopwright_contract::digest::{ContentDigest, ManifestDigest, RequestDigest};

use crate::{
    moment::Moment,
    name::{NameError, Release, parse_version},
};

/// The first line; another form would be another version.
const HEAD: &str = "loopwright statement v1";
/// Most bytes of a statement.
pub const STATEMENT_BYTES_LIMIT: usize = 2_048;
/// Most characters of a reason.
pub const REASON_CHARACTERS_LIMIT: usize = 200;

/// What the statement does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Publishes the release.
    Publish,
    /// Withdraws it: nobody should install it anew.
    Yank {
        /// Why, in one line for people.
        reason: Reason,
    },
}

/// One line of text without control characters, 1 to 200 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Reason {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        // A terminal shows it: nothing that steers one, and nothing that reads in another order than it is written.
        let accepts = |character: char| {
            !character.is_control()
                && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let fits = (1..=REASON_CHARACTERS_LIMIT).contains(&text.chars().count());
        if fits && text.chars().all(accepts) && text.trim() == text {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError::new("reason", text, "one line of 1 to 200 characters without control characters"))
    }
}

/// What a publisher says of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What it does.
    pub act: Act,
    /// To which release.
    pub release: Release,
    /// The component.
    pub content: ContentDigest,
    /// The manifest that names the component.
    pub manifest: ManifestDigest,
    /// What the component asks for.
    pub request: RequestDigest,
    /// When it was issued, as its issuer says.
    pub issued: Moment,
}

impl fmt::Display for Statement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let act = match self.act {
            Act::Publish => "publish",
            Act::Yank { .. } => "yank",
        };
        writeln!(formatter, "{HEAD}\nact {act}\npackage {}\nversion {}", self.release.package, self.release.version)?;
        writeln!(formatter, "content {}\nmanifest {}\nrequest {}", self.content, self.manifest, self.request)?;
        writeln!(formatter, "issued {}", self.issued)?;
        match &self.act {
            Act::Publish => Ok(()),
            Act::Yank { reason } => writeln!(formatter, "reason {}", reason.0),
        }
    }
}

impl FromStr for Statement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > STATEMENT_BYTES_LIMIT {
            return Err(format!("a statement of {} bytes, at most {STATEMENT_BYTES_LIMIT} are allowed", text.len()));
        }
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        if head != HEAD {
            let found: String = head.chars().take(80).collect();
            return Err(format!("expected `{HEAD}`, found `{found}`"));
        }
        let mut field = |name: &'static str| -> Result<&str, String> {
            let line = lines.next().and_then(|line| line.strip_prefix(name)).and_then(|line| line.strip_prefix(' '));
            line.ok_or_else(|| format!("expected a line `{name} …`"))
        };
        let act = field("act")?.to_owned();
        let package = field("package")?.parse().map_err(text_of)?;
        let version = field("version")?;
        let version = parse_version(version).ok_or_else(|| "the version is none".to_owned())?;
        let content = field("content")?.parse().map_err(text_of)?;
        let manifest = field("manifest")?.parse().map_err(text_of)?;
        let request = field("request")?.parse().map_err(text_of)?;
        let issued = field("issued")?.parse().map_err(text_of)?;
        let act = match act.as_str() {
            "publish" => Act::Publish,
            "yank" => Act::Yank { reason: field("reason")?.parse().map_err(text_of)? },
            _ => return Err("expected `act publish` or `act yank`".to_owned()),
        };
        let statement = Self { act, release: Release { package, version }, content, manifest, request, issued };
        // Line ends, spaces, leading zeros, lines behind the last: whatever is not the one form.
        if statement.to_string() == text {
            Ok(statement)
        } else {
            Err("not in the form that statements are written in".to_owned())
        }
    }
}

fn text_of(error: impl fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(act: Act) -> Statement {
        Statement {
            act,
            release: "acme:notes@1.2.0".parse().unwrap(),
            content: ContentDigest::of(b"component"),
            manifest: ManifestDigest::of(b"manifest"),
            request: RequestDigest::of(b""),
            issued: Moment::from_seconds(1_796_000_000).unwrap(),
        }
    }

    #[test]
    fn there_is_one_form_and_it_is_golden() {
        let yank = statement(Act::Yank { reason: "leaks phone numbers".parse().unwrap() });
        for (statement, golden) in [
            (statement(Act::Publish), include_str!("../tests/golden/publish.statement")),
            (yank, include_str!("../tests/golden/yank.statement")),
        ] {
            assert_eq!(statement.to_string(), golden);
            assert_eq!(golden.parse(), Ok(statement));
            for other in [
                golden.replace('\n', "\r\n"),
                golden.trim_end().to_owned(),
                format!("{golden}\n"),
                format!("{golden}extra line\n"),
                golden.replace(" v1", " v2"),
                golden.replace("version 1.2.0", "version 1.2.0+x"),
                golden.replace("version 1.2.0", "version  1.2.0"),
                golden.replace("content sha256:", "content sha512:"),
                golden.replace("act ", "act un"),
                golden.replace("content", "manifest"),
                golden.replace("20Z", "20.0Z"),
                "x".repeat(STATEMENT_BYTES_LIMIT + 1),
                String::new(),
            ] {
                assert!(other.parse::<Statement>().is_err(), "{other:?} was read");
            }
        }
    }

    #[test]
    fn reasons_cannot_steer_a_terminal() {
        assert!("é".repeat(REASON_CHARACTERS_LIMIT).parse::<Reason>().is_ok());
        for text in ["", " ", "a\nb", "a\u{1b}[2J", "a\u{202e}b", " a", &"x".repeat(REASON_CHARACTERS_LIMIT + 1)] {
            assert!(text.parse::<Reason>().is_err(), "{text:?} was read");
        }
    }
}
