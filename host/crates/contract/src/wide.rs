//! Integers beyond 2^53 in records: written as decimal text, because I-JSON's numbers end at 2^53 - 1; read from text or number.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// Writes the value as decimal text.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Reads decimal text or a number.
///
/// # Errors
/// Those of the deserializer, and for anything that is not an integer from 0 to 2^64 - 1.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Wide)
}

/// The same for a value that may be absent.
pub mod optional {
    use serde::{Deserialize as _, Deserializer, Serializer};

    /// Writes the value as decimal text.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    /// Reads decimal text, a number, or nothing.
    ///
    /// # Errors
    /// As [`deserialize`](super::deserialize).
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        #[derive(serde::Deserialize)]
        struct Present(#[serde(with = "super")] u64);
        Ok(Option::<Present>::deserialize(deserializer)?.map(|Present(value)| value))
    }
}

struct Wide;

impl Visitor<'_> for Wide {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an integer from 0 to 2^64 - 1, as a number or as decimal text")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<u64, E> {
        // `parse` also reads a leading `+`, which would be a second spelling of one value.
        if !value.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(E::invalid_value(serde::de::Unexpected::Str(value), &self));
        }
        value.parse().map_err(|_| E::invalid_value(serde::de::Unexpected::Str(value), &self))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use crate::json::{JsonLimits, canonical, parse};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Instant(#[serde(with = "super")] u64);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Seeded {
        #[serde(default, skip_serializing_if = "Option::is_none", with = "super::optional")]
        seed: Option<u64>,
    }

    #[test]
    fn what_may_be_absent_survives_too() {
        for (seed, text) in [(None, "{}"), (Some(u64::MAX), r#"{"seed":"18446744073709551615"}"#)] {
            assert_eq!(canonical(&serde_json::to_value(Seeded { seed }).unwrap()), text);
            let read = parse(text, &JsonLimits::CONTRACT).unwrap();
            assert_eq!(serde_json::from_value::<Seeded>(read).unwrap(), Seeded { seed });
        }
        assert_eq!(serde_json::from_value::<Seeded>(json!({"seed": 7})).unwrap(), Seeded { seed: Some(7) });
        assert!(serde_json::from_value::<Seeded>(json!({"seed": "+1"})).is_err());
    }

    #[test]
    fn an_instant_survives_canonical_text_to_the_last_nanosecond() {
        for value in [0, 1_736_000_000_123_456_789, u64::MAX] {
            let text = canonical(&serde_json::to_value(Instant(value)).unwrap());
            let read = parse(&text, &JsonLimits::CONTRACT).unwrap();
            assert_eq!(serde_json::from_value::<Instant>(read).unwrap(), Instant(value));
        }
        assert_eq!(serde_json::from_value::<Instant>(json!(7)).unwrap(), Instant(7));
        for bad in [json!(-1), json!("+1"), json!(""), json!("1.5"), json!("18446744073709551616"), json!(null)] {
            assert!(serde_json::from_value::<Instant>(bad.clone()).is_err(), "{bad} was read");
        }
    }
}
