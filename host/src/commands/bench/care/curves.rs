//! The ablation as a picture: each arm's mean over the seeds, step by step, from the metrics that the runs left. It computes no claim.

use std::path::Path;

use serde_json::Value;

use super::plan::{Cell, Plan};
use crate::training::chart::{Curve, Panel, svg};
use crate::training::folder::RunFolder;
use crate::training::log::curve;

/// What is drawn: a panel's title, and the path of its number.
const PANELS: [(&str, &str); 4] = [
    ("success (share of a step's episodes)", "success"),
    ("tokens of an episode; the line is the best way", "tokens"),
    ("root mean square of the advantages where nearly all succeed", "efficiency/advantage_rms"),
    ("groups in which nearly all succeed (share)", "efficiency/share"),
];

/// Draws the first group size and noise of a plan into `curves.svg`.
///
/// # Errors
/// Metrics that cannot be read, or a folder that cannot be written.
pub(super) fn draw(plan: &Plan, out: &Path, optimum_tokens: f64) -> anyhow::Result<()> {
    let cells = plan.cells()?;
    let Some(first) = cells.first().copied() else { return Ok(()) };
    let alike = |cell: &&Cell| cell.group_size == first.group_size && cell.noise == first.noise;
    let mut arms: Vec<(String, Vec<Vec<Value>>)> = Vec::new();
    for cell in cells.iter().filter(alike) {
        let metrics = |seed: &u64| RunFolder::open_any(&out.join(cell.folder(*seed))).metrics();
        arms.push((cell.name(), plan.seeds.iter().map(metrics).collect::<Result<_, _>>()?));
    }
    let panels: Vec<Panel> = PANELS
        .iter()
        .map(|(title, path)| Panel {
            title: (*title).to_owned(),
            curves: arms.iter().map(|(name, runs)| mean(name, path, runs)).collect(),
            line: (*path == "tokens").then_some(optimum_tokens),
        })
        .collect();
    RunFolder::open_any(out).write("curves.svg", svg(&panels)?.as_bytes())
}

/// The mean over runs, at the steps in which any has the number.
fn mean(name: &str, path: &str, runs: &[Vec<Value>]) -> Curve {
    let mut sums: std::collections::BTreeMap<u64, (f64, u32)> = std::collections::BTreeMap::new();
    for (x, y) in runs.iter().flat_map(|run| curve(name, path, run).points) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "steps are small whole numbers")]
        let (sum, count) = sums.entry(x as u64).or_default();
        *sum += y;
        *count += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "steps are small whole numbers")]
    let points = sums.into_iter().map(|(step, (sum, count))| (step as f64, sum / f64::from(count))).collect();
    Curve { name: name.to_owned(), points }
}
