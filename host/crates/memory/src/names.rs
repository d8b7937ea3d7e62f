//! The people, pets and places that a user's memory knows by name: exact look-up, and links to names that are spelt alike.
//!
//! A link says "perhaps the same"; it never decides that a claim takes the place of another.

use std::collections::BTreeMap;

use crate::extract::view::{View, is_han};

/// The most names of one table, aliases included.
pub const NAMES_MAX: usize = 4_096;
/// The longest name, in characters.
pub const NAME_CHARS_MAX: usize = 64;
/// The longest text in which names are looked for, in bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Names, each with the one that it stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownNames {
    /// From the folded alias to the name as it was given first.
    aliases: BTreeMap<String, String>,
}

/// A name that a spelling may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameLink {
    /// The known name.
    pub name: String,
    /// Letters that differ; 0: the same but for case and width.
    pub distance: u8,
}

/// How names and values are compared: one spelling of each mark, lower case, single spaces.
#[must_use]
pub fn fold(text: &str) -> String {
    let view = View::new(text, TEXT_BYTES_MAX);
    let lower = view.text().to_lowercase();
    let mut folded = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

impl KnownNames {
    /// No names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name and what else it is called. Empty names, names over [`NAME_CHARS_MAX`] and what is over [`NAMES_MAX`] are left out;
    /// an alias that is taken stays with its first name.
    pub fn add(&mut self, name: &str, aliases: &[&str]) {
        for alias in std::iter::once(&name).chain(aliases) {
            let folded = fold(alias);
            let fits = !folded.is_empty() && folded.chars().count() <= NAME_CHARS_MAX;
            if fits && self.aliases.len() < NAMES_MAX {
                self.aliases.entry(folded).or_insert_with(|| name.trim().to_owned());
            }
        }
    }

    /// How many names and aliases there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.aliases.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.aliases.is_empty()
    }

    /// The name that this one stands for, if it is known exactly.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&str> {
        self.aliases.get(&fold(name)).map(String::as_str)
    }

    /// The folded aliases, in order.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.keys().map(String::as_str)
    }

    /// Names that this may be a spelling of, nearest first: with letters one edit away (two from eight letters on), with Han the same only.
    #[must_use]
    pub fn links(&self, name: &str) -> Vec<NameLink> {
        let folded = fold(name);
        let letters: Vec<char> = folded.chars().take(NAME_CHARS_MAX + 1).collect();
        let allowed: u8 = match letters.len() {
            0..=3 => 0,
            _ if letters.iter().any(|ch| is_han(*ch)) => 0,
            4..=7 => 1,
            _ => 2,
        };
        let mut found: Vec<NameLink> = self
            .aliases
            .iter()
            .filter_map(|(alias, name)| {
                let distance = if *alias == folded { 0 } else { distance(alias, &letters, allowed)? };
                Some(NameLink { name: name.clone(), distance })
            })
            .collect();
        found.sort_by(|left, right| (left.distance, &left.name).cmp(&(right.distance, &right.name)));
        found.dedup_by(|later, first| later.name == first.name);
        found
    }
}

/// The edits between two names, where they are at most `allowed` and at least one is allowed.
fn distance(left: &str, right: &[char], allowed: u8) -> Option<u8> {
    let left: Vec<char> = left.chars().collect();
    let far = left.len().abs_diff(right.len()) > usize::from(allowed);
    if allowed == 0 || far || left.iter().any(|ch| is_han(*ch)) {
        return None;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, ch) in left.iter().enumerate() {
        let mut next = vec![place + 1];
        for ((diagonal, above), other) in row.iter().zip(row.iter().skip(1)).zip(right) {
            let beside = next.last().copied().unwrap_or(usize::MAX - 1);
            next.push((diagonal + usize::from(ch != other)).min(above + 1).min(beside + 1));
        }
        row = next;
    }
    let edits = u8::try_from(row.last().copied().unwrap_or(usize::MAX)).ok()?;
    (edits <= allowed).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> KnownNames {
        let mut names = KnownNames::new();
        names.add("Katherine", &["Kate", "Kathy"]);
        names.add("王小明", &["小明"]);
        names
    }

    #[test]
    fn names_are_known_by_their_aliases() {
        assert_eq!(table().resolve(" KATE "), Some("Katherine"));
        assert_eq!(table().resolve("小明"), Some("王小明"));
        assert_eq!(table().resolve("Kat"), None);
    }

    #[test]
    fn letters_link_when_they_are_near_and_han_only_when_equal() {
        let links =
            |name: &str| table().links(name).into_iter().map(|link| (link.name, link.distance)).collect::<Vec<_>>();
        assert_eq!(links("Katharine"), [("Katherine".to_owned(), 1)]);
        assert_eq!(links("Kathi"), [("Katherine".to_owned(), 1)]);
        assert_eq!(links("小明"), [("王小明".to_owned(), 0)]);
        assert_eq!(links("小敏"), []);
        assert_eq!(links("Bob"), []);
    }

    #[test]
    fn tables_are_bounded() {
        let mut names = KnownNames::new();
        for number in 0..NAMES_MAX + 10 {
            names.add(&format!("name{number}"), &[]);
        }
        names.add(&"x".repeat(NAME_CHARS_MAX + 1), &[]);
        assert_eq!(names.len(), NAMES_MAX);
    }
}
