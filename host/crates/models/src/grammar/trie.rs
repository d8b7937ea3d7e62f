//! The bytes of a vocabulary as a tree, so that tokens which begin alike are looked at once.

use super::Grammar;
use super::state::State;

/// Tokens longer than this are never written under a grammar: a file could hold one of any length, and the walk is as deep.
const TOKEN_BYTES_MAX: usize = 128;

/// One byte after those of the nodes that enclose it.
#[derive(Debug, Clone, Copy)]
struct Node {
    byte: u8,
    /// The token that ends here.
    token: Option<u32>,
    /// The place behind the last node below.
    end: usize,
}

/// The tokens of a vocabulary that are text.
#[derive(Debug)]
pub(crate) struct TokenTrie {
    /// In depth-first order.
    nodes: Vec<Node>,
    token_bytes_max: usize,
}

impl TokenTrie {
    /// Builds the tree from pairs of bytes and token; of tokens with equal bytes the lowest is kept.
    pub(crate) fn new(tokens: impl Iterator<Item = (Vec<u8>, u32)>) -> Self {
        let mut sorted: Vec<(Vec<u8>, u32)> =
            tokens.filter(|(bytes, _)| (1..=TOKEN_BYTES_MAX).contains(&bytes.len())).collect();
        sorted.sort_unstable();
        sorted.dedup_by(|later, earlier| later.0 == earlier.0);
        let mut nodes: Vec<Node> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut before: &[u8] = &[];
        for (bytes, token) in &sorted {
            let shared = before.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            close(&mut nodes, &mut open, shared);
            for byte in bytes.iter().skip(shared) {
                open.push(nodes.len());
                nodes.push(Node { byte: *byte, token: None, end: 0 });
            }
            if let Some(node) = nodes.last_mut() {
                node.token = Some(*token);
            }
            before = bytes;
        }
        close(&mut nodes, &mut open, 0);
        Self { nodes, token_bytes_max: sorted.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or(0) }
    }

    /// Bytes of the longest token.
    pub(crate) fn token_bytes_max(&self) -> usize {
        self.token_bytes_max
    }

    /// The tokens that may follow, in ascending order. `budget`: tokens that may still be written, this one included; only those are allowed
    /// after which the output can be completed a byte at a time.
    pub(crate) fn allowed(&self, grammar: &Grammar, state: &State, budget: usize) -> Vec<u32> {
        let mut allowed = Vec::new();
        let is_tight = budget <= grammar.rest_max();
        let mut ways = vec![*state];
        let mut ends: Vec<usize> = Vec::new();
        let mut place = 0;
        while let Some(node) = self.nodes.get(place) {
            while ends.last() == Some(&place) {
                ends.pop();
                ways.pop();
            }
            let Some(next) =
                ways.last().filter(|state| !state.is_done()).and_then(|state| state.step(grammar, node.byte))
            else {
                place = node.end;
                continue;
            };
            if let Some(token) = node.token
                && (!is_tight || next.rest(grammar) < budget)
            {
                allowed.push(token);
            }
            place += 1;
            if node.end > place {
                ways.push(next);
                ends.push(node.end);
            }
        }
        allowed.sort_unstable();
        allowed
    }
}

fn close(nodes: &mut [Node], open: &mut Vec<usize>, depth: usize) {
    let end = nodes.len();
    for place in open.drain(depth.min(open.len())..) {
        if let Some(node) = nodes.get_mut(place) {
            node.end = end;
        }
    }
}
