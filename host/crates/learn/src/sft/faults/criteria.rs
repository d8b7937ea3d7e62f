//! When criteria came to hold, and when they were lost.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::trajectory::Trajectory;

use super::FindError;
use super::view::View;

/// What the verdicts on prefixes say.
pub(super) struct Criteria {
    /// Turns after which a criterion that held does not hold.
    pub(super) lost: BTreeSet<u32>,
    /// Turns at whose end a criterion came to hold that holds at the end.
    pub(super) gained: BTreeSet<u32>,
    /// Losses that no single turn explains.
    pub(super) unlocated: u32,
}

/// The course of one criterion: whether it held after so many steps.
type Course = BTreeMap<u32, bool>;

/// A criterion was lost.
struct Loss {
    turn: u32,
    /// The first turn after which it may have held again.
    regained: Option<u32>,
}

impl Criteria {
    pub(super) fn of(trajectory: &Trajectory, step_turns: &[u32], view: &View<'_>) -> Result<Self, FindError> {
        let mut courses: BTreeMap<(u32, &str), Course> = BTreeMap::new();
        for judged in &trajectory.verdicts {
            if judged.upto as usize > step_turns.len() {
                return Err(FindError::Steps { upto: judged.upto, steps: step_turns.len() });
            }
            for criterion in judged.verdict.criteria() {
                let course = courses.entry((judged.check, criterion.id.as_str())).or_default();
                // Before the first step it held or not, whether that prefix was judged or not.
                course.entry(0).or_insert(criterion.held_at_reset);
                course.insert(judged.upto, criterion.passed);
            }
        }
        let mut criteria = Self { lost: BTreeSet::new(), gained: BTreeSet::new(), unlocated: 0 };
        let mut losses = Vec::new();
        for course in courses.values() {
            criteria.follow(course, step_turns, view, &mut losses);
        }
        // Without gold, what was lost for a while is legal where something else came to hold for good in the meantime.
        let meanwhile = |loss: &Loss| {
            let regained = loss.regained.filter(|_| view.gold.is_empty());
            regained.is_some_and(|regained| {
                criteria.gained.range(loss.turn + 1..regained.max(loss.turn + 1)).next().is_some()
            })
        };
        let lost = losses.iter().filter(|loss| !meanwhile(loss)).map(|loss| loss.turn).collect();
        criteria.lost = lost;
        Ok(criteria)
    }

    fn follow(&mut self, course: &Course, step_turns: &[u32], view: &View<'_>, losses: &mut Vec<Loss>) {
        let mut last = None;
        let holds_at_end = course.values().next_back() == Some(&true);
        for ((from, before), (upto, after)) in course.iter().zip(course.iter().skip(1)) {
            if before == after {
                continue;
            }
            let between: BTreeSet<u32> = step_turns.iter().take(*upto as usize).skip(*from as usize).copied().collect();
            if *after {
                if let Some(loss) = last.take().and_then(|place: usize| losses.get_mut(place)) {
                    loss.regained = between.first().copied();
                }
                if holds_at_end {
                    self.gained.extend(between);
                }
                continue;
            }
            let mut changing =
                view.turns.iter().filter(|seen| between.contains(&seen.turn) && !seen.changes.is_empty());
            match (changing.next(), changing.next()) {
                (Some(seen), None) if view.is_gold(seen) => {}
                (Some(seen), None) => {
                    last = Some(losses.len());
                    losses.push(Loss { turn: seen.turn, regained: None });
                }
                _ => self.unlocated += 1,
            }
        }
    }
}
