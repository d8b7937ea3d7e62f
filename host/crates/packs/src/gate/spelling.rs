//! The same arguments in other spellings, as raw text of a call.

use std::fmt::Write as _;

use loopwright_contract::action::{Action, Proposed};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

/// How arguments are written.
#[derive(Clone, Copy)]
struct Style {
    /// Keys backwards, white space, whole numbers as `25.0`, `\u` escapes.
    odd: bool,
    /// Text in NFD instead of NFC.
    decomposed: bool,
}

/// Other spellings of a gold that has calls, each with what was done.
pub(super) fn spellings(gold: &[Vec<Action>]) -> Vec<(String, Vec<Vec<Proposed>>)> {
    let arguments = || {
        gold.iter()
            .flatten()
            .filter_map(|action| if let Action::Call(call) = action { Some(&call.arguments) } else { None })
    };
    let mut all = Vec::new();
    if arguments().any(|arguments| arguments.as_object().is_some_and(|map| !map.is_empty())) {
        let style = Style { odd: true, decomposed: false };
        all.push((
            "the gold with 25.0 for 25, keys in another order and escaped text".to_owned(),
            written(gold, style),
        ));
    }
    if arguments().any(|arguments| {
        spelt(arguments, Style { odd: false, decomposed: true })
            != spelt(arguments, Style { odd: false, decomposed: false })
    }) {
        let style = Style { odd: false, decomposed: true };
        all.push(("the gold with text in NFD".to_owned(), written(gold, style)));
    }
    all
}

fn written(gold: &[Vec<Action>], style: Style) -> Vec<Vec<Proposed>> {
    let one = |action: &Action| match action {
        Action::Call(call) => Proposed::Call {
            id: Some(call.id.to_string()),
            name: call.tool.to_string(),
            arguments: spelt(&call.arguments, style),
        },
        other => Proposed::Action { value: other.clone() },
    };
    gold.iter().map(|turn| turn.iter().map(one).collect()).collect()
}

fn spelt(value: &Value, style: Style) -> String {
    let mut out = String::new();
    write(value, style, &mut out);
    out
}

fn write(value: &Value, style: Style, out: &mut String) {
    match value {
        Value::Number(number) if style.odd && number.is_i64() => {
            let _ = write!(out, "{number}.0");
        }
        Value::String(text) => write_text(text, style, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                separate(position, style, out);
                write(item, style, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            // The map may keep insertion order or not; both spellings fix an order of their own.
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            if style.odd {
                entries.reverse();
            }
            out.push('{');
            for (position, (key, value)) in entries.into_iter().enumerate() {
                separate(position, style, out);
                write_text(key, Style { decomposed: false, ..style }, out);
                out.push_str(if style.odd { " : " } else { ":" });
                write(value, style, out);
            }
            out.push('}');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn separate(position: usize, style: Style, out: &mut String) {
    if position > 0 {
        out.push_str(if style.odd { ",\n " } else { "," });
    }
}

fn write_text(text: &str, style: Style, out: &mut String) {
    let text: String = if style.decomposed { text.nfd().collect() } else { text.to_owned() };
    if !style.odd {
        let _ = write!(out, "{}", Value::String(text));
        return;
    }
    out.push('"');
    for unit in text.encode_utf16() {
        match u8::try_from(unit).ok().filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' '))
        {
            Some(byte) => out.push(char::from(byte)),
            None => {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use loopwright_contract::json::{JsonLimits, parse};
    use proptest::prelude::*;
    use serde_json::json;

    use super::{Style, spelt};

    proptest! {
        #[test]
        fn an_odd_spelling_is_the_same_value(text in "[^\\x00]{0,20}", number in -1_000_000..1_000_000_i64, flag: bool) {
            let value = json!({"text": text, "number": number, "list": [flag, null, 0.5], "inner": {"b": 1, "a": text}});
            let odd = spelt(&value, Style { odd: true, decomposed: false });
            prop_assert_eq!(parse(&odd, &JsonLimits::CONTRACT).map_err(|error| TestCaseError::fail(error.to_string()))?, value);
        }
    }

    #[test]
    fn text_is_decomposed_and_numbers_are_doubles() {
        assert_eq!(spelt(&json!({"a": "é"}), Style { odd: false, decomposed: true }), "{\"a\":\"e\u{301}\"}");
        assert_eq!(
            spelt(&json!({"a": 25, "b": "é"}), Style { odd: true, decomposed: false }),
            "{\"b\" : \"\\u00e9\",\n \"a\" : 25.0}"
        );
    }
}
