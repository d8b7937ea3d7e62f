//! From a JSON text to its canonical text without a value in between: what every document that a guest writes goes through.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

use super::{JsonError, JsonLimits, Strict, canonical, parse, write_number, write_string};

/// The canonical text of a JSON text within `limits`: what [`canonical`] gives of what [`parse`] reads.
///
/// # Errors
/// Those of [`parse`].
pub fn canonical_text(text: &str, limits: &JsonLimits) -> Result<String, JsonError> {
    if text.len() <= limits.bytes_max {
        let mut out = String::with_capacity(text.len());
        let strict = Strict { depth_left: limits.depth_max, depth_max: limits.depth_max };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let written = Rewrite { out: &mut out, strict }.deserialize(&mut deserializer);
        if written.and_then(|()| deserializer.end()).is_ok() {
            return Ok(out);
        }
    }
    // What is refused is refused in the words of the one definition of the profile; keys that are rare are put in order there too.
    parse(text, limits).map(|value| canonical(&value))
}

/// Writes one value behind what is there.
struct Rewrite<'a> {
    out: &'a mut String,
    strict: Strict,
}

/// Where a member of an object stands in the text that is written: from its key's quotation mark to its comma.
struct Member {
    at: usize,
    key_end: usize,
    end: usize,
}

impl<'de> DeserializeSeed<'de> for Rewrite<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Rewrite<'_> {
    fn number<E: serde::de::Error>(self, read: Result<serde_json::Value, E>) -> Result<(), E> {
        match read? {
            serde_json::Value::Number(number) => write_number(&number, self.out),
            _ => self.out.push_str("null"),
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Rewrite<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.out.push_str("null");
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        let read = self.strict.visit_i64(value);
        self.number(read)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        let read = self.strict.visit_u64(value);
        self.number(read)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        let read = self.strict.visit_f64(value);
        self.number(read)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        if value.contains('\0') {
            return Err(E::custom("a string contains NUL"));
        }
        write_string(value, self.out);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let strict = self.strict.deeper()?;
        self.out.push('[');
        let begin = self.out.len();
        while sequence.next_element_seed(Rewrite { out: self.out, strict })?.is_some() {
            self.out.push(',');
        }
        if self.out.len() > begin {
            self.out.pop();
        }
        self.out.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let strict = self.strict.deeper()?;
        self.out.push('{');
        let mut members = Vec::new();
        loop {
            let at = self.out.len();
            if access.next_key_seed(Key { out: self.out })?.is_none() {
                break;
            }
            let key_end = self.out.len();
            self.out.push(':');
            access.next_value_seed(Rewrite { out: self.out, strict })?;
            self.out.push(',');
            members.push(Member { at, key_end, end: self.out.len() });
        }
        if !in_order(self.out, members) {
            return Err(A::Error::custom("a key twice"));
        }
        self.out.push('}');
        Ok(())
    }
}

/// Puts the members of the object at the end of the text in order, and takes the last comma off. False: two have one key.
fn in_order(out: &mut String, mut members: Vec<Member>) -> bool {
    let Some(begin) = members.first().map(|member| member.at) else { return true };
    // Keys are ASCII without escapes, so that their text's order is theirs.
    let key = |out: &str, member: &Member| out.get(member.at + 1..member.key_end - 1).unwrap_or_default().to_owned();
    let ascending = |out: &str, members: &[Member]| {
        members.windows(2).all(|pair| matches!(pair, [a, b] if bytes(out, a) < bytes(out, b)))
    };
    if !ascending(out, &members) {
        members.sort_by_cached_key(|member| key(out, member));
        if !ascending(out, &members) {
            return false;
        }
        let mut sorted = String::with_capacity(out.len() - begin);
        members.iter().for_each(|member| sorted.push_str(out.get(member.at..member.end).unwrap_or_default()));
        out.truncate(begin);
        out.push_str(&sorted);
    }
    out.pop();
    true
}

/// A member's key. The quotation mark at its end would sort before most characters, so that it stays out.
fn bytes<'a>(out: &'a str, member: &Member) -> &'a [u8] {
    out.as_bytes().get(member.at + 1..member.key_end - 1).unwrap_or_default()
}

/// Writes a key of an object. One whose order its text does not show is left to the slow way.
struct Key<'a> {
    out: &'a mut String,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        if key.bytes().any(|byte| !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\') {
            return Err(E::custom("a rare key"));
        }
        self.out.push('"');
        self.out.push_str(key);
        self.out.push('"');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn slowly(text: &str) -> Result<String, JsonError> {
        parse(text, &JsonLimits::CONTRACT).map(|value| canonical(&value))
    }

    #[test]
    fn a_text_is_rewritten_or_refused_as_its_value_is() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let long = format!("\"{}\"", "x".repeat(256 * 1024));
        for text in [
            r#"{"b":1,"a":{"d":[1.0,-0.0,1e3,0.5],"c":null}, "aa" : "\u0041\n" }"#,
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"b":2,"a":1,"\u0061":3}"#,
            "{\"\u{fb33}\":1,\"\u{1f600}\":2,\"a\\\"\":3,\"a!\":4,\"a\":5}",
            "[]",
            "{}",
            r#"[{},[],""]"#,
            "9007199254740992",
            "1e400",
            "[1,]",
            "{} {}",
            "",
            r#""\u0000""#,
            r#"{"\u0000":1}"#,
            &nested(32),
            &nested(33),
            &nested(100_000),
            &long,
        ] {
            assert_eq!(canonical_text(text, &JsonLimits::CONTRACT), slowly(text), "{}", text.get(..80).unwrap_or(text));
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<i64>().prop_map(|integer| integer.to_string()),
            (-1e9..1e9_f64).prop_map(|double| format!("{double:?}")),
            "\\PC{0,8}".prop_map(|text| Value::String(text).to_string()),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let key = prop_oneof!["[a-c]{0,2}", "\\PC{0,3}"].prop_map(|key| Value::String(key).to_string());
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(" , "))),
                // Unsorted, and with keys that stand there twice.
                proptest::collection::vec((key, inner), 0..6).prop_map(|members| {
                    let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}:{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_text_is_rewritten_or_refused_as_its_value_is(text in any_text()) {
            prop_assert_eq!(canonical_text(&text, &JsonLimits::CONTRACT), slowly(&text));
        }

        #[test]
        fn what_is_no_json_is_refused_alike(text in "[\\[\\]{}:,\"a0 ]{0,12}") {
            prop_assert_eq!(canonical_text(&text, &JsonLimits::CONTRACT), slowly(&text));
        }
    }
}
