//! The grammar of one call of an offered function: `{"name": "...", "arguments": {...}}` in one spelling, so that a model chooses only where
//! there is a choice.
//!
//! The automaton is our own and works on bytes. The alternative was `llguidance`: it takes any context-free grammar, and it turns on
//! `serde_json/preserve_order` for the whole workspace and brings a tokenizer stack of another version; what is needed here is the
//! closed-object profile of the contract, a guaranteed end within a budget, and a digest.

mod number;
mod schema;
mod state;
mod trie;

use loopwright_contract::digest::GrammarDigest;
use loopwright_contract::json::canonical;
use serde_json::json;

pub(crate) use state::State;
pub(crate) use trie::TokenTrie;

use crate::offer::Function;
use schema::{Compiler, Node, NodeId};

/// Changes whenever the same functions give another grammar.
const VERSION: u32 = 1;

/// A function as it is written.
#[derive(Debug)]
struct Head {
    /// Up to the arguments.
    text: Vec<u8>,
    arguments: NodeId,
}

/// A compiled grammar.
#[derive(Debug)]
pub(crate) struct Grammar {
    heads: Vec<Head>,
    nodes: Vec<Node>,
    shortest: Vec<usize>,
    rest_max: usize,
    digest: GrammarDigest,
    loose: Vec<String>,
}

impl Grammar {
    /// Compiles the grammar of the offered functions. Strings have at most `characters_max` characters; `key` is the one under which
    /// the model writes them.
    pub(crate) fn new(functions: &[Function], characters_max: u32, key: &str) -> Self {
        let mut compiler = Compiler::new(characters_max);
        let mut heads = Vec::with_capacity(functions.len());
        for function in functions {
            match compiler
                .compile(&function.parameters, &function.name, 0)
                .filter(|node| matches!(compiler.nodes.get(*node), Some(Node::Object(_))))
            {
                Some(arguments) => heads.push(Head {
                    text: format!(r#"{{"name": {}, {}: "#, json!(function.name), json!(key)).into_bytes(),
                    arguments,
                }),
                None => compiler.loose.push(format!("{} is left out: no arguments are possible", function.name)),
            }
        }
        heads.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        heads.dedup_by(|later, earlier| later.text == earlier.text);
        let description: Vec<_> =
            functions.iter().map(|function| json!([function.name, function.parameters])).collect();
        let digest = GrammarDigest::of(
            canonical(
                &json!({"version": VERSION, "characters_max": characters_max, "key": key, "functions": description}),
            )
            .as_bytes(),
        );
        let head_max =
            heads.iter().map(|head| head.text.len() + compiler.rest_max(head.arguments) + 1).max().unwrap_or(0);
        Self {
            rest_max: head_max,
            heads,
            nodes: compiler.nodes,
            shortest: compiler.shortest,
            digest,
            loose: compiler.loose,
        }
    }

    /// The digest that trajectories carry.
    pub(crate) fn digest(&self) -> GrammarDigest {
        self.digest
    }

    /// What of the schemas is not enforced.
    pub(crate) fn loose(&self) -> &[String] {
        &self.loose
    }

    /// Whether any call is possible.
    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// No state needs more bytes than this to be completed.
    pub(crate) fn rest_max(&self) -> usize {
        self.rest_max
    }

    /// The bytes that must follow because there is no choice, at most `most`; stops before the first choice.
    pub(crate) fn forced(&self, state: &State, most: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut state = *state;
        while !state.is_done() && bytes.len() < most {
            let mut ways = (0..=u8::MAX).filter_map(|byte| Some((byte, state.step(self, byte)?)));
            let (Some((byte, next)), None) = (ways.next(), ways.next()) else {
                break;
            };
            bytes.push(byte);
            state = next;
        }
        bytes
    }

    fn node(&self, node: u32) -> Option<&Node> {
        self.nodes.get(node as usize)
    }
}

impl Compiler {
    /// A bound on what any state inside the node needs to be completed.
    fn rest_max(&self, node: NodeId) -> usize {
        match self.nodes.get(node) {
            Some(Node::Literals(texts)) => texts.iter().map(Vec::len).max().unwrap_or(0),
            Some(Node::Text { least, .. }) => 8 + *least as usize,
            Some(Node::Number(_)) => 20,
            Some(Node::List { item, least, .. }) => 4 + (*least as usize + 1) * (self.rest_max(*item) + 2),
            Some(Node::Object(properties)) => {
                2 + properties
                    .iter()
                    .map(|property| property.key.len() + 2 + self.rest_max(property.value))
                    .sum::<usize>()
            }
            Some(Node::Choice(options)) => options.iter().map(|option| self.rest_max(*option)).max().unwrap_or(0),
            None => 0,
        }
    }
}
