//! `runs.jsonl`: a line for each run, in the form of the file that `examples/care` keeps. What depends on the machine is not in it, so that a
//! second run of the same command on the same instruction set gives the same bytes.

use std::io;
use std::path::Path;

use loopwright_learn::care::Estimator;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};

use super::trial::{RegimeMeans, Run};
use crate::cli_train::NoiseKind;
use crate::training::folder::RunFolder;

/// One run. The order of the fields is that of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    arm: Estimator,
    seed: u64,
    success: f64,
    tokens: f64,
    success_greedy: f64,
    tokens_greedy: f64,
    success_fragile: f64,
    success_reliable: f64,
    group_size: usize,
    noise: NoiseKind,
    steps: u64,
    episodes: u64,
    void: u64,
    degenerate: u64,
    dropped: u64,
    policy: String,
    progress: Means,
    consolidation: Means,
    efficiency: Means,
}

/// [`RegimeMeans`] in the order of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Means {
    advantage_rms: Option<f64>,
    loudness: Option<f64>,
    share: f64,
}

impl Line {
    fn of(run: &Run) -> Self {
        Self {
            arm: run.arm,
            seed: run.seed,
            success: run.success,
            tokens: run.tokens,
            success_greedy: run.success_greedy,
            tokens_greedy: run.tokens_greedy,
            success_fragile: run.success_fragile,
            success_reliable: run.success_reliable,
            group_size: run.group_size,
            noise: run.noise,
            steps: run.steps,
            episodes: run.episodes,
            void: run.void,
            degenerate: run.degenerate,
            dropped: run.dropped,
            policy: run.policy.clone(),
            progress: Means::of(run.progress),
            consolidation: Means::of(run.consolidation),
            efficiency: Means::of(run.efficiency),
        }
    }

    /// Its bytes, with the end of the line.
    fn bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

impl Means {
    fn of(means: RegimeMeans) -> Self {
        let RegimeMeans { share, advantage_rms, loudness } = means;
        Self { advantage_rms, loudness, share }
    }
}

/// Writes the runs in the order in which they were asked for.
///
/// # Errors
/// A folder that cannot be written.
pub(super) fn write(out: &Path, runs: &[Run]) -> anyhow::Result<()> {
    let lines = runs.iter().map(|run| Line::of(run).bytes()).collect::<serde_json::Result<Vec<_>>>()?;
    RunFolder::open_any(out).write("runs.jsonl", &lines.concat())
}

/// A blank after each comma and colon: long lines are read in a difference of two files.
struct Spaced;

impl Formatter for Spaced {
    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::care::trial::Measured;
    use crate::training::measure::Measurement;

    /// The files that are kept.
    const KEPT: &str = include_str!("../../../../../examples/care/runs.jsonl");
    const SECOND: &str = include_str!("../../../../../examples/care/runs-second.jsonl");

    #[test]
    fn the_lines_that_are_kept_are_written_again_to_the_byte() {
        let kept = |text: &str| {
            let row = |line: &str| {
                let read: Line = serde_json::from_str(line).unwrap();
                assert_eq!(String::from_utf8(read.bytes().unwrap()).unwrap(), format!("{line}\n"));
                (read.arm, read.seed)
            };
            text.lines().map(row).collect::<Vec<_>>()
        };
        // As the two commands give them: the five arms seed by seed, then the appendix.
        use Estimator::{Care, CareUncalibrated, Composite, Gdpo, MeanCentred, Vanilla};
        let arms = [Vanilla, CareUncalibrated, Care, MeanCentred, Gdpo];
        let main = (0..5).flat_map(|seed| arms.map(|arm| (arm, seed)));
        assert_eq!(kept(KEPT), main.chain((0..5).map(|seed| (Composite, seed))).collect::<Vec<_>>());
        let arms = [Vanilla, CareUncalibrated, Care, MeanCentred];
        assert_eq!(kept(SECOND), (5..15).flat_map(|seed| arms.map(|arm| (arm, seed))).collect::<Vec<_>>());
    }

    #[test]
    fn each_number_of_a_run_stands_in_its_own_place_and_no_time_does() {
        let means = |share: f64| RegimeMeans { share, advantage_rms: None, loudness: Some(share + 0.125) };
        let run = Run {
            arm: Estimator::MeanCentred,
            seed: 1,
            success: 0.5,
            tokens: 2.5,
            success_greedy: 0.75,
            tokens_greedy: 3.5,
            success_fragile: 0.625,
            success_reliable: 0.375,
            group_size: 4,
            noise: NoiseKind::Group,
            steps: 5,
            progress: RegimeMeans { advantage_rms: Some(1e-7), ..means(0.0) },
            consolidation: means(0.25),
            efficiency: means(0.5),
            episodes: 6,
            void: 7,
            degenerate: 8,
            dropped: 9,
            measured: Measured { sampled: Measurement::default(), greedy: Measurement::default() },
            policy: "sha256:00".to_owned(),
            wall_s: 100.0,
            rollout_s: 101.0,
            train_s: 102.0,
        };
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[run.clone(), Run { seed: 2, ..run }]).unwrap();
        let text = std::fs::read_to_string(folder.path().join("runs.jsonl")).unwrap();
        let line = |seed: u64| {
            let efforts =
                r#""steps": 5, "episodes": 6, "void": 7, "degenerate": 8, "dropped": 9, "policy": "sha256:00""#;
            let kinds = r#""success_fragile": 0.625, "success_reliable": 0.375, "group_size": 4, "noise": "group""#;
            let figures = r#""success": 0.5, "tokens": 2.5, "success_greedy": 0.75, "tokens_greedy": 3.5"#;
            let progress = r#""progress": {"advantage_rms": 1e-7, "loudness": 0.125, "share": 0.0}"#;
            let consolidation = r#""consolidation": {"advantage_rms": null, "loudness": 0.375, "share": 0.25}"#;
            let efficiency = r#""efficiency": {"advantage_rms": null, "loudness": 0.625, "share": 0.5}"#;
            format!(
                "{{\"arm\": \"mean_centred\", \"seed\": {seed}, {figures}, {kinds}, {efforts}, {progress}, {consolidation}, \
                 {efficiency}}}\n"
            )
        };
        assert_eq!(text, line(1) + &line(2));
    }
}
