//! Checkpoints on a real disk and on one that fails at every step.

mod faulty;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use self::faulty::Faulty;
use super::{
    Checkpoint, CheckpointError, Checkpoints, Disk, Files, Finite, Flaw, Found, MANIFEST_BYTES_MAX, NAME_BYTES_MAX,
    PART_BYTES_MAX, PARTS_MAX, Skipped, WEIGHTS_PART, Written, read_newest,
};
use crate::nn::random::Stream;
use crate::nn::{AdamW, AdamWConfig, Init, NnError, Parameters, Schedule, Slot};

const FOLDER: &str = "checkpoints";

fn model(weight: f32) -> (Parameters, AdamW) {
    let slot = Slot { name: "weight".into(), shape: vec![3], init: Init::Ones };
    let mut parameters = Parameters::new(vec![slot], 0).unwrap();
    parameters.set(vec![vec![weight; 3]]).unwrap();
    let adam = AdamW::new(AdamWConfig::new(Schedule::constant(0.1)), &parameters).unwrap();
    (parameters, adam)
}

/// The state after a step: all parts say which.
fn state(step: u64) -> Finite {
    let (parameters, adam) = model(step as f32);
    let state = Finite::new(0.5, &parameters, &adam).unwrap();
    state
        .with("sampler.json", format!("{{\"position\":{step}}}").into_bytes())
        .unwrap()
        .with("empty", Vec::new())
        .unwrap()
}

fn open(files: &Arc<dyn Files>, folder: &Path, keep: usize) -> Result<Checkpoints, CheckpointError> {
    Checkpoints::open(files.clone(), folder.to_owned(), NonZeroUsize::new(keep).unwrap())
}

fn write(files: &Arc<dyn Files>, folder: &Path, keep: usize, step: u64) -> Result<Written, CheckpointError> {
    open(files, folder, keep)?.write(step, &state(step))
}

fn found(files: &dyn Files, folder: &Path) -> Found {
    read_newest(files, folder).unwrap().expect("a checkpoint")
}

/// That a checkpoint is exactly the state of its step.
fn assert_whole(checkpoint: &Checkpoint) {
    assert_eq!(checkpoint.parts(), state(checkpoint.step).parts(), "step {}", checkpoint.step);
}

fn names(files: &dyn Files, folder: &Path) -> Vec<String> {
    files.list(folder).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn the_newest_checkpoint_comes_back_and_old_ones_go() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join(FOLDER);
    let files: Arc<dyn Files> = Arc::new(Disk);
    assert_eq!(read_newest(&*files, &folder).unwrap(), None);
    let mut checkpoints = open(&files, &folder, 2).unwrap();
    assert_eq!(read_newest(&*files, &folder).unwrap(), None);
    for (step, removed) in [(5, vec![]), (9, vec![]), (120, vec![5]), (1000, vec![9])] {
        let written = checkpoints.write(step, &state(step)).unwrap();
        assert!(written.not_removed.is_none());
        assert_eq!(written.removed, removed);
        let Found { checkpoint, skipped } = found(&*files, &folder);
        assert_eq!((checkpoint.step, skipped), (step, vec![]));
        assert_whole(&checkpoint);
    }
    assert_eq!(names(&*files, &folder), ["latest", "lock", "step-000000000120", "step-000000001000"]);
    assert_eq!(files.read(&folder.join("latest")).unwrap(), b"step-000000001000\n");
    let checkpoint = found(&*files, &folder).checkpoint;
    assert_eq!(checkpoint.part("sampler.json").unwrap(), b"{\"position\":1000}");
    let slot = Slot { name: "weight".into(), shape: vec![3], init: Init::Ones };
    let parameters = Parameters::from_bytes(vec![slot], checkpoint.part(WEIGHTS_PART).unwrap()).unwrap();
    assert_eq!(parameters.values().unwrap(), [[1000.0; 3]]);
    assert!(matches!(checkpoint.part("other"), Err(CheckpointError::NoPart { step: 1000, .. })));
}

#[test]
fn the_same_step_is_written_once() {
    let files: Arc<dyn Files> = Arc::new(Faulty::new());
    let folder = Path::new(FOLDER);
    write(&files, folder, 3, 7).unwrap();
    write(&files, folder, 3, 7).unwrap();
    let error = open(&files, folder, 3).unwrap().write(7, &state(8)).unwrap_err();
    assert!(matches!(error, CheckpointError::Taken { step: 7, .. }), "{error}");
    assert_whole(&found(&*files, folder).checkpoint);
    assert_eq!(names(&*files, folder), ["latest", "lock", "step-000000000007"]);
}

