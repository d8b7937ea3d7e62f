//! An environment over fake and real tools.

use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{
    Actor, Answer, Code, Effect, EnvironmentPlugin, Failure, Feedback, Identity, Instant, NoArguments, Observation,
    Outcome, Phone, Reply, Requirement, Storage, Tool, ToolCall, ToolFault, ToolPlugin, Turn, TurnResult, World,
    identity,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Refuses what needs a network while `phone/online` is false, and asks before what is destructive.
struct Gate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Setup {
    online: bool,
}

impl EnvironmentPlugin for Gate {
    const IDENTITY: Identity = identity!("gate").stateful();
    type Setup = Setup;

    fn reset(world: &mut World, setup: Setup) -> Result<Observation, Failure> {
        world.put("phone", "online", &setup.online)?;
        Ok(observe(world))
    }

    fn step(world: &mut World, turn: Turn) -> Result<TurnResult, Failure> {
        let mut feedback = Vec::new();
        for call in &turn.calls {
            feedback.push(Feedback {
                call_id: call.id.clone(),
                answer: answer(world, call, turn.actor)?,
                effects: Vec::new(),
            });
        }
        if let Some(later) = world.now().plus_s(10) {
            world.advance_to(later);
        }
        Ok(TurnResult { feedback, observation: observe(world) })
    }
}

fn answer(world: &mut World, call: &ToolCall, by: Actor) -> Result<Answer, Failure> {
    let Some(needs) = world.access(call) else {
        return Ok(Answer::Failed(Failure::not_found("tool", call.tool.as_str())));
    };
    let online: bool = world.require("phone", "online")?;
    if !online && needs.requirements().any(|requirement| requirement == Requirement::Network) {
        return Ok(Answer::Failed(Failure::precondition("the phone is offline", "turn wi-fi on")));
    }
    if needs.effect == Effect::Destructive && !world.confirmed(call) {
        return Ok(Answer::NeedsConfirmation(Failure::confirmation_needed(&call.tool)));
    }
    Ok(match world.invoke(call, by) {
        Outcome::Done(success) => Answer::Done(success),
        Outcome::Failed(failure) => Answer::Failed(failure),
        Outcome::Faulted(ToolFault::Trapped) => Answer::Failed(Failure::unavailable("the app")),
        Outcome::Faulted(_) => Answer::Failed(Failure::timed_out("the app")),
    })
}

fn observe(world: &World) -> Observation {
    Observation { exposed: Some(world.installed()), notices: vec![json!({"kind": "time", "at": world.now().unix_s()})] }
}

fn wipe(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    phone.delete("disk", "all")?;
    Ok(Reply::new("wiped", json!({})))
}

struct Disk;

impl ToolPlugin for Disk {
    const IDENTITY: Identity = identity!("disk");

    fn tools() -> Vec<Tool> {
        vec![Tool::new("wipe_disk", wipe).domain("storage").en("Wipes the disk.", "wipe").destructive()]
    }

    fn storage() -> Storage {
        Storage::new().owns(loopwright_sdk::Collection::new("disk").initial("all", json!("data")))
    }
}

fn phone() -> TestPhone {
    TestPhone::new()
        .plugin::<Disk>()
        .fake_tool("send", Effect::Write, &["network"], |phone, arguments| {
            phone.put("sent", "last", arguments)?;
            match arguments.get("text") {
                Some(_) => Ok(json!({"sent": true})),
                None => Err(Failure::missing_argument("text", "a text", "sending")),
            }
        })
        .faulty_tool("crash", Effect::Read, ToolFault::Trapped)
        .faulty_tool("spin", Effect::Read, ToolFault::Budget("fuel".to_owned()))
}

fn codes(result: &TurnResult) -> Vec<Option<u16>> {
    let code = |answer: &Answer| match answer {
        Answer::Done(_) => None,
        Answer::Failed(failure) | Answer::NeedsConfirmation(failure) => failure.code().map(Code::get),
    };
    result.feedback.iter().map(|feedback| code(&feedback.answer)).collect()
}

#[test]
fn an_environment_decides_and_one_failure_does_not_stop_the_rest() {
    let mut test = phone();
    test.reset::<Gate>(json!({"online": true})).unwrap();
    let calls = [
        ("send", json!({})),
        ("send", json!({"text": "hi"})),
        ("crash", json!({})),
        ("spin", json!({})),
        ("none", json!({})),
        ("wipe_disk", json!({})),
    ];
    let result = test.step::<Gate>(Actor::Agent, &calls).unwrap();
    assert_eq!(codes(&result), [Some(400), None, Some(503), Some(504), Some(404), Some(423)]);
    assert_eq!(test.document("sent", "last"), Some(json!({"text": "hi"})));
    assert_eq!(test.document("disk", "all"), Some(json!("data")));
    assert_eq!(test.invoked().len(), 4);
}

#[test]
fn what_a_rule_refuses_never_reaches_the_tool() {
    let mut test = phone();
    test.reset::<Gate>(json!({"online": false})).unwrap();
    let result = test.step::<Gate>(Actor::User, &[("send", json!({"text": "hi"}))]).unwrap();
    assert_eq!(codes(&result), [Some(412)]);
    assert!(test.invoked().is_empty());
}

#[test]
fn only_the_confirmed_call_runs() {
    let mut test = phone();
    test.reset::<Gate>(json!({"online": true})).unwrap();
    test.confirm("wipe_disk", json!({"other": 1}));
    let result = test.step::<Gate>(Actor::Agent, &[("wipe_disk", json!({}))]).unwrap();
    assert_eq!(codes(&result), [Some(423)]);
    test.confirm("wipe_disk", json!({}));
    let result = test.step::<Gate>(Actor::Agent, &[("wipe_disk", json!({}))]).unwrap();
    assert_eq!(codes(&result), [None]);
    assert_eq!(test.document("disk", "all"), None);
}

#[test]
fn the_clock_moves_and_observations_follow_it() {
    let mut test = phone().clock("2026-03-02T09:00:00Z");
    let before = test.reset::<Gate>(json!({"online": true})).unwrap();
    assert_eq!(before.exposed.as_deref().unwrap(), ["crash", "send", "spin", "wipe_disk"]);
    let after = test.step::<Gate>(Actor::Agent, &[]).unwrap().observation;
    let at = |observation: &Observation| observation.notices[0]["at"].as_i64();
    assert_eq!(at(&after).zip(at(&before)).map(|(after, before)| after - before), Some(10));
}

#[test]
fn a_setup_that_does_not_fit_is_refused() {
    let failure = phone().reset::<Gate>(json!({"online": "yes"})).unwrap_err();
    assert_eq!(failure.code(), Some(Code::BAD_ARGUMENT));
    assert!(phone().reset::<Gate>(json!({"online": true, "x": 1})).is_err());
}

#[test]
fn a_real_tools_rules_are_seen_through_access() {
    let test = phone();
    let needs = test.world().access(&ToolCall::new("c", "wipe_disk", &Value::Null)).unwrap();
    assert_eq!((needs.effect, needs.plugin.as_str()), (Effect::Destructive, "disk"));
    assert_eq!(test.world().access(&ToolCall::new("c", "none", &Value::Null)), None);
}

#[test]
fn requirements_read_and_print_alike() {
    let texts = ["network", "location", "unlocked", "confirm", "power-off-ok", "perm:contacts", "moonlight"];
    for text in texts {
        assert_eq!(Requirement::parse(text).to_text(), text);
    }
}

#[test]
fn a_clock_that_is_turned_back_stops_the_test() {
    let result = std::panic::catch_unwind(|| {
        let mut world = TestPhone::new().world();
        world.advance_to(Instant::from_unix_ns(0));
    });
    assert!(result.is_err());
}
