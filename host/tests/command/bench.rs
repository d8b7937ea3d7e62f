//! The benches, with tiny counts: that each measures what it says and prints what checks read. Times are nobody's business here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::binary;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn bench(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let mut command = Command::new(binary());
    command.current_dir(root()).arg("bench").args(arguments).arg("--json");
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}")), errors)
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no `{key}` in {row}"))
}

#[test]
fn a_tool_s_start_and_a_warm_call_are_measured_beside_their_floors() {
    for (filter, faults) in [("instantiate and drop", true), ("warm tool call", false)] {
        let (code, rows, _) = bench(&["--samples", "10", "--filter", filter]);
        assert_eq!((code, rows.as_array().unwrap().len()), (Some(0), 1), "{rows}");
        let row = &rows[0];
        assert!(number(row, "p50_ns") > 0.0 && number(row, "p99_ns") >= number(row, "p50_ns"), "{row}");
        let ratio = number(row, "p50_ns") / number(row, "floor_ns");
        assert!((number(row, "ratio") - ratio).abs() < 1e-9 && row["aim"].is_string(), "{row}");
        assert_eq!(
            row["faults"].is_f64() && row["floor_faults"].is_f64(),
            faults && cfg!(target_os = "linux"),
            "{row}"
        );
    }
}

#[test]
fn an_install_is_measured_from_a_folder_and_from_a_server() {
    let (code, rows, _) = bench(&["--samples", "10", "--filter", "install 5 MB"]);
    assert_eq!((code, rows.as_array().unwrap().len()), (Some(0), 2), "{rows}");
    assert!(
        rows.as_array().unwrap().iter().all(|row| number(row, "p50_ns") > number(row, "floor_ns") / 10.0),
        "{rows}"
    );
}

#[test]
fn a_verifier_is_measured_from_its_file_and_an_absent_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("judge.wasm");
    let passes = "(func $judge (param i32) (global.set $outcome (i32.const 0)) (global.set $score (f64.const 1)))";
    std::fs::write(&file, loopwright_testkit::guests::hostile::verifier("judge", passes).unwrap()).unwrap();
    let file = file.to_str().unwrap();
    let measured =
        |filter: &str| bench(&["--samples", "10", "--filter", filter, "--kit", "/nowhere", "--verifier", file]);
    let (code, rows, errors) = measured("fresh verifier in");
    assert_eq!((code, rows.as_array().unwrap().len()), (Some(0), 0), "{rows}: {errors}");
    for (lang, name) in [("python", "Python"), ("js", "JavaScript")] {
        assert!(errors.contains(&format!("not measured: fresh verifier in {name}")), "{errors}");
        assert!(errors.contains(&format!("cargo xtask kit --kind verifier --lang {lang}")), "{errors}");
    }
    let (code, rows, errors) = measured("judge.wasm");
    assert_eq!((code, rows.as_array().unwrap().len()), (Some(0), 1), "{rows}: {errors}");
    assert!(rows[0]["name"].as_str().unwrap().contains(file) && number(&rows[0], "p50_ns") > 0.0, "{rows}");
}

#[test]
fn a_soak_says_how_much_a_cycle_leaves() {
    // So few cycles tell nothing about growth.
    let (code, report, errors) = bench(&["soak", "--cycles", "250", "--compile-every", "100"]);
    assert!(matches!(code, Some(0 | 1)), "{code:?}: {errors}");
    assert_eq!(
        (&report["cycles"], &report["warm_up"], &report["compile_every"]),
        (&250.into(), &50.into(), &100.into())
    );
    assert!(number(&report, "resident_at_end") > 1e6 && report["slope_bytes"].is_number(), "{report}");
    assert!(number(&report, "error_bytes") >= 0.0 && report["flat"].is_boolean(), "{report}");
}

#[test]
fn lateness_is_measured_for_a_guest_that_spins_and_for_a_host_function() {
    for (filter, aim_ms) in [("spins", 50), ("100,000", 10), ("digests", 10)] {
        let (code, rows, errors) = bench(&["deadline", "--tries", "2", "--filter", filter]);
        // Whether an aim is met depends on what else the machine does.
        assert!(matches!(code, Some(0 | 1)), "{code:?}: {errors}");
        assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
        assert_eq!((&rows[0]["tries"], &rows[0]["aim_ms"]), (&2.into(), &aim_ms.into()));
        assert!(number(&rows[0], "p99_late_us") <= number(&rows[0], "worst_late_us"), "{rows}");
    }
}

#[test]
fn a_rollout_is_measured_for_tables_for_gold_and_for_the_shipped_policy() {
    let (code, rows, errors) = bench(&["rollout", "--seconds", "1", "--members", "2"]);
    assert_eq!(code, Some(0), "{errors}");
    let rows = rows.as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let kinds = ["ablation, verbose table", "ablation, best table", "phone, scripted", "phone, shipped policy"];
    let expected: Vec<String> =
        kinds.iter().flat_map(|kind| [format!("{kind}, unrecorded"), format!("{kind}, by digest")]).collect();
    assert_eq!(names, expected);
    for row in rows {
        let keys: BTreeSet<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let all = "name episodes decisions episodes_per_s episodes_per_cpu_s decision_us success tokens void";
        assert_eq!(keys, all.split(' ').collect(), "{row}");
        let [episodes, decisions, speed, share, tokens] =
            ["episodes", "decisions", "episodes_per_s", "success", "tokens"].map(|key| number(row, key));
        assert!(episodes >= 32.0 && decisions > episodes && speed > 0.0 && row["void"] == 0, "{row}");
        // Gold writes nothing, and passes but for what memory is needed for, which is off; a policy's choices are its tokens.
        let scripted = row["name"].as_str().unwrap().contains("scripted");
        assert!((0.0..=1.0).contains(&share) && (share > 0.9 || !scripted) && (tokens > 0.0) != scripted, "{row}");
    }
}
