//! What an operator says about a server.

use std::fmt;
use std::time::Duration;

use loopwright_contract::planner::Usage;
use serde_json::{Map, Value};

use super::retry::RetryPolicy;

/// A secret that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Keeps a key.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(..)")
    }
}

/// Prices in millionths of the operator's currency per million tokens: 0.15 a million is 150 000.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prices {
    /// Of tokens read that were not cached.
    pub input: u64,
    /// Of tokens read that were cached.
    pub cached: u64,
    /// Of tokens written, reasoning included.
    pub output: u64,
}

impl Prices {
    /// The cost of some usage in millionths, rounded up.
    #[must_use]
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        let product = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let fresh = usage.tokens_in.saturating_sub(usage.tokens_cached);
        let cost = product(fresh, self.input)
            + product(usage.tokens_cached.min(usage.tokens_in), self.cached)
            + product(usage.tokens_out, self.output);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Which field limits the output: servers disagree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputLimitField {
    /// `max_tokens`: vLLM, llama.cpp, Ollama and most others.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: newer models of OpenAI.
    MaxCompletionTokens,
}

/// How a server is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConfig {
    /// Up to and without `/chat/completions`, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// The model's name on the server.
    pub model: String,
    /// Sent as a bearer token.
    pub api_key: Option<ApiKey>,
    /// For cost accounting; zeros: everything is free.
    pub prices: Prices,
    /// Sampling temperature; absent: the server's default.
    pub temperature: Option<f64>,
    /// Nucleus; absent: the server's default.
    pub top_p: Option<f64>,
    /// Tokens that one decision may write, reasoning included.
    pub tokens_out_max: u32,
    /// The field that says so.
    pub output_limit_field: OutputLimitField,
    /// Whether `tool_choice` is `required`; else `auto`, which every server knows.
    pub require_call: bool,
    /// Whether several calls in one turn are asked for.
    pub parallel_calls: bool,
    /// Time of one try, connecting and reading included.
    pub timeout: Duration,
    /// Retries.
    pub retry: RetryPolicy,
    /// Requests under way at once, 1 or more.
    pub concurrent_max: usize,
    /// Bytes of a response's body.
    pub body_bytes_max: usize,
    /// Further fields of the request's body, such as `chat_template_kwargs`.
    pub extra: Map<String, Value>,
}

impl HttpConfig {
    /// Defaults for a server and a model: greedy where the server allows it, 1024 tokens, 120 s, 4 tries, 8 requests at once, 4 MiB.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            prices: Prices::default(),
            temperature: Some(0.0),
            top_p: None,
            tokens_out_max: 1024,
            output_limit_field: OutputLimitField::default(),
            require_call: false,
            parallel_calls: true,
            timeout: Duration::from_secs(120),
            retry: RetryPolicy::default(),
            concurrent_max: 8,
            body_bytes_max: 4 * 1024 * 1024,
            extra: Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let config = HttpConfig { api_key: Some(ApiKey::new("sk-secret")), ..HttpConfig::new("http://x/v1", "m") };
        assert!(!format!("{config:?}").contains("secret"));
    }

    #[test]
    fn cost_counts_cached_tokens_apart_and_rounds_up() {
        let prices = Prices { input: 150_000, cached: 75_000, output: 600_000 };
        let usage =
            Usage { tokens_in: 1000, tokens_cached: 400, tokens_out: 100, tokens_reasoning: 60, cost_micros: 0 };
        // 600 * 0.15 + 400 * 0.075 + 100 * 0.6 millionths.
        assert_eq!(prices.cost_micros(&usage), 180);
        assert_eq!(prices.cost_micros(&Usage { tokens_in: 1, ..Usage::default() }), 1);
        assert_eq!(
            Prices { output: u64::MAX, ..prices }.cost_micros(&Usage { tokens_out: u64::MAX, ..usage }),
            u64::MAX
        );
    }
}
