//! `verifier`: which verifiers serve, swapping one while everything runs, going back, and comparing two on what was recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use loopwright_contract::digest::ContentDigest;
use loopwright_contract::name::PluginName;
use loopwright_contract::verdict::JudgedCheck;
use loopwright_engine::{Candidate, PluginHost, ShadowRule, SwapMode};
use loopwright_harness::trajectory::{WorldStore, read_file};
use loopwright_harness::{Replayer, VerifierChoice};
use loopwright_registry::COMPONENT_BYTES_LIMIT;
use serde_json::{Value, json};

use super::{in_parallel, trajectories};
use crate::cli::{CompareArgs, Shared, SwapArgs, VerifierCommand};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, cut, render};
use crate::verifiers::{Entry, Journal};
use crate::wire::{self, Engine, Worlds};

/// Differences that are printed.
const SHOWN_MAX: usize = 20;

/// Runs it.
///
/// # Errors
/// A component that is refused, a journal that cannot be read or written, or something that is not installed.
pub fn verifier(shared: &Shared, command: &VerifierCommand) -> anyhow::Result<Exit> {
    match command {
        VerifierCommand::Status => status(shared),
        VerifierCommand::Swap(args) => swap(shared, args),
        VerifierCommand::Rollback { name } => rollback(shared, name),
        VerifierCommand::Compare(args) => compare(shared, args),
    }
}

fn status(shared: &Shared) -> anyhow::Result<Exit> {
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let statuses = host.verifiers();
    if shared.json {
        let rows: Vec<Value> = statuses
            .iter()
            .map(|status| {
                json!({
                    "name": status.name, "version": status.version, "digest": status.digest, "previous": status.previous,
                    "shadow": status.shadow.as_ref().map(|shadow| json!({
                        "digest": shadow.digest, "verdicts": shadow.rule.verdicts,
                        "disagreements_max": shadow.rule.disagreements_max,
                    })),
                    "quarantined": quarantined(shared, &status.name),
                })
            })
            .collect();
        output::json(&rows);
        return Ok(Exit::Good);
    }
    let head = [
        ("verifier", Align::Left),
        ("version", Align::Left),
        ("serves", Align::Left),
        ("shadow", Align::Left),
        ("can go back to", Align::Left),
    ];
    let short = |digest: &ContentDigest| digest.to_string().chars().take(19).collect::<String>();
    let cells: Vec<Vec<String>> = statuses
        .iter()
        .map(|status| {
            let shadow = status.shadow.as_ref().map_or_else(|| "-".to_owned(), |shadow| short(&shadow.digest));
            let back = status.previous.first().map_or_else(|| "-".to_owned(), short);
            vec![status.name.to_string(), status.version.clone(), short(&status.digest), shadow, back]
        })
        .collect();
    output::print(render(&head, &cells));
    Ok(Exit::Good)
}

fn quarantined(shared: &Shared, name: &PluginName) -> Vec<ContentDigest> {
    let places = Journal::beside(&shared.plugins).places().unwrap_or_default();
    places.get(name).map(|place| place.quarantined.clone()).unwrap_or_default()
}

fn component(path: &Path) -> anyhow::Result<Vec<u8>> {
    let what = || format!("component `{}` cannot be read", path.display());
    let mut bytes = Vec::new();
    fs::File::open(path)
        .with_context(what)?
        .take(COMPONENT_BYTES_LIMIT + 1)
        .read_to_end(&mut bytes)
        .with_context(what)?;
    ensure!(
        bytes.len() as u64 <= COMPONENT_BYTES_LIMIT,
        "component `{}`: at most {COMPONENT_BYTES_LIMIT} bytes are allowed",
        path.display()
    );
    Ok(bytes)
}

fn swap(shared: &Shared, args: &SwapArgs) -> anyhow::Result<Exit> {
    let name = PluginName::new(&args.name)?;
    let bytes = component(&args.component)?;
    let found = ContentDigest::of(&bytes);
    if let Some(expected) = &args.digest {
        let expected: ContentDigest = expected.parse().context("--digest")?;
        ensure!(found == expected, "component `{}`: expected {expected}, found {found}", args.component.display());
    }
    let journal = Journal::beside(&shared.plugins);
    let quarantined = quarantined(shared, &name);
    ensure!(!quarantined.contains(&found), "{found} was put aside as `{name}`: it failed too often while it served");
    // On a host of this process: compiled, linked and tried out as in those that it will serve in.
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let mode = match args.shadow {
        None => SwapMode::Immediate,
        Some(verdicts) => SwapMode::Shadow(ShadowRule { verdicts, disagreements_max: args.disagreements }),
    };
    let receipt = host.swap_verifier(&Candidate::new(name.clone(), bytes.clone()), mode)?;
    let digest = journal.keep(&bytes)?;
    let entry = match args.shadow {
        None => Entry::Serve { verifier: name.clone(), digest },
        Some(verdicts) => {
            Entry::Shadow { verifier: name.clone(), digest, verdicts, disagreements_max: args.disagreements }
        }
    };
    journal.append(&entry)?;
    if shared.json {
        output::json(
            &json!({"verifier": name, "digest": digest, "replaced": receipt.replaced, "serves": receipt.serves}),
        );
    } else if receipt.serves {
        output::line(format_args!("`{name}` is {digest} from the next verdict on; before: {}", receipt.replaced));
        output::line(format_args!("back:  loopwright verifier rollback {name}"));
    } else {
        output::line(format_args!("{digest} runs beside `{name}`, and serves once it agreed often enough"));
    }
    Ok(Exit::Good)
}

