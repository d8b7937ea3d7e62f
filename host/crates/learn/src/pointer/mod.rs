//! The phone policy: a decision as choices among options that a context offers, never as free text. It knows no tool by name, no pack and no reward.
//!
//! A turn is a row of choices: an act (a tool, or ask, refuse, load a skill, use the memory, finish), then a value for each slot of the tool, then
//! whether another call follows. Values are pointers: to an enum value, a typed or raw span of the request, a leaf of an earlier result, something
//! remembered, a boolean. What a tool is enters through the words of its specification and through overlap, never as an identity, so that a tool
//! that was never seen can be chosen.

mod candidates;
mod choice;
mod facts;
mod force;
mod glossary;
mod grams;
mod kept;
mod lexical;
mod memo;
pub mod net;
mod offered;
mod planner;
mod reach;
mod scene;
mod slip;
mod spec;
mod specs;
#[cfg(test)]
mod testing;
mod turns;
mod units;
mod variation;
mod walk;
mod written;

pub use choice::{
    Answer, BUCKETS, Bag, Choice, FACT_MAX, GRAMS_MAX, Kind, OPTION_FACTS, OPTIONS_MAX, PAST_MAX, Past, Play,
    QUESTION_FACTS, Question, STATUSES, TYPE_BITS, Taken, UNITS_MAX, Unit,
};
pub use force::{Unreachable, force, force_with};
pub use lexical::Lexical;
pub use planner::{
    EPISODES_MAX, PolicyPlanner, REQUESTS_KEPT_MAX, SCORES_KEPT_MAX, Style, TURN_CHOICES_MAX, Turn, Turns,
};
pub use reach::{Reach, reach};
pub use slip::Slip;
pub use specs::{SPECS_MAX, Specs};
pub use variation::{Renumbering, Variation};
pub use walk::{CHOICES_MAX, Walk, Walked};
