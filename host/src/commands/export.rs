//! `export`: what other trainers read. It trains nothing.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::task::{Split, Task};
use loopwright_harness::{Harness, Noise};
use loopwright_learn::care::{Assignment, Group, GroupId, GroupSize, Member, Options, Scheme, Void};
use loopwright_learn::rl::{Order, Ordered, Policy, Rolled, RolledMember, Rollouts as _, Sampler};
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

/// What a course's policy samples.
type SampleOf<C> = <<C as Course>::Policy as Policy>::Sample;

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
    let assignment = compared(&scheme, size, &rolled)?;
    let mut out =
        BufWriter::new(std::fs::File::create(file).with_context(|| format!("`{}` cannot be written", file.display()))?);
    let asked: Vec<&Task> = places.iter().filter_map(|place| tasks.get(*place)).collect();
    let lines = write::<C>(&mut out, &asked, &rolled, &assignment)?;
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

/// Compares the members of each group, as the trainer does.
fn compared<S>(scheme: &Scheme, size: GroupSize, rolled: &[Rolled<S>]) -> anyhow::Result<Assignment> {
    let of = |rolled: &Rolled<S>| {
        let member = |member: &RolledMember<S>| {
            // As the trainer has it: nothing can be learnt from a member without a recording, and that is our doing.
            member.measured.filter(|_| member.recording.is_some()).map_or(Err(Void::Infrastructure), Member::new)
        };
        Group::new(rolled.id, size, rolled.members.iter().map(member).collect())
    };
    Ok(scheme.assign(&rolled.iter().map(of).collect::<Result<Vec<_>, _>>()?)?)
}

/// Writes a line for each member that was assigned something, and says how many; `tasks` stand beside the groups.
fn write<C: Course>(
    out: &mut impl Write,
    tasks: &[&Task],
    rolled: &[Rolled<SampleOf<C>>],
    assignment: &Assignment,
) -> anyhow::Result<u64> {
    let mut lines = 0_u64;
    for ((rolled, credits), task) in rolled.iter().zip(assignment.groups()).zip(tasks) {
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
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
            lines += 1;
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use loopwright_contract::digest::PolicyDigest;
    use loopwright_learn::care::{Estimator, Measured, Phi, PhiValues};
    use loopwright_learn::decoder::{Choice, Sequence};
    use loopwright_learn::nn::Allowed;
    use loopwright_learn::rl::Recording;
    use serde_json::{Value, json};

    use super::*;

    /// Symbols 2 and 4 were chosen, 0 and 9 given.
    fn recording(log_probs: [f32; 2]) -> Option<Recording<Sequence>> {
        let choice = |at: usize| Choice { at, allowed: Allowed::first(15) };
        let sample = Sequence { symbols: vec![0, 2, 9, 4], choices: vec![choice(1), choice(3)] };
        Some(Recording { policy: PolicyDigest::of(b"policy"), sample, log_probs: log_probs.to_vec() })
    }

    fn member(success: bool, cost: f64, recording: Option<Recording<Sequence>>) -> RolledMember<Sequence> {
        RolledMember { measured: Some(Measured { success, progress: 0.5, cost }), tokens: 2, recording }
    }

    #[test]
    fn members_are_written_as_they_were_recorded_and_void_ones_are_counted() {
        let course = AblationCourse { seed: 0 };
        let tasks = course.tasks(Split::Train).unwrap();
        let void = |recording| RolledMember { measured: None, tokens: 2, recording };
        let rolled = [
            Rolled {
                id: GroupId(3),
                members: vec![
                    member(true, 0.25, recording([-0.5, -0.25])),
                    void(recording([-0.5, -0.5])),
                    member(false, 0.75, recording([-1.5, -0.125])),
                    member(true, 0.5, None),
                ],
            },
            // One is left, and has nothing to be compared with.
            Rolled {
                id: GroupId(4),
                members: vec![member(true, 0.25, recording([-1.0, -1.0])), void(None), void(None), void(None)],
            },
        ];
        let values = PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 };
        let phi = Phi::new(values).unwrap();
        let scheme = Scheme { estimator: Estimator::Care, phi, options: Options::default() };
        let assignment = compared(&scheme, GroupSize::new(4).unwrap(), &rolled).unwrap();
        let mut out = Vec::new();
        let lines = write::<AblationCourse>(&mut out, &[&tasks[1], &tasks[0]], &rolled, &assignment).unwrap();
        let text = String::from_utf8(out).unwrap();
        let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines, found.len()), (2, 2), "{text}");
        let counters = assignment.counters();
        assert_eq!((counters.groups, counters.void, counters.too_small, counters.dropped), (2, 5, 1, 1));
        // Half of the two that count succeed: the outcome alone is the reward, 1 and 0, half from the mean and half a deviation.
        for (line, success, cost, log_probs) in
            [(&found[0], true, 0.25, [-0.5, -0.25]), (&found[1], false, 0.75, [-1.5, -0.125])]
        {
            let mut line = line.clone();
            let advantages: Vec<f64> = serde_json::from_value(line["advantages"].take()).unwrap();
            let sign = if success { 1.0 } else { -1.0 };
            assert!(
                advantages.len() == 2 && advantages.iter().all(|found| (found - sign).abs() < 1e-5),
                "{advantages:?}"
            );
            let expected = json!({
                "uid": "3", "task": tasks[1].id, "prompt": tasks[1].request, "response_ids": [2, 4],
                "response_mask": [1, 1], "old_log_probs": log_probs, "advantages": null,
                "reward": if success { 1.0 } else { 0.0 }, "success": success, "progress": 0.5, "cost": cost,
                "policy": PolicyDigest::of(b"policy"),
            });
            assert_eq!(line, expected);
        }
    }
}
