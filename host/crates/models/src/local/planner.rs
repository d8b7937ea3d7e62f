//! The planner: renders a context, starts from the longest known beginning, and writes one call.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loopwright_contract::action::{Proposed, reserved};
use loopwright_contract::context::{Context, Event};
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::fault::chain;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion, Usage};
use serde_json::{Value, json};

use super::LocalError;
use super::cache::Cache;
use super::file::{ModelFile, digest};
use super::kernel::instruction_set;
use super::model::Model;
use super::prefix::PrefixStore;
use super::sample::Sampling;
use super::template::{Template, ToolRendering};
use super::vocabulary::Vocabulary;
use super::write::write;
use crate::chat::messages;
use crate::grammar::Grammar;
use crate::offer::{Function, functions};

/// How a local model is used.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalConfig {
    /// The GGUF file.
    pub path: PathBuf,
    /// Threads of the model; absent: one a core.
    pub threads: Option<usize>,
    /// Tokens of context, prompt and output together; the file's own limit holds besides.
    pub context_max: usize,
    /// Tokens that one decision may write.
    pub tokens_out_max: usize,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// How functions are shown.
    pub rendering: ToolRendering,
    /// Characters of a string in an argument.
    pub characters_max: u32,
    /// Sequences whose state is kept.
    pub prefixes_max: usize,
    /// Bytes that those states take at most.
    pub prefix_bytes_max: usize,
}

impl LocalConfig {
    /// Defaults for a file: greedy, 8192 tokens of context, 256 of output, 8 prefixes in 1 GiB.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            threads: None,
            context_max: 8192,
            tokens_out_max: 256,
            sampling: Sampling::default(),
            rendering: ToolRendering::default(),
            characters_max: 200,
            prefixes_max: 8,
            prefix_bytes_max: 1 << 30,
        }
    }
}

/// What is loaded and how it runs, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalDescription {
    /// The model's name in the file.
    pub name: String,
    /// `llama`, `qwen2` or `qwen3`.
    pub family: String,
    /// The digest of the file.
    pub digest: PolicyDigest,
    /// Layers, width and tokens of the vocabulary.
    pub layers: usize,
    /// Width of a token's state.
    pub width: usize,
    /// Tokens in the vocabulary.
    pub vocabulary: usize,
    /// Tokens of context that are used.
    pub context: usize,
    /// Whether the file's template renders tools itself; else they are rendered compactly.
    pub template_renders_tools: bool,
    /// The instruction set that was chosen at run time.
    pub instruction_set: &'static str,
    /// Threads.
    pub threads: usize,
}

/// How fast a model runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSpeed {
    /// Tokens of prompt read in a second.
    pub read_per_second: f64,
    /// Tokens written in a second, each after the other.
    pub written_per_second: f64,
}

/// A planner with a local model.
pub struct LocalPlanner {
    model: Model,
    pub(super) vocabulary: Vocabulary,
    pub(super) template: Template,
    prefixes: Mutex<PrefixStore>,
    threads: rayon::ThreadPool,
    name: String,
    digest: PolicyDigest,
    context_max: usize,
    config: LocalConfig,
}

