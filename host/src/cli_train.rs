//! The command line of what trains and of what measures training: what was said, and nothing of what it means.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loopwright_learn::care::{Estimator, Phi, PhiError, PhiValues};
use serde::{Deserialize, Serialize};

/// How members of a group are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// Outcome alone, divided by the group's deviation.
    Vanilla,
    /// One fixed reward of success less cost, divided by the deviation.
    Composite,
    /// CARE's schedule, divided by the bare deviation.
    CareUncalibrated,
    /// CARE.
    Care,
    /// CARE's schedule, centred and not divided.
    MeanCentred,
    /// Success and cost normalised each by itself.
    Gdpo,
}

impl Arm {
    /// What computes it.
    #[must_use]
    pub fn estimator(self) -> Estimator {
        match self {
            Self::Vanilla => Estimator::Vanilla,
            Self::Composite => Estimator::Composite,
            Self::CareUncalibrated => Estimator::CareUncalibrated,
            Self::Care => Estimator::Care,
            Self::MeanCentred => Estimator::MeanCentred,
            Self::Gdpo => Estimator::Gdpo,
        }
    }
}

/// What seeds the noise of a member's world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseKind {
    /// Each member meets noise of its own.
    Member,
    /// The members of a group meet the same noise.
    Group,
}

/// The parameters of CARE's schedule; where a controller is at work, what it begins with.
#[derive(Debug, Clone, Copy, Args)]
pub struct ScheduleArgs {
    /// The weight of the cost.
    #[arg(long, default_value_t = 0.2)]
    pub lambda_eff: f64,
    /// The weight of progress.
    #[arg(long, default_value_t = 0.1)]
    pub lambda_prog: f64,
    /// Groups that succeed less often are shaped by progress.
    #[arg(long, default_value_t = 0.3)]
    pub p_low: f64,
    /// Groups that succeed this often are taught to spend less.
    #[arg(long, default_value_t = 0.8)]
    pub p_high: f64,
}

impl ScheduleArgs {
    /// The schedule.
    ///
    /// # Errors
    /// Parameters without a meaning, each with its range.
    pub fn phi(&self) -> Result<Phi, PhiError> {
        let Self { lambda_prog, lambda_eff, p_low, p_high } = *self;
        Phi::new(PhiValues { lambda_prog, lambda_eff, p_low, p_high })
    }
}

/// The examples at the end of `bench care --help`.
const CARE_AFTER: &str = "\
Examples:
  loopwright bench care --quick --json               three arms, one seed, 40 steps; fails when a sign is wrong
  loopwright bench care --out target/care            the pre-registered run: five arms, seeds 0 to 4
  loopwright bench care --arms composite --seeds 0,1,2,3,4
  loopwright bench care --arms care,care_uncalibrated,gdpo --group-size 4,8,16,32 --noise member,group --seeds 0,1

The last line of --json is an array of {arm, seed, success, tokens, ...}, one for each run.";

/// `bench care`.
#[derive(Debug, Args)]
#[command(after_help = CARE_AFTER)]
pub struct CareBenchArgs {
    /// Arms vanilla, care_uncalibrated and care on one seed for 40 steps, well under two minutes; fails when a sign is wrong.
    #[arg(long)]
    pub quick: bool,
    /// The arms [default: all but composite].
    #[arg(long, value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,
    /// The seeds [default: 0 to 4]. Each is one pair in every comparison.
    #[arg(long, value_delimiter = ',')]
    pub seeds: Vec<u64>,
    /// Steps of each run [default: 300].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub steps: Option<u64>,
    /// Groups of a step.
    #[arg(long, default_value_t = 16)]
    pub groups: usize,
    /// Members of a group; several make a sweep [default: 8].
    #[arg(long, value_delimiter = ',')]
    pub group_size: Vec<usize>,
    /// What seeds a member's noise; both make a sweep [default: member].
    #[arg(long, value_enum, value_delimiter = ',')]
    pub noise: Vec<NoiseKind>,
    /// The learning rate.
    #[arg(long, default_value_t = 3e-3)]
    pub learning_rate: f64,
    /// The schedule.
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Fresh episodes that each policy is measured on, sampled and greedy [default: 4000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(16..=100_000))]
    pub episodes: Option<u32>,
    /// Runs side by side, each on one thread. Changes no result.
    #[arg(long, short = 'j', default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub jobs: u8,
    /// Where metrics, the report, the curves and `runs.jsonl`, a line for each run, go.
    #[arg(long, default_value = "target/care", value_name = "DIR")]
    pub out: PathBuf,
}

