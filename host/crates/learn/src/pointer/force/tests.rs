use loopwright_contract::action::Proposed;
use loopwright_contract::name::{CallId, Lang, MemoryId, SkillName};
use serde_json::json;

use super::*;
use crate::pointer::testing::{after, call, context, english, remembering};

/// The decision that the forced choices make when they are taken again.
fn again(context: &Context, taken: &[Taken]) -> Vec<Action> {
    again_with(&Specs::new(), context, taken)
}

fn again_with(specs: &Specs, context: &Context, taken: &[Taken]) -> Vec<Action> {
    let mut walk = Walk::with(specs, context);
    for choice in taken {
        assert!(walk.choice() == Some(&choice.choice), "another choice than the one that was forced");
        assert!(walk.take(choice.answer));
    }
    assert_eq!(walk.choice(), None);
    let proposed = walk.finish().proposed;
    proposed
        .into_iter()
        .map(|proposed| match proposed {
            Proposed::Action { value } => value,
            other => panic!("not an action: {other:?}"),
        })
        .collect()
}

fn calls(actions: &[Action]) -> Vec<(String, Value)> {
    let of = |action: &Action| match action {
        Action::Call(call) => (call.tool.as_str().to_owned(), call.arguments.clone()),
        other => panic!("not a call: {other:?}"),
    };
    actions.iter().map(of).collect()
}

fn tool(tool: &str, arguments: Value) -> Action {
    Action::Call(call(tool, arguments))
}

#[test]
fn calls_come_back_as_they_were() {
    let noted = after(
        english("Wake me 10 minutes before it starts"),
        call("keep_alarm", json!({"action": "query"})),
        json!({"success": true, "message": "", "data": {"events": [{"start": "2026-03-02T14:05", "title": "Team lunch"}]}}),
    );
    for (context, gold) in [
        (english("Turn the lamp on"), vec![tool("set_lamp", json!({"action": "enable"}))]),
        (english("Set the lamp to 40%"), vec![tool("set_lamp", json!({"action": "set", "level": 40}))]),
        (
            english("Lamp off, and an alarm at 7:30 am called Early run on Monday and Wednesday"),
            vec![
                tool("set_lamp", json!({"action": "disable"})),
                tool(
                    "keep_alarm",
                    json!({"action": "create", "time": "07:30", "title": "Early run", "days": ["mon", "wed"]}),
                ),
            ],
        ),
        (
            context(Lang::chinese(), "给张伟发短信：我会晚到"),
            vec![tool("write_text", json!({"contact": "张伟", "content": "我会晚到"}))],
        ),
        (
            english("Text Bob \"hi\", from Rome to Oslo"),
            vec![tool(
                "write_text",
                json!({"content": "hi", "contact": "Bob", "route": {"from": "Rome", "to": "Oslo"}}),
            )],
        ),
        (noted.clone(), vec![tool("keep_alarm", json!({"action": "create", "time": "13:55"}))]),
        (noted, vec![tool("write_text", json!({"content": "Team lunch"}))]),
    ] {
        let taken = force(&context, &gold).unwrap_or_else(|error| panic!("{gold:?}: {error}"));
        assert_eq!(calls(&again(&context, &taken)), calls(&gold));
    }
}

#[test]
fn the_memory_is_searched_kept_changed_and_forgotten() {
    let id = MemoryId::new("m-1").expect("an id");
    let known = remembering(
        english("The code of my bicycle lock is 9071 now, update it"),
        "m-1",
        "The code of the bicycle lock is 1234",
    );
    let forced = |context: &Context, action: Action| {
        let taken = force(context, std::slice::from_ref(&action)).unwrap_or_else(|error| panic!("{action:?}: {error}"));
        again(context, &taken).pop().expect("an action")
    };
    let replaced = Action::Replace { memory: id.clone(), content: "The code of the bicycle lock is 9071".to_owned() };
    assert_eq!(forced(&known, replaced.clone()), replaced);
    assert!(
        matches!(forced(&known, Action::Forget { memory: id.clone(), call: None }), Action::Forget { memory, .. } if memory == id)
    );
    let query = Action::Recall {
        query: "code of the bicycle lock".to_owned(),
        limit: 5,
        category: None,
        mode: SearchMode::Relevance,
    };
    assert!(matches!(forced(&known, query), Action::Recall { query, .. } if query.contains("bicycle lock")));
    let kept = Action::Remember {
        content: "The garden gate opens with 5512".to_owned(),
        category: Some("important_info".to_owned()),
        title: None,
        tags: Vec::new(),
        valid_until: None,
    };
    let context = english("Please memorise this: 5512 opens the garden gate.");
    assert!(
        matches!(forced(&context, kept), Action::Remember { content, .. } if content == "5512 opens the garden gate")
    );
}

