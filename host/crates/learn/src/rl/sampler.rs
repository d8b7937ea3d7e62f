//! Which task comes next. It knows no task.

use serde::{Deserialize, Serialize};

use crate::nn::random::Stream;

/// Samples tasks: all of them once in each round, in an order of the round's own. Its place counts groups that were trained or given up, never
/// groups that were merely sent out, so that what was in flight when a run ended comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampler {
    seed: u64,
    trained: u64,
    given_up: u64,
}

impl Sampler {
    /// At the beginning.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, trained: 0, given_up: 0 }
    }

    /// Groups that were trained on.
    #[must_use]
    pub const fn trained(&self) -> u64 {
        self.trained
    }

    /// Groups that were dropped, having too few valid members.
    #[must_use]
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    /// The next group's number in the run.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.trained.saturating_add(self.given_up)
    }

    /// The tasks of `count` groups from number `first` on, each below `tasks`; none when there are no tasks.
    #[must_use]
    pub fn tasks(&self, first: u64, count: usize, tasks: usize) -> Vec<usize> {
        let (mut drawn, mut order): (Vec<usize>, Option<(u64, Vec<usize>)>) = (Vec::with_capacity(count), None);
        for number in (first..).take(count) {
            let (Some(round), Some(place)) = (number.checked_div(tasks as u64), number.checked_rem(tasks as u64))
            else {
                break;
            };
            if order.as_ref().is_none_or(|(of, _)| *of != round) {
                order = Some((round, self.shuffled(round, tasks)));
            }
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            drawn.extend(order.as_ref().and_then(|(_, order)| order.get(place)));
        }
        drawn
    }

    /// Moves on past groups.
    pub(super) fn advance(&mut self, trained: u64, given_up: u64) {
        self.trained = self.trained.saturating_add(trained);
        self.given_up = self.given_up.saturating_add(given_up);
    }

    fn shuffled(&self, round: u64, tasks: usize) -> Vec<usize> {
        shuffled(&mut Stream::numbered(self.seed, round), tasks)
    }
}

/// The numbers below `count` in a random order (Durstenfeld's shuffle).
pub(crate) fn shuffled(stream: &mut Stream, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "counts are small, and a uniform number is at least 0"
        )]
        let other = ((stream.uniform() * (last + 1) as f64) as usize).min(last);
        order.swap(last, other);
    }
    order
}
