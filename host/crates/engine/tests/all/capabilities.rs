//! What a plugin asks for in its request, and what the operator grants of it: both say, or it is not there.

use std::{collections::BTreeMap, sync::Arc};

use loopwright_contract::{
    capability::Capabilities,
    environment::Reply,
    episode::EpisodeHost as _,
    fault::chain,
    tool::{AccessRule, Effect},
};
use loopwright_engine::{Candidate, EngineConfig, Given, GrantPolicy, InstancePolicy, NoWorlds, PluginHost};
use serde_json::{Value, json};

use crate::{
    episode::notes,
    support::{
        call, candidate, config, engines, environment,
        guest::{PASS_ON, SCRATCH, STATE, TOOL_CALLER, ToolGuest, VerifierGuest, spec},
        open, step, task, tool, trace, turn,
    },
};

fn policy(plugin: &str, given: &Value) -> GrantPolicy {
    let given = Given::Only(Capabilities::parse(given, "").unwrap());
    GrantPolicy { given: BTreeMap::from([(plugin.parse().unwrap(), given)]), otherwise: Given::Nothing }
}

fn install(config: EngineConfig, policy: &GrantPolicy, candidates: &[Candidate]) -> PluginHost {
    PluginHost::install(engines(), config, policy, Arc::new(NoWorlds), candidates)
        .unwrap_or_else(|error| panic!("{}", chain(&error)))
}

fn refused(guest: &ToolGuest) -> String {
    let installed =
        PluginHost::install(engines(), config(), &GrantPolicy::trusting(), Arc::new(NoWorlds), &[tool(guest)]);
    chain(&installed.err().unwrap())
}

fn calls(tools: &[&str]) -> Value {
    json!([{"capability": "tool.call", "tools": tools}])
}

/// A plugin whose tools `do_X` call X with their own arguments and answer what it answers; `no_X` calls X and then fails; `up_X` calls X and then
/// traps; `lots` calls `put` 65 times and answers what the last came to.
fn boss() -> ToolGuest {
    let mut guest = ToolGuest::new("boss", |image| {
        let failed = image.failure(409, "no", None);
        let (put, put_len) = image.text("put");
        let inner = "(local.set $a (call $alloc (i32.const 64)))
            (call $call_tool (i32.add (local.get $tool) (i32.const 3)) (i32.sub (local.get $tool_len) (i32.const 3)) (local.get $args) (local.get $args_len) (local.get $a))";
        format!(
            "(local.set $b (i32.load8_u (local.get $tool)))
             (if (i32.eq (local.get $b) (i32.const {l})) (then
                (local.set $c (i32.const 65))
                (loop $again
                    (local.set $a (call $alloc (i32.const 64)))
                    (call $call_tool (i32.const {put}) (i32.const {put_len}) (local.get $args) (local.get $args_len) (local.get $a))
                    (br_if $again (local.tee $c (i32.sub (local.get $c) (i32.const 1)))))
                (return (call $pass_on (local.get $a)))))
             {inner}
             (if (i32.eq (local.get $b) (i32.const {n})) (then (return (i32.const {failed}))))
             (if (i32.eq (local.get $b) (i32.const {u})) (then unreachable))
             (call $pass_on (local.get $a))",
            l = b'l', n = b'n', u = b'u',
        )
    });
    guest.imports = format!("{STATE}{TOOL_CALLER}");
    guest.parts = PASS_ON.into();
    let names = ["do_put", "do_fail", "do_trap", "do_nothing", "do_new", "do_do_put", "no_put", "up_put", "lots"];
    guest.catalogue.tools = names.map(spec).into();
    guest.request = calls(&["put", "fail", "trap", "nothing", "new", "do_put"]);
    guest
}

fn code(reply: &Reply) -> u16 {
    match reply {
        Reply::Done(_) => 0,
        Reply::Failed(failure) | Reply::NeedsConfirmation(failure) => failure.code,
    }
}

