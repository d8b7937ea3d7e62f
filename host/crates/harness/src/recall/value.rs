//! Kinds of values: a request that names a time of day is likelier meant for a tool that takes one.
//!
//! The request's side is read by the grammars of `text`, so it is the same in both languages; the tool's side is read
//! from the names and types of its arguments.

use std::collections::BTreeSet;
use std::ops::Range;

use loopwright_text::{ClockExpression, TimeExpression, find_numbers, find_times, tokenize};
use serde_json::Value;

/// A kind of value, as a term that no text can contain.
type Kind = &'static str;

const CLOCK: Kind = "<clock>";
const DATE: Kind = "<date>";
const LENGTH: Kind = "<length>";
const NUMBER: Kind = "<number>";
const TEXT: Kind = "<text>";

/// Words of argument names, split as the tokenizer splits them, with the kind of value that such arguments take.
const NAMES: &[(Kind, &[&str])] = &[
    (CLOCK, &["time", "datetime", "start", "end", "until", "from", "at", "due", "hour"]),
    (DATE, &["date", "datetime", "day", "when", "due", "start", "end"]),
    (LENGTH, &["duration", "min", "minute", "sec", "second", "timeout", "delay"]),
    (
        NUMBER,
        &["level", "percent", "amount", "value", "size", "number", "count", "limit", "mb", "expression", "intensity"],
    ),
    (TEXT, &["text", "content", "body", "message", "title", "label", "subject", "note"]),
];

/// What a request names, and where the words for it stand.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) kinds: BTreeSet<Kind>,
    /// Byte ranges of times and dates, whose words are values and no subjects.
    pub(super) times: Vec<Range<usize>>,
}

/// The values of a request; `quoted` are its quotations, which are values as a whole.
pub(super) fn values(request: &str, quoted: &[Range<usize>]) -> Values {
    let is_quoted =
        |range: &Range<usize>| quoted.iter().any(|quote| quote.start <= range.start && range.end <= quote.end);
    let mut values = Values::default();
    for found in find_times(request).into_iter().filter(|found| !is_quoted(&found.range)) {
        values.kinds.extend(kinds_of_time(&found.expression));
        values.times.push(found.range);
    }
    let is_time =
        |range: &Range<usize>| values.times.iter().any(|time| time.start < range.end && range.start < time.end);
    if find_numbers(request).iter().any(|found| !is_quoted(&found.range) && !is_time(&found.range)) {
        values.kinds.insert(NUMBER);
    }
    if !quoted.is_empty() {
        values.kinds.insert(TEXT);
    }
    values
}

fn kinds_of_time(expression: &TimeExpression) -> &'static [Kind] {
    match expression {
        TimeExpression::Date(_) | TimeExpression::DateClock(_, ClockExpression::Part(_)) => &[DATE],
        TimeExpression::Clock(_) => &[CLOCK],
        TimeExpression::DateClock(_, ClockExpression::At(_)) => &[DATE, CLOCK],
        TimeExpression::Offset { .. } => &[CLOCK, LENGTH],
        TimeExpression::Length(_) => &[LENGTH],
    }
}

/// The kinds of values that a property of an arguments schema takes.
pub(super) fn kinds_of_argument(name: &str, property: &Value) -> BTreeSet<Kind> {
    let stem = |word: &str| tokenize(word).into_iter().map(|token| token.text).next();
    let words: BTreeSet<String> = tokenize(name).into_iter().map(|token| token.text).collect();
    let named = |list: &[&str]| list.iter().filter_map(|word| stem(word)).any(|word| words.contains(&word));
    // An argument with listed values takes none of the request's own.
    if property.get("enum").is_some() {
        return BTreeSet::new();
    }
    NAMES.iter().filter(|(_, list)| named(list)).map(|(kind, _)| *kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopwright_text::quotations;
    use serde_json::json;

    #[test]
    fn both_languages_name_the_same_kinds() {
        let rows: &[(&str, &[Kind])] = &[
            ("Yoga on March 12 at 1:25 pm", &[CLOCK, DATE]),
            ("3月12号下午1点25分做瑜伽", &[CLOCK, DATE]),
            ("wait 20 minutes", &[LENGTH]),
            ("等二十分钟", &[LENGTH]),
            ("brightness to 40", &[NUMBER]),
            ("亮度调到四十", &[NUMBER]),
            ("tell Bob \"at 7:30, 5 of us\"", &[TEXT]),
            ("告诉他“七点半见”", &[TEXT]),
            ("turn on the torch", &[]),
        ];
        for (request, expected) in rows {
            let kinds: Vec<Kind> = values(request, &quotations(request)).kinds.into_iter().collect();
            assert_eq!(kinds, *expected, "values of {request:?}");
        }
    }

    #[test]
    fn an_argument_takes_what_its_name_says_unless_its_values_are_listed() {
        let kinds = |name: &str, property: Value| kinds_of_argument(name, &property).into_iter().collect::<Vec<_>>();
        assert_eq!(kinds("endTime", json!({"type": "string"})), [CLOCK, DATE]);
        assert_eq!(kinds("durationSec", json!({"type": "integer"})), [LENGTH]);
        assert_eq!(kinds("level", json!({"type": "integer"})), [NUMBER]);
        assert!(kinds("level", json!({"enum": ["low", "high"]})).is_empty());
        assert!(kinds("ssid", json!({})).is_empty());
    }
}
