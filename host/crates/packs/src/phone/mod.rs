//! The built-in pack: families of tasks on the phone world, each in English and Chinese, with parameters drawn from a seed.
//!
//! A family is one entry of a table in `families/`: a name, a category, phrasings in both languages and a function that plans an
//! instance. Adding a family is adding an entry. Twins in the two languages draw the same parameters. The split follows from the family's
//! name, so that a new family moves none of the others.

mod draw;
mod families;
mod plan;
mod pools;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::digest::TaskDigest;
use loopwright_contract::json::{JsonLimits, canonical, normalize};
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::{Lang, PluginName, TaskId};
use loopwright_contract::task::{Provenance, Split, Start, Task};
use serde_json::{Value, json};

use self::draw::{Draw, Tongue};
use self::families::{Family, Phrases};
use self::plan::Plan;
use crate::pack::{About, Generator, Pack, PackError};

/// The pack's name.
pub const NAME: &str = "phone";
/// Instances of a family in a language when nothing else is asked for.
pub const INSTANCES_DEFAULT: u32 = 2;
/// The zone of the phone.
pub const ZONE: &str = "Asia/Shanghai";
/// 2026-03-02T09:00:00+08:00, a Monday, in nanoseconds since 1970: when episodes begin.
pub const START_NS: u64 = 1_772_413_200_000_000_000;
/// Further draws for an instance that equals an earlier one; then it is left out.
const REDRAWS_MAX: u32 = 16;

/// Which phrasings requests are drawn from. The two sets share none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhrasingSet {
    /// The four of each family and language that tasks use.
    Seen,
    /// The two that are kept back, to test recall on words that nobody tuned for.
    Unseen,
}

impl PhrasingSet {
    fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Unseen => "unseen",
        }
    }
}

/// The built-in pack for a seed: `instances_per_family` of each family in each language, less the duplicates.
///
/// # Errors
/// [`PackError`] for a family that is not well-formed, which is a defect of ours.
pub fn builtin(seed: u64, instances_per_family: u32) -> Result<Pack, PackError> {
    builtin_with_phrasings(seed, instances_per_family, PhrasingSet::Seen)
}

/// The same with phrasings of one set.
///
/// # Errors
/// As [`builtin`].
pub fn builtin_with_phrasings(seed: u64, instances_per_family: u32, phrasings: PhrasingSet) -> Result<Pack, PackError> {
    let mut tasks = Vec::new();
    let mut seen = BTreeSet::new();
    let mut duplicates: u32 = 0;
    for family in families::all() {
        for instance in 0..instances_per_family {
            for tongue in [Tongue::English, Tongue::Chinese] {
                match distinct(family, seed, instance, tongue, phrasings, &mut seen)? {
                    Some(task) => tasks.push(task),
                    None => duplicates = duplicates.saturating_add(1),
                }
            }
        }
    }
    let about = About {
        name: NAME.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        licence: "Apache-2.0".to_owned(),
        source: "own".to_owned(),
        generator: Some(Generator {
            name: NAME.to_owned(),
            seed,
            instances_per_family,
            phrasings: phrasings.name().to_owned(),
            duplicates,
        }),
    };
    Pack::new(about, tasks, BTreeMap::new())
}

/// The split of a family: six tenths train, two dev, two test, by its name alone.
#[must_use]
pub fn split_of(family: &str) -> Split {
    match TaskDigest::of(family.as_bytes()).0.iter().fold(0_u32, |sum, byte| sum.wrapping_add(u32::from(*byte))) % 10 {
        0..=5 => Split::Train,
        6 | 7 => Split::Dev,
        _ => Split::Test,
    }
}

fn distinct(
    family: &Family,
    seed: u64,
    instance: u32,
    tongue: Tongue,
    phrasings: PhrasingSet,
    seen: &mut BTreeSet<String>,
) -> Result<Option<Task>, PackError> {
    for redraw in 0..REDRAWS_MAX {
        let label = format!("{seed}/{}/{instance}/{redraw}", family.name);
        let task = one(family, &label, instance, tongue, phrasings)?;
        if seen.insert(sameness(&task)) {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// What makes two tasks the same: request, state and gold.
fn sameness(task: &Task) -> String {
    canonical(&json!([task.request, task.setup, task.world, task.edits, task.gold]))
}

fn one(family: &Family, label: &str, instance: u32, tongue: Tongue, set: PhrasingSet) -> Result<Task, PackError> {
    let broken = |reason: String| PackError::Generator { family: family.name.to_owned(), reason };
    let mut draw = Draw::new(label, instance, tongue);
    let mut plan = (family.plan)(&mut draw);
    let checks = plan.close(tongue).map_err(|error| broken(error.to_string()))?;
    let phrases = family.phrases.get(plan.phrasing).ok_or_else(|| broken(format!("no phrasing {}", plan.phrasing)))?;
    let request = request(phrases, &plan, label, tongue, set);
    let task = Task {
        id: TaskId::new(format!("{NAME}.{}.{}.{instance}", family.name, tongue.tag()))
            .map_err(|error| broken(error.to_string()))?,
        family: family.name.to_owned(),
        category: plan.category.unwrap_or(family.category).to_owned(),
        split: split_of(family.name),
        lang: Lang::new(tongue.tag()).map_err(|error| broken(error.to_string()))?,
        request,
        environment: PluginName::new("sandbox").map_err(|error| broken(error.to_string()))?,
        setup: plan.setup.unwrap_or_else(|| json!({})),
        start: Start { now_ns: START_NS, zone: ZONE.to_owned(), seed: u64::from(instance) },
        world: None,
        edits: plan.edits,
        user: plan.user,
        gold: plan.gold,
        checks,
        budget: EpisodeBudget::default(),
        provenance: Provenance {
            source: "own".to_owned(),
            licence: "Apache-2.0".to_owned(),
            source_hash: None,
            transform: "generated".to_owned(),
        },
    };
    normal(&task).map_err(broken)
}

/// The task as a reader of its line gets it back.
fn normal(task: &Task) -> Result<Task, String> {
    let value = serde_json::to_value(task).unwrap_or(Value::Null);
    let value = normalize(value, &JsonLimits::CONTRACT).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn request(phrases: &Phrases, plan: &Plan, label: &str, tongue: Tongue, set: PhrasingSet) -> String {
    // A stream of its own: a family that draws one more value keeps its phrasings.
    let mut draw = Draw::new(&format!("{label}/{}", set.name()), 0, tongue);
    let mut text = draw.pick(phrases.of(tongue, set)).to_owned();
    for (name, word) in &plan.words {
        text = text.replace(&format!("{{{name}}}"), word);
    }
    text
}

#[cfg(test)]
mod tests;
