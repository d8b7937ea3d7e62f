//! One file of compiled code: a tag of 32 bytes, then the code.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use wasmtime::{Engine, Precompiled, component::Component};

use crate::{CompileFault, config::CacheConfig, fault::one_line};

const TAG_BYTES: usize = 32;
/// Tells apart the temporary files of one process.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// The component in a file; none whatever is wrong with it.
pub(super) fn load(cache: &CacheConfig, name: &str, engine: &Engine) -> Option<Component> {
    let bytes = fs::read(cache.folder.join(name)).ok()?;
    let (tag, code) = bytes.split_at_checked(TAG_BYTES)?;
    if !same(tag, &cache.key.tag(&[name.as_bytes(), code])) {
        tracing::warn!(file = name, "compiled code is not what this host wrote: it is compiled anew");
        return None;
    }
    deserialize(engine, code)
        .inspect_err(|error| tracing::warn!(%error, file = name, "compiled code does not load: it is compiled anew"))
        .ok()
}

/// The component in what a compiler's process handed back just now.
pub(super) fn of_compiler(engine: &Engine, code: &[u8]) -> Result<Component, CompileFault> {
    let garbage = |what: String| CompileFault::Garbage { what };
    match Engine::detect_precompiled(code) {
        Some(Precompiled::Component) => {}
        Some(Precompiled::Module) => return Err(garbage("a core module".into())),
        None => return Err(garbage(format!("{} bytes that are no machine code", code.len()))),
    }
    deserialize(engine, code).map_err(|error| garbage(one_line(&error)))
}

/// Loads machine code. It is for this module alone to call, on bytes whose origin was just established.
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: deserialising trusts its bytes as if they were this program's own code. They come from one of two places. From disk: the tag
    // shows that a holder of this host's key wrote exactly these bytes under this name, and the only code that tags is `store`, with what
    // the same engine version made. From a compiler's process: this program started it itself, on this component, and read the bytes from
    // its pipe; the engine compares version and settings before it uses them. That the compiler is right is assumed here as it is when it
    // runs in this process (see `crate::compile`).
    #[expect(
        unsafe_code,
        reason = "loading compiled code is unsafe by contract; only bytes that this host authenticated or had made get here"
    )]
    unsafe {
        Component::deserialize(engine, code)
    }
}

/// Writes a file beside its place and moves it there, so that no reader ever sees a part of it.
pub(super) fn store(cache: &CacheConfig, name: &str, code: &[u8]) -> io::Result<()> {
    fs::create_dir_all(&cache.folder)?;
    let temporary =
        cache.folder.join(format!("{name}.{}-{}.part", process::id(), WRITES.fetch_add(1, Ordering::Relaxed)));
    let written = write(&temporary, &cache.key.tag(&[name.as_bytes(), code]), code)
        .and_then(|()| fs::rename(&temporary, cache.folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(path: &std::path::Path, tag: &[u8], code: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(tag)?;
    file.write_all(code)?;
    file.sync_all()
}

/// Compares without stopping at the first difference, so that time tells nothing about the tag.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
