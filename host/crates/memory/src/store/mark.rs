//! Keyed marks: what stands for a text, a message or a key on disk, so that who lacks the user's key learns nothing from it.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::event::Content;
use crate::id::RootKey;
use crate::message::Message;

const MARK_BYTES: usize = 16;

/// The first half of an HMAC-SHA-256 under the user's key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mark([u8; MARK_BYTES]);

/// A text is no mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no mark: expected 32 lower-case hexadecimal digits")]
pub struct MarkError;

impl Mark {
    fn of(key: &RootKey, domain: &str, parts: &[&[u8]]) -> Self {
        let mut mark = [0; MARK_BYTES];
        mark.iter_mut().zip(key.digest(domain, parts)).for_each(|(to, from)| *to = from);
        Self(mark)
    }

    /// Of a text, whatever its case, its white space, its punctuation and the way in which its characters are composed.
    #[must_use]
    pub fn of_text(key: &RootKey, text: &str) -> Self {
        Self::of(key, "text", &[normalised(text).as_bytes()])
    }

    /// Of a message at its place: the same text at another place has another.
    #[must_use]
    pub fn of_message(key: &RootKey, message: &Message) -> Self {
        let place = &message.place;
        let role = serde_json::to_vec(&place.role).unwrap_or_default();
        let position = place.position.to_le_bytes();
        let parts: [&[u8]; 6] = [
            place.dialogue.as_bytes(),
            place.session.as_bytes(),
            &position,
            place.speaker.as_bytes(),
            &role,
            message.text.as_bytes(),
        ];
        Self::of(key, "message", &parts)
    }

    /// Of an idempotency key.
    #[must_use]
    pub fn of_key(key: &RootKey, idempotency_key: &str) -> Self {
        Self::of(key, "key", &[idempotency_key.as_bytes()])
    }

    /// Of a derived unit: what it says and what it rests on, not when it was kept. Derived twice, it is the same.
    #[must_use]
    pub fn of_content(key: &RootKey, content: &Content) -> Self {
        let activation = content.activation.as_ref();
        // Not when it fired or was done: that is what happens to it later.
        let due = activation.map(|activation| (&activation.due, &activation.condition, &activation.valid_until));
        let of = (content.layer, &content.claim, &content.event, &content.place, &content.evidence, due);
        let rest = serde_json::to_vec(&of).unwrap_or_default();
        Self::of(key, "content", &[content.text.as_bytes(), &rest])
    }
}

/// A text as tombstones compare it: NFKC, lower case, letters and digits alone; of a text without any, the text.
fn normalised(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).filter(|ch| ch.is_alphanumeric()).collect();
    if folded.is_empty() { text.nfkc().collect() } else { folded }
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mark({self})")
    }
}

impl TryFrom<String> for Mark {
    type Error = MarkError;

    fn try_from(text: String) -> Result<Self, MarkError> {
        let mut mark = [0; MARK_BYTES];
        let lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match hex::decode_to_slice(&text, &mut mark) {
            Ok(()) if lower => Ok(Self(mark)),
            _ => Err(MarkError),
        }
    }
}

impl From<Mark> for String {
    fn from(mark: Mark) -> Self {
        mark.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_again_in_other_clothes() {
        let key = RootKey::new([1; 32]);
        let mark = Mark::of_text(&key, "My PIN is ４２１７.");
        for same in ["my pin is 4217", "  MY  PIN is 4217 ", "my pin\tis 4217!"] {
            assert_eq!(Mark::of_text(&key, same), mark, "{same}");
        }
        assert_ne!(Mark::of_text(&key, "my pin is 4218"), mark);
        assert_ne!(Mark::of_text(&RootKey::new([2; 32]), "my pin is 4217"), mark);
        assert_ne!(Mark::of_text(&key, "?!"), Mark::of_text(&key, "..."));
    }

    #[test]
    fn marks_read_back_and_nothing_else_does() {
        let mark = Mark::of_text(&RootKey::new([1; 32]), "x");
        assert_eq!(Mark::try_from(mark.to_string()), Ok(mark));
        for text in ["", "00", "ABCDEF0123456789abcdef0123456789", "g0000000000000000000000000000000"] {
            assert_eq!(Mark::try_from(text.to_owned()), Err(MarkError), "{text}");
        }
    }
}
