//! The training loop's body: one step, and the state between steps.

use std::cell::RefCell;

use loopwright_contract::stopwatch::Stopwatch;
use sha2::{Digest, Sha256};

use super::batch::{Batch, batch_of, group_of};
use super::error::TrainError;
use super::loss::{LossFigures, surrogate_loss};
use super::policy::{Policy, PolicyFault};
use super::port::{Order, Ordered, Rolled, Rollouts};
use super::record::{Means, Outcome, StepRecord, Timing, regimes};
use super::settings::{RefillOn, Settings};
use super::state::{Governed, State, TRAINER_PART, check_source};
use crate::care::surrogate::Figures;
use crate::care::{Assignment, Group, GroupId, Phi, Statistics};
use crate::checkpoint::{Checkpoint, Finite, OPTIMIZER_PART, WEIGHTS_PART};
use crate::control::{self, Controller, Decision, Dev, Governor, Guard, Train};
use crate::nn::{AdamW, Gradients, NnError, Parameters, Stepped};

/// Steps that may be refused one after the other before a run ends.
pub const REFUSED_IN_A_ROW_MAX: u32 = 3;

/// A run: a policy, its optimiser, and where it stands.
#[derive(Debug)]
pub struct Trainer<P: Policy> {
    policy: P,
    reference: Option<P>,
    optimizer: AdamW,
    governor: Option<Governor>,
    state: State,
}

/// Groups of a step with what they were assigned.
struct Collected<S> {
    rolled: Vec<Rolled<S>>,
    assignment: Assignment,
    refills: u32,
}

/// What an update came to.
struct Update {
    loss: f64,
    figures: Figures,
    stepped: Stepped,
}

impl<P: Policy> Trainer<P> {
    /// Begins a run with a policy as it comes from a cold start. `reference` is what KL pulls towards, and is given when `beta` is above 0.
    ///
    /// # Errors
    /// [`TrainError`] for settings outside their ranges, rollouts without tasks, and a reference that does not go with the settings.
    pub fn new(
        policy: P,
        reference: Option<P>,
        settings: Settings,
        rollouts: &dyn Rollouts<P>,
    ) -> Result<Self, TrainError> {
        settings.check()?;
        let wanted = settings.surrogate.values().beta > 0.0;
        if wanted != reference.is_some() {
            let said = |there: bool| if there { "one" } else { "none" }.to_owned();
            return Err(TrainError::Reference { expected: said(wanted), found: said(!wanted) });
        }
        let source = rollouts.source();
        if source.tasks.is_empty() {
            return Err(TrainError::NoTasks);
        }
        let optimizer = AdamW::new(settings.optimizer, policy.parameters())?;
        let digest = reference.as_ref().map(Policy::digest).transpose()?;
        let mut state = State::new(policy.architecture(), settings, source, digest);
        state.versions.push_back(policy.digest()?);
        Ok(Self { policy, reference, optimizer, governor: None, state })
    }

    /// Puts a governor in charge of the schedule, from the scheme's phi on.
    ///
    /// # Errors
    /// [`TrainError::Control`] for a phi outside the controller's bounds, and a guard without meaning.
    pub fn governed(mut self, guard: Guard) -> Result<Self, TrainError> {
        self.governor = Some(Governor::new(self.state.settings.scheme.phi, guard)?);
        self.state.governed =
            self.governor.as_ref().map(|governor| Governed { state: governor.state().clone(), guard });
        Ok(self)
    }

