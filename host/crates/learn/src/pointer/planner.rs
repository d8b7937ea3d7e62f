//! The phone policy behind the planner port. It knows no reward, and how a context becomes choices only through [`Turns`].
//!
//! What an episode is told depends on its own requests and seeds alone: every choice is scored by itself.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::{
    Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion, SampledToken, Usage,
};
use serde_json::{Value, json};

use super::choice::{Choice, Play, Taken, Unit};
use super::net::{Encoded, PointerError, PointerNet, Scorer};
use super::variation::Renumbering;
use crate::nn::kernel::exp;
use crate::nn::random::Stream;
use crate::rl::Recording;

/// The policy's name in records.
const NAME: &str = "pointer-policy";
/// Choices of one decision.
pub const TURN_CHOICES_MAX: usize = 256;
/// Episodes whose choices are kept until they are asked for.
pub const EPISODES_MAX: usize = 16_384;
/// Requests that are kept encoded, twice as many as a run has live episodes; of more, the one that was encoded first is encoded again when it comes
/// again. With what is kept of its answers, a hostile one takes about 600 KB.
pub const REQUESTS_KEPT_MAX: usize = 256;
/// Shared choices whose scores are kept; beyond it, all are scored anew.
pub const SCORES_KEPT_MAX: usize = 1_024;

/// Begins decisions.
pub trait Turns: Send + Sync {
    /// What it begins.
    type Turn: Turn;

    /// Begins with what is known.
    fn begin(&self, context: &Context) -> Self::Turn;
}

/// A decision in the making, as a row of choices.
pub trait Turn {
    /// The units of the request: the same in every turn of an episode.
    fn units(&self) -> &Arc<[Unit]>;

    /// The next choice; none when the decision is whole.
    fn choice(&self) -> Option<&Choice>;

    /// The same where other turns may have it too: where it is the very same, all that it is scored by is the same.
    fn shared_choice(&self) -> Option<&Arc<Choice>> {
        None
    }

    /// Takes an answer of it, by its place. False, and nothing happens, when there is no such answer.
    fn take(&mut self, answer: usize) -> bool;

    /// What was decided, and all choices that led there.
    fn finish(self) -> (Vec<Proposed>, Vec<Taken>);
}

/// How a planner plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Takes what is likeliest; of equals the first. Keeps no record.
    Greedy,
    /// Samples at temperature 1 by the seed of each request. Keeps no record.
    Sampled,
    /// Samples, and keeps what it sampled until [`PolicyPlanner::take_recordings`].
    Recorded,
}

/// The phone policy. To be made anew after each update: later changes of the network's weights do not change it.
#[derive(Debug)]
pub struct PolicyPlanner<T> {
    turns: T,
    digest: PolicyDigest,
    style: Style,
    numbering: Option<Renumbering>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    scorer: Scorer,
    /// Requests that were encoded, the oldest first: members of a group share theirs.
    requests: HashMap<Arc<[Unit]>, Encoded>,
    order: VecDeque<Arc<[Unit]>>,
    /// Scores of shared choices by where they lie, which stays theirs as long as they are held here, each with its request.
    scores: HashMap<usize, Scored>,
    episodes: BTreeMap<EpisodeId, Episode>,
}

/// A choice of a request, with the log-probability of each answer.
#[derive(Debug)]
struct Scored {
    choice: Arc<Choice>,
    units: Arc<[Unit]>,
    scores: Vec<f32>,
}

/// What was chosen in an episode.
#[derive(Debug)]
struct Episode {
    /// Its next decision; none after its last.
    next: Option<u32>,
    play: Play,
    log_probs: Vec<f32>,
}

/// What came of the choices of one decision.
struct Made {
    proposed: Vec<Proposed>,
    choices: Vec<Taken>,
    log_probs: Vec<f32>,
}

impl<T: Turns> PolicyPlanner<T> {
    /// A planner with the network as it is.
    ///
    /// # Errors
    /// Weights that are not finite.
    pub fn new(net: &PointerNet, turns: T, style: Style) -> Result<Self, PointerError> {
        let state = State {
            scorer: net.scorer()?,
            requests: HashMap::new(),
            order: VecDeque::new(),
            scores: HashMap::new(),
            episodes: BTreeMap::new(),
        };
        Ok(Self { turns, digest: net.digest()?, style, numbering: None, state: Mutex::new(state) })
    }

