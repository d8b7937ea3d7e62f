//! A planner behind an OpenAI-compatible server.
//!
//! One thread owns a current-thread runtime and the connections; callers hand it prepared requests and wait. So a planner can be asked from
//! any thread, a runtime's worker included, and connections are kept between batches.

mod config;
mod decide;
mod request;
mod retry;
mod transport;

use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::memory::{MemoryError, TextModel};
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc as channel};

pub use config::{ApiKey, HttpConfig, OutputLimitField, Prices};
pub use retry::RetryPolicy;
pub use transport::HttpSetupError;

use request::{Prepared, prepare, prepare_text};
use transport::{Network, Transport};

type Answer = (usize, Result<Decision, PlannerFault>);

/// One request on its way to the thread.
struct Job {
    place: usize,
    prepared: Prepared,
    answers: mpsc::Sender<Answer>,
}

/// Asks a model behind an OpenAI-compatible server.
#[derive(Debug)]
pub struct HttpPlanner {
    config: Arc<HttpConfig>,
    // Unbounded by type, bounded by use: each caller waits for all of its jobs.
    jobs: Option<channel::UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpPlanner {
    /// Sets up a planner; the server is not asked yet.
    ///
    /// # Errors
    /// [`HttpSetupError`] for an address or a key that cannot be used, or a machine without what the client needs.
    pub fn new(config: HttpConfig) -> Result<Self, HttpSetupError> {
        let network = Network::new(&config)?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(HttpSetupError::Thread)?;
        let config = Arc::new(config);
        let (jobs, receiver) = channel::unbounded_channel();
        let served = Arc::clone(&config);
        let thread = std::thread::Builder::new()
            .name("models-http".to_owned())
            .spawn(move || runtime.block_on(serve(Arc::new(network), served, receiver)))
            .map_err(HttpSetupError::Thread)?;
        Ok(Self { config, jobs: Some(jobs), thread: Some(thread) })
    }
}

async fn serve(transport: Arc<dyn Transport>, config: Arc<HttpConfig>, mut jobs: channel::UnboundedReceiver<Job>) {
    let places = Arc::new(Semaphore::new(config.concurrent_max.clamp(1, Semaphore::MAX_PERMITS)));
    while let Some(job) = jobs.recv().await {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let (transport, config) = (Arc::clone(&transport), Arc::clone(&config));
        tokio::spawn(async move {
            let result = decide::decide(&*transport, &config, &job.prepared).await;
            drop(place);
            // A caller that is gone needs no answer.
            let _ = job.answers.send((job.place, result));
        });
    }
}

impl Planner for HttpPlanner {
    fn version(&self) -> PolicyVersion {
        let config = &self.config;
        PolicyVersion {
            name: config.model.clone(),
            // The parameters are the server's; all that is known of them is where they are and what they are called.
            digest: PolicyDigest::of(format!("{}\n{}", config.base_url, config.model).as_bytes()),
            sampling: json!({"temperature": config.temperature, "top_p": config.top_p, "tokens_out_max": config.tokens_out_max,
                "require_call": config.require_call, "parallel_calls": config.parallel_calls, "extra": config.extra}),
        }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let lost = || Err(PlannerFault::Failed("the thread that asks the server ended".to_owned()));
        let mut results: Vec<Result<Decision, PlannerFault>> = requests.iter().map(|_| lost()).collect();
        let (answers, received) = mpsc::channel();
        for (place, request) in requests.iter().enumerate() {
            let job = Job { place, prepared: prepare(&self.config, request), answers: answers.clone() };
            if self.jobs.as_ref().is_none_or(|jobs| jobs.send(job).is_err()) {
                return results;
            }
        }
        drop(answers);
        for (place, result) in received {
            if let Some(slot) = results.get_mut(place) {
                *slot = result;
            }
        }
        results
    }
}

impl TextModel for HttpPlanner {
    fn fingerprint(&self) -> String {
        let version = self.version();
        format!("{} {} {}", version.name, version.digest, version.sampling)
    }

