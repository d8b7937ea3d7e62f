use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{Actor, Answer, Effect, Failure, ToolFault};
use serde_json::{Value, json};

use super::Sandbox;

/// A phone on which every rule lets everything pass, with tools that stand for each requirement.
fn phone(over: Value) -> TestPhone {
    let ok = |_: &mut loopwright_sdk::Phone, _: &Value| -> Result<Value, Failure> { Ok(json!({})) };
    TestPhone::new()
        .fake_tool("read_anything", Effect::Read, &[], ok)
        .fake_tool("needs_network", Effect::Write, &["network"], ok)
        .fake_tool("needs_location", Effect::Read, &["location"], ok)
        .fake_tool("needs_unlocked", Effect::Write, &["unlocked"], ok)
        .fake_tool("needs_contacts", Effect::Read, &["perm:contacts"], ok)
        .fake_tool("needs_moon", Effect::Read, &["moon"], ok)
        .fake_tool("control_device_power", Effect::Write, &["power-off-ok"], ok)
        .fake_tool("wipe", Effect::Destructive, &[], ok)
        .fake_tool("pay", Effect::Write, &["confirm"], ok)
        .faulty_tool("broken", Effect::Write, ToolFault::Trapped)
        .state(json!({
            "power": {"state": {"state": "on"}, "battery": {"mode": "normal"}},
            "display": {"screen": {"on": true, "locked": false}, "refresh": {"mode": "high"}},
            "sound": {"mode": {"mode": "ring"}},
            "settings": {"location": {"on": true}, "dnd": {"on": false}},
            "net": {
                "wifi": {"on": true, "connected": "HomeNet"},
                "mobile": {"on": true, "in_service": true, "limit_mb": null, "used_mb": 10},
                "airplane": {"on": false},
            },
            "perms": {"contacts": {"state": "allow"}},
        }))
        .state(over)
}

/// What became of one call: `ok`, or the code and the message.
fn outcome(test: &mut TestPhone, tool: &str, arguments: Value) -> String {
    let result = test.step::<Sandbox>(Actor::Agent, &[(tool, arguments)]).expect("a turn");
    match &result.feedback.first().expect("feedback").answer {
        Answer::Done(_) => "ok".to_owned(),
        Answer::Failed(failure) => {
            format!("{} {}", failure.code().map_or(0, loopwright_sdk::Code::get), failure.message())
        }
        Answer::NeedsConfirmation(failure) => {
            format!("confirm {}", failure.code().map_or(0, loopwright_sdk::Code::get))
        }
    }
}

