//! JSON Schemas as nodes of a grammar. A grammar may be narrower than its schema and is never wider, but for keywords it does not know,
//! which it names.

use loopwright_contract::json::canonical;
use serde_json::{Map, Value};

use super::number::{Digits, FRACTION_DIGITS, NumberRule};

/// How deep values nest below the arguments.
pub(super) const DEPTH_MAX: usize = 5;
/// Properties of one object: the candidates are bits of a word, and one is the end.
const PROPERTIES_MAX: usize = 63;
/// Items of a list where the schema gives no bound.
const ITEMS_DEFAULT: u32 = 8;
/// Multiples that are listed as literals.
const MULTIPLES_MAX: i128 = 512;

/// The place of a node.
pub(super) type NodeId = usize;

/// What may stand at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// One of these texts, sorted.
    Literals(Vec<Vec<u8>>),
    /// A string.
    Text {
        /// Characters.
        least: u32,
        /// Characters.
        most: u32,
    },
    /// A number.
    Number(NumberRule),
    /// A list.
    List {
        /// Each item.
        item: NodeId,
        /// Items.
        least: u32,
        /// Items.
        most: u32,
    },
    /// A closed object; properties are written in this order.
    Object(Vec<Property>),
    /// One of these, told apart by the first byte.
    Choice(Vec<NodeId>),
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    /// The name in quotes, the colon and a space.
    pub(super) key: Vec<u8>,
    pub(super) value: NodeId,
    pub(super) required: bool,
}

/// Builds nodes.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) nodes: Vec<Node>,
    /// The fewest bytes of a value of each node.
    pub(super) shortest: Vec<usize>,
    /// Keywords that are not enforced, with the path where they stand.
    pub(super) loose: Vec<String>,
    /// Characters of a string where the schema gives no bound, and the most where it does.
    pub(super) characters_max: u32,
}

impl Compiler {
    pub(super) fn new(characters_max: u32) -> Self {
        Self { nodes: Vec::new(), shortest: Vec::new(), loose: Vec::new(), characters_max }
    }

    fn add(&mut self, node: Node) -> NodeId {
        let shortest = self.shortest_of(&node);
        self.nodes.push(node);
        self.shortest.push(shortest);
        self.nodes.len() - 1
    }

    fn shortest_of(&self, node: &Node) -> usize {
        let of = |id: &NodeId| self.shortest.get(*id).copied().unwrap_or(0);
        match node {
            Node::Literals(texts) => texts.iter().map(Vec::len).min().unwrap_or(0),
            Node::Text { least, .. } => 2 + *least as usize,
            Node::Number(rule) => rule.shortest(Digits::default()).unwrap_or(0) as usize,
            Node::List { item, least, .. } => 2 + *least as usize * of(item) + 2 * (least.saturating_sub(1) as usize),
            Node::Object(properties) => {
                2 + joined(
                    properties
                        .iter()
                        .filter(|property| property.required)
                        .map(|property| property.key.len() + of(&property.value)),
                )
            }
            Node::Choice(options) => options.iter().map(of).min().unwrap_or(0),
        }
    }