    /// Goes on from a checkpoint. `policy` gives the architecture, and its weights are replaced; settings are the checkpoint's.
    ///
    /// # Errors
    /// [`TrainError`] for a checkpoint of another architecture or one that cannot be read, and when plugins, tasks or reference are not those that
    /// the run began with.
    pub fn resume(
        mut policy: P,
        reference: Option<P>,
        checkpoint: &Checkpoint,
        rollouts: &dyn Rollouts<P>,
    ) -> Result<Self, TrainError> {
        let state = State::parse(checkpoint.part(TRAINER_PART)?, &policy.architecture())?;
        check_source(&state.source, &rollouts.source())?;
        let found = reference.as_ref().map(Policy::digest).transpose()?;
        if found != state.reference {
            let said = |digest: Option<_>| digest.map_or("none".to_owned(), |digest| format!("{digest:?}"));
            return Err(TrainError::Reference { expected: said(state.reference), found: said(found) });
        }
        let slots = policy.parameters().slots().to_vec();
        *policy.parameters_mut() = Parameters::from_bytes(slots, checkpoint.part(WEIGHTS_PART)?)?;
        let moments = checkpoint.part(OPTIMIZER_PART)?;
        let optimizer = AdamW::from_bytes(state.settings.optimizer, policy.parameters(), moments)?;
        let digest = policy.digest()?;
        if state.versions.back() != Some(&digest) {
            let reason = format!("its last policy is {:?}, its weights are {digest}", state.versions.back());
            return Err(TrainError::State { part: TRAINER_PART, reason });
        }
        let governed = state.governed.clone();
        let governor = governed.map(|governed| Governor::restore(governed.state, governed.guard)).transpose()?;
        Ok(Self { policy, reference, optimizer, governor, state })
    }

    /// The policy as it is.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Steps that were taken, refused and empty ones included.
    pub const fn steps(&self) -> u64 {
        self.state.step
    }

    /// What the run is set to.
    pub const fn settings(&self) -> &Settings {
        &self.state.settings
    }

    /// The schedule in force.
    pub fn phi(&self) -> &Phi {
        self.governor.as_ref().map_or(&self.state.settings.scheme.phi, Governor::phi)
    }

    /// The state after the last step.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`] after a step that was refused: only a later good one makes a checkpoint again.
    pub fn checkpoint(&self) -> Result<Finite, TrainError> {
        let loss = if self.state.refused_in_a_row > 0 { f64::NAN } else { self.state.loss };
        let finite = Finite::new(loss, self.policy.parameters(), &self.optimizer)?;
        Ok(finite.with(TRAINER_PART, self.state.to_bytes()?)?)
    }

    /// Lets a controller propose another schedule, by the statistics since it was last asked and by dev.
    ///
    /// # Errors
    /// [`TrainError::Control`] when this step was decided already. Without a governor nothing happens, and `None` is returned.
    pub fn consult(
        &mut self,
        controller: &mut dyn Controller,
        dev: Option<Dev>,
    ) -> Result<Option<Decision>, TrainError> {
        let (Some(governor), Some(governed)) = (&mut self.governor, &mut self.state.governed) else { return Ok(None) };
        let train = Train::of(&self.state.since);
        let decision = governor.consult(controller, &control::Statistics { step: self.state.step, train, dev })?;
        governed.state = governor.state().clone();
        self.state.since = Statistics::default();
        Ok(Some(decision))
    }

    /// One step: rolls out, compares, updates.
    ///
    /// # Errors
    /// [`TrainError`]; the trainer is then as it was, and the step can be tried again. A step that is refused is no error but an outcome, until
    /// [`REFUSED_IN_A_ROW_MAX`] were refused one after the other.
    pub fn step(
        &mut self,
        rollouts: &mut dyn Rollouts<P>,
        stopwatch: &dyn Stopwatch,
    ) -> Result<StepRecord, TrainError> {
        let begun = stopwatch.elapsed();
        check_source(&self.state.source, &rollouts.source())?;
        let collected = self.collect(rollouts)?;
        let rollout = stopwatch.elapsed().saturating_sub(begun);
        let stale_max = self.state.settings.stale_updates_max;
        let batch = batch_of::<P>(&collected.rolled, &collected.assignment, &self.state.versions, stale_max)?;
        let counters = *collected.assignment.counters();
        let updated =
            if batch.samples.is_empty() { Ok(None) } else { self.update(&batch, &|| rollouts.wanted()).map(Some) };
        let (outcome, update) = match updated {
            Ok(Some(update)) => (Outcome::Updated, Some(update)),
            Ok(None) if counters.kept == 0 => (Outcome::AllVoid, None),
            Ok(None) => (Outcome::Empty, None),
            Err(TrainError::Policy(PolicyFault::NotFinite(source))) => {
                (Outcome::Refused { reason: source.to_string() }, None)
            }
            Err(error) => return Err(error),
        };
        self.finish(&outcome, &collected.assignment, update.as_ref())?;
        let whole = stopwatch.elapsed().saturating_sub(begun);
        Ok(self.record(outcome, &collected, &batch, update, Timing::of(rollout, whole, counters.members)))
    }

