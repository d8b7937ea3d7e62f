//! Wrong turns that this policy could take: what a clumsy teacher does before it does what is right. It knows no world, and so not whether a wrong
//! turn does harm.
//!
//! Each is one call of an offered tool that the choices can say, with values that were observed: a call of another tool, the gold's own call with
//! another value, or the last call over again.

use loopwright_contract::action::Action;
use loopwright_contract::context::{Context, Event};
use loopwright_contract::tool::{Effect, ToolCall};
use serde::{Deserialize, Serialize};

use super::choice::{Kind, Taken};
use super::force::force_with;
use super::scene::Status;
use super::specs::Specs;
use super::walk::Walk;
use super::walk::act::Act;
use crate::nn::random::Stream;

/// Tells the random numbers of wrong turns from others of the same seed.
const SLIPS: u64 = 0x736c_6970;

/// How a turn is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slip {
    /// A call of a tool that the gold does not call next, with values at random.
    OtherTool,
    /// The call that the gold makes next, with another value in one place.
    OtherValue,
    /// The last call again, where it was a read or had failed, and does not wait for the user's word.
    Again,
}

impl Slip {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OtherTool, Self::OtherValue, Self::Again];

    /// A wrong turn where `gold` would be right, a function of context and seed: of a kind at random, or of the next kind that can be said here.
    /// None where there is none, such as where no tool is offered.
    #[must_use]
    pub fn before(specs: &Specs, context: &Context, gold: &[Action], seed: u64) -> Option<(Self, Action)> {
        let mut stream = Stream::numbered(seed, SLIPS);
        let first = below(&mut stream, Self::ALL.len());
        let kinds = Self::ALL.iter().cycle().skip(first).take(Self::ALL.len());
        kinds.copied().find_map(|kind| {
            let action = kind.action(specs, context, gold, &mut stream)?;
            let wrong = gold.iter().all(|right| !is_same(right, &action));
            // What cannot be forced could not be learnt without a mask.
            (wrong && force_with(specs, context, std::slice::from_ref(&action)).is_ok()).then_some((kind, action))
        })
    }

    fn action(self, specs: &Specs, context: &Context, gold: &[Action], stream: &mut Stream) -> Option<Action> {
        match self {
            Self::OtherTool => other_tool(Walk::with(specs, context), gold, stream),
            Self::OtherValue => other_value(specs, context, gold, stream),
            Self::Again => {
                let taken = force_with(specs, context, &[Action::Call(last_call(context)?)]).ok()?;
                single(replay(specs, context, &taken)?)
            }
        }
    }
}

/// A number below `bound`; 0 for a bound of 0. The bias is below 2^-32 for bounds that occur.
fn below(stream: &mut Stream, bound: usize) -> usize {
    let place = stream.bits().checked_rem(bound as u64).unwrap_or(0);
    usize::try_from(place).unwrap_or(0)
}

fn other_tool(mut walk: Walk, gold: &[Action], stream: &mut Stream) -> Option<Action> {
    let called = |act: &Act| {
        let named = |call: &ToolCall| act.is_named(walk.scene(), call.tool.as_str());
        gold.iter().any(|action| matches!(action, Action::Call(call) if named(call)))
    };
    let others = walk.acts().iter().enumerate().filter(|(_, act)| matches!(act, Act::Tool(_)) && !called(act));
    let others: Vec<usize> = others.map(|(place, _)| place).collect();
    let place = *others.get(below(stream, others.len()))?;
    walk.take(place).then_some(())?;
    single(follow(walk, &[], stream))
}

/// The gold's call up to a slot that gets another answer; then the gold's answers again where the same is asked.
fn other_value(specs: &Specs, context: &Context, gold: &[Action], stream: &mut Stream) -> Option<Action> {
    let [Action::Call(_)] = gold else { return None };
    let right = force_with(specs, context, gold).ok()?;
    let slots = right.iter().enumerate().filter(|(_, taken)| taken.choice.question.kind == Kind::Slot);
    let slots: Vec<usize> = slots.map(|(place, _)| place).collect();
    let place = *slots.get(below(stream, slots.len()))?;
    let (kept, turning, rest) = (right.get(..place)?, right.get(place)?, right.get(place + 1..)?);
    let mut walk = replay(specs, context, kept)?;
    let others = turning.choice.answers.len().saturating_sub(1);
    let other = below(stream, others);
    walk.take(other + usize::from(other >= turning.answer)).then_some(())?;
    single(follow(walk, rest, stream))
}

/// A walk after these answers.
fn replay(specs: &Specs, context: &Context, taken: &[Taken]) -> Option<Walk> {
    let mut walk = Walk::with(specs, context);
    taken.iter().all(|taken| walk.take(taken.answer)).then_some(walk)
}

/// Goes to the end: as `like` did where it was asked the same, and otherwise at random, with no further call.
fn follow(mut walk: Walk, like: &[Taken], stream: &mut Stream) -> Walk {
    while let Some(choice) = walk.choice() {
        let same = like.iter().find(|taken| {
            taken.choice.question == choice.question && taken.choice.answers.len() == choice.answers.len()
        });
        let answer = match (same, choice.question.kind) {
            (Some(taken), _) => taken.answer,
            (None, Kind::More) => 0,
            (None, _) => below(stream, choice.answers.len()),
        };
        if !walk.take(answer) {
            break;
        }
    }
    walk
}

