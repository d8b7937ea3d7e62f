//! Text of a guest, a model or a file, made safe to print. It knows no terminal: it only knows what terminals act on.

use std::fmt::{self, Display, Write as _};

/// Whether a terminal or a reader could be deceived by a character: it is a control character (C0, DEL, C1), it turns the direction of text
/// around, or it is a separator or a join that is not seen.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Soft hyphen, Arabic letter mark, zero-width characters and marks of direction.
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
            // Line and paragraph separators, embeddings and overrides of direction.
            | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates and deprecated format characters.
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Tags, which some models read and no person sees.
            | '\u{e0000}'..='\u{e007f}')
}

/// A text whose unsafe characters are shown by their numbers, as `\u{1b}`, on display. Nothing of it can move a cursor, start a line or
/// change what stands beside it.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'a>(pub &'a str);

impl Display for Plain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if is_unsafe(character) {
                write!(formatter, "\\u{{{:x}}}", u32::from(character))?;
            } else {
                formatter.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// JSON text in which unsafe characters inside strings are escaped, so that it can be printed; what it means is unchanged. Line ends and
/// blanks of its layout stay.
///
/// The text must be JSON: outside strings, only its layout can be a control character.
#[must_use]
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for character in text.chars() {
        if character == '\n' || !is_unsafe(character) {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown_by_number() {
        for (text, expected) in [
            ("打开 alarm", "打开 alarm"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\r\nb\tc", "a\\u{d}\\u{a}b\\u{9}c"),
            ("\u{7f}\u{9b}31m", "\\u{7f}\\u{9b}31m"),
            ("gnp\u{202e}exe\u{2066}", "gnp\\u{202e}exe\\u{2066}"),
            ("a\u{200b}b\u{feff}\u{e0041}", "a\\u{200b}b\\u{feff}\\u{e0041}"),
        ] {
            assert_eq!(Plain(text).to_string(), expected);
            assert!(!Plain(text).to_string().chars().any(is_unsafe));
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({"a\u{202e}": ["\u{7f}\u{9b}", "\u{1b}\n", "\u{e0041}"], "b": 1});
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let safe = json(&text);
            assert!(!safe.chars().any(|character| character != '\n' && is_unsafe(character)), "{safe:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        }
    }
}