impl std::fmt::Debug for LocalPlanner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LocalPlanner")
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl LocalPlanner {
    /// Loads a model.
    ///
    /// # Errors
    /// [`LocalError`] for a file that cannot be read, is no GGUF file, or is of a family or form that is not supported.
    pub fn load(config: LocalConfig) -> Result<Self, LocalError> {
        let mut file = ModelFile::open(&config.path)?;
        let vocabulary = Vocabulary::load(&file)?;
        let template = Template::new(file.text("tokenizer.chat_template"), config.rendering, &vocabulary)?;
        let name = file.text("general.name").map_or_else(|| stem(&config.path), str::to_owned);
        let model = Model::load(&mut file)?;
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(config.threads.unwrap_or(0))
            .thread_name(|place| format!("models-{place}"))
            .build()
            .map_err(|error| LocalError::Unsupported(format!("threads: {error}")))?;
        let prefixes =
            PrefixStore::new(config.prefixes_max, config.prefix_bytes_max, Cache::block_bytes(model.shape()));
        Ok(Self {
            context_max: config.context_max.min(model.shape().context),
            digest: digest(&config.path)?,
            prefixes: Mutex::new(prefixes),
            model,
            vocabulary,
            template,
            threads,
            name,
            config,
        })
    }

    /// What is loaded and how it runs.
    #[must_use]
    pub fn describe(&self) -> LocalDescription {
        let shape = self.model.shape();
        LocalDescription {
            name: self.name.clone(),
            family: format!("{:?}", shape.family).to_lowercase(),
            digest: self.digest,
            layers: shape.layers,
            width: shape.width,
            vocabulary: shape.vocabulary,
            context: self.context_max,
            template_renders_tools: self.template.renders_tools(),
            instruction_set: instruction_set(),
            threads: self.threads.current_num_threads(),
        }
    }

    /// Measures how fast the model reads and writes on this machine. `clock` tells the time since any fixed moment.
    ///
    /// # Errors
    /// [`LocalError`] for a model that does not run, or one whose context is shorter than the 288 tokens of the measurement.
    pub fn speed(&self, clock: &(dyn Fn() -> Duration + Sync)) -> Result<LocalSpeed, LocalError> {
        const READ: u32 = 256;
        const WRITTEN: u32 = 32;
        if self.context_max < 288 {
            return Err(LocalError::Unsupported(format!(
                "a context of {} tokens, expected 288 or more to measure",
                self.context_max
            )));
        }
        let vocabulary = u32::try_from(self.model.shape().vocabulary).unwrap_or(u32::MAX);
        let prompt: Vec<u32> = (0..READ).map(|place| place % vocabulary).collect();
        let mut cache = Cache::new(self.model.shape());
        self.threads.install(|| {
            let start = clock();
            self.model.forward(&prompt, &mut cache)?;
            let read = clock();
            for token in 0..WRITTEN {
                self.model.forward(&[token % vocabulary], &mut cache)?;
            }
            let rate = |count: u32, time: Duration| f64::from(count) / time.as_secs_f64().max(1e-9);
            Ok(LocalSpeed {
                read_per_second: rate(READ, read.saturating_sub(start)),
                written_per_second: rate(WRITTEN, clock().saturating_sub(read)),
            })
        })
    }

    fn decide(&self, request: &DecisionRequest<'_>) -> Result<Decision, PlannerFault> {
        let failed = |error: LocalError| PlannerFault::Failed(chain(&error));
        let context = request.context;
        let offered = functions(&context.space, &context.lang);
        let prompt = self.template.render(&messages(context), &offered, &self.vocabulary).map_err(failed)?;
        let tokens = self.vocabulary.encode(&prompt).map_err(failed)?;
        let room = self.context_max.saturating_sub(tokens.len());
        let limit = u64::try_from(self.context_max).unwrap_or(u64::MAX);
        let grammar = Grammar::new(&narrowed(offered, context), self.config.characters_max, &self.template.style().key);
        if room < self.config.tokens_out_max {
            let found = u64::try_from(tokens.len() + self.config.tokens_out_max).unwrap_or(u64::MAX);
            return Err(PlannerFault::ContextTooLong { found, limit });
        }
        if grammar.is_empty() {
            return Err(PlannerFault::Failed("no function is offered that could be called".to_owned()));
        }
        if !grammar.loose().is_empty() {
            tracing::debug!(loose = ?grammar.loose(), "parts of the schemas are left to the harness");
        }
        self.threads.install(|| self.write(&tokens, &grammar, request.seed)).map_err(failed)
    }

    fn write(&self, prompt: &[u32], grammar: &Grammar, seed: u64) -> Result<Decision, LocalError> {
        let known = self.store().find(prompt);
        let mut cache = known.unwrap_or_else(|| Cache::new(self.model.shape()));
        let cached = cache.length();
        let logits = self.model.forward(prompt.get(cached..).unwrap_or_default(), &mut cache)?;
        let mut sequence = prompt.to_vec();
        // Kept before writing too: a longer prompt of the same episode may write the same call with other tokens.
        self.store().keep(sequence.clone(), cache.clone());
        let written = write(
            grammar,
            &self.vocabulary,
            (self.config.sampling, seed),
            self.config.tokens_out_max,
            logits,
            &mut |tokens| {
                sequence.extend_from_slice(tokens);
                self.model.forward(tokens, &mut cache)
            },
        )?;
        let usage = Usage {
            tokens_in: count(prompt.len()),
            tokens_cached: count(cached),
            tokens_out: count(written.tokens.len()),
            tokens_reasoning: 0,
            cost_micros: 0,
        };
        self.store().keep(sequence, cache);
        let text = String::from_utf8_lossy(&written.bytes).into_owned();
        Ok(Decision {
            proposed: vec![proposed(&text, &self.template.style().key)?],
            text,
            tokens: written.tokens,
            grammar: Some(grammar.digest()),
            usage,
        })
    }

    fn store(&self) -> std::sync::MutexGuard<'_, PrefixStore> {
        // A store that another thread left behind holds whole entries all the same.
        self.prefixes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn count(tokens: usize) -> u64 {
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// The call in an output that followed the grammar.
fn proposed(text: &str, key: &str) -> Result<Proposed, LocalError> {
    let broken = || LocalError::Unsupported(format!("output that is no call: `{text}`"));
    let value: Value = serde_json::from_str(text).map_err(|_| broken())?;
    let name = value.get("name").and_then(Value::as_str).ok_or_else(broken)?;
    let arguments = value.get(key).ok_or_else(broken)?;
    Ok(Proposed::Call { id: None, name: name.to_owned(), arguments: loopwright_contract::json::canonical(arguments) })
}

/// Functions whose free texts are bound to what the context allows: a question can only be about a call that waits for confirmation.
fn narrowed(mut functions: Vec<Function>, context: &Context) -> Vec<Function> {
    let waiting: Vec<&str> = context
        .history
        .iter()
        .filter_map(|event| match event {
            Event::Answered { call_id, envelope, .. } if envelope.get("code").and_then(Value::as_u64) == Some(423) => {
                Some(call_id.as_str())
            }
            _ => None,
        })
        .collect();
    let ask = functions.iter_mut().find(|function| function.name == reserved::ASK_USER);
    if let Some(properties) = ask.and_then(|ask| ask.parameters.get_mut("properties")).and_then(Value::as_object_mut) {
        if waiting.is_empty() {
            properties.remove("pending_call");
        } else {
            properties.insert("pending_call".to_owned(), json!({"enum": waiting}));
        }
    }
    functions
}

impl Planner for LocalPlanner {
    fn version(&self) -> PolicyVersion {
        let config = &self.config;
        PolicyVersion {
            name: self.name.clone(),
            digest: self.digest,
            sampling: json!({
                "temperature": f64::from(config.sampling.temperature), "top_p": f64::from(config.sampling.top_p),
                "tokens_out_max": config.tokens_out_max, "context_max": self.context_max, "characters_max": config.characters_max,
                "tools": if self.template.renders_tools() { "template" } else { "compact" }, "instruction_set": instruction_set(),
            }),
        }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        // One after the other: each uses all threads, and the next finds the beginning that it shares with the last in the store.
        requests.iter().map(|request| self.decide(request)).collect()
    }
}