fn rollback(shared: &Shared, name: &str) -> anyhow::Result<Exit> {
    let name = PluginName::new(name)?;
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let receipt = host.rollback_verifier(&name)?;
    Journal::beside(&shared.plugins).append(&Entry::Rollback { verifier: name.clone() })?;
    if shared.json {
        output::json(&json!({"verifier": name, "digest": receipt.digest, "replaced": receipt.replaced}));
    } else {
        output::line(format_args!("`{name}` is {} again; put away: {}", receipt.digest, receipt.replaced));
    }
    Ok(Exit::Good)
}

/// One trajectory under both.
struct Pair {
    file: String,
    /// The verdicts of the two on the same check and prefix.
    verdicts: Vec<(JudgedCheck, JudgedCheck)>,
}

fn compare(shared: &Shared, args: &CompareArgs) -> anyhow::Result<Exit> {
    let name = PluginName::new(&args.verifier)?;
    let files = trajectories(&args.dir)?;
    let ours = wire::host(shared, Engine::default(), Worlds::default())?.pinned();
    let theirs = wire::host(shared, Engine::default(), Worlds::default())?;
    theirs.swap_verifier(&Candidate::new(name.clone(), component(&args.with)?), SwapMode::Immediate)?;
    let replayer = |host: PluginHost| Replayer::new(Arc::new(host), Vec::new()).with_ranker(crate::session::ranker());
    let (ours, theirs) = (replayer(ours), replayer(theirs.pinned()));
    let bar = output::bar(files.len(), "compare");
    let pairs = in_parallel(&files, args.jobs, &|(file, folder)| {
        let pair = pair(&ours, &theirs, file, folder, &name);
        bar.inc(1);
        pair.map_err(|error| format!("{}: {error:#}", file.display()))
    });
    bar.finish_and_clear();
    report(shared, &pairs)
}

fn pair(ours: &Replayer, theirs: &Replayer, file: &Path, folder: &Path, name: &PluginName) -> anyhow::Result<Pair> {
    let stored = read_file(file)?;
    let worlds = WorldStore::beside(folder);
    let of = |replayer: &Replayer| -> anyhow::Result<Vec<JudgedCheck>> {
        let judged = replayer.verify(&stored, &worlds, &VerifierChoice::Recorded)?;
        Ok(judged.verdicts.into_iter().filter(|judged| judged.verifier == *name).collect())
    };
    let (ours, theirs) = (of(ours)?, of(theirs)?);
    ensure!(ours.len() == theirs.len(), "{} verdicts of one and {} of the other", ours.len(), theirs.len());
    Ok(Pair { file: file.display().to_string(), verdicts: ours.into_iter().zip(theirs).collect() })
}

fn report(shared: &Shared, pairs: &[Result<Pair, String>]) -> anyhow::Result<Exit> {
    let mut table: BTreeMap<(bool, bool), u64> = BTreeMap::new();
    let (mut differing, mut failed) = (Vec::new(), Vec::new());
    for pair in pairs {
        match pair {
            Err(error) => failed.push(error.clone()),
            Ok(pair) => {
                for (ours, theirs) in &pair.verdicts {
                    *table.entry((ours.verdict.passed(), theirs.verdict.passed())).or_default() += 1;
                    let apart = (ours.verdict.score() - theirs.verdict.score()).abs() > 1e-9;
                    if apart || ours.verdict.passed() != theirs.verdict.passed() {
                        differing.push((pair.file.clone(), ours, theirs));
                    }
                }
            }
        }
    }
    let count = |ours, theirs| table.get(&(ours, theirs)).copied().unwrap_or(0);
    if shared.json {
        let rows: Vec<Value> = differing
            .iter()
            .map(|(file, ours, theirs)| json!({"file": file, "serving": ours, "compared": theirs}))
            .collect();
        output::json(&json!({
            "trajectories": pairs.len(), "failed": failed,
            "confusion": {"pass_pass": count(true, true), "pass_fail": count(true, false), "fail_pass": count(false, true), "fail_fail": count(false, false)},
            "different": rows,
        }));
    } else {
        let head = [("serves \\ compared", Align::Left), ("pass", Align::Right), ("fail", Align::Right)];
        let row =
            |name: &str, ours| vec![name.to_owned(), count(ours, true).to_string(), count(ours, false).to_string()];
        output::print(render(&head, &[row("pass", true), row("fail", false)]));
        for (file, ours, theirs) in differing.iter().take(SHOWN_MAX) {
            output::line(format_args!("\n{file}, check {} up to step {}", ours.check, ours.upto));
            output::line(format_args!("  serves:   {}", reasons(ours)));
            output::line(format_args!("  compared: {}", reasons(theirs)));
        }
        if differing.len() > SHOWN_MAX {
            output::line(format_args!("\nand {} more: --json has all", differing.len() - SHOWN_MAX));
        }
        failed.iter().for_each(|error| output::note(format_args!("not judged: {}", cut(error, 300))));
    }
    Ok(if differing.is_empty() && failed.is_empty() { Exit::Good } else { Exit::Differs })
}

/// What a verdict says, in a line.
fn reasons(judged: &JudgedCheck) -> String {
    let failed: Vec<String> = judged
        .verdict
        .criteria()
        .iter()
        .filter(|criterion| !criterion.passed)
        .map(|criterion| format!("{}: {}", criterion.id, cut(&criterion.reason, 120)))
        .collect();
    let word = if judged.verdict.passed() { "pass" } else { "fail" };
    format!("{word} {:.3} {}", judged.verdict.score(), failed.join("; "))
}
