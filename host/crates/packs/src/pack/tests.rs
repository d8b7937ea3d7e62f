use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::{About, CARD_FILE, LINE_BYTES_MAX, Pack, PackError, TASKS_FILE, read, read_tasks, write};
use crate::phone;

/// Six tasks and a world, made once: generating is the slow part.
fn sample() -> Pack {
    static SAMPLE: LazyLock<Pack> = LazyLock::new(made);
    SAMPLE.clone()
}

fn made() -> Pack {
    let pack = phone::builtin(3, 1).expect("the built-in pack is well-formed");
    let mut tasks = pack.tasks().to_vec();
    tasks.truncate(6);
    for task in &mut tasks {
        task.world = Some("small".to_owned());
    }
    let about = About {
        name: "sample".to_owned(),
        version: "1.2.3".to_owned(),
        licence: "MIT".to_owned(),
        source: "a test".to_owned(),
        generator: None,
    };
    let worlds = BTreeMap::from([("small".to_owned(), json!({"net": {"wifi": {"on": true}}}))]);
    Pack::new(about, tasks, worlds).expect("the parts agree")
}

fn line(task: &loopwright_contract::task::Task) -> String {
    serde_json::to_string(task).expect("a task is JSON")
}

/// The folder after `change` was made to one file; the card's hashes are mended when `mend` is set.
fn read_changed(file: &str, mend: bool, change: impl Fn(Vec<u8>) -> Vec<u8>) -> Result<Pack, PackError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(&sample(), folder.path()).expect("written");
    let path = folder.path().join(file);
    let old = std::fs::read(&path).expect("read");
    let new = change(old.clone());
    std::fs::write(&path, &new).expect("written");
    if mend && file != CARD_FILE {
        let card = folder.path().join(CARD_FILE);
        let text = std::fs::read_to_string(&card).expect("read");
        let text = text.replace(&super::card::sha256(&old), &super::card::sha256(&new));
        std::fs::write(&card, text).expect("written");
    }
    read(folder.path())
}

fn refused(result: Result<Pack, PackError>, part: &str) {
    match result {
        Ok(_) => panic!("it was read; expected an error with `{part}`"),
        Err(error) => {
            assert!(loopwright_contract::fault::chain(&error).contains(part), "`{error}` does not contain `{part}`")
        }
    }
}

#[test]
fn what_is_written_reads_back_and_is_written_the_same_again() {
    let (first, second) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let pack = sample();
    write(&pack, first.path()).expect("written");
    let again = read(first.path()).expect("read");
    assert_eq!(again, pack);
    write(&again, second.path()).expect("written");
    for file in [CARD_FILE, TASKS_FILE, "worlds/small.json"] {
        let bytes = |folder: &Path| std::fs::read(folder.join(file)).expect("read");
        assert_eq!(bytes(first.path()), bytes(second.path()), "{file}");
    }
    let left: Vec<_> =
        std::fs::read_dir(first.path()).expect("listed").map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("partial")), "temporary files were left: {left:?}");
}

#[test]
fn writing_over_an_older_pack_replaces_it() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&sample(), folder.path()).expect("written");
    let newer = phone::builtin(4, 1).expect("a pack");
    write(&newer, folder.path()).expect("written");
    assert_eq!(read(folder.path()).expect("read").tasks(), newer.tasks());
}

#[test]
fn a_bad_line_is_named_by_its_number() {
    for (appended, part) in [
        ("this is no JSON\n", "line 7: not acceptable JSON"),
        ("[1]\n", "line 7: expected an object"),
        ("\n\n", "line 7: the line is empty"),
    ] {
        refused(read_changed(TASKS_FILE, true, |bytes| [bytes, appended.as_bytes().to_vec()].concat()), part);
    }
    for (from, to, part) in [
        ("{", "\u{0}{", "line 1: not acceptable JSON"),
        ("{", "{\"category\":\"x\",", "line 1: not acceptable JSON: duplicate key `category`"),
        ("{", "{\"goal\":1,", "line 1: at ``: unknown field `goal`, expected one of [\"id\""),
        (
            "\"consents\"",
            "\"consent\"",
            "line 1: at `/user`: unknown field `consent`, expected one of [\"slots\", \"consents\"]",
        ),
        (
            "\"action\":\"call\"",
            "\"action\":\"cal\"",
            "line 1: at `/gold/0/0`: `action` is `\"cal\"`, expected one of [\"call\"",
        ),
        ("\"gold\":[[{", "\"gold\":[[7,{", "line 1: "),
        ("\"family\":\"", "\"provenance\":{},\"family\":\"", "line 1: not acceptable JSON: duplicate key `provenance`"),
        ("\"lang\":\"en\"", "\"lang\":\"e n\"", "line 1: `e n` is not a language tag"),
    ] {
        let change = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replacen(from, to, 1).into_bytes();
        refused(read_changed(TASKS_FILE, true, change), part);
    }
    refused(read_changed(TASKS_FILE, true, |bytes| [vec![0xff], bytes].concat()), "line 1: not UTF-8 after byte 0");
    let twice = |bytes: Vec<u8>| {
        bytes.iter().chain(bytes.split_inclusive(|byte| *byte == b'\n').next().expect("a line")).copied().collect()
    };
    refused(read_changed(TASKS_FILE, true, twice), "(line 7): its id is that of an earlier task");
}

