//! The tiny decoder behind the planner port. It knows no reward, and keeps what it sampled until it is asked for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::{Context, Event};
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::name::{CallId, EpisodeId, ToolName};
use loopwright_contract::planner::{
    Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion, SampledToken, Usage,
};
use loopwright_contract::tool::ToolCall;
use serde_json::json;

use super::vocabulary::{Code, Mark, Requests, Tool};
use super::writer::Writer;
use crate::decoder::{Ask, Chosen, Decoder, DecoderError, Feed, Pick, Sequence, Session};
use crate::nn::Allowed;
use crate::rl::Recording;

/// The policy's name in records.
const NAME: &str = "ablation-decoder";

/// A decoder that plays the ablation task. Each call costs one token, and to finish costs none: it finishes once the world says that all is over.
///
/// It samples at temperature 1 by the seed of each request, or takes what is likeliest. What an episode gets depends on its own requests alone.
#[derive(Debug)]
pub struct AblationPlanner {
    digest: PolicyDigest,
    positions: usize,
    requests: Requests,
    greedy: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    session: Session,
    /// Rows that nobody uses; the next one is the last.
    free: Vec<usize>,
    live: BTreeMap<EpisodeId, Live>,
    done: BTreeMap<EpisodeId, Recording<Sequence>>,
}

/// An episode that goes on.
#[derive(Debug)]
struct Live {
    row: usize,
    /// Its next decision.
    turn: u32,
    /// Symbols that the row was fed.
    fed: usize,
    writer: Writer,
    log_probs: Vec<f32>,
}

/// What is to be done for a request.
enum Next {
    Finish,
    /// To choose; whether it is the episode's last decision.
    Choose(Allowed, bool),
}

impl AblationPlanner {
    /// A planner for up to `rows` episodes at once; later changes of the decoder's weights do not change it.
    ///
    /// # Errors
    /// Weights that are not finite, or more rows than a session takes.
    pub fn new(decoder: &Decoder, requests: Requests, rows: usize, greedy: bool) -> Result<Self, DecoderError> {
        let session = decoder.actor()?.start(rows)?;
        let state = State { session, free: (0..rows).rev().collect(), live: BTreeMap::new(), done: BTreeMap::new() };
        let positions = decoder.shape().positions;
        Ok(Self { digest: decoder.digest()?, positions, requests, greedy, state: Mutex::new(state) })
    }

    /// What was sampled in each episode since this was last asked, those that were cut off included. They end with it: an episode that goes on
    /// afterwards is not known any more.
    #[must_use]
    pub fn take_recordings(&self) -> BTreeMap<EpisodeId, Recording<Sequence>> {
        let mut state = self.lock();
        let cut: Vec<EpisodeId> = state.live.keys().cloned().collect();
        for episode in cut {
            state.end(&episode, self.digest);
        }
        std::mem::take(&mut state.done)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, state: &mut State, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let nexts: Vec<_> = requests.iter().map(|request| self.read(state, request.context)).collect();
        let mut asks = Vec::new();
        let mut feeds = Vec::new();
        for (next, request) in nexts.iter().zip(requests) {
            let (Ok(Next::Choose(allowed, _)), Some(live)) = (next, state.live.get(&request.context.episode)) else {
                continue;
            };
            let pick = if self.greedy { Pick::Greedy } else { Pick::Sample { seed: request.seed } };
            feeds.push(Feed { row: live.row, symbols: live.writer.since(live.fed) });
            asks.push(Ask { row: live.row, allowed: *allowed, pick });
        }
        let chosen = state.session.feed(&feeds).and_then(|()| state.session.choose(&asks));
        let mut chosen = match chosen {
            Ok(chosen) => chosen.into_iter(),
            Err(error) => return requests.iter().map(|_| Err(PlannerFault::Failed(error.to_string()))).collect(),
        };
        let decision = |(next, request): (Result<Next, PlannerFault>, &DecisionRequest<'_>)| match next? {
            Next::Finish => {
                state.end(&request.context.episode, self.digest);
                Ok(finish())
            }
            Next::Choose(allowed, last) => {
                let chosen = chosen.next().ok_or_else(|| failed("nothing was chosen"))?;
                let decision = state.write(request.context, allowed, chosen)?;
                if last {
                    state.end(&request.context.episode, self.digest);
                }
                Ok(decision)
            }
        };
        nexts.into_iter().zip(requests).map(decision).collect()
    }

