//! `cargo xtask ci`: everything that must hold before a change counts, in one command, without a terminal.
//!
//! One build folder and one profile (dev) for all of it, so that no crate is compiled twice for the same use.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::setup::{Tool, Toolchain};
use crate::tree::Tree;
use crate::{guests, kit, mcp, process, setup, tidy};

/// The database of advisories is a clone of a small repository.
const ADVISORIES_LIMIT: Duration = Duration::from_secs(180);

/// Tasks of the smoke run, for each planner.
const SMOKE_TASKS: &str = "6";

/// Runs `cargo xtask ci`.
pub(crate) fn command() -> Result<()> {
    let start = Instant::now();
    let tree = Tree::find()?;
    let mut toolchain: Option<Toolchain> = None;
    let summary = RefCell::new(Vec::new());

    step("format", || process::run(tree.cargo().args(["fmt", "--all", "--check"])))?;
    step("setup", || {
        toolchain = Some(setup::make(&tree, &setup::Options::default())?);
        setup::guest_scripts(&tree)?;
        setup::mcp_client(&tree)?;
        Tool::Nextest.get(&tree)?;
        Tool::Deny.get(&tree)
    })?;
    step("clippy", || {
        let mut command = tree.cargo();
        command.args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
        process::run(&mut command)
    })?;
    step("guests", || {
        let toolchain = toolchain.as_ref().context("set-up came first")?;
        guests::make(&tree, toolchain, &[])?;
        guests::make_scripts(&tree)
    })?;
    step("tests", || run_tests(&tree, &mut summary.borrow_mut()))?;
    step("doc tests", || process::run(tree.cargo().args(["test", "--workspace", "--doc"])))?;
    step("docs", || {
        let mut command = tree.cargo();
        command.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings");
        process::run(&mut command)
    })?;
    step("author kit", || {
        let toolchain = toolchain.as_ref().context("set-up came first")?;
        kit::check(&tree, toolchain, &kit::Options::default())
    })?;
    step("MCP client", || mcp::check(&tree))?;
    step("tidy", || tidy::check(&tree))?;
    step("dependencies", || dependencies(&tree))?;
    step("smoke run", || smoke(&tree))?;

    println!("ci: all steps passed in {}", duration(start.elapsed()));
    for line in summary.take() {
        println!("{line}");
    }
    Ok(())
}

/// Runs one step and prints its name and its time.
fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("ci: {name} ...");
    let start = Instant::now();
    let result = work();
    let time = duration(start.elapsed());
    match &result {
        Ok(()) => println!("ci: {name}: ok, {time}"),
        Err(_) => println!("ci: {name}: FAILED after {time}"),
    }
    result.with_context(|| format!("step `{name}` failed"))
}

/// `7.3 s`, or `12 min 05 s` from a minute on.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        return format!("{:.1} s", time.as_secs_f64());
    }
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

/// Runs the tests; keeps the runner's closing lines, to be printed again at the end.
fn run_tests(tree: &Tree, summary: &mut Vec<String>) -> Result<()> {
    let mut command = tree.cargo();
    command.args(["nextest", "run", "--workspace", "--profile", "ci"]);
    // The runner reports on standard error; here all of it goes to standard output, in the order in which it came.
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cannot start the test runner")?;
    // The command holds the writing ends; without this the reader would wait for ever.
    drop(command);
    for line in BufReader::new(reader).lines() {
        let line = line?;
        println!("{line}");
        keep(summary, line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("tests failed ({status})");
    }
    if summary.is_empty() {
        bail!("the test runner ended well, but printed no summary");
    }
    Ok(())
}

/// Everything from the line that begins with `Summary`.
fn keep(summary: &mut Vec<String>, line: String) {
    if !summary.is_empty() || line.trim_start().starts_with("Summary") {
        summary.push(line);
    }
}

/// Licences, bans and sources must hold. Advisories too, where their database can be had.
fn dependencies(tree: &Tree) -> Result<()> {
    process::run(tree.cargo().args(["deny", "check", "licenses", "bans", "sources"]))?;
    let advisories = process::run_within(tree.cargo().args(["deny", "check", "advisories"]), ADVISORIES_LIMIT);
    let Err(error) = advisories else {
        return Ok(());
    };
    let message = format!("{error:#}");
    if !is_out_of_reach(&message) {
        return Err(error);
    }
    let reason = message.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    println!("ci: ADVISORIES NOT CHECKED: their database could not be fetched from here ({reason})");
    Ok(())
}

/// Whether advisories failed for want of their database, not because of one.
fn is_out_of_reach(message: &str) -> bool {
    ["did not end within", "failed to fetch advisory database", "failed to load advisory database"]
        .iter()
        .any(|reason| message.contains(reason))
}

/// Runs a few tasks with the dev build that the tests left, then replays what they recorded.
fn smoke(tree: &Tree) -> Result<()> {
    let program = tree.debug_program()?;
    let out = tree.products().join("ci-smoke");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let loopwright = |arguments: &[&str], folder: &Path| {
        let mut command = Command::new(&program);
        command.current_dir(tree.root()).args(arguments).arg(folder);
        process::run(&mut command)
    };
    for planner in ["scripted", "idle"] {
        let folder = out.join(planner);
        let run = ["run", "--planner", planner, "--limit", SMOKE_TASKS, "--jobs", "2", "--json", "--out"];
        loopwright(&run, &folder)?;
        loopwright(&["replay", "--json"], &folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_and_what_follows_it_are_kept() {
        let mut kept = Vec::new();
        for line in ["   Compiling a", "        PASS a", "     Summary [ 1.2s] 3 tests run: 2 passed", "        FAIL b"]
        {
            keep(&mut kept, line.to_owned());
        }
        assert_eq!(kept, ["     Summary [ 1.2s] 3 tests run: 2 passed", "        FAIL b"]);
    }

    #[test]
    fn an_advisory_is_no_missing_database() {
        assert!(is_out_of_reach("`cargo deny` failed: [ERROR] failed to fetch advisory database"));
        assert!(is_out_of_reach("`cargo deny check advisories` did not end within 180 s"));
        assert!(!is_out_of_reach("error[vulnerability]: use after free in a crate"));
    }

    #[test]
    fn times_are_short() {
        for (seconds, expected) in [(7.31, "7.3 s"), (60.0, "1 min 00 s"), (725.9, "12 min 05 s")] {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), expected);
        }
    }

    #[test]
    fn a_failed_step_is_named() {
        let error = step("format", || bail!("two files differ")).unwrap_err();
        assert_eq!(format!("{error:#}"), "step `format` failed: two files differ");
        assert!(step("format", || Ok(())).is_ok());
    }
}
