//! Planners by name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopwright_contract::planner::Planner;
use loopwright_contract::task::Task;
use loopwright_harness::planners::{Idle, Random, Scripted};
use loopwright_learn::pointer::Lexical;
use loopwright_models::http::{ApiKey, HttpConfig, HttpPlanner, Prices};
use loopwright_models::local::{LocalConfig, LocalPlanner, Sampling};

use crate::cli::{ModelArgs, PlannerKind};
use crate::exit::NotInstalled;
use crate::training::phone;

/// Where the set-up puts the default model.
pub const DEFAULT_MODEL: &str = "target/models/smollm2-135m-instruct-q4_1.gguf";

impl PlannerKind {
    /// Its name in reports and folders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Random => "random",
            Self::Idle => "idle",
            Self::Lexical => "lexical",
            Self::Policy => "policy",
            Self::Local => "local",
            Self::Openai => "openai",
        }
    }
}

/// Makes a planner.
///
/// # Errors
/// [`NotInstalled`] when the model's file is missing; what is wrong with the file or the address.
pub fn planner(kind: PlannerKind, tasks: &[Task], args: &ModelArgs) -> anyhow::Result<Box<dyn Planner>> {
    Ok(match kind {
        PlannerKind::Scripted => Box::new(Scripted::new(tasks)),
        PlannerKind::Random => Box::new(Random),
        PlannerKind::Idle => Box::new(Idle),
        PlannerKind::Lexical => Box::new(Lexical::new()),
        PlannerKind::Policy => Box::new(phone::policy(args.policy.as_deref())?),
        PlannerKind::Local => Box::new(local(args)?),
        PlannerKind::Openai => Box::new(http(args)?),
    })
}

/// The path of the local model.
#[must_use]
pub fn model_path(args: &ModelArgs) -> PathBuf {
    args.model.clone().unwrap_or_else(|| Path::new(DEFAULT_MODEL).to_owned())
}

fn local(args: &ModelArgs) -> anyhow::Result<LocalPlanner> {
    let path = model_path(args);
    if !path.exists() {
        return Err(NotInstalled(format!("no model at `{}`\nhint: `cargo xtask setup` fetches the default one; --model PATH takes any GGUF of the Llama, Qwen2 and Qwen3 families", path.display())).into());
    }
    let sampling = if args.temperature > 0.0 {
        Sampling { temperature: args.temperature, ..Sampling::default() }
    } else {
        Sampling::default()
    };
    Ok(LocalPlanner::load(LocalConfig { sampling, ..LocalConfig::new(path) })?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server's key is configuration, and this is the edge where it is read"
)]
fn http(args: &ModelArgs) -> anyhow::Result<HttpPlanner> {
    let Some(endpoint) = &args.endpoint else {
        anyhow::bail!("planner `openai` needs --endpoint, such as http://127.0.0.1:8000/v1")
    };
    let config = HttpConfig {
        api_key: std::env::var(&args.key_variable).ok().filter(|key| !key.is_empty()).map(ApiKey::new),
        prices: Prices { input: args.price_in_micros, cached: args.price_in_micros, output: args.price_out_micros },
        temperature: Some(f64::from(args.temperature)),
        timeout: Duration::from_secs(args.timeout_s),
        ..HttpConfig::new(endpoint.clone(), args.model_name.clone())
    };
    Ok(HttpPlanner::new(config)?)
}