    /// Rolls out the step's groups, and further ones where too many came to nothing.
    fn collect(&self, rollouts: &mut dyn Rollouts<P>) -> Result<Collected<P::Sample>, TrainError> {
        let Settings { groups: wanted, members, refills_max, refill_on, .. } = self.state.settings;
        let scheme = crate::care::Scheme { phi: *self.phi(), ..self.state.settings.scheme };
        let step = self.state.step + 1;
        let (mut rolled, mut groups) = (Vec::new(), Vec::<Group>::new());
        let (mut lacking, mut refills) = (wanted, 0);
        loop {
            let first = self.state.sampler.next() + rolled.len() as u64;
            let tasks = self.state.sampler.tasks(first, lacking, self.state.source.tasks.len());
            let ordered = tasks.into_iter().zip(first..).map(|(task, id)| Ordered { id: GroupId(id), task });
            let seed = derived(self.state.settings.seed, step, refills);
            let order = Order { step, seed, members, groups: ordered.collect() };
            let found = rollouts.roll(&self.policy, &order);
            let found = found.map_err(|source| TrainError::Rollouts { step, source })?;
            if !found.iter().map(|group| group.id).eq(order.groups.iter().map(|group| group.id)) {
                let (expected, found) = (order.groups.len(), found.len());
                let what = format!("expected the {expected} groups ordered, found {found} or others");
                return Err(TrainError::Returned { step, what });
            }
            for group in &found {
                groups.push(group_of(group, members, step)?);
            }
            rolled.extend(found);
            let assignment = scheme.assign(&groups).map_err(|source| TrainError::Assign { step, source })?;
            let good = assignment.groups().iter().filter(|credit| match refill_on {
                RefillOn::Dropped => credit.scored.is_some(),
                RefillOn::Silent => !credit.is_silent(),
            });
            lacking = wanted.saturating_sub(good.count());
            if lacking == 0 || refills >= refills_max {
                return Ok(Collected { rolled, assignment, refills });
            }
            refills += 1;
        }
    }

    /// Moves the weights, while that is wanted. On an error they and the moments are as before.
    fn update(&mut self, batch: &Batch<P::Sample>, wanted: &dyn Fn() -> bool) -> Result<Update, TrainError> {
        let surrogate = self.state.settings.surrogate;
        let mut data = batch.data.clone();
        if let Some(reference) = &self.reference {
            data.reference = Some(reference.log_probs(&batch.samples)?.into_iter().map(f64::from).collect());
        }
        let denominator = surrogate.values().denominator.value(batch.trained);
        let kept = (self.policy.parameters().values()?, self.optimizer.clone());
        let mut first = None;
        let mut last = None;
        for _ in 0..self.state.settings.epochs {
            let figures = RefCell::new(LossFigures::default());
            let loss = |chosen: &candle_core::Tensor, range: std::ops::Range<usize>| {
                if !wanted() {
                    return Err(candle_core::Error::Msg("the step is not wanted any more".to_owned()));
                }
                surrogate_loss(chosen, range, &surrogate, &data, denominator, &figures)
            };
            let gradients = self.policy.gradients(&batch.samples, &loss);
            let stepped = self.descend(gradients, &figures);
            match stepped {
                Ok(stepped) => {
                    let figures = figures.into_inner();
                    first.get_or_insert_with(|| figures.figures(batch.trained));
                    last = Some((figures.loss(denominator), stepped));
                }
                Err(error) => {
                    self.policy.parameters_mut().set(kept.0)?;
                    self.optimizer = kept.1;
                    return Err(if wanted() { error } else { TrainError::Dropped { step: self.state.step + 1 } });
                }
            }
        }
        match first.zip(last) {
            Some((figures, (loss, stepped))) => Ok(Update { loss, figures, stepped }),
            None => Err(TrainError::Nn(NnError::NonFiniteLoss { value: f64::NAN })),
        }
    }

