//! `memory bench`: retrieval on a data set, measured without a language model.

use std::path::Path;

use anyhow::{Context as _, bail};
use loopwright_contract::memory::Embedder;
use loopwright_memory::bench::{Conversation, Leg, Options, Report, Row, chinese, load_locomo, run, synthetic, texts};
use loopwright_memory::retrieve::Settings;
use serde_json::{Value, json};

use super::answers;
use super::keep::Keeping;
use crate::cli::Shared;
use crate::cli_memory::{BenchSet, MemoryArgs, MemoryBenchArgs};
use crate::exit::Exit;
use crate::output;
use crate::table::{self, Align};

/// Dialogues of the synthetic set, in each language.
const DIALOGUES: usize = 6;
/// Questions of the synthetic Chinese set.
const TRAJECTORIES: usize = 60;
/// Messages of others among which each question's own are looked for.
const DISTRACTORS: usize = 300;

pub(super) fn bench(shared: &Shared, args: &MemoryArgs, bench: &MemoryBenchArgs) -> anyhow::Result<Exit> {
    match bench.set {
        BenchSet::Locomo => {
            let Some(path) = &bench.data else { bail!("no data: --data PATH names `locomo10.json`") };
            let bytes = std::fs::read(path).with_context(|| format!("`{}`", path.display()))?;
            conversations(shared, args, bench, &bytes, Some(path))
        }
        BenchSet::Synthetic => {
            let english = synthetic::locomo_form(synthetic::Language::English, DIALOGUES, bench.seed);
            let chinese = synthetic::locomo_form(synthetic::Language::Chinese, DIALOGUES, bench.seed);
            let mut both: Vec<Value> = serde_json::from_str(&english)?;
            both.extend(serde_json::from_str::<Vec<Value>>(&chinese)?);
            conversations(shared, args, bench, Value::Array(both).to_string().as_bytes(), None)
        }
        BenchSet::SyntheticZh => {
            let rows = chinese(&synthetic::memdaily_form(TRAJECTORIES, bench.seed), DISTRACTORS)?;
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
    }
}

fn conversations(
    shared: &Shared,
    args: &MemoryArgs,
    bench: &MemoryBenchArgs,
    bytes: &[u8],
    path: Option<&Path>,
) -> anyhow::Result<Exit> {
    let at = || path.map_or_else(|| "the synthetic set".to_owned(), |path| format!("`{}`", path.display()));
    let set: Vec<Conversation> = load_locomo(bytes).with_context(at)?;
    let bar = output::bar(texts(&set).len(), "embedding");
    let embedder = match super::embedder(args)? {
        Some(embedder) => Some(Keeping::open(embedder, &bench.keep, bar.clone())?),
        None => None,
    };
    let options = Options {
        cross_validate: bench.cv,
        fusion: Settings::default().fusion,
        embedder: embedder.as_ref().map(|embedder| embedder as &dyn Embedder),
    };
    let report = run(&set, &options)?;
    bar.finish_and_clear();
    let answered = match &bench.endpoint {
        Some(endpoint) => Some(answers::answers(bench, endpoint, &set, bytes, options.embedder)?),
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
