//! The documents to compare, with issued ids replaced by variables.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::json;
use serde_json::{Map, Value};

use crate::{
    Bookkeeping, Document, GoOn, Ids, Key, Pointer,
    collection::Collection,
    diff::{candidates, paired},
    slice,
};

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
}

/// A text that stands where a name can stand: fixed, or an issued id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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

/// A document that both sides are asked for.
pub(super) struct Row<'a> {
    collection: &'a str,
    key: Key,
    pub(super) left: Option<Document>,
    pub(super) right: Option<Document>,
}

/// Every document that can matter: those that may differ, and those that hold an issued id.
/// `None`: given up.
pub(super) fn gather<'a>(
    left: Side<'a>,
    right: Side<'a>,
    rule: &SamenessRule,
    go_on: GoOn<'_>,
) -> Option<Vec<Row<'a>>> {
    let mut rows = Vec::new();
    for pair in paired(left.world, right.world).filter(|pair| !rule.except.contains(pair.name())) {
        let (ours, theirs) = (pair.left.map(AsRef::as_ref), pair.right.map(AsRef::as_ref));
        for key in relevant((ours, left.ids), (theirs, right.ids), go_on)? {
            if !go_on() {
                return None;
            }
            let row = Row {
                collection: pair.name(),
                left: compared(ours, &key, rule),
                right: compared(theirs, &key, rule),
                key,
            };
            // A document without ids that both have is settled: nothing can rename it.
            if row.left.is_none() || row.left != row.right || row.mentions(left.ids) || row.mentions(right.ids) {
                rows.push(row);
            }
        }
    }
    Some(rows)
}

impl Row<'_> {
    fn mentions(&self, ids: &Ids) -> bool {
        self.left.as_ref().is_some_and(|document| mentions(ids, &self.key, document))
    }

    /// Calls `visit` with every issued id of the left document.
    pub(super) fn for_each_id(&self, ids: &Ids, mut visit: impl FnMut(&str)) {
        let Some(document) = &self.left else { return };
        for_each_id(ids, &self.key, document, &mut visit);
    }
}

/// The rows with ids replaced by variables, for each side.
/// `None`: given up.
pub(super) fn shapes(rows: Vec<Row<'_>>, left: &Ids, right: &Ids, go_on: GoOn<'_>) -> Option<(Shape, Shape)> {
    let mut shapes = (Shape::default(), Shape::default());
    for row in rows {
        if !go_on() {
            return None;
        }
        shapes.0.add(row.collection, &row.key, row.left, left);
        shapes.1.add(row.collection, &row.key, row.right, right);
    }
    Some(shapes)
}

/// The document as the rule wants it compared.
fn compared(collection: Option<&Collection>, key: &Key, rule: &SamenessRule) -> Option<Document> {
    let collection = collection?;
    let document = collection.documents().get(key.as_str())?;
    let ignored: &[Pointer] =
        if rule.bookkeeping == Bookkeeping::Ignore { collection.rules().bookkeeping() } else { &[] };
    Some(document.without(ignored))
}

type Part<'a> = (Option<&'a Collection>, &'a Ids);

fn relevant(left: Part<'_>, right: Part<'_>, go_on: GoOn<'_>) -> Option<BTreeSet<Key>> {
    let mut keys = candidates(left.0, right.0, go_on)?;
    let same_base = matches!((left.0, right.0), (Some(left), Some(right)) if left.has_base_of(right));
    // No document of a shared base holds an issued id: ids start after all that the base holds.
    if !same_base {
        for (collection, ids) in [left, right] {
            for (key, document) in collection.into_iter().flat_map(|collection| collection.documents()) {
                if !go_on() {
                    return None;
                }
                if mentions(ids, key, document) {
                    keys.insert(key.clone());
                }
            }
        }
    }
    Some(keys)
}

fn mentions(ids: &Ids, key: &Key, document: &Document) -> bool {
    let mut found = false;
    for_each_id(ids, key, document, &mut |_| found = true);
    found
}

fn for_each_id(ids: &Ids, key: &Key, document: &Document, visit: &mut dyn FnMut(&str)) {
    if ids.is_issued(key.as_str()) {
        visit(key.as_str());
    }
    slice::for_each_string(document.text(), |literal| {
        if let Some(text) = slice::unescaped(literal).filter(|text| ids.is_issued(text)) {
            visit(&text);
        }
    });
}

impl Shape {
    fn add(&mut self, collection: &str, key: &Key, document: Option<Document>, ids: &Ids) {
        let Some(document) = document else { return };
        let key = self.name(key.as_str(), ids);
        let node = self.node(&document.to_value(), ids);
        self.items.push(Item { collection: collection.to_owned(), key, node });
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
            Value::String(text) => {
                self.variable(text, ids).map_or_else(|| Node::Fixed(json::canonical(value)), Node::Id)
            }
            Value::Array(elements) => Node::Array(elements.iter().map(|element| self.node(element, ids)).collect()),
            Value::Object(members) => Node::Object(
                members.iter().map(|(name, member)| (self.name(name, ids), self.node(member, ids))).collect(),
            ),
            scalar => Node::Fixed(json::canonical(scalar)),
        }
    }
}

impl Name {
    /// Whether this name, with a variable replaced by `renaming`, is the other side's name.
    pub(super) fn becomes(&self, other: &Name, renaming: &[Variable]) -> bool {
        match (self, other) {
            (Name::Fixed(ours), Name::Fixed(theirs)) => ours == theirs,
            (Name::Id(ours), Name::Id(theirs)) => renaming.get(*ours) == Some(theirs),
            _ => false,
        }
    }

    /// The name, with the text that `ids` gives for each variable.
    pub(super) fn render(&self, ids: &dyn Fn(Variable) -> String) -> String {
        match self {
            Name::Fixed(text) => text.clone(),
            Name::Id(variable) => ids(*variable),
        }
    }
}

impl Node {
    /// Whether this node, with each variable replaced by `renaming`, is the other side's node.
    pub(super) fn becomes(&self, other: &Node, renaming: &[Variable]) -> bool {
        match (self, other) {
            (Node::Fixed(ours), Node::Fixed(theirs)) => ours == theirs,
            (Node::Id(ours), Node::Id(theirs)) => renaming.get(*ours) == Some(theirs),
            (Node::Array(ours), Node::Array(theirs)) => {
                ours.len() == theirs.len()
                    && ours.iter().zip(theirs).all(|(ours, theirs)| ours.becomes(theirs, renaming))
            }
            (Node::Object(ours), Node::Object(theirs)) => {
                let theirs_of = |name: &Name| theirs.iter().find(|(other, _)| name.becomes(other, renaming));
                ours.len() == theirs.len()
                    && ours
                        .iter()
                        .all(|(name, node)| theirs_of(name).is_some_and(|(_, other)| node.becomes(other, renaming)))
            }
            _ => false,
        }
    }

    /// The value, with the text that `ids` gives for each variable.
    pub(super) fn render(&self, ids: &dyn Fn(Variable) -> String) -> Value {
        match self {
            Node::Fixed(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            Node::Id(variable) => Value::String(ids(*variable)),
            Node::Array(elements) => Value::Array(elements.iter().map(|element| element.render(ids)).collect()),
            Node::Object(members) => Value::Object(
                members.iter().map(|(name, member)| (name.render(ids), member.render(ids))).collect::<Map<_, _>>(),
            ),
        }
    }
}

impl Shape {
    /// The id that a variable stands for.
    pub(super) fn text(&self, variable: Variable) -> String {
        self.ids.get(variable).map_or_else(String::new, |id| id.text.clone())
    }
}
