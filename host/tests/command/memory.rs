//! `memory`, as its users run it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::binary;

/// The command with a memory of its own in `folder`, on a day of March 2026.
fn run_on(day: u8, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.env_clear().current_dir(folder).args(["--json", "memory", "--memory", "memory", "--lexical"]);
    command.arg("--now").arg(format!("2026-03-{day:02}T09:00:00Z"));
    command.args(arguments).output().expect("the command starts")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_on(1, folder, arguments)
}

/// The last line of what it printed.
fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last =
        text.lines().last().unwrap_or_else(|| panic!("nothing printed: {}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(last).expect("a line of JSON")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// The shell lines of the README's section.
fn story() -> String {
    let readme = include_str!("../../../README.md");
    let (_, section) = readme.split_once("## Memory that forgets").expect("the README has the section");
    let (_, rest) = section.split_once("```sh\n").expect("the section has lines");
    rest.split_once("\n```").expect("the lines end").0.to_owned()
}

#[test]
fn the_readmes_story_is_true() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary(), bin.join("loopwright")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let told = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &story()])
        .env_clear()
        .env("PATH", path)
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let (out, err) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{out}\n{err}");
    for part in [
        "user/lives_in = Lisbon",
        "user/lives_in = Porto  (takes the place of 1)",
        "superseded",
        "nothing is left of it",
        "`Porto` is in no file, no dictionary of the index and no unit",
        r#""absent":"Lisbon""#,
        r#""traces":[]"#,
    ] {
        assert!(out.contains(part), "{part}\n{out}\n{err}");
    }
}

#[test]
fn what_was_said_is_found_with_its_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let added = run(folder, &["add", "I keep the spare key under the blue flowerpot."]);
    assert_eq!(code(&added), Some(0));
    let id = json(&added)["id"].as_str().expect("an id").to_owned();
    let found = run(folder, &["search", "where is the spare key"]);
    assert_eq!((code(&found), &json(&found)["items"][0]["id"]), (Some(0), &Value::from(id.as_str())));
    let nothing = run(folder, &["search", "zeppelin over Antarctica"]);
    assert_eq!((code(&nothing), &json(&nothing)["nothing_above_threshold"]), (Some(1), &Value::Bool(true)));
    let shown = json(&run(folder, &["show", &id]));
    assert_eq!(shown["quotes"][0], "I keep the spare key under the blue flowerpot.");
    assert_eq!(shown["past"][0]["event"], "captured");
}

#[test]
fn an_export_is_read_back_and_what_was_forgotten_stays_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, &["add", "I live in Lisbon."]);
    let second = json(&run_on(2, folder, &["add", "My favourite tea is oolong."]));
    assert_eq!(code(&run(folder, &["export", "--out", "me.jsonl"])), Some(0));
    let twin = run(folder, &["--user", "twin", "import", "me.jsonl"]);
    let units = json(&run(folder, &["export", "--out", "again.jsonl"]))["units"].clone();
    assert_eq!((code(&twin), &json(&twin)["added"]), (Some(0), &units));
    let forgotten = run(folder, &["forget", second["id"].as_str().expect("an id")]);
    assert_eq!(code(&forgotten), Some(0));
    let back = json(&run(folder, &["import", "me.jsonl"]));
    assert_eq!(
        (&back["added"], back["forgotten_before"].as_u64().is_some_and(|count| count > 0)),
        (&Value::from(0), true)
    );
    assert_eq!(code(&run(folder, &["verify", "--absent", "oolong"])), Some(0));
    assert_eq!(code(&run(folder, &["--user", "twin", "verify", "--absent", "oolong"])), Some(1));
    // An import that is wrong in one line keeps nothing.
    let text = std::fs::read_to_string(folder.join("me.jsonl")).unwrap();
    std::fs::write(folder.join("broken.jsonl"), text.replacen("\"text\"", "\"test\"", 1)).unwrap();
    let refused = run(folder, &["--user", "other", "import", "broken.jsonl"]);
    assert_eq!(code(&refused), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("line"), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
fn everything_of_a_user_goes_and_nothing_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for user in ["ann", "ann1"] {
        run(folder, &["--user", user, "add", &format!("My code word is zebra-{user}.")]);
    }
    assert_eq!(code(&run(folder, &["--user", "ann", "forget", "--everything"])), Some(0));
    assert_eq!(code(&run(folder, &["--user", "ann", "search", "code word"])), Some(3));
    let other = run(folder, &["--user", "ann1", "search", "code word"]);
    assert!(json(&other)["items"][0]["quote"].as_str().is_some_and(|quote| quote.contains("zebra-ann1")));
}

