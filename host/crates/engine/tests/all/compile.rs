//! Components of third parties are compiled away from the host, and whatever their compiler does is an error of one installation.

use std::{
    ffi::OsString,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use loopwright_contract::{episode::PluginKind, fault::chain};
use loopwright_engine::{
    CacheConfig, CacheKey, Candidate, ChildCompiler, CompileFault, CompileLimits, Compiler, EngineClass, EngineConfig,
    Engines, Origin, Refusal, ThirdPartyCompiler, Trust, inspect,
};

use crate::support::{candidate, config, engines, engines_on_demand, guest::idle_tool, tool};

/// A stranger's component.
fn strangers() -> Candidate {
    Candidate { trust: Trust::ThirdParty, kind: Some(PluginKind::Tool), ..tool(&idle_tool("strange")) }
}

fn with(compiler: impl Compiler + 'static) -> EngineConfig {
    EngineConfig { compiler: ThirdPartyCompiler(Some(Arc::new(compiler))), ..config() }
}

/// A compiler process that runs a script instead.
fn script(text: &str, limits: CompileLimits) -> ChildCompiler {
    // Arguments of the host follow: class, seconds, bytes.
    let arguments: Vec<OsString> = ["-c", text, "compiler"].map(OsString::from).into();
    ChildCompiler { program: "/bin/sh".into(), arguments, limits }
}

fn fault(compiler: impl Compiler + 'static) -> CompileFault {
    let engines = Arc::new(Engines::new(&config()).unwrap());
    let config = with(compiler);
    let fault = match inspect(&engines, &config, &strangers()).err().unwrap().reason {
        Refusal::Compile(fault) => fault,
        other => panic!("{other:?}"),
    };
    // The host goes on, also with the same engines.
    assert!(inspect(&engines, &config, &tool(&idle_tool("neighbour"))).is_ok());
    fault
}

/// What a compiler process would hand back, made here.
struct Honest(Arc<AtomicUsize>);

impl Compiler for Honest {
    fn compile(&self, class: EngineClass, component: &[u8]) -> Result<Vec<u8>, CompileFault> {
        self.0.fetch_add(1, Ordering::Relaxed);
        // On demand, as in a process that reserves no pool: the code is the same.
        let engines = engines_on_demand();
        engines.engine(class).precompile_component(component).map_err(|error| CompileFault::Refused(error.to_string()))
    }
}

/// Hands back these bytes.
struct Says(Vec<u8>);

impl Compiler for Says {
    fn compile(&self, _: EngineClass, _: &[u8]) -> Result<Vec<u8>, CompileFault> {
        Ok(self.0.clone())
    }
}

#[test]
fn a_strangers_component_needs_a_compiler_and_an_own_one_does_not() {
    let refused = inspect(&engines(), &config(), &strangers()).err().unwrap();
    assert!(matches!(refused.reason, Refusal::Compile(CompileFault::NoCompiler)), "{refused:?}");
    assert!(chain(&refused).contains("hint:"), "{}", chain(&refused));
    let asked = Arc::new(AtomicUsize::new(0));
    let config = with(Honest(Arc::clone(&asked)));
    let fresh = Arc::new(Engines::new(&config).unwrap());
    assert!(fresh.is_pooled());
    assert_eq!(inspect(&fresh, &config, &strangers()).unwrap().origin, Origin::Compiled);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // Its own is not handed to the compiler.
    inspect(&fresh, &config, &tool(&idle_tool("own"))).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(Candidate::new("x".parse().unwrap(), vec![]).trust, Trust::ThirdParty, "nobody is trusted by default");
}

#[test]
fn what_was_handed_back_is_kept_under_the_hosts_key() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let with_key = |key: u8| EngineConfig {
        cache: Some(CacheConfig { folder: folder.path().to_owned(), key: CacheKey::new([key; 32]) }),
        ..with(Honest(Arc::clone(&asked)))
    };
    for (key, origin, times) in [(1, Origin::Compiled, 1), (1, Origin::Disk, 1), (2, Origin::Compiled, 2)] {
        let config = with_key(key);
        let engines = Arc::new(Engines::new(&config).unwrap());
        assert_eq!(inspect(&engines, &config, &strangers()).unwrap().origin, origin, "key {key}");
        assert_eq!(asked.load(Ordering::Relaxed), times, "key {key}");
    }
}

