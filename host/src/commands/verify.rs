//! `verify`: judges stored trajectories again, also with their pack deleted.

use std::sync::Arc;

use loopwright_contract::name::PluginName;
use loopwright_contract::verdict::Outcome;
use loopwright_harness::trajectory::{WorldStore, read_file};
use loopwright_harness::{Judgement, Replayer, VerifierChoice};
use serde_json::{Value, json};

use super::{in_parallel, trajectories};
use crate::cli::{Shared, VerifyArgs};
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine, Worlds};

/// Runs it.
///
/// # Errors
/// An unreadable folder, or something that is not installed.
pub fn verify(shared: &Shared, args: &VerifyArgs) -> anyhow::Result<Exit> {
    let files = trajectories(&args.dir)?;
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let choice = match &args.verifier {
        None => VerifierChoice::Recorded,
        Some(name) => VerifierChoice::Always(PluginName::new(name)?),
    };
    let replayer = Replayer::new(Arc::new(host), Vec::new()).with_ranker(crate::session::ranker());
    let bar = output::bar(files.len(), "verify");
    let results = in_parallel(&files, args.jobs, &|(file, folder)| {
        let judged = read_file(file)
            .map_err(anyhow::Error::from)
            .and_then(|stored| Ok(replayer.verify(&stored, &WorldStore::beside(folder), &choice)?));
        bar.inc(1);
        judged.map_err(|error| format!("{error:#}"))
    });
    bar.finish_and_clear();
    let mut rows = Vec::new();
    let mut counts = Counts::default();
    for ((file, _), result) in files.iter().zip(&results) {
        counts.add(result);
        rows.push((file.display().to_string(), result));
    }
    if shared.json {
        let rows: Vec<Value> = rows.iter().map(|(file, result)| row(file, result)).collect();
        output::json(
            &json!({"trajectories": files.len(), "same": counts.same, "changed": counts.changed, "failed": counts.failed, "verdicts": rows}),
        );
    } else {
        output::line(format_args!(
            "{} trajectories: {} with the recorded outcome, {} with another, {} not judged",
            files.len(),
            counts.same,
            counts.changed,
            counts.failed
        ));
        for (file, result) in &rows {
            match result {
                Err(error) => output::line(format_args!("  {file}: {error}")),
                Ok(judged) if judged.recorded.as_ref() != Some(&judged.outcome) => {
                    output::line(format_args!(
                        "  {file}: recorded {}, now {}",
                        judged.recorded.as_ref().map_or("nothing", word),
                        word(&judged.outcome)
                    ));
                }
                Ok(_) => {}
            }
        }
    }
    Ok(if counts.changed + counts.failed == 0 { Exit::Good } else { Exit::Differs })
}

#[derive(Default)]
struct Counts {
    same: usize,
    changed: usize,
    failed: usize,
}

impl Counts {
    fn add(&mut self, result: &Result<Judgement, String>) {
        *match result {
            Err(_) => &mut self.failed,
            Ok(judged) if judged.recorded.as_ref() == Some(&judged.outcome) => &mut self.same,
            Ok(_) => &mut self.changed,
        } += 1;
    }
}

fn word(outcome: &Outcome) -> &'static str {
    crate::show::outcome(outcome).1
}

fn row(file: &str, result: &Result<Judgement, String>) -> Value {
    match result {
        Err(error) => json!({"file": file, "error": error}),
        Ok(judged) => json!({
            "file": file,
            "recorded": judged.recorded.as_ref().map(word),
            "outcome": word(&judged.outcome),
            "checks": judged.verdicts.iter().map(|judged| json!({"verifier": judged.verifier, "digest": judged.verifier_digest, "upto": judged.upto, "score": judged.verdict.score(), "progress": judged.verdict.progress(), "fuel": judged.fuel})).collect::<Vec<_>>(),
        }),
    }
}