#[test]
fn what_is_not_there_is_told_with_its_own_code_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for arguments in [vec!["pool"], vec!["rebuild", "--repair"], vec!["forget", "--everything"], vec!["stats"]] {
        let told = run(folder, &arguments);
        assert_eq!((code(&told), json(&told)["exit"].as_u64()), (Some(3), Some(3)), "{arguments:?}");
    }
    run(folder, &["add", "I live in Lisbon."]);
    let unknown = format!("u{}", "0".repeat(20));
    for arguments in [vec!["forget", &unknown], vec!["forget", "--claim", "user/shoe_size"], vec!["pool"]] {
        let told = run(folder, &arguments);
        assert_eq!((code(&told), json(&told)["error"].is_string()), (Some(3), true), "{arguments:?}");
    }
    let bad = run(folder, &["forget", "u1"]);
    assert_eq!((code(&bad), json(&bad)["exit"].as_u64()), (Some(2), Some(2)));
    let forgotten = run_on(2, folder, &["forget", "--claim", "user/lives_in"]);
    assert_eq!((code(&forgotten), json(&forgotten)["claims"][0].as_str()), (Some(0), Some("user/lives_in")));
    let again = json(&run_on(3, folder, &["add", "I live in Lisbon."]));
    assert_eq!(again["kept"], "kept", "a new word: {again}");
}

#[test]
fn working_data_goes_with_its_task_and_old_things_with_their_days() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run_on(1, folder, &["add", "The door code is 4217.", "--task", "delivery"]);
    run_on(1, folder, &["add", "I like tea."]);
    run_on(9, folder, &["add", "The meeting was long."]);
    let absent = |text: &str| code(&run_on(10, folder, &["verify", "--absent", text]));
    assert_eq!(absent("4217"), Some(1));
    assert_eq!(code(&run_on(10, folder, &["forget", "--task", "other"])), Some(3));
    assert_eq!(code(&run_on(10, folder, &["forget", "--task", "delivery"])), Some(0));
    assert_eq!(absent("4217"), Some(0));
    // What a preference rests on stays with it; a rule that holds already removes nothing.
    assert_eq!(code(&run_on(10, folder, &["retain", "--layer", "episodic", "--days", "30"])), Some(0));
    assert_eq!(absent("meeting"), Some(1));
    assert_eq!(code(&run_on(10, folder, &["retain", "--layer", "episodic", "--most", "0"])), Some(0));
    assert_eq!((absent("meeting"), absent("tea")), (Some(0), Some(1)));
    assert_eq!(code(&run_on(10, folder, &["retain", "--layer", "episodic"])), Some(2));
}

#[test]
fn bad_input_is_told_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, &["add", "I like tea."]);
    let before = json(&run(folder, &["stats"]));
    let long = "x".repeat(70 * 1024);
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let endless = file("endless.jsonl", format!("{{\"text\": \"{}\"}}", "x".repeat(10_000_000)).as_bytes());
    let latin = file("latin.jsonl", b"{\"text\": \"fine\"}\n{\"text\": \"caf\xe9\"}\n");
    for (arguments, part) in [
        (vec!["add", ""], "empty"),
        (vec!["add", &long], "hint: split"),
        (vec!["add", "x", "--at", "2026-02-31T00:00:00Z"], "is not a moment"),
        (vec!["add", "x", "--at", "2026-02-01T00:00:00+02:00[Asia/Shanghai]"], "contradicts its zone"),
        (vec!["--zone", "Mars/Base", "add", "x"], "IANA"),
        (vec!["show", "u1"], "is not the id of a unit"),
        (vec!["history", "--claim", "lives"], "is not a claim"),
        (vec!["forget"], "required"),
        (vec!["import", "absent.jsonl"], "absent.jsonl"),
        (vec!["add", "--from", &endless], "more than"),
        (vec!["add", "--from", &latin], "line 2"),
        (vec!["add", "a\u{202e}b", "--at", "yesterday"], "is not a moment"),
    ] {
        let refused = run(folder, &arguments);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(code(&refused), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(json(&run(folder, &["stats"])), before);
}

#[test]
fn the_synthetic_sets_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let rows = json(&run(folder.path(), &["bench", "synthetic"]));
    let overall = |k: u64| {
        rows.as_array()
            .expect("rows")
            .iter()
            .find(|row| row["category"] == "overall_1_4" && row["leg"] == "lexical" && row["k"] == k)
            .expect("a row")["recall"]
            .as_f64()
            .expect("a share")
    };
    assert!(overall(10) > 0.6 && overall(5) <= overall(10) && overall(10) <= overall(20), "{rows}");
}