fn said(reply: &Reply) -> String {
    match reply {
        Reply::Done(success) => success.message.clone(),
        Reply::Failed(failure) | Reply::NeedsConfirmation(failure) => failure.message.clone(),
    }
}

#[test]
fn nothing_granted_nothing_linked() {
    let candidates = [tool(&notes()), tool(&boss()), environment()];
    let host = install(config(), &GrantPolicy::default(), &candidates);
    assert!(host.tools().iter().all(|tool| tool.plugin != *"boss"), "its tools are not there");
    let [waiting] = host.waiting() else { panic!("{:?}", host.waiting()) };
    let said = waiting.to_string();
    assert!(said.contains("plugin `boss` 0.1.0 is left out: it imports `tool-caller`"), "{said}");
    assert!(said.contains("loopwright plugin grant boss"), "{said}");
    let mut episode = open(&host, &task("world"));
    assert_eq!(code(&step(&mut *episode, call("k", "put", json!({}))).unwrap().feedback[0].reply), 0);
    // A grant of something else links no more.
    let host = install(config(), &policy("boss", &json!([{"capability": "scratch", "bytes": 100}])), &candidates);
    assert_eq!(host.waiting().len(), 1);
    assert!(install(config(), &policy("boss", &calls(&["put"])), &candidates).waiting().is_empty());
}

#[test]
fn an_inner_call_is_part_of_the_outer_one() {
    let candidates = [tool(&notes()), tool(&boss()), environment()];
    let host = install(config(), &GrantPolicy::trusting(), &candidates);
    let mut alone = open(&host, &task("world"));
    step(&mut *alone, call("k", "put", json!({"value": 1}))).unwrap();
    let mut episode = open(&host, &task("world"));
    let result = step(&mut *episode, call("k", "do_put", json!({"value": 1}))).unwrap();
    assert!(matches!(&result.feedback[0].reply, Reply::Done(success) if success.data == json!({"ok": true})));
    let changes = episode.changes();
    assert_eq!((changes.len(), changes[0].key.as_str(), &changes[0].after), (1, "inner", &Some(json!({"value": 1}))));
    assert_eq!((episode.steps().len(), episode.invocations().len()), (1, 1), "the outer call is the step");
    assert_eq!(episode.invocations()[0].plugin.as_ref().unwrap(), "boss");
    assert!(episode.invocations()[0].fuel > alone.invocations()[0].fuel, "its fuel holds the inner call's");
}

#[test]
fn what_the_inner_call_came_to_is_told() {
    let host = install(config(), &GrantPolicy::trusting(), &[tool(&notes()), tool(&boss()), environment()]);
    let mut episode = open(&host, &task("world"));
    let mut come = |tool: &str, arguments: Value| {
        let reply = step(&mut *episode, call("k", tool, arguments)).unwrap().feedback[0].reply.clone();
        (code(&reply), said(&reply))
    };
    assert_eq!(come("do_fail", json!({})), (409, "no".to_owned()));
    assert_eq!(come("do_trap", json!({})), (500, "trapped".to_owned()));
    assert_eq!(come("do_nothing", json!({})).0, 404);
    // It calls itself: its only instance is busy.
    assert_eq!(come("do_do_put", json!({})), (403, "busy".to_owned()));
    let (code, said) = come("do_put", json!({"value": 1}));
    assert_eq!((code, said.as_str()), (0, "done"));
    assert_eq!(episode.changes().len(), 1, "what failed left nothing behind");
}