    /// The same under another numbering of the n-grams; recordings have that numbering too, so that training scores what acted. What was decided
    /// before is forgotten.
    #[must_use]
    pub fn renumbered(mut self, numbering: Renumbering) -> Self {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.scorer = state.scorer.renumbered(numbering);
        (state.requests, state.order, state.scores, state.episodes) = Default::default();
        self.state = Mutex::new(state);
        self.numbering = Some(numbering);
        self
    }

    /// What was sampled in each episode since this was last asked, those that were cut off included. They end with it: an episode that goes on
    /// afterwards is not known any more.
    #[must_use]
    pub fn take_recordings(&self) -> BTreeMap<EpisodeId, Recording<Play>> {
        let mut state = self.lock();
        state.requests.clear();
        state.order.clear();
        state.scores.clear();
        let policy = self.digest;
        let (ids, episodes): (Vec<_>, Vec<_>) = std::mem::take(&mut state.episodes).into_iter().unzip();
        let (plays, log_probs): (Vec<Play>, Vec<_>) =
            episodes.into_iter().map(|episode| (episode.play, episode.log_probs)).unzip();
        let plays = match self.numbering {
            Some(numbering) => numbering.apply(&plays),
            None => plays,
        };
        let recording = |((id, sample), log_probs)| (id, Recording { policy, sample, log_probs });
        ids.into_iter().zip(plays).zip(log_probs).map(recording).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, state: &mut State, request: &DecisionRequest<'_>) -> Result<Decision, PlannerFault> {
        let context = request.context;
        let turn = self.turns.begin(context);
        let units = turn.units().clone();
        if self.style == Style::Recorded {
            state.check_turn(context, &units)?;
        }
        let seed = (self.style != Style::Greedy).then_some(request.seed);
        let made = state.walk(&units, turn, seed)?;
        let token = |(taken, logprob): (&Taken, &f32)| SampledToken {
            id: u32::try_from(taken.answer).unwrap_or(u32::MAX),
            logprob: *logprob,
        };
        let decision = Decision {
            tokens: made.choices.iter().zip(&made.log_probs).map(token).collect(),
            usage: Usage { tokens_out: made.choices.len() as u64, ..Usage::default() },
            proposed: made.proposed,
            ..Decision::default()
        };
        let last = context.remaining.steps <= 1 || decision.proposed.iter().any(ends);
        if self.style == Style::Recorded {
            let episode = state.episodes.entry(context.episode.clone()).or_insert_with(|| Episode::new(units));
            episode.next = (!last).then_some(context.turn + 1);
            episode.play.choices.extend(made.choices);
            episode.log_probs.extend(made.log_probs);
        }
        Ok(decision)
    }
}

impl State {
    /// That a turn follows what was decided, and that it can be recorded.
    fn check_turn(&self, context: &Context, units: &[Unit]) -> Result<(), PlannerFault> {
        let why = match self.episodes.get(&context.episode) {
            None if context.turn == 0 && self.episodes.len() >= EPISODES_MAX => {
                let found = self.episodes.len();
                format!("{found} episodes are recorded already\nhint: take the recordings after each batch of episodes")
            }
            None if context.turn == 0 => return Ok(()),
            Some(episode) if episode.next == Some(context.turn) && *episode.play.units == *units => return Ok(()),
            _ => format!(
                "turn {} of `{}` does not follow what it decided\nhint: one planner decides all turns of an episode, each once",
                context.turn, context.episode
            ),
        };
        Err(failed(&why))
    }

    /// Takes an answer in each choice of a turn.
    fn walk(&mut self, units: &Arc<[Unit]>, mut turn: impl Turn, seed: Option<u64>) -> Result<Made, PlannerFault> {
        self.encode(units)?;
        let mut log_probs = Vec::new();
        loop {
            let (shared, choice) = (turn.shared_choice().map(Arc::clone), turn.choice());
            let Some(choice) = choice else { break };
            if log_probs.len() == TURN_CHOICES_MAX {
                return Err(failed(&format!("more than {TURN_CHOICES_MAX} choices in one decision")));
            }
            let number = log_probs.len() as u64;
            let taken = |scores: &[f32]| {
                let answer = pick(scores, seed, number);
                (answer, scores.get(answer).copied())
            };
            let (answer, log_prob) = match shared {
                Some(shared) => taken(self.shared_scores(units, shared)?),
                None => taken(&self.scores(units, choice)?),
            };
            log_probs.extend(log_prob);
            if !turn.take(answer) {
                return Err(failed(&format!("answer {answer} of choice {} was not taken", log_probs.len())));
            }
        }
        let (proposed, choices) = turn.finish();
        if choices.len() != log_probs.len() {
            let (found, expected) = (choices.len(), log_probs.len());
            return Err(failed(&format!("a decision of {found} choices, expected the {expected} that were made")));
        }
        Ok(Made { proposed, choices, log_probs })
    }

