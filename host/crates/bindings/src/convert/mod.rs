//! Between the generated types and the contract's, with the contract's checks on the way in. `*_in` reads what a guest gave, `*_out` makes
//! what a guest gets.

pub mod call;
pub mod catalogue;
pub mod environment;
pub mod evidence;
pub mod identity;
pub mod skill;
pub mod state;
pub mod time;
pub mod verdict;

use loopwright_contract::{
    json::{self, JsonLimits},
    limits::{LIST_LENGTH_MAX, MESSAGE_BYTES_MAX},
    name::NameError,
    tool::Localized,
};
use serde_json::Value;

use crate::{Violation, afv::types};

/// What stands at the end of a text that was cut.
const CUT_MARK: &str = "… [cut]";
/// Bytes of a localized text.
const LOCALIZED_BYTES_MAX: usize = 2048;
/// Bytes of a name, a domain or a requirement.
const NAME_BYTES_MAX: usize = 64;

/// Cuts a text to `bytes_max` bytes at a character, with a mark where something is missing.
#[must_use]
pub fn clipped(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let mut end = bytes_max.saturating_sub(CUT_MARK.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(CUT_MARK);
    }
    text
}

fn message(at: &str, text: String) -> Result<String, Violation> {
    Ok(clipped(without_nul(at, text)?, MESSAGE_BYTES_MAX))
}

fn without_nul(at: &str, text: String) -> Result<String, Violation> {
    if text.contains('\0') { Err(Violation::new(at, "expected text without NUL, found one")) } else { Ok(text) }
}

fn bounded(at: &str, text: String, bytes_max: usize) -> Result<String, Violation> {
    if text.len() > bytes_max {
        return Err(Violation::new(at, format_args!("expected at most {bytes_max} bytes, found {}", text.len())));
    }
    without_nul(at, text)
}

fn json_in(at: &str, text: &str) -> Result<Value, Violation> {
    json::parse(text, &JsonLimits::CONTRACT).map_err(|error| Violation::new(at, error))
}

fn named<T>(at: &str, name: Result<T, NameError>) -> Result<T, Violation> {
    name.map_err(|error| Violation::new(at, error))
}

/// Converts each element, and refuses a list that is longer than the contract allows.
fn list<T, U>(
    at: &str,
    items: Vec<T>,
    length_max: usize,
    convert: impl Fn(T) -> Result<U, Violation>,
) -> Result<Vec<U>, Violation> {
    if items.len() > length_max {
        return Err(Violation::new(at, format_args!("expected at most {length_max} elements, found {}", items.len())));
    }
    items
        .into_iter()
        .enumerate()
        .map(|(position, item)| convert(item).map_err(|error| error.within(format_args!("{at}[{position}]"))))
        .collect()
}

fn ext_in(ext: types::Ext) -> Result<Vec<(String, Value)>, Violation> {
    list("ext", ext, LIST_LENGTH_MAX, |(key, text)| {
        let value = json_in("value", &text)?;
        Ok((bounded("key", key, NAME_BYTES_MAX)?, value))
    })
}

fn localized_in(at: &str, texts: Vec<types::Localized>) -> Result<Vec<Localized>, Violation> {
    list(at, texts, LIST_LENGTH_MAX, |text| {
        let lang = named("lang", text.lang.parse())?;
        Ok(Localized { lang, text: bounded("text", text.text, LOCALIZED_BYTES_MAX)? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        assert_eq!(clipped("short".into(), 5), "short");
        let cut = clipped("名".repeat(100), 50);
        assert!(cut.len() <= 50 && cut.starts_with('名') && cut.ends_with(CUT_MARK), "{cut}");
    }

    #[test]
    fn a_violation_says_where() {
        let result = list("items", vec!["1", "{"], 5, |text| json_in("value", text));
        assert!(result.is_err_and(|error| error.at == "items[1].value"));
        let result = list("items", vec![(); 6], 5, Ok);
        assert!(result.is_err_and(|error| error.to_string() == "items: expected at most 5 elements, found 6"));
    }
}
