//! The canonical text of whatever can be serialised, written as it is visited: no value is built in between.

use std::fmt::Display;

use serde::ser::{self, Serialize};

use super::{write_double, write_integer, write_string};

/// Why something has no canonical text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot be written as JSON: {reason}")]
pub struct UnwritableError {
    /// What was wrong.
    pub reason: String,
}

impl ser::Error for UnwritableError {
    fn custom<T: Display>(message: T) -> Self {
        Self { reason: message.to_string() }
    }
}

fn unwritable<T>(reason: &str) -> Result<T, UnwritableError> {
    Err(UnwritableError { reason: reason.to_owned() })
}

/// The canonical text (RFC 8785) of a value: what [`super::canonical`] gives of its `serde_json::Value`, without building that.
///
/// # Errors
/// [`UnwritableError`] for a map whose keys are no text, and whatever the value's own `Serialize` refuses.
pub fn canonical_of<T: Serialize + ?Sized>(value: &T) -> Result<String, UnwritableError> {
    let mut text = String::with_capacity(256);
    value.serialize(Writer { out: &mut text })?;
    Ok(text)
}

struct Writer<'a> {
    out: &'a mut String,
}

/// An array that is being written.
struct Elements<'a> {
    out: &'a mut String,
    first: bool,
    /// What closes it: an array of a variant stands in an object.
    close: &'static str,
}

/// An object that is being written. Its members stand in `out` from `start` on as they came, and are put in order at the end.
struct Object<'a> {
    out: &'a mut String,
    start: usize,
    members: Vec<Member>,
    close: &'static str,
}

/// Where a member stands. It ends where the next one begins.
struct Member {
    key: String,
    /// Of its key's quotation mark.
    at: usize,
}

impl<'a> Object<'a> {
    fn open(out: &'a mut String, close: &'static str) -> Self {
        out.push('{');
        let start = out.len();
        Self { out, start, members: Vec::new(), close }
    }

    fn key(&mut self, key: String) {
        self.members.push(Member { at: self.out.len(), key });
        if let Some(member) = self.members.last() {
            write_string(&member.key, self.out);
        }
        self.out.push(':');
    }

    fn done(&mut self) {
        self.out.push(',');
    }

    fn end(self) {
        let Self { out, start, members, close } = self;
        if members.windows(2).all(|pair| matches!(pair, [a, b] if precedes(&a.key, &b.key))) {
            if !members.is_empty() {
                out.pop();
            }
        } else {
            sort(out, start, members);
        }
        out.push_str(close);
    }
}

/// Whether a key stands before another by UTF-16 code units, and is not the same.
fn precedes(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() { a < b } else { a.encode_utf16().lt(b.encode_utf16()) }
}

/// Puts the members of an object in order. Of two with one key the later stays, as in a map.
fn sort(out: &mut String, start: usize, members: Vec<Member>) {
    let written = out.split_off(start);
    let ends: Vec<usize> = members.iter().skip(1).map(|member| member.at).chain([start + written.len()]).collect();
    let mut members: Vec<(Member, usize)> = members.into_iter().zip(ends).collect();
    members.sort_by(|(a, _), (b, _)| {
        if a.key == b.key {
            std::cmp::Ordering::Equal
        } else if precedes(&a.key, &b.key) {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Greater
        }
    });
    let mut rest = members.iter().peekable();
    while let Some((member, end)) = rest.next() {
        if rest.peek().is_some_and(|(next, _)| next.key == member.key) {
            continue;
        }
        // With the comma behind it.
        out.push_str(written.get(member.at - start..end - start).unwrap_or_default());
    }
    out.pop();
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = UnwritableError;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Elements<'a>;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Object<'a>;
    type SerializeStruct = Object<'a>;
    type SerializeStructVariant = Object<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), UnwritableError> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), UnwritableError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), UnwritableError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), UnwritableError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), UnwritableError> {
        write_integer(value, self.out);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), UnwritableError> {
        self.serialize_i64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), UnwritableError> {
        self.serialize_i64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), UnwritableError> {
        self.serialize_i64(value.into())
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 the canonical text is that of the nearest double")]
    fn serialize_u64(self, value: u64) -> Result<(), UnwritableError> {
        match i64::try_from(value) {
            Ok(value) => write_integer(value, self.out),
            Err(_) => write_double(value as f64, self.out),
        }
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), UnwritableError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), UnwritableError> {
        if value.is_finite() {
            write_double(value, self.out)
        } else {
            self.out.push_str("null")
        }
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), UnwritableError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), UnwritableError> {
        write_string(value, self.out);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), UnwritableError> {
        value.iter().collect::<Vec<_>>().serialize(self)
    }

    fn serialize_none(self) -> Result<(), UnwritableError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), UnwritableError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), UnwritableError> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), UnwritableError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), UnwritableError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), UnwritableError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), UnwritableError> {
        variant_of(self.out, variant);
        value.serialize(Writer { out: self.out })?;
        self.out.push('}');
        Ok(())
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Elements<'a>, UnwritableError> {
        self.out.push('[');
        Ok(Elements { out: self.out, first: true, close: "]" })
    }

    fn serialize_tuple(self, length: usize) -> Result<Elements<'a>, UnwritableError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result<Elements<'a>, UnwritableError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Elements<'a>, UnwritableError> {
        variant_of(self.out, variant);
        self.out.push('[');
        Ok(Elements { out: self.out, first: true, close: "]}" })
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Object<'a>, UnwritableError> {
        Ok(Object::open(self.out, "}"))
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Object<'a>, UnwritableError> {
        Ok(Object::open(self.out, "}"))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Object<'a>, UnwritableError> {
        variant_of(self.out, variant);
        Ok(Object::open(self.out, "}}"))
    }
}

