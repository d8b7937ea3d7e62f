//! `replay`: runs trajectories again and compares them byte by byte.

use std::sync::Arc;

use loopwright_harness::Replayer;
use loopwright_harness::trajectory::{WorldStore, read_file};
use serde_json::{Value, json};

use super::{in_parallel, trajectories};
use crate::cli::{ReplayArgs, Shared};
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine, Worlds};

/// Runs it.
///
/// # Errors
/// An unreadable folder, or something that is not installed.
pub fn replay(shared: &Shared, args: &ReplayArgs) -> anyhow::Result<Exit> {
    let files = trajectories(&args.dir)?;
    let host = wire::host(shared, Engine { drop_instances: args.drop_instances }, Worlds::default())?;
    let replayer = Replayer::new(Arc::new(host), Vec::new()).with_ranker(crate::session::ranker());
    let bar = output::bar(files.len(), "replay");
    let results = in_parallel(&files, args.jobs, &|(file, folder)| {
        let seen = (|| -> anyhow::Result<Option<String>> {
            let report = replayer.replay(&read_file(file)?, &WorldStore::beside(folder))?;
            for note in &report.notes {
                tracing::info!(file = %file.display(), "{note}");
            }
            Ok(report.difference.map(|difference| difference.to_string()))
        })();
        bar.inc(1);
        seen.unwrap_or_else(|error| Some(format!("{error:#}")))
    });
    bar.finish_and_clear();
    let different: Vec<(String, &String)> = files
        .iter()
        .zip(&results)
        .filter_map(|((file, _), seen)| seen.as_ref().map(|seen| (file.display().to_string(), seen)))
        .collect();
    let identical = files.len() - different.len();
    if shared.json {
        let rows: Vec<Value> = different.iter().map(|(file, seen)| json!({"file": file, "difference": seen})).collect();
        output::json(
            &json!({"trajectories": files.len(), "identical": identical, "different": rows.len(), "differences": rows}),
        );
    } else {
        output::line(format_args!("{identical} of {} trajectories identical to the byte", files.len()));
        for (file, seen) in &different {
            output::line(format_args!("  {file}: {seen}"));
        }
    }
    Ok(if different.is_empty() { Exit::Good } else { Exit::Differs })
}
