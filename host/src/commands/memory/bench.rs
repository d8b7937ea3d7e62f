//! `memory bench`: retrieval on a data set, measured without a language model.

use std::path::Path;

use anyhow::{Context as _, ensure};
use loopwright_contract::memory::Embedder;
use loopwright_memory::bench::{
    BYTES_MAX, Conversation, Form, Leg, Options, Report, Row, Trajectory, chinese, load_locomo, mix, run,
    speed as measure, synthetic, texts,
};
use loopwright_memory::retrieve::Settings;
use serde_json::{Value, json};

use super::keep::Keeping;
use super::{answers, files};
use crate::cli::Shared;
use crate::cli_memory::{BenchSet, MemoryArgs, MemoryBenchArgs};
use crate::exit::Exit;
use crate::output;
use crate::table::{self, Align};
use crate::wire::MachineStopwatch;

/// Dialogues of the synthetic set, in each language.
const DIALOGUES: usize = 6;
/// Questions of the synthetic Chinese set.
const TRAJECTORIES: usize = 60;
/// Messages of others among which each question's own are looked for.
const DISTRACTORS: usize = 300;
/// Units of the largest memory that `speed` measures.
const UNITS_MAX: u64 = 5_000_000;
/// Units of the largest one with vectors.
const DENSE_UNITS_MAX: u64 = 100_000;

/// What is measured.
pub(super) struct Set {
    pub(super) form: Form,
    pub(super) conversations: Vec<Conversation>,
    /// All that it was read from, for its fingerprint.
    pub(super) bytes: Vec<u8>,
}

pub(super) fn bench(shared: &Shared, args: &MemoryArgs, bench: &MemoryBenchArgs) -> anyhow::Result<Exit> {
    match bench.set {
        BenchSet::Locomo => {
            let path = data(bench, "`locomo10.json`")?;
            let bytes = files::read(path, BYTES_MAX)?;
            let set = load_locomo(&bytes).with_context(|| format!("`{}`", path.display()))?;
            conversations(shared, args, bench, &Set { form: Form::Locomo, conversations: set, bytes })
        }
        BenchSet::Beam => {
            let set = files::beam(data(bench, "a folder of conversations, such as `chats/100K`")?)?;
            conversations(shared, args, bench, &set)
        }
        BenchSet::Memdaily => {
            let mut trajectories = files::memdaily(data(bench, "the folder `messages_and_QAs`")?)?;
            mix(&mut trajectories, bench.seed);
            among_others(shared, &trajectories)
        }
        BenchSet::Synthetic => {
            let english = synthetic::locomo_form(synthetic::Language::English, DIALOGUES, bench.seed);
            let chinese = synthetic::locomo_form(synthetic::Language::Chinese, DIALOGUES, bench.seed);
            let mut both: Vec<Value> = serde_json::from_str(&english)?;
            both.extend(serde_json::from_str::<Vec<Value>>(&chinese)?);
            let bytes = Value::Array(both).to_string().into_bytes();
            let set = load_locomo(&bytes).context("the synthetic set")?;
            conversations(shared, args, bench, &Set { form: Form::Locomo, conversations: set, bytes })
        }
        BenchSet::Speed => speed(shared, args, bench),
        BenchSet::SyntheticZh => among_others(shared, &synthetic::memdaily_form(TRAJECTORIES, bench.seed)),
    }
}

/// Measures each size. Beyond a size that one user has there are words only: a million vectors of drawn numbers would measure the memory's bus.
fn speed(shared: &Shared, args: &MemoryArgs, bench: &MemoryBenchArgs) -> anyhow::Result<Exit> {
    let embedder = super::embedder(args)?;
    let stopwatch = MachineStopwatch::start();
    let mut rows = Vec::new();
    let bar = output::bar(bench.units.len(), "measuring");
    for units in &bench.units {
        ensure!((1..=UNITS_MAX).contains(units), "--units {units}: expected 1 to {UNITS_MAX}");
        std::fs::create_dir_all(&bench.keep).with_context(|| format!("`{}`", bench.keep.display()))?;
        let folder = bench.keep.join(format!("speed-{}", std::process::id()));
        let dense = *units <= DENSE_UNITS_MAX;
        let row = measure(&folder, *units, dense, embedder.as_deref(), stopwatch.as_ref());
        // A folder that cannot be removed is no reason to lose the figures.
        let _ = std::fs::remove_dir_all(&folder);
        rows.push(row?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if shared.json {
        output::json(&rows);
        return Ok(Exit::Good);
    }
    let optional = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.units.to_string(),
                if row.dense { "words and vectors" } else { "words" }.to_owned(),
                format!("{:.0}", row.ingest_per_second),
                format!("{:.0}", row.index_bytes_per_unit),
                format!("{:.1}", row.open_ms),
                format!("{:.2}", row.request_p50_ms),
                format!("{:.2}", row.request_p95_ms),
                optional(row.encoded_p50_ms),
                optional(row.encoded_p95_ms),
            ]
        })
        .collect();
    let head = [
        ("units", Align::Right),
        ("searched by", Align::Left),
        ("units/s in", Align::Right),
        ("bytes/unit", Align::Right),
        ("open ms", Align::Right),
        ("p50 ms", Align::Right),
        ("p95 ms", Align::Right),
        ("encoded p50", Align::Right),
        ("encoded p95", Align::Right),
    ];
    output::print(table::render(&head, &cells));
    Ok(Exit::Good)
}