#[test]
fn when_the_outer_call_fails_the_inner_ones_writes_are_gone_too() {
    let host = install(config(), &GrantPolicy::trusting(), &[tool(&notes()), tool(&boss()), environment()]);
    let mut episode = open(&host, &task("world"));
    let before = episode.state_digest();
    for name in ["no_put", "up_put"] {
        step(&mut *episode, call("k", name, json!({"value": 1}))).unwrap();
        assert_eq!((episode.state_digest(), episode.changes().len()), (before, 0), "{name}");
    }
    // Ids and random numbers that it drew are as if it had never run.
    let mut boss = boss();
    boss.catalogue.tools.push(spec("no_new"));
    let host = install(config(), &GrantPolicy::trusting(), &[tool(&notes()), tool(&boss), environment()]);
    let (mut with, mut without) = (open(&host, &task("world")), open(&host, &task("world")));
    with.step(&turn(vec![call("a", "no_new", json!({})), call("b", "new", json!({}))])).unwrap();
    without.step(&turn(vec![call("b", "new", json!({}))])).unwrap();
    assert_eq!(with.changes(), without.changes());
}

#[test]
fn only_what_is_granted_is_called() {
    let candidates = [tool(&notes()), tool(&boss()), environment()];
    let host = install(config(), &policy("boss", &calls(&["put", "delete"])), &candidates);
    let mut episode = open(&host, &task("world"));
    let mut come = |tool: &str| said(&step(&mut *episode, call("k", tool, json!({}))).unwrap().feedback[0].reply);
    assert_eq!(come("do_put"), "done");
    assert_eq!(come("do_fail"), "tool `fail` is not granted");
    let grant = &host.plugins().iter().find(|plugin| plugin.name == *"boss").unwrap().grant;
    assert_eq!(grant.call, ["put"], "of what it asked for, what it was given");
}

fn with_rule(mut guest: ToolGuest, tool: &str, effect: Effect, requires: &[&str]) -> ToolGuest {
    let rule = AccessRule { when: None, effect, requires: requires.iter().map(ToString::to_string).collect() };
    guest
        .catalogue
        .tools
        .iter_mut()
        .filter(|spec| spec.name == *tool)
        .for_each(|spec| spec.access = vec![rule.clone()]);
    guest
}

#[test]
fn an_inner_call_needs_no_more_than_the_outer_one() {
    let run = |boss: ToolGuest, notes: ToolGuest| {
        let host = install(config(), &GrantPolicy::trusting(), &[tool(&notes), tool(&boss), environment()]);
        let mut episode = open(&host, &task("world"));
        said(&step(&mut *episode, call("k", "do_put", json!({}))).unwrap().feedback[0].reply)
    };
    let reads = with_rule(boss(), "do_put", Effect::Read, &[]);
    assert_eq!(run(reads, notes()), "`put` does more than the call that it would be part of says it does");
    let unlocked = || with_rule(notes(), "put", Effect::Write, &["unlocked"]);
    assert_eq!(run(boss(), unlocked()), "`put` requires `unlocked`, which the call that it would be part of does not");
    assert_eq!(run(with_rule(boss(), "do_put", Effect::Write, &["network", "unlocked"]), unlocked()), "done");
    // What works on a phone that is off takes along nothing that does not.
    let off = || with_rule(boss(), "do_put", Effect::Write, &["power-off-ok"]);
    assert!(run(off(), notes()).contains("needs a phone that is on"));
    let works = || with_rule(notes(), "put", Effect::Write, &["power-off-ok"]);
    assert_eq!((run(off(), works()), run(boss(), works())), ("done".to_owned(), "done".to_owned()));
    let asks = with_rule(notes(), "put", Effect::Write, &["confirm"]);
    assert!(run(with_rule(boss(), "do_put", Effect::Write, &["confirm"]), asks).contains("confirmation of exactly"));
}

#[test]
fn what_cannot_be_undone_takes_the_users_word_on_exactly_it() {
    let notes = with_rule(notes(), "put", Effect::Destructive, &[]);
    let boss = with_rule(boss(), "do_put", Effect::Destructive, &[]);
    let host = install(config(), &GrantPolicy::trusting(), &[tool(&notes), tool(&boss), environment()]);
    let mut episode = open(&host, &task("world"));
    let outer = call("k", "do_put", json!({"value": 1}));
    episode.confirm(&outer);
    let denied = "`put` needs the user's confirmation of exactly this call";
    assert_eq!(said(&step(&mut *episode, outer.clone()).unwrap().feedback[0].reply), denied);
    episode.confirm(&call("x", "put", json!({"value": 2})));
    assert_eq!(said(&step(&mut *episode, outer.clone()).unwrap().feedback[0].reply), denied);
    episode.confirm(&call("x", "put", json!({"value": 1})));
    assert_eq!(said(&step(&mut *episode, outer).unwrap().feedback[0].reply), "done");
}