#[test]
fn each_rule_refuses_what_it_names_and_nothing_else() {
    for (state, tool, expected) in [
        (json!({}), "read_anything", "ok"),
        (json!({}), "needs_network", "ok"),
        (json!({}), "needs_location", "ok"),
        (json!({}), "needs_unlocked", "ok"),
        (json!({}), "needs_contacts", "ok"),
        (json!({}), "missing_tool", "404"),
        (json!({}), "needs_moon", "403"),
        // Rule 1.
        (json!({"power": {"state": {"state": "off"}}}), "read_anything", "412 the phone is off"),
        (json!({"power": {"state": {"state": "off"}}}), "control_device_power", "ok"),
        (json!({"display": {"screen": {"on": true, "locked": true}}}), "needs_unlocked", "423 the phone is locked"),
        (json!({"display": {"screen": {"on": false, "locked": false}}}), "needs_unlocked", "423 the screen is off"),
        (json!({"display": {"screen": {"on": false, "locked": true}}}), "read_anything", "ok"),
        // Rules 2 and 3.
        (json!({"net": {"wifi": {"on": false, "connected": null}}}), "needs_network", "ok"),
        (
            json!({"net": {"wifi": {"on": false, "connected": null}, "mobile": {"on": false, "in_service": true, "limit_mb": null, "used_mb": 0}, "airplane": {"on": true}}}),
            "needs_network",
            "airplane mode is on",
        ),
        (
            json!({"net": {"wifi": {"on": true, "connected": null}, "mobile": {"on": false, "in_service": true, "limit_mb": null, "used_mb": 0}}}),
            "needs_network",
            "not connected",
        ),
        (
            json!({"net": {"wifi": {"on": false, "connected": null}, "mobile": {"on": true, "in_service": false, "limit_mb": null, "used_mb": 0}}}),
            "needs_network",
            "out of service",
        ),
        (
            json!({"net": {"wifi": {"on": false, "connected": null}, "mobile": {"on": true, "in_service": true, "limit_mb": 100, "used_mb": 100}}}),
            "needs_network",
            "limit of 100 MB",
        ),
        (json!({"settings": {"location": {"on": false}}}), "needs_location", "412 location is off"),
        // Rule 4: the fake tools belong to no app of the allowlist.
        (json!({"power": {"battery": {"mode": "super_saving"}}}), "read_anything", "409 super saving"),
        (json!({"power": {"battery": {"mode": "saving"}}}), "read_anything", "ok"),
        // Rule 9.
        (json!({"perms": {"contacts": {"state": "deny"}}}), "needs_contacts", "403 permission `contacts` is denied"),
        (json!({"perms": {"contacts": {"state": "ask"}}}), "needs_contacts", "confirm 423"),
        // Rule 15.
        (json!({}), "wipe", "confirm 423"),
        (json!({}), "pay", "confirm 423"),
        (json!({}), "broken", "503"),
    ] {
        let seen = outcome(&mut phone(state.clone()), tool, json!({}));
        assert!(seen.contains(expected), "{tool} on {state}: `{seen}`, expected `{expected}`");
    }
}

#[test]
fn a_refused_call_never_reaches_its_tool() {
    let mut test = phone(json!({"power": {"state": {"state": "off"}}}));
    outcome(&mut test, "read_anything", json!({}));
    assert!(test.invoked().is_empty());
}

#[test]
fn confirmation_is_of_exactly_the_call() {
    let mut test = phone(json!({}));
    test.confirm("wipe", json!({"all": true}));
    assert_eq!(outcome(&mut test, "wipe", json!({"all": false})), "confirm 423");
    assert_eq!(outcome(&mut test, "wipe", json!({"all": true})), "ok");
}

#[test]
fn one_failure_does_not_stop_the_rest_of_a_turn() {
    let mut test = phone(json!({}));
    let result = test
        .step::<Sandbox>(
            Actor::Agent,
            &[("needs_moon", json!({})), ("broken", json!({})), ("read_anything", json!({}))],
        )
        .expect("a turn");
    assert_eq!(result.feedback.len(), 3);
    assert!(matches!(result.feedback.last().map(|feedback| &feedback.answer), Some(Answer::Done(_))));
}

#[test]
fn hidden_tools_are_neither_exposed_nor_callable() {
    let everything = phone(json!({})).reset::<Sandbox>(Value::Null).expect("a reset").exposed;
    assert_eq!(everything, None, "nothing is hidden: the host says what is installed");
    let mut test = phone(json!({}));
    let observation =
        test.reset::<Sandbox>(json!({"hidden": ["wipe"], "notices": [{"kind": "alarm"}]})).expect("a reset");
    let exposed = observation.exposed.expect("some are hidden");
    assert!(exposed.contains(&"pay".to_owned()) && !exposed.contains(&"wipe".to_owned()));
    assert_eq!(observation.notices, [json!({"kind": "alarm"})]);
    assert!(outcome(&mut test, "wipe", json!({})).starts_with("404"));
    assert!(outcome(&mut test, "read_anything", json!({})).starts_with("ok"));
}

#[test]
fn an_unknown_configuration_is_refused() {
    let refused = phone(json!({})).reset::<Sandbox>(json!({"hiden": []}));
    assert!(refused.is_err());
}
