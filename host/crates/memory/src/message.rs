//! What is captured: a message as it was said, with who, where and when.

use loopwright_contract::memory::Role;
use serde::{Deserialize, Serialize};

use crate::moment::Moment;

/// The longest text of one message, in bytes. Longer texts are split by whoever captures them.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// The longest name of a dialogue, a session or a speaker, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Why a message was not captured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// There is nothing to remember.
    #[error("the text is empty")]
    Empty,
    /// The text is too long.
    #[error("the text has {found} bytes: expected at most {TEXT_BYTES_MAX}\nhint: split it into messages")]
    TooLong {
        /// Its bytes.
        found: usize,
    },
    /// A name is empty or too long.
    #[error("the name of the {of} has {found} bytes: expected 1 to {NAME_BYTES_MAX}")]
    Name {
        /// Of what.
        of: &'static str,
        /// Its bytes.
        found: usize,
    },
    /// A character that text does not have.
    #[error("the {of} has the character U+0000 at byte {at}: expected text")]
    Nul {
        /// Of what.
        of: &'static str,
        /// Where, in bytes.
        at: usize,
    },
}

/// Where in a dialogue something was said, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The dialogue. Messages that follow each other in one session of it are neighbours.
    pub dialogue: String,
    /// The session of the dialogue.
    pub session: String,
    /// From 0, in the order of the session.
    pub position: u32,
    /// The speaker's name.
    pub speaker: String,
    /// What the speaker is.
    pub role: Role,
}

/// A message as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Where.
    pub place: Place,
    /// What, in its own language.
    pub text: String,
    /// When it was said. This is not when it was captured.
    pub mentioned: Moment,
}

impl Message {
    /// Checks the message against the limits.
    ///
    /// # Errors
    /// [`MessageError`] with the limit that it breaks.
    pub fn check(&self) -> Result<(), MessageError> {
        if self.text.trim().is_empty() {
            return Err(MessageError::Empty);
        }
        if self.text.len() > TEXT_BYTES_MAX {
            return Err(MessageError::TooLong { found: self.text.len() });
        }
        check_no_nul("text", &self.text)?;
        let names =
            [("dialogue", &self.place.dialogue), ("session", &self.place.session), ("speaker", &self.place.speaker)];
        for (of, name) in names {
            if !(1..=NAME_BYTES_MAX).contains(&name.len()) {
                return Err(MessageError::Name { of, found: name.len() });
            }
            check_no_nul(of, name)?;
        }
        Ok(())
    }
}

fn check_no_nul(of: &'static str, text: &str) -> Result<(), MessageError> {
    match text.find('\0') {
        Some(at) => Err(MessageError::Nul { of, at }),
        None => Ok(()),
    }
}
