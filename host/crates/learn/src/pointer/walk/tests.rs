use loopwright_contract::context::Event;
use loopwright_contract::name::Lang;
use loopwright_contract::tool::Effect;
use proptest::prelude::*;
use serde_json::{Map, json};

use super::state::put;
use super::*;
use crate::pointer::candidates::Pick;
use crate::pointer::candidates::moment::Format;
use crate::pointer::choice::OPTIONS_MAX;
use crate::pointer::facts::{Asked, Told};
use crate::pointer::testing::{after, call, context, english, remembering};
use crate::pointer::{BUCKETS, GRAMS_MAX, Kind, STATUSES, UNITS_MAX};

/// Whether a table keeps what its type promises.
fn check(choice: &Choice, units: &[Unit]) {
    assert!((1..=OPTIONS_MAX).contains(&choice.answers.len()));
    assert!(choice.past.iter().all(|past| usize::from(past.status) < STATUSES));
    let bags = choice.answers.iter().map(|answer| &answer.bag).chain([&choice.question.bag]);
    for bag in bags {
        assert!(bag.grams().len() <= GRAMS_MAX && bag.grams().iter().all(|gram| *gram < BUCKETS));
    }
    for answer in &choice.answers {
        assert!(answer.facts.iter().all(|fact| fact.abs() <= 4.0));
        if let Some(span) = &answer.span {
            assert!(!span.is_empty() && span.end <= units.len(), "{span:?} of {}", units.len());
        }
    }
    assert!(choice.question.facts.iter().all(|fact| fact.abs() <= 4.0));
}

/// Walks to the end by taking answers as numbers tell.
fn wander(context: &Context, mut numbers: impl Iterator<Item = usize>) -> Walked {
    let mut walk = Walk::new(context);
    let units = Arc::clone(walk.units());
    assert!(units.len() <= UNITS_MAX);
    while let Some(choice) = walk.choice() {
        check(choice, &units);
        let answer = numbers.next().unwrap_or(0) % choice.answers.len();
        assert!(walk.take(answer));
    }
    walk.finish()
}

#[test]
fn what_is_demanded_and_has_no_value_is_not_offered() {
    let mut walk = Walk::new(&english("Turn on the lamp"));
    let choice = walk.choice().expect("a choice");
    assert_eq!(choice.question.kind, Kind::Act);
    let acts: Vec<Act> = walk.acts().to_vec();
    assert!(!acts.contains(&Act::Tool(3)), "shoes without a size are offered");
    assert!(!acts.contains(&Act::Replace), "there is nothing to replace");
    assert!(acts.contains(&Act::Finish) && acts.contains(&Act::Recall));
    assert!(!walk.take(acts.len()), "an answer that is none was taken");
    assert!(walk.take(0));
    let with_size = Walk::new(&english("Shoes of size 901"));
    assert!(with_size.acts().contains(&Act::Tool(3)));
}

#[test]
fn later_calls_of_a_decision_are_calls_of_tools() {
    let walked =
        wander(&english("Lamp on, lamp off, 40, 50, at 7:30"), std::iter::repeat_n(0, 1).chain(std::iter::repeat(1)));
    assert!((2..=CALLS_MAX).contains(&walked.proposed.len()), "{:?}", walked.proposed);
    let ids: std::collections::BTreeSet<String> = walked
        .proposed
        .iter()
        .map(|proposed| match proposed {
            Proposed::Action { value: Action::Call(call) } => call.id.as_str().to_owned(),
            other => panic!("not a call: {other:?}"),
        })
        .collect();
    assert_eq!(ids.len(), walked.proposed.len());
}

#[test]
fn a_call_that_waits_can_be_confirmed() {
    let waits = json!({"success": false, "code": 423, "error": "wait", "data": {"confirmation": true}});
    let context = after(english("Text Bob \"hi\""), call("write_text", json!({"content": "hi"})), waits);
    let walk = Walk::new(&context);
    assert!(walk.acts().contains(&Act::Confirm(0)));
    let place = walk.acts().iter().position(|act| *act == Act::Confirm(0)).expect("an act");
    let mut walk = walk;
    assert!(walk.take(place));
    let proposed = walk.finish().proposed;
    assert!(matches!(
        proposed.as_slice(),
        [Proposed::Action { value: Action::Ask { question, pending: Some(id) } }] if id.as_str() == "c1" && question.contains("write text")
    ));
}

#[test]
fn arguments_are_put_where_they_belong() {
    let mut arguments = json!({});
    let at = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    put(&mut arguments, &at(&["a", "b"]), json!(1));
    put(&mut arguments, &at(&["c"]), json!([]));
    put(&mut arguments, &at(&["c", "0"]), json!("x"));
    put(&mut arguments, &at(&["c", "5"]), json!("lost"));
    put(&mut arguments, &at(&["c", "1", "d"]), json!(2));
    assert_eq!(arguments, json!({"a": {"b": 1}, "c": ["x", {"d": 2}]}));
    assert_eq!(get(&arguments, &at(&["c", "1", "d"])), Some(&json!(2)));
    assert_eq!(get(&arguments, &at(&["c", "x"])), None);
}

#[test]
fn an_empty_context_can_be_decided_on() {
    let mut empty = english("");
    empty.space = Arc::default();
    let walked = wander(&empty, std::iter::repeat(1));
    assert_eq!(walked.proposed.len(), 1);
    assert!(walked.units.is_empty());
}