/// The one call that a walk came to.
fn single(walk: Walk) -> Option<Action> {
    let mut actions = walk.actions();
    actions.pop().filter(|action| matches!(action, Action::Call(_)) && actions.is_empty())
}

/// The last call, where to make it again changes nothing: it was a read, or it failed and does not wait for the user's word.
fn last_call(context: &Context) -> Option<ToolCall> {
    let call = context.history.iter().rev().find_map(|event| match event {
        Event::Decided { actions, .. } => Some(match actions.last() {
            Some(Action::Call(call)) => Some(call.clone()),
            _ => None,
        }),
        _ => None,
    })??;
    let spec = context.space.tools.iter().find(|spec| spec.name == call.tool)?;
    let reads = spec.access_rule(&call.arguments).is_some_and(|rule| rule.effect == Effect::Read);
    // Ids are unique in their turn alone: the newest answer with the id is the call's.
    let status = context.history.iter().rev().find_map(|event| match event {
        Event::Answered { call_id, envelope, .. } if *call_id == call.id => Some(Status::of(envelope)),
        _ => None,
    });
    let again = match status {
        None | Some(Status::Done) => reads,
        // It would wait anew, and what the user confirms is the call that waits.
        Some(Status::Waits) => false,
        Some(_) => true,
    };
    again.then_some(call)
}

fn is_same(left: &Action, right: &Action) -> bool {
    match (left, right) {
        (Action::Call(left), Action::Call(right)) => left.digest() == right.digest(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::pointer::testing::{after, call, english};

    fn made(context: &Context, gold: &[Action]) -> BTreeMap<Slip, Vec<ToolCall>> {
        let specs = Specs::new();
        let mut made: BTreeMap<Slip, Vec<ToolCall>> = BTreeMap::new();
        for seed in 0..60 {
            let Some((slip, action)) = Slip::before(&specs, context, gold, seed) else { continue };
            assert_eq!(Slip::before(&specs, context, gold, seed), Some((slip, action.clone())), "seed {seed}");
            assert!(force_with(&specs, context, std::slice::from_ref(&action)).is_ok(), "{action:?}");
            let Action::Call(call) = action else { panic!("not a call: {action:?}") };
            made.entry(slip).or_default().push(call);
        }
        made
    }

    #[test]
    fn each_kind_is_a_call_that_can_be_said_and_that_the_gold_does_not_make() {
        let query = call("keep_alarm", json!({"action": "query"}));
        let context = after(
            english("Set the lamp to 40%, not to 55, and an alarm at 7:30 am"),
            query.clone(),
            json!({"success": true, "message": "", "data": {"alarms": [{"time": "06:10", "title": "Run"}]}}),
        );
        let right = call("set_lamp", json!({"action": "set", "level": 40}));
        let made = made(&context, &[Action::Call(right.clone())]);
        assert_eq!(made.keys().copied().collect::<Vec<_>>(), Slip::ALL);
        assert!(made[&Slip::OtherTool].iter().all(|call| call.tool != right.tool));
        assert!(made[&Slip::OtherValue].iter().all(|call| call.tool == right.tool && call.digest() != right.digest()));
        assert!(made[&Slip::Again].iter().all(|call| call.digest() == query.digest()));
        let levels: Vec<_> =
            made[&Slip::OtherValue].iter().filter_map(|call| call.arguments["level"].as_i64()).collect();
        assert!(levels.contains(&55), "another value out of the request: {levels:?}");
    }

    #[test]
    fn only_reads_and_failures_are_made_again() {
        let right = [Action::Call(call("set_lamp", json!({"action": "set", "level": 40})))];
        let done = json!({"success": true, "message": "", "data": {}});
        let failed = json!({"success": false, "message": "", "code": 404, "data": {}});
        let waits = json!({"success": false, "message": "", "code": 423, "data": {"confirmation": true}});
        for (tool, arguments, envelope, expected) in [
            ("keep_alarm", json!({"action": "query"}), &done, true),
            ("keep_alarm", json!({"action": "query"}), &failed, true),
            ("set_lamp", json!({"action": "enable"}), &done, false),
            ("set_lamp", json!({"action": "enable"}), &failed, true),
            ("set_lamp", json!({"action": "enable"}), &waits, false),
        ] {
            let context = after(english("Set the lamp to 40%"), call(tool, arguments.clone()), envelope.clone());
            let again = made(&context, &right).contains_key(&Slip::Again);
            assert_eq!(again, expected, "{tool} {arguments}, answered {envelope}");
        }
        assert!(!made(&english("Set the lamp to 40%"), &right).contains_key(&Slip::Again), "nothing was called");
    }

    #[test]
    fn where_no_tool_is_offered_nothing_is_made() {
        let mut context = english("Set the lamp to 40%");
        Arc::make_mut(&mut context.space).tools.clear();
        assert!(made(&context, &[]).is_empty());
    }
}
