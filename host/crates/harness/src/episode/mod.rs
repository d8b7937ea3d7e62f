//! One live episode: the loop's state between two decisions of the planner.

mod begin;
mod memory;
mod offer;
mod repeat;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopwright_contract::context::Context;
use loopwright_contract::digest::{StateDigest, TaskDigest};
use loopwright_contract::environment::Observation;
use loopwright_contract::episode::{Episode, PluginRecord, PreparedTask};
use loopwright_contract::fault::{CallFault, GuestFault, HostFault, chain};
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::memory::{CivilTime, Forget, MemoryRecord, MemoryUse, reminder};
use loopwright_contract::name::{CallId, EpisodeId};
use loopwright_contract::planner::{Decision, PlannerFault, PolicyVersion, Usage};
use loopwright_contract::task::{Check, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_contract::trajectory::{Footer, Header, Line, Record};
use loopwright_contract::verdict::{Ending, JudgedCheck, Outcome};

use crate::harness::Harness;
use crate::memory::{EpisodeMemory, changes};
use crate::record::{bounded, recordable};
use crate::result::{EpisodeResult, VoidCause};
use crate::trajectory::Journal;
use crate::verdict::{judge, outcome};

use begin::{first_context, header};
use offer::Offered;
pub(crate) use offer::SKILL_CARDS_MAX;
pub(crate) use repeat::REPEATS_MAX;
use repeat::Repeats;

/// What is known of an episode before it opens.
pub(crate) struct Plan<'a> {
    pub(crate) id: EpisodeId,
    pub(crate) task: &'a Task,
    pub(crate) task_digest: TaskDigest,
    pub(crate) policy: PolicyVersion,
    pub(crate) seed: u64,
    /// Seeds the world's noise; none: the task does.
    pub(crate) world_seed: Option<u64>,
    pub(crate) record: Record,
    pub(crate) memory: EpisodeMemory,
    pub(crate) memory_use: Option<MemoryUse>,
    pub(crate) forget: Option<Arc<dyn Forget>>,
    pub(crate) journal: Journal,
    /// The stopwatch's reading when the episode began.
    pub(crate) started: Duration,
    /// The worlds' digests, for the header; nothing when no lines are kept.
    pub(crate) worlds: Option<(StateDigest, Option<StateDigest>)>,
    /// In a replay: the plugins and the engine that the header names, once they were compared.
    pub(crate) recorded: Option<(Vec<PluginRecord>, String)>,
}

/// Why an episode is over.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// The agent finished or refused.
    Agent,
    /// A budget.
    Budget(String),
    /// A fault that leaves it without a verdict, and whose doing that was.
    Void(String, VoidCause),
}

impl End {
    /// The end by a fault of the environment or the host while a turn ran.
    fn faulted(fault: &CallFault) -> Self {
        let cause = match fault {
            // What its code does is the same on every machine, and the agent's calls led there.
            CallFault::Guest { fault: GuestFault::Denied { .. }, .. } | CallFault::Host(_) => VoidCause::Run,
            CallFault::Guest { .. } => VoidCause::Course,
        };
        Self::Void(chain(fault), cause)
    }
}

/// What an episode remembers when it begins.
#[derive(Default)]
struct Remembered {
    before: Vec<MemoryRecord>,
    /// What was due.
    fired: Vec<MemoryRecord>,
    /// The same as `before`, with what was due marked.
    now: Vec<MemoryRecord>,
}

impl Remembered {
    fn at_start(episode: &mut dyn Episode) -> Result<Self, CallFault> {
        let before = episode.memory()?;
        if before.is_empty() {
            return Ok(Self::default());
        }
        let fired = episode.remind()?;
        let now = if fired.is_empty() { before.clone() } else { episode.memory()? };
        Ok(Self { before, fired, now })
    }
}

/// What the phone's clock shows.
fn civil_now(episode: &dyn Episode) -> Result<CivilTime, CallFault> {
    CivilTime::of_clock(&episode.now_text()).map_err(|error| HostFault::Internal(error.to_string()).into())
}

