use std::fs;

use loopwright_contract::digest::MemoryDigest;
use loopwright_contract::episode::PluginKind;
use loopwright_contract::memory::{Hit, MemoryError, MemoryRecord, MemorySearch, MemorySnapshot, record_of};
use loopwright_contract::planner::Planner;
use loopwright_contract::trajectory::Record;
use loopwright_testkit::host::{CONTRARY, FakeHost, Faults, TRAPPING, VERIFIER};
use loopwright_testkit::planner::{FakePlanner, raw};
use loopwright_testkit::task::{mixed_tasks, torch_task};

use super::*;
use crate::planners::{Idle, Random, Scripted};
use crate::run::{RunOptions, run_tasks};
use crate::settings::{Offer, Prefixes};
use crate::testing::{Watching, harness_on, options_in};
use crate::trajectory::{Chain, read_bytes, read_file};
use loopwright_contract::task::Task;
use loopwright_contract::trajectory::Line;

struct Recorded {
    _folder: tempfile::TempDir,
    worlds: WorldStore,
    stored: Vec<StoredTrajectory>,
}

fn record(harness: &Harness, planner: &dyn Planner, tasks: &[Task], record: Record) -> Recorded {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions { seed: 3, record, ..options_in(folder.path()) };
    let results = run_tasks(harness, planner, tasks, &options, &|_| {});
    let stored =
        results.iter().map(|result| read_file(result.path.as_ref().expect("a path")).expect("a trajectory")).collect();
    Recorded { worlds: WorldStore::beside(folder.path()), stored, _folder: folder }
}

fn replayer(host: FakeHost) -> Replayer {
    Replayer::new(Arc::new(host), Vec::new())
}

