//! Decisions that were begun: who decides on the same context finds what was read of it, and where answers led.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use loopwright_contract::action::ActionSpace;
use loopwright_contract::context::{Context, Event};
use loopwright_contract::memory::MemoryItem;
use loopwright_contract::name::Lang;

use super::state::State;
use crate::pointer::scene::Scene;
use crate::pointer::specs::Specs;

/// Decisions that are kept, the latest: members of a group are asked one after the other.
pub(in crate::pointer) const WALKS_MAX: usize = 32;

/// What of a context a decision follows from.
#[derive(Debug)]
struct Begun {
    turn: u32,
    space: Arc<ActionSpace>,
    memory: Vec<MemoryItem>,
    lang: Lang,
    now: String,
    request: String,
    history: Vec<Event>,
    state: Arc<State>,
}

impl Begun {
    fn new(context: &Context, state: Arc<State>) -> Self {
        // Named one by one, so that whoever adds a field says here whether decisions follow from it.
        let Context {
            episode: _,
            task: _,
            task_digest: _,
            turn,
            rules: _,
            space,
            memory,
            lang,
            now,
            request,
            skills: _,
            history,
            remaining: _,
        } = context;
        Self {
            turn: *turn,
            space: Arc::clone(space),
            memory: memory.clone(),
            lang: lang.clone(),
            now: now.clone(),
            request: request.clone(),
            history: history.clone(),
            state,
        }
    }

    fn is_of(&self, context: &Context) -> bool {
        self.turn == context.turn
            && self.request == context.request
            && self.lang == context.lang
            && self.now == context.now
            && self.history == context.history
            && self.memory == context.memory
            && (Arc::ptr_eq(&self.space, &context.space) || self.space == context.space)
    }
}

/// Decisions that were begun, the latest first.
#[derive(Debug, Default)]
pub(in crate::pointer) struct Walks(Mutex<VecDeque<Begun>>);

impl Walks {
    /// The beginning of a decision.
    pub(super) fn begin(&self, specs: &Specs, context: &Context) -> Arc<State> {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = begun.iter().find(|begun| begun.is_of(context)) {
            return Arc::clone(&known.state);
        }
        drop(begun);
        let state = Arc::new(State::new(Scene::new(specs, context)));
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.truncate(WALKS_MAX - 1);
        begun.push_front(Begun::new(context, Arc::clone(&state)));
        state
    }
}

impl Specs {
    /// The beginning of a decision.
    pub(super) fn begin(&self, context: &Context) -> Arc<State> {
        self.walks().begin(self, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointer::testing::{after, call, english, remembering};
    use crate::pointer::walk::Walk;
    use crate::pointer::walk::state::STATES_MAX;

    #[test]
    fn decisions_on_one_context_share_their_tables_and_on_another_do_not() {
        let specs = Specs::new();
        let context = english("Turn on the lamp, and wake me at 7:30");
        let choice = |context: &Context, answers: &[usize]| {
            let mut walk = Walk::with(&specs, context);
            answers.iter().for_each(|answer| assert!(walk.take(*answer)));
            walk.shared_choice().map(Arc::clone)
        };
        let mut other = context.clone();
        other.remaining.steps -= 1;
        for answers in [&[][..], &[0], &[1, 0]] {
            let (first, again) = (choice(&context, answers).expect("one"), choice(&other, answers).expect("one"));
            assert!(Arc::ptr_eq(&first, &again));
            assert_eq!(Some(&*first), fresh(&context, answers).choice());
        }
        let told = serde_json::json!({"success": true, "message": "", "data": {"level": 4}});
        let mut moved = context.clone();
        moved.now = "2026-03-05T09:00:00+08:00[Asia/Shanghai]".to_owned();
        let mut fewer = context.clone();
        Arc::make_mut(&mut fewer.space).ask = false;
        let others = [
            remembering(context.clone(), "m-1", "the lamp is green"),
            after(context.clone(), call("set_lamp", serde_json::json!({})), told),
            moved,
            fewer,
            Context { turn: 3, ..context.clone() },
            Context { lang: Lang::chinese(), ..context.clone() },
            english("Turn off the lamp"),
        ];
        for other in &others {
            let (found, first) = (choice(other, &[]).expect("one"), choice(&context, &[]).expect("one"));
            assert!(!Arc::ptr_eq(&found, &first));
            assert_eq!(Some(&*found), fresh(other, &[]).choice());
        }
    }

    fn fresh(context: &Context, answers: &[usize]) -> Walk {
        let mut walk = Walk::new(context);
        answers.iter().for_each(|answer| assert!(walk.take(*answer)));
        walk
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let specs = Specs::new();
        let first = specs.begin(&english("Lamp 0"));
        for number in 1..=WALKS_MAX {
            specs.begin(&english(&format!("Lamp {number}")));
        }
        assert_eq!(specs.walks().0.lock().expect("a lock").len(), WALKS_MAX);
        assert!(!Arc::ptr_eq(&first, &specs.begin(&english("Lamp 0"))));
        // A long walk, and then every other first answer: no more than the limit are kept, and what is not kept comes out the same.
        let context = english("Wake me at 7:30, write Bob1 and Bob2");
        let root = specs.begin(&context);
        let mut last = usize::MAX;
        for round in 0..STATES_MAX {
            let mut walk = Walk::with(&specs, &context);
            let mut fresh = Walk::new(&context);
            let mut number = round;
            while let Some(choice) = walk.choice() {
                assert_eq!(Some(choice), fresh.choice());
                let answer = number % choice.answers.len();
                number = number / choice.answers.len() + round;
                assert!(walk.take(answer) && fresh.take(answer));
            }
            assert_eq!(walk.finish(), fresh.finish());
            last = root.kept().1;
            assert!(last <= STATES_MAX && root.kept().0 <= STATES_MAX);
        }
        assert_eq!(last, STATES_MAX);
    }
}
