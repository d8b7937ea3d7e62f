//! `export`: what other trainers read. It trains nothing.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::task::{Split, Task};
use loopwright_harness::{Harness, Noise};
use loopwright_learn::care::{Group, GroupId, GroupSize, Member, Options, Scheme, Void};
use loopwright_learn::rl::{Order, Ordered, Policy, Rolled, Rollouts as _, Sampler};
use serde::Serialize;

use crate::cli::Shared;
use crate::cli_train::{CourseKind, ExportArgs};
use crate::exit::Exit;
use crate::output;
use crate::training::ablation::AblationCourse;
use crate::training::course::{Course, load};
use crate::training::field::{Field, Ground};
use crate::training::phone::PhoneCourse;
use crate::wire::{self, Engine, Worlds};

/// One member of a group, as trainers of the verl and TRL kind read it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// Its group.
    uid: String,
    task: &'a str,
    prompt: &'a str,
    /// What was taken of each choice, by its place.
    response_ids: Vec<u32>,
    /// 1 for a token that is trained on.
    response_mask: Vec<u8>,
    old_log_probs: &'a [f32],
    advantages: Vec<f64>,
    reward: f64,
    success: bool,
    progress: f64,
    cost: f64,
    policy: String,
}

/// Runs it.
///
/// # Errors
/// A policy that cannot be read, nothing to write, files that cannot be written, something that is not installed.
pub fn export(shared: &Shared, args: &ExportArgs) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.weights.is_some() || args.trajectories.is_some(),
        "nothing to write\nhint: name a file with --weights, --trajectories, or both"
    );
    match args.course {
        CourseKind::Ablation => export_of(shared, args, &AblationCourse { seed: args.seed }),
        CourseKind::Phone => export_of(shared, args, &PhoneCourse::default()),
    }
}

fn export_of<C: Course>(shared: &Shared, args: &ExportArgs, course: &C) -> anyhow::Result<Exit> {
    let policy = load(course, &args.policy, 0)?;
    if let Some(file) = &args.weights {
        let bytes = policy.parameters().to_bytes()?;
        std::fs::write(file, &bytes).with_context(|| format!("`{}` cannot be written", file.display()))?;
        output::note(format_args!("{}: {} bytes, policy {}", file.display(), bytes.len(), policy.digest()?));
    }
    match &args.trajectories {
        Some(file) => trajectories(shared, args, course, &policy, file),
        None => Ok(Exit::Good),
    }
}

fn trajectories<C: Course>(
    shared: &Shared,
    args: &ExportArgs,
    course: &C,
    policy: &C::Policy,
    file: &Path,
) -> anyhow::Result<Exit> {
    let host = wire::host(shared, Engine::default(), Worlds::of(&course.worlds()))?.pinned();
    let harness = Harness::new(Arc::new(host), course.harness(), Vec::new())?;
    let ground = Ground::new(&harness, Noise::Member, Arc::default());
    let tasks = course.tasks(Split::Train)?;
    let (size, count) = (GroupSize::new(args.group_size)?, args.groups as usize);
    let places = Sampler::new(args.seed).tasks(0, count, tasks.len());
    let ordered = |(number, task): (usize, &usize)| Ordered { id: GroupId(number as u64), task: *task };
    let groups = places.iter().enumerate().map(ordered).collect();
    let order = Order { step: 1, seed: args.seed, members: size, groups };
    let rolled = Field::new(ground, Arc::clone(&tasks), course, 0.0).roll(policy, &order)?;
    let scheme =
        Scheme { estimator: args.estimator.estimator(), phi: args.schedule.phi()?, options: Options::default() };
    let of = |rolled: &Rolled<<C::Policy as Policy>::Sample>| {
        let member = |member: &loopwright_learn::rl::RolledMember<_>| {
            // As the trainer has it: nothing can be learnt from a member without a recording, and that is our doing.
            member.measured.filter(|_| member.recording.is_some()).map_or(Err(Void::Infrastructure), Member::new)
        };
        Group::new(rolled.id, size, rolled.members.iter().map(member).collect())
    };
    let assignment = scheme.assign(&rolled.iter().map(of).collect::<Result<Vec<_>, _>>()?)?;
    let mut out =
        BufWriter::new(std::fs::File::create(file).with_context(|| format!("`{}` cannot be written", file.display()))?);
    let mut lines = 0_u64;
    for ((rolled, credits), place) in rolled.iter().zip(assignment.groups()).zip(&places) {
        let Some(task): Option<&Task> = tasks.get(*place) else { continue };
        for (member, credit) in rolled.members.iter().zip(&credits.slots) {
            let (Some(measured), Some(credit), Some(recording)) = (member.measured, credit, &member.recording) else {
                continue;
            };
            let tokens = recording.log_probs.len();
            let line = Line {
                uid: rolled.id.to_string(),
                task: task.id.as_str(),
                prompt: &task.request,
                response_ids: C::tokens(&recording.sample),
                response_mask: vec![1; tokens],
                old_log_probs: &recording.log_probs,
                advantages: vec![credit.advantage; tokens],
                reward: credit.reward,
                success: measured.success,
                progress: measured.progress,
                cost: measured.cost,
                policy: recording.policy.to_string(),
            };
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")?;
            lines += 1;
        }
    }
    out.flush()?;
    let counters = assignment.counters();
    output::note(format_args!(
        "{}: {lines} members of {} groups; {} void, {} groups too small, {} degenerate",
        file.display(),
        counters.groups,
        counters.void,
        counters.too_small,
        counters.degenerate
    ));
    Ok(Exit::Good)
}
