//! The main path: an episode from task to verdict, with the environment between planner and tools.

use loopwright_contract::{
    environment::{Actor, Reply},
    episode::EpisodeHost as _,
    evidence::Deed,
    fault::{CallFault, GuestFault},
    task::{Consent, DocumentEdit, Task},
};
use serde_json::json;

use crate::support::{
    call, candidate, check, environment,
    guest::{EnvironmentGuest, STATE, ToolGuest, VerifierGuest, collection, idle_tool, skill, spec},
    host, open, step, task, tool, turn, with_check,
};

/// A plugin whose tools begin with the letter of what they do, on the document whose key is the call's id.
pub(crate) fn notes() -> ToolGuest {
    let mut guest = ToolGuest::new("notes", |image| {
        let (name, name_len) = image.text("notes");
        let ok = image.success("done", r#"{"ok":true}"#);
        let failed = image.failure(409, "no", Some(r#"{"allowed":[1]}"#));
        let put = format!(
            "(local.set $a (call $alloc (i32.const 32)))
             (call $put (i32.const {name}) (i32.const {name_len}) (local.get $id) (local.get $id_len) (local.get $args) (local.get $args_len) (local.get $a))"
        );
        format!(
            "(local.set $b (i32.load8_u (local.get $tool)))
             (if (i32.eq (local.get $b) (i32.const {p})) (then {put} (return (i32.const {ok}))))
             (if (i32.eq (local.get $b) (i32.const {f})) (then {put} (return (i32.const {failed}))))
             (if (i32.eq (local.get $b) (i32.const {t})) (then {put} (drop (call $random)) unreachable))
             (if (i32.eq (local.get $b) (i32.const {d})) (then
                (local.set $a (call $alloc (i32.const 32)))
                (call $delete (i32.const {name}) (i32.const {name_len}) (local.get $id) (local.get $id_len) (local.get $a))
                (return (i32.const {ok}))))
             (if (i32.eq (local.get $b) (i32.const {n})) (then
                (local.set $a (call $alloc (i32.const 8)))
                (call $next_id (i32.const {name}) (i32.const 4) (local.get $a))
                (local.set $c (call $alloc (i32.const 32)))
                (call $put (i32.const {name}) (i32.const {name_len}) (i32.load (local.get $a)) (i32.load offset=4 (local.get $a)) (local.get $args) (local.get $args_len) (local.get $c))
                (return (i32.const {ok}))))
             (i32.const {ok})",
            p = b'p', f = b'f', t = b't', d = b'd', n = b'n',
        )
    });
    guest.imports = STATE.into();
    guest.catalogue.tools = ["put", "fail", "trap", "delete", "new", "read"].map(spec).into();
    guest
}

fn notes_task() -> Task {
    task("world")
}

#[test]
fn a_call_goes_through_environment_and_tool_and_becomes_a_step() {
    let host = host(&[tool(&notes()), environment()]);
    let mut episode = open(&host, &notes_task());
    let before = episode.state_digest();
    let result = episode.step(&turn(vec![call("k1", "put", json!({"value": 25.0}))])).unwrap();
    assert!(matches!(&result.feedback[0].reply, Reply::Done(success) if success.data == json!({"ok": true})));
    assert_eq!(result.observation.exposed.unwrap(), ["delete", "fail", "new", "put", "read", "trap"]);
    let steps = episode.steps();
    assert_eq!((steps.len(), steps[0].ok, steps[0].turn, steps[0].by), (1, true, 0, Actor::Agent));
    assert_eq!(steps[0].answer, json!({"success": true, "message": "done", "data": {"ok": true}}));
    let changes = episode.changes();
    assert_eq!((changes.len(), changes[0].collection.as_str(), changes[0].key.as_str()), (1, "notes", "k1"));
    assert_eq!((&changes[0].before, &changes[0].after), (&None, &Some(json!({"value": 25}))));
    assert_ne!(episode.state_digest(), before);
    assert_eq!(episode.invocations()[0].plugin.as_ref().map(ToString::to_string).as_deref(), Some("notes"));
    assert!(episode.invocations()[0].fuel > 0);
}

#[test]
fn a_failure_and_a_trap_leave_no_write_behind() {
    let host = host(&[tool(&notes()), environment()]);
    let mut episode = open(&host, &notes_task());
    let before = episode.state_digest();
    let calls = vec![
        call("k1", "fail", json!({})),
        call("k2", "trap", json!({})),
        call("k3", "nothing", json!({})),
        call("k4", "put", json!({"x": 1})),
    ];
    let result = episode.step(&turn(calls)).unwrap();
    let codes: Vec<u16> = result
        .feedback
        .iter()
        .map(|feedback| if let Reply::Failed(failure) = &feedback.reply { failure.code } else { 0 })
        .collect();
    assert_eq!(codes, [409, 503, 404, 400]);
    assert_eq!(episode.state_digest(), before);
    assert!(episode.changes().is_empty());
    let faults: Vec<bool> = episode.invocations().iter().map(|invocation| invocation.fault.is_some()).collect();
    assert_eq!(faults, [false, true, false, false]);
    assert!(
        matches!(&episode.invocations()[1].fault, Some(GuestFault::Trapped { reason }) if reason.contains("unreachable"))
    );
    assert_eq!(episode.invocations()[1].fuel, loopwright_contract::limits::PluginLimits::default().call_fuel);
    // The plugin goes on in a fresh instance.
    assert!(matches!(step(&mut *episode, call("k5", "put", json!({}))).unwrap().feedback[0].reply, Reply::Done(_)));
}

#[test]
fn time_moves_between_turns_and_stands_within_one() {
    let host = host(&[tool(&notes()), environment()]);
    let mut episode = open(&host, &notes_task());
    let start = episode.now_ns();
    assert_eq!(episode.now_text(), "2026-03-02T09:00:00+08:00[Asia/Shanghai]");
    episode.step(&turn(vec![call("k1", "read", json!({})), call("k2", "read", json!({}))])).unwrap();
    assert_eq!(episode.now_ns(), start);
    episode.end_turn();
    let one = episode.now_ns() - start;
    episode.record(Deed::Ask { question: "?".into() }, true, json!({}));
    episode.end_turn();
    assert_eq!((one > 0, episode.now_ns() - start), (true, 2 * one));
    let turns: Vec<u32> = episode.steps().iter().map(|step| step.turn).collect();
    assert_eq!(turns, [0, 0, 1]);
    // A turn of another kind has no invocations and no changes.
    assert!(episode.invocations().is_empty() && episode.changes().is_empty());
}

#[test]
fn an_environment_cannot_invent_or_hide_evidence() {
    // It answers `done` to everything, and runs only the second call; then it runs one of its own under the agent's name.
    let mut guest = EnvironmentGuest::new("liar");
    guest.after_call = "(i32.store8 offset=8 (local.get $out) (i32.const 0))
        (i32.store offset=12 (local.get $out) (i32.const 8)) (i32.store offset=16 (local.get $out) (i32.const 0))
        (i32.store offset=20 (local.get $out) (i32.const 1024)) (i32.store offset=24 (local.get $out) (i32.const 0))"
        .into();
    guest.parts = r#"(data (i32.const 512) "null") "#.into();
    guest.after_call = guest.after_call.replace(
        "(i32.const 1024)) (i32.store offset=24 (local.get $out) (i32.const 0))",
        "(i32.const 512)) (i32.store offset=24 (local.get $out) (i32.const 4))",
    );
    let host = host(&[tool(&notes()), candidate("liar", guest.build())]);
    let mut episode = open(&host, &task("liar"));
    let result = episode.step(&turn(vec![call("k1", "fail", json!({})), call("k2", "put", json!({}))])).unwrap();
    assert!(result.feedback.iter().all(|feedback| matches!(feedback.reply, Reply::Done(_))));
    let ok: Vec<bool> = episode.steps().iter().map(|step| step.ok).collect();
    assert_eq!(ok, [false, true]);
}

#[test]
fn what_an_environment_does_by_itself_is_an_automation() {
    // After each call it repeats that call, still claiming to be the agent.
    let mut guest = EnvironmentGuest::new("echo");
    guest.after_call = "(call $invoke
        (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)) (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at))
        (i32.load offset=16 (local.get $at)) (i32.load offset=20 (local.get $at)) (local.get $actor) (call $alloc (i32.const 32)))"
        .into();
    let host = host(&[tool(&notes()), candidate("echo", guest.build())]);
    let mut episode = open(&host, &task("echo"));
    episode.step(&turn(vec![call("k1", "new", json!({})), call("k2", "new", json!({}))])).unwrap();
    let seen: Vec<(Actor, String)> = episode
        .steps()
        .iter()
        .map(|step| (step.by, if let Deed::Call { call } = &step.deed { call.id.to_string() } else { String::new() }))
        .collect();
    let (agent, automation) = (Actor::Agent, Actor::Automation);
    assert_eq!(
        seen,
        [(agent, "k1".into()), (automation, "k1".into()), (agent, "k2".into()), (automation, "k2".into())]
    );
    assert_eq!(episode.changes().len(), 4);
}