#[test]
fn an_outer_call_makes_64_inner_ones() {
    let host = install(config(), &GrantPolicy::trusting(), &[tool(&notes()), tool(&boss()), environment()]);
    let mut episode = open(&host, &task("world"));
    for _ in 0..2 {
        let reply = step(&mut *episode, call("k", "lots", json!({}))).unwrap().feedback[0].reply.clone();
        assert_eq!(said(&reply), "more than 64 calls within one");
    }
}

/// A plugin that keeps its arguments under `k` (`keep`), keeps them and fails (`lose`), and answers what it kept (`recall`).
fn keeper(bytes: u64) -> ToolGuest {
    let mut guest = ToolGuest::new("keeper", |image| {
        let (key, ok, full) = (image.text("k").0, image.success("kept", "null"), image.failure(507, "full", None));
        let (failed, message) = (image.failure(409, "no", None), image.text("recalled"));
        format!(
            "(local.set $a (call $alloc (i32.const 64)))
             (if (i32.eq (i32.load8_u (local.get $tool)) (i32.const {r})) (then
                (call $kept (i32.const {key}) (i32.const 1) (local.get $a))
                (if (i32.eqz (i32.load8_u (local.get $a))) (then (return (i32.const {failed}))))
                (i64.store offset=12 align=4 (local.get $a) (i64.load offset=4 align=4 (local.get $a)))
                (i32.store (local.get $a) (i32.const 0))
                (i32.store offset=4 (local.get $a) (i32.const {at}))
                (i32.store offset=8 (local.get $a) (i32.const {length}))
                (return (local.get $a))))
             (call $keep (i32.const {key}) (i32.const 1) (local.get $args) (local.get $args_len) (local.get $a))
             (if (i32.load8_u (local.get $a)) (then (return (i32.const {full}))))
             (select (i32.const {failed}) (i32.const {ok}) (i32.eq (i32.load8_u (local.get $tool)) (i32.const {l})))",
            r = b'r',
            l = b'l',
            at = message.0,
            length = message.1,
        )
    });
    guest.imports = format!("{STATE}{SCRATCH}");
    guest.catalogue.tools = ["keep", "lose", "recall"].map(spec).into();
    guest.request = json!([{"capability": "scratch", "bytes": bytes}]);
    guest
}

fn recalled(episode: &mut dyn loopwright_contract::episode::Episode) -> Value {
    match &step(episode, call("k", "recall", json!({}))).unwrap().feedback[0].reply {
        Reply::Done(success) => success.data.clone(),
        Reply::Failed(_) | Reply::NeedsConfirmation(_) => Value::Null,
    }
}

#[test]
fn scratch_lasts_as_long_as_the_episode_and_is_nobody_elses() {
    for instances in [InstancePolicy::Keep, InstancePolicy::DropAfterCall] {
        let config = EngineConfig { instances, ..config() };
        let host = install(config, &GrantPolicy::trusting(), &[tool(&keeper(1_000)), environment()]);
        let mut episode = open(&host, &task("world"));
        let before = episode.state_digest();
        assert_eq!(recalled(&mut *episode), Value::Null);
        assert_eq!(code(&step(&mut *episode, call("k", "keep", json!({"value": 1}))).unwrap().feedback[0].reply), 0);
        assert_eq!(recalled(&mut *episode), json!({"value": 1}));
        assert_eq!((episode.state_digest(), episode.changes().len()), (before, 0), "it is no part of the world");
        let mut fork = episode.fork().unwrap();
        assert_eq!(code(&step(&mut *fork, call("k", "keep", json!({"value": 2}))).unwrap().feedback[0].reply), 0);
        assert_eq!((recalled(&mut *episode), recalled(&mut *fork)), (json!({"value": 1}), json!({"value": 2})));
        assert_eq!(code(&step(&mut *episode, call("k", "lose", json!({"value": 3}))).unwrap().feedback[0].reply), 409);
        assert_eq!(recalled(&mut *episode), json!({"value": 1}), "a call that fails keeps nothing");
        assert_eq!(recalled(&mut *open(&host, &task("world"))), Value::Null, "another episode begins without");
    }
}

