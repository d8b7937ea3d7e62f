//! The ablation pack: one small world with a known best way through it, in two kinds that the request tells apart. For asking what a training
//! rule does to a policy that could save effort; it says nothing about phones.
//!
//! The world is that of the plugins `ablation`, `ablation-tools` and `ablation-verdict`: three settings, each to be read, set, perhaps verified,
//! and left. [`Odds`] are its chances and stand in each task's set-up; [`optimum`] is what follows from them. Instances of a kind differ in the
//! seed of the world's noise alone. There is no gold: what solves a task depends on its noise.

mod optimum;

use std::collections::BTreeMap;

use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::{Lang, PluginName, TaskId};
use loopwright_contract::task::{Check, Provenance, Split, Start, Task, UserScript};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub use self::optimum::{Expected, Plan, cheapest, expected, optimum};
use crate::pack::{About, Generator, Pack, PackError};

/// The pack's name, its world's, and its environment's.
pub const NAME: &str = "ablation";
/// The verifier.
const VERIFIER: &str = "ablation-verdict";
/// Settings of an episode.
pub const SETTINGS: u32 = 3;
/// Tokens that an episode may take, one for each call; what a token costs is measured against this, whatever the group did.
pub const TOKEN_BUDGET: u32 = 48;
/// What chances are parts of.
const WHOLE: u32 = 10_000;

/// How often a write fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Odds {
    /// That a write fails and nothing shows it, in ten-thousandths.
    pub silent: u32,
    /// That a write of a setting that was not read guesses right, in ten-thousandths.
    pub blind: u32,
}

/// The two kinds of task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A write fails once in 200: verifying it costs more than it brings.
    Reliable,
    /// A write fails once in 10: without verifying, three of them succeed in 73 of 100 episodes.
    Fragile,
}

impl Kind {
    /// Both, in the order of the pack.
    pub const ALL: [Self; 2] = [Self::Reliable, Self::Fragile];

    /// The family's name, which is also what the request says.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reliable => "reliable",
            Self::Fragile => "fragile",
        }
    }

    /// The request of every task of this kind.
    #[must_use]
    pub fn request(self) -> String {
        format!("Set the three settings, which are {}.", self.name())
    }

    /// Its chances. A blind write guesses right once in ten: rarely enough that reading always pays, and not so rarely that a policy which never
    /// reads has nothing to learn from.
    #[must_use]
    pub fn odds(self) -> Odds {
        let silent = match self {
            Self::Reliable => 50,
            Self::Fragile => 1_000,
        };
        Odds { silent, blind: 1_000 }
    }
}

/// An even mix: `instances_per_family` tasks of each kind, alternating, all in one split. Other seeds give other noise, so that held-out episodes
/// are those of another seed and split.
///
/// # Errors
/// [`PackError`] for a pack that is not well-formed, which is a defect of ours.
pub fn builtin(seed: u64, instances_per_family: u32, split: Split) -> Result<Pack, PackError> {
    let instances = (0..instances_per_family).flat_map(|instance| Kind::ALL.map(|kind| (kind, instance)));
    let tasks = instances.map(|(kind, instance)| task(kind, seed, instance, split)).collect::<Result<Vec<_>, _>>()?;
    let about = About {
        name: NAME.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        licence: "Apache-2.0".to_owned(),
        source: "own".to_owned(),
        generator: Some(Generator {
            name: NAME.to_owned(),
            seed,
            instances_per_family,
            phrasings: "one".to_owned(),
            duplicates: 0,
        }),
    };
    Pack::new(about, tasks, worlds())
}

/// The pack's one world: it is empty, and its name says which tools are in it.
#[must_use]
pub fn worlds() -> BTreeMap<String, Value> {
    BTreeMap::from([(NAME.to_owned(), json!({}))])
}

fn task(kind: Kind, seed: u64, instance: u32, split: Split) -> Result<Task, PackError> {
    let broken = |error: &dyn std::fmt::Display| PackError::Generator {
        family: kind.name().to_owned(),
        reason: error.to_string(),
    };
    let plugin = |name: &str| PluginName::new(name).map_err(|error| broken(&error));
    let odds = kind.odds();
    Ok(Task {
        id: TaskId::new(format!("{NAME}.{}.{seed}.{instance}", kind.name())).map_err(|error| broken(&error))?,
        family: kind.name().to_owned(),
        category: NAME.to_owned(),
        split,
        lang: Lang::english(),
        request: kind.request(),
        environment: plugin(NAME)?,
        setup: json!({"silent": odds.silent, "blind": odds.blind}),
        start: Start { now_ns: crate::phone::START_NS, zone: "UTC".to_owned(), seed: world_seed(kind, seed, instance) },
        world: Some(NAME.to_owned()),
        edits: Vec::new(),
        user: UserScript::default(),
        gold: Vec::new(),
        checks: vec![Check { verifier: plugin(VERIFIER)?, check: json!({}) }],
        // One decision a token, and one to finish.
        budget: EpisodeBudget { steps: TOKEN_BUDGET + 1, ..EpisodeBudget::default() },
        provenance: Provenance {
            source: "own".to_owned(),
            licence: "Apache-2.0".to_owned(),
            source_hash: None,
            transform: "generated".to_owned(),
        },
    })
}

fn world_seed(kind: Kind, seed: u64, instance: u32) -> u64 {
    let digest = Sha256::digest(format!("{NAME}/{}/{seed}/{instance}", kind.name()).as_bytes());
    digest.iter().take(8).fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_pack_and_every_instance_other_noise() {
        let pack = builtin(7, 50, Split::Train).expect("a pack");
        assert_eq!(pack, builtin(7, 50, Split::Train).expect("a pack"));
        let seeds = |pack: &Pack| pack.tasks().iter().map(|task| task.start.seed).collect::<BTreeSet<u64>>();
        assert_eq!(seeds(&pack).len(), 100);
        let other = builtin(8, 50, Split::Test).expect("a pack");
        assert!(seeds(&pack).is_disjoint(&seeds(&other)));
        assert!(other.tasks().iter().all(|task| task.split == Split::Test));
    }

    #[test]
    fn the_mix_is_even_and_the_request_tells_the_kinds_apart() {
        let pack = builtin(1, 8, Split::Train).expect("a pack");
        let families: Vec<&str> = pack.tasks().iter().map(|task| task.family.as_str()).collect();
        assert_eq!(families, ["reliable", "fragile"].repeat(8));
        for task in pack.tasks() {
            assert!(task.request.contains(&task.family), "{}", task.request);
            assert_eq!(task.setup["silent"], if task.family == "fragile" { 1_000 } else { 50 });
        }
        assert_eq!(pack.worlds().keys().collect::<Vec<_>>(), ["ablation"]);
    }

    #[test]
    fn the_pack_is_read_back_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let pack = builtin(u64::MAX, 2, Split::Dev).expect("a pack");
        crate::pack::write(&pack, folder.path()).expect("written");
        assert_eq!(crate::pack::read(folder.path()).expect("a pack"), pack);
    }
}
