//! JSON values compared and walked as the contract says.

use core::cmp::Ordering;

use serde_json::Value;

/// Equal by JSON value: 25 equals 25.0, and the order of keys carries no meaning.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Numbers by value and strings by code point; other kinds do not compare.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// A total order for sorting: absent, null, false, true, numbers, strings, arrays, objects.
pub(crate) fn sort_order(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    let rank = |value: Option<&Value>| match value {
        None => 0,
        Some(Value::Null) => 1,
        Some(Value::Bool(false)) => 2,
        Some(Value::Bool(true)) => 3,
        Some(Value::Number(_)) => 4,
        Some(Value::String(_)) => 5,
        Some(Value::Array(_)) => 6,
        Some(Value::Object(_)) => 7,
    };
    let within = || a.zip(b).and_then(|(a, b)| compare(a, b)).unwrap_or(Ordering::Equal);
    rank(a).cmp(&rank(b)).then_with(within)
}

/// The names of a JSON pointer, unescaped; none when it is malformed.
pub(crate) fn names(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let unescape = |name: &str| name.replace("~1", "/").replace("~0", "~");
    Some(pointer.strip_prefix('/')?.split('/').map(unescape).collect())
}

/// Removes the field that a pointer names, where it is there.
pub(crate) fn remove(value: &mut Value, pointer: &str) {
    let Some(names) = names(pointer) else { return };
    let Some((last, parents)) = names.split_last() else {
        return;
    };
    let mut at = value;
    for name in parents {
        match at.get_mut(name.as_str()) {
            Some(inner) => at = inner,
            None => return,
        }
    }
    if let Value::Object(object) = at {
        object.remove(last);
    }
}

/// Merges as RFC 7396 says.
pub(crate) fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(object) = target else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            object.remove(&key);
        } else {
            merge(object.entry(key).or_insert(Value::Null), value);
        }
    }
}

/// How many levels of arrays and objects a value has.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Prints a value with sorted keys and whole numbers without a fraction, so that equal values print equally.
pub(crate) fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) => out.push_str(&float.to_string()),
            None => out.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, field) in sorted {
                canonical(&Value::from(key.as_str()), out);
                out.push(':');
                canonical(field, out);
                out.push(',');
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merging_follows_the_examples_of_rfc_7396() {
        // Appendix A of RFC 7396, the cases that differ in kind.
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (mut target, patch, expected) in cases {
            merge(&mut target, patch);
            assert_eq!(target, expected);
        }
    }

    #[test]
    fn numbers_are_the_same_by_value() {
        assert!(same(&json!({"a": [25]}), &json!({"a": [25.0]})));
        assert!(!same(&json!(25), &json!("25")));
        assert!(!same(&json!({"a": 1}), &json!({"b": 1})));
    }

    #[test]
    fn equal_values_print_equally() {
        let print = |value: &Value| {
            let mut out = String::new();
            canonical(value, &mut out);
            out
        };
        assert_eq!(print(&json!({"b": 1.0, "a": [true]})), print(&json!({"a": [true], "b": 1})));
        assert_ne!(print(&json!(["a,b"])), print(&json!(["a", "b"])));
    }

    #[test]
    fn removing_a_field_leaves_its_neighbours() {
        let mut value = json!({"a": {"b": 1, "c/d": 2}});
        remove(&mut value, "/a/c~1d");
        remove(&mut value, "/a/x/y");
        remove(&mut value, "");
        assert_eq!(value, json!({"a": {"b": 1}}));
    }

    #[test]
    fn kinds_sort_in_a_fixed_order() {
        let sorted = [
            None,
            Some(json!(null)),
            Some(json!(false)),
            Some(json!(true)),
            Some(json!(7)),
            Some(json!("a")),
            Some(json!([])),
            Some(json!({})),
        ];
        for pair in sorted.windows(2) {
            assert_eq!(sort_order(pair[0].as_ref(), pair[1].as_ref()), Ordering::Less);
        }
        assert_eq!(depth(&json!([{"a": [1]}])), 3);
    }
}
