//! Every limit has a guest that exceeds it, and ends with the fault that names the limit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use loopwright_contract::{
    environment::Reply,
    episode::EpisodeHost as _,
    fault::{Budget, CallFault, GuestFault, HostFault},
    limits::PluginLimits,
};
use loopwright_engine::{EngineConfig, Outcome, Scratch};
use serde_json::{Value, json};

use crate::{
    episode::notes,
    support::{
        call, candidate, check, config, engines, environment,
        guest::{EnvironmentGuest, ToolGuest, VerifierGuest, idle_tool},
        host, host_with, open, start, step, task, tool, turn, with_check,
    },
};

/// The fault of a tool that runs `body`, under limits that `change` lowers.
fn fault_of(guest: &ToolGuest, change: impl FnOnce(&mut PluginLimits)) -> GuestFault {
    let mut limits = PluginLimits::default();
    change(&mut limits);
    let config = EngineConfig { limits, ..config() };
    let host = host_with(engines(), config, &[tool(guest), tool(&idle_tool("neighbour")), environment()]);
    let mut episode = open(&host, &task("world"));
    let before = episode.state_digest();
    let name = guest.name.replace('-', "_");
    let result = step(&mut *episode, call("c", &name, json!({}))).unwrap();
    assert!(
        matches!(&result.feedback[0].reply, Reply::Failed(failure) if failure.code == 503),
        "{:?}",
        result.feedback
    );
    let fault = episode.invocations()[0].fault.clone().unwrap();
    // The neighbour and the state are as they were.
    assert_eq!(episode.state_digest(), before);
    assert!(matches!(
        step(&mut *episode, call("c", "neighbour", json!({}))).unwrap().feedback[0].reply,
        Reply::Done(_)
    ));
    fault
}

fn spent(budget: Budget, limit: u64) -> GuestFault {
    GuestFault::Budget { budget, limit }
}

fn running(body: &str) -> ToolGuest {
    let body = body.to_owned();
    ToolGuest::new("greedy", move |image| {
        let ok = image.success("done", "null");
        format!("{body} (i32.const {ok})")
    })
}

#[test]
fn fuel() {
    assert_eq!(
        fault_of(&running("(loop $again (br $again))"), |limits| limits.call_fuel = 100_000),
        spent(Budget::Fuel, 100_000)
    );
}

#[test]
fn fuel_of_instantiation() {
    let mut guest = idle_tool("greedy");
    guest.parts = "(func $start (local $n i32) (loop $again (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $again (i32.lt_u (local.get $n) (i32.const 100000))))) (start $start)".into();
    let config =
        EngineConfig { limits: PluginLimits { instantiate_fuel: 1_000, ..PluginLimits::default() }, ..config() };
    let error = loopwright_engine::inspect(&engines(), &config, &tool(&guest)).err().unwrap();
    assert!(
        loopwright_contract::fault::chain(&error).contains("instantiation failed: spent its fuel budget of 1000"),
        "{}",
        loopwright_contract::fault::chain(&error)
    );
}

#[test]
fn memory_that_grows() {
    let guest =
        running("(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable");
    assert_eq!(fault_of(&guest, |limits| limits.memory_bytes = 8 << 20), spent(Budget::Memory, 8 << 20));
}

#[test]
fn memories_are_summed() {
    // Each is within the limit, both together are not.
    let mut guest = running("(drop (memory.grow $second (i32.const 32))) (drop (memory.grow 0 (i32.const 32)))");
    guest.parts = "(memory $second 32)".into();
    assert_eq!(fault_of(&guest, |limits| limits.memory_bytes = 5 << 20), spent(Budget::Memory, 5 << 20));
}

#[test]
fn tables_are_summed() {
    let mut guest = running(
        "(drop (table.grow $one (ref.null func) (i32.const 60))) (drop (table.grow $two (ref.null func) (i32.const 60)))",
    );
    guest.parts = "(table $one 0 funcref) (table $two 0 funcref)".into();
    assert_eq!(fault_of(&guest, |limits| limits.table_elements = 100), spent(Budget::Tables, 100));
}

#[test]
fn native_stack() {
    let mut guest = running("(drop (call $deeper (i32.const 1)))");
    guest.parts = "(func $deeper (param i32) (result i32) (i32.add (i32.const 1) (call $deeper (local.get 0))))".into();
    assert_eq!(fault_of(&guest, |_| ()), spent(Budget::Stack, 512 * 1024));
}

