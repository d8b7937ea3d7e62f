//! What is trained, and on what: a policy with its tasks, its planners and its demonstrations.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::task::{Split, Task};
use loopwright_engine::PluginHost;
use loopwright_harness::{Harness, Prefixes, Settings};
use loopwright_learn::nn::Parameters;
use loopwright_learn::pointer::Variation;
use loopwright_learn::rl::Policy;
use loopwright_packs::pack::Pack;
use serde_json::Value;

use super::field::{Actors, Ground};
use super::folder::{PolicyCard, RunFolder};

/// How the teacher teaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Teaching {
    /// Seeds what it does.
    pub seed: u64,
    /// Times that it plays each task, at least 2.
    pub members: u32,
    /// Whether erroneous turns are masked; without it they are learnt like any other.
    pub mask: bool,
    /// Of the turns of the phone's gold, the share before which a wrong turn is planted: 0 to [`PLANT_MAX`](super::clumsy::PLANT_MAX).
    pub plant: f64,
}

/// One subject of training.
pub trait Course: Actors<Self::Policy> {
    /// What is trained.
    type Policy: Policy;

    /// Its name, as runs record it.
    fn name(&self) -> &'static str;

    /// The tasks of a split, in a fixed order.
    ///
    /// # Errors
    /// A pack without that split.
    fn tasks(&self, split: Split) -> anyhow::Result<Arc<[Task]>>;

    /// The worlds that tasks name.
    fn worlds(&self) -> BTreeMap<String, Value>;

    /// How episodes go.
    fn harness(&self) -> Settings;

    /// Choices that a trajectory may have, for the constant denominator of the loss.
    fn token_budget(&self) -> usize;

    /// What was taken of each choice of a sample, as a number.
    fn tokens(sample: &<Self::Policy as Policy>::Sample) -> Vec<u32>;

    /// Samples of a step as they are learnt, varied by a random number. By default nothing is.
    fn varied(
        &self,
        variation: &Variation,
        random: u64,
        samples: Vec<<Self::Policy as Policy>::Sample>,
    ) -> Vec<<Self::Policy as Policy>::Sample> {
        let _ = (variation, random);
        samples
    }

    /// A policy with fresh weights.
    ///
    /// # Errors
    /// None but a defect of ours.
    fn fresh(&self, seed: u64) -> anyhow::Result<Self::Policy>;

    /// What the teacher shows on these tasks, and what to say of it. The ground's harness judges every turn.
    ///
    /// # Errors
    /// An episode that is void, or a record that is no demonstration.
    fn demonstrations(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        teaching: Teaching,
    ) -> anyhow::Result<(Vec<<Self::Policy as Policy>::Sample>, Value)>;
}

/// The tasks of one split of a pack, in the pack's order.
///
/// # Errors
/// A pack without a task of that split: what is trained on is never measured in its place.
pub fn of_split(pack: &Pack, split: Split) -> anyhow::Result<Arc<[Task]>> {
    let tasks: Arc<[Task]> = pack.tasks().iter().filter(|task| task.split == split).cloned().collect();
    anyhow::ensure!(
        !tasks.is_empty(),
        "the pack `{}` has no tasks of the split {split:?}, which it needs to be trained on and measured",
        pack.card().name
    );
    Ok(tasks)
}

/// A harness to roll out with: the end of an episode is judged. Its host keeps to the verifiers that serve now, whatever is swapped meanwhile: the
/// rewards of a run stay comparable.
///
/// # Errors
/// Settings without a meaning.
pub fn harness<C: Course>(course: &C, host: &PluginHost) -> anyhow::Result<Harness> {
    harness_with(course, host, Prefixes::Final)
}

/// The same to demonstrate with: every turn is judged, since a criterion that was lost is seen in no other way.
///
/// # Errors
/// Settings without a meaning.
pub fn judging_harness<C: Course>(course: &C, host: &PluginHost) -> anyhow::Result<Harness> {
    harness_with(course, host, Prefixes::All)
}

fn harness_with<C: Course>(course: &C, host: &PluginHost, prefixes: Prefixes) -> anyhow::Result<Harness> {
    Ok(Harness::new(Arc::new(host.pinned()), Settings { prefixes, ..course.harness() }, Vec::new())?)
}

/// The policy of a run's folder, or of a file of weights.
///
/// # Errors
/// A file that cannot be read, weights of another architecture, a policy of another course.
pub fn load<C: Course>(course: &C, from: &Path, seed: u64) -> anyhow::Result<C::Policy> {
    let file = if from.is_dir() { from.join("policy.safetensors") } else { from.to_owned() };
    let card = file.with_extension("json");
    if card.exists() {
        let folder = RunFolder::open_any(file.parent().unwrap_or(Path::new(".")));
        let name = card.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let card: PolicyCard = folder.read_json(&name)?;
        anyhow::ensure!(
            card.course == course.name(),
            "`{}` is a policy of the course `{}`, expected one of `{}`\nhint: --course {}",
            file.display(),
            card.course,
            course.name(),
            card.course
        );
    }
    let bytes = std::fs::read(&file).with_context(|| {
        format!(
            "no policy at `{}`\nhint: a run has one once it is over; `loopwright train status` says how far it is",
            file.display()
        )
    })?;
    with_weights(course, &bytes, seed).with_context(|| format!("the weights of `{}`", file.display()))
}

/// A policy with weights out of bytes.
///
/// # Errors
/// Weights of another architecture, or that are not finite.
pub fn with_weights<C: Course>(course: &C, bytes: &[u8], seed: u64) -> anyhow::Result<C::Policy> {
    let mut policy = course.fresh(seed)?;
    *policy.parameters_mut() = Parameters::from_bytes(policy.parameters().slots().to_vec(), bytes)?;
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use loopwright_packs::ablation;

    use super::*;

    #[test]
    fn a_pack_without_a_split_is_refused_and_named() {
        for has in [Split::Train, Split::Dev, Split::Test] {
            let pack = ablation::builtin(7, 2, has).unwrap();
            for asked in [Split::Train, Split::Dev, Split::Test] {
                let found = of_split(&pack, asked);
                if asked == has {
                    assert_eq!(found.unwrap()[..], *pack.tasks());
                } else {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains("`ablation`") && error.contains(&format!("{asked:?}")), "{error}");
                }
            }
        }
    }
}