#[test]
fn a_policy_that_asks_for_more_is_stopped() {
    let mut context = english("Say one two three four");
    let space = Arc::make_mut(&mut context.space);
    let slots: Map<String, Value> = (0..24).map(|number| (format!("s{number}"), json!({"type": "string"}))).collect();
    space.tools.truncate(1);
    space.tools[0].arguments_schema = json!({"type": "object", "properties": slots});
    let mut walk = Walk::new(&context);
    while let Some((goal, candidates)) = walk.asked() {
        let wanted = |candidate: &Candidate| match goal {
            Goal::Act => matches!(candidate.pick, Pick::Act(_)),
            _ => matches!(candidate.pick, Pick::Words(_) | Pick::Unit(_) | Pick::More(true)),
        };
        let answer = candidates.iter().position(wanted).expect("an answer");
        assert!(walk.take(answer));
    }
    let walked = walk.finish();
    assert_eq!(walked.taken.len(), CHOICES_MAX);
    assert!((1..CALLS_MAX).contains(&walked.proposed.len()));
}

#[test]
fn a_moment_is_moved_by_few_lengths() {
    let context = english("10 minutes, 20 minutes, 30 minutes, 40 minutes, 50 minutes before 7:30 am");
    let walk = Walk::new(&context);
    assert_eq!(lengths(walk.scene()).len(), SHIFTS_MAX);
    let moment = super::super::candidates::moment::of_written("07:30").expect("a moment");
    assert_eq!(walk.state.shifts(moment, Format::Time).len(), 1 + 2 * SHIFTS_MAX);
}

/// A fact of the act that is a tool of this place.
fn fact(walk: &mut Walk, place: usize, fact: Told) -> f32 {
    let at = walk.acts().iter().position(|act| *act == Act::Tool(place)).expect("the tool is offered");
    walk.choice().expect("a choice").answers[at].facts[fact as usize]
}

#[test]
fn what_a_call_does_at_most_is_told() {
    let mut context = english("Lamp on at 7:30, text \"hi\"");
    // The alarms can be asked for and no more; what some call of a tool does is not what all of them do.
    Arc::make_mut(&mut context.space).tools[1].access.iter_mut().for_each(|rule| rule.effect = Effect::Read);
    let mut walk = Walk::new(&context);
    let effects = [0, 1, 2].map(|place| fact(&mut walk, place, Told::Effect));
    assert_eq!(effects, [0.5, 0.0, 1.0], "writes, reads, cannot be undone");
}

#[test]
fn what_became_of_the_last_action_is_told_and_what_became_of_each_tool() {
    let told = |context: &Context| {
        let mut walk = Walk::new(context);
        let last = walk.choice().expect("a choice").question.facts[Asked::Last1 as usize];
        (last, [0, 1].map(|place| fact(&mut walk, place, Told::Outcome)))
    };
    let before = english("Lamp on at 7:30");
    assert_eq!(told(&before), (0.0, [0.0, 0.0]));
    let good = json!({"success": true, "message": "", "data": {}});
    let lamp = after(before, call("set_lamp", json!({"action": "enable"})), good.clone());
    assert_eq!(told(&lamp), (1.0, [1.0, 0.0]));
    let bad = json!({"success": false, "code": 404, "error": "no such alarm", "data": null});
    let alarm = after(lamp, call("keep_alarm", json!({"action": "query"})), bad.clone());
    assert_eq!(told(&alarm), (-1.0, [1.0, -1.0]));
    // The last call of a tool counts, not the best one.
    let again = after(alarm, call("set_lamp", json!({"action": "disable"})), bad);
    assert_eq!(told(&again), (-1.0, [-1.0, -1.0]));
    let mended = after(again.clone(), call("keep_alarm", json!({"action": "query"})), good);
    assert_eq!(told(&mended), (1.0, [-1.0, 1.0]));
    // A question to the user is neither.
    let mut asked = again;
    let question = Action::Ask { question: "Which lamp?".to_owned(), pending: None };
    asked.history.push(Event::Decided { text: String::new(), actions: vec![question] });
    assert_eq!(told(&asked), (0.0, [-1.0, -1.0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_walk_ends_in_a_decision_that_the_contract_takes(
        request in "[a-z 0-9:,.\"“”明天早上七点半把灯打开%]{0,120}",
        said in "[a-zA-Z0-9 是的明天.]{0,40}",
        chinese in any::<bool>(),
        numbers in prop::collection::vec(0_usize..400, 0..64),
    ) {
        let lang = if chinese { Lang::chinese() } else { Lang::english() };
        let mut context = remembering(context(lang, &request), "m-1", "The code is 1234, 10 minutes before");
        context.history.push(loopwright_contract::context::Event::User { text: said });
        let envelope = json!({"success": true, "message": "", "data": {"at": "2026-03-02T14:05", "level": 7, "items": [{"name": "Bob Li"}]}});
        let context = after(context, call("keep_alarm", json!({"action": "query"})), envelope);
        let walked = wander(&context, numbers.into_iter());
        prop_assert!((1..=CALLS_MAX).contains(&walked.proposed.len()));
        let all_calls = walked.proposed.iter().all(|proposed| matches!(proposed, Proposed::Action { value: Action::Call(_) }));
        prop_assert!(walked.proposed.len() == 1 || all_calls);
    }
}
