//! What a run tells of each step: a line of `metrics.jsonl`, an event for TensorBoard, and in the end a picture of both. It says nothing that the
//! trainer did not.

use serde::Serialize;
use serde_json::Value;

use super::chart::{Curve, Panel, svg};
use super::folder::RunFolder;
use super::metrics::Metrics;
use super::tensorboard::{Events, numbers};
use crate::wire;

/// The log of a run that is under way.
#[derive(Debug)]
pub struct Log {
    metrics: Metrics,
    events: Events,
}

impl Log {
    /// Goes on with a folder's log.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub fn open(folder: &RunFolder) -> anyhow::Result<Self> {
        let events = folder.path("tensorboard");
        let number = std::fs::read_dir(&events).map_or(0, Iterator::count) as u64;
        Ok(Self {
            metrics: Metrics::append(&folder.path("metrics.jsonl"))?,
            events: Events::create(&events, number, wire::machine_seconds()?)?,
        })
    }

    /// Writes what there is to say of a step.
    ///
    /// # Errors
    /// Files that cannot be written, such as on a full disk.
    pub fn line(&mut self, step: u64, record: &impl Serialize) -> anyhow::Result<()> {
        self.metrics.line(record)?;
        self.events.scalars(step, &numbers(&serde_json::to_value(record)?))
    }

    /// Makes the lines so far outlast a loss of power: a checkpoint that does must not come without them.
    ///
    /// # Errors
    /// A disk that does not write.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.metrics.sync()
    }
}

/// What is drawn: a panel's title, and the curves by the paths of their numbers.
const PANELS: [(&str, &[(&str, &str)]); 6] = [
    ("loss", &[("loss", "loss")]),
    ("success (share of episodes)", &[("train", "success"), ("dev", "dev/success")]),
    ("cost (0 to 1)", &[("train", "cost")]),
    ("tokens of an episode", &[("train", "tokens")]),
    (
        "groups by regime (share)",
        &[("progress", "progress/share"), ("consolidation", "consolidation/share"), ("efficiency", "efficiency/share")],
    ),
    (
        "root mean square of the advantages",
        &[
            ("progress", "progress/advantage_rms"),
            ("consolidation", "consolidation/advantage_rms"),
            ("efficiency", "efficiency/advantage_rms"),
        ],
    ),
];

/// Draws the curves of a run's metrics into its folder, as `chart.svg`.
///
/// # Errors
/// Metrics that cannot be read, a folder that cannot be written.
pub fn draw(folder: &RunFolder) -> anyhow::Result<()> {
    let metrics = folder.metrics()?;
    let panels: Vec<Panel> = PANELS
        .iter()
        .map(|(title, curves)| Panel {
            title: (*title).to_owned(),
            curves: curves.iter().map(|(name, path)| curve(name, path, &metrics)).collect(),
            line: None,
        })
        .collect();
    folder.write("chart.svg", svg(&panels)?.as_bytes())
}

/// One number of every line that has it.
#[must_use]
pub fn curve(name: &str, path: &str, metrics: &[Value]) -> Curve {
    let point = |line: &Value| {
        let value = path.split('/').try_fold(line, |value, key| value.get(key))?;
        Some((line.get("step")?.as_f64()?, value.as_f64()?))
    };
    Curve { name: name.to_owned(), points: metrics.iter().filter_map(point).collect() }
}
