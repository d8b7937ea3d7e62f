//! `train compare`: runs beside each other, as a table and as curves. It reads what they logged and measures nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use serde_json::Value;

use crate::cli::Shared;
use crate::cli_train::CompareArgs;
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};
use crate::training::chart::{CURVES_MAX, Curve, Panel, svg};
use crate::training::folder::RunFolder;
use crate::training::log::curve;

/// Steps that a point of a training curve is the mean of.
const WINDOW: usize = 20;
/// Panels: the title, the path of the number, whether it is noisy and shown as means of [`WINDOW`] steps, and whose it is, where the same name is
/// something else in another kind of run.
const PANELS: [(&str, &str, bool, Option<&str>); 7] = [
    ("success on dev (share of episodes)", "dev/success", false, None),
    ("success in training (mean of 20 steps)", "success", true, None),
    ("cost on dev (0 to 1)", "dev/cost", false, None),
    ("cost in training (mean of 20 steps)", "cost", true, None),
    ("tokens of an episode in training (mean of 20 steps)", "tokens", true, None),
    ("surrogate loss (mean of 20 steps)", "loss", true, Some("rl")),
    ("loss of the cold start (nats a token, mean of 20 steps)", "loss", true, Some("sft")),
];

/// One run.
#[derive(Debug, Serialize)]
struct Row {
    run: String,
    kind: Option<String>,
    estimator: Option<String>,
    seed: Option<u64>,
    steps: usize,
    episodes: Option<u64>,
    /// Members that counted as nothing.
    void: Option<u64>,
    /// Groups that were left out, having fewer than two members that count.
    groups_dropped: Option<u64>,
    /// In training, over the last [`WINDOW`] steps: the share of episodes, 0 to 1.
    success: Option<f64>,
    /// The same of their mean cost, 0 to 1.
    cost: Option<f64>,
    dev_first: Option<f64>,
    dev_last: Option<f64>,
    dev_best: Option<f64>,
    dev_best_step: Option<u64>,
    /// Of rollouts and updates, as it was measured when the run was made.
    seconds: Option<f64>,
}

/// Compares runs.
///
/// # Errors
/// A folder that is no run, metrics that cannot be read, a picture that cannot be written.
pub fn compare(shared: &Shared, args: &CompareArgs) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.chart.is_none() || args.runs.len() <= CURVES_MAX,
        "{} runs are compared, and a picture tells at most {CURVES_MAX} apart\nhint: draw fewer, or leave out --chart",
        args.runs.len()
    );
    let (mut rows, mut runs) = (Vec::new(), Vec::new());
    for (path, name) in args.runs.iter().zip(names(&args.runs)) {
        let folder = RunFolder::open(path)?;
        let lines = folder.metrics()?;
        let row = Row::new(name, &folder.read_json("run.json")?, &lines);
        runs.push(Run { name: row.run.clone(), kind: row.kind.clone(), lines });
        rows.push(row);
    }
    if let Some(chart) = &args.chart {
        draw(chart, &runs)?;
    }
    if shared.json {
        output::json(&rows);
    } else {
        print(&rows);
    }
    Ok(Exit::Good)
}

/// What is drawn of a run.
struct Run {
    name: String,
    kind: Option<String>,
    lines: Vec<Value>,
}

/// What runs are called: the last name of their path where no other has it, else the whole path.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let whole = |path: &PathBuf| path.display().to_string();
    let last = |path: &PathBuf| path.file_name().map_or_else(|| whole(path), |name| name.to_string_lossy().into());
    let name = |path: &PathBuf| {
        let shared = paths.iter().filter(|other| last(other) == last(path)).count() > 1;
        if shared { whole(path) } else { last(path) }
    };
    paths.iter().map(name).collect()
}

