//! What reaches the command from outside is hostile until parsed.

use loopwright::cli::{PluginCommand, ShowArgs};
use loopwright::commands;
use loopwright::exit::{Exit, NotInstalled};
use loopwright::wire::{self, Engine, Worlds};

use crate::shared;

#[test]
fn missing_plugins_are_told_with_the_command_that_builds_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut shared = shared();
    shared.plugins = folder.path().to_owned();
    let error = wire::host(&shared, Engine::default(), Worlds::default()).err().expect("no plugins");
    assert!(error.is::<NotInstalled>() && error.to_string().contains("cargo xtask guests"), "{error}");
    assert_eq!(Exit::of(&error), Exit::NotInstalled);
}

#[test]
fn malformed_calls_by_hand_are_refused_with_what_is_wrong() {
    for (tool, arguments, part) in [
        ("manage_wifi", "{\"action\":", "not JSON"),
        ("manage_wifi", "[]", "expected a JSON object"),
        ("manage_wifi", "{\"action\":\"query\",\"action\":\"query\"}", "duplicate key"),
        ("fly_to_the_moon", "{}", "not installed"),
        ("not a name", "{}", "is not a tool name"),
    ] {
        let command =
            PluginCommand::Call { tool: tool.to_owned(), arguments: arguments.to_owned(), through_environment: false };
        let error = commands::plugin::plugin(&shared(), &command).expect_err("a refusal");
        assert!(format!("{error:#}").contains(part), "{tool} {arguments}: {error:#}");
    }
}

#[test]
fn files_that_are_no_trajectories_are_refused_and_a_cut_one_is_read_up_to_its_last_line() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in
        [("empty.jsonl", ""), ("prose.jsonl", "hello\n"), ("array.jsonl", "[]\n"), ("binary.jsonl.zst", "not zstd")]
    {
        let file = folder.path().join(name);
        std::fs::write(&file, content).expect("written");
        assert!(commands::show::show(&shared(), &ShowArgs { file, full: false }).is_err(), "{name} was accepted");
    }
    let tasks: Vec<_> = crate::tasks().into_iter().take(1).collect();
    let output = loopwright_harness::Output::Folder(folder.path().join("run"));
    let results = crate::run(crate::host(), &loopwright_harness::planners::Scripted::new(&tasks), &tasks, 1, output);
    let file = results.first().and_then(|result| result.path.clone()).expect("a file");
    let text = std::fs::read_to_string(&file).expect("plain JSON lines");
    let header = text.find('\n').expect("lines") + 1;
    std::fs::write(&file, text.get(..header + 40).expect("a torn second line")).expect("written");
    assert_eq!(commands::show::show(&shared(), &ShowArgs { file, full: false }).expect("the header"), Exit::Good);
}
