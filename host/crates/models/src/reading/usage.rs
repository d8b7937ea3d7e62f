//! Token counts in the spellings of several servers.

use loopwright_contract::planner::Usage;
use serde_json::Value;

/// Reads the counts of a response; zeros where there are none. The cost is not counted here.
pub(super) fn usage_of(body: &Value) -> Usage {
    let count = |paths: &[&str]| paths.iter().find_map(|path| body.pointer(path)?.as_u64()).unwrap_or(0);
    let tokens_in = count(&["/usage/prompt_tokens", "/usage/input_tokens", "/prompt_eval_count", "/tokens_evaluated"]);
    let written = count(&["/usage/completion_tokens", "/usage/output_tokens", "/eval_count", "/tokens_predicted"]);
    let tokens_cached = count(&[
        "/usage/prompt_tokens_details/cached_tokens",
        "/usage/input_tokens_details/cached_tokens",
        "/usage/prompt_cache_hit_tokens",
        "/usage/cached_tokens",
        "/timings/cache_n",
    ]);
    let tokens_reasoning = count(&[
        "/usage/completion_tokens_details/reasoning_tokens",
        "/usage/output_tokens_details/reasoning_tokens",
        "/usage/reasoning_tokens",
    ]);
    // Some servers count reasoning beside the completion, not inside; the total tells.
    let beside = count(&["/usage/total_tokens"]) == tokens_in.saturating_add(written).saturating_add(tokens_reasoning);
    let tokens_out = if tokens_reasoning > 0 && (beside || tokens_reasoning > written) {
        written.saturating_add(tokens_reasoning)
    } else {
        written
    };
    Usage { tokens_in, tokens_cached: tokens_cached.min(tokens_in), tokens_out, tokens_reasoning, cost_micros: 0 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_read_in_every_spelling() {
        let check = |body: Value, expected: [u64; 4]| {
            let usage = usage_of(&body);
            assert_eq!(
                [usage.tokens_in, usage.tokens_cached, usage.tokens_out, usage.tokens_reasoning],
                expected,
                "{body}"
            );
        };
        check(json!({}), [0, 0, 0, 0]);
        check(json!({"usage": null}), [0, 0, 0, 0]);
        check(
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": null}}),
            [10, 0, 5, 0],
        );
        let details = json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 8}, "completion_tokens_details": {"reasoning_tokens": 3}}});
        check(details, [10, 8, 5, 3]);
        check(
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 18, "completion_tokens_details": {"reasoning_tokens": 3}}}),
            [10, 0, 8, 3],
        );
        check(
            json!({"usage": {"prompt_tokens": 10, "prompt_cache_hit_tokens": 6, "completion_tokens": 5}}),
            [10, 6, 5, 0],
        );
        check(
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5}, "timings": {"cache_n": 7}}),
            [10, 7, 5, 0],
        );
        check(json!({"prompt_eval_count": 12, "eval_count": 4, "done": true}), [12, 0, 4, 0]);
        check(
            json!({"usage": {"input_tokens": 3, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 99}}}),
            [3, 3, 2, 0],
        );
    }
}