#[test]
fn what_was_recorded_replays_to_the_byte() {
    let tasks = mixed_tasks(4);
    let planners: Vec<Box<dyn Planner>> = vec![
        Box::new(Scripted::new(&tasks)),
        Box::new(Random),
        Box::new(Idle),
        Box::new(FakePlanner::prose()),
        Box::new(FakePlanner::half_json()),
        Box::new(FakePlanner::fenced()),
        Box::new(FakePlanner::same_call_forever()),
        Box::new(FakePlanner::faulty(2, PlannerFault::ContextTooLong { found: 900, limit: 40 })),
        Box::new(FakePlanner::faulty(2, PlannerFault::Failed("gone".to_owned()))),
        Box::new(FakePlanner::playing(vec![
            vec![raw("add_user_memory", r#"{"content":"milk"}"#)],
            vec![raw("search_user_memory", r#"{"query":"milk"}"#)],
            vec![raw("update_memory", r#"{"memoryId":"m-1","content":"milk is in the cellar"}"#)],
            vec![raw("delete_memory", r#"{"memoryId":"m-1"}"#)],
            vec![raw("skill__note_keeper", "")],
        ])),
    ];
    let replayer = replayer(FakeHost::new().with_plugin("newcomer", PluginKind::Tool));
    let settings = [
        Settings::default(),
        Settings { strict: true, prefixes: Prefixes::All, offer: Offer::Exposed, ..Settings::default() },
    ];
    for planner in &planners {
        for (settings, kept) in settings.iter().zip([Record::Full, Record::Digest]) {
            let harness = harness_on(FakeHost::new(), *settings).with_snapshot(snapshot());
            let recorded = record(&harness, planner.as_ref(), &tasks, kept);
            for stored in &recorded.stored {
                let report = replayer.replay(stored, &recorded.worlds).expect("runs");
                assert_eq!(
                    report.difference,
                    None,
                    "{} on {}",
                    planner.version().name,
                    stored.trajectory.header.task.id
                );
            }
        }
    }
}

/// A user's memory of two things, of which one is to be said at once.
fn snapshot() -> Arc<MemorySnapshot> {
    let record = |key: &str, content: &str, more: Value| {
        let mut document = serde_json::json!({"id": key, "layer": "long_term", "content": content, "source": "user",
            "created": "2025-12-01T08:00:00", "updated": "2025-12-01T08:00:00"});
        document.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        record_of(key, document).expect("a record")
    };
    let records = vec![
        record("m-1", "milk is in the fridge", serde_json::json!({})),
        record("m-2", "buy milk", serde_json::json!({"layer": "prospective", "due": "2025-12-31T08:00:00"})),
    ];
    Arc::new(MemorySnapshot { digest: MemoryDigest::of(b"store"), records, left_out: 3 })
}

/// A ranker that no replay has.
struct Elsewhere;

impl Ranker for Elsewhere {
    fn fingerprint(&self) -> &'static str {
        "elsewhere/9"
    }

    fn rank(&self, _: &MemorySearch<'_>, records: &[MemoryRecord]) -> Result<Vec<Hit>, MemoryError> {
        let hit = |record: &MemoryRecord| Hit {
            id: record.id.clone(),
            score: 0.5,
            conflicts: Vec::new(),
            instruction_like: false,
        };
        Ok(records.iter().rev().map(hit).collect())
    }
}

#[test]
fn what_another_ranker_found_replays_from_the_record_and_is_ranked_anew_where_the_ranker_is_there() {
    let planner = FakePlanner::playing(vec![
        vec![raw("search_user_memory", r#"{"query":"nothing in common"}"#)],
        vec![raw("add_user_memory", r#"{"content":"tea"}"#)],
        vec![raw("search_user_memory", r#"{"query":"nothing in common"}"#)],
    ]);
    let harness =
        harness_on(FakeHost::new(), Settings::default()).with_snapshot(snapshot()).with_ranker(Arc::new(Elsewhere));
    let recorded = record(&harness, &planner, &mixed_tasks(1), Record::Full);
    let stored = &recorded.stored[0];
    let header = &stored.trajectory.header;
    let memory = header.memory.clone().expect("it had a memory");
    assert_eq!(memory.ranker.as_deref(), Some("elsewhere/9"));
    let laid_in = memory.snapshot.expect("a snapshot");
    assert_eq!((laid_in.digest, laid_in.loaded, laid_in.left_out), (MemoryDigest::of(b"store"), 2, 3));
    assert!(header.observation.notices.iter().any(|notice| notice["kind"] == "reminder"), "{:?}", header.observation);
    assert!(stored.lines[1].contains("milk is in the fridge"), "{}", stored.lines[1]);
    for (replayer, notes) in
        [(replayer(FakeHost::new()), 1), (replayer(FakeHost::new()).with_ranker(Arc::new(Elsewhere)), 0)]
    {
        let report = replayer.replay(stored, &recorded.worlds).expect("runs");
        assert_eq!((report.difference, report.notes.len()), (None, notes), "{:?}", report.notes);
    }
}

#[test]
fn a_header_without_a_memory_is_as_it_was() {
    let tasks = mixed_tasks(1);
    let recorded = record(&harness_on(FakeHost::new(), Settings::default()), &Idle, &tasks, Record::Full);
    assert_eq!(recorded.stored[0].trajectory.header.memory, None);
    assert!(!recorded.stored[0].lines[0].contains("\"memory\":{\"ranker"), "{}", recorded.stored[0].lines[0]);
    let header: Value = parse(&recorded.stored[0].lines[0], &JsonLimits::FILE).expect("JSON");
    assert_eq!(header.get("memory"), None);
}

#[test]
fn void_recordings_are_no_difference() {
    let tasks = mixed_tasks(2);
    for faults in [Faults { reset: true, ..Faults::default() }, Faults { step_at: Some(1), ..Faults::default() }] {
        let host = FakeHost::with_faults(faults);
        let recorded = record(
            &harness_on(host.clone(), Settings::default()),
            &FakePlanner::same_call_forever(),
            &tasks,
            Record::Full,
        );
        for stored in &recorded.stored {
            assert!(matches!(&stored.trajectory.footer, Some(footer) if matches!(footer.outcome, Outcome::Void(_))));
            let report = replayer(host.clone()).replay(stored, &recorded.worlds).expect("runs");
            assert_eq!((report.difference, report.notes.len()), (None, 1));
        }
    }
}

#[test]
fn a_cut_off_recording_replays_up_to_there() {
    let tasks = mixed_tasks(3);
    let recorded =
        record(&harness_on(FakeHost::new(), Settings::default()), &Scripted::new(&tasks), &tasks, Record::Full);
    let whole = &recorded.stored[2];
    for lines in 1..whole.lines.len() {
        let text: String = whole.lines[..lines].iter().map(|line| format!("{line}\n")).collect();
        let stored = read_bytes(text.as_bytes()).expect("a prefix");
        let report = replayer(FakeHost::new()).replay(&stored, &recorded.worlds).expect("runs");
        assert_eq!((report.difference, report.notes.len()), (None, 1), "{lines} lines");
    }
}

/// Changes a trajectory and chains it anew, as someone would who forges one.
fn forged(stored: &StoredTrajectory, change: impl Fn(&mut Trajectory)) -> StoredTrajectory {
    let mut trajectory = stored.trajectory.clone();
    change(&mut trajectory);
    let mut lines = vec![Line::Header(Box::new(trajectory.header.clone()))];
    lines.extend(trajectory.turns.iter().map(|turn| Line::Turn(Box::new(turn.clone()))));
    lines.extend(trajectory.verdicts.iter().map(|verdict| Line::Verdict(Box::new(verdict.clone()))));
    lines.extend(trajectory.footer.iter().map(|footer| Line::Footer(Box::new(footer.clone()))));
    let mut chain = Chain::default();
    let text: String = lines.iter().map(|line| chain.append(line).expect("JSON") + "\n").collect();
    read_bytes(text.as_bytes()).expect("well formed")
}

#[test]
fn a_forged_trajectory_differs_at_the_forged_place() {
    let tasks = [torch_task("torch")];
    let recorded = record(&harness_on(FakeHost::new(), Settings::default()), &Idle, &tasks, Record::Full);
    let played =
        record(&harness_on(FakeHost::new(), Settings::default()), &Scripted::new(&tasks), &tasks, Record::Full);
    let (idle, gold) = (&recorded.stored[0], &played.stored[0]);
    let pass = |trajectory: &mut Trajectory| {
        if let Some(footer) = &mut trajectory.footer {
            footer.outcome = Outcome::Pass;
        }
    };
    let rows: Vec<(StoredTrajectory, usize, &str)> = vec![
        (forged(idle, pass), 4, "/outcome/outcome"),
        (forged(gold, |trajectory| trajectory.turns[0].state = trajectory.header.initial), 2, "/state"),
        (forged(gold, |trajectory| trajectory.turns[0].at_ns += 1), 2, "/at_ns"),
        (
            forged(gold, |trajectory| {
                trajectory.turns[0].changes = loopwright_contract::trajectory::Kept::Full(Vec::new())
            }),
            2,
            "/changes/full",
        ),
        (forged(gold, |trajectory| trajectory.turns[0].decision.text = "x".to_owned()), 0, ""),
        (
            forged(gold, |trajectory| trajectory.header.observation.exposed = Some(Vec::new())),
            1,
            "/observation/exposed",
        ),
        (forged(gold, |trajectory| trajectory.verdicts.clear()), 4, "/"),
        (
            forged(gold, |trajectory| trajectory.header.harness = loopwright_contract::digest::HarnessDigest::of(b"x")),
            1,
            "/harness",
        ),
        (
            forged(gold, |trajectory| {
                trajectory.header.plugins[0].digest = loopwright_contract::digest::ContentDigest::of(b"x")
            }),
            1,
            "/plugins/fake-tools",
        ),
    ];
    for (stored, line, field) in rows {
        let report = replayer(FakeHost::new())
            .replay(&stored, &recorded.worlds)
            .or_else(|_| replayer(FakeHost::new()).replay(&stored, &played.worlds))
            .expect("runs");
        match report.difference {
            Some(difference) => {
                assert_eq!(difference.line, line, "{difference}");
                assert!(difference.field.starts_with(field), "{difference}");
                assert!(!difference.to_string().is_empty());
            }
            // The planner's own words are input; nothing can tell that they were others.
            None => assert_eq!(line, 0),
        }
    }
}

#[test]
fn another_host_differs_and_says_where() {
    let tasks = [torch_task("torch")];
    let recorded =
        record(&harness_on(FakeHost::new(), Settings::default()), &Scripted::new(&tasks), &tasks, Record::Full);
    let late = replayer(FakeHost::with_faults(Faults { late_wipe: true, ..Faults::default() }));
    let report = late.replay(&recorded.stored[0], &recorded.worlds).expect("runs");
    assert_eq!(
        report.difference.map(|difference| (difference.line, difference.field)),
        Some((1, "/observation/exposed".to_owned()))
    );
    let faulty = replayer(FakeHost::with_faults(Faults { reset: true, ..Faults::default() }));
    assert!(matches!(faulty.replay(&recorded.stored[0], &recorded.worlds), Err(ReplayError::Open(_))));
    let empty = tempfile::tempdir().expect("a folder");
    let missing = replayer(FakeHost::new()).replay(&recorded.stored[0], &WorldStore::beside(empty.path()));
    assert!(matches!(missing, Err(ReplayError::World(_))));
    fs::write(
        recorded.worlds.path(recorded.stored[0].trajectory.header.initial),
        zstd::encode_all(&b"{}"[..], 1).expect("zstd"),
    )
    .expect("a file");
    let swapped = replayer(FakeHost::new()).replay(&recorded.stored[0], &recorded.worlds);
    assert!(matches!(swapped, Err(ReplayError::Restore(_))));
}

#[test]
fn a_stored_trajectory_is_judged_anew() {
    let tasks = mixed_tasks(2);
    let recorded =
        record(&harness_on(FakeHost::new(), Settings::default()), &Scripted::new(&tasks), &tasks, Record::Digest);
    let name = |text: &str| PluginName::new(text).expect("a name");
    let replayer = replayer(FakeHost::new());
    for stored in &recorded.stored {
        for (choice, expected) in [
            (VerifierChoice::Recorded, Outcome::Pass),
            (VerifierChoice::Always(name(CONTRARY)), Outcome::Fail),
            (VerifierChoice::Instead { from: name(VERIFIER), to: name(CONTRARY) }, Outcome::Fail),
            (VerifierChoice::Instead { from: name("other"), to: name(CONTRARY) }, Outcome::Pass),
        ] {
            let judgement = replayer.verify(stored, &recorded.worlds, &choice).expect("judged");
            assert_eq!((judgement.outcome, judgement.recorded), (expected, Some(Outcome::Pass)), "{choice:?}");
        }
        let trapped = replayer.verify(stored, &recorded.worlds, &VerifierChoice::Always(name(TRAPPING)));
        assert!(matches!(trapped, Err(ReplayError::Unjudgeable(reason)) if reason.contains("trapped")));
        let other = forged(stored, |trajectory| trajectory.turns[0].at_ns += 1);
        assert!(matches!(
            replayer.verify(&other, &recorded.worlds, &VerifierChoice::Recorded),
            Err(ReplayError::Different(_))
        ));
        let cut = forged(stored, |trajectory| trajectory.footer = None);
        assert!(matches!(
            replayer.verify(&cut, &recorded.worlds, &VerifierChoice::Recorded),
            Err(ReplayError::Unjudgeable(_))
        ));
    }
    let over =
        record(&harness_on(FakeHost::new(), Settings::default()), &FakePlanner::prose(), &tasks[..1], Record::Full);
    let judgement =
        replayer.verify(&over.stored[0], &over.worlds, &VerifierChoice::Always(name(CONTRARY))).expect("judged");
    assert!(
        matches!(judgement.outcome, Outcome::Invalid(_))
            && judgement.verdicts.iter().all(|judged| judged.verdict.passed())
    );
}

#[test]
fn a_skill_file_guides_is_named_by_digest_and_is_needed_again() {
    let file = |line: &str| {
        let text = format!(
            "---\nname: night\ndescription: Quiet evenings.\nabout: [set_torch, set_volume]\n---\n- Use set_torch.\n- Use set_volume.\n{line}\n"
        );
        SkillFile::parse(text.as_bytes()).expect("a skill")
    };
    let harness =
        Harness::new(Arc::new(FakeHost::new()), Settings::default(), vec![file("- Sleep.")]).expect("a harness");
    let tasks = [torch_task("torch")];
    let watching = Watching::new(FakePlanner::playing(vec![vec![raw("skill__night", "{}")]]));
    let recorded = record(&harness, &watching, &tasks, Record::Full);
    let skills: Vec<String> =
        watching.into_seen().pop().expect("a context").skills.into_iter().map(|skill| skill.guidance).collect();
    // The rule about the tool that is not offered has disappeared.
    assert_eq!(skills, ["- Use set_torch.\n- Sleep."]);
    let stored = &recorded.stored[0];
    assert_eq!(stored.trajectory.header.skill_files.len(), 1);
    for (files, expected) in [
        (vec![file("- Sleep.")], None),
        (vec![file("- Wake.")], Some("/skill_files")),
        (Vec::new(), Some("/skill_files")),
    ] {
        let report = Replayer::new(Arc::new(FakeHost::new()), files).replay(stored, &recorded.worlds).expect("runs");
        assert_eq!(report.difference.map(|difference| difference.field).as_deref(), expected);
    }
    let twice = Harness::new(Arc::new(FakeHost::new()), Settings::default(), vec![file(""), file("")]);
    assert!(twice.is_err_and(|error| error.to_string().contains("skill `night` exists twice")));
}
