//! `memory bench`: retrieval on a data set, measured without a language model.

use std::path::Path;

use anyhow::Context as _;
use loopwright_contract::memory::Embedder;
use loopwright_memory::bench::{
    BYTES_MAX, Conversation, Form, Leg, Options, Report, Row, Trajectory, chinese, load_locomo, mix, run, synthetic,
    texts,
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

/// Dialogues of the synthetic set, in each language.
const DIALOGUES: usize = 6;
/// Questions of the synthetic Chinese set.
const TRAJECTORIES: usize = 60;
/// Messages of others among which each question's own are looked for.
const DISTRACTORS: usize = 300;

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
        BenchSet::SyntheticZh => among_others(shared, &synthetic::memdaily_form(TRAJECTORIES, bench.seed)),
    }
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
