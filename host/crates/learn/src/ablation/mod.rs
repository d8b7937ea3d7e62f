//! The ablation task for the tiny decoder: its closed vocabulary, the planner that acts in it, and demonstrations for a cold start. It knows the
//! task's tools, codes and requests, and none of its chances, plugins or rewards.
//!
//! An episode is one sequence of symbols: the mark of its request, then for each call the tool and, where the tool alone does not say it, the
//! code of the answer. Tools are chosen; everything else is given. The sequence is written once, as the episode goes, and handed out as it was
//! written: [`AblationPlanner`] records what it sampled, and nothing encodes a context a second time.
//!
//! # What a token costs
//!
//! The yardstick of the ablation, 10.83 tokens and 99.25 %, verifies fragile settings alone. Is that what a policy is rewarded for? Under s - w e with
//! e = tokens / B, verifying three reliable writes brings 0.0149 of success for 3.03 tokens: it pays while w / B is below 0.00492. At w = 0.2 and the
//! episode's whole budget, B = 48, it pays by 0.0023, and the reward's own optimum is to verify everything: 12.35 tokens and 100 %. A policy that got
//! there would look as if it had not got far enough. The cost is therefore measured against [`COST_BUDGET_TOKENS`], 32: not verifying reliable writes
//! then pays by 0.0040, and the yardstick is the reward's own optimum. A greater w would do the same for CARE and not for a rival that normalises
//! the cost by itself, whose trade-off depends on w and never on B: it would be handicapped. Episodes may still take 48 tokens; what lies over 32
//! costs 1.

mod demonstration;
mod planner;
#[cfg(test)]
pub(crate) mod tests;
mod vocabulary;
mod writer;

pub use demonstration::{DemonstrationError, demonstration};
pub use planner::AblationPlanner;
pub use vocabulary::{COST_BUDGET_TOKENS, Code, Mark, POSITIONS, Requests, Tool, VOCABULARY, shape};