    fn complete(&self, system: &str, request: &str, seed: u64) -> Result<String, MemoryError> {
        let lost = || MemoryError("the thread that asks the server ended".to_owned());
        let (answers, received) = mpsc::channel();
        let job = Job { place: 0, prepared: prepare_text(&self.config, system, request, seed), answers };
        self.jobs.as_ref().ok_or_else(lost)?.send(job).map_err(|_| lost())?;
        let (_, decision) = received.recv().map_err(|_| lost())?;
        let text = decision.map_err(|fault| MemoryError(fault.to_string()))?.text;
        if text.trim().is_empty() { Err(MemoryError("the model answered nothing".to_owned())) } else { Ok(text) }
    }
}

impl Drop for HttpPlanner {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // It ends by itself; a panic in it was already told as lost answers.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use loopwright_contract::action::Proposed;
    use serde_json::Value;

    use super::*;
    use crate::offer::tests::context;

    /// Reads one request whole: head and body.
    fn read_request(stream: &mut TcpStream) -> (String, Value) {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length: usize = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
                    .unwrap();
                if body.len() >= length {
                    return (head.to_owned(), serde_json::from_str(body).unwrap());
                }
            }
            let count = stream.read(&mut chunk).unwrap();
            assert!(count > 0, "request broke off");
            bytes.extend_from_slice(&chunk[..count]);
        }
    }

    /// Serves `answer` to each connection's one request, `connections` times; tells the requests.
    fn server(
        connections: usize,
        answer: impl Fn(usize, &Value) -> String + Send + 'static,
    ) -> (String, JoinHandle<Vec<(String, Value)>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1/", listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            let mut requests = Vec::new();
            for place in 0..connections {
                let (mut stream, _) = listener.accept().unwrap();
                let request = read_request(&mut stream);
                stream.write_all(answer(place, &request.1).as_bytes()).unwrap();
                requests.push(request);
            }
            requests
        });
        (address, thread)
    }

    fn response(head: &str, body: &str) -> String {
        format!("HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    }

    fn good(name: &str) -> String {
        let message = serde_json::json!({"content": null, "tool_calls": [{"id": "c1", "function": {"name": name, "arguments": "{}"}}]});
        serde_json::json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
            .to_string()
    }

    #[test]
    fn a_batch_is_answered_in_order_over_the_network() {
        let (address, thread) = server(4, |place, request| match place {
            0 => response("429 Too Many Requests\r\nRetry-After: 0", "slow down"),
            // Says back which request it answers.
            _ => response(
                "200 OK",
                &good(if request["messages"][1]["content"].as_str().unwrap().ends_with("first") {
                    "one"
                } else {
                    "two"
                }),
            ),
        });
        let config =
            HttpConfig { api_key: Some(ApiKey::new("sk-1")), concurrent_max: 2, ..HttpConfig::new(address, "m") };
        let planner = HttpPlanner::new(config).unwrap();
        let contexts = [context("first"), context("second"), context("third")];
        let requests: Vec<DecisionRequest<'_>> =
            contexts.iter().map(|context| DecisionRequest { context, seed: 1 }).collect();
        let names: Vec<String> = planner
            .decide_batch(&requests)
            .into_iter()
            .map(|decision| match decision.unwrap().proposed.remove(0) {
                Proposed::Call { name, .. } => name,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, ["one", "two", "two"]);
        let requests = thread.join().unwrap();
        assert!(requests.iter().all(|(head, _)| {
            head.starts_with("POST /v1/chat/completions HTTP/1.1")
                && head.to_lowercase().contains("authorization: bearer sk-1")
        }));
        assert_eq!(planner.version().name, "m");
    }

    #[test]
    fn a_planner_can_be_asked_from_inside_a_runtime() {
        let (address, thread) = server(1, |_, _| response("200 OK", &good("one")));
        let planner = HttpPlanner::new(HttpConfig::new(address, "m")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let context = context("x");
        let decisions =
            runtime.block_on(async { planner.decide_batch(&[DecisionRequest { context: &context, seed: 1 }]) });
        assert!(decisions[0].is_ok());
        thread.join().unwrap();
        assert!(planner.decide_batch(&[]).is_empty());
    }

    #[test]
    fn text_is_asked_for_without_functions_and_comes_back_as_it_is() {
        // An answer that looks like a call is text where no function was offered.
        for content in ["Anna lives in Berlin.", r#"{"name": "Anna", "arguments": {"city": "Berlin"}}"#] {
            let body = serde_json::json!({"choices": [{"message": {"content": content}}]}).to_string();
            let (address, thread) = server(1, move |_, _| response("200 OK", &body));
            let model = HttpPlanner::new(HttpConfig::new(address, "m")).unwrap();
            assert_eq!(model.complete("Be brief.", "Where?", 7).as_deref(), Ok(content));
            let (_, request) = thread.join().unwrap().remove(0);
            assert_eq!(request["messages"][1], serde_json::json!({"role": "user", "content": "Where?"}));
            assert_eq!((request.get("tools"), &request["seed"]), (None, &serde_json::json!(7)));
        }
    }

    #[test]
    fn an_empty_answer_is_none() {
        let body = serde_json::json!({"choices": [{"message": {"content": " "}}]}).to_string();
        let (address, thread) = server(1, move |_, _| response("200 OK", &body));
        let model = HttpPlanner::new(HttpConfig::new(address, "m")).unwrap();
        assert_eq!(model.complete("", "x", 1), Err(MemoryError("the model answered nothing".to_owned())));
        thread.join().unwrap();
    }

    #[test]
    fn bodies_that_are_too_long_or_break_off_are_faults() {
        let one_try = |address: String| HttpConfig {
            retry: RetryPolicy { attempts_max: 1, ..RetryPolicy::default() },
            body_bytes_max: 1000,
            ..HttpConfig::new(address, "m")
        };
        let context = context("x");
        for (answer, part) in [
            (response("200 OK", &"x".repeat(1001)), "longer than 1000 bytes"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"cho".to_owned(), "body"),
            (response("302 Found\r\nLocation: http://127.0.0.1:1/", ""), "status 302"),
            ("nonsense\r\n\r\n".to_owned(), ""),
        ] {
            let (address, thread) = server(1, move |_, _| answer.clone());
            let planner = HttpPlanner::new(one_try(address)).unwrap();
            let result = planner.decide_batch(&[DecisionRequest { context: &context, seed: 1 }]).remove(0);
            assert!(
                matches!(&result, Err(PlannerFault::Failed(message)) if message.contains(part)),
                "{part}: {result:?}"
            );
            thread.join().unwrap();
        }
    }

    #[test]
    fn a_server_that_never_answers_is_given_up() {
        // Accepted by the system, read by nobody.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let config = HttpConfig {
            timeout: Duration::from_millis(20),
            retry: RetryPolicy { attempts_max: 2, wait_first: Duration::ZERO, wait_max: Duration::ZERO },
            ..HttpConfig::new(address, "m")
        };
        let context = context("x");
        let result =
            HttpPlanner::new(config).unwrap().decide_batch(&[DecisionRequest { context: &context, seed: 1 }]).remove(0);
        assert_eq!(result, Err(PlannerFault::Failed("no answer within 20 ms, 2 tries".to_owned())));
    }

    #[test]
    fn addresses_and_keys_that_cannot_work_are_refused_at_once() {
        for address in ["", "localhost:8000", "ftp://x/v1", "http://"] {
            assert!(
                matches!(HttpPlanner::new(HttpConfig::new(address, "m")), Err(HttpSetupError::Address { .. })),
                "{address}"
            );
        }
        let config = HttpConfig { api_key: Some(ApiKey::new("a\nb")), ..HttpConfig::new("http://x/v1", "m") };
        assert!(matches!(HttpPlanner::new(config), Err(HttpSetupError::Key)));
        assert!(
            HttpPlanner::new(HttpConfig::new("https://example.invalid/v1", "m")).is_ok(),
            "the client for https needs the system's certificates"
        );
    }
}
