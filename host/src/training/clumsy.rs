//! A teacher of the phone that errs on purpose: before turns of the gold it plants wrong ones, and then the gold goes on. It does not judge them:
//! which turns are erroneous is found from evidence, as it would be found of any other teacher.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use loopwright_contract::action::Proposed;
use loopwright_contract::context::Context;
use loopwright_contract::digest::{PolicyDigest, TaskDigest};
use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::Task;
use loopwright_harness::planners::Scripted;
use loopwright_learn::pointer::{Slip, Specs};
use serde_json::json;

use super::watching::actions;

/// The greatest share of turns of the gold before which something is planted: some of the gold is left without.
pub const PLANT_MAX: f64 = 0.9;

/// The turns of an episode that were planted, with what was.
pub type Planted = BTreeMap<u32, Slip>;

/// Plays gold, with wrong turns in between. At most one comes before each turn of the gold.
pub struct Clumsy<'a> {
    scripted: Scripted,
    /// Turns that the gold of each task takes at most.
    lengths: BTreeMap<TaskDigest, u32>,
    specs: &'a Specs,
    share: f64,
    planted: Mutex<BTreeMap<EpisodeId, Planted>>,
}

impl<'a> Clumsy<'a> {
    /// Knows the gold of `tasks`; `share`, 0 to [`PLANT_MAX`], is how often something is planted before a turn of it.
    #[must_use]
    pub fn new(tasks: &[Task], specs: &'a Specs, share: f64) -> Self {
        // Where the gold does not finish, the teacher does.
        let length = |task: &Task| u32::try_from(task.gold.len()).unwrap_or(u32::MAX).saturating_add(1);
        let lengths = tasks.iter().map(|task| (task.digest(), length(task))).collect();
        Self { scripted: Scripted::new(tasks), lengths, specs, share, planted: Mutex::default() }
    }

    /// What was planted in each episode since this was last asked.
    #[must_use]
    pub fn take(&self) -> BTreeMap<EpisodeId, Planted> {
        std::mem::take(&mut *self.planted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn decide(
        &self,
        planted: &mut BTreeMap<EpisodeId, Planted>,
        request: &DecisionRequest<'_>,
    ) -> Result<Decision, PlannerFault> {
        let DecisionRequest { context, seed } = *request;
        let before = planted.get(&context.episode);
        let slips = before.map_or(0, |planted| u32::try_from(planted.len()).unwrap_or(u32::MAX));
        // The gold counts its own turns alone.
        let own = Context { turn: context.turn.saturating_sub(slips), ..context.clone() };
        let gold = self.scripted.decide_batch(&[DecisionRequest { context: &own, seed }]).pop();
        let gold = gold.unwrap_or_else(|| Err(PlannerFault::Failed("the gold decided nothing".to_owned())))?;
        let just = before.is_some_and(|planted| planted.contains_key(&context.turn.wrapping_sub(1)));
        if just || uniform(seed) >= self.share || !self.has_room(&own) {
            return Ok(gold);
        }
        Ok(match Slip::before(self.specs, context, &actions(&gold), seed) {
            None => gold,
            Some((slip, value)) => {
                planted.entry(context.episode.clone()).or_default().insert(context.turn, slip);
                Decision { proposed: vec![Proposed::Action { value }], ..Decision::default() }
            }
        })
    }

    /// Whether the rest of the gold fits the budget after one more turn; `own` counts turns of the gold.
    fn has_room(&self, own: &Context) -> bool {
        let length = self.lengths.get(&own.task_digest).copied().unwrap_or(u32::MAX);
        own.remaining.steps > length.saturating_sub(own.turn)
    }
}

/// Uniform in [0, 1), a multiple of 2^-53, for a seed of which all bits are random.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn uniform(seed: u64) -> f64 {
    (seed >> 11) as f64 / (1_u64 << 53) as f64
}

impl Planner for Clumsy<'_> {
    fn version(&self) -> PolicyVersion {
        let sampling = json!({"plant": self.share});
        PolicyVersion { name: "clumsy".to_owned(), digest: PolicyDigest::of(b"clumsy/1"), sampling }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let mut planted = self.planted.lock().unwrap_or_else(PoisonError::into_inner);
        requests.iter().map(|request| self.decide(&mut planted, request)).collect()
    }
}
