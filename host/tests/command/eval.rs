//! Policies on tasks: what `eval` says of a split is what `run` says of the same tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use loopwright::training::course::Course as _;
use loopwright::training::phone::PhoneCourse;
use loopwright_contract::task::{Split, Task};
use loopwright_packs::pack::{self, About, Pack};
use serde_json::{Value, json};

use crate::train::{Runs, command, done, good};

/// A row without what no two measurements share.
fn figures(row: &Value) -> Value {
    let mut row = row.clone();
    let fields = row.as_object_mut().unwrap();
    for key in ["planner", "wall_ms", "out"] {
        assert!(fields.remove(key).is_some(), "no `{key}`");
    }
    row
}

/// How each episode of a folder ended, by its task; without what ties it to its file.
fn endings(row: &Value) -> BTreeMap<String, Value> {
    let folder = Path::new(row["out"].as_str().unwrap());
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let ending = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut footer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        footer.as_object_mut().unwrap().retain(|key, _| key != "digest" && key != "prev");
        let name = path.file_name().unwrap().to_str().unwrap();
        (name.split('%').next().unwrap().to_owned(), footer)
    };
    files.filter(|path| path.is_file()).map(ending).collect()
}

/// A row is the sum of the episodes in its folder.
fn adds_up(row: &Value) {
    let endings = endings(row);
    let outcome = |kind: &str| endings.values().filter(|ending| ending["outcome"]["outcome"] == kind).count() as u64;
    let sum = |path: &str| endings.values().map(|ending| ending.pointer(path).unwrap().as_u64().unwrap()).sum::<u64>();
    for (key, expected) in [
        ("tasks", endings.len() as u64),
        ("pass", outcome("pass")),
        ("fail", outcome("fail")),
        ("invalid", outcome("invalid")),
        ("void", outcome("void")),
        ("steps", sum("/turns")),
        ("tokens_in", sum("/usage/tokens_in")),
        ("tokens_out", sum("/usage/tokens_out")),
        ("cost_micros", sum("/usage/cost_micros")),
    ] {
        assert_eq!(row[key], expected, "{key} of {row}");
    }
}

/// The tasks that the shipped policy is reported on, as a pack in a folder.
fn test_pack(runs: &Runs, tasks: &[Task]) -> String {
    let about = About {
        name: "held-out".to_owned(),
        version: "0.1.0".to_owned(),
        licence: "Apache-2.0".to_owned(),
        source: "own".to_owned(),
        generator: None,
    };
    let folder = runs.path("pack");
    pack::write(&Pack::new(about, tasks.to_vec(), BTreeMap::new()).unwrap(), Path::new(&folder)).unwrap();
    folder
}

#[test]
fn the_shipped_policy_on_the_test_split_is_told_as_run_tells_it_key_by_key() {
    let runs = Runs::new();
    let lines = good(&["eval", "--policy", "shipped", "--split", "test", "--out", &runs.path("eval")]);
    let [found, row] = &lines[..] else { panic!("{lines:?}") };
    let tasks = PhoneCourse::default().tasks(Split::Test).unwrap();
    let pack = test_pack(&runs, &tasks);
    let lines = good(&["run", "--pack", &pack, "--planner", "policy", "--out", &runs.path("run")]);
    let [ran] = &lines[..] else { panic!("{lines:?}") };
    let keys = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(row), keys(ran));
    let all = "planner tasks pass fail invalid void steps tokens_in tokens_out tokens_cached cost_micros coercions malformed wall_ms out";
    assert_eq!(keys(row), all.split(' ').map(str::to_owned).collect());
    assert_eq!((&row["planner"], &ran["planner"]), (&json!("shipped"), &json!("policy")));
    for key in keys(row) {
        let same = row[&key] == ran[&key];
        let numbers = row[&key].is_u64() && ran[&key].is_u64();
        assert!(numbers || matches!(key.as_str(), "planner" | "out"), "`{key}` is {} and {}", row[&key], ran[&key]);
        // What no model is asked for is nothing in both.
        assert!(
            same || !matches!(key.as_str(), "tasks" | "void" | "tokens_in" | "tokens_cached" | "cost_micros"),
            "{key}"
        );
    }
    adds_up(row);
    adds_up(ran);
    // Episode by episode they end the same, but where something is remembered: `run` ranks it by its words, and `eval`, like training, does not.
    let (mut evaluated, mut ran) = (endings(row), endings(ran));
    let remembering = |task: &&Task| task.category == "memory";
    for task in tasks.iter().filter(remembering) {
        assert!(evaluated.remove(task.id.as_str()).is_some() && ran.remove(task.id.as_str()).is_some(), "{}", task.id);
    }
    assert!(evaluated.len() > 100, "{}", evaluated.len());
    assert_eq!(evaluated, ran);

    // The object before it says the same of the same episodes.
    let of = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("`{key}` of {row}"));
    let all = &found["all"];
    let tasks = of(row, "tasks");
    assert!(tasks >= 150.0 && of(all, "episodes") == tasks && of(all, "void") == of(row, "void"), "{all} {row}");
    assert_eq!((of(all, "passed"), of(all, "success")), (of(row, "pass"), of(row, "pass") / tasks), "{all} {row}");
    assert!((of(all, "steps") - of(row, "steps") / tasks).abs() < 1e-9, "{all} {row}");
    assert!((of(all, "choices") - of(row, "tokens_out") / tasks).abs() < 1e-9, "{all} {row}");
    for parts in ["families", "languages"] {
        let sum = |key: &str| found[parts].as_object().unwrap().values().map(|part| of(part, key)).sum::<f64>();
        assert_eq!((sum("episodes"), sum("passed")), (tasks, of(row, "pass")), "{parts}");
    }
}