/// One live episode.
pub(crate) struct LiveEpisode<'a> {
    harness: &'a Harness,
    task: &'a Task,
    episode: Box<dyn Episode>,
    context: Context,
    offered: Offered,
    pending: BTreeMap<CallId, ToolCall>,
    repeats: Repeats,
    memory: EpisodeMemory,
    /// The records before anything happened.
    remembered: Arc<Vec<MemoryRecord>>,
    forget: Option<Arc<dyn Forget>>,
    journal: Journal,
    seed: u64,
    record: Record,
    budget: EpisodeBudget,
    started: Duration,
    notices: Vec<serde_json::Value>,
    usage: Usage,
    /// Steps of evidence after each turn.
    turn_ends: Vec<u32>,
    coercions: u32,
    malformed: u32,
    end: Option<End>,
}

impl<'a> LiveEpisode<'a> {
    /// Opens an episode and resets it. An error is a fault of ours: the episode is void.
    pub(crate) fn open(
        harness: &'a Harness,
        prepared: &dyn PreparedTask,
        plan: Plan<'a>,
    ) -> Result<Self, Unopened<'a>> {
        let opened = plan.world_seed.map_or_else(|| prepared.open(), |seed| prepared.open_with(seed));
        let begun = opened.and_then(|mut episode| {
            let observation = episode.reset()?;
            let remembered =
                if harness.settings().memory { Remembered::at_start(episode.as_mut())? } else { Remembered::default() };
            Ok((episode, observation, remembered))
        });
        match begun {
            Ok((episode, observation, remembered)) => Ok(Self::begin(harness, plan, episode, observation, remembered)),
            Err(fault) => Err(Unopened { plan: Box::new(plan), reason: chain(&fault) }),
        }
    }

    fn begin(
        harness: &'a Harness,
        plan: Plan<'a>,
        episode: Box<dyn Episode>,
        mut observation: Observation,
        remembered: Remembered,
    ) -> Self {
        let task = plan.task;
        let notices = observation.notices.clone();
        observation.notices.extend(remembered.fired.iter().map(reminder));
        let observation = &observation;
        let budget = harness.settings().budget(&task.budget);
        let offered = Offered::new(harness, &task.request, observation.exposed.as_deref().unwrap_or_default());
        let context = first_context(&plan, harness, episode.as_ref(), &offered, observation, &remembered.now, budget);
        let recorded = plan.recorded.is_some();
        let header = header(harness, &plan, observation);
        let mut live = Self {
            harness,
            task,
            episode,
            context,
            offered,
            pending: BTreeMap::new(),
            repeats: Repeats::default(),
            memory: plan.memory,
            remembered: Arc::new(remembered.before),
            forget: plan.forget,
            journal: plan.journal,
            seed: plan.seed,
            record: plan.record,
            budget,
            started: plan.started,
            notices,
            usage: Usage::default(),
            turn_ends: Vec::new(),
            coercions: 0,
            malformed: 0,
            end: None,
        };
        if let Some(header) = header {
            live.write_header(header, recorded);
        }
        live
    }

    /// What the planner is to decide on; none when the episode is over. `now` is the stopwatch's reading.
    pub(crate) fn due(&mut self, now: Duration) -> Option<&Context> {
        if self.end.is_none() {
            self.end = self.spent(now);
        }
        self.end.is_none().then_some(&self.context)
    }

    /// The context of the next decision, whether or not one is due.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Seeds the next decision: a pure function of run, task and turn.
    pub(crate) fn decision_seed(&self) -> u64 {
        crate::random::seed_of(self.seed, &self.context.task_digest, self.context.turn)
    }

    fn spent(&self, now: Duration) -> Option<End> {
        if now.saturating_sub(self.started) > self.budget.wall {
            return Some(End::Void(format!("wall time of {} ms passed", self.budget.wall.as_millis()), VoidCause::Run));
        }
        if self.context.turn >= self.budget.steps {
            return Some(End::Budget(format!("step budget of {} spent", self.budget.steps)));
        }
        self.overdrawn().map(End::Budget)
    }

    fn overdrawn(&self) -> Option<String> {
        if self.tokens() > self.budget.tokens {
            return Some(format!("token budget of {} spent", self.budget.tokens));
        }
        (self.usage.cost_micros > self.budget.cost_micros)
            .then(|| format!("cost budget of {} millionths spent", self.budget.cost_micros))
    }

    fn tokens(&self) -> u64 {
        self.usage.tokens_in.saturating_add(self.usage.tokens_out)
    }

    /// Takes the planner's decision, or its fault, and runs the turn.
    pub(crate) fn advance(&mut self, decision: Result<Decision, PlannerFault>, now: Duration) {
        match decision.and_then(recordable) {
            Ok(decision) => {
                self.usage = bounded(self.usage.plus(decision.usage));
                // A decision that came too late is not run: whether it came depends on the machine's load.
                if let Some(end @ End::Void(..)) = self.spent(now) {
                    self.end = Some(end);
                    return;
                }
                self.turn(decision);
            }
            Err(fault @ PlannerFault::ContextTooLong { .. }) => self.end = Some(End::Budget(fault.to_string())),
            Err(fault @ PlannerFault::Failed(_)) => self.end = Some(End::Void(fault.to_string(), VoidCause::Run)),
        }
    }

    /// Ends the episode from outside: it is void.
    pub(crate) fn cancel(&mut self, reason: &str) {
        self.end.get_or_insert_with(|| End::Void(reason.to_owned(), VoidCause::Run));
    }

    /// A second episode in the same state. Its lines go on in memory when this one's are there.
    pub(crate) fn fork(&self) -> Result<Self, CallFault> {
        Ok(Self {
            harness: self.harness,
            task: self.task,
            episode: self.episode.fork()?,
            context: self.context.clone(),
            offered: self.offered.clone(),
            pending: self.pending.clone(),
            repeats: self.repeats.clone(),
            memory: self.memory.clone(),
            remembered: Arc::clone(&self.remembered),
            // What only one user can mean is not done by one of several that try.
            forget: None,
            journal: self.journal.fork(),
            seed: self.seed,
            record: self.record,
            budget: self.budget,
            started: self.started,
            notices: self.notices.clone(),
            usage: self.usage,
            turn_ends: self.turn_ends.clone(),
            coercions: self.coercions,
            malformed: self.malformed,
            end: self.end.clone(),
        })
    }

    /// The lines so far, where they are kept in memory.
    pub(crate) fn lines(&self) -> &[String] {
        self.journal.lines()
    }

    /// Judges the episode by other checks than the task's, without recording it.
    pub(crate) fn judge_by(&mut self, checks: &[Check]) -> Result<(Vec<JudgedCheck>, Outcome), String> {
        let verdicts = judge(self.episode.as_mut(), checks, self.harness.settings().prefixes, &self.turn_ends)
            .map_err(|unjudged| unjudged.reason)?;
        let steps = u32::try_from(self.episode.steps().len()).unwrap_or(u32::MAX);
        let judged = outcome(&verdicts, checks.len(), steps);
        Ok(match &self.end {
            Some(End::Budget(reason)) => (verdicts, Outcome::Invalid(reason.clone())),
            Some(End::Void(reason, _)) => (verdicts, Outcome::Void(reason.clone())),
            Some(End::Agent) | None => (verdicts, judged),
        })
    }

    /// Judges the episode and closes its record.
    pub(crate) fn conclude(mut self, now: Duration) -> EpisodeResult {
        let mut verdicts = Vec::new();
        let mut end = self
            .end
            .take()
            .unwrap_or_else(|| End::Void("the episode was not run to its end".to_owned(), VoidCause::Run));
        if !matches!(end, End::Void(..)) {
            match judge(self.episode.as_mut(), &self.task.checks, self.harness.settings().prefixes, &self.turn_ends) {
                Ok(judged) => verdicts = judged,
                Err(unjudged) => end = End::Void(unjudged.reason, unjudged.cause),
            }
        }
        for verdict in &verdicts {
            self.write(&Line::Verdict(Box::new(verdict.clone())));
        }
        if let Some(unwritten @ End::Void(..)) = self.end.take() {
            end = unwritten;
        }
        let footer = self.footer(&end, &verdicts);
        let cause = if let End::Void(_, cause) = end { Some(cause) } else { no_checks(&footer.outcome) };
        self.close(footer, cause, verdicts, now)
    }

    fn footer(&self, end: &End, verdicts: &[JudgedCheck]) -> Footer {
        let steps = u32::try_from(self.episode.steps().len()).unwrap_or(u32::MAX);
        let (ending, outcome) = match end {
            End::Agent => (Ending::Terminated, outcome(verdicts, self.task.checks.len(), steps)),
            End::Budget(reason) => (Ending::Truncated, Outcome::Invalid(reason.clone())),
            End::Void(reason, _) => (Ending::Truncated, Outcome::Void(reason.clone())),
        };
        Footer { outcome, ending, turns: self.context.turn, steps, usage: self.usage }
    }

    fn close(
        mut self,
        mut footer: Footer,
        mut cause: Option<VoidCause>,
        verdicts: Vec<JudgedCheck>,
        now: Duration,
    ) -> EpisodeResult {
        self.write(&Line::Footer(Box::new(footer.clone())));
        let finished = self.journal.finish();
        let (lines, path, failed) = match finished {
            Ok((lines, path)) => (lines, path, None),
            Err(error) => (None, None, Some(format!("the trajectory cannot be written: {error}"))),
        };
        let unwritten = match self.end {
            Some(End::Void(reason, _)) => Some(reason),
            _ => failed,
        };
        if let Some(reason) = unwritten {
            footer.outcome = Outcome::Void(reason);
            cause = Some(VoidCause::Run);
        }
        let remembers = self.harness.settings().memory;
        let memory = match remembers.then(|| self.episode.memory()) {
            Some(Ok(records)) => changes(&self.remembered, &records),
            _ => Vec::new(),
        };
        EpisodeResult {
            task: self.task.id.clone(),
            episode: self.context.episode,
            outcome: footer.outcome,
            void_cause: cause,
            ending: footer.ending,
            turns: footer.turns,
            steps: footer.steps,
            usage: footer.usage,
            verdicts,
            coercions: self.coercions,
            malformed: self.malformed,
            memory,
            wall: now.saturating_sub(self.started),
            path,
            lines,
        }
    }

    /// Writes the header: as it is in a replay, else with the installed plugins.
    fn write_header(&mut self, header: Header, recorded: bool) {
        let header = Line::Header(Box::new(header));
        if recorded {
            return self.write(&header);
        }
        let written = self.journal.write_header(&header, self.harness.plugins_text());
        self.check_written(written);
    }

    /// Writes a line; a failure makes the episode void, and nothing more is written.
    fn write(&mut self, line: &Line) {
        let written = self.journal.write(line);
        self.check_written(written);
    }

    fn check_written(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            self.journal = Journal::nowhere();
            self.end = Some(End::Void(format!("the trajectory cannot be written: {error}"), VoidCause::Run));
        }
    }
}

