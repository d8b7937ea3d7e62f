use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::name::Lang;
use serde_json::{Value, json};

use super::*;
use crate::pointer::testing::{after, call, context, english};

fn decide(context: &Context) -> Vec<Action> {
    let decided = Lexical::new()
        .decide_batch(&[DecisionRequest { context, seed: 7 }])
        .pop()
        .expect("an answer")
        .expect("a decision");
    let action = |proposed: Proposed| match proposed {
        Proposed::Action { value } => value,
        other => panic!("not an action: {other:?}"),
    };
    decided.proposed.into_iter().map(action).collect()
}

fn first(context: &Context) -> (String, Value) {
    match decide(context).first() {
        Some(Action::Call(call)) => (call.tool.as_str().to_owned(), call.arguments.clone()),
        other => panic!("not a call: {other:?}"),
    }
}

#[test]
fn plain_requests_are_met_in_both_languages() {
    for (context, tool, arguments) in [
        (english("Turn off the lamp"), "set_lamp", json!({"action": "disable"})),
        (english("Create an alarm at 7:30 am"), "keep_alarm", json!({"action": "create", "time": "07:30"})),
        (
            context(Lang::chinese(), "新建一个早上七点半的闹钟"),
            "keep_alarm",
            json!({"action": "create", "time": "07:30"}),
        ),
    ] {
        assert_eq!(first(&context), (tool.to_owned(), arguments), "{}", context.request);
    }
}

#[test]
fn what_is_done_ends() {
    let done = after(
        english("Turn off the lamp"),
        call("set_lamp", json!({"action": "disable"})),
        json!({"success": true, "message": "off", "data": {"changed": true}}),
    );
    assert!(matches!(decide(&done).as_slice(), [Action::Finish { .. }]));
}
