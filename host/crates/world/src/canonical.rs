//! Recognises text that is already canonical I-JSON (RFC 8785, RFC 7493), in one pass and without allocation.
//!
//! Guests usually print canonical text, since their maps are sorted. Then a `put` need not build a tree and print it again,
//! which would cost more than the rest of the call. The check is one-sided: `true` is certain, `false` sends the text
//! to the full parser, which decides. It does not recognise what is rare: numbers with a fraction or exponent of more than
//! 15 digits, `\u` escapes, and names with an escape or with characters whose order differs between UTF-8 and UTF-16.

use crate::limits::{DOCUMENT_BYTES_LIMIT, DOCUMENT_DEPTH_LIMIT};

/// The largest integer that I-JSON allows.
const INTEGER_MAX: u64 = (1 << 53) - 1;
/// Digits (and sign, and point) of a number that is compared with its canonical form.
const NUMBER_BYTES_MAX: usize = 17;
/// From this byte on, UTF-8 order and UTF-16 order of member names may differ.
const NAME_BYTE_UNSURE: u8 = 0xEE;

/// Whether the text is certainly canonical I-JSON within the limits of a document.
pub(crate) fn is_canonical(text: &str) -> bool {
    if text.len() > DOCUMENT_BYTES_LIMIT {
        return false;
    }
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    scan.value(DOCUMENT_DEPTH_LIMIT).is_some() && scan.at == text.len()
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, expected: u8) -> Option<()> {
        (self.peek()? == expected).then(|| self.at += 1)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        rest.starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// One value; `depth` is how many more levels of nesting are allowed.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'"' => self.string().map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        let mut last: Option<&'a [u8]> = None;
        loop {
            let name = self.string()?;
            let sure = name.iter().all(|byte| *byte != b'\\' && *byte < NAME_BYTE_UNSURE);
            if !sure || last.is_some_and(|last| last >= name) {
                return None;
            }
            last = Some(name);
            self.take(b':')?;
            self.value(depth)?;
            if self.peek()? == b'}' {
                return self.take(b'}');
            }
            self.take(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        loop {
            self.value(depth)?;
            if self.peek()? == b']' {
                return self.take(b']');
            }
            self.take(b',')?;
        }
    }

    /// A string literal; returns what stands between its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    let escape = *self.bytes.get(self.at + 1)?;
                    matches!(escape, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't').then_some(())?;
                    self.at += 2;
                }
                // Controls must be escaped.
                0..=0x1F => return None,
                byte if byte >= 0xEF => self.wide_character(byte)?,
                _ => self.at += 1,
            }
        }
        let inner = self.bytes.get(start..self.at)?;
        self.take(b'"')?;
        Some(inner)
    }

    /// Steps over a lead byte after which a code point may be one that Unicode reserves as "not a character".
    fn wide_character(&mut self, lead: u8) -> Option<()> {
        let second = *self.bytes.get(self.at + 1)?;
        let third = *self.bytes.get(self.at + 2)?;
        let unsure = if lead == 0xEF {
            second == 0xB7 || (second == 0xBF && third >= 0xBE)
        } else {
            second & 0x0F == 0x0F && third == 0xBF && *self.bytes.get(self.at + 3)? >= 0xBE
        };
        (!unsure).then(|| self.at += 1)
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let bytes = self.bytes.get(start..self.at)?;
        let text = std::str::from_utf8(bytes).ok()?;
        (is_canonical_integer(text) || is_canonical_fraction(text)).then_some(())
    }
}

fn is_canonical_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() && digits.len() <= 16;
    if !plain || (digits.starts_with('0') && text != "0") {
        return false;
    }
    digits.parse::<u64>().is_ok_and(|value| value <= INTEGER_MAX)
}

fn is_canonical_fraction(text: &str) -> bool {
    if text.len() > NUMBER_BYTES_MAX || !text.contains('.') {
        return false;
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => ryu_js::Buffer::new().format_finite(value) == text,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::json;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::document::JSON_LIMITS;

    #[test]
    fn what_guests_print_is_recognised() {
        for text in [
            "null",
            "true",
            "false",
            "0",
            "-1",
            "12.5",
            "-0.25",
            "9007199254740991",
            "\"\"",
            "\"a\\n\\\"\\\\é名😀\"",
            "[]",
            "{}",
            "[1,[2],{}]",
            r#"{"a":1,"b":[true,null],"c":{"d":"e"}}"#,
            r#"{"":0,"A":1,"a":2,"é":3,"名":4}"#,
        ] {
            assert!(is_canonical(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_canonical_is_left_to_the_parser() {
        for text in [
            "",
            " 1",
            "1 ",
            "01",
            "-0",
            "1.0",
            "1e3",
            "1E400",
            "9007199254740992",
            "0.10",
            ".5",
            "1.",
            "+1",
            "--1",
            "tru",
            "nul",
            "NaN",
            "\"",
            "\"\u{1}\"",
            "\"\\u0041\"",
            "\"\\/\"",
            "\"\\x\"",
            "[1,]",
            "[1 ,2]",
            "[",
            "]",
            "{\"a\":1,\"a\":2}",
            "{\"b\":1,\"a\":2}",
            "{\"a\" :1}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\\n\":1}",
            "{\"\u{fb33}\":1,\"\u{1f600}\":2}",
            "\"\u{fffe}\"",
            "\"\u{fdd0}\"",
            "\"\u{1ffff}\"",
            "{}{}",
            "\u{feff}1",
        ] {
            assert!(!is_canonical(text), "{text:?}");
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_canonical(&nested(DOCUMENT_DEPTH_LIMIT)));
        assert!(!is_canonical(&nested(DOCUMENT_DEPTH_LIMIT + 1)));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(|number| json!(number)),
            (-100i32..100).prop_map(|number| json!(f64::from(number) / 8.0)),
            "[a-c\"\\\\\n/é名\u{1f600}\u{ffff}\u{7f}\u{1}]{0,6}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map("[a-c\"é名\u{1f600}\u{fb33}]{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// The check is one-sided: whatever it accepts, the full parser accepts and prints unchanged. Texts are near misses of JSON.
        #[test]
        fn accepted_text_is_canonical(value in any_value(), position in any::<prop::sample::Index>(), with in "[0-9\\[\\]{}\",:.eE \\\\-]{0,2}", cut in 0usize..3) {
            let text = json::canonical(&value);
            let characters: Vec<char> = text.chars().collect();
            let at = position.index(characters.len() + 1);
            let rest = characters.get((at + cut).min(characters.len())..).unwrap_or_default();
            let changed: String = characters[..at].iter().copied().chain(with.chars()).chain(rest.iter().copied()).collect();
            for text in [text, changed] {
                if is_canonical(&text) {
                    let parsed = json::parse(&text, &JSON_LIMITS);
                    prop_assert_eq!(parsed.map(|value| json::canonical(&value)), Ok(text));
                }
            }
        }
    }
}