    /// The node for a schema; absent when no value is possible within the grammar's limits.
    pub(super) fn compile(&mut self, schema: &Value, path: &str, depth: usize) -> Option<NodeId> {
        let Value::Object(fields) = schema else {
            return (*schema == Value::Bool(true)).then(|| self.scalar(path));
        };
        self.note_unknown(fields, path);
        if let Some(value) = fields.get("const") {
            return Some(self.literals([value]));
        }
        if let Some(Value::Array(values)) = fields.get("enum") {
            return (!values.is_empty()).then(|| self.literals(values));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(options)) = fields.get(key) {
                let options = options.iter().filter_map(|option| self.compile(option, path, depth)).collect();
                return self.choice(options);
            }
        }
        if let Some(Value::Array(parts)) = fields.get("allOf")
            && let [part] = parts.as_slice()
        {
            return self.compile(part, path, depth);
        }
        match fields.get("type") {
            Some(Value::String(kind)) => self.typed(kind, fields, path, depth),
            Some(Value::Array(kinds)) => {
                let options = kinds.iter().filter_map(|kind| self.typed(kind.as_str()?, fields, path, depth)).collect();
                self.choice(options)
            }
            _ if fields.contains_key("properties") => self.typed("object", fields, path, depth),
            _ => Some(self.scalar(path)),
        }
    }

    fn typed(&mut self, kind: &str, fields: &Map<String, Value>, path: &str, depth: usize) -> Option<NodeId> {
        match kind {
            "string" => {
                let most = count(fields, "maxLength").unwrap_or(self.characters_max).min(self.characters_max);
                let least = count(fields, "minLength").unwrap_or(0);
                (least <= most).then(|| self.add(Node::Text { least, most }))
            }
            "integer" => self.number(fields, 0, path),
            "number" => self.number(fields, FRACTION_DIGITS, path),
            "boolean" => Some(self.literals(&[Value::Bool(false), Value::Bool(true)])),
            "null" => Some(self.literals([&Value::Null])),
            "array" => self.list(fields, path, depth),
            "object" => self.object(fields, path, depth),
            _ => None,
        }
    }

    fn list(&mut self, fields: &Map<String, Value>, path: &str, depth: usize) -> Option<NodeId> {
        let least = count(fields, "minItems").unwrap_or(0);
        let mut most = count(fields, "maxItems").unwrap_or_else(|| ITEMS_DEFAULT.max(least));
        if fields.get("uniqueItems") == Some(&Value::Bool(true)) {
            // One item cannot repeat. More could, so a schema that asks for more is not enforced in this point.
            if least <= 1 {
                most = most.min(1);
            } else {
                self.loose.push(format!("{path}/uniqueItems"));
            }
        }
        let item = (depth < DEPTH_MAX)
            .then(|| {
                self.compile(fields.get("items").unwrap_or(&Value::Bool(true)), &format!("{path}/items"), depth + 1)
            })
            .flatten();
        match item {
            Some(item) if least <= most => Some(self.add(Node::List { item, least, most })),
            None if least == 0 => Some(self.literals(&[Value::Array(Vec::new())])),
            _ => None,
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, path: &str, depth: usize) -> Option<NodeId> {
        let none = Map::new();
        let declared = fields.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<&str> =
            fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        // The order of an object's keys means nothing, that of `required` does; then names in alphabetical order.
        let mut optional: Vec<&str> =
            declared.keys().map(String::as_str).filter(|name| !required.contains(name)).collect();
        optional.sort_unstable();
        let mut properties = Vec::new();
        for (name, is_required) in
            required.iter().map(|name| (*name, true)).chain(optional.into_iter().map(|name| (name, false)))
        {
            let schema = declared.get(name).unwrap_or(&Value::Bool(true));
            let value =
                if depth < DEPTH_MAX { self.compile(schema, &format!("{path}/{name}"), depth + 1) } else { None };
            match value {
                Some(value) => {
                    let key = format!("{}: ", canonical(&Value::String(name.to_owned()))).into_bytes();
                    properties.push(Property { key, value, required: is_required });
                }
                None if is_required => return None,
                None => {}
            }
        }
        // Required properties stand first, so only optional ones are left out.
        properties.truncate(PROPERTIES_MAX);
        (required.len() <= PROPERTIES_MAX).then(|| self.add(Node::Object(properties)))
    }

    fn number(&mut self, fields: &Map<String, Value>, fraction: u32, path: &str) -> Option<NodeId> {
        let mut rule = NumberRule::unbounded(fraction);
        let unit = 10_f64.powi(fraction.cast_signed());
        let bound = |key: &str| fields.get(key).and_then(Value::as_f64).map(|bound| bound * unit);
        if let Some(bound) = bound("minimum") {
            rule.least = rule.least.max(bound.ceil() as i128);
        }
        if let Some(bound) = bound("exclusiveMinimum") {
            rule.least = rule.least.max(bound.floor() as i128 + 1);
        }
        if let Some(bound) = bound("maximum") {
            rule.most = rule.most.min(bound.floor() as i128);
        }
        if let Some(bound) = bound("exclusiveMaximum") {
            rule.most = rule.most.min(bound.ceil() as i128 - 1);
        }
        if let Some(step) = fields.get("multipleOf").and_then(Value::as_f64) {
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let step = (step * unit).round() as i128;
            if step > 1 && fraction == 0 && (rule.most - rule.least) / step <= MULTIPLES_MAX {
                let first = rule.least.div_euclid(step) * step;
                let values = (0..)
                    .map(|place| first + place * step)
                    .skip_while(|value| *value < rule.least)
                    .take_while(|value| *value <= rule.most);
                let texts: Vec<Vec<u8>> = values.map(|value| value.to_string().into_bytes()).collect();
                return (!texts.is_empty()).then(|| self.literal_texts(texts));
            }
            if !(step == 1 && fraction == 0) {
                self.loose.push(format!("{path}/multipleOf"));
            }
        }
        rule.is_possible().then(|| self.add(Node::Number(rule)))
    }

    /// Alternatives that differ in their first byte; a later one that does not differ is left out.
    fn choice(&mut self, options: Vec<NodeId>) -> Option<NodeId> {
        let mut literals: Vec<Vec<u8>> = Vec::new();
        let mut kinds: Vec<(u8, NodeId)> = Vec::new();
        for option in options {
            for id in self.flattened(option) {
                let kind = match self.nodes.get(id) {
                    Some(Node::Literals(texts)) => {
                        literals.extend(texts.iter().cloned());
                        continue;
                    }
                    Some(Node::Text { .. }) => b'"',
                    Some(Node::Number(_)) => b'0',
                    Some(Node::List { .. }) => b'[',
                    Some(Node::Object(_)) => b'{',
                    Some(Node::Choice(_)) | None => continue,
                };
                if !kinds.iter().any(|(taken, _)| *taken == kind) {
                    kinds.push((kind, id));
                }
            }
        }
        literals.retain(|text| {
            !kinds.iter().any(|(kind, _)| {
                Some(*kind)
                    == text.first().map(|byte| if byte.is_ascii_digit() || *byte == b'-' { b'0' } else { *byte })
            })
        });
        let mut options: Vec<NodeId> = kinds.into_iter().map(|(_, id)| id).collect();
        if !literals.is_empty() {
            options.push(self.literal_texts(literals));
        }
        match options.as_slice() {
            [] => None,
            [one] => Some(*one),
            _ => Some(self.add(Node::Choice(options))),
        }
    }

    fn flattened(&self, id: NodeId) -> Vec<NodeId> {
        match self.nodes.get(id) {
            Some(Node::Choice(options)) => options.clone(),
            _ => vec![id],
        }
    }

    fn literals<'a>(&mut self, values: impl IntoIterator<Item = &'a Value>) -> NodeId {
        self.literal_texts(values.into_iter().map(|value| canonical(value).into_bytes()).collect())
    }

    fn literal_texts(&mut self, mut texts: Vec<Vec<u8>>) -> NodeId {
        texts.sort_unstable();
        texts.dedup();
        self.add(Node::Literals(texts))
    }

    /// Where a schema says nothing: a string, a number or a truth value.
    fn scalar(&mut self, path: &str) -> NodeId {
        self.loose.push(format!("{path} without a type"));
        let most = self.characters_max;
        let options = vec![
            self.add(Node::Text { least: 0, most }),
            self.add(Node::Number(NumberRule::unbounded(FRACTION_DIGITS))),
            self.literals(&[Value::Bool(false), Value::Bool(true)]),
        ];
        self.add(Node::Choice(options))
    }

    fn note_unknown(&mut self, fields: &Map<String, Value>, path: &str) {
        for key in [
            "pattern",
            "$ref",
            "not",
            "if",
            "dependentRequired",
            "dependentSchemas",
            "contains",
            "prefixItems",
            "patternProperties",
            "minProperties",
            "maxProperties",
        ] {
            if fields.contains_key(key) {
                self.loose.push(format!("{path}/{key}"));
            }
        }
    }
}

/// Bytes of parts with `, ` between them.
fn joined(parts: impl Iterator<Item = usize>) -> usize {
    let (count, sum) = parts.fold((0, 0), |(count, sum), part| (count + 1, sum + part));
    sum + 2_usize * usize::saturating_sub(count, 1)
}

fn count(fields: &Map<String, Value>, key: &str) -> Option<u32> {
    fields.get(key).and_then(Value::as_u64).map(|value| u32::try_from(value).unwrap_or(u32::MAX))
}