/// A task without checks makes an episode void that met no fault.
fn no_checks(outcome: &Outcome) -> Option<VoidCause> {
    matches!(outcome, Outcome::Void(_)).then_some(VoidCause::Run)
}

/// An episode that did not open.
pub(crate) struct Unopened<'a> {
    plan: Box<Plan<'a>>,
    reason: String,
}

impl Unopened<'_> {
    /// The void result; where lines are kept, a trajectory of header and footer.
    pub(crate) fn conclude(self, harness: &Harness) -> EpisodeResult {
        let mut result = EpisodeResult::void(self.plan.task.id.clone(), self.plan.id.clone(), self.reason);
        let footer = Footer {
            outcome: result.outcome.clone(),
            ending: result.ending,
            turns: 0,
            steps: 0,
            usage: Usage::default(),
        };
        let header = header(harness, &self.plan, &Observation::default());
        let recorded = self.plan.recorded.is_some();
        let mut journal = self.plan.journal;
        let header = header.map_or(Ok(()), |header| {
            let header = Line::Header(Box::new(header));
            if recorded { journal.write(&header) } else { journal.write_header(&header, harness.plugins_text()) }
        });
        let written = header.and_then(|()| journal.write(&Line::Footer(Box::new(footer))));
        // The episode is void already; a file that cannot be written adds nothing to that.
        if let Ok((lines, path)) = written.and_then(|()| journal.finish()) {
            (result.lines, result.path) = (lines, path);
        }
        result
    }
}
