//! Runs beside each other.

use serde_json::{Value, json};

use crate::status::{SMALL, text};
use crate::train::{Runs, command, done, good};

/// A cold start, and two small runs from it.
fn three() -> Runs {
    let runs = Runs::new();
    runs.cold_start();
    let from = runs.path("sft");
    for (name, seed) in [("care", "1"), ("vanilla", "2")] {
        let out = runs.path(name);
        good(&[&SMALL[..], &["--from", &from, "--out", &out, "--estimator", name, "--seed", seed]].concat());
    }
    runs
}

#[test]
fn runs_are_compared_as_json_as_a_table_and_as_a_picture() {
    let runs = three();
    let names = ["sft", "care", "vanilla"];
    let folders = names.map(|name| runs.path(name));
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let chart = runs.path("curves.svg");
    let lines = good(&[&["train", "compare", "--chart", &chart][..], &folders].concat());
    let rows = lines[0].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["run"].as_str().unwrap()).collect::<Vec<_>>(), names);
    let sft = &rows[0];
    assert_eq!(
        (&sft["kind"], &sft["estimator"], &sft["episodes"]),
        (&json!("sft"), &Value::Null, &Value::Null),
        "{sft}"
    );
    for (row, (estimator, seed)) in rows[1..].iter().zip([("care", 1), ("vanilla", 2)]) {
        assert_eq!((&row["kind"], &row["estimator"], &row["seed"]), (&json!("rl"), &json!(estimator), &json!(seed)));
        let metrics = runs.metrics(estimator);
        let of =
            |path: &str| metrics.iter().map(|line| line.pointer(path).unwrap().as_f64().unwrap()).collect::<Vec<_>>();
        let is = |key: &str, expected: f64| {
            let found = row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"));
            assert!((found - expected).abs() < 1e-12, "{key}: {found}, expected {expected}");
        };
        is("steps", 2.0);
        is("episodes", of("/episodes").iter().sum());
        is("void", 0.0);
        is("success", of("/success").iter().sum::<f64>() / 2.0);
        is("cost", of("/cost").iter().sum::<f64>() / 2.0);
        let dev = of("/dev/success");
        let best = if dev[1] >= dev[0] { 1 } else { 0 };
        is("dev_first", dev[0]);
        is("dev_last", dev[1]);
        is("dev_best", dev[best]);
        is("dev_best_step", [1.0, 2.0][best]);
        assert!(row["seconds"].as_f64().unwrap() > 0.0, "{row}");
    }

    let (code, table, errors) = text(&[&["train", "compare"][..], &folders].concat());
    assert_eq!(code, Some(0), "{errors}");
    let mut table = table.lines();
    let head = table.next().unwrap();
    for column in ["run", "estimator", "episodes", "dev first", "at step", "seconds"] {
        assert!(head.contains(column), "{column} is not in {head}");
    }
    for (name, row) in names.iter().zip(rows) {
        let line =
            table.find(|line| line.split_whitespace().next() == Some(name)).unwrap_or_else(|| panic!("no {name}"));
        let percent = |key: &str| row[key].as_f64().map(|share| format!("{:.1} %", 100.0 * share));
        for shown in ["success", "dev_first", "dev_best"].into_iter().filter_map(percent) {
            assert!(line.contains(&shown), "{shown} is not in {line}");
        }
    }

    // A picture with a curve of each run that was measured. Two steps are too few for the means of twenty, and panels of nothing are left out.
    let picture = std::fs::read_to_string(&chart).unwrap();
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{picture}");
    assert_eq!(picture.matches("<svg").count(), 1);
    for (title, drawn) in
        [("success on dev", true), ("cost on dev", true), ("success in training", false), ("loss", false)]
    {
        assert_eq!(picture.contains(title), drawn, "{title}");
    }
    for name in &names[1..] {
        assert!(picture.contains(&format!("\n{name}\n")), "{name} has no curve");
    }
}

#[test]
fn what_cannot_be_compared_or_drawn_is_refused() {
    let runs = Runs::new();
    let run = runs.path("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::write(runs.file("run", "run.json"), "{}").unwrap();
    let (nowhere, chart) = (runs.path("nowhere"), runs.path("no/curves.svg"));
    for (arguments, expected) in [
        (vec!["train", "compare"], "required arguments were not provided"),
        (vec!["train", "compare", &run, &nowhere], "no run in"),
        (vec!["train", "compare", &run, "--chart", &chart], "cannot be written"),
    ] {
        let (code, lines, errors) = done(command(&arguments));
        assert_eq!((code, lines.len()), (Some(2), 0), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{expected} is not in {errors}");
    }
    // One without a line yet is a row of nothing; one whose metrics were damaged is named, with the line.
    let lines = good(&["train", "compare", &run]);
    assert_eq!((&lines[0][0]["steps"], &lines[0][0]["success"]), (&json!(0), &Value::Null), "{lines:?}");
    std::fs::write(runs.file("run", "metrics.jsonl"), "{\"step\": 1}\nnonsense\n{\"step\": 3}\n").unwrap();
    let (code, _, errors) = done(command(&["train", "compare", &run]));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("line 2 of"), "{errors}");
}
