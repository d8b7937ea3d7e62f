//! What decides costs must not decide bytes: allocators, instance policies, forks.

use loopwright_contract::{
    episode::{Episode, EpisodeHost as _},
    fault::{CallFault, GuestFault},
    skill::SkillCard,
};
use loopwright_engine::{Allocator, EngineConfig, Engines, InstancePolicy, PluginHost, PoolSize, Ticker};
use serde_json::json;

use crate::{
    episode::notes,
    support::{
        call, candidate, check, config, engines, engines_on_demand, environment,
        guest::{EnvironmentGuest, ToolGuest, VerifierGuest, spec},
        host, host_with, open, step, task, tool, trace, turn, with_check,
    },
};

/// A tool that counts its calls in its own memory, which it must not, and one that draws and stores a random number.
fn candidates() -> Vec<loopwright_engine::Candidate> {
    let mut dice = ToolGuest::new("dice", |image| {
        let (name, name_len) = image.text("dice");
        let ok = image.success("done", "null");
        // The document is `"` and 16 letters made out of the number, and `"`.
        format!(
            "(local.set $a (call $alloc (i32.const 32)))
             (i32.store8 (i32.const 700) (i32.const 34)) (i32.store8 (i32.const 709) (i32.const 34))
             (i64.store (i32.const 701) (i64.or (i64.and (call $random) (i64.const 0x0f0f0f0f0f0f0f0f)) (i64.const 0x4040404040404040)))
             (call $put (i32.const {name}) (i32.const {name_len}) (local.get $id) (local.get $id_len) (i32.const 700) (i32.const 10) (local.get $a))
             (i32.const {ok})"
        )
    });
    dice.catalogue.tools = vec![spec("dice")];
    vec![tool(&notes()), tool(&dice), environment(), candidate("judge", VerifierGuest::new("judge", "").build())]
}

fn play(
    host: &PluginHost,
    fork_at: Option<usize>,
) -> Vec<(String, String, loopwright_contract::digest::StateDigest, u64)> {
    let mut episode = open(host, &with_check(task("world"), "judge"));
    let script = ["put", "dice", "fail", "new", "trap", "dice", "new", "delete", "put"];
    let mut seen = Vec::new();
    for (position, name) in script.iter().enumerate() {
        if fork_at == Some(position) {
            let fork = episode.fork().unwrap();
            // What the first one does from here on must not reach the second.
            step(&mut *episode, call("stray", "put", json!({"value": position}))).unwrap();
            episode = fork;
        }
        let calls = vec![
            call(&format!("k{}", position % 3), name, json!({"value": position})),
            call(&format!("x{position}"), "dice", json!({})),
        ];
        let result = episode.step(&turn(calls)).unwrap();
        let (steps, invocations, digest, now) = trace(&*episode);
        seen.push((
            steps + &serde_json::to_string(&result).unwrap() + &serde_json::to_string(&episode.changes()).unwrap(),
            invocations,
            digest,
            now,
        ));
        episode.end_turn();
    }
    let judged = episode.judge(0, &check("judge"), &[0, 5, 18]).unwrap();
    seen.push((serde_json::to_string(&judged).unwrap(), String::new(), episode.state_digest(), 0));
    seen
}

#[test]
fn dropping_every_instance_gives_the_same_bytes() {
    let keep = host_with(engines(), config(), &candidates());
    let drop =
        host_with(engines(), EngineConfig { instances: InstancePolicy::DropAfterCall, ..config() }, &candidates());
    assert_eq!(play(&keep, None), play(&drop, None));
}

#[test]
fn pooled_and_on_demand_give_the_same_bytes_and_fuel() {
    assert!(engines().is_pooled() && !engines_on_demand().is_pooled());
    let pooled = host_with(engines(), config(), &candidates());
    let on_demand = host_with(engines_on_demand(), config(), &candidates());
    assert_eq!(play(&pooled, None), play(&on_demand, None));
}

#[test]
fn a_fork_anywhere_goes_on_as_if_nothing_was() {
    let host = host_with(engines(), config(), &candidates());
    let whole = play(&host, None);
    for at in 0..9 {
        assert_eq!(play(&host, Some(at)), whole, "fork before turn {at}");
    }
}