#[test]
fn bytes_that_the_host_copies_are_summed_over_calls() {
    let guest = running("(loop $again (call $log (i32.const 0) (i32.const 0x20000) (i32.const 1000)) (br $again))");
    let guest = ToolGuest { pages: 4, ..guest };
    assert_eq!(fault_of(&guest, |limits| limits.host_bytes = 100_000), spent(Budget::HostBytes, 100_000));
    // Calls without a byte are not free.
    let guest = running("(loop $again (drop (call $now)) (br $again))");
    assert_eq!(fault_of(&guest, |limits| limits.host_bytes = 100_000), spent(Budget::HostBytes, 100_000));
}

#[test]
fn bytes_of_one_crossing() {
    let guest = ToolGuest { pages: 64, ..running("(call $log (i32.const 0) (i32.const 0) (i32.const 4000000))") };
    assert_eq!(fault_of(&guest, |limits| limits.host_bytes = 1 << 20), spent(Budget::HostBytes, 1 << 20));
}

#[test]
fn bytes_that_the_host_reads_back() {
    // It reads one large document again and again.
    let mut guest = ToolGuest::new("greedy", |image| {
        let (name, name_len) = image.text("greedy");
        let (key, key_len) = image.text("big");
        format!(
            "(local.set $a (call $alloc (i32.const 32))) (loop $again (call $get (i32.const {name}) (i32.const {name_len}) (i32.const {key}) (i32.const {key_len}) (local.get $a)) (call $reset) (br $again)) unreachable"
        )
    });
    guest.catalogue.collections[0].initial = vec![("big".into(), json!("x".repeat(60_000)))];
    assert_eq!(fault_of(&guest, |limits| limits.host_bytes = 1 << 20), spent(Budget::HostBytes, 1 << 20));
}

/// A tool that does something five times, which is little in bytes of its own.
fn five_times(imports: &str, body: &'static str, documents: Vec<(String, serde_json::Value)>) -> ToolGuest {
    let mut guest = ToolGuest::new("greedy", move |image| {
        let (name, name_len) = image.text("greedy");
        let ok = image.success("done", "null");
        let body = body.replace("NAME", &format!("(i32.const {name}) (i32.const {name_len})"));
        format!(
            "(local.set $a (call $alloc (i32.const 64))) (local.set $c (i32.const 5))
             (loop $again {body} (br_if $again (local.tee $c (i32.sub (local.get $c) (i32.const 1)))))
             (i32.const {ok})"
        )
    });
    guest.imports.push_str(imports);
    guest.catalogue.collections[0].initial = documents;
    guest
}

#[test]
fn documents_that_a_query_examines_and_a_patch_rewrites() {
    let find = r#"(import "loopwright:afv/state-read@0.1.0" "find" (func $find (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))"#;
    let many = (0..1000).map(|number| (format!("k{number}"), json!(1))).collect();
    let all = "(call $find NAME (i32.const 8) (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $a))";
    let patch =
        r#"(import "loopwright:afv/state-write@0.1.0" "patch" (func $patch (param i32 i32 i32 i32 i32 i32 i32)))"#;
    let large = vec![("k".to_owned(), json!({"text": "x".repeat(16_000)}))];
    let rewrite = "(i32.store8 (i32.const 64) (i32.const 0x6b)) (i32.store16 (i32.const 66) (i32.const 0x7d7b)) (call $patch NAME (i32.const 64) (i32.const 1) (i32.const 66) (i32.const 2) (local.get $a)) (if (i32.load8_u (local.get $a)) (then unreachable))";
    for guest in [five_times(find, all, many), five_times(patch, rewrite, large)] {
        // At least 16,000 bytes each time, and hardly any that cross.
        assert_eq!(fault_of(&guest, |limits| limits.host_bytes = 70_000), spent(Budget::HostBytes, 70_000));
        let host = host(&[tool(&guest)]);
        let called = Scratch::new(&host, &start(), None).unwrap().call(&call("c", "greedy", json!({}))).unwrap();
        assert!(matches!(called.outcome, Outcome::Ok(_)), "{called:?}");
    }
}

#[test]
fn bytes_of_a_result() {
    let guest = ToolGuest {
        pages: 8,
        ..ToolGuest::new("greedy", |_| {
            "(local.set $a (call $alloc (i32.const 32)))
             (memory.fill (i32.const 0x20000) (i32.const 0x20) (i32.const 300000))
             (i32.store (local.get $a) (i32.const 0))
             (i64.store offset=4 align=4 (local.get $a) (i64.const 8))
             (i32.store offset=12 (local.get $a) (i32.const 0x20000)) (i32.store offset=16 (local.get $a) (i32.const 300000))
             (local.get $a)"
                .into()
        })
    };
    assert_eq!(fault_of(&guest, |_| ()), spent(Budget::Output, 256 * 1024));
}

