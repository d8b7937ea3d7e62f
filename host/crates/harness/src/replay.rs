//! Runs stored trajectories again: to get the same bytes, or to judge them anew. The task's pack is not needed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loopwright_contract::action::Action;
use loopwright_contract::episode::{EpisodeHost, PluginKind};
use loopwright_contract::fault::CallFault;
use loopwright_contract::json::{JsonLimits, canonical, parse};
use loopwright_contract::memory::Ranker;
use loopwright_contract::name::PluginName;
use loopwright_contract::planner::PlannerFault;
use loopwright_contract::task::Check;
use loopwright_contract::trajectory::{Header, Trajectory};
use loopwright_contract::verdict::{JudgedCheck, Outcome};
use serde_json::Value;

use crate::decode::cut;
use crate::episode::{LiveEpisode, Plan};
use crate::harness::{Harness, HarnessError};
use crate::memory::EpisodeMemory;
use crate::settings::Settings;
use crate::skills::SkillFile;
use crate::trajectory::{Journal, StoredTrajectory, WorldError, WorldStore};

#[cfg(test)]
mod tests;

/// Characters of a value that a difference quotes.
const QUOTE_CHARS_MAX: usize = 200;

/// Why a trajectory could not be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A world is missing or cannot be read.
    #[error("a world of the trajectory is missing")]
    World(#[from] WorldError),
    /// The header's settings are not ours.
    #[error("the trajectory's harness settings are not known here: {0}")]
    Settings(String),
    /// The harness cannot be built.
    #[error("the harness cannot be built")]
    Harness(#[from] HarnessError),
    /// The host cannot restore the task.
    #[error("the task cannot be restored")]
    Restore(#[source] CallFault),
    /// The host cannot open the episode.
    #[error("the episode cannot be opened: {0}")]
    Open(String),
    /// The episode went differently, so that a verdict would be on something else.
    #[error("the episode does not replay: {0}")]
    Different(Difference),
    /// There is nothing to judge.
    #[error("{0}")]
    Unjudgeable(String),
}

/// The first place where a replay differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The line, from 1.
    pub line: usize,
    /// JSON pointer to the field; empty for the line as a whole.
    pub field: String,
    /// What was recorded.
    pub expected: String,
    /// What came now.
    pub found: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}, `{}`: recorded {}, now {}", self.line, self.field, self.expected, self.found)
    }
}

/// What a replay found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayReport {
    /// None: identical to the byte.
    pub difference: Option<Difference>,
    /// What was left out of the comparison, and what else was not as then.
    pub notes: Vec<String>,
}

/// Which verifier judges anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum VerifierChoice {
    /// The one that each check names.
    #[default]
    Recorded,
    /// This one for every check.
    Always(PluginName),
    /// `to` for the checks that name `from`, the recorded one for the others.
    Instead {
        /// The recorded verifier.
        from: PluginName,
        /// The one that takes its place.
        to: PluginName,
    },
}

/// New verdicts on a stored trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The verdicts.
    pub verdicts: Vec<JudgedCheck>,
    /// What follows from them.
    pub outcome: Outcome,
    /// What the trajectory says; none when it was cut off.
    pub recorded: Option<Outcome>,
}

/// Runs trajectories again on a host. Keeps one harness for each setting that it meets, so it is worth keeping.
pub struct Replayer {
    host: Arc<dyn EpisodeHost>,
    skill_files: Vec<SkillFile>,
    ranker: Option<Arc<dyn Ranker>>,
    harnesses: Mutex<BTreeMap<String, Arc<Harness>>>,
}

/// A trajectory that was run again and not yet concluded.
struct Rerun<'a> {
    live: LiveEpisode<'a>,
    notes: Vec<String>,
}

impl Replayer {
    /// A replayer on a host, with the `SKILL.md` skills that the runs had.
    #[must_use]
    pub fn new(host: Arc<dyn EpisodeHost>, skill_files: Vec<SkillFile>) -> Self {
        Self { host, skill_files, ranker: None, harnesses: Mutex::new(BTreeMap::new()) }
    }