#[test]
fn limits_are_enforced() {
    let mut long = line(&sample().tasks()[0]);
    long.push_str(&" ".repeat(LINE_BYTES_MAX));
    let error = read_tasks(long.as_bytes()).expect_err("too long");
    assert!(error.to_string().contains("line 1: the line has"), "{error}");
    let nested = format!("{{\"setup\":{}{}}}", "[".repeat(2000), "]".repeat(2000));
    let error = read_tasks(nested.as_bytes()).expect_err("too deep");
    assert!(error.to_string().contains("64 levels"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("big"), [b'x'; 11]).expect("written");
    let error = super::read::read_file(folder.path(), "big", 10).expect_err("too large");
    assert!(error.to_string().contains("larger than 10 bytes"), "{error}");
}

#[test]
fn a_changed_or_contradicting_file_is_noticed() {
    refused(
        read_changed(TASKS_FILE, false, |mut bytes| [std::mem::take(&mut bytes), b"\n".to_vec()].concat()),
        "the card says",
    );
    refused(read_changed("worlds/small.json", false, |_| b"{}".to_vec()), "the card says");
    refused(read_changed("worlds/small.json", true, |_| b"[]".to_vec()), "world `small`");
    refused(
        read_changed("worlds/small.json", true, |_| b"{\n\"a\":{},\n\"a\":{}}".to_vec()),
        "`worlds/small.json` line 3",
    );
    let card = |from: &'static str, to: &'static str| {
        read_changed(CARD_FILE, false, move |bytes| {
            String::from_utf8(bytes).expect("text").replacen(from, to, 1).into_bytes()
        })
    };
    refused(card("\"tasks\":6", "\"tasks\":7"), "`card.json` counts says");
    refused(card("\"name\":", "\"nmae\":"), "unknown field `nmae`");
    refused(card("loopwright-pack/1", "loopwright-pack/9"), "`format` is \"loopwright-pack/9\", this version reads");
    refused(card("worlds/small.json", "worlds/../../x.json"), "lists the file");
    refused(card("worlds/small.json", "/etc/passwd"), "lists the file");
    refused(card("worlds/small.json", "worlds/other.json"), "cannot read `worlds/other.json`");
}

#[cfg(unix)]
#[test]
fn links_and_folders_are_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&sample(), folder.path()).expect("written");
    let tasks = folder.path().join(TASKS_FILE);
    std::fs::rename(&tasks, folder.path().join("elsewhere")).expect("renamed");
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &tasks).expect("linked");
    refused(read(folder.path()), "`tasks.jsonl` is a link");
    std::fs::remove_file(&tasks).expect("removed");
    std::fs::create_dir(&tasks).expect("made");
    refused(read(folder.path()), "`tasks.jsonl` is a folder");
}

#[test]
fn a_family_in_two_splits_and_a_world_that_is_not_there_are_refused() {
    let pack = sample();
    let about = || About {
        name: "x".to_owned(),
        version: "1".to_owned(),
        licence: "MIT".to_owned(),
        source: "x".to_owned(),
        generator: None,
    };
    let mut tasks = pack.tasks().to_vec();
    tasks[0].split = if tasks[0].split == loopwright_contract::task::Split::Test {
        loopwright_contract::task::Split::Dev
    } else {
        loopwright_contract::task::Split::Test
    };
    refused(Pack::new(about(), tasks, pack.worlds().clone()), "an earlier task put it in");
    refused(Pack::new(about(), pack.tasks().to_vec(), BTreeMap::new()), "it begins in the world `small`");
    let mut tasks = pack.tasks().to_vec();
    tasks[2].checks.clear();
    refused(Pack::new(about(), tasks, pack.worlds().clone()), "(line 3): it has no check");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Whatever happens to the bytes, the answer is a pack or an error; without a mended hash it is always noticed.
    #[test]
    fn mutated_bytes_never_panic(file in 0..3_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(), mend in any::<bool>()) {
        let file = [CARD_FILE, TASKS_FILE, "worlds/small.json"][file];
        let same = std::cell::Cell::new(false);
        let result = read_changed(file, mend, |mut bytes| {
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                same.set(bytes[at] == byte);
                bytes[at] = byte;
            }
            bytes
        });
        if file != CARD_FILE && !mend && !same.get() {
            prop_assert!(matches!(result, Err(PackError::Hash { .. })), "{:?}", result.map(|pack| pack.tasks().len()));
        }
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_tasks(&bytes);
    }
}
