//! The episodes of a run, each with its name and its seeds. A seed depends on the run's seed, the task and the episode's place among those of
//! the same task, so that what else is in the run changes nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use loopwright_contract::digest::TaskDigest;
use loopwright_contract::episode::PreparedTask;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::task::Task;

use crate::random::{member_seed_of, seed_of, world_seed_of};

/// What seeds the noise of an episode's world: its plugins' random streams. What a planner samples has seeds of its own in every case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Noise {
    /// The task's own seed: the same noise in every episode of every run, as measuring agents asks for.
    #[default]
    Task,
    /// The run's seed and the group: members of a group meet the same noise, draw by draw.
    Group,
    /// The run's seed, the group and the member: each meets noise of its own.
    Member,
}

/// The task of one item or of a whole group, made ready once.
pub(super) type Ready = Arc<OnceLock<Arc<dyn PreparedTask>>>;

/// One episode to run.
pub(crate) struct Item<'a> {
    pub(super) task: &'a Task,
    pub(super) digest: TaskDigest,
    pub(super) id: EpisodeId,
    pub(super) seed: u64,
    pub(super) world_seed: Option<u64>,
    /// Whether its task stands in the run once.
    pub(super) alone: bool,
    /// Shared by the members of a group: they begin in the same fork.
    pub(super) ready: Ready,
}

#[cfg(test)]
impl Item<'_> {
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether both begin in the same fork.
    pub(crate) fn shares_start(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ready, &other.ready)
    }
}

/// Digests of tasks, made once for each place in memory that a task stands at.
struct Digests(BTreeMap<usize, TaskDigest>);

impl Digests {
    fn of(&mut self, task: &Task) -> TaskDigest {
        *self.0.entry(std::ptr::from_ref(task).addr()).or_insert_with(|| task.digest())
    }
}

/// Each task once.
pub(crate) fn singles<'a>(tasks: &'a [Task], seed: u64, noise: Noise) -> Vec<Item<'a>> {
    let mut digests = Digests(BTreeMap::new());
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    tasks.iter().for_each(|task| *counts.entry(task.id.as_str()).or_default() += 1);
    let item = |task: &'a Task| {
        let digest = digests.of(task);
        let repeat = seen.entry(task.id.as_str()).or_default();
        let (name, own) = match *repeat {
            0 => (format!("{}:s{seed}", task.id), seed),
            repeat => (format!("{}:s{seed}:r{repeat}", task.id), seed_of(seed, &digest, u32::MAX - repeat)),
        };
        *repeat += 1;
        let world_seed = match noise {
            Noise::Task => None,
            Noise::Group => Some(world_seed_of(seed, &digest)),
            Noise::Member => Some(world_seed_of(own, &digest)),
        };
        // Long enough for every task id: 128 characters, two numbers and their marks.
        EpisodeId::new(name).ok().map(|id| Item {
            task,
            digest,
            id,
            seed: own,
            world_seed,
            alone: counts.get(task.id.as_str()) == Some(&1),
            ready: Ready::default(),
        })
    };
    tasks.iter().filter_map(item).collect()
}

/// Each task as a group of `members`, in the order (group, member).
pub(crate) fn grouped<'a>(tasks: &'a [Task], members: u32, seed: u64, noise: Noise) -> Vec<Item<'a>> {
    let mut digests = Digests(BTreeMap::new());
    let mut seen: BTreeMap<TaskDigest, u32> = BTreeMap::new();
    let mut items = Vec::with_capacity(tasks.len().saturating_mul(members as usize));
    for task in tasks {
        let digest = digests.of(task);
        let place = seen.entry(digest).or_default();
        let (group, ready) = (*place, Ready::default());
        *place += 1;
        for member in 0..members {
            let own = member_seed_of(seed, &digest, group, Some(member));
            let world_seed = match noise {
                Noise::Task => None,
                Noise::Group => Some(world_seed_of(member_seed_of(seed, &digest, group, None), &digest)),
                Noise::Member => Some(world_seed_of(own, &digest)),
            };
            let name = format!("{}:s{seed}:{group}.{member}", task.id);
            // Long enough for every task id: 128 characters, a seed of 20 digits, a group of 5, a member of 3, and their marks.
            let Ok(id) = EpisodeId::new(name) else { continue };
            items.push(Item { task, digest, id, seed: own, world_seed, alone: false, ready: Arc::clone(&ready) });
        }
    }
    items
}