#[test]
fn two_writers_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    for (files, folder) in [
        (Arc::new(Disk) as Arc<dyn Files>, temporary.path().join(FOLDER)),
        (Arc::new(Faulty::new()), PathBuf::from(FOLDER)),
    ] {
        let first = open(&files, &folder, 1).unwrap();
        assert!(matches!(open(&files, &folder, 1), Err(CheckpointError::Busy { .. })));
        drop(first);
        open(&files, &folder, 1).unwrap();
    }
}

fn flaw(edit: impl FnOnce(&Faulty)) -> Flaw {
    let faulty = Faulty::new();
    let files: Arc<dyn Files> = Arc::new(faulty.clone());
    let folder = Path::new(FOLDER);
    write(&files, folder, 3, 1).unwrap();
    write(&files, folder, 3, 2).unwrap();
    edit(&faulty);
    let Found { checkpoint, mut skipped } = found(&*files, folder);
    assert_eq!(checkpoint.step, 1);
    assert_whole(&checkpoint);
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let Skipped { name, why } = skipped.remove(0);
    assert_eq!(name, "step-000000000002");
    // It is replaced when its step comes again, and pushes out nothing until then.
    let written = write(&files, folder, 1, 2).unwrap();
    assert_eq!(written.removed, [1]);
    let Found { checkpoint, skipped } = found(&*files, folder);
    assert_eq!((checkpoint.step, skipped), (2, vec![]));
    assert_whole(&checkpoint);
    why
}

#[test]
fn what_is_damaged_is_passed_over_and_named() {
    let path = |file: &str| Path::new(FOLDER).join("step-000000000002").join(file);
    let manifest = |from: &'static str, to: &'static str| {
        flaw(|files| {
            files.damage(&path("manifest.json"), |bytes| {
                let text = String::from_utf8(bytes.clone()).unwrap();
                assert!(text.contains(from), "{text}");
                *bytes = text.replacen(from, to, 1).into_bytes();
            });
        })
    };
    let torn = flaw(|files| files.damage(&path("sampler.json"), |bytes| bytes.truncate(3)));
    assert_eq!(torn, Flaw::Torn { part: "sampler.json".into(), expected: 14, found: 3 });
    let longer = flaw(|files| files.damage(&path("empty"), |bytes| bytes.push(0)));
    assert_eq!(longer, Flaw::Torn { part: "empty".into(), expected: 0, found: 1 });
    let damaged = flaw(|files| files.damage(&path("sampler.json"), |bytes| bytes[12] ^= 1));
    assert!(matches!(damaged, Flaw::Damaged { part, .. } if part == "sampler.json"));
    let gone = flaw(|files| files.remove(&path(WEIGHTS_PART)).unwrap());
    assert!(matches!(gone, Flaw::Unreadable { part, .. } if part == WEIGHTS_PART));
    let no_manifest = flaw(|files| files.remove(&path("manifest.json")).unwrap());
    let cut = flaw(|files| files.damage(&path("manifest.json"), |bytes| bytes.truncate(40)));
    let long =
        flaw(|files| files.damage(&path("manifest.json"), |bytes| bytes.resize(MANIFEST_BYTES_MAX as usize + 1, b' ')));
    let many = flaw(|files| {
        files.damage(&path("manifest.json"), |bytes| {
            let mut value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            let part = value["parts"][0].clone();
            value["parts"] = vec![part; PARTS_MAX + 1].into();
            *bytes = serde_json::to_vec(&value).unwrap();
        });
    });
    for (found, expected) in [
        (no_manifest, "not found"),
        (cut, "EOF"),
        (long, "at most 65536 are read"),
        (many, "expected at most 64 parts, found 65"),
        (manifest("\"step\": 2", "\"step\": 3"), "expected step 2, found 3"),
        (manifest("\"format\": 1", "\"format\": 2"), "expected format 1, found 2"),
        (manifest("\"format\"", "\"other\": 0, \"format\""), "unknown field"),
        (manifest("sampler.json", "../../latest"), "`../../latest` cannot name a part"),
        (manifest("sampler.json", "empty"), "`empty` cannot name a part, or names two"),
        (manifest("\"bytes\": 14", "\"bytes\": 2147483649"), "at most 2147483648 are read"),
    ] {
        let Flaw::Manifest { reason } = found else { panic!("{expected}: {found}") };
        assert!(reason.contains(expected), "{expected}: {reason}");
    }
}