#[test]
fn garbage_is_neither_loaded_nor_kept() {
    let other_class = engines().engine(EngineClass::Verifier).precompile_component(&strangers().bytes).unwrap();
    let module = engines().engine(EngineClass::Tool).precompile_module(&wat::parse_str("(module)").unwrap()).unwrap();
    let own = engines().engine(EngineClass::Tool).precompile_component(&strangers().bytes).unwrap();
    for (bytes, part) in [
        (Vec::new(), "0 bytes"),
        (b"\x7fELF and nothing else".to_vec(), "no machine code"),
        (module, "core module"),
        (other_class, ""),
        (own[..own.len() / 2].to_vec(), ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let config = EngineConfig {
            cache: Some(CacheConfig { folder: folder.path().to_owned(), key: CacheKey::new([1; 32]) }),
            ..with(Says(bytes))
        };
        let engines = Arc::new(Engines::new(&config).unwrap());
        match inspect(&engines, &config, &strangers()).err().unwrap().reason {
            Refusal::Compile(CompileFault::Garbage { what }) => assert!(what.contains(part), "{what}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_process_that_misbehaves_is_a_fault_of_its_own_kind() {
    let limits = CompileLimits { code_bytes: 100_000, ..CompileLimits::default() };
    let died = fault(script("echo boom >&2; kill -9 $$", limits));
    assert!(
        matches!(&died, CompileFault::Died { how } if how.contains("signal: 9") && how.contains("boom")),
        "{died:?}"
    );
    let died = fault(script("exit 3", limits));
    assert!(matches!(&died, CompileFault::Died { how } if how.contains("exit status: 3")), "{died:?}");
    let memory = fault(script("echo 'memory allocation of 8 bytes failed' >&2; kill -6 $$", limits));
    assert!(matches!(memory, CompileFault::TooMuchMemory { .. }), "{memory:?}");
    for text in ["cat > /dev/null; echo nonsense", "exit 0", "printf 'LWC1\\0\\377\\0\\0\\0\\0\\0\\0\\0short'"] {
        let garbage = fault(script(text, limits));
        assert!(matches!(garbage, CompileFault::Garbage { .. }), "{text}: {garbage:?}");
    }
    let flood = fault(script("exec cat /dev/zero", limits));
    assert!(matches!(flood, CompileFault::TooMuchCode { limit_bytes: 100_000 }), "{flood:?}");
    let missing = ChildCompiler { program: "/nowhere/compiler".into(), arguments: vec![], limits };
    assert!(matches!(fault(missing), CompileFault::Start(_)));
}

#[test]
fn a_process_that_does_not_end_is_ended() {
    let limits = CompileLimits { wall: Duration::from_millis(200), ..CompileLimits::default() };
    // It neither reads nor writes; it answers nothing and closes its pipes; it spins.
    for text in ["exec sleep 600", "exec sleep 600 <&- >&- 2>&-", "while :; do :; done"] {
        let slow = fault(script(text, limits));
        assert!(matches!(slow, CompileFault::TooLong { limit_ms: 200, of: "time" }), "{text}: {slow:?}");
    }
    let busy = script("ulimit -t 1; while :; do :; done", CompileLimits { cpu_s: 1, ..CompileLimits::default() });
    let slow = fault(busy);
    assert!(matches!(slow, CompileFault::TooLong { of: "processor time", .. } | CompileFault::Died { .. }), "{slow:?}");
}

#[test]
fn a_process_gets_no_variable_and_no_folder_of_the_hosts() {
    // What it sees of its surroundings comes back as its last words.
    let text = "echo \"$(pwd) $1 $2 $3 $(env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | wc -l)\" >&2; exit 9";
    let limits = CompileLimits { cpu_s: 7, memory_bytes: 1_000_000, ..CompileLimits::default() };
    let died = fault(script(text, limits));
    assert!(matches!(&died, CompileFault::Died { how } if how.ends_with("/ tool 7 1000000 0")), "{died:?}");
}

#[test]
fn compiled_code_is_refused_whoever_ships_it() {
    let component = strangers().bytes;
    let compiled = engines().engine(EngineClass::Tool).precompile_component(&component).unwrap();
    let module = engines().engine(EngineClass::Tool).precompile_module(&wat::parse_str("(module)").unwrap()).unwrap();
    let elf = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    for bytes in [compiled, module, elf[..4096].to_vec()] {
        for trust in [Trust::FirstParty, Trust::ThirdParty] {
            let shipped = Candidate { trust, ..candidate("strange", bytes.clone()) };
            let refused = inspect(&engines(), &with(Honest(Arc::default())), &shipped).err().unwrap();
            assert!(matches!(refused.reason, Refusal::Precompiled), "{refused:?}");
        }
    }
}