    /// Encodes a request, unless it is encoded.
    fn encode(&mut self, units: &Arc<[Unit]>) -> Result<(), PlannerFault> {
        if self.requests.contains_key(units) {
            return Ok(());
        }
        let encoded = self.scorer.encode(units).map_err(|error| failed(&error.to_string()))?;
        self.requests.insert(Arc::clone(units), encoded);
        self.order.push_back(Arc::clone(units));
        while self.requests.len() > REQUESTS_KEPT_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.requests.remove(&oldest);
        }
        Ok(())
    }

    /// Scores a choice of a request that is encoded.
    fn scores(&mut self, units: &Arc<[Unit]>, choice: &Choice) -> Result<Vec<f32>, PlannerFault> {
        let encoded = self.requests.get_mut(units).ok_or_else(|| failed("the request is gone"))?;
        self.scorer.score(encoded, choice).map_err(|error| failed(&error.to_string()))
    }

    /// The same where others may have scored it.
    fn shared_scores(&mut self, units: &Arc<[Unit]>, choice: Arc<Choice>) -> Result<&[f32], PlannerFault> {
        let place = Arc::as_ptr(&choice).addr();
        let is_known = |scored: &Scored| Arc::ptr_eq(&scored.choice, &choice) && scored.units == *units;
        if !self.scores.get(&place).is_some_and(is_known) {
            let scores = self.scores(units, &choice)?;
            if self.scores.len() >= SCORES_KEPT_MAX {
                self.scores.clear();
            }
            self.scores.insert(place, Scored { choice, units: Arc::clone(units), scores });
        }
        let scored = self.scores.get(&place).ok_or_else(|| failed("the scores are gone"))?;
        Ok(&scored.scores)
    }
}

impl Episode {
    fn new(units: Arc<[Unit]>) -> Self {
        Self { next: Some(0), play: Play { units, choices: Vec::new() }, log_probs: Vec::new() }
    }
}

/// Whether nothing can follow it.
fn ends(proposed: &Proposed) -> bool {
    matches!(proposed, Proposed::Action { value: Action::Finish { .. } | Action::Refuse { .. } })
}

/// A place in finite log-probabilities: the likeliest, or by chance, a function of the seed and of the number of the choice in its decision.
fn pick(log_probs: &[f32], seed: Option<u64>, number: u64) -> usize {
    let Some(seed) = seed else {
        let better = |best: (usize, f32), next: (usize, f32)| if next.1 > best.1 { next } else { best };
        return log_probs.iter().copied().enumerate().reduce(better).map_or(0, |(place, _)| place);
    };
    let weights = log_probs.iter().map(|value| f64::from(exp(*value)));
    let mut left = Stream::numbered(seed, number).uniform() * weights.clone().sum::<f64>();
    let found = weights.enumerate().find(|(_, weight)| {
        left -= weight;
        left < 0.0
    });
    // Rounding can leave a rest after the last one, which then is it.
    found.map_or(log_probs.len().saturating_sub(1), |(place, _)| place)
}

fn failed(why: &str) -> PlannerFault {
    PlannerFault::Failed(format!("the pointer policy: {why}"))
}

impl<T: Turns> Planner for PolicyPlanner<T> {
    fn version(&self) -> PolicyVersion {
        let sampling = match self.style {
            Style::Greedy => json!({"greedy": true}),
            Style::Sampled | Style::Recorded => json!({"temperature": 1}),
        };
        let sampling = match (sampling, self.numbering) {
            (Value::Object(mut sampling), Some(numbering)) => {
                sampling.insert("numbering".to_owned(), json!(numbering));
                Value::Object(sampling)
            }
            (sampling, _) => sampling,
        };
        PolicyVersion { name: NAME.to_owned(), digest: self.digest, sampling }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let mut state = self.lock();
        requests.iter().map(|request| self.decide(&mut state, request)).collect()
    }
}

#[cfg(test)]
mod tests;
