//! How much of a demonstration choices can reach: the gate that says whether the tables are rich enough. It knows no score.

use loopwright_contract::action::Action;
use loopwright_contract::context::Context;
use serde_json::Map;

use super::force::{Unreachable, force_with};
use super::specs::Specs;

/// What of one decision is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// Arguments of its calls; an action of another kind, or a call without any, counts as one.
    pub arguments: usize,
    /// Of those, reached.
    pub reached: usize,
    /// Why not all are.
    pub missed: Option<Unreachable>,
}

/// What of a gold decision is reached. What is missed is taken out of its call, and the rest tried again.
#[must_use]
pub fn reach(specs: &Specs, context: &Context, gold: &[Action]) -> Reach {
    let arguments = gold.iter().map(count).sum();
    match force_with(specs, context, gold) {
        Ok(_) => Reach { arguments, reached: arguments, missed: None },
        Err(error) => {
            let missed = missed(specs, context, gold, arguments, &error);
            Reach { arguments, reached: arguments - missed, missed: Some(error) }
        }
    }
}

fn count(action: &Action) -> usize {
    match action {
        Action::Call(call) => call.arguments.as_object().map_or(0, Map::len).max(1),
        _ => 1,
    }
}

/// How many arguments are missed; all of them where the act itself is out of reach. Never more than `all`.
fn missed(specs: &Specs, context: &Context, gold: &[Action], all: usize, first: &Unreachable) -> usize {
    let (mut rest, mut slot) = (gold.to_vec(), first.place().1.to_owned());
    for missed in 1..all {
        let name = slot.split('/').next().unwrap_or_default().to_owned();
        let mut stripped = false;
        for action in &mut rest {
            if let Action::Call(call) = action {
                stripped |= call.arguments.as_object_mut().is_some_and(|fields| fields.remove(&name).is_some());
            }
        }
        if name.is_empty() || !stripped {
            return all;
        }
        match force_with(specs, context, &rest) {
            Ok(_) => return missed,
            Err(error) => slot = error.place().1.to_owned(),
        }
    }
    all
}