#[test]
fn when_none_is_whole_all_flaws_are_named() {
    let faulty = Faulty::new();
    let files: Arc<dyn Files> = Arc::new(faulty.clone());
    let folder = Path::new(FOLDER);
    for step in [1, 2] {
        write(&files, folder, 3, step).unwrap();
        faulty.damage(&folder.join(format!("step-00000000000{step}/empty")), |bytes| bytes.push(1));
    }
    let error = read_newest(&*files, folder).unwrap_err().to_string();
    let torn = |step: u64| format!("`step-00000000000{step}`: part `empty` is torn: expected 0 bytes, found 1");
    assert_eq!(error, format!("no checkpoint in `{FOLDER}` is whole: {}; {}", torn(2), torn(1)));
}

#[test]
fn a_pointer_to_nothing_is_named() {
    let faulty = Faulty::new();
    let files: Arc<dyn Files> = Arc::new(faulty.clone());
    let folder = Path::new(FOLDER);
    write(&files, folder, 3, 1).unwrap();
    faulty.damage(&folder.join("latest"), |bytes| *bytes = b"step-000000000009\n".to_vec());
    let skipped = found(&*files, folder).skipped;
    assert_eq!(skipped, [Skipped { name: "step-000000000009".into(), why: Flaw::Gone }]);
    for rubbish in [b"".to_vec(), b"../step-000000000001".to_vec(), vec![255; 9], vec![b'a'; 1000]] {
        faulty.damage(&folder.join("latest"), |bytes| *bytes = rubbish);
        assert_eq!(found(&*files, folder).skipped, []);
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let faulty = Faulty::new();
    let files: Arc<dyn Files> = Arc::new(faulty.clone());
    let folder = Path::new(FOLDER);
    write(&files, folder, 3, 1).unwrap();
    let before = faulty.all();
    let needed: usize = {
        let fork = faulty.fork();
        let files: Arc<dyn Files> = Arc::new(fork.clone());
        write(&files, folder, 3, 2).unwrap();
        let new = fork.all().into_iter().filter(|(path, _)| path.to_string_lossy().contains("step-000000000002"));
        new.map(|(_, bytes)| bytes.len()).sum()
    };
    for room in (0..needed).step_by(7) {
        faulty.leave_room(Some(room));
        let error = write(&files, folder, 3, 2).unwrap_err();
        let CheckpointError::Io { what: "write", source, .. } = error else { panic!("{error}") };
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(faulty.all(), before, "room for {room} bytes");
    }
    // Room for the checkpoint, and none for the pointer: it is there, and reading finds it.
    faulty.leave_room(Some(needed));
    let error = write(&files, folder, 3, 2).unwrap_err();
    assert!(matches!(error, CheckpointError::Io { what: "write", .. }), "{error}");
    let Found { checkpoint, skipped } = found(&*files, folder);
    assert_eq!((checkpoint.step, skipped), (2, vec![]));
    assert_whole(&checkpoint);
    faulty.leave_room(None);
    write(&files, folder, 3, 2).unwrap();
    assert_eq!(files.read(&folder.join("latest")).unwrap(), b"step-000000000002\n");
}

#[test]
fn what_is_not_finite_makes_no_checkpoint() {
    let (parameters, adam) = model(1.0);
    for loss in [f64::NAN, f64::INFINITY] {
        let error = Finite::new(loss, &parameters, &adam).unwrap_err();
        assert!(matches!(error, CheckpointError::NotFinite(NnError::NonFiniteLoss { .. })), "{error}");
    }
    let (parameters, adam) = model(f32::NAN);
    let error = Finite::new(0.0, &parameters, &adam).unwrap_err();
    assert!(matches!(error, CheckpointError::NotFinite(NnError::NonFinite { what: "weight", .. })), "{error}");
}

#[test]
fn parts_have_plain_names_and_limits() {
    let longest = "a".repeat(NAME_BYTES_MAX);
    state(1).with(&longest, vec![]).unwrap().with("a-b_c.9", vec![]).unwrap();
    let too_long = "a".repeat(NAME_BYTES_MAX + 1);
    for name in ["", ".", "..", ".hidden", "a/b", "A", "9a", "manifest.json", "sampler.json", "ä", &too_long] {
        let error = state(1).with(name, vec![]).unwrap_err();
        assert!(matches!(error, CheckpointError::PartName { .. }), "{name}: {error}");
    }
    let mut many = state(1);
    while many.parts().len() < PARTS_MAX {
        let name = format!("part{}", many.parts().len());
        many = many.with(&name, vec![]).unwrap();
    }
    let files: Arc<dyn Files> = Arc::new(Faulty::new());
    open(&files, Path::new(FOLDER), 1).unwrap().write(1, &many).unwrap();
    assert_eq!(found(&*files, Path::new(FOLDER)).checkpoint.parts().len(), PARTS_MAX);
    assert!(matches!(many.with("more", vec![]), Err(CheckpointError::TooManyParts)));
    // Zeroed memory that nobody touches is not there.
    let huge = vec![0; usize::try_from(PART_BYTES_MAX).unwrap() + 1];
    assert!(matches!(state(1).with("huge", huge), Err(CheckpointError::PartTooLarge { .. })));
}

/// Writes, and is killed before a step of the file system, at each of them in turn. `prepare` makes what is there before.
fn kill_everywhere(prepare: impl Fn(&Faulty), keep: usize, old: Option<u64>, new: u64, powers: &[Option<u64>]) {
    let folder = Path::new(FOLDER);
    let base = Faulty::new();
    prepare(&base);
    let trial = base.fork();
    write(&(Arc::new(trial.clone()) as Arc<dyn Files>), folder, keep, new).unwrap();
    let steps = trial.steps();
    assert!(steps > 15, "{steps}");
    let mut seen = BTreeMap::new();
    for (at, power) in (0..steps).flat_map(|at| powers.iter().map(move |power| (at, power))) {
        let faulty = base.fork();
        let files: Arc<dyn Files> = Arc::new(faulty.clone());
        faulty.die_at(at);
        // Cleaning up after the checkpoint is done is no failure of the checkpoint.
        let failed = write(&files, folder, keep, new).map_or(true, |written| written.not_removed.is_some());
        assert!(failed, "killed at {at}");
        faulty.restart(power.map(|seed| Stream::numbered(seed, at)).as_mut());
        let context = format!("killed at {at} of {steps}, power {power:?}");
        let step = read_newest(&*files, folder).unwrap_or_else(|error| panic!("{context}: {error}")).map(|found| {
            assert_whole(&found.checkpoint);
            found.checkpoint.step
        });
        assert!(step == old || step == Some(new), "{context}: {step:?}");
        *seen.entry(step).or_insert(0) += 1;
        // The next process goes on, and leaves nothing behind.
        write(&files, folder, keep, new).unwrap_or_else(|error| panic!("{context}: {error}"));
        let Found { checkpoint, skipped } = found(&*files, folder);
        assert_eq!((checkpoint.step, skipped), (new, vec![]), "{context}");
        assert_whole(&checkpoint);
        let (now, expected) = (faulty.all(), trial.all());
        assert_eq!(now.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{context}");
        assert_eq!(now, expected, "{context}");
    }
    assert!(seen.contains_key(&old) && seen.contains_key(&Some(new)), "kills before and after it counts: {seen:?}");
}

#[test]
fn killed_at_every_step_there_is_the_old_checkpoint_or_the_new_one() {
    let writes = |steps: &'static [u64], keep: usize| {
        move |faulty: &Faulty| {
            let files: Arc<dyn Files> = Arc::new(faulty.clone());
            for step in steps {
                write(&files, Path::new(FOLDER), keep, *step).unwrap();
            }
        }
    };
    let powers = [None, Some(1), Some(2), Some(3)];
    kill_everywhere(|_| {}, 2, None, 4, &powers);
    kill_everywhere(writes(&[1], 2), 2, Some(1), 4, &powers);
    kill_everywhere(writes(&[1, 2, 3], 3), 2, Some(3), 4, &powers);
    kill_everywhere(writes(&[3], 1), 1, Some(3), 4, &powers);
    // The one of this step is damaged and makes way.
    let damaged = |faulty: &Faulty| {
        writes(&[3, 4], 2)(faulty);
        faulty.damage(&Path::new(FOLDER).join("step-000000000004/empty"), |bytes| bytes.push(1));
    };
    kill_everywhere(damaged, 2, Some(3), 4, &powers);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whatever_was_there_and_whatever_the_disk_kept(steps in proptest::collection::btree_set(0_u64..50, 1..4), keep in 1_usize..4, power in any::<u64>()) {
        let prepare = |faulty: &Faulty| {
            let files: Arc<dyn Files> = Arc::new(faulty.clone());
            for step in &steps {
                write(&files, Path::new(FOLDER), keep, *step).unwrap();
            }
        };
        kill_everywhere(prepare, keep, steps.last().copied(), 50, &[None, Some(power)]);
    }
}
