//! The ablation task for the tiny decoder: its closed vocabulary, the planner that acts in it, and demonstrations for a cold start. It knows the
//! task's tools, codes and requests, and none of its chances, plugins or rewards.
//!
//! An episode is one sequence of symbols: the mark of its request, then for each call the tool and, where the tool alone does not say it, the
//! code of the answer. Tools are chosen; everything else is given. The sequence is written once, as the episode goes, and handed out as it was
//! written: [`AblationPlanner`] records what it sampled, and nothing encodes a context a second time.

mod demonstration;
mod planner;
#[cfg(test)]
pub(crate) mod tests;
mod vocabulary;
mod writer;

pub use demonstration::{DemonstrationError, demonstration};
pub use planner::AblationPlanner;
pub use vocabulary::{Code, Mark, POSITIONS, Requests, Tool, VOCABULARY, shape};