#[test]
fn handles() {
    let verifier = VerifierGuest::new("greedy", "(loop $again (drop (call $initial)) (br $again))");
    let host = host(&[tool(&notes()), environment(), candidate("greedy", verifier.build())]);
    let mut episode = open(&host, &with_check(task("world"), "greedy"));
    let fault = episode.judge(0, &check("greedy"), &[0]).err().unwrap();
    assert!(
        matches!(fault, CallFault::Guest { fault: GuestFault::Budget { budget: Budget::Handles, limit: 256 }, .. }),
        "{fault:?}"
    );
    // Handles that are dropped are free again.
    let verifier = VerifierGuest::new(
        "tidy",
        "(local.set $c (i32.const 1000)) (loop $again (call $drop_snapshot (call $initial)) (br_if $again (local.tee $c (i32.sub (local.get $c) (i32.const 1)))))",
    );
    let host = host_with(engines(), config(), &[tool(&notes()), environment(), candidate("tidy", verifier.build())]);
    let mut episode = open(&host, &with_check(task("world"), "tidy"));
    assert!(episode.judge(0, &check("tidy"), &[0]).is_ok());
}

#[test]
fn invocations_of_a_turn() {
    let mut guest = EnvironmentGuest::new("busy");
    guest.after_call = "(loop $again (call $invoke
        (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)) (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at))
        (i32.load offset=16 (local.get $at)) (i32.load offset=20 (local.get $at)) (i32.const 2) (i32.const 512))
        (br_if $again (i32.ne (i32.load8_u (i32.const 512)) (i32.const 2))))"
        .into();
    let host = host(&[tool(&notes()), candidate("busy", guest.build())]);
    let mut episode = open(&host, &task("busy"));
    step(&mut *episode, call("k", "read", json!({}))).unwrap();
    assert_eq!(episode.invocations().len(), 257);
    assert!(matches!(&episode.invocations()[256].fault, Some(GuestFault::Denied { what }) if what.contains("256")));
}

#[test]
fn the_tail_of_the_log_is_kept() {
    let guest = |request: Value| ToolGuest {
        pages: 4,
        request,
        ..running(
            "(memory.fill (i32.const 0x20000) (i32.const 0x61) (i32.const 4000)) (local.set $c (i32.const 30)) (loop $again (call $log (i32.const 0) (i32.const 0x20000) (i32.const 4000)) (br_if $again (local.tee $c (i32.sub (local.get $c) (i32.const 1)))))",
        )
    };
    let asked = |bytes: u64| json!([{"capability": "log", "bytes": bytes}]);
    // What every plugin has, what it asked for and was given, and what the operator's limit leaves of it.
    for (request, kept) in [(Value::Null, 4 * 1024), (asked(9_000), 9_000), (asked(1024 * 1024), 64 * 1024)] {
        let host = host(&[tool(&guest(request))]);
        let mut scratch = Scratch::new(&host, &start(), None).unwrap();
        let called = scratch.call(&call("c", "greedy", json!({}))).unwrap();
        assert!(matches!(called.outcome, Outcome::Ok(_)), "{called:?}");
        let bytes: usize = called.log.iter().map(String::len).sum();
        assert!(
            bytes <= kept && bytes > kept - 4_000 && called.log_dropped as usize + bytes == 120_000,
            "{kept}: {bytes} {}",
            called.log_dropped
        );
    }
}

/// Runs `work` while another thread moves the epoch, so that a deadline passes without anybody waiting for it.
fn while_ticking<T>(engines: &Arc<loopwright_engine::Engines>, work: impl FnOnce() -> T) -> T {
    let done = Arc::new(AtomicBool::new(false));
    let ticking = thread::spawn({
        let (engines, done) = (Arc::clone(engines), Arc::clone(&done));
        move || {
            while !done.load(Ordering::Relaxed) {
                engines.tick();
                thread::yield_now();
            }
        }
    });
    let result = work();
    done.store(true, Ordering::Relaxed);
    ticking.join().unwrap();
    result
}

