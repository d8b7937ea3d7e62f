//! JSON from outside: the I-JSON profile (RFC 7493) with limits, and the canonical text of RFC 8785.
//!
//! `serde_json::Value` is the data model. A value that came through [`parse`] is *normal*: no duplicate keys, every number finite, and a
//! whole number is stored as an integer, so that `25` and `25.0` are equal values and have one canonical text.

mod rewrite;
mod write;

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

pub use rewrite::canonical_text;
pub use write::{UnwritableError, canonical_of};

/// The largest integer that I-JSON lets pass: 2^53 - 1.
pub const INTEGER_MAX: i64 = (1 << 53) - 1;

/// What a JSON text may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Bytes of text.
    pub bytes_max: usize,
    /// Nesting of arrays and objects; a scalar has depth 0.
    pub depth_max: usize,
}

impl JsonLimits {
    /// What crosses the plugin contract: 256 KiB, depth 32.
    pub const CONTRACT: Self = Self { bytes_max: 256 * 1024, depth_max: 32 };
    /// Files of ours and of task packs, a line or a document at a time: 64 MiB, depth 64.
    pub const FILE: Self = Self { bytes_max: 64 * 1024 * 1024, depth_max: 64 };
}

/// Why a text is not JSON that we accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is longer than the limit.
    #[error("JSON text has {found} bytes, at most {limit} are allowed")]
    TooLong {
        /// Bytes allowed.
        limit: usize,
        /// Bytes found.
        found: usize,
    },
    /// Not JSON, or outside the profile; the message says what and at which line and column.
    #[error("not acceptable JSON: {reason}")]
    Malformed {
        /// What was wrong, and where.
        reason: String,
    },
}

/// Reads a JSON text within `limits`.
///
/// # Errors
/// [`JsonError`] for a text that is too long, not JSON, nested too deeply, has a duplicate key, an integer beyond [`INTEGER_MAX`] or a number
/// that no finite double holds.
pub fn parse(text: &str, limits: &JsonLimits) -> Result<Value, JsonError> {
    if text.len() > limits.bytes_max {
        return Err(JsonError::TooLong { limit: limits.bytes_max, found: text.len() });
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { depth_left: limits.depth_max, depth_max: limits.depth_max }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| JsonError::Malformed { reason: error.to_string() })?;
    Ok(value)
}

/// Brings a value that was built in memory to the normal form that [`parse`] gives: whole numbers become integers.
///
/// # Errors
/// [`JsonError`] for a number outside the profile or nesting beyond `limits`.
pub fn normalize(value: Value, limits: &JsonLimits) -> Result<Value, JsonError> {
    // The text is the one definition of the profile; values built in memory are small and rare.
    let text = serde_json::to_string(&value).map_err(|error| JsonError::Malformed { reason: error.to_string() })?;
    parse(&text, limits)
}

/// The canonical text of a value (RFC 8785): keys sorted by UTF-16 code units, numbers as ECMAScript prints them, no white space.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut text = String::with_capacity(128);
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(string) => write_string(string, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => write_object(map, out),
    }
}

fn write_object(map: &Map<String, Value>, out: &mut String) {
    // Byte order and UTF-16 order differ only where surrogates meet the end of the basic plane; ASCII keys, which a map has in byte order,
    // skip the slow comparison.
    if map.keys().all(|key| key.is_ascii()) && map.keys().is_sorted() {
        write_members(map.iter(), out);
    } else {
        let mut entries: Vec<(&String, &Value)> = map.iter().collect();
        entries.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
        write_members(entries.into_iter(), out);
    }
}

fn write_members<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>, out: &mut String) {
    out.push('{');
    for (position, (key, value)) in members.enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        write_canonical(value, out);
    }
    out.push('}');
}

