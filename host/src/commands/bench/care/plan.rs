//! What the ablation runs: the numbers that are fixed before the first counted run, and those that the command line may change.

use std::collections::BTreeSet;

use loopwright_harness::Noise;
use loopwright_learn::care::surrogate::{Denominator, Surrogate};
use loopwright_learn::care::{Estimator, GroupSize, Options, Phi, Scheme};
use loopwright_learn::nn::{AdamWConfig, Decay, Schedule};
use loopwright_learn::rl::{RefillOn, Settings};
use loopwright_learn::sft::FitSettings;
use loopwright_packs::ablation::TOKEN_BUDGET;
use serde::Serialize;

use crate::cli_train::{CareBenchArgs, NoiseKind};

/// Members of a group unless something else is said.
const GROUP_SIZE: usize = 8;
/// Steps of a run, and of a quick one.
const STEPS: u64 = 300;
const STEPS_QUICK: u64 = 40;
/// Seeds of counted runs, and of a quick one.
const SEEDS: [u64; 5] = [0, 1, 2, 3, 4];
const SEEDS_QUICK: [u64; 1] = [100];
/// Fresh episodes that a policy is measured on, and in a quick run.
const EPISODES: u32 = 4_000;
const EPISODES_QUICK: u32 = 800;
/// Tasks of each kind that are measured on.
pub(super) const TEST_INSTANCES: u32 = 4;
/// Added to a seed for episodes that are measured on, so that they are nobody's training.
pub(super) const TEST_SEED: u64 = 1_000_000;
/// Passes of the cold start over the demonstrations, and demonstrations of a step.
const FIT_EPOCHS: u32 = 8;
const FIT_BATCH: usize = 64;
/// The peak rate of the cold start.
const FIT_RATE: f64 = 3e-3;

/// Arms that are run unless something else is said. The fixed composite is an appendix and has to be asked for.
const ARMS: [Estimator; 5] =
    [Estimator::Vanilla, Estimator::CareUncalibrated, Estimator::Care, Estimator::MeanCentred, Estimator::Gdpo];
const ARMS_QUICK: [Estimator; 3] = [Estimator::Vanilla, Estimator::CareUncalibrated, Estimator::Care];

/// The whole of it, as the report says it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Plan {
    pub(super) arms: Vec<Estimator>,
    pub(super) seeds: Vec<u64>,
    pub(super) steps: u64,
    pub(super) groups: usize,
    pub(super) group_sizes: Vec<usize>,
    pub(super) noises: Vec<NoiseKind>,
    pub(super) phi: Phi,
    pub(super) learning_rate: f64,
    pub(super) episodes: u32,
    pub(super) jobs: usize,
    pub(super) quick: bool,
}

/// What tells the runs of one seed apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Cell {
    pub(super) arm: Estimator,
    pub(super) group_size: GroupSize,
    pub(super) noise: NoiseKind,
}

impl Plan {
    pub(super) fn of(args: &CareBenchArgs) -> anyhow::Result<Self> {
        let quick = args.quick;
        let or = |given: &Vec<u64>, usual: &[u64]| if given.is_empty() { usual.to_vec() } else { given.clone() };
        let arms: Vec<Estimator> = if args.arms.is_empty() {
            if quick { ARMS_QUICK.to_vec() } else { ARMS.to_vec() }
        } else {
            args.arms.iter().map(|arm| arm.estimator()).collect()
        };
        let plan = Self {
            arms,
            seeds: or(&args.seeds, if quick { &SEEDS_QUICK } else { &SEEDS }),
            steps: args.steps.unwrap_or(if quick { STEPS_QUICK } else { STEPS }),
            groups: args.groups,
            group_sizes: if args.group_size.is_empty() { vec![GROUP_SIZE] } else { args.group_size.clone() },
            noises: if args.noise.is_empty() { vec![NoiseKind::Member] } else { args.noise.clone() },
            phi: args.schedule.phi()?,
            learning_rate: args.learning_rate,
            episodes: args.episodes.unwrap_or(if quick { EPISODES_QUICK } else { EPISODES }),
            jobs: usize::from(args.jobs),
            quick,
        };
        anyhow::ensure!(plan.episodes >= 2 * 2 * TEST_INSTANCES, "--episodes must be at least {}", 4 * TEST_INSTANCES);
        let distinct: BTreeSet<&u64> = plan.seeds.iter().collect();
        anyhow::ensure!(distinct.len() == plan.seeds.len(), "--seeds names one seed twice, and a seed is one pair");
        for size in &plan.group_sizes {
            plan.settings(
                0,
                Cell { arm: Estimator::Care, group_size: GroupSize::new(*size)?, noise: NoiseKind::Member },
            )?
            .check()?;
        }
        Ok(plan)
    }

    /// Every cell, arms innermost.
    pub(super) fn cells(&self) -> anyhow::Result<Vec<Cell>> {
        let mut cells = Vec::new();
        for noise in &self.noises {
            for size in &self.group_sizes {
                let group_size = GroupSize::new(*size)?;
                cells.extend(self.arms.iter().map(|arm| Cell { arm: *arm, group_size, noise: *noise }));
            }
        }
        Ok(cells)
    }

    /// Members of a test task.
    pub(super) fn members(&self) -> u32 {
        (self.episodes / (2 * TEST_INSTANCES)).max(2)
    }

    /// The settings of one run. All arms of a seed meet the same tasks, worlds and sampling seeds.
    pub(super) fn settings(&self, seed: u64, cell: Cell) -> anyhow::Result<Settings> {
        let denominator = Denominator::Constant {
            groups: self.groups,
            group_size: cell.group_size,
            token_budget: usize::try_from(TOKEN_BUDGET)?,
        };
        Ok(Settings {
            seed,
            groups: self.groups,
            members: cell.group_size,
            scheme: Scheme { estimator: cell.arm, phi: self.phi, options: Options::default() },
            surrogate: Surrogate::usual(denominator)?,
            optimizer: AdamWConfig::new(Schedule::constant(self.learning_rate)),
            epochs: 1,
            refills_max: 0,
            refill_on: RefillOn::Dropped,
            stale_updates_max: 0,
        })
    }

    /// The settings of the cold start; `examples` decide how many steps it has.
    pub(super) fn fit(&self, seed: u64, examples: usize) -> FitSettings {
        let steps = examples.div_ceil(FIT_BATCH) as u64 * u64::from(FIT_EPOCHS);
        let schedule = Schedule { decay: Decay::Cosine { steps, floor: 0.1 }, ..Schedule::constant(FIT_RATE) };
        FitSettings { seed, batch: FIT_BATCH, epochs: FIT_EPOCHS, optimizer: AdamWConfig::new(schedule) }
    }
}

impl NoiseKind {
    pub(super) fn noise(self) -> Noise {
        match self {
            Self::Member => Noise::Member,
            Self::Group => Noise::Group,
        }
    }
}
