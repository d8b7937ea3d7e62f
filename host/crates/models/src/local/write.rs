//! Writing a call under a grammar, one token at a time. The model is a function from tokens to logits, so that any model can be bound.

use std::collections::HashMap;
use std::sync::Arc;

use loopwright_contract::planner::SampledToken;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use super::LocalError;
use super::sample::{Sampling, sample};
use super::vocabulary::Vocabulary;
use crate::grammar::{Grammar, State, TokenTrie};

/// Bytes without a choice that are looked ahead for.
const FORCED_BYTES_MAX: usize = 256;
/// Sets of allowed tokens that are kept for a decision.
const SETS_MAX: usize = 64;

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The text.
    pub(crate) bytes: Vec<u8>,
    /// Its tokens. Those that had no alternative have the log-probability 0.
    pub(crate) tokens: Vec<SampledToken>,
}

/// What cuts text into tokens and back.
pub(crate) trait Tokens {
    fn trie(&self) -> &TokenTrie;
    fn bytes(&self, token: u32) -> &[u8];
    fn encode_inside(&self, text: &str) -> Result<Vec<u32>, LocalError>;
}

impl Tokens for Vocabulary {
    fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    fn bytes(&self, token: u32) -> &[u8] {
        self.bytes(token)
    }

    fn encode_inside(&self, text: &str) -> Result<Vec<u32>, LocalError> {
        self.encode_inside(text)
    }
}

/// Gives the logits after further tokens.
pub(crate) type Next<'a> = &'a mut dyn FnMut(&[u32]) -> Result<Vec<f32>, LocalError>;

/// Writes one call of at most `tokens_max` tokens. `logits` are those after the prompt; `next` gives those after further tokens.
pub(crate) fn write(
    grammar: &Grammar,
    tokens: &dyn Tokens,
    (sampling, seed): (Sampling, u64),
    tokens_max: usize,
    mut logits: Vec<f32>,
    next: Next<'_>,
) -> Result<Written, LocalError> {
    let mut written = Written::default();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut state = State::start(grammar);
    let mut sets: HashMap<State, Arc<Vec<u32>>> = HashMap::new();
    while !state.is_done() {
        let budget = tokens_max.saturating_sub(written.tokens.len());
        let mut run = forced(grammar, tokens, &state, budget)?;
        if run.is_empty() {
            let allowed = allowed(grammar, tokens, &state, budget, &mut sets);
            let Some(token) = sample(&logits, &allowed, sampling, &mut random) else {
                let needed = state.rest(grammar);
                return Err(LocalError::Unsupported(format!(
                    "a call needs up to {needed} more tokens, {budget} are allowed"
                )));
            };
            run.push(token);
        }
        for token in &run {
            for byte in tokens.bytes(token.id) {
                state = state
                    .step(grammar, *byte)
                    .ok_or_else(|| LocalError::Unsupported("a token left the grammar".to_owned()))?;
            }
            written.bytes.extend_from_slice(tokens.bytes(token.id));
        }
        if !state.is_done() {
            let ids: Vec<u32> = run.iter().map(|token| token.id).collect();
            logits = next(&ids)?;
        }
        written.tokens.append(&mut run);
    }
    Ok(written)
}

/// The tokens of what must follow, as the tokenizer would cut it; without the last, which could be the beginning of a longer one.
fn forced(
    grammar: &Grammar,
    tokens: &dyn Tokens,
    state: &State,
    budget: usize,
) -> Result<Vec<SampledToken>, LocalError> {
    let bytes = grammar.forced(state, FORCED_BYTES_MAX);
    // Only whole characters can be cut.
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(bytes.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut ids = tokens.encode_inside(text)?;
    let ends_output = text.len() == bytes.len()
        && text.bytes().try_fold(*state, |state, byte| state.step(grammar, byte)).is_some_and(|state| state.is_done());
    if !ends_output {
        ids.pop();
    }
    let spelled: usize = ids.iter().map(|id| tokens.bytes(*id).len()).sum();
    let same = ids.iter().flat_map(|id| tokens.bytes(*id)).eq(bytes.iter().take(spelled));
    // Never more tokens than bytes, so what could be completed within the budget still can.
    let fits = same && ids.len() <= spelled.min(budget);
    Ok(if fits { ids.into_iter().map(|id| SampledToken { id, logprob: 0.0 }).collect() } else { Vec::new() })
}

fn allowed(
    grammar: &Grammar,
    tokens: &dyn Tokens,
    state: &State,
    budget: usize,
    sets: &mut HashMap<State, Arc<Vec<u32>>>,
) -> Arc<Vec<u32>> {
    let trie = tokens.trie();
    if budget <= grammar.rest_max() {
        return Arc::new(trie.allowed(grammar, state, budget));
    }
    let key = state.key(grammar, trie.token_bytes_max());
    if let Some(set) = sets.get(&key) {
        return Arc::clone(set);
    }
    let set = Arc::new(trie.allowed(grammar, state, budget));
    if sets.len() < SETS_MAX {
        sets.insert(key, Arc::clone(&set));
    }
    set
}
