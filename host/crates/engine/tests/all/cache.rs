//! Compiled code on disk: used when this host wrote it for this engine, and compiled anew in every other case.

use std::{fs, path::Path, sync::Arc};

use loopwright_engine::{CacheConfig, CacheKey, Candidate, EngineConfig, Engines, Origin, WASMTIME_VERSION, inspect};

use crate::support::{config, guest::idle_tool, tool};

fn with_cache(folder: &Path, key: u8) -> EngineConfig {
    EngineConfig { cache: Some(CacheConfig { folder: folder.to_owned(), key: CacheKey::new([key; 32]) }), ..config() }
}

/// How a new process would have the component.
fn origin(config: &EngineConfig, candidate: &Candidate) -> Origin {
    let engines = Arc::new(Engines::new(config).unwrap());
    let inspected = inspect(&engines, config, candidate).unwrap();
    assert_eq!(inspect(&engines, config, candidate).unwrap().origin, Origin::Memory);
    inspected.origin
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn known(name: &str) -> Candidate {
    // The kind is known, so that one class compiles it.
    Candidate { kind: Some(loopwright_contract::episode::PluginKind::Tool), ..tool(&idle_tool(name)) }
}

#[test]
fn code_is_compiled_once_for_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let config = with_cache(folder.path(), 1);
    let notes = known("notes");
    assert_eq!(origin(&config, &notes), Origin::Compiled);
    assert_eq!(origin(&config, &notes), Origin::Disk);
    let files = files(folder.path());
    assert_eq!(files.len(), 1);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(&notes.digest.to_string()["sha256:".len()..]) && name.ends_with(".cwasm"), "{name}");
}

#[test]
fn a_file_that_this_host_did_not_write_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let config = with_cache(folder.path(), 1);
    let notes = known("notes");
    assert_eq!(origin(&config, &notes), Origin::Compiled);
    let path = files(folder.path()).remove(0);
    let good = fs::read(&path).unwrap();
    let mut flipped = good.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    let mut code_changed = good.clone();
    code_changed[4_000] ^= 0x80;
    for bad in [
        flipped,
        code_changed,
        good[..good.len() / 2].to_vec(),
        good[..31].to_vec(),
        Vec::new(),
        b"not compiled code at all, but longer than the tag".to_vec(),
    ] {
        fs::write(&path, &bad).unwrap();
        assert_eq!(origin(&config, &notes), Origin::Compiled);
        // And it was put right.
        assert!(fs::read(&path).unwrap() == good || origin(&config, &notes) == Origin::Disk);
    }
}

#[test]
fn one_components_code_does_not_pass_for_anothers() {
    let folder = tempfile::tempdir().unwrap();
    let config = with_cache(folder.path(), 1);
    assert_eq!(origin(&config, &known("notes")), Origin::Compiled);
    let evil = files(folder.path()).remove(0);
    assert_eq!(origin(&config, &known("clock")), Origin::Compiled);
    let clock = files(folder.path()).into_iter().find(|path| *path != evil).unwrap();
    fs::copy(&evil, &clock).unwrap();
    assert_eq!(origin(&config, &known("clock")), Origin::Compiled);
}

#[test]
fn another_key_or_class_has_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let notes = known("notes");
    assert_eq!(origin(&with_cache(folder.path(), 1), &notes), Origin::Compiled);
    assert_eq!(origin(&with_cache(folder.path(), 2), &notes), Origin::Compiled);
    assert_eq!(origin(&with_cache(folder.path(), 2), &notes), Origin::Disk);
    // Without a pool the settings are others, and so is the code's name.
    let on_demand = EngineConfig { allocator: loopwright_engine::Allocator::OnDemand, ..with_cache(folder.path(), 2) };
    origin(&on_demand, &notes);
    assert!(!files(folder.path()).is_empty());
}

#[test]
fn a_folder_that_cannot_be_written_costs_only_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    fs::write(&file, b"").unwrap();
    let config = with_cache(&file, 1);
    assert_eq!(origin(&config, &known("notes")), Origin::Compiled);
    assert_eq!(origin(&config, &known("notes")), Origin::Compiled);
}

#[test]
fn nothing_is_left_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let config = with_cache(folder.path(), 1);
    origin(&config, &known("notes"));
    assert!(files(folder.path()).iter().all(|path| path.extension().is_some_and(|extension| extension == "cwasm")));
}

#[test]
fn the_version_in_the_key_is_the_one_in_the_lock_file() {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../Cargo.lock")).unwrap();
    let version = lock.split("name = \"wasmtime\"\nversion = \"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(
        version, WASMTIME_VERSION,
        "WASMTIME_VERSION in src/lib.rs must follow Cargo.lock: code of another patch must not be loaded"
    );
}
