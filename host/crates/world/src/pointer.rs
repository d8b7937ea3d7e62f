//! JSON pointers (RFC 6901), parsed once.

use loopwright_contract::state::StateError;

use crate::{error::over, limits::POINTER_BYTES_LIMIT, slice};

/// A JSON pointer such as `/wifi/on`. The empty pointer names the whole document.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer {
    text: String,
    names: Vec<String>,
}

impl Pointer {
    /// Parses a pointer.
    ///
    /// # Errors
    /// `Invalid` when it is neither empty nor starts with `/`, or has a `~` that no `0` or `1` follows; `Limit` above 256 bytes.
    pub fn parse(text: &str) -> Result<Self, StateError> {
        if text.len() > POINTER_BYTES_LIMIT {
            return Err(over("bytes of a pointer", POINTER_BYTES_LIMIT, text.len()));
        }
        let names = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(|name| unescape(name, text)).collect::<Result<_, _>>()?,
            None if text.is_empty() => Vec::new(),
            None => {
                return Err(StateError::Invalid(format!(
                    "pointer `{text}`: expected it to be empty or to start with `/`"
                )));
            }
        };
        Ok(Pointer { text: text.to_owned(), names })
    }

    /// The pointer as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names on the way from the root, without escapes.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The slice of canonical JSON text that the pointer names.
    pub(crate) fn slice<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.names.iter().try_fold(text, |value, name| slice::child(value, name))
    }
}

fn unescape(name: &str, pointer: &str) -> Result<String, StateError> {
    let mut plain = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        if character != '~' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('0') => plain.push('~'),
            Some('1') => plain.push('/'),
            _ => return Err(StateError::Invalid(format!("pointer `{pointer}`: expected `~0` or `~1` after each `~`"))),
        }
    }
    Ok(plain)
}

impl std::fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::fmt::Debug for Pointer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Pointer({:?})", self.text)
    }
}

impl std::str::FromStr for Pointer {
    type Err = StateError;

    fn from_str(text: &str) -> Result<Self, StateError> {
        Pointer::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The examples of RFC 6901 section 5, as canonical text.
    const EXAMPLE: &str =
        r#"{"":0," ":7,"a/b":1,"c%d":2,"e^f":3,"foo":["bar","baz"],"g|h":4,"i\\j":5,"k\"l":6,"m~n":8}"#;

    #[test]
    fn the_examples_of_the_rfc_hold() {
        let rows = [
            ("/foo", r#"["bar","baz"]"#),
            ("/foo/0", r#""bar""#),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
            ("", EXAMPLE),
        ];
        let value: Value = serde_json::from_str(EXAMPLE).unwrap();
        for (pointer, expected) in rows {
            let found = Pointer::parse(pointer).unwrap();
            assert_eq!(found.slice(EXAMPLE), Some(expected), "pointer {pointer:?}");
            let same: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(value.pointer(pointer), Some(&same), "pointer {pointer:?} in another implementation");
        }
    }

    #[test]
    fn malformed_pointers_are_refused() {
        for text in ["a", "/~", "/~2", "/a~"] {
            assert!(matches!(Pointer::parse(text), Err(StateError::Invalid(_))), "{text:?}");
        }
        assert!(matches!(Pointer::parse(&format!("/{}", "a".repeat(POINTER_BYTES_LIMIT))), Err(StateError::Limit(_))));
        assert!(Pointer::parse(&format!("/{}", "a".repeat(POINTER_BYTES_LIMIT - 1))).is_ok());
    }
}
