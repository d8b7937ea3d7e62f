//! Says what differs, in terms of documents and fields, once it is known that no renaming exists.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::GoOn;
use crate::limits::{DIFFERENCE_VALUE_BYTES, DIFFERENCES_LIMIT};

use super::{
    Sameness,
    colour::{Colour, Colours, blank, item_colour, name_colour, node_colour},
    shape::{Item, Name, Node, Shape, Variable},
};

/// Documents of one collection that are compared with each other to find the closest; further ones are reported unpaired.
const CLOSEST_LIMIT: usize = 64;

/// One place where two worlds differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The collection.
    pub collection: String,
    /// The document's key in the left world; `None`: it has no such document.
    pub left_key: Option<String>,
    /// The document's key in the right world; `None`: it has no such document.
    pub right_key: Option<String>,
    /// Where in the document, as an RFC 6901 pointer; empty: the document as a whole.
    pub at: String,
    /// The left world's value as JSON text, cut to a length for people; `None`: absent.
    pub left: Option<String>,
    /// The right world's value as JSON text, cut to a length for people; `None`: absent.
    pub right: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/", self.collection)?;
        match (&self.left_key, &self.right_key) {
            (Some(left), Some(right)) if left != right => write!(formatter, "{left} (right: {right})")?,
            (Some(key), _) | (None, Some(key)) => formatter.write_str(key)?,
            (None, None) => formatter.write_str("?")?,
        }
        if !self.at.is_empty() {
            write!(formatter, " at {}", self.at)?;
        }
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
        write!(formatter, ": left {}, right {}", shown(&self.left), shown(&self.right))
    }
}

/// The answer for sides that `proof` shows to differ; `None`: given up.
pub(super) fn different(left: &Shape, right: &Shape, proof: &Colours, go_on: GoOn<'_>) -> Option<Sameness> {
    // Content that differs whatever the ids are is what people want to see first.
    let mut found = differences(left, right, &blank(left, right), go_on)?;
    if found.is_empty() {
        found = differences(left, right, proof, go_on)?;
    }
    if found.is_empty() {
        found.push(inconsistent(left, right));
    }
    let total = found.len();
    found.truncate(DIFFERENCES_LIMIT);
    Some(Sameness::Different { first: found, total })
}

/// Every colour agrees and yet no renaming fits: the references between documents differ as a whole.
fn inconsistent(left: &Shape, right: &Shape) -> Difference {
    let ids = |shape: &Shape| {
        Some(shape.ids.iter().map(|id| id.text.as_str()).take(DIFFERENCES_LIMIT).collect::<Vec<_>>().join(" "))
    };
    let first = left.items.iter().find(|item| matches!(item.key, Name::Id(_))).or(left.items.first());
    let collection = first.map_or_else(String::new, |item| item.collection.clone());
    let key = first.map(|item| item.key.render(&|variable| left.text(variable)));
    Difference { collection, left_key: key, right_key: None, at: String::new(), left: ids(left), right: ids(right) }
}

struct Report<'a> {
    left: &'a Shape,
    right: &'a Shape,
    colours: &'a Colours,
    found: Vec<Difference>,
    go_on: GoOn<'a>,
}

type Pair<'a> = (Option<&'a Item>, Option<&'a Item>);

fn differences(left: &Shape, right: &Shape, colours: &Colours, go_on: GoOn<'_>) -> Option<Vec<Difference>> {
    let mut report = Report { left, right, colours, found: Vec::new(), go_on };
    for pair in report.unequal_pairs()? {
        if !go_on() {
            return None;
        }
        report.describe(pair);
    }
    Some(report.found)
}

