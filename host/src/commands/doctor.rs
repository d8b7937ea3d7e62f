//! `doctor`: what is installed, what is missing and how to get it.

use std::path::Path;

use loopwright_contract::episode::EpisodeHost as _;
use loopwright_models::local::{LocalConfig, LocalPlanner};
use serde_json::json;

use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::planner::DEFAULT_MODEL;
use crate::wire::{self, Engine, Worlds};

/// One thing that was looked at.
struct Finding {
    name: &'static str,
    good: bool,
    found: String,
    remedy: Option<String>,
}

/// Runs it.
///
/// # Errors
/// None: what is wrong is what it reports.
pub fn doctor(shared: &Shared) -> anyhow::Result<Exit> {
    let findings = [plugins(shared), cache(&shared.cache), model(Path::new(DEFAULT_MODEL)), cpu()];
    let missing = findings.iter().any(|finding| !finding.good);
    if shared.json {
        let rows: Vec<_> = findings.iter().map(|finding| json!({"name": finding.name, "good": finding.good, "found": finding.found, "remedy": finding.remedy})).collect();
        output::json(&rows);
    } else {
        for finding in &findings {
            let mark = if finding.good { "ok     " } else { "missing" };
            output::line(format_args!("{mark} {:<8} {}", finding.name, finding.found));
            if let Some(remedy) = &finding.remedy {
                output::line(format_args!("                 {remedy}"));
            }
        }
    }
    Ok(if missing { Exit::NotInstalled } else { Exit::Good })
}

fn plugins(shared: &Shared) -> Finding {
    match wire::host(shared, Engine::default(), Worlds::default()) {
        Ok(host) => Finding {
            name: "plugins",
            good: true,
            found: format!(
                "{} plugins with {} tools and {} skills; {}",
                host.plugins().len(),
                host.tools().len(),
                host.skills().len(),
                host.fingerprint()
            ),
            remedy: None,
        },
        Err(error) => Finding {
            name: "plugins",
            good: false,
            found: format!("{error:#}"),
            remedy: Some("build them: cargo xtask guests".to_owned()),
        },
    }
}

fn cache(folder: &Path) -> Finding {
    let compiled = std::fs::read_dir(folder).map(|entries| {
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|extension| extension == "cwasm")).count()
    });
    match compiled {
        Ok(count) => Finding {
            name: "cache",
            good: true,
            found: format!("{count} compiled components in {}", folder.display()),
            remedy: None,
        },
        Err(error) => Finding {
            name: "cache",
            good: false,
            found: format!("{}: {error}", folder.display()),
            remedy: Some("give a writable folder with --cache; without it every start compiles".to_owned()),
        },
    }
}

fn model(path: &Path) -> Finding {
    let remedy = Some("fetch it: cargo xtask setup; or bring a GGUF with --model".to_owned());
    if !path.exists() {
        return Finding { name: "model", good: false, found: format!("none at {}", path.display()), remedy };
    }
    match LocalPlanner::load(LocalConfig::new(path)) {
        Ok(planner) => {
            let about = planner.describe();
            Finding {
                name: "model",
                good: true,
                found: format!(
                    "{} ({}, {} layers, {} tokens of context)",
                    about.name, about.family, about.layers, about.context
                ),
                remedy: None,
            }
        }
        Err(error) => Finding { name: "model", good: false, found: format!("{}: {error}", path.display()), remedy },
    }
}

fn cpu() -> Finding {
    let built: Vec<&str> = [
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("f16c", cfg!(target_feature = "f16c")),
    ]
    .into_iter()
    .filter_map(|(name, on)| on.then_some(name))
    .collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let found = if built.is_empty() {
        format!("{threads} threads; built for any CPU of this kind")
    } else {
        format!("{threads} threads; built with {}", built.join(", "))
    };
    let remedy = built.is_empty().then(|| {
        "`cargo xtask run` builds for this CPU: prompts of the local model are then read several times faster"
            .to_owned()
    });
    Finding { name: "cpu", good: true, found, remedy }
}
