//! The documents to compare, with issued ids replaced by variables.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::json;
use serde_json::{Map, Value};

use crate::{Bookkeeping, Document, Ids, Key, Pointer, collection::Collection, diff::{candidates, paired}, slice};

use super::{SamenessRule, Side};

/// An issued id, by its position in [`Shape::ids`].
pub(super) type Variable = usize;

/// One world's part of a comparison.
#[derive(Default)]
pub(super) struct Shape {
    pub(super) items: Vec<Item>,
    /// The issued ids that occur, in the order of their occurrence.
    pub(super) ids: Vec<IssuedId>,
    variables: BTreeMap<String, Variable>,
}

pub(super) struct IssuedId {
    pub(super) text: String,
    pub(super) prefix: String,
}

/// A document under comparison.
pub(super) struct Item {
    pub(super) collection: String,
    pub(super) key: Name,
    pub(super) node: Node,
    /// The document itself, without bookkeeping where that does not count.
    pub(super) document: Document,
}

/// A text that stands where a name can stand: fixed, or an issued id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    Fixed(String),
    Id(Variable),
}

/// A JSON value with variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A scalar's canonical text.
    Fixed(String),
    Id(Variable),
    Array(Vec<Node>),
    Object(Vec<(Name, Node)>),
}

/// The shapes of both sides. Every document that can matter is in them: those that may differ, and those that hold an issued id.
pub(super) fn shapes(left: Side<'_>, right: Side<'_>, rule: &SamenessRule) -> (Shape, Shape) {
    let mut shapes = (Shape::default(), Shape::default());
    for pair in paired(left.world, right.world).filter(|pair| !rule.except.contains(pair.name())) {
        let (ours, theirs) = (pair.left.map(AsRef::as_ref), pair.right.map(AsRef::as_ref));
        for key in relevant((ours, left.ids), (theirs, right.ids)) {
            let (our_document, their_document) = (compared(ours, &key, rule), compared(theirs, &key, rule));
            // A document without ids that both have is settled here: nothing can rename it.
            if our_document.is_some() && our_document == their_document && !mentioned(&key, our_document.as_ref(), [left.ids, right.ids]) {
                continue;
            }
            shapes.0.add(pair.name(), &key, our_document, left.ids);
            shapes.1.add(pair.name(), &key, their_document, right.ids);
        }
    }
    shapes
}

/// The document as the rule wants it compared.
fn compared(collection: Option<&Collection>, key: &Key, rule: &SamenessRule) -> Option<Document> {
    let collection = collection?;
    let document = collection.documents().get(key.as_str())?;
    let ignored: &[Pointer] = if rule.bookkeeping == Bookkeeping::Ignore { collection.rules().bookkeeping() } else { &[] };
    Some(document.without(ignored))
}

fn mentioned(key: &Key, document: Option<&Document>, ids: [&Ids; 2]) -> bool {
    document.is_some_and(|document| ids.into_iter().any(|ids| mentions(ids, key, document)))
}

type Part<'a> = (Option<&'a Collection>, &'a Ids);

fn relevant(left: Part<'_>, right: Part<'_>) -> BTreeSet<Key> {
    let mut keys = candidates(left.0, right.0);
    let same_base = matches!((left.0, right.0), (Some(left), Some(right)) if left.has_base_of(right));
    // No document of a shared base holds an issued id: ids start after all that the base holds.
    if !same_base {
        for (collection, ids) in [left, right] {
            let documents = collection.into_iter().flat_map(|collection| collection.documents());
            keys.extend(documents.filter(|(key, document)| mentions(ids, key, document)).map(|(key, _)| key.clone()));
        }
    }
    keys
}

fn mentions(ids: &Ids, key: &Key, document: &Document) -> bool {
    let mut found = ids.is_issued(key.as_str());
    slice::for_each_string(document.text(), |literal| {
        found = found || slice::unescaped(literal).is_some_and(|text| ids.is_issued(&text));
    });
    found
}

impl Shape {
    fn add(&mut self, collection: &str, key: &Key, document: Option<Document>, ids: &Ids) {
        let Some(document) = document else { return };
        let key = self.name(key.as_str(), ids);
        let node = self.node(document.value(), ids);
        self.items.push(Item { collection: collection.to_owned(), key, node, document });
    }

    fn variable(&mut self, text: &str, ids: &Ids) -> Option<Variable> {
        let prefix = ids.issued_prefix(text)?;
        if let Some(variable) = self.variables.get(text) {
            return Some(*variable);
        }
        let variable = self.ids.len();
        self.variables.insert(text.to_owned(), variable);
        self.ids.push(IssuedId { text: text.to_owned(), prefix: prefix.to_owned() });
        Some(variable)
    }

    fn name(&mut self, text: &str, ids: &Ids) -> Name {
        self.variable(text, ids).map_or_else(|| Name::Fixed(text.to_owned()), Name::Id)
    }

    fn node(&mut self, value: &Value, ids: &Ids) -> Node {
        match value {
            Value::String(text) => self.variable(text, ids).map_or_else(|| Node::Fixed(json::canonical(value)), Node::Id),
            Value::Array(elements) => Node::Array(elements.iter().map(|element| self.node(element, ids)).collect()),
            Value::Object(members) => {
                Node::Object(members.iter().map(|(name, member)| (self.name(name, ids), self.node(member, ids))).collect())
            }
            scalar => Node::Fixed(json::canonical(scalar)),
        }
    }
}

impl Name {
    /// The name, with the text that `ids` gives for each variable.
    pub(super) fn render(&self, ids: &dyn Fn(Variable) -> String) -> String {
        match self {
            Name::Fixed(text) => text.clone(),
            Name::Id(variable) => ids(*variable),
        }
    }
}

impl Node {
    /// The value, with the text that `ids` gives for each variable.
    pub(super) fn render(&self, ids: &dyn Fn(Variable) -> String) -> Value {
        match self {
            Node::Fixed(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            Node::Id(variable) => Value::String(ids(*variable)),
            Node::Array(elements) => Value::Array(elements.iter().map(|element| element.render(ids)).collect()),
            Node::Object(members) => {
                Value::Object(members.iter().map(|(name, member)| (name.render(ids), member.render(ids))).collect::<Map<_, _>>())
            }
        }
    }
}

impl Shape {
    /// The keys and texts of all documents.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, String, &str)> {
        self.items.iter().map(|item| (item.collection.as_str(), item.key.render(&|variable| self.text(variable)), item.document.text()))
    }

    /// The id that a variable stands for.
    pub(super) fn text(&self, variable: Variable) -> String {
        self.ids.get(variable).map_or_else(String::new, |id| id.text.clone())
    }
}