#[test]
fn an_environments_fault_is_void_and_names_it() {
    for (before_step, part) in [
        ("unreachable", "unreachable"),
        ("(call $advance (i64.const 1))", "cannot go back"),
        ("(return (i32.const 1))", ""),
    ] {
        let guest = EnvironmentGuest { before_step: before_step.into(), ..EnvironmentGuest::new("bad") };
        let host = host(&[tool(&notes()), candidate("bad", guest.build())]);
        let mut episode = open(&host, &task("bad"));
        let digest = episode.state_digest();
        match episode.step(&turn(vec![call("k1", "put", json!({}))])) {
            Err(CallFault::Guest { plugin, fault }) => {
                assert!(plugin == "bad" && fault.to_string().contains(part), "{fault}")
            }
            other => panic!("{before_step}: {other:?}"),
        }
        assert_eq!(episode.state_digest(), digest);
    }
}

#[test]
fn consent_is_to_exactly_one_call() {
    // It runs a call only with consent, and traps without.
    let mut guest = EnvironmentGuest::new("asks");
    guest.before_step = "(if (i32.eqz (call $confirmed
        (i32.load (local.get $calls)) (i32.load offset=4 (local.get $calls)) (i32.load offset=8 (local.get $calls)) (i32.load offset=12 (local.get $calls))
        (i32.load offset=16 (local.get $calls)) (i32.load offset=20 (local.get $calls)))) (then unreachable))"
        .into();
    let host = host(&[tool(&notes()), candidate("asks", guest.build())]);
    let confirmed = call("k1", "put", json!({"value": 1}));
    for (tried, runs) in [
        (call("other-id", "put", json!({"value": 1.0})), true),
        (call("k1", "put", json!({"value": 2})), false),
        (call("k1", "delete", json!({"value": 1})), false),
    ] {
        let mut episode = open(&host, &task("asks"));
        episode.confirm(&confirmed);
        assert_eq!(episode.step(&turn(vec![tried.clone()])).is_ok(), runs, "{tried:?}");
    }
}

