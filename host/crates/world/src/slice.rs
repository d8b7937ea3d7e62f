//! Reads canonical JSON text in place: which slice a pointer names, where a value ends, which strings occur.
//!
//! A stored document is canonical text and is never parsed to answer a query: a slice of canonical text is canonical
//! text itself, so that two slices are equal as text exactly when they are equal as JSON values. Nothing here checks its
//! input; on text that is not JSON a function returns `None` or a wrong slice, never an error of its own.

/// The end (exclusive) of the string literal that starts with the quote at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The end (exclusive) of the value that starts at `start`, in text without white space.
pub(crate) fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => string_end(bytes, start),
        b'{' | b'[' => container_end(bytes, start),
        _ => {
            let rest = bytes.get(start..)?;
            let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
            Some(start + length)
        }
    }
}

fn container_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

/// The members of an object, as (name literal with its quotes, value), in the text's order.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let bytes = object.as_bytes();
    let mut at = if bytes.first() == Some(&b'{') { 1 } else { bytes.len() };
    std::iter::from_fn(move || {
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let name_end = string_end(bytes, at)?;
        let end = value_end(bytes, name_end + 1)?;
        let pair = (object.get(at..name_end)?, object.get(name_end + 1..end)?);
        at = end + 1;
        Some(pair)
    })
}

/// The elements of an array, in order.
pub(crate) fn elements(array: &str) -> impl Iterator<Item = &str> {
    let bytes = array.as_bytes();
    let mut at = if bytes.first() == Some(&b'[') { 1 } else { bytes.len() };
    std::iter::from_fn(move || {
        if matches!(bytes.get(at), None | Some(b']')) {
            return None;
        }
        let end = value_end(bytes, at)?;
        let element = array.get(at..end)?;
        at = end + 1;
        Some(element)
    })
}

/// The text of a string literal, without its quotes and escapes; `None` when the slice is no string.
pub(crate) fn unescaped(literal: &str) -> Option<std::borrow::Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str::<String>(literal).ok().map(std::borrow::Cow::Owned)
    } else {
        Some(std::borrow::Cow::Borrowed(inner))
    }
}

/// Whether a string literal spells `text`.
fn spells(literal: &str, text: &str) -> bool {
    unescaped(literal).is_some_and(|found| found == text)
}

/// The value under `name` in an object, or at the index `name` in an array.
pub(crate) fn child<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    match value.as_bytes().first()? {
        b'{' => members(value).find(|(literal, _)| spells(literal, name)).map(|(_, value)| value),
        b'[' => elements(value).nth(array_index(name)?),
        _ => None,
    }
}

/// The text without the member or element that the names lead to; `None` when there is none. Canonical text stays canonical.
pub(crate) fn without(text: &str, names: &[String]) -> Option<String> {
    let (last, parents) = names.split_last()?;
    let parent = parents.iter().try_fold(text, |value, name| child(value, name))?;
    let found = child(parent, last)?;
    let offset = |part: &str| (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    let (mut start, mut end) = (offset(found)?, offset(found)? + found.len());
    if parent.starts_with('{') {
        let name = members(parent).find(|(_, value)| value.as_ptr() == found.as_ptr())?.0;
        start = offset(name)?;
    }
    let bytes = text.as_bytes();
    if bytes.get(end) == Some(&b',') {
        end += 1;
    } else if start.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b',') {
        start -= 1;
    }
    Some([text.get(..start)?, text.get(end..)?].concat())
}

/// An array index as RFC 6901 writes it: digits without a leading zero.
pub(crate) fn array_index(name: &str) -> Option<usize> {
    let plain = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if plain { name.parse().ok() } else { None }
}

/// Calls `visit` with every string literal of the text, member names included.
pub(crate) fn for_each_string<'a>(text: &'a str, mut visit: impl FnMut(&'a str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'"')) {
        let start = at + offset;
        let Some(end) = string_end(bytes, start) else { return };
        if let Some(literal) = text.get(start..end) {
            visit(literal);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"a":[1,{"b":"x,]}"},[]],"c\"d":null,"e":{},"f":"g"}"#;

    #[test]
    fn children_are_found_by_name_and_by_index() {
        assert_eq!(child(TEXT, "a"), Some(r#"[1,{"b":"x,]}"},[]]"#));
        assert_eq!(child(TEXT, "c\"d"), Some("null"));
        assert_eq!(child(TEXT, "e"), Some("{}"));
        assert_eq!(child(TEXT, "z"), None);
        let array = child(TEXT, "a").unwrap();
        assert_eq!(child(array, "0"), Some("1"));
        assert_eq!(child(array, "1").and_then(|value| child(value, "b")), Some(r#""x,]}""#));
        assert_eq!(child(array, "2"), Some("[]"));
        for absent in ["3", "01", "-", "+1", ""] {
            assert_eq!(child(array, absent), None, "index {absent:?}");
        }
    }

    #[test]
    fn parts_are_cut_out_with_their_comma() {
        let rows: [(&[&str], Option<&str>); 9] = [
            (&["a"], Some(r#"{"c\"d":null,"e":{},"f":"g"}"#)),
            (&["c\"d"], Some(r#"{"a":[1,{"b":"x,]}"},[]],"e":{},"f":"g"}"#)),
            (&["f"], Some(r#"{"a":[1,{"b":"x,]}"},[]],"c\"d":null,"e":{}}"#)),
            (&["a", "0"], Some(r#"{"a":[{"b":"x,]}"},[]],"c\"d":null,"e":{},"f":"g"}"#)),
            (&["a", "2"], Some(r#"{"a":[1,{"b":"x,]}"}],"c\"d":null,"e":{},"f":"g"}"#)),
            (&["a", "1", "b"], Some(r#"{"a":[1,{},[]],"c\"d":null,"e":{},"f":"g"}"#)),
            (&["a", "3"], None),
            (&["e", "x"], None),
            (&[], None),
        ];
        for (names, expected) in rows {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(without(TEXT, &names).as_deref(), expected, "{names:?}");
        }
    }

    #[test]
    fn every_string_is_visited_once() {
        let mut found = Vec::new();
        for_each_string(TEXT, |literal| found.push(literal));
        assert_eq!(found, [r#""a""#, r#""b""#, r#""x,]}""#, r#""c\"d""#, r#""e""#, r#""f""#, r#""g""#]);
    }

    #[test]
    fn text_that_is_no_json_ends_quietly() {
        for text in ["", "{", "[", "\"", "{\"a\"", "{\"a\":", "[1,", "\"\\", "}"] {
            assert!(members(text).count() <= 1);
            assert!(elements(text).count() <= 1);
            for_each_string(text, |_| ());
            value_end(text.as_bytes(), 0);
        }
    }
}