impl Row {
    fn new(run: String, about: &Value, lines: &[Value]) -> Self {
        let text = |path: &str| about.pointer(path).and_then(Value::as_str).map(str::to_owned);
        // A run of supervised fine-tuning has neither episodes nor times.
        let numbers = |path: &'static str| lines.iter().filter_map(move |line| line.pointer(path)?.as_u64());
        let sum = |path: &'static str| numbers(path).reduce(u64::saturating_add);
        let times = |path: &'static str| lines.iter().filter_map(move |line| line.pointer(path)?.as_f64());
        let seconds = times("/timing/rollout_s").chain(times("/timing/train_s"));
        let last = |path: &str| mean(curve("", path, lines).points.iter().rev().take(WINDOW).map(|(_, value)| *value));
        let dev = curve("", "dev/success", lines).points;
        // Of equals the later one, as the trainer keeps it.
        let best = dev.iter().copied().reduce(|best, next| if next.1 >= best.1 { next } else { best });
        Self {
            run,
            kind: text("/kind"),
            estimator: text("/settings/scheme/estimator"),
            seed: about.pointer("/settings/seed").or(about.get("seed")).and_then(Value::as_u64),
            steps: lines.len(),
            episodes: sum("/episodes"),
            void: sum("/counters/void"),
            groups_dropped: sum("/counters/too_small"),
            success: last("success"),
            cost: last("cost"),
            dev_first: dev.first().map(|(_, success)| *success),
            dev_last: dev.last().map(|(_, success)| *success),
            dev_best: best.map(|(_, success)| success),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a step was written as one")]
            dev_best_step: best.map(|(step, _)| step as u64),
            seconds: seconds.reduce(|sum, time| sum + time),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a run has far fewer than 2^53 steps")]
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u64), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The means of whole windows, each at its last step.
fn smooth(curve: Curve) -> Curve {
    let window = |points: &[(f64, f64)]| Some((points.last()?.0, mean(points.iter().map(|(_, value)| *value))?));
    Curve { points: curve.points.chunks_exact(WINDOW).filter_map(window).collect(), ..curve }
}

fn panels(runs: &[Run]) -> Vec<Panel> {
    let panel = |(title, number, noisy, kind): &(&str, &str, bool, Option<&str>)| {
        let one = |run: &Run| {
            // A run of another kind keeps its colour, and has no point here.
            let of_kind = kind.is_none() || run.kind.as_deref() == *kind;
            let curve = curve(&run.name, number, if of_kind { &run.lines } else { &[] });
            if *noisy { smooth(curve) } else { curve }
        };
        Panel { title: (*title).to_owned(), curves: runs.iter().map(one).collect(), line: None }
    };
    PANELS.iter().map(panel).collect()
}

fn draw(path: &Path, runs: &[Run]) -> anyhow::Result<()> {
    let picture = svg(&panels(runs))?;
    fs::write(path, picture).with_context(|| format!("the picture `{}` cannot be written", path.display()))
}

fn print(rows: &[Row]) {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let count = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
    let cells = |row: &Row| {
        vec![
            row.run.clone(),
            text(&row.kind),
            text(&row.estimator),
            count(row.seed),
            row.steps.to_string(),
            count(row.episodes),
            count(row.void),
            count(row.groups_dropped),
            percent(row.success),
            row.cost.map_or("-".to_owned(), |cost| format!("{cost:.2}")),
            percent(row.dev_first),
            percent(row.dev_last),
            percent(row.dev_best),
            count(row.dev_best_step),
            row.seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.0}")),
        ]
    };
    let (left, right) = (Align::Left, Align::Right);
    let head = [
        ("run", left),
        ("kind", left),
        ("estimator", left),
        ("seed", right),
        ("steps", right),
        ("episodes", right),
        ("void", right),
        ("dropped", right),
        ("success", right),
        ("cost", right),
        ("dev first", right),
        ("last", right),
        ("best", right),
        ("at step", right),
        ("seconds", right),
    ];
    output::print(render(&head, &rows.iter().map(cells).collect::<Vec<_>>()));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_says_what_the_lines_say() {
        let lines: Vec<Value> = (1..=41)
            .map(|step| {
                let mut line = json!({"step": step, "success": f64::from(step) / 100.0, "cost": 0.5, "episodes": 8,
                    "counters": {"void": 1, "too_small": 2, "dropped": 5}, "timing": {"rollout_s": 0.5, "train_s": 0.25}});
                if step % 10 == 0 {
                    line["dev"] = json!({"success": if step == 20 { 0.9 } else { 0.4 }});
                }
                line
            })
            .collect();
        let about = json!({"kind": "rl", "settings": {"seed": 3, "scheme": {"estimator": "care"}}});
        let row = Row::new("a".to_owned(), &about, &lines);
        assert_eq!((row.steps, row.episodes, row.seed), (41, Some(328), Some(3)));
        assert_eq!((row.void, row.groups_dropped), (Some(41), Some(82)));
        assert_eq!(
            (row.dev_first, row.dev_best, row.dev_best_step, row.dev_last),
            (Some(0.4), Some(0.9), Some(20), Some(0.4))
        );
        assert!((row.success.unwrap() - 0.315).abs() < 1e-12, "the mean of the last twenty: {:?}", row.success);
        assert!((row.seconds.unwrap() - 41.0 * 0.75).abs() < 1e-9);
        let smoothed = smooth(curve("a", "success", &lines));
        assert_eq!(smoothed.points.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [20.0, 40.0]);
        assert!((smoothed.points[0].1 - 0.105).abs() < 1e-12, "{:?}", smoothed.points);
        let none = Row::new("b".to_owned(), &json!({"seed": 4}), &[]);
        assert_eq!((none.success, none.episodes, none.seconds, none.seed), (None, None, None, Some(4)));
    }

    #[test]
    fn what_has_one_name_in_two_kinds_of_runs_is_drawn_apart() {
        let run = |kind: &str, lines: Vec<Value>| Run { name: kind.to_owned(), kind: Some(kind.to_owned()), lines };
        let line = |step: u32| json!({"step": step, "loss": 1.0, "tokens_learnt": 900, "success": 0.5, "tokens": 20.0});
        let cold = |step: u32| json!({"step": step, "loss": 2.0, "tokens_learnt": 900});
        let runs = [run("sft", (1..=20).map(cold).collect()), run("rl", (1..=20).map(line).collect())];
        let counts = |panel: &Panel| panel.curves.iter().map(|curve| curve.points.len()).collect::<Vec<_>>();
        let drawn: Vec<_> = panels(&runs).iter().map(|panel| (panel.title.clone(), counts(panel))).collect();
        let of = |title: &str| drawn.iter().find(|(drawn, _)| drawn.starts_with(title)).unwrap().1.clone();
        assert_eq!([of("tokens"), of("surrogate loss"), of("loss of the cold start")], [[0, 1], [0, 1], [1, 0]]);
    }

    #[test]
    fn runs_of_one_name_are_told_apart_by_their_paths() {
        let paths = ["a/rl", "b/rl", "a/sft"].map(PathBuf::from);
        assert_eq!(names(&paths), ["a/rl", "b/rl", "sft"]);
    }
}
