use std::fs;
use std::sync::LazyLock;

use loopwright_contract::digest::StateDigest;
use loopwright_contract::episode::StoredWorld;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::trajectory::{Kept, Line, Record, VerifiedTrajectory};
use loopwright_contract::verdict::Outcome;
use loopwright_testkit::planner::FakePlanner;
use loopwright_testkit::task::{mixed_tasks, torch_task, wipe_task};
use proptest::prelude::*;

use super::*;
use crate::planners::Scripted;
use crate::run::{Output, RunOptions, run_tasks};
use crate::settings::Settings;
use crate::testing::{harness, options, options_in, run_one};

fn bytes(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.bytes().chain([b'\n'])).collect()
}

fn recorded() -> Vec<u8> {
    static RECORDED: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let task = wipe_task("wipe");
        bytes(
            &run_one(&harness(Settings::default()), &Scripted::new(std::slice::from_ref(&task)), &task)
                .lines
                .expect("in memory"),
        )
    });
    RECORDED.clone()
}

#[test]
fn a_trajectory_reads_back_and_is_verified() {
    let stored = read_bytes(&recorded()).expect("a trajectory");
    assert!(stored.is_complete() && stored.torn_bytes == 0);
    assert_eq!(stored.trajectory.turns.len(), 4);
    assert_eq!(stored.trajectory.header.seed, 0);
    assert_eq!(stored.trajectory.header.task, wipe_task("wipe"));
    let lines = stored.lines.clone();
    // Written again, the lines are the same.
    let mut chain = Chain::default();
    let trajectory = &stored.trajectory;
    let mut again = vec![Line::Header(Box::new(trajectory.header.clone()))];
    again.extend(trajectory.turns.iter().map(|turn| Line::Turn(Box::new(turn.clone()))));
    again.extend(trajectory.verdicts.iter().map(|verdict| Line::Verdict(Box::new(verdict.clone()))));
    again.extend(trajectory.footer.iter().map(|footer| Line::Footer(Box::new(footer.clone()))));
    assert_eq!(again.iter().map(|line| chain.append(line).expect("JSON")).collect::<Vec<_>>(), lines);
    let verified = VerifiedTrajectory::new(stored.trajectory).expect("verified");
    assert_eq!(verified.trajectory().footer.as_ref().map(|footer| footer.outcome.clone()), Some(Outcome::Pass));
}

#[test]
fn a_cut_off_file_reads_up_to_its_last_whole_line() {
    let whole = recorded();
    let ends: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1).collect();
    // Around the end of each line, and here and there inside.
    let around = ends.iter().flat_map(|end| end - 1..=end + 1);
    for cut in around.chain((0..whole.len()).step_by(97)).filter(|cut| *cut < whole.len()) {
        let lines = ends.iter().filter(|end| **end <= cut).count();
        match read_bytes(&whole[..cut]) {
            Ok(stored) => {
                assert_eq!((stored.lines.len(), stored.is_complete()), (lines, false), "cut at {cut}");
                assert_eq!(stored.torn_bytes, cut - ends[lines - 1]);
            }
            Err(ReadError::Empty) => assert_eq!(lines, 0, "cut at {cut}"),
            Err(error) => panic!("cut at {cut}: {error}"),
        }
    }
}

