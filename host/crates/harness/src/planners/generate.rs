//! Random values out of a schema. Values of the profile's usual forms conform; a pattern or a combination may be missed.

use serde_json::{Map, Value, json};

use crate::random::Generator;

/// How deep a value nests.
const DEPTH_MAX: u32 = 6;
/// Items of an array beyond the least that is asked for.
const ITEMS_MORE_MAX: u64 = 2;
/// Least items of an array that are made; a schema may ask for absurdly many.
const ITEMS_MAX: u64 = 16;
/// Values of one whole value, nested ones included; what would be beyond is left empty.
const VALUES_MAX: u32 = 1000;
/// Whole numbers without bounds lie within this distance of zero.
const SPAN: i64 = 100;

const WORDS: [&str; 12] =
    ["home", "work", "alarm", "note", "07:30", "2026-01-05", "music", "Anna", "weather", "会议", "闹钟", "家"];

/// A random value for a schema.
pub(super) fn generate(schema: &Value, generator: &mut Generator) -> Value {
    Maker { generator, left: VALUES_MAX }.value(schema, 0)
}

/// Makes one value within [`VALUES_MAX`].
struct Maker<'a> {
    generator: &'a mut Generator,
    left: u32,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, depth: u32) -> Value {
        self.left = self.left.saturating_sub(1);
        let nests = depth < DEPTH_MAX && self.left > 0;
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return self.generator.pick(options).cloned().unwrap_or(Value::Null);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(key).and_then(Value::as_array)
                && nests
            {
                return self.generator.pick(options).map_or(Value::Null, |option| self.value(option, depth + 1));
            }
        }
        match kind(schema, self.generator) {
            "boolean" => Value::Bool(self.generator.chance(1, 2)),
            "integer" => json!(integer(schema, self.generator)),
            "number" => number(schema, self.generator),
            "string" => json!(string(schema, self.generator)),
            "array" if nests => self.array(schema, depth),
            "array" => json!([]),
            "object" if nests => self.object(schema, depth),
            "object" => json!({}),
            _ => Value::Null,
        }
    }

    fn array(&mut self, schema: &Value, depth: u32) -> Value {
        let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
        let least = limit("minItems").unwrap_or(0).min(ITEMS_MAX);
        let most = limit("maxItems").unwrap_or(u64::MAX).min(least + ITEMS_MORE_MAX).max(least);
        let count = least + self.generator.below(most - least + 1);
        let empty = json!({});
        let items = schema.get("items").unwrap_or(&empty);
        Value::Array((0..count).map(|_| self.value(items, depth + 1)).collect())
    }

    fn object(&mut self, schema: &Value, depth: u32) -> Value {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = names.filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let mut properties: Vec<(&String, &Value)> = properties.collect();
        // The order of keys means nothing, so it must not decide which random number goes where.
        properties.sort_by(|left, right| left.0.cmp(right.0));
        let mut map = Map::new();
        for (name, property) in properties {
            if required.contains(&name.as_str()) || self.generator.chance(1, 3) {
                map.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        Value::Object(map)
    }
}

fn kind<'a>(schema: &'a Value, generator: &mut Generator) -> &'a str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => generator.pick(kinds).and_then(Value::as_str).unwrap_or("null"),
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

/// A bound by the inclusive or the exclusive keyword.
fn bound(schema: &Value, inclusive: &str, exclusive: &str, step: i64) -> Option<i64> {
    let exclusive = schema.get(exclusive).and_then(Value::as_i64).map(|bound| bound.saturating_add(step));
    schema.get(inclusive).and_then(Value::as_i64).or(exclusive)
}

fn integer(schema: &Value, generator: &mut Generator) -> i64 {
    let least = bound(schema, "minimum", "exclusiveMinimum", 1);
    let most = bound(schema, "maximum", "exclusiveMaximum", -1);
    let (least, most) = match (least, most) {
        (Some(least), Some(most)) => (least, most.max(least)),
        (Some(least), None) => (least, least.saturating_add(SPAN)),
        (None, Some(most)) => (most.saturating_sub(SPAN), most),
        (None, None) => (-SPAN, SPAN),
    };
    let span = most.abs_diff(least).saturating_add(1);
    least.saturating_add_unsigned(generator.below(span))
}

fn number(schema: &Value, generator: &mut Generator) -> Value {
    let whole = integer(schema, generator);
    let most = bound(schema, "maximum", "exclusiveMaximum", -1);
    // A half keeps within the bounds unless the whole number is the greatest.
    if generator.chance(1, 2) && most != Some(whole) && whole.unsigned_abs() < 1 << 50 {
        #[expect(clippy::cast_precision_loss, reason = "below 2^50")]
        return json!(whole as f64 + 0.5);
    }
    json!(whole)
}

fn string(schema: &Value, generator: &mut Generator) -> String {
    let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
    let mut text = generator.pick(&WORDS).copied().unwrap_or_default().to_owned();
    let least = usize::try_from(limit("minLength").unwrap_or(0).min(256)).unwrap_or(0);
    while text.chars().count() < least {
        text.push('x');
    }
    match limit("maxLength").and_then(|most| usize::try_from(most).ok()) {
        Some(most) => text.chars().take(most).collect(),
        None => text,
    }
}