#[test]
fn questions_refusals_and_answers_reach_the_same_effect() {
    let waits = after(
        english("Text Bob \"hi\""),
        call("write_text", json!({"content": "hi"})),
        json!({"success": false, "code": 423, "error": "needs the user's word", "data": {"confirmation": true}}),
    );
    let forced = |context: &Context, action: Action| {
        let taken = force(context, std::slice::from_ref(&action)).unwrap_or_else(|error| panic!("{action:?}: {error}"));
        again(context, &taken).pop().expect("an action")
    };
    let ask = |question: &str| Action::Ask { question: question.to_owned(), pending: None };
    let plain = english("Set an alarm for my parking space");
    let asked = |context: &Context, question: &str| match forced(context, ask(question)) {
        Action::Ask { question, pending: None } => question,
        other => panic!("not a question: {other:?}"),
    };
    assert!(asked(&plain, "At what time should the alarm ring?").contains("time"));
    assert!(asked(&plain, "Which parking space is it?").contains("parking space"));
    assert!(asked(&plain, "May I turn the lamp on now?").contains("now"));
    let pending = CallId::new("c1").expect("an id");
    let confirm = Action::Ask { question: "Shall I?".to_owned(), pending: Some(pending.clone()) };
    assert!(matches!(forced(&waits, confirm), Action::Ask { pending: Some(id), .. } if id == pending));
    let refused = forced(&plain, Action::Refuse { reason: "no".to_owned() });
    assert!(matches!(refused, Action::Refuse { reason } if reason.contains("cannot")));
    let told = after(
        english("How bright is the lamp?"),
        call("set_lamp", json!({"action": "set", "level": 4})),
        json!({"success": true, "message": "", "data": {"level": 62, "name": "Lamp"}}),
    );
    let answer = |text: &str| Action::Finish { answer: text.to_owned(), data: None };
    assert_eq!(forced(&told, answer("It is at 62%.")), answer("62"));
    assert_eq!(forced(&told, answer("All is well.")), answer("All done."));
    assert!(
        matches!(force(&told, &[answer("It is at 63%.")]), Err(Unreachable::Unobserved { slot, .. }) if slot == "answer")
    );
    let skill = Action::LoadSkill { skill: SkillName::new("evening-light").expect("a name") };
    assert_eq!(forced(&plain, skill.clone()), skill);
}

#[test]
fn what_was_not_observed_is_refused_with_its_place() {
    let context = english("Set an alarm");
    for (gold, act, slot) in [
        (tool("keep_alarm", json!({"action": "create", "time": "07:30"})), "keep_alarm", "time"),
        (tool("set_lamp", json!({"action": "set", "level": 40})), "set_lamp", "level"),
        (tool("set_lamp", json!({"action": "blink"})), "set_lamp", "action"),
        (tool("set_lamp", json!({"action": "enable", "colour": "red"})), "set_lamp", "colour"),
        (tool("write_text", json!({"content": "a secret"})), "write_text", "content"),
        (tool("pair_shoes", json!({"size": 901})), "pair_shoes", ""),
        (tool("no_such_tool", json!({})), "no_such_tool", ""),
    ] {
        let error = force(&context, std::slice::from_ref(&gold)).expect_err("it was reached");
        assert_eq!(error.place(), (act, slot), "{error}");
    }
    let list = tool("keep_alarm", json!({"action": "create", "days": ["mon", "tue", "wed", "mon", "tue"]}));
    assert!(force(&context, &[list]).is_err());
}