fn data<'a>(bench: &'a MemoryBenchArgs, what: &str) -> anyhow::Result<&'a Path> {
    bench.data.as_deref().ok_or_else(|| anyhow::anyhow!("no data: --data PATH names {what}"))
}

/// Asks each question among messages of other people.
fn among_others(shared: &Shared, trajectories: &[Trajectory]) -> anyhow::Result<Exit> {
    let rows = chinese(trajectories, DISTRACTORS)?;
    if shared.json {
        output::json(&rows);
        return Ok(Exit::Good);
    }
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.ranking.to_owned(),
                row.questions.to_string(),
                row.distractors.to_string(),
                percent(row.recall_5),
                percent(row.recall_10),
                percent(row.recall_20),
            ]
        })
        .collect();
    let head = [
        ("ranking", Align::Left),
        ("questions", Align::Right),
        ("distractors", Align::Right),
        ("R@5", Align::Right),
        ("R@10", Align::Right),
        ("R@20", Align::Right),
    ];
    output::print(table::render(&head, &cells));
    Ok(Exit::Good)
}

fn conversations(shared: &Shared, args: &MemoryArgs, bench: &MemoryBenchArgs, set: &Set) -> anyhow::Result<Exit> {
    let bar = output::bar(texts(&set.conversations).len(), "embedding");
    let embedder = match super::embedder(args)? {
        Some(embedder) => Some(Keeping::open(embedder, &bench.keep, bar.clone())?),
        None => None,
    };
    let options = Options {
        form: set.form,
        cross_validate: bench.cv,
        fusion: Settings::default().fusion,
        embedder: embedder.as_ref().map(|embedder| embedder as &dyn Embedder),
    };
    let report = run(&set.conversations, &options)?;
    bar.finish_and_clear();
    let answered = match &bench.endpoint {
        Some(endpoint) => Some(answers::answers(bench, endpoint, set, options.embedder)?),
        None => None,
    };
    if shared.json {
        for (leg, tokens) in &report.tokens {
            output::json(&json!({"leg": leg, "tokens_at_10": tokens}));
        }
        output::json(&json!({"skipped": report.skipped, "unknown": report.unknown, "cross_validated": bench.cv,
            "embedder": embedder.as_ref().map(|embedder| embedder.fingerprint().to_owned())}));
        if let Some(answered) = &answered {
            output::json(answered);
        }
        output::json(&report.rows);
    } else {
        print(&report);
        if let Some(answered) = &answered {
            answers::print(answered);
        }
    }
    Ok(Exit::Good)
}

fn leg(leg: Leg) -> &'static str {
    match leg {
        Leg::Words => "words alone",
        Leg::Lexical => "lexical",
        Leg::Hybrid => "hybrid",
    }
}

fn print(report: &Report) {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let cells = |row: &Row| {
        vec![
            leg(row.leg).to_owned(),
            row.category.clone(),
            row.k.to_string(),
            row.questions.to_string(),
            percent(row.recall),
            {
                let [low, high] = row.interval;
                format!("{} to {}", percent(low), percent(high))
            },
            percent(row.all),
            percent(row.mrr),
        ]
    };
    let rows: Vec<Vec<String>> = report.rows.iter().map(cells).collect();
    let head = [
        ("leg", Align::Left),
        ("category", Align::Left),
        ("k", Align::Right),
        ("questions", Align::Right),
        ("recall", Align::Right),
        ("95 % of conversations", Align::Right),
        ("all", Align::Right),
        ("MRR", Align::Right),
    ];
    output::print(table::render(&head, &rows));
    for (of, tokens) in &report.tokens {
        output::line(format_args!("{}: {tokens:.0} tokens in the first ten items of a question", leg(*of)));
    }
    output::line(format_args!(
        "{} questions name no turn that exists and are left out; {} turns that are named do not exist",
        report.skipped, report.unknown
    ));
}