/// The beginning of the object that a variant with content is.
fn variant_of(out: &mut String, variant: &str) {
    out.push('{');
    write_string(variant, out);
    out.push(':');
}

impl Elements<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnwritableError> {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        value.serialize(Writer { out: self.out })
    }

    fn close(self) {
        self.out.push_str(self.close);
    }
}

macro_rules! elements {
    ($($kind:ident $method:ident;)*) => {$(
        impl ser::$kind for Elements<'_> {
            type Ok = ();
            type Error = UnwritableError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnwritableError> {
                self.element(value)
            }

            fn end(self) -> Result<(), UnwritableError> {
                self.close();
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

impl ser::SerializeMap for Object<'_> {
    type Ok = ();
    type Error = UnwritableError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), UnwritableError> {
        self.key(key_text(key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnwritableError> {
        value.serialize(Writer { out: self.out })?;
        self.done();
        Ok(())
    }

    fn end(self) -> Result<(), UnwritableError> {
        Object::end(self);
        Ok(())
    }
}

/// A key's own text. Keys that are numbers or variants are texts in JSON.
fn key_text<T: Serialize + ?Sized>(key: &T) -> Result<String, UnwritableError> {
    match serde_json::to_value(key) {
        Ok(serde_json::Value::String(text)) => Ok(text),
        Ok(serde_json::Value::Number(number)) => Ok(number.to_string()),
        Ok(serde_json::Value::Bool(value)) => Ok(value.to_string()),
        _ => unwritable("a key of a map is no text"),
    }
}

macro_rules! fields {
    ($($kind:ident;)*) => {$(
        impl ser::$kind for Object<'_> {
            type Ok = ();
            type Error = UnwritableError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), UnwritableError> {
                self.key(key.to_owned());
                value.serialize(Writer { out: self.out })?;
                self.done();
                Ok(())
            }

            fn end(self) -> Result<(), UnwritableError> {
                Object::end(self);
                Ok(())
            }
        }
    )*};
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::super::canonical;
    use super::*;

    #[derive(Serialize)]
    enum Kind {
        Unit,
        New(u8),
        Pair(u8, &'static str),
        Named { z: bool, a: Option<u8> },
    }

    #[derive(Serialize)]
    #[serde(tag = "line", rename_all = "snake_case")]
    enum Tagged {
        Header(Box<Inner>),
    }

    #[derive(Serialize)]
    struct Inner {
        zone: &'static str,
        at_ns: u64,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    #[derive(Serialize)]
    struct All {
        kinds: Vec<Kind>,
        unit: (),
        byte: i8,
        large: u64,
        half: f32,
        nothing: f64,
        letter: char,
        numbered: BTreeMap<u32, bool>,
        tagged: Tagged,
        list: [u16; 2],
        empty: BTreeMap<String, u8>,
    }

    #[test]
    fn every_shape_is_written_as_its_value_is() {
        let rest = BTreeMap::from([("b".to_owned(), json!({"y": 1, "x": 2})), ("\u{fb33}".to_owned(), json!(1.5))]);
        let all = All {
            kinds: vec![Kind::Unit, Kind::New(1), Kind::Pair(2, "\"\\\n\u{1}é"), Kind::Named { z: true, a: None }],
            unit: (),
            byte: -1,
            large: u64::MAX,
            half: 0.5,
            nothing: f64::NAN,
            letter: '\u{1f600}',
            numbered: BTreeMap::from([(10, true), (9, false)]),
            tagged: Tagged::Header(Box::new(Inner { zone: "UTC", at_ns: 1 << 60, rest })),
            list: [1, 2],
            empty: BTreeMap::new(),
        };
        let value = serde_json::to_value(&all).unwrap();
        assert_eq!(canonical_of(&all), Ok(canonical(&value)));
    }

    #[test]
    fn of_two_members_with_one_key_the_later_stays() {
        struct Twice;
        impl Serialize for Twice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map([("b", 1), ("a", 2), ("b", 3)])
            }
        }
        assert_eq!(canonical_of(&Twice), Ok(canonical(&serde_json::to_value(Twice).unwrap())));
    }

    #[test]
    fn a_key_that_is_no_text_is_refused() {
        assert!(canonical_of(&BTreeMap::from([((1, 2), 3)])).unwrap_err().to_string().contains("key"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(|integer| json!(integer)),
            any::<u64>().prop_map(|integer| json!(integer)),
            any::<f64>().prop_map(|double| json!(double)),
            "\\PC{0,12}".prop_map(Value::String),
            "[\\x00-\\x7f]{0,12}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                proptest::collection::btree_map("\\PC{0,6}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_written_alike_in_both_ways(value in any_json()) {
            prop_assert_eq!(canonical_of(&value), Ok(canonical(&value)));
        }
    }
}