#[test]
fn a_wrong_file_is_refused_with_the_line_and_what_differs() {
    let text = String::from_utf8(recorded()).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| lines.join("\n") + "\n";
    let swapped = [lines[0], lines[2], lines[1]];
    for (content, parts) in [
        (join(&swapped), &["line 2", "does not follow the one before"][..]),
        (join(&[lines[0], lines[0]]), &["line 2", "does not follow"]),
        (join(&lines[1..]), &["line 1", "does not follow"]),
        (text.replacen("\"turn\":1", "\"turn\":2", 1), &["line 3", "the line was changed", "its content has sha256:"]),
        (text.replacen("\"outcome\":\"pass\"", "\"outcome\":\"fail\"", 1), &["line 7", "the line was changed"]),
        (text.replacen(":{", ": {", 1), &["line 1", "not in canonical form"]),
        (text.replacen("\"prev\":", "\"prov\":", 1), &["line 1"]),
        ("not json\n".to_owned(), &["line 1", "not acceptable JSON"]),
        ("[]\n".to_owned(), &["line 1", "expected a JSON object"]),
        ("{}\n".to_owned(), &["line 1", "`digest` is missing"]),
        (format!("{text}\n"), &["line 8"]),
        (format!("{text}{}\n", lines[6]), &["line 8", "does not follow"]),
        ("[".repeat(100_000) + "\n", &["nested deeper"]),
    ] {
        let error = read_bytes(content.as_bytes()).expect_err("a wrong file was read").to_string();
        for part in parts {
            assert!(error.contains(part), "`{error}` does not say `{part}`");
        }
    }
    assert!(read_bytes(b"\xff\xfe\n").expect_err("read").to_string().contains("not UTF-8 after 0 bytes"));
    assert!(matches!(read_bytes(b""), Err(ReadError::Empty)));
}

/// Chains lines that are well formed but come in an order that the format does not allow.
#[test]
fn lines_out_of_order_are_refused_though_the_chain_holds() {
    let stored = read_bytes(&recorded()).expect("a trajectory").trajectory;
    let header = || Line::Header(Box::new(stored.header.clone()));
    let turn = |index: usize| Line::Turn(Box::new(stored.turns[index].clone()));
    let verdict = || Line::Verdict(Box::new(stored.verdicts[0].clone()));
    let footer = || Line::Footer(Box::new(stored.footer.clone().expect("complete")));
    let mut other_format = stored.header.clone();
    other_format.format = "other/1".to_owned();
    let mut other_task = stored.header.clone();
    other_task.task.request.push('!');
    for (lines, part) in [
        (vec![turn(0)], "expected a header"),
        (vec![header(), header()], "a second header"),
        (vec![header(), turn(1)], "turn 1, expected turn 0"),
        (vec![header(), turn(0), verdict(), turn(1)], "a turn after a verdict"),
        (vec![header(), footer()], "the footer says 4 turns, found 0"),
        (vec![Line::Header(Box::new(other_format))], "format `other/1`"),
        (vec![Line::Header(Box::new(other_task))], "the task has digest"),
    ] {
        let mut chain = Chain::default();
        let text: Vec<String> = lines.iter().map(|line| chain.append(line).expect("JSON")).collect();
        let error = read_bytes(&bytes(&text)).expect_err("read").to_string();
        assert!(error.contains(part), "`{error}` does not say `{part}`");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn every_changed_byte_is_found(at in any::<prop::sample::Index>(), to: u8, kind in 0..3_u8) {
        let whole = recorded();
        let mut changed = whole.clone();
        let index = at.index(changed.len());
        match kind {
            0 => changed[index] = to,
            1 => changed.insert(index, to),
            _ => {
                changed.remove(index);
            }
        }
        prop_assume!(changed != whole);
        // Found: refused, or seen to be incomplete.
        prop_assert!(read_bytes(&changed).map_or(true, |stored| !stored.is_complete()));
    }

    #[test]
    fn no_bytes_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_bytes(&content);
    }
}

#[test]
fn files_worlds_and_digest_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let tasks = mixed_tasks(4);
    let options = RunOptions { record: Record::Digest, ..options_in(folder.path()) };
    let results = run_tasks(&harness(Settings::default()), &Scripted::new(&tasks), &tasks, &options, &|_| {});
    let paths = read_folder(folder.path()).expect("a folder");
    assert_eq!(results.iter().map(|result| result.path.clone().expect("a path")).collect::<Vec<_>>(), paths);
    for path in &paths {
        let stored = read_file(path).expect("a trajectory");
        let turn = stored.trajectory.turns.first().expect("a turn");
        assert!(matches!(turn.changes, Kept::Digest(_)));
        let worlds = WorldStore::beside(folder.path());
        let initial = worlds.get(stored.trajectory.header.initial).expect("a world");
        assert_eq!(StateDigest::of(initial.text.as_bytes()), initial.digest);
        assert!(worlds.get(stored.trajectory.header.target.expect("gold")).is_ok());
    }
    // All tasks begin in one world, and it is kept once, beside four targets of which none is equal.
    assert_eq!(fs::read_dir(folder.path().join("worlds")).expect("a folder").count(), 5);
    let left: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().contains("tmp"))
        .collect();
    assert!(left.is_empty());
}

