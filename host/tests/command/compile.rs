//! The compiler process, as the host starts it: this binary with its hidden command.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use loopwright_contract::episode::PluginKind;
use loopwright_engine::{
    CacheConfig, CacheKey, Candidate, ChildCompiler, CompileFault, CompileLimits, EngineConfig, Engines, Origin,
    Refusal, ThirdPartyCompiler, Trust, inspect,
};
use loopwright_testkit::guests::hostile::neighbours;

use crate::binary;

fn compiler(limits: CompileLimits) -> ThirdPartyCompiler {
    let arguments = vec![loopwright::cli::COMPILE_COMMAND.into()];
    ThirdPartyCompiler(Some(Arc::new(ChildCompiler { program: binary().to_owned(), arguments, limits })))
}

fn strangers(name: &str, bytes: Vec<u8>) -> Candidate {
    Candidate { kind: Some(PluginKind::Tool), trust: Trust::ThirdParty, ..Candidate::new(name.parse().unwrap(), bytes) }
}

fn fault(limits: CompileLimits, bytes: Vec<u8>) -> CompileFault {
    let config = EngineConfig { compiler: compiler(limits), ..EngineConfig::default() };
    let engines = Arc::new(Engines::new(&config).unwrap());
    let fault = match inspect(&engines, &config, &strangers("strange", bytes)).err().unwrap().reason {
        Refusal::Compile(fault) => fault,
        other => panic!("{other:?}"),
    };
    // The host goes on, and so does its compiler.
    let [(name, neighbour), ..] = neighbours().unwrap();
    let config = EngineConfig { compiler: compiler(CompileLimits::default()), ..config };
    inspect(&engines, &config, &strangers(name, neighbour)).unwrap();
    fault
}

/// A component that is cheap to ship and dear to compile: functions in which every value is live to the end.
fn huge(functions: usize, values: usize) -> Vec<u8> {
    let mut wat = String::from("(component (core module (memory 1)\n");
    for function in 0..functions {
        let _ = write!(wat, "(func (export \"f{function}\") (param i32) (result i32) (local.get 0)");
        for value in 0..values {
            let _ = write!(wat, " (i32.load offset={value} (local.get 0))");
        }
        for _ in 0..values {
            wat.push_str(" i32.xor");
        }
        wat.push_str(")\n");
    }
    wat.push_str("))");
    wat::parse_str(&wat).unwrap()
}

#[test]
fn a_strangers_component_is_compiled_by_the_command_and_kept_under_the_hosts_key() {
    let folder = tempfile::tempdir().unwrap();
    let [(name, bytes), ..] = neighbours().unwrap();
    let cache = Some(CacheConfig { folder: folder.path().to_owned(), key: CacheKey::new([1; 32]) });
    let config = EngineConfig { compiler: compiler(CompileLimits::default()), cache, ..EngineConfig::default() };
    for origin in [Origin::Compiled, Origin::Disk] {
        let engines = Arc::new(Engines::new(&config).unwrap());
        assert!(engines.is_pooled(), "the code must fit an engine with pools");
        assert_eq!(inspect(&engines, &config, &strangers(name, bytes.clone())).unwrap().origin, origin);
    }
    // The compiler says no in the words in which this process would.
    let broken = [b"\0asm\x0d\0\x01\0".as_slice(), &[0xff; 64]].concat();
    let engines = Arc::new(Engines::new(&config).unwrap());
    let refused = inspect(&engines, &config, &strangers("broken", broken.clone())).err().unwrap().reason;
    let own = Candidate { trust: Trust::FirstParty, ..strangers("broken", broken) };
    let here = inspect(&engines, &config, &own).err().unwrap().reason;
    assert!(matches!(&refused, Refusal::NotAComponent { .. }), "{refused:?}");
    assert_eq!(refused.to_string(), here.to_string());
}

#[test]
fn a_component_that_takes_too_long_is_refused_and_the_host_goes_on() {
    let limits = CompileLimits { cpu_s: 1, ..CompileLimits::default() };
    let slow = fault(limits, huge(2_000, 500));
    assert!(matches!(slow, CompileFault::TooLong { limit_ms: 1_000, of: "processor time" }), "{slow:?}");
    let limits = CompileLimits { wall: Duration::from_millis(100), ..CompileLimits::default() };
    let slow = fault(limits, huge(2_000, 500));
    assert!(matches!(slow, CompileFault::TooLong { limit_ms: 100, of: "time" }), "{slow:?}");
}

#[test]
fn a_component_that_takes_too_much_memory_is_refused_and_the_host_goes_on() {
    // Enough for the process to start in, and less than one function of so many live values takes.
    let limits = CompileLimits { memory_bytes: 400 * 1024 * 1024, ..CompileLimits::default() };
    let greedy = fault(limits, huge(1, 400_000));
    assert!(matches!(greedy, CompileFault::TooMuchMemory { .. }), "{greedy:?}");
}