/// The examples at the end of `train --help`, and the exit codes.
const TRAIN_AFTER: &str = "\
Examples:
  loopwright train sft --course ablation --out runs/sft          demonstrations of the teacher, then passes over them
  loopwright train sft --out runs/clumsy --plant 0.3             a teacher of the phone that errs; --no-mask learns its errors too
  loopwright train rl --course ablation --from runs/sft --out runs/care
  loopwright train rl --course ablation --from runs/sft --estimator vanilla --out runs/vanilla --steps 100
  loopwright train status runs/care
  loopwright train compare runs/care runs/vanilla --chart curves.svg
  loopwright train resume runs/care                              after Ctrl-C, a full disk or a crash

Ctrl-C once ends after the step in flight, twice drops it; what was written is whole either way. While the teacher still plays there is no step, and
what it showed is made again. A run that is killed or loses power goes on from its newest checkpoint: `rl` writes one after each step, `sft` as often
as a twentieth of the time allows, and at the end of each pass. What comes out is the same to the bit.

Exit codes:
  0  all steps were taken
  1  it ended early, and can be resumed
  2  bad arguments, a run that cannot go on, files that cannot be written
  3  something is not installed: run `loopwright doctor`";

/// `train`.
#[derive(Debug, Args)]
#[command(after_help = TRAIN_AFTER)]
pub struct TrainArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TrainCommand,
}

/// `train …`.
#[derive(Debug, Subcommand)]
pub enum TrainCommand {
    /// Supervised fine-tuning on what a teacher shows, erroneous turns masked.
    Sft(SftArgs),
    /// Reinforcement learning in the plugins' worlds.
    Rl(Box<RlArgs>),
    /// Goes on with a run from its newest whole checkpoint.
    Resume(RunFolderArgs),
    /// Says how far a run is.
    Status(RunFolderArgs),
    /// Puts runs beside each other: what they came to on training tasks and on dev, and their curves.
    Compare(CompareArgs),
}

/// What is trained, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum CourseKind {
    /// The pointer policy on the built-in phone pack.
    Phone,
    /// The tiny decoder on the ablation task.
    Ablation,
}

/// A part of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitKind {
    /// For training.
    Train,
    /// For choosing.
    Dev,
    /// For reporting: read it once for each policy that is reported.
    Test,
}

/// A run's folder.
#[derive(Debug, Args)]
pub struct RunFolderArgs {
    /// The run's folder.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
}

/// `train compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The runs' folders.
    #[arg(value_name = "DIR", required = true)]
    pub runs: Vec<PathBuf>,
    /// Draws their curves into a file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
}

/// `train sft`.
#[derive(Debug, Args)]
pub struct SftArgs {
    /// What is trained, and on what.
    #[arg(long, value_enum, default_value = "phone")]
    pub course: CourseKind,
    /// Where the run goes.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Seeds weights, teacher and order.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Times that the teacher plays each task; what it does not pass is no demonstration.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..=512))]
    pub teacher_members: u32,
    /// Demonstrations of a step.
    #[arg(long, default_value_t = 64)]
    pub batch: usize,
    /// Passes over the demonstrations.
    #[arg(long, default_value_t = 8)]
    pub epochs: u32,
    /// The highest learning rate.
    #[arg(long, default_value_t = 3e-3)]
    pub learning_rate: f64,
    /// What is taken off the weights at each step, times the rate.
    #[arg(long, default_value_t = 0.01)]
    pub weight_decay: f64,
    /// Phone: the share of steps in which n-grams have other numbers: which words are the same is then learnt, and not what they mean.
    #[arg(long, default_value_t = 1.0)]
    pub renumber: f64,
    /// Phone: the share of other acts that are not offered.
    #[arg(long, default_value_t = 0.0)]
    pub drop_acts: f64,
    /// Phone: the share of facts that are not told in a step.
    #[arg(long, default_value_t = 0.0)]
    pub drop_facts: f64,
    /// Phone: the share of turns of the gold, 0 to 0.9, before which the teacher makes a wrong one: another tool, another value, the last call
    /// again. `demonstrations.json` says how many there were, and how many were found.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub plant: f64,
    /// Learns erroneous turns like any other, to see what masking them is worth.
    #[arg(long)]
    pub no_mask: bool,
}