    /// Reads what came of the last call, once.
    fn read(&self, state: &mut State, context: &Context) -> Result<Next, PlannerFault> {
        if context.turn == 0 && !state.live.contains_key(&context.episode) {
            let mark = self.requests.mark(&context.request);
            let mark = mark.ok_or_else(|| failed(&format!("request `{}` is not of its task", context.request)))?;
            state.begin(&context.episode, mark)?;
        }
        let live = state.live.get_mut(&context.episode);
        let live = live.filter(|live| live.turn == context.turn).ok_or_else(|| {
            let why = format!("turn {} of `{}` does not follow what it decided", context.turn, context.episode);
            failed(&format!("{why}\nhint: one planner decides all turns of an episode, each once"))
        })?;
        live.turn += 1;
        let code = (context.turn > 0).then(|| last_code(context));
        code.into_iter().for_each(|code| live.writer.answer(code));
        let found = live.fed + live.writer.since(live.fed).len();
        if found > self.positions {
            state.end(&context.episode, self.digest);
            return Err(PlannerFault::ContextTooLong { found: found as u64, limit: self.positions as u64 });
        }
        let offered = context.space.tools.iter().filter_map(|spec| Tool::named(spec.name.as_str()));
        let symbols: Vec<u8> = offered.map(Tool::symbol).collect();
        let allowed = Allowed::of(&symbols).unwrap_or_default();
        if code == Some(Code::Over) || allowed.is_empty() {
            return Ok(Next::Finish);
        }
        Ok(Next::Choose(allowed, context.remaining.steps <= 1))
    }
}

impl State {
    fn begin(&mut self, episode: &EpisodeId, mark: Mark) -> Result<(), PlannerFault> {
        let row = self.free.pop().ok_or_else(|| {
            failed(&format!("{} episodes at once\nhint: make it with as many rows as a batch has", self.live.len() + 1))
        })?;
        self.session.restart(row).map_err(|error| PlannerFault::Failed(error.to_string()))?;
        let live = Live { row, turn: 0, fed: 0, writer: Writer::new(mark), log_probs: Vec::new() };
        self.live.insert(episode.clone(), live);
        Ok(())
    }

    /// Notes what was chosen, and makes it a decision.
    fn write(&mut self, context: &Context, allowed: Allowed, chosen: Chosen) -> Result<Decision, PlannerFault> {
        let live = self.live.get_mut(&context.episode).ok_or_else(|| failed("the episode is gone"))?;
        let tool = Tool::of(chosen.symbol).ok_or_else(|| failed(&format!("symbol {} is no tool", chosen.symbol)))?;
        let name = ToolName::new(tool.name()).map_err(|error| PlannerFault::Failed(error.to_string()))?;
        let id = CallId::new(format!("c{}", context.turn)).map_err(|error| PlannerFault::Failed(error.to_string()))?;
        live.fed += live.writer.since(live.fed).len();
        live.writer.tool(tool, Some(allowed));
        live.log_probs.push(chosen.log_prob);
        Ok(Decision {
            proposed: vec![Proposed::Action { value: Action::Call(ToolCall { id, tool: name, arguments: json!({}) }) }],
            tokens: vec![SampledToken { id: u32::from(chosen.symbol), logprob: chosen.log_prob }],
            usage: Usage { tokens_out: 1, ..Usage::default() },
            ..Decision::default()
        })
    }

    fn end(&mut self, episode: &EpisodeId, policy: PolicyDigest) {
        if let Some(live) = self.live.remove(episode) {
            self.free.push(live.row);
            let recording = Recording { policy, sample: live.writer.into_sequence(), log_probs: live.log_probs };
            self.done.insert(episode.clone(), recording);
        }
    }
}

fn failed(why: &str) -> PlannerFault {
    PlannerFault::Failed(format!("the ablation's decoder: {why}"))
}

fn finish() -> Decision {
    let action = Action::Finish { answer: String::new(), data: None };
    Decision { proposed: vec![Proposed::Action { value: action }], ..Decision::default() }
}

/// The code of the last answer; an output that could not be taken, or a call that had none, has failed.
fn last_code(context: &Context) -> Code {
    let last = context.history.iter().rev().find_map(|event| match event {
        Event::Answered { envelope, .. } => Some(Code::of_envelope(envelope)),
        Event::Malformed { .. } | Event::Decided { .. } => Some(Code::Failed),
        _ => None,
    });
    last.unwrap_or(Code::Failed)
}

impl Planner for AblationPlanner {
    fn version(&self) -> PolicyVersion {
        let sampling = if self.greedy { json!({"greedy": true}) } else { json!({"temperature": 1}) };
        PolicyVersion { name: NAME.to_owned(), digest: self.digest, sampling }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        self.decide(&mut self.lock(), requests)
    }
}
