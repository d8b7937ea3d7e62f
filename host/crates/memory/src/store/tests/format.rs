//! The bytes on disk, as they are and as they were: a change of either is a change of the format.

use expect_test::{ExpectFile, expect_file};

use super::super::frame::HEADER_BYTES;
use super::*;

fn hex_lines(bytes: &[u8]) -> String {
    let line = |chunk: &[u8]| format!("{}  {}\n", hex::encode(chunk), chunk.iter().map(shown).collect::<String>());
    bytes.chunks(32).map(line).collect()
}

fn shown(byte: &u8) -> char {
    if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' }
}

fn bytes_of(golden: &str) -> Vec<u8> {
    let lines =
        golden.lines().map(|line| hex::decode(line.split("  ").next().unwrap_or_default()).expect("hexadecimal"));
    lines.flatten().collect()
}

fn sample(files: &Faulty) {
    let (workspace, user) = names();
    let root = Root::open(Arc::new(files.clone()), Path::new("/m"), key()).expect("a root");
    let store = root.user(&workspace, &user).expect("opens");
    let said = keep(&store, 0, "I live in Oslo");
    keep(&store, 1, "我喜欢茶");
    let gone = keep(&store, 2, "forget this");
    claim(&store, "lives_in", "Oslo", &[said.sequence], None);
    store.purge(&Selection::Units(vec![gone.id]), Sources::Keep, &when(9_000)).expect("purged");
    store.checkpoint().expect("written");
}

fn golden(ending: &str, expected: ExpectFile) -> Vec<u8> {
    let files = Faulty::new();
    sample(&files);
    let (_, bytes) = files.all().into_iter().find(|(path, _)| path.ends_with(ending)).expect("a file");
    expected.assert_eq(&hex_lines(&bytes));
    assert!(bytes.len() > HEADER_BYTES);
    bytes
}

#[test]
fn the_log_is_written_as_it_was() {
    golden(".log", expect_file!["golden/log.hex"]);
}

#[test]
fn the_snapshot_is_written_as_it_was() {
    golden("/snapshot", expect_file!["golden/snapshot.hex"]);
}

/// Old files open: the ones that are kept here, not those that this version writes.
#[test]
fn files_of_this_version_open() {
    let (log, snapshot) = (include_str!("golden/log.hex"), include_str!("golden/snapshot.hex"));
    for keep_snapshot in [true, false] {
        let files = Faulty::new();
        sample(&files);
        for (path, _) in files.all() {
            if path.ends_with(".log") {
                files.damage(&path, |bytes| *bytes = bytes_of(log));
            } else if path.ends_with("/snapshot") {
                files.damage(&path, |bytes| *bytes = if keep_snapshot { bytes_of(snapshot) } else { Vec::new() });
            }
        }
        let store = open(&files);
        assert_eq!(store.opening().snapshot.is_some(), keep_snapshot);
        let units: Vec<_> = store.snapshot().units().map(|(at, unit)| (at, unit.text.clone(), unit.layer)).collect();
        let expected = [
            (0, "I live in Oslo".to_owned(), Layer::Episodic),
            (1, "我喜欢茶".to_owned(), Layer::Episodic),
            (3, "lives_in Oslo".to_owned(), Layer::Profile),
        ];
        assert_eq!(units, expected);
        let again = store.capture(vec![capture(2, "forget this")], &when(9_999)).expect("answered");
        assert!(matches!(again[..], [Kept::Tombstoned { purged: 5 }]), "{again:?}");
    }
}

#[test]
fn another_version_is_refused_by_name() {
    let files = Faulty::new();
    sample(&files);
    let path = files.all().into_iter().find(|(path, _)| path.ends_with(".log")).expect("a log").0;
    files.damage(&path, |bytes| {
        bytes[8] = 2;
        let crc = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
        // The snapshot would stand in for the first segment otherwise.
    });
    let refused = try_open(&files).expect_err("another version");
    assert!(matches!(refused, StoreError::Version { found: 2, expected: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("hint:"));
}
