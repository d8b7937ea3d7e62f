//! Measures retrieval on a file of LoCoMo's form: `locomo DATA [VECTORS] [--cv] [--rrf] [--texts]`. The command line has the same as `memory bench`.

use std::error::Error;
use std::io::Write as _;

use loopwright_contract::memory::Embedder;
use loopwright_memory::bench::{Options, RecordedEmbedder, abstention, chinese, load_locomo, run, synthetic, texts};
use loopwright_memory::retrieve::{Fusion, Settings};

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, paths): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let mut out = std::io::stdout().lock();
    let data = paths.first().ok_or("expected the path of a data file")?;
    let conversations = load_locomo(&std::fs::read(data)?)?;
    if has("--texts") {
        serde_json::to_writer(&mut out, &texts(&conversations))?;
        return Ok(());
    }
    let embedder = match paths.get(1) {
        Some(path) => Some(RecordedEmbedder::read(&std::fs::read(path)?)?),
        None => None,
    };
    let embedder = embedder.as_ref().map(|embedder| embedder as &dyn Embedder);
    let fusion = if has("--rrf") { Fusion::Rrf } else { Fusion::MinMaxSum };
    let report = run(&conversations, &Options { cross_validate: has("--cv"), fusion, embedder })?;
    for row in &report.rows {
        writeln!(
            out,
            "{:8} {:14} @{:<2} recall {:.1} [{:.1}, {:.1}] all {:.1} mrr {:.1} ({} questions)",
            format!("{:?}", row.leg),
            row.category,
            row.k,
            row.recall * 100.0,
            row.interval[0] * 100.0,
            row.interval[1] * 100.0,
            row.all * 100.0,
            row.mrr * 100.0,
            row.questions
        )?;
    }
    writeln!(
        out,
        "tokens of the first ten: {:?}; skipped {}, unknown {}",
        report.tokens, report.skipped, report.unknown
    )?;
    if has("--weights") {
        for (leg, weights) in &report.weights {
            writeln!(out, "{leg:?} {weights:?}")?;
        }
    }
    let base = Settings::default();
    let tried: Vec<Settings> =
        [(0.08, 0.2, 0.4), (0.1, 0.25, 0.45), (0.12, 0.3, 0.45), (0.15, 0.35, 0.5), (0.2, 0.4, 0.5)]
            .map(|(lexical_least, lexical_least_beside_dense, dense_least)| Settings {
                lexical_least,
                lexical_least_beside_dense,
                dense_least,
                ..base
            })
            .to_vec();
    for (settings, found) in tried.iter().zip(abstention(&conversations, &tried, embedder)?) {
        writeln!(
            out,
            "least {} {} {}: {found:?}",
            settings.lexical_least, settings.lexical_least_beside_dense, settings.dense_least
        )?;
    }
    for row in chinese(&synthetic::memdaily_form(300, 1), 300)? {
        writeln!(out, "{row:?}")?;
    }
    Ok(())
}