#[test]
fn two_episodes_of_a_task_do_not_see_each_other() {
    let host = host_with(engines(), config(), &candidates());
    let prepared = host.prepare(&task("world")).unwrap();
    let mut episodes: Vec<Box<dyn Episode>> = (0..3).map(|_| prepared.open().unwrap()).collect();
    for episode in &mut episodes {
        episode.reset().unwrap();
    }
    for id in ["a", "b"] {
        for episode in &mut episodes {
            step(&mut **episode, call(id, "new", json!({}))).unwrap();
        }
    }
    let traces: Vec<_> = episodes.iter().map(|episode| trace(&**episode)).collect();
    assert!(traces.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_stateful_environment_cannot_be_forked_and_keeps_its_instance() {
    // It counts its turns in its own memory and traps at the fourth.
    let guest = EnvironmentGuest {
        ext: vec![("stateful", "true")],
        before_step: "(i32.store (i32.const 512) (i32.add (i32.const 1) (i32.load (i32.const 512)))) (if (i32.eq (i32.load (i32.const 512)) (i32.const 4)) (then unreachable))".into(),
        ..EnvironmentGuest::new("counts")
    };
    let config = EngineConfig { instances: InstancePolicy::DropAfterCall, ..config() };
    let host = host_with(engines(), config, &[tool(&notes()), candidate("counts", guest.build())]);
    let mut episode = open(&host, &task("counts"));
    assert!(matches!(episode.fork().err().unwrap(), CallFault::Guest { fault: GuestFault::Denied { .. }, .. }));
    for _ in 0..3 {
        step(&mut *episode, call("k", "put", json!({}))).unwrap();
    }
    assert!(step(&mut *episode, call("k", "put", json!({}))).is_err());
    // A reset is a new instance.
    assert!(step(&mut *open(&host, &task("counts")), call("k", "put", json!({}))).is_ok());
}

#[test]
fn a_pool_that_the_machine_cannot_give_falls_back() {
    let impossible = PoolSize { tools: 30_000, environments: 30_000, verifiers: 30_000, ..PoolSize::default() };
    let auto = EngineConfig { pool: impossible, ticker: Ticker::Manual, ..EngineConfig::default() };
    let engines = Engines::new(&auto).unwrap();
    assert!(!engines.is_pooled());
    assert!(Engines::new(&EngineConfig { allocator: Allocator::Pooling, ..auto }).is_err());
}

#[test]
fn a_full_pool_is_a_fault_that_says_what_to_do() {
    let config =
        EngineConfig { pool: PoolSize { environments: 2, ..config().pool }, allocator: Allocator::Pooling, ..config() };
    let engines = std::sync::Arc::new(Engines::new(&config).unwrap());
    let host = host_with(engines, config, &[tool(&notes()), environment()]);
    let prepared = host.prepare(&task("world")).unwrap();
    let held = [prepared.open().unwrap(), prepared.open().unwrap()];
    let error = prepared.open().err().unwrap().to_string();
    assert!(error.contains("pool is full") && error.contains("hint:"), "{error}");
    drop(held);
    assert!(prepared.open().is_ok());
}

#[test]
fn skills_read_and_do_not_change_bytes() {
    let card = SkillCard {
        name: "s".parse().unwrap(),
        summary: vec![loopwright_contract::tool::Localized { lang: "en".parse().unwrap(), text: "x".into() }],
        about: vec![],
        exposes: vec![],
    };
    let host = host(&[
        tool(&notes()),
        environment(),
        candidate("s", crate::support::guest::skill("s", &card, "g", "(global.get $warn)")),
    ]);
    let (mut with, mut without) = (open(&host, &task("world")), open(&host, &task("world")));
    with.skill_check(&card.name, &call("k", "put", json!({}))).unwrap();
    for episode in [&mut with, &mut without] {
        step(&mut **episode, call("k", "new", json!({}))).unwrap();
    }
    assert_eq!(trace(&*with), trace(&*without));
}