    /// The same replayer with a ranking of what episodes remember, for trajectories that name it. Without it their searches are answered from
    /// the record.
    #[must_use]
    pub fn with_ranker(mut self, ranker: Arc<dyn Ranker>) -> Self {
        self.ranker = Some(ranker);
        self
    }

    /// Runs the recorded decisions again and compares every line that comes of them, to the byte.
    ///
    /// # Errors
    /// [`ReplayError`] when it cannot be run; a difference is no error.
    pub fn replay(&self, stored: &StoredTrajectory, worlds: &WorldStore) -> Result<ReplayReport, ReplayError> {
        let header = &stored.trajectory.header;
        let harness = self.harness(header)?;
        if let Some(difference) = setup_difference(header, &harness, |_| true) {
            return Ok(ReplayReport { difference: Some(difference), notes: Vec::new() });
        }
        let void = stored.trajectory.footer.as_ref().is_some_and(|footer| matches!(footer.outcome, Outcome::Void(_)));
        let Rerun { live, mut notes } = match self.rerun(&stored.trajectory, &harness, worlds) {
            Err(ReplayError::Open(reason)) if void && stored.trajectory.turns.is_empty() => {
                return Ok(ReplayReport {
                    difference: None,
                    notes: vec![format!("the episode is void and does not open: {reason}")],
                });
            }
            rerun => rerun?,
        };
        let produced = live.conclude(Duration::ZERO).lines.unwrap_or_default();
        let compared = match &stored.trajectory.footer {
            None => {
                notes.push("the recording was cut off; its lines were compared up to there".to_owned());
                stored.lines.len().min(stored.course_lines())
            }
            Some(_) if void => {
                // The last turn may itself be the casualty, as when a deadline passed in it.
                notes.push("the episode is void: its end, a fault of the infrastructure, was not compared".to_owned());
                stored.course_lines() - stored.trajectory.turns.len().min(1)
            }
            Some(_) => stored.lines.len().max(produced.len()),
        };
        Ok(ReplayReport { difference: first_difference(&stored.lines, &produced, compared), notes })
    }

    /// Judges a stored trajectory anew, on evidence that is gained by running it again.
    ///
    /// # Errors
    /// [`ReplayError`], also when the episode goes differently now, when it is void, and when a verifier fails.
    pub fn verify(
        &self,
        stored: &StoredTrajectory,
        worlds: &WorldStore,
        choice: &VerifierChoice,
    ) -> Result<Judgement, ReplayError> {
        let header = &stored.trajectory.header;
        let recorded = stored.trajectory.footer.as_ref().map(|footer| footer.outcome.clone());
        match &recorded {
            None => {
                return Err(ReplayError::Unjudgeable(
                    "the recording was cut off, so there is no end to judge".to_owned(),
                ));
            }
            Some(Outcome::Void(reason)) => {
                return Err(ReplayError::Unjudgeable(format!("the episode is void: {reason}")));
            }
            Some(_) => {}
        }
        let harness = self.harness(header)?;
        if let Some(difference) = setup_difference(header, &harness, |kind| kind != PluginKind::Verifier) {
            return Err(ReplayError::Different(difference));
        }
        let Rerun { mut live, .. } = self.rerun(&stored.trajectory, &harness, worlds)?;
        if let Some(difference) = first_difference(&stored.lines, live.lines(), stored.course_lines()) {
            return Err(ReplayError::Different(difference));
        }
        let checks = chosen(&header.task.checks, choice);
        let (verdicts, outcome) = live.judge_by(&checks).map_err(ReplayError::Unjudgeable)?;
        Ok(Judgement { verdicts, outcome, recorded })
    }

    fn harness(&self, header: &Header) -> Result<Arc<Harness>, ReplayError> {
        let settings: Settings = serde_json::from_value(header.settings.clone())
            .map_err(|error| ReplayError::Settings(error.to_string()))?;
        let key = canonical(&header.settings);
        let mut harnesses = self.harnesses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(harness) = harnesses.get(&key) {
            return Ok(Arc::clone(harness));
        }
        let harness = Arc::new(Harness::new(Arc::clone(&self.host), settings, self.skill_files.clone())?);
        harnesses.insert(key, Arc::clone(&harness));
        Ok(harness)
    }