#[test]
fn scratch_ends_at_what_was_granted() {
    let host = install(
        config(),
        &policy("keeper", &json!([{"capability": "scratch", "bytes": 80}])),
        &[tool(&keeper(1_000)), environment()],
    );
    let mut episode = open(&host, &task("world"));
    let mut keep = |value: &str| {
        let arguments = json!({"value": value});
        code(&step(&mut *episode, call("k", "keep", arguments)).unwrap().feedback[0].reply)
    };
    // 64 for the entry, 1 for the key, 12 for the empty value.
    assert_eq!((keep("123"), keep("1234"), keep("123")), (0, 507, 0));
    assert_eq!(recalled(&mut *episode), json!({"value": "123"}));
}

#[test]
fn both_ways_of_keeping_instances_give_the_same_bytes() {
    let run = |instances| {
        let config = EngineConfig { instances, ..config() };
        let candidates = [tool(&notes()), tool(&boss()), tool(&keeper(1_000)), environment()];
        let mut episode = open(&install(config, &GrantPolicy::trusting(), &candidates), &task("world"));
        for name in ["do_put", "keep", "do_trap", "lose", "recall", "no_put", "lots"] {
            step(&mut *episode, call("k", name, json!({"value": 1}))).unwrap();
        }
        trace(&*episode)
    };
    assert_eq!(run(InstancePolicy::Keep), run(InstancePolicy::DropAfterCall));
}

#[test]
fn what_is_imported_or_declared_must_be_asked_for() {
    let mut silent = boss();
    silent.request = Value::Null;
    let error = refused(&silent);
    assert!(error.contains("it imports `tool-caller`, which its request does not ask for"), "{error}");
    let mut other = keeper(1_000);
    other.request = calls(&["put"]);
    assert!(refused(&other).contains("it imports `scratch`"), "{}", refused(&other));
    let mut declares = boss();
    declares.catalogue.uses =
        vec![loopwright_contract::tool::CollectionUse { name: "notes".parse().unwrap(), write: true }];
    declares.request = json!([
        {"capability": "collection", "name": "notes", "access": "read"},
        {"capability": "tool.call", "tools": ["put"]},
    ]);
    let error = refused(&declares);
    assert!(error.contains("it would write collection `notes`") && error.contains("hint: add {"), "{error}");
    let mut malformed = boss();
    malformed.request = json!([{"capability": "scratch", "bytes": 0}]);
    let error = refused(&malformed);
    assert!(error.contains("/capabilities/0: `bytes`: expected 1 to"), "{error}");
}

#[test]
fn a_verifier_has_no_capability_whatever_it_asks_for_and_whoever_trusts_it() {
    let asks = json!([
        {"capability": "collection", "name": "notes", "access": "write"},
        {"capability": "tool.call", "tools": ["put"]},
        {"capability": "scratch", "bytes": 1_000},
    ]);
    let judge = loopwright_testkit::guests::with_request(VerifierGuest::new("judge", "").build(), &asks);
    let candidates = [tool(&notes()), environment(), candidate("judge", judge)];
    let host = install(config(), &GrantPolicy::trusting(), &candidates);
    let grant = &host.plugins().iter().find(|plugin| plugin.name == *"judge").unwrap().grant;
    assert_eq!(*grant, loopwright_contract::tool::Grant::default());
}
