//! The head of a `SKILL.md`: the few forms of YAML that such files use. Keys that we do not know are left alone.

use std::collections::BTreeMap;

/// Lines of a head.
const LINES_MAX: usize = 200;

/// A head's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    Text(String),
    List(Vec<String>),
}

/// Splits a file into the entries of its head and its body.
pub(crate) fn split(text: &str) -> Result<(BTreeMap<String, Entry>, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return Err("line 1: expected `---`, the beginning of the head".to_owned());
    }
    let mut head = Vec::new();
    for line in lines.by_ref() {
        if line.trim_end() == "---" {
            let body = lines.rest_of(text);
            return Ok((entries(&head)?, body));
        }
        if head.len() == LINES_MAX {
            return Err(format!("the head has more than {LINES_MAX} lines"));
        }
        head.push(line.trim_end());
    }
    Err("the head is not closed: expected a line `---`".to_owned())
}

/// The part of a text that an iterator over its lines has not yielded.
trait Rest<'a> {
    fn rest_of(self, text: &'a str) -> &'a str;
}

impl<'a, I: Iterator<Item = &'a str>> Rest<'a> for I {
    fn rest_of(self, text: &'a str) -> &'a str {
        let left: usize = self.map(str::len).sum();
        text.get(text.len() - left..).unwrap_or_default()
    }
}

fn is_nested(line: &str) -> bool {
    line.starts_with([' ', '\t']) || line.is_empty() || line.starts_with("- ") || line == "-"
}

fn entries(head: &[&str]) -> Result<BTreeMap<String, Entry>, String> {
    let mut entries = BTreeMap::new();
    let mut position = 0;
    while let Some(line) = head.get(position) {
        let number = position + 2;
        position += 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once(':').ok_or_else(|| format!("line {number}: expected `key: value`"))?;
        let nested: Vec<&str> = head.iter().skip(position).take_while(|line| is_nested(line)).copied().collect();
        position += nested.len();
        let key = key.trim();
        if key.is_empty() || is_nested(line) {
            return Err(format!("line {number}: expected `key: value`"));
        }
        let entry = entry(value.trim(), &nested).map_err(|reason| format!("line {number}: `{key}`: {reason}"))?;
        if entries.insert(key.to_owned(), entry).is_some() {
            return Err(format!("line {number}: `{key}` is given twice"));
        }
    }
    Ok(entries)
}

fn entry(value: &str, nested: &[&str]) -> Result<Entry, String> {
    let items = || nested.iter().filter_map(|line| line.trim().strip_prefix('-'));
    let filled: Vec<&str> = nested.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    match value {
        ">" | ">-" | "|" | "|-" => Ok(Entry::Text(filled.join(if value.starts_with('>') { " " } else { "\n" }))),
        "" if items().next().is_some() => {
            Ok(Entry::List(items().map(|item| scalar(item.trim())).collect::<Result<_, _>>()?))
        }
        "" => Ok(Entry::Text(filled.join(" "))),
        _ => match value.strip_prefix('[') {
            Some(inner) => {
                let inner = inner.strip_suffix(']').ok_or("a list is not closed by `]`")?;
                let items = inner.split(',').map(str::trim).filter(|item| !item.is_empty());
                Ok(Entry::List(items.map(scalar).collect::<Result<_, _>>()?))
            }
            // A plain text may go on in indented lines.
            None => Ok(Entry::Text(scalar(&std::iter::once(value).chain(filled).collect::<Vec<_>>().join(" "))?)),
        },
    }
}

fn scalar(text: &str) -> Result<String, String> {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let inner = inner.strip_suffix(quote).ok_or_else(|| format!("a text is not closed by `{quote}`"))?;
            return Ok(if quote == '"' {
                inner.replace("\\\"", "\"").replace("\\\\", "\\")
            } else {
                inner.replace("''", "'")
            });
        }
    }
    Ok(text.split_once(" #").map_or(text, |(before, _)| before).trim_end().to_owned())
}
