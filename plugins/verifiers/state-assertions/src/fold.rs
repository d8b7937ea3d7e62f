//! When two texts are the same.

use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// What is folded beyond NFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fold {
    /// Compatibility characters: full width, ligatures.
    Nfkc,
    /// Upper and lower case.
    Case,
    /// Typographic quotation marks and apostrophes.
    Quotes,
}

/// A text in the form in which it is compared.
pub(crate) fn text(text: &str, folds: &[Fold]) -> String {
    let mut out: String = if folds.contains(&Fold::Nfkc) { text.nfkc().collect() } else { text.nfc().collect() };
    if folds.contains(&Fold::Case) {
        out = out.to_lowercase();
    }
    if folds.contains(&Fold::Quotes) {
        out = out
            .chars()
            .map(|character| match character {
                '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' => '\'',
                '\u{201c}' | '\u{201d}' | '\u{201f}' | '\u{2033}' => '"',
                other => other,
            })
            .collect();
    }
    out
}

/// What people say, in the form in which it is searched.
pub(crate) fn speech(said: &str) -> String {
    text(said, &[Fold::Nfkc, Fold::Case, Fold::Quotes])
}

/// Whether two values are the same: numbers by value, text as folded, the rest by structure.
pub(crate) fn same(a: &Value, b: &Value, folds: &[Fold]) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b || text(a, folds) == text(b, folds),
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, folds)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, folds)))
        }
        (a, b) => a == b,
    }
}