#[test]
fn the_policy_and_the_lexical_planner_run_a_few_tasks_and_named_weights_act_alike() {
    let runs = Runs::new();
    let few = ["--limit", "8"];
    let both = ["run", "--planner", "policy", "--planner", "lexical", "--out"];
    let rows = good(&[&both[..], &[&runs.path("both")], &few].concat());
    assert_eq!(rows.iter().map(|row| row["planner"].as_str().unwrap()).collect::<Vec<_>>(), ["policy", "lexical"]);
    for row in &rows {
        let [tasks, pass, fail, invalid, void, steps, written] =
            ["tasks", "pass", "fail", "invalid", "void", "steps", "tokens_out"].map(|key| row[key].as_u64().unwrap());
        assert_eq!((tasks, void, pass + fail + invalid), (8, 0, 8), "{row}");
        assert!(steps > 8 && written > steps, "a decision takes more than one choice: {row}");
        let out = Path::new(row["out"].as_str().unwrap());
        let (code, _, errors) = done(command(&["replay", out.to_str().unwrap()]));
        assert_eq!(code, Some(0), "{row} is not replayed to the byte: {errors}");
    }
    assert_ne!(figures(&rows[0]), figures(&rows[1]));
    // The shipped weights by their path, in another number of jobs.
    let named =
        ["run", "--planner", "policy", "--policy", "host/assets/phone-policy.safetensors", "--jobs", "2", "--out"];
    let again = good(&[&named[..], &[&runs.path("named")], &few].concat());
    assert_eq!(figures(&again[0]), figures(&rows[0]));
    let (code, _, errors) = done(command(&["run", "--planner", "policy", "--policy", &runs.path("none")]));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("no policy at"), "{errors}");
}

#[test]
fn a_run_s_folder_is_measured_greedy_and_sampled_by_a_seed() {
    let runs = Runs::new();
    runs.cold_start();
    let folder = runs.path("sft");
    let eval = |name: &str, policy: &str, more: &[&str]| {
        let out = runs.path(name);
        let fixed = ["eval", "--policy", policy, "--course", "ablation", "--split", "dev", "--out", &out];
        good(&[&fixed[..], more].concat())
    };
    let greedy = eval("greedy", &folder, &[]);
    assert_eq!((&greedy[0]["course"], &greedy[0]["split"]), (&json!("ablation"), &json!("dev")), "{}", greedy[0]);
    assert_eq!((&greedy[0]["policy"], &greedy[1]["planner"]), (&json!(folder), &json!(folder)));
    // The file in it is the same policy.
    let file = runs.file("sft", "policy.safetensors");
    let of_file = eval("file", file.to_str().unwrap(), &[]);
    assert_eq!(figures(&of_file[1]), figures(&greedy[1]));
    let sampled = eval("sampled", &folder, &["--sampled"]);
    assert_eq!(figures(&eval("again", &folder, &["--sampled", "--jobs", "2"])[1]), figures(&sampled[1]));
    assert_ne!(figures(&sampled[1]), figures(&greedy[1]));
    // The pack is of the seed too, and so is what is likeliest in it: sampling is told apart on the phone, whose tasks stay.
    let shipped = |name: &str, more: &[&str]| {
        let out = runs.path(name);
        figures(&good(&[&["eval", "--policy", "shipped", "--split", "dev", "--out", &out][..], more].concat())[1])
    };
    let (one, other) = (shipped("one", &["--sampled"]), shipped("other", &["--sampled", "--seed", "2"]));
    assert_ne!(one, other);
    assert_ne!(one, shipped("likeliest", &[]));

    let refused = |arguments: &[&str], expected: &str| {
        let (code, _, errors) = done(command(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{expected} is not in {errors}");
    };
    refused(&["eval", "--policy", &folder], "is a policy of the course `ablation`");
    refused(&["eval", "--policy", &runs.path("none")], "and no policy");
    refused(&["eval", "--policy", "shipped", "--course", "ablation"], "the shipped policy is of the course `phone`");
    refused(&["eval", "--policy", "idle", "--out", &folder], "is not empty");
}