impl<'a> Report<'a> {
    /// Documents that have no equal on the other side, each with the one that it should be equal to. By collection, fixed keys first.
    fn unequal_pairs(&self) -> Option<Vec<Pair<'a>>> {
        let mut collections: BTreeMap<&str, (Vec<&'a Item>, Vec<&'a Item>)> = BTreeMap::new();
        for item in &self.left.items {
            collections.entry(&item.collection).or_default().0.push(item);
        }
        for item in &self.right.items {
            collections.entry(&item.collection).or_default().1.push(item);
        }
        let mut pairs = Vec::new();
        for (ours, theirs) in collections.into_values() {
            pairs.extend(self.pairs_of_collection(ours, theirs)?);
        }
        Some(pairs)
    }

    fn pairs_of_collection(&self, ours: Vec<&'a Item>, theirs: Vec<&'a Item>) -> Option<Vec<Pair<'a>>> {
        let (ours, theirs) = self.without_equals(ours, theirs)?;
        let mut fixed: BTreeMap<&str, Pair<'a>> = BTreeMap::new();
        let (mut our_new, mut their_new) = (Vec::new(), Vec::new());
        for item in ours {
            self.still()?;
            match &item.key {
                Name::Fixed(key) => fixed.entry(key).or_default().0 = Some(item),
                Name::Id(_) => our_new.push(item),
            }
        }
        for item in theirs {
            self.still()?;
            match &item.key {
                Name::Fixed(key) => fixed.entry(key).or_default().1 = Some(item),
                Name::Id(_) => their_new.push(item),
            }
        }
        let mut pairs: Vec<Pair<'a>> = fixed.into_values().collect();
        for item in our_new {
            self.still()?;
            let closest = their_new
                .iter()
                .take(CLOSEST_LIMIT)
                .enumerate()
                .max_by_key(|(position, other)| (self.likeness(item, other), std::cmp::Reverse(*position)));
            let other = closest.map(|(position, _)| position).map(|position| their_new.remove(position));
            pairs.push((Some(item), other));
        }
        pairs.extend(their_new.into_iter().map(|item| (None, Some(item))));
        Some(pairs)
    }

    /// None: nobody waits any more.
    fn still(&self) -> Option<()> {
        (self.go_on)().then_some(())
    }

    /// Takes away as many documents of each colour as both sides have.
    fn without_equals(&self, ours: Vec<&'a Item>, theirs: Vec<&'a Item>) -> Option<(Vec<&'a Item>, Vec<&'a Item>)> {
        let coloured = |items: Vec<&'a Item>, colours: &Colours, left: bool| {
            let colours = if left { &colours.left } else { &colours.right };
            items
                .into_iter()
                .map(|item| self.still().map(|()| (item_colour(item, colours), item)))
                .collect::<Option<Vec<_>>>()
        };
        let (ours, theirs) = (coloured(ours, self.colours, true)?, coloured(theirs, self.colours, false)?);
        Some((left_over(&ours, &theirs, self.go_on)?, left_over(&theirs, &ours, self.go_on)?))
    }

    /// How many members two documents have in common.
    fn likeness(&self, ours: &Item, theirs: &Item) -> usize {
        match (&ours.node, &theirs.node) {
            (Node::Object(ours), Node::Object(theirs)) => {
                let theirs: Vec<_> = theirs
                    .iter()
                    .map(|(name, node)| {
                        (name_colour(name, &self.colours.right), node_colour(node, &self.colours.right))
                    })
                    .collect();
                ours.iter()
                    .filter(|(name, node)| {
                        theirs.contains(&(name_colour(name, &self.colours.left), node_colour(node, &self.colours.left)))
                    })
                    .count()
            }
            _ => 0,
        }
    }

    fn describe(&mut self, (ours, theirs): Pair<'_>) {
        let place =
            Place { collection: ours.or(theirs).map_or("", |item| &item.collection), left: ours, right: theirs };
        match (ours, theirs) {
            // Nothing is found where only what refers to the keys differs; then the documents that refer are reported.
            (Some(ours), Some(theirs)) => self.walk(&place, String::new(), &ours.node, &theirs.node),
            _ => self.push(&place, String::new(), ours.map(|item| &item.node), theirs.map(|item| &item.node)),
        }
    }

    fn walk(&mut self, place: &Place<'_>, at: String, ours: &Node, theirs: &Node) {
        if node_colour(ours, &self.colours.left) == node_colour(theirs, &self.colours.right) {
            return;
        }
        match (ours, theirs) {
            (Node::Object(our_members), Node::Object(their_members)) => {
                self.walk_members(place, &at, our_members, their_members)
            }
            (Node::Array(ours), Node::Array(theirs)) if ours.len() == theirs.len() => {
                for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                    self.walk(place, format!("{at}/{index}"), ours, theirs);
                }
            }
            _ => self.push(place, at, Some(ours), Some(theirs)),
        }
    }

    fn walk_members(&mut self, place: &Place<'_>, at: &str, ours: &[(Name, Node)], theirs: &[(Name, Node)]) {
        let their_names: BTreeMap<Colour, &(Name, Node)> =
            theirs.iter().map(|member| (name_colour(&member.0, &self.colours.right), member)).collect();
        let our_names: BTreeMap<Colour, &(Name, Node)> =
            ours.iter().map(|member| (name_colour(&member.0, &self.colours.left), member)).collect();
        for (name, node) in ours {
            let inner = format!("{at}/{}", escaped(&name.render(&|variable| self.left.text(variable))));
            match their_names.get(&name_colour(name, &self.colours.left)) {
                Some((_, other)) => self.walk(place, inner, node, other),
                None => self.push(place, inner, Some(node), None),
            }
        }
        for (name, node) in theirs {
            if !our_names.contains_key(&name_colour(name, &self.colours.right)) {
                let inner = format!("{at}/{}", escaped(&name.render(&|variable| self.right.text(variable))));
                self.push(place, inner, None, Some(node));
            }
        }
    }

    fn push(&mut self, place: &Place<'_>, at: String, ours: Option<&Node>, theirs: Option<&Node>) {
        let left = |variable: Variable| self.left.text(variable);
        let right = |variable: Variable| self.right.text(variable);
        let difference = Difference {
            collection: place.collection.to_owned(),
            left_key: place.left.map(|item| item.key.render(&left)),
            right_key: place.right.map(|item| item.key.render(&right)),
            at,
            left: ours.map(|node| shown(&node.render(&left))),
            right: theirs.map(|node| shown(&node.render(&right))),
        };
        self.found.push(difference);
    }
}

/// The items that remain when as many of each colour are taken away as `others` has.
fn left_over<'a>(
    items: &[(Colour, &'a Item)],
    others: &[(Colour, &'a Item)],
    go_on: GoOn<'_>,
) -> Option<Vec<&'a Item>> {
    let mut counts: BTreeMap<Colour, usize> = BTreeMap::new();
    for (colour, _) in others {
        if !go_on() {
            return None;
        }
        *counts.entry(*colour).or_default() += 1;
    }
    let mut remaining = Vec::new();
    for (colour, item) in items {
        if !go_on() {
            return None;
        }
        match counts.get_mut(colour).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => remaining.push(*item),
        }
    }
    Some(remaining)
}

/// The two documents that are being compared.
struct Place<'a> {
    collection: &'a str,
    left: Option<&'a Item>,
    right: Option<&'a Item>,
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A value's canonical text, cut for people.
fn shown(value: &Value) -> String {
    let text = loopwright_contract::json::canonical(value);
    match text.get(..text.floor_char_boundary(DIFFERENCE_VALUE_BYTES)) {
        Some(start) if start.len() < text.len() => format!("{start}..."),
        _ => text,
    }
}