    fn descend(
        &mut self,
        gradients: Result<Gradients, PolicyFault>,
        figures: &RefCell<LossFigures>,
    ) -> Result<Stepped, TrainError> {
        // A token without a term is a number that is not finite, or not a log-probability: the step is refused with that as the reason.
        if let Some(fault) = figures.borrow_mut().take_fault() {
            return Err(PolicyFault::NotFinite(Box::new(fault)).into());
        }
        let stepped = self.optimizer.step(self.policy.parameters_mut(), &gradients?);
        Ok(stepped.map_err(PolicyFault::from)?)
    }

    /// Counts the step.
    fn finish(
        &mut self,
        outcome: &Outcome,
        assignment: &Assignment,
        update: Option<&Update>,
    ) -> Result<(), TrainError> {
        let digest = self.policy.digest()?;
        let state = &mut self.state;
        if let Outcome::Refused { reason } = outcome {
            if state.refused_in_a_row + 1 >= REFUSED_IN_A_ROW_MAX {
                return Err(TrainError::Stuck { steps: state.refused_in_a_row + 1, reason: reason.clone() });
            }
            state.refused_in_a_row += 1;
        } else {
            state.refused_in_a_row = 0;
        }
        state.step += 1;
        let counters = assignment.counters();
        state.sampler.advance(counters.kept, counters.too_small);
        state.since.add(&Statistics::of(assignment));
        if let Some(update) = update {
            state.loss = update.loss;
            state.versions.push_back(digest);
            let most = usize::try_from(state.settings.stale_updates_max).unwrap_or(usize::MAX).saturating_add(1);
            while state.versions.len() > most {
                state.versions.pop_front();
            }
        }
        Ok(())
    }

    fn record(
        &self,
        outcome: Outcome,
        collected: &Collected<P::Sample>,
        batch: &Batch<P::Sample>,
        update: Option<Update>,
        timing: Timing,
    ) -> StepRecord {
        let statistics = Statistics::of(&collected.assignment);
        let mut means = Means::default();
        for (rolled, credits) in collected.rolled.iter().zip(collected.assignment.groups()) {
            for (member, _) in rolled.members.iter().zip(&credits.slots).filter(|(_, credit)| credit.is_some()) {
                let Some(measured) = member.measured else { continue };
                means.members += 1;
                means.cost += measured.cost;
                means.tokens += member.tokens;
            }
        }
        let [progress, consolidation, efficiency] = regimes(&statistics);
        StepRecord {
            step: self.state.step,
            outcome,
            phi: *self.phi(),
            episodes: statistics.counters.members,
            success: statistics.success(),
            cost: means.cost(),
            tokens: means.tokens(),
            progress,
            consolidation,
            efficiency,
            counters: statistics.counters,
            refills: collected.refills,
            stale_tokens: batch.stale,
            loss: update.as_ref().map(|update| update.loss),
            figures: update.as_ref().map(|update| update.figures),
            update: update.map(|update| update.stepped),
            groups_trained: self.state.sampler.trained(),
            policy: self.state.versions.back().map(ToString::to_string).unwrap_or_default(),
            timing,
        }
    }
}

/// The seed of an order: of the run's seed, the step and the refill, and of nothing else.
fn derived(seed: u64, step: u64, refill: u32) -> u64 {
    let digest = Sha256::digest(format!("rollout\n{seed}\n{step}\n{refill}"));
    digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