#[test]
fn a_large_trajectory_is_compressed_and_reads_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = FakePlanner::new("long", |context, _| {
        let text = format!("{} ", context.turn).repeat(20_000);
        Ok(loopwright_contract::planner::Decision { text, ..Default::default() })
    });
    let task = torch_task("t");
    let run = |output: Output| {
        run_tasks(
            &harness(Settings::default()),
            &long,
            std::slice::from_ref(&task),
            &RunOptions { output, ..options() },
            &|_| {},
        )
        .pop()
        .expect("one")
    };
    let path = run(Output::Folder(folder.path().to_owned())).path.expect("a path");
    assert!(path.to_string_lossy().ends_with(".jsonl.zst"));
    let stored = read_file(&path).expect("a trajectory");
    assert!(stored.is_complete());
    assert_eq!(Some(stored.lines), run(Output::Memory).lines);
    // A compressed file that is cut off gives what came before.
    let content = fs::read(&path).expect("a file");
    fs::write(&path, &content[..content.len() * 9 / 10]).expect("a file");
    let cut = read_file(&path);
    assert!(cut.map_or(true, |stored| !stored.is_complete()));
}

#[test]
fn file_names_stay_inside_their_folder() {
    for (episode, expected) in [("..", "...jsonl"), ("a:b#c", "a%3ab%23c.jsonl"), ("plain-1.x", "plain-1.x.jsonl")] {
        assert_eq!(file_name(&EpisodeId::new(episode).expect("an id")), expected);
    }
}

#[test]
fn a_world_that_is_no_world_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let worlds = WorldStore::beside(folder.path());
    let world = StoredWorld { digest: StateDigest::of(b"{}"), text: "{}".to_owned() };
    assert!(matches!(worlds.get(world.digest), Err(WorldError::Io { attempt: "read", .. })));
    worlds.put(world.digest, || Some(world.clone())).expect("written");
    worlds.put(world.digest, || unreachable!("a world that is there is not made again")).expect("kept");
    assert_eq!(worlds.get(world.digest).expect("read"), world);
    fs::write(worlds.path(world.digest), b"not zstd").expect("a file");
    assert!(worlds.get(world.digest).is_err());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_makes_the_episode_void_and_is_reported() {
    let mut file = TrajectoryFile::create(std::path::Path::new("/dev/full")).expect("opened");
    assert!(file.append("line").is_err_and(|error| error.kind() == std::io::ErrorKind::StorageFull));
    let folder = tempfile::tempdir().expect("a folder");
    let tasks = [torch_task("full"), torch_task("free")];
    // One file's disk is full, and a folder that is a file cannot be written to at all; the result says so, and of that episode only.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full%3as0.jsonl")).expect("a link");
    let blocked = folder.path().join("file");
    fs::write(&blocked, "x").expect("a file");
    let outcomes = |place: &std::path::Path| -> Vec<Outcome> {
        let results =
            run_tasks(&harness(Settings::default()), &Scripted::new(&tasks), &tasks, &options_in(place), &|_| {});
        results.into_iter().map(|result| result.outcome).collect()
    };
    let full = outcomes(folder.path());
    assert!(
        matches!(full.as_slice(), [Outcome::Void(reason), Outcome::Pass] if reason.contains("No space left")),
        "{full:?}"
    );
    let none = outcomes(&blocked);
    assert!(
        matches!(none.as_slice(), [Outcome::Void(reason), Outcome::Void(_)] if reason.contains("cannot write")),
        "{none:?}"
    );
}
