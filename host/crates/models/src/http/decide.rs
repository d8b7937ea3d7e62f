//! One decision: tries, waits, and what a response means.

use loopwright_contract::json::{self, JsonLimits};
use loopwright_contract::planner::{Decision, PlannerFault};
use serde_json::Value;

use super::config::HttpConfig;
use super::request::Prepared;
use super::retry::{asked_wait, is_passing};
use super::transport::{Reply, SendFault, Transport};
use crate::reading::body::{BodyFault, Reading, error_in, read, read_text};

/// How one try ended, if not with a turn.
struct Failure {
    message: String,
    again: bool,
    reply: Reply,
}

impl Failure {
    fn last(message: String) -> Self {
        Self { message, again: false, reply: Reply::default() }
    }
}

/// Asks until there is a turn, a fault that passes with no try, or no try left.
pub(crate) async fn decide(
    transport: &dyn Transport,
    config: &HttpConfig,
    prepared: &Prepared,
) -> Result<Decision, PlannerFault> {
    let attempts_max = config.retry.attempts_max.max(1);
    let mut attempt = 1;
    loop {
        let failure = match attempt_once(transport, config, prepared).await {
            Ok(reading) => return Ok(decision(config, reading)),
            Err(failure) => failure,
        };
        if let Some(fault) = too_long(&failure.reply) {
            return Err(fault);
        }
        if !failure.again || attempt >= attempts_max {
            let tries = if attempt == 1 { String::new() } else { format!(", {attempt} tries") };
            return Err(PlannerFault::Failed(redacted(config, format!("{}{tries}", failure.message))));
        }
        let asked = asked_wait(failure.reply.retry_after.as_deref(), failure.reply.date.as_deref());
        let wait = config.retry.wait(attempt, prepared.seed, asked);
        tracing::debug!(attempt, wait_ms = wait.as_millis(), failure = failure.message, "asking again");
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

async fn attempt_once(transport: &dyn Transport, config: &HttpConfig, prepared: &Prepared) -> Result<Reading, Failure> {
    let reply = match tokio::time::timeout(config.timeout, transport.post(prepared.body.clone())).await {
        Err(_) => {
            return Err(Failure {
                again: true,
                ..Failure::last(format!("no answer within {} ms", config.timeout.as_millis()))
            });
        }
        Ok(Err(fault)) => {
            let again = matches!(fault, SendFault::Broken(_));
            return Err(Failure { again, ..Failure::last(fault.to_string()) });
        }
        Ok(Ok(reply)) => reply,
    };
    if reply.status != 200 {
        let text = message_of(&reply.body);
        return Err(Failure {
            message: format!("status {}: {text}", reply.status),
            again: is_passing(reply.status),
            reply,
        });
    }
    let offered = |name: &str| prepared.names.iter().any(|offered| offered == name);
    let reading = if prepared.names.is_empty() { read_text(&reply.body) } else { read(&reply.body, &offered) };
    reading.map_err(|fault| {
        let again = match &fault {
            BodyFault::Reported { code, .. } => code.is_none_or(is_passing),
            // A gateway's page, or a body that broke off.
            BodyFault::Shape { .. } => true,
        };
        Failure { message: fault.to_string(), again, reply }
    })
}

fn decision(config: &HttpConfig, reading: Reading) -> Decision {
    let mut usage = reading.usage;
    usage.cost_micros = config.prices.cost_micros(&usage);
    if usage.tokens_in == 0 {
        tracing::warn!(
            model = config.model,
            "the server reports no token usage; token and cost budgets do not count this decision"
        );
    }
    Decision { proposed: reading.proposed, text: reading.text, usage, ..Decision::default() }
}

fn body_value(body: &[u8]) -> Option<Value> {
    json::parse(&String::from_utf8_lossy(body), &JsonLimits::FILE).ok()
}

fn message_of(body: &[u8]) -> String {
    match body_value(body).as_ref().and_then(error_in) {
        Some(BodyFault::Reported { message, .. }) => message,
        _ => String::from_utf8_lossy(body).trim().chars().take(120).collect(),
    }
}

/// A context that does not fit, in the words of OpenAI, vLLM and llama.cpp.
fn too_long(reply: &Reply) -> Option<PlannerFault> {
    if reply.status != 400 && reply.status != 413 {
        return None;
    }
    let body = body_value(&reply.body)?;
    let error = body.get("error").unwrap_or(&body);
    let number = |key: &str| error.get(key).and_then(Value::as_u64);
    if let (Some(found), Some(limit)) = (number("n_prompt_tokens"), number("n_ctx")) {
        return Some(PlannerFault::ContextTooLong { found, limit });
    }
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let is_named = error.get("code").and_then(Value::as_str) == Some("context_length_exceeded");
    if !is_named && !message.contains("maximum context length") {
        return None;
    }
    let mut numbers =
        message.split(|character: char| !character.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    let limit = numbers.next().unwrap_or(0);
    Some(PlannerFault::ContextTooLong { found: numbers.next().unwrap_or(limit), limit })
}

/// Servers quote keys in their messages.
fn redacted(config: &HttpConfig, message: String) -> String {
    match &config.api_key {
        Some(key) if !key.secret().is_empty() => message.replace(key.secret(), "[key]"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::Mutex;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::http::config::{ApiKey, Prices};
    use crate::http::retry::RetryPolicy;

    /// Answers from a script; an entry that is absent never answers.
    struct Script(Mutex<VecDeque<Option<Result<Reply, SendFault>>>>);

    impl Transport for Script {
        fn post(&self, _: String) -> Pin<Box<dyn Future<Output = Result<Reply, SendFault>> + Send + '_>> {
            let next = self.0.lock().unwrap().pop_front().expect("asked once too often");
            Box::pin(async move {
                match next {
                    Some(reply) => reply,
                    None => std::future::pending().await,
                }
            })
        }
    }

    const GOOD: &str = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"wifi","arguments":"{}"}}]}}],"usage":{"prompt_tokens":1000,"completion_tokens":10}}"#;

    fn reply(status: u16, body: &str) -> Option<Result<Reply, SendFault>> {
        Some(Ok(Reply { status, body: body.as_bytes().to_vec(), ..Reply::default() }))
    }

    fn asking(status: u16, retry_after: &str) -> Option<Result<Reply, SendFault>> {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
        Some(Ok(Reply { status, retry_after: Some(retry_after.to_owned()), date, body: Vec::new() }))
    }

    /// Runs on time that is driven, and tells how much of it passed.
    fn run(script: Vec<Option<Result<Reply, SendFault>>>) -> (Result<Decision, PlannerFault>, Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let config = HttpConfig {
                api_key: Some(ApiKey::new("sk-1")),
                prices: Prices { input: 2_000_000, cached: 0, output: 1_000_000 },
                timeout: Duration::from_secs(30),
                retry: RetryPolicy {
                    attempts_max: 3,
                    wait_first: Duration::from_secs(1),
                    wait_max: Duration::from_secs(20),
                },
                ..HttpConfig::new("http://x/v1", "m")
            };
            let start = Instant::now();
            let prepared = Prepared { body: String::new(), names: vec!["wifi".to_owned()], seed: 5 };
            let transport = Script(Mutex::new(script.into()));
            let result = decide(&transport, &config, &prepared).await;
            assert!(transport.0.lock().unwrap().is_empty(), "asked too seldom");
            (result, start.elapsed())
        })
    }

    #[test]
    fn passing_faults_are_tried_again_after_the_wait_that_was_asked_for() {
        let second =
            |seconds: u64| Duration::from_secs(seconds)..Duration::from_secs(seconds) + Duration::from_millis(20);
        let jittered = Duration::from_millis(500)..Duration::from_millis(1020);
        for (what, script, waited) in [
            ("at once", vec![reply(200, GOOD)], second(0)),
            ("429, seconds", vec![asking(429, "7"), reply(200, GOOD)], second(7)),
            ("503, date", vec![asking(503, "Sun, 06 Nov 1994 08:49:49 GMT"), reply(200, GOOD)], second(12)),
            ("asked for too long", vec![asking(429, "9000"), reply(200, GOOD)], second(20)),
            ("500", vec![reply(500, "x"), reply(200, GOOD)], jittered.clone()),
            ("connection", vec![Some(Err(SendFault::Broken("reset".to_owned()))), reply(200, GOOD)], jittered.clone()),
            ("html with 200", vec![reply(200, "<html>"), reply(200, GOOD)], jittered.clone()),
            (
                "error with 200",
                vec![reply(200, r#"{"error":{"message":"busy","code":429}}"#), reply(200, GOOD)],
                jittered,
            ),
            (
                "no answer",
                vec![None, asking(429, "1"), reply(200, GOOD)],
                Duration::from_millis(31_500)..Duration::from_millis(32_040),
            ),
        ] {
            let (result, elapsed) = run(script);
            let decision = result.unwrap();
            assert_eq!(decision.proposed.len(), 1, "{what}");
            assert_eq!(decision.usage.cost_micros, 2010, "{what}");
            assert!(waited.contains(&elapsed), "{what}: waited {elapsed:?}, expected {waited:?}");
        }
    }

    #[test]
    fn lasting_faults_are_not_tried_again_and_tries_end() {
        for (what, script, message) in [
            ("key", vec![reply(401, r#"{"error":{"message":"bad key sk-1"}}"#)], "status 401: bad key [key]"),
            ("model", vec![reply(404, r#"{"error":"model not found"}"#)], "status 404: model not found"),
            ("error with 200", vec![reply(200, r#"{"error":{"message":"bad","code":400}}"#)], "server reported `bad`"),
            ("too large", vec![Some(Err(SendFault::TooLarge { limit: 9 }))], "response longer than 9 bytes"),
            ("redirect", vec![reply(302, "")], "status 302: "),
            ("three tries", vec![reply(502, "a"), reply(502, "b"), reply(502, "c")], "status 502: c, 3 tries"),
            ("three silences", vec![None, None, None], "no answer within 30000 ms, 3 tries"),
        ] {
            assert_eq!(run(script).0, Err(PlannerFault::Failed(message.to_owned())), "{what}");
        }
    }

    #[test]
    fn a_context_that_does_not_fit_is_told_apart() {
        for (body, found, limit) in [
            (
                r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 5012 tokens."}}"#,
                5012,
                4096,
            ),
            (
                r#"{"object":"error","code":400,"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"}"#,
                9000,
                8192,
            ),
            (
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":777,"n_ctx":512}}"#,
                777,
                512,
            ),
        ] {
            assert_eq!(run(vec![reply(400, body)]).0, Err(PlannerFault::ContextTooLong { found, limit }));
        }
    }
}