    fn rerun<'a>(
        &self,
        trajectory: &'a Trajectory,
        harness: &'a Harness,
        worlds: &WorldStore,
    ) -> Result<Rerun<'a>, ReplayError> {
        let header = &trajectory.header;
        let initial = worlds.get(header.initial)?;
        let target = header.target.map(|digest| worlds.get(digest)).transpose()?;
        let prepared = self.host.restore(&header.task, &initial, target.as_ref()).map_err(ReplayError::Restore)?;
        let mut notes = Vec::new();
        if header.engine != self.host.fingerprint() {
            notes.push(format!(
                "recorded on engine `{}`, run again on `{}`",
                cut(&header.engine, 80),
                self.host.fingerprint()
            ));
        }
        let ranker = header.memory.as_ref().and_then(|memory| memory.ranker.as_deref());
        let memory = match (ranker, &self.ranker) {
            (None, _) => EpisodeMemory::new(None),
            (Some(name), Some(ours)) if name == ours.fingerprint() => EpisodeMemory::new(Some(Arc::clone(ours))),
            (Some(name), _) => {
                let shown = cut(name, 80);
                notes.push(format!(
                    "the answers of searches of the memory were ranked by `{shown}` and taken from the record"
                ));
                EpisodeMemory::replaying(recalled(trajectory))
            }
        };
        let plan = Plan {
            id: header.episode.clone(),
            task: &header.task,
            task_digest: header.task_digest,
            policy: header.policy.clone(),
            seed: header.seed,
            world_seed: header.world_seed,
            record: header.record,
            memory,
            memory_use: header.memory.clone(),
            forget: None,
            journal: Journal::in_memory(),
            started: Duration::ZERO,
            worlds: Some((header.initial, header.target)),
            recorded: Some((header.plugins.clone(), header.engine.clone())),
        };
        let opened = LiveEpisode::open(harness, prepared.as_ref(), plan);
        let mut live =
            opened.map_err(|unopened| ReplayError::Open(format!("{:?}", unopened.conclude(harness).outcome)))?;
        for turn in &trajectory.turns {
            if live.due(Duration::ZERO).is_none() {
                break;
            }
            live.advance(Ok(turn.decision.clone()), Duration::ZERO);
        }
        end_as_recorded(&mut live, trajectory);
        Ok(Rerun { live, notes })
    }
}

/// Where the planner or the infrastructure ended the recorded episode, there is nothing to run again: the end is taken from the record.
fn end_as_recorded(live: &mut LiveEpisode<'_>, trajectory: &Trajectory) {
    if live.due(Duration::ZERO).is_none() {
        return;
    }
    match trajectory.footer.as_ref().map(|footer| &footer.outcome) {
        Some(Outcome::Invalid(reason)) => {
            if let Some(fault) = too_long(reason) {
                live.advance(Err(fault), Duration::ZERO);
            }
        }
        Some(Outcome::Void(reason)) => live.cancel(reason),
        _ => {}
    }
}

