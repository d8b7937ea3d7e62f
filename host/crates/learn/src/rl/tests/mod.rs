//! Training against a small native world through the real planner: steps, their loss, and what is refused.

mod loss;
mod resume;
mod steps;

use std::time::Duration;

use loopwright_contract::digest::{ContentDigest, TaskDigest};
use loopwright_contract::name::{EpisodeId, PluginName};
use loopwright_contract::stopwatch::Stopwatch;

use super::*;
use crate::ablation::tests::{Play, play, requests};
use crate::ablation::{AblationPlanner, Mark, shape};
use crate::care::surrogate::{Denominator, Surrogate, SurrogateValues};
use crate::care::{Estimator, GroupSize, Measured, Options, Phi, PhiValues, Scheme};
use crate::decoder::{Decoder, Sequence, Shape};
use crate::nn::{AdamWConfig, Schedule};

/// Tokens of an episode, as in the real pack.
const BUDGET: u64 = 48;
pub(crate) const TASKS: usize = 8;

/// A stopwatch that stands still.
#[derive(Default)]
pub(crate) struct Still;

impl Stopwatch for Still {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(5)
    }
}

/// Members that are to fail, by order, group of the order and slot.
type Fails = dyn Fn(&Order, usize, usize) -> bool;

/// A change of what was recorded.
type Mend = dyn Fn(&mut Recording<Sequence>);

/// Rolls out in the native world.
pub(crate) struct Native {
    pub(crate) source: Source,
    pub(crate) orders: Vec<Order>,
    /// Which members are void.
    pub(crate) void: Box<Fails>,
    /// Changes what is measured.
    pub(crate) measure: Box<dyn Fn(Measured) -> Measured>,
    /// Changes what was recorded.
    pub(crate) mend: Box<Mend>,
    /// Whether the step is still wanted.
    pub(crate) wanted: Box<dyn Fn() -> bool>,
}

impl Default for Native {
    fn default() -> Self {
        let stamp = |name: &str| PluginStamp {
            name: PluginName::new(name).unwrap(),
            digest: ContentDigest::of(name.as_bytes()),
        };
        Self {
            source: Source {
                plugins: vec![stamp("ablation"), stamp("ablation-verdict")],
                tasks: (0..TASKS).map(|task| TaskDigest::of(&[task as u8])).collect(),
            },
            orders: Vec::new(),
            void: Box::new(|_, _, _| false),
            measure: Box::new(|measured| measured),
            mend: Box::new(|_| {}),
            wanted: Box::new(|| true),
        }
    }
}

impl Rollouts<Decoder> for Native {
    fn source(&self) -> Source {
        self.source.clone()
    }

    fn roll(&mut self, policy: &Decoder, order: &Order) -> Result<Vec<Rolled<Sequence>>, RolloutFault> {
        self.orders.push(order.clone());
        let members = order.members.get();
        let planner = AblationPlanner::new(policy, requests(), order.groups.len() * members, false)
            .map_err(|error| RolloutFault { what: error.to_string() })?;
        let one = |(group, ordered): (usize, &Ordered), slot: usize| Play {
            name: format!("g{group:03}.{slot:03}"),
            mark: if ordered.task.is_multiple_of(2) { Mark::Reliable } else { Mark::Fragile },
            seed: order.seed ^ (group as u64) << 20 ^ (slot as u64) << 8,
        };
        let groups = order.groups.iter().enumerate();
        let plays: Vec<Play> = groups.flat_map(|group| (0..members).map(move |slot| one(group, slot))).collect();
        let played = play(&planner, &plays);
        let mut recordings = planner.take_recordings();
        let mut all = plays.iter().zip(played).map(|(play, played)| {
            let success = played.really == [true; 3];
            let progress = played.really.iter().filter(|really| **really).count() as f64 / 3.0;
            let cost = crate::care::cost_of(played.tokens, crate::ablation::COST_BUDGET_TOKENS);
            let mut recording = recordings.remove(&EpisodeId::new(&*play.name).unwrap());
            recording.iter_mut().for_each(&self.mend);
            let measured = (self.measure)(Measured { success, progress, cost });
            RolledMember { measured: Some(measured), tokens: played.tokens, recording }
        });
        let mut rolled = Vec::new();
        for (group, ordered) in order.groups.iter().enumerate() {
            let mut of_group: Vec<_> = all.by_ref().take(members).collect();
            for (slot, member) in of_group.iter_mut().enumerate() {
                if (self.void)(order, group, slot) {
                    (member.measured, member.recording) = (None, None);
                }
            }
            rolled.push(Rolled { id: ordered.id, members: of_group });
        }
        Ok(rolled)
    }

    fn wanted(&self) -> bool {
        (self.wanted)()
    }
}

pub(crate) fn settings(estimator: Estimator, seed: u64) -> Settings {
    let (groups, members) = (4, GroupSize::new(4).unwrap());
    let phi = Phi::new(PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 }).unwrap();
    let denominator = Denominator::Constant { groups, group_size: members, token_budget: BUDGET as usize };
    Settings {
        seed,
        groups,
        members,
        scheme: Scheme { estimator, phi, options: Options::default() },
        surrogate: Surrogate::usual(denominator).unwrap(),
        optimizer: AdamWConfig::new(Schedule::constant(2e-3)),
        epochs: 1,
        refills_max: 0,
        refill_on: RefillOn::Dropped,
        stale_updates_max: 0,
    }
}

/// Small enough for many steps.
pub(crate) fn small() -> Shape {
    Shape { width: 12, layers: 1, heads: 2, hidden: 8, ..shape() }
}

pub(crate) fn decoder(seed: u64) -> Decoder {
    Decoder::new(small(), seed).unwrap()
}

pub(crate) fn trainer(settings: Settings, native: &Native) -> Trainer<Decoder> {
    Trainer::new(decoder(1), None, settings, native).unwrap()
}