#[test]
fn gold_is_replayed_once_with_the_users_consent() {
    let mut asks = EnvironmentGuest::new("asks");
    asks.before_step = "(if (i32.eqz (call $confirmed
        (i32.load (local.get $calls)) (i32.load offset=4 (local.get $calls)) (i32.load offset=8 (local.get $calls)) (i32.load offset=12 (local.get $calls))
        (i32.load offset=16 (local.get $calls)) (i32.load offset=20 (local.get $calls)))) (then unreachable))"
        .into();
    let same = VerifierGuest {
        verdict: (1, 0.0, 0.0),
        ..VerifierGuest::new(
            "same",
            "(local.set $a (call $alloc (i32.const 8))) (call $after (call $steps) (local.get $a))
             (local.set $b (call $alloc (i32.const 8))) (call $target (local.get $b))
             (local.set $c (call $alloc (i32.const 8)))
             (call $differences (i32.load offset=4 (local.get $a)) (i32.load offset=4 (local.get $b)) (i32.const 8) (i32.const 0) (local.get $c))
             (if (i32.eqz (i32.load offset=4 (local.get $c))) (then (global.set $passed (i32.const 0)) (global.set $score (f64.const 1))))",
        )
    };
    let host = host(&[tool(&notes()), candidate("asks", asks.build()), candidate("same", same.build())]);
    let gold = vec![
        vec![
            serde_json::from_value(json!({"action": "call", "id": "g1", "tool": "new", "arguments": {"value": 1}}))
                .unwrap(),
        ],
        vec![serde_json::from_value(json!({"action": "finish", "answer": "done"})).unwrap()],
    ];
    let mut task = Task { gold, ..with_check(task("asks"), "same") };
    assert!(host.prepare(&task).is_err());
    task.user.consents = vec![Consent { tool: "new".parse().unwrap(), arguments: None }];
    let prepared = host.prepare(&task).unwrap();
    let (initial, target) = (prepared.initial(), prepared.target().unwrap());
    assert!(target.text.contains(r#""note-0001":{"value":1}"#) && !initial.text.contains("note"));
    let restored = host.restore(&task, &initial, Some(&target)).unwrap();
    for prepared in [prepared, restored] {
        for (value, passes) in [(1, true), (2, false)] {
            let mut episode = prepared.open().unwrap();
            episode.reset().unwrap();
            let call = call("x", "new", json!({"value": value}));
            episode.confirm(&call);
            step(&mut *episode, call).unwrap();
            let judged = episode.judge(0, &check("same"), &[1]).unwrap();
            assert_eq!(judged[0].verdict.passed(), passes, "{value}");
        }
    }
}

#[test]
fn a_stored_world_has_the_content_of_its_digest() {
    let host = host(&[tool(&notes()), environment()]);
    let mut task = notes_task();
    task.edits = vec![DocumentEdit::Put { collection: "notes".into(), key: "k".into(), value: json!({"a": 1.0}) }];
    let initial = host.prepare(&task).unwrap().initial();
    assert!(host.restore(&task, &initial, None).is_ok());
    let mut changed = initial.clone();
    changed.text = changed.text.replace("\"a\":1", "\"a\":2");
    let error = host.restore(&task, &changed, None).err().unwrap();
    assert!(error.to_string().contains("sha256:"), "{error}");
}

#[test]
fn a_task_that_cannot_be_prepared_says_why() {
    let host = host(&[tool(&notes()), environment()]);
    let put =
        |collection: &str| vec![DocumentEdit::Put { collection: collection.into(), key: "k".into(), value: json!(1) }];
    for (task, part) in [
        (task("elsewhere"), "environment `elsewhere` is not installed"),
        (with_check(notes_task(), "judge"), "verifier `judge` is not installed"),
        (Task { edits: put("cars"), ..notes_task() }, "edit 0 of `cars`"),
        (Task { world: Some("retail".into()), ..notes_task() }, "world `retail`"),
    ] {
        let error = host.prepare(&task).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_skill_guides_and_advises() {
    let card = loopwright_contract::skill::SkillCard {
        name: "careful".parse().unwrap(),
        summary: vec![loopwright_contract::tool::Localized { lang: "en".parse().unwrap(), text: "Be careful.".into() }],
        about: vec!["put".parse().unwrap()],
        exposes: vec![],
    };
    let host = host(&[
        tool(&notes()),
        environment(),
        candidate("careful", skill("careful", &card, "Look first.", "(global.get $warn)")),
    ]);
    assert_eq!(host.skills(), std::slice::from_ref(&card));
    let mut episode = open(&host, &notes_task());
    let guidance = episode.skill_guidance(&card.name, &["put".parse().unwrap()], &"en".parse().unwrap()).unwrap();
    assert_eq!(guidance, "Look first.");
    let advice = episode.skill_check(&card.name, &call("k", "put", json!({}))).unwrap();
    assert_eq!(advice, loopwright_contract::skill::Advice::Warn("think first".into()));
    assert!(episode.skill_check(&"other".parse().unwrap(), &call("k", "put", json!({}))).is_err());
    // A fault of a skill does not end the episode.
    let host = host_with_trapping_skill(&card);
    let mut episode = open(&host, &notes_task());
    assert!(matches!(episode.skill_check(&card.name, &call("k", "put", json!({}))), Err(CallFault::Guest { .. })));
    assert!(step(&mut *episode, call("k", "put", json!({}))).is_ok());
}

fn host_with_trapping_skill(card: &loopwright_contract::skill::SkillCard) -> loopwright_engine::PluginHost {
    host(&[tool(&notes()), environment(), candidate("careful", skill("careful", card, "x", "unreachable"))])
}

#[test]
fn tools_reach_only_what_they_were_granted() {
    // It writes into another plugin's collection and returns the state error's discriminant as its trap or success.
    let mut thief = ToolGuest::new("thief", |image| {
        let (name, length) = image.text("notes");
        let (ok, denied) = (image.success("wrote", "null"), image.failure(403, "denied", None));
        format!(
            "(local.set $a (call $alloc (i32.const 32)))
             (call $put (i32.const {name}) (i32.const {length}) (local.get $id) (local.get $id_len) (local.get $args) (local.get $args_len) (local.get $a))
             (select (i32.const {denied}) (i32.const {ok}) (i32.load8_u (local.get $a)))"
        )
    });
    thief.catalogue.collections = vec![collection("loot")];
    let host_of = |thief: &ToolGuest| host(&[tool(&notes()), tool(thief), tool(&idle_tool("idle")), environment()]);
    let mut episode = open(&host_of(&thief), &notes_task());
    assert!(matches!(step(&mut *episode, call("k", "thief", json!({}))).unwrap().feedback[0].reply, Reply::Failed(_)));
    // Asking for it, with a policy that trusts, is another matter.
    thief.catalogue.uses =
        vec![loopwright_contract::tool::CollectionUse { name: "notes".parse().unwrap(), write: true }];
    thief.request = json!([{"capability": "collection", "name": "notes", "access": "write"}]);
    let mut episode = open(&host_of(&thief), &notes_task());
    assert!(matches!(step(&mut *episode, call("k", "thief", json!({}))).unwrap().feedback[0].reply, Reply::Done(_)));
}

/// A shop's world, and how often it was read.
#[derive(Default)]
struct Shop(std::sync::atomic::AtomicUsize);

impl loopwright_engine::WorldSource for Shop {
    fn world(&self, name: &str) -> Result<std::sync::Arc<str>, loopwright_contract::fault::HostFault> {
        match name {
            "shop" => {
                self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(r#"{"orders": {"o1": {"paid": 12.0}}}"#.into())
            }
            _ => loopwright_engine::NoWorlds.world(name),
        }
    }
}

#[test]
fn a_worlds_tools_are_in_it_and_nowhere_else() {
    let mut orders = idle_tool("orders");
    orders.ext = vec![("world", "\"shop\"")];
    let candidates = [tool(&notes()), tool(&orders), environment()];
    let source = std::sync::Arc::new(Shop::default());
    let host = loopwright_engine::PluginHost::install(
        crate::support::engines(),
        crate::support::config(),
        &loopwright_engine::GrantPolicy::trusting(),
        source.clone(),
        &candidates,
    )
    .unwrap();
    let shop = Task { world: Some("shop".into()), ..notes_task() };
    let prepared = host.prepare(&shop).unwrap();
    assert_eq!(prepared.initial().text, r#"{"orders":{"o1":{"paid":12}}}"#);
    let mut sold = Task { id: "sold".parse().unwrap(), ..shop.clone() };
    sold.edits = vec![DocumentEdit::Delete { collection: "orders".into(), key: "o1".into() }];
    assert_eq!(host.prepare(&sold).unwrap().initial().text, "{}");
    assert_eq!(host.prepare(&shop).unwrap().initial(), prepared.initial());
    assert_eq!(source.0.load(std::sync::atomic::Ordering::Relaxed), 1, "the world is read once for all of its tasks");
    for (task, ours, theirs) in [(notes_task(), "read", "orders"), (shop, "orders", "read")] {
        let mut episode = host.prepare(&task).unwrap().open().unwrap();
        assert!(episode.reset().unwrap().exposed.unwrap().contains(&ours.parse().unwrap()));
        let result = episode.step(&turn(vec![call("a", ours, json!({})), call("b", theirs, json!({}))])).unwrap();
        assert!(matches!(result.feedback[0].reply, Reply::Done(_)));
        assert!(matches!(&result.feedback[1].reply, Reply::Failed(failure) if failure.code == 404));
    }
}