/// The fault whose words a reason is.
fn too_long(reason: &str) -> Option<PlannerFault> {
    let numbers: Vec<u64> =
        reason.split(|character: char| !character.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let [found, limit] = numbers.as_slice() else { return None };
    let fault = PlannerFault::ContextTooLong { found: *found, limit: *limit };
    (fault.to_string() == reason).then_some(fault)
}

/// The answers of the recorded searches of the memory, in order.
fn recalled(trajectory: &Trajectory) -> VecDeque<Value> {
    let searches = trajectory.turns.iter().filter(|turn| matches!(turn.actions.as_slice(), [Action::Recall { .. }]));
    searches.filter_map(|turn| turn.answers.first().cloned()).collect()
}

fn chosen(checks: &[Check], choice: &VerifierChoice) -> Vec<Check> {
    let verifier = |check: &Check| match choice {
        VerifierChoice::Always(name) => name.clone(),
        VerifierChoice::Instead { from, to } if check.verifier == *from => to.clone(),
        VerifierChoice::Recorded | VerifierChoice::Instead { .. } => check.verifier.clone(),
    };
    checks.iter().map(|check| Check { verifier: verifier(check), check: check.check.clone() }).collect()
}

/// What of the recorded set-up is not here now. Further plugins do no harm.
fn setup_difference(header: &Header, harness: &Harness, concerns: impl Fn(PluginKind) -> bool) -> Option<Difference> {
    let at = |field: &str, expected: String, found: String| {
        Some(Difference { line: 1, field: field.to_owned(), expected, found })
    };
    if header.harness != harness.digest() {
        return at("/harness", header.harness.to_string(), harness.digest().to_string());
    }
    for recorded in header.plugins.iter().filter(|plugin| concerns(plugin.kind)) {
        let field = format!("/plugins/{}", recorded.name);
        match harness
            .host()
            .plugins()
            .iter()
            .find(|plugin| plugin.name == recorded.name && plugin.kind == recorded.kind)
        {
            None => return at(&field, recorded.digest.to_string(), "not installed".to_owned()),
            Some(found) if found.digest != recorded.digest => {
                return at(&field, recorded.digest.to_string(), found.digest.to_string());
            }
            Some(found) if found != recorded => return at(&field, format!("{recorded:?}"), format!("{found:?}")),
            Some(_) => {}
        }
    }
    let files = harness.skills().file_digests();
    if header.skill_files != files {
        return at("/skill_files", format!("{:?}", header.skill_files), format!("{files:?}"));
    }
    None
}

/// The first of `count` lines that differs.
fn first_difference(recorded: &[String], produced: &[String], count: usize) -> Option<Difference> {
    (0..count).find_map(|index| match (recorded.get(index), produced.get(index)) {
        (Some(expected), Some(found)) if expected == found => None,
        (Some(expected), Some(found)) => Some(within_line(index + 1, expected, found)),
        (expected, found) => {
            let text =
                |line: Option<&String>| line.map_or_else(|| "no line".to_owned(), |line| cut(line, QUOTE_CHARS_MAX));
            Some(Difference { line: index + 1, field: String::new(), expected: text(expected), found: text(found) })
        }
    })
}

fn within_line(line: usize, expected: &str, found: &str) -> Difference {
    let read = |text: &str| {
        let mut value = parse(text, &JsonLimits::FILE).unwrap_or(Value::Null);
        if let Value::Object(map) = &mut value {
            // They follow from the rest.
            map.remove("prev");
            map.remove("digest");
        }
        value
    };
    let (left, right) = (read(expected), read(found));
    let quoted = |value: Option<&Value>| {
        value.map_or_else(|| "nothing".to_owned(), |value| cut(&canonical(value), QUOTE_CHARS_MAX))
    };
    match differing(&left, &right) {
        Some(field) => {
            Difference { line, expected: quoted(left.pointer(&field)), found: quoted(right.pointer(&field)), field }
        }
        None => Difference {
            line,
            field: "/prev".to_owned(),
            expected: cut(expected, QUOTE_CHARS_MAX),
            found: cut(found, QUOTE_CHARS_MAX),
        },
    }
}

/// The pointer to the first place, in the order of sorted keys, where two values differ.
fn differing(left: &Value, right: &Value) -> Option<String> {
    if left == right {
        return None;
    }
    let inner = match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            keys.into_iter().find_map(|key| {
                let token = key.replace('~', "~0").replace('/', "~1");
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => differing(left, right).map(|inner| format!("/{token}{inner}")),
                    _ => Some(format!("/{token}")),
                }
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .find_map(|(index, (left, right))| differing(left, right).map(|inner| format!("/{index}{inner}"))),
        _ => None,
    };
    Some(inner.unwrap_or_default())
}
