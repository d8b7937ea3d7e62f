//! The walk as the planner sees it.

use std::sync::Arc;

use loopwright_contract::action::Proposed;
use loopwright_contract::context::Context;

use super::choice::{Choice, Taken, Unit};
use super::planner::{Turn, Turns};
use super::specs::Specs;
use super::walk::Walk;

impl Turns for Arc<Specs> {
    type Turn = Walk;

    fn begin(&self, context: &Context) -> Walk {
        Walk::with(self, context)
    }
}

impl Turn for Walk {
    fn units(&self) -> &Arc<[Unit]> {
        Self::units(self)
    }

    fn choice(&self) -> Option<&Choice> {
        Self::choice(self)
    }

    fn shared_choice(&self) -> Option<&Arc<Choice>> {
        Self::shared_choice(self)
    }

    fn take(&mut self, answer: usize) -> bool {
        Self::take(self, answer)
    }

    fn finish(self) -> (Vec<Proposed>, Vec<Taken>) {
        let walked = Self::finish(self);
        (walked.proposed, walked.taken)
    }
}
