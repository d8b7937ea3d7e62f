//! Answers of a model, kept question by question.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::Context as _;
use loopwright_contract::memory::{Embedder, TextModel as _};
use loopwright_memory::bench::{AnswerRow, Answered, Answering, answer_rows};
use loopwright_models::http::{ApiKey, HttpConfig, HttpPlanner};

use super::bench::Set;
use crate::cli_memory::MemoryBenchArgs;
use crate::output;
use crate::table::{self, Align};

pub(super) fn answers(
    bench: &MemoryBenchArgs,
    endpoint: &str,
    set: &Set,
    embedder: Option<&dyn Embedder>,
) -> anyhow::Result<Vec<AnswerRow>> {
    let model = model(bench, endpoint, &bench.model_name)?;
    let judge = bench.judge_name.as_ref().map(|name| self::model(bench, endpoint, name)).transpose()?;
    let answering = Answering {
        model: &model,
        judge: judge.as_ref().unwrap_or(&model),
        embedder,
        items: bench.items,
        seed: bench.seed,
        questions_max: bench.questions.unwrap_or(usize::MAX),
    };
    tracing::info!(model = model.fingerprint(), "answering");
    let name = answering.fingerprint(&set.bytes).replace(':', "-");
    let path = bench.keep.join(format!("{name}.answers.jsonl"));
    std::fs::create_dir_all(&bench.keep).with_context(|| format!("`{}`", bench.keep.display()))?;
    let at = || format!("`{}`", path.display());
    let text = if path.exists() { std::fs::read_to_string(&path).with_context(at)? } else { String::new() };
    // A line that broke off is asked again.
    let mut done: BTreeMap<String, Answered> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Answered>(line).ok())
        .map(|answered| (answered.key.clone(), answered))
        .collect();
    let mut file = OpenOptions::new().create(true).append(true).open(&path).with_context(at)?;
    if !text.is_empty() && !text.ends_with('\n') {
        file.write_all(b"\n").with_context(at)?;
    }
    let asked: usize = set.conversations.iter().map(|one| one.questions.len().min(answering.questions_max)).sum();
    let bar = output::bar(asked, "answering");
    bar.set_position(done.len() as u64);
    let mut new = Vec::new();
    answering.run(&set.conversations, &done, &mut |answered| -> anyhow::Result<()> {
        writeln!(file, "{}", serde_json::to_string(&answered)?).with_context(at)?;
        new.push(answered);
        bar.inc(1);
        Ok(())
    })?;
    bar.finish_and_clear();
    done.extend(new.into_iter().map(|answered| (answered.key.clone(), answered)));
    Ok(answer_rows(&done.into_values().collect::<Vec<_>>(), set.form))
}

fn model(bench: &MemoryBenchArgs, endpoint: &str, name: &str) -> anyhow::Result<HttpPlanner> {
    #[expect(clippy::disallowed_methods, reason = "configuration is read at the edge, and this is it")]
    let key = std::env::var(&bench.key_variable).ok().map(ApiKey::new);
    let config = HttpConfig { api_key: key, temperature: Some(0.0), ..HttpConfig::new(endpoint, name) };
    Ok(HttpPlanner::new(config)?)
}

pub(super) fn print(rows: &[AnswerRow]) {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let name = if row.category == 0 { "all that count".to_owned() } else { row.category.to_string() };
            let share = format!("{:.1}", row.correct * 100.0);
            vec![name, row.judged.to_string(), share, row.void.to_string(), format!("{:.0}", row.tokens)]
        })
        .collect();
    let head = [
        ("category", Align::Left),
        ("judged", Align::Right),
        ("correct", Align::Right),
        ("void", Align::Right),
        ("tokens", Align::Right),
    ];
    output::print(table::render(&head, &cells));
}