#[test]
fn a_deadline_makes_the_episode_void() {
    let limits =
        PluginLimits { call_fuel: u64::MAX / 2, call_deadline: Duration::from_millis(100), ..PluginLimits::default() };
    let config = EngineConfig { limits, ..config() };
    let engines = Arc::new(loopwright_engine::Engines::new(&config).unwrap());
    let spinning =
        EnvironmentGuest { before_step: "(loop $again (br $again))".into(), ..EnvironmentGuest::new("spins") };
    let judge = VerifierGuest::new("spins-too", "(loop $again (br $again))");
    let host = host_with(
        engines.clone(),
        config,
        &[
            tool(&running("(loop $again (br $again))")),
            environment(),
            candidate("spins", spinning.build()),
            candidate("spins-too", judge.build()),
        ],
    );
    for (environment, tool) in [("spins", "greedy"), ("world", "greedy")] {
        let mut episode = open(&host, &task(environment));
        let before = episode.state_digest();
        let fault = while_ticking(&engines, || episode.step(&turn(vec![call("c", tool, json!({}))]))).err().unwrap();
        assert!(matches!(fault, CallFault::Host(HostFault::Deadline { limit_ms: 100 })), "{fault:?}");
        assert_eq!(episode.state_digest(), before);
    }
    let mut episode = open(&host, &with_check(task("world"), "spins-too"));
    let fault = while_ticking(&engines, || episode.judge(0, &check("spins-too"), &[0])).err().unwrap();
    assert!(matches!(fault, CallFault::Host(HostFault::Deadline { .. })), "{fault:?}");
}

#[test]
fn a_nested_call_has_no_more_time_than_its_caller() {
    // The tool may run for an hour by itself, its environment for 100 ms.
    let mut config = EngineConfig {
        limits: PluginLimits {
            call_fuel: u64::MAX / 2,
            call_deadline: Duration::from_secs(3_600),
            ..PluginLimits::default()
        },
        ..config()
    };
    config
        .limits_for
        .insert("world".parse().unwrap(), PluginLimits { call_deadline: Duration::from_millis(100), ..config.limits });
    let engines = Arc::new(loopwright_engine::Engines::new(&config).unwrap());
    let host = host_with(engines.clone(), config, &[tool(&running("(loop $again (br $again))")), environment()]);
    let mut episode = open(&host, &task("world"));
    let fault = while_ticking(&engines, || episode.step(&turn(vec![call("c", "greedy", json!({}))]))).err().unwrap();
    assert!(matches!(fault, CallFault::Host(HostFault::Deadline { limit_ms: 100 })), "{fault:?}");
}

#[test]
fn malformed_crossings_are_faults_of_the_guest() {
    for (body, part) in [
        ("(call $log (i32.const 0) (i32.const 8) (i32.const 0x7fffffff))", "out"),
        (
            "(memory.fill (i32.const 512) (i32.const 255) (i32.const 8)) (call $log (i32.const 0) (i32.const 512) (i32.const 8))",
            "utf-8",
        ),
        ("(call $log (i32.const 9) (i32.const 8) (i32.const 0))", "discriminant"),
        ("(return (i32.const 3))", "align"),
        ("(return (i32.const 0x7ffffff0))", "out"),
    ] {
        match fault_of(&running(body), |_| ()) {
            GuestFault::Trapped { reason } => assert!(reason.to_lowercase().contains(part), "{body}: {reason}"),
            other => panic!("{body}: {other}"),
        }
    }
}

#[test]
fn results_that_break_the_contract_are_faults_of_the_guest() {
    for (data, part) in [
        ("{", "EOF"),
        ("{\"a\":1,\"a\":2}", "duplicate"),
        ("1e999", "range"),
        ("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "32 levels"),
    ] {
        let guest = ToolGuest::new("greedy", move |image| format!("(i32.const {})", image.success("done", data)));
        match fault_of(&guest, |_| ()) {
            GuestFault::Contract { what } => assert!(what.contains(part), "{data}: {what}"),
            other => panic!("{data}: {other}"),
        }
    }
    let mut guest = ToolGuest::new("greedy", |image| format!("(i32.const {})", image.success("done", "5")));
    guest.catalogue.tools[0].result_schema = json!({"type": "string"});
    assert!(matches!(fault_of(&guest, |_| ()), GuestFault::Contract { what } if what.contains("own schema")));
}

#[test]
fn a_trap_loop_does_not_use_the_host_up() {
    let host = host(&[tool(&running("unreachable")), environment()]);
    let mut episode = open(&host, &task("world"));
    for _ in 0..500 {
        assert!(step(&mut *episode, call("c", "greedy", json!({}))).is_ok());
    }
    assert_eq!(episode.steps().len(), 500);
    assert!(host.plugins().len() == 2);
}