/// `train rl`.
#[derive(Debug, Args)]
pub struct RlArgs {
    /// What is trained, and on what.
    #[arg(long, value_enum, default_value = "phone")]
    pub course: CourseKind,
    /// The policy to begin with: a run's folder, or a file of weights [default: fresh weights].
    #[arg(long, value_name = "PATH")]
    pub from: Option<PathBuf>,
    /// Where the run goes.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Seeds tasks, sampling and worlds.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Steps.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub steps: u64,
    /// How members of a group are compared.
    #[arg(long, value_enum, default_value = "care")]
    pub estimator: Arm,
    /// Groups of a step.
    #[arg(long, default_value_t = 16)]
    pub groups: usize,
    /// Members of a group.
    #[arg(long, default_value_t = 8)]
    pub group_size: usize,
    /// What seeds a member's noise.
    #[arg(long, value_enum, default_value = "member")]
    pub env_noise: NoiseKind,
    /// The learning rate.
    #[arg(long, default_value_t = 1e-3)]
    pub learning_rate: f64,
    /// The schedule.
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Updates on the samples of one step.
    #[arg(long, default_value_t = 1)]
    pub epochs: u32,
    /// What the KL to the policy that the run begins with weighs, 0 to 1; 0 leaves it out.
    #[arg(long, default_value_t = 0.0, value_name = "BETA")]
    pub kl: f64,
    /// Times that a step sends out again for groups that were dropped.
    #[arg(long, default_value_t = 1)]
    pub refills: u32,
    /// Phone: the share of steps in which n-grams have other numbers, see `train sft --help`.
    #[arg(long, default_value_t = 0.0)]
    pub renumber: f64,
    /// Steps between two measurements on dev.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub dev_every: u64,
    /// Times that each dev task is played then.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(2..=512))]
    pub dev_members: u32,
    /// Lets the rule controller change the schedule, by dev success against this target.
    #[arg(long, value_name = "TARGET")]
    pub controller: Option<f64>,
}

/// The examples at the end of `eval --help`, and the exit codes.
const EVAL_AFTER: &str = "\
Examples:
  loopwright eval --policy shipped --split test --json     the last line is the object that `run` prints
  loopwright eval --policy lexical --split dev --by-family
  loopwright eval --policy runs/care --split dev
  loopwright eval --policy runs/care --course ablation --split dev --sampled

Exit codes:
  0  done
  1  done, and an episode is void
  2  bad arguments, or no such policy
  3  something is not installed: run `loopwright doctor`";

/// `eval`.
#[derive(Debug, Args)]
#[command(after_help = EVAL_AFTER)]
pub struct EvalArgs {
    /// `shipped`, a baseline (`lexical`, `random`, `idle`, `scripted`), a run's folder, or a file of weights.
    #[arg(long)]
    pub policy: String,
    /// On what.
    #[arg(long, value_enum, default_value = "phone")]
    pub course: CourseKind,
    /// Which part of the pack.
    #[arg(long, value_enum, default_value = "dev")]
    pub split: SplitKind,
    /// Samples at temperature 1 instead of taking what is likeliest.
    #[arg(long)]
    pub sampled: bool,
    /// Seed of sampling, and of random planners.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Episodes side by side. Changes no result.
    #[arg(long, short = 'j', default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub jobs: u8,
    /// Shows each family.
    #[arg(long)]
    pub by_family: bool,
    /// Where trajectories go: a new folder; default: the next free one under target/runs.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// The examples at the end of `export --help`.
const EXPORT_AFTER: &str = "\
Examples:
  loopwright export --policy runs/care --weights care.safetensors
  loopwright export --policy runs/care --trajectories groups.jsonl --groups 32 --group-size 8 --estimator care

A line of the trajectories is one member of a group: uid (its group), prompt, response_ids, response_mask, old_log_probs, advantages (one for each
token), reward, success, progress, cost, policy. A void member is left out and counted.";

/// `export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_AFTER)]
pub struct ExportArgs {
    /// Of what course.
    #[arg(long, value_enum, default_value = "phone")]
    pub course: CourseKind,
    /// A run's folder, or a file of weights.
    #[arg(long, value_name = "PATH", required = true)]
    pub policy: PathBuf,
    /// Writes the weights to this file, as safetensors with plain names.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Rolls out groups, and writes them with their advantages to this file, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    pub trajectories: Option<PathBuf>,
    /// Groups.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub groups: u32,
    /// Members of a group.
    #[arg(long, default_value_t = 8)]
    pub group_size: usize,
    /// How members of a group are compared.
    #[arg(long, value_enum, default_value = "care")]
    pub estimator: Arm,
    /// The schedule.
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Seeds tasks, sampling and worlds.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}