fn write_number(number: &Number, out: &mut String) {
    match number.as_i64() {
        Some(integer) => write_integer(integer, out),
        None => write_double(number.as_f64().unwrap_or(0.0), out),
    }
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 the canonical text is that of the nearest double")]
fn write_integer(integer: i64, out: &mut String) {
    use fmt::Write as _;
    if integer.unsigned_abs() <= INTEGER_MAX.unsigned_abs() {
        let _ = write!(out, "{integer}");
    } else {
        write_double(integer as f64, out);
    }
}

fn write_double(double: f64, out: &mut String) {
    out.push_str(ryu_js::Buffer::new().format(double));
}

fn write_string(string: &str, out: &mut String) {
    use fmt::Write as _;
    out.push('"');
    // What needs no escape is copied in one piece.
    let mut rest = string;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next().unwrap_or_default() {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Reads one value and refuses what the profile refuses, while the parser still knows line and column.
#[derive(Clone, Copy)]
struct Strict {
    depth_left: usize,
    depth_max: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Self { depth_left, ..self }),
            None => Err(E::custom(format_args!("nested deeper than {} levels", self.depth_max))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > INTEGER_MAX.unsigned_abs() {
            return Err(E::custom(format_args!(
                "integer `{value}` is outside -(2^53-1) to 2^53-1; write it as a string"
            )));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => {
                Err(E::custom(format_args!("integer `{value}` is outside -(2^53-1) to 2^53-1; write it as a string")))
            }
        }
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if !value.is_finite() {
            return Err(E::custom("a number is too large for a double"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "guarded: whole and within 2^53"
        )]
        if value.fract() == 0.0 && value.abs() <= INTEGER_MAX as f64 {
            return Ok(Value::Number((value as i64).into()));
        }
        if value.abs() > 9_007_199_254_740_991.0 && value.fract() == 0.0 && value.abs() < 1e21 {
            return Err(E::custom(format_args!(
                "integer `{value}` is outside -(2^53-1) to 2^53-1; write it as a string"
            )));
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        if value.contains('\0') {
            return Err(E::custom("a string contains NUL"));
        }
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        use serde::de::Error as _;
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            let value = access.next_value_seed(inner)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// The value that a JSON pointer (RFC 6901) leads to.
#[must_use]
pub fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    value.pointer(pointer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, JsonError> {
        parse(text, &JsonLimits::CONTRACT)
    }

    #[test]
    fn numbers_are_normal() {
        assert_eq!(read("25.0"), Ok(json!(25)));
        assert_eq!(read("-0.0"), Ok(json!(0)));
        assert_eq!(read("1e3"), Ok(json!(1000)));
        assert_eq!(read("0.5"), Ok(json!(0.5)));
        assert_eq!(read("9007199254740991"), Ok(json!(9_007_199_254_740_991_i64)));
    }

    #[test]
    fn the_profile_is_enforced() {
        for (text, part) in [
            (r#"{"a":1,"a":2}"#, "duplicate key `a`"),
            (r#"{"a":1,"\u0061":2}"#, "duplicate key `a`"),
            ("9007199254740992", "2^53-1"),
            ("-9007199254740992", "2^53-1"),
            ("9007199254740993.0", "2^53-1"),
            ("1e400", "out of range"),
            ("[1,]", "line 1 column 4"),
            ("{} {}", "trailing"),
            ("", "EOF"),
            (r#""\u0000""#, "NUL"),
            (r#""\ud800""#, "hex escape"),
        ] {
            match read(text) {
                Err(error) => assert!(error.to_string().contains(part), "`{text}` gave `{error}`, expected `{part}`"),
                Ok(value) => panic!("`{text}` was accepted as {value}"),
            }
        }
    }

    #[test]
    fn depth_and_size_have_limits() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(32)).is_ok());
        assert!(read(&nested(33)).is_err_and(|error| error.to_string().contains("32 levels")));
        assert!(read(&nested(100_000)).is_err());
        let long = format!("\"{}\"", "x".repeat(256 * 1024));
        assert_eq!(read(&long), Err(JsonError::TooLong { limit: 262_144, found: 262_146 }));
    }

    #[test]
    fn canonical_text_follows_rfc_8785() {
        // The example of RFC 8785, section 3.2.2.
        let value = read(
            r#"{"numbers":[333333333.33333329,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
        );
        assert_eq!(
            value.map(|value| canonical(&value)),
            Ok(r#"{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#.to_owned())
        );
        // Section 3.2.3: keys sort by UTF-16 code units.
        let value = read("{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\u{20ac}\":3,\"\\r\":4,\"1\":5,\"\u{80}\":6,\"\u{f6}\":7}");
        assert_eq!(
            value.map(|value| canonical(&value)),
            Ok("{\"\\r\":4,\"1\":5,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"
                .to_owned())
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            (-INTEGER_MAX..=INTEGER_MAX).prop_map(|integer| json!(integer)),
            (-1e9..1e9_f64).prop_map(|double| json!(double)),
            "[^\\x00]{0,12}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                proptest::collection::btree_map("[^\\x00]{0,6}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_text_is_a_fixed_point(value in any_json()) {
            let normal = normalize(value, &JsonLimits::CONTRACT).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let text = canonical(&normal);
            let again = parse(&text, &JsonLimits::CONTRACT).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&again, &normal);
            prop_assert_eq!(canonical(&again), text);
        }

        #[test]
        fn any_text_gives_an_answer(text in "\\PC{0,64}") {
            let _ = read(&text);
        }
    }
}
