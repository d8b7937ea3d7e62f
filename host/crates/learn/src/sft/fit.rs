//! The masked loss and its steps.

use loopwright_contract::digest::BlobDigest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::{Checkpoint, CheckpointError, Finite, OPTIMIZER_PART, WEIGHTS_PART};
use crate::nn::random::Stream;
use crate::nn::{AdamW, AdamWConfig, NnError, Parameters, Stepped, negative_log_likelihood};
use crate::rl::{PluginChanged, PluginStamp, Policy, PolicyFault, check_plugins, shuffled};

/// Examples of a step.
pub const BATCH_MAX: usize = 65_536;
/// Passes over the examples.
pub const EPOCHS_MAX: u32 = 10_000;
/// Tells the random numbers of changes from those of the order.
const CHANGES: u64 = 0x6368_616e_6765_7321;
/// The part of a checkpoint with settings and place, as JSON.
pub const FIT_PART: &str = "fit.json";

/// What a cold start is set to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSettings {
    /// Seeds the order of the examples, anew for each pass.
    pub seed: u64,
    /// Examples of a step, 1 to [`BATCH_MAX`]; the last step of a pass takes what is left.
    pub batch: usize,
    /// Passes over the examples, 1 to [`EPOCHS_MAX`].
    pub epochs: u32,
    /// The optimiser.
    pub optimizer: AdamWConfig,
}

/// Why a cold start does not go on. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// An example without a token to learn.
    #[error(
        "example {0} has no token that is not masked\nhint: leave out trajectories in which every turn is erroneous"
    )]
    NothingLeft(usize),
    /// No example.
    #[error("there are no examples to learn from")]
    NoExamples,
    /// A number outside its range.
    #[error("`{name}` must be within 1 to {most}, found {found}")]
    Setting {
        /// Which.
        name: &'static str,
        /// The greatest.
        most: u64,
        /// What it was.
        found: u64,
    },
    /// Another architecture than the checkpoint was made with.
    #[error(
        "the checkpoint is of another architecture: expected {expected}, found {found}\nhint: build the policy that the run was begun with"
    )]
    Architecture {
        /// The policy's.
        expected: Value,
        /// The checkpoint's.
        found: Value,
    },
    /// A plugin is not the one that the examples were made with.
    #[error(transparent)]
    PluginChanged(#[from] PluginChanged),
    /// The examples are not those that the run began with.
    #[error(
        "the demonstrations have changed, in their {what}: the run is pinned to {expected}, found {found}\nhint: go on as the run was begun, or begin a new one"
    )]
    ExamplesChanged {
        /// In what: their number, their tokens, or what they say.
        what: &'static str,
        /// By the checkpoint.
        expected: String,
        /// What there is.
        found: String,
    },
    /// It was asked to drop the step.
    #[error("the step was dropped")]
    Dropped,
    /// A state that cannot be read.
    #[error(
        "the checkpoint's part `{FIT_PART}` cannot be read: {0}\nhint: go on with the version that wrote it, or begin a new run"
    )]
    State(String),
    /// A checkpoint.
    #[error("a checkpoint of the cold start")]
    Checkpoint(#[from] CheckpointError),
    /// The optimiser.
    #[error("the optimiser")]
    Nn(#[from] NnError),
    /// The policy; a loss that is not finite is among it.
    #[error("the policy")]
    Policy(#[from] PolicyFault),
}

/// Samples of which each has a token to learn.
#[derive(Debug, Clone)]
pub struct Examples<S> {
    samples: Vec<S>,
    pins: Pins,
}

/// What a cold start is pinned to, beside its settings and its architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pins {
    examples: usize,
    tokens: u64,
    /// Of all that is learnt from, in order.
    digest: BlobDigest,
    /// The plugins that the examples were made with.
    plugins: Vec<PluginStamp>,
}

impl Pins {
    /// That `found` is what the checkpoint says. Plugins come first: where one has changed, the examples follow from it.
    fn check(&self, found: &Self) -> Result<(), FitError> {
        check_plugins(&self.plugins, &found.plugins)?;
        let pairs = [
            ("number", self.examples.to_string(), found.examples.to_string()),
            ("tokens", self.tokens.to_string(), found.tokens.to_string()),
            ("content", self.digest.to_string(), found.digest.to_string()),
        ];
        match pairs.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(FitError::ExamplesChanged { what, expected, found }),
            None => Ok(()),
        }
    }
}

impl<S: Clone> Examples<S> {
    /// Checks samples.
    ///
    /// # Errors
    /// [`FitError::NothingLeft`] for a sample in which all is masked, [`FitError::NoExamples`] without samples.
    pub fn new<P: Policy<Sample = S>>(samples: Vec<S>) -> Result<Self, FitError> {
        if let Some(place) = samples.iter().position(|sample| P::choices(sample) == 0) {
            return Err(FitError::NothingLeft(place));
        }
        if samples.is_empty() {
            return Err(FitError::NoExamples);
        }
        let tokens = samples.iter().map(|sample| P::choices(sample) as u64).sum();
        let pins = Pins { examples: samples.len(), tokens, digest: digest_of::<P>(&samples), plugins: Vec::new() };
        Ok(Self { samples, pins })
    }

    /// Says which plugins they were made with: a run on them is then pinned to these too.
    #[must_use]
    pub fn made_with(mut self, plugins: Vec<PluginStamp>) -> Self {
        self.pins.plugins = plugins;
        self
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> usize {
        self.samples.len()
    }

    /// Tokens that are learnt, over all of them.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.pins.tokens
    }
}

/// Changes the samples of a step by a random number.
pub type Change<'a, S> = dyn Fn(u64, Vec<S>) -> Vec<S> + 'a;

/// One step of a cold start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FitRecord {
    /// Its number, from 1.
    pub step: u64,
    /// L over the step's examples before the update, in nats a token.
    pub loss: f64,
    /// Z: tokens that were not masked, of all examples of the step.
    pub tokens_learnt: u64,
    /// The update.
    pub update: Stepped,
}

/// A cold start in the middle.
#[derive(Debug, Clone)]
pub struct Fit {
    optimizer: AdamW,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    architecture: Value,
    of: Pins,
    settings: FitSettings,
    step: u64,
    loss: f64,
}

impl Place {
    fn of(checkpoint: &Checkpoint) -> Result<Self, FitError> {
        serde_json::from_slice(checkpoint.part(FIT_PART)?).map_err(|error| FitError::State(error.to_string()))
    }
}

impl Fit {
    /// Begins.
    ///
    /// # Errors
    /// [`FitError::Setting`] for a number outside its range.
    pub fn new<P: Policy>(settings: FitSettings, policy: &P, examples: &Examples<P::Sample>) -> Result<Self, FitError> {
        let ranges = [
            ("batch", BATCH_MAX as u64, settings.batch as u64),
            ("epochs", u64::from(EPOCHS_MAX), u64::from(settings.epochs)),
        ];
        if let Some((name, most, found)) = ranges.into_iter().find(|(_, most, found)| !(1..=*most).contains(found)) {
            return Err(FitError::Setting { name, most, found });
        }
        let optimizer = AdamW::new(settings.optimizer, policy.parameters())?;
        let (architecture, of) = (policy.architecture(), examples.pins.clone());
        Ok(Self { optimizer, place: Place { architecture, of, settings, step: 0, loss: 0.0 } })
    }

    /// That a checkpoint's examples were made with these plugins: to be asked before they are made again, which other plugins may not manage.
    ///
    /// # Errors
    /// [`FitError::PluginChanged`] with the first that differs, and [`FitError::State`] for a checkpoint that cannot be read.
    pub fn check_plugins(checkpoint: &Checkpoint, plugins: &[PluginStamp]) -> Result<(), FitError> {
        Ok(check_plugins(&Place::of(checkpoint)?.of.plugins, plugins)?)
    }

    /// Goes on from a checkpoint, whose weights take the place of the policy's.
    ///
    /// # Errors
    /// [`FitError`] for a checkpoint of another architecture, of other examples or of examples made with other plugins, each with what changed, and
    /// for one that cannot be read.
    pub fn resume<P: Policy>(
        policy: &mut P,
        examples: &Examples<P::Sample>,
        checkpoint: &Checkpoint,
    ) -> Result<Self, FitError> {
        let place = Place::of(checkpoint)?;
        let expected = policy.architecture();
        if place.architecture != expected {
            return Err(FitError::Architecture { expected, found: place.architecture });
        }
        place.of.check(&examples.pins)?;
        let slots = policy.parameters().slots().to_vec();
        let parameters = Parameters::from_bytes(slots, checkpoint.part(WEIGHTS_PART)?)?;
        let optimizer = AdamW::from_bytes(place.settings.optimizer, &parameters, checkpoint.part(OPTIMIZER_PART)?)?;
        *policy.parameters_mut() = parameters;
        Ok(Self { optimizer, place })
    }

    /// Steps of the whole cold start.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps_of_epoch() * u64::from(self.place.settings.epochs)
    }

    /// Steps that were taken.
    #[must_use]
    pub const fn taken(&self) -> u64 {
        self.place.step
    }

    fn steps_of_epoch(&self) -> u64 {
        self.place.of.examples.div_ceil(self.place.settings.batch) as u64
    }

    /// One step; none when all were taken.
    ///
    /// # Errors
    /// [`FitError::Policy`] for a loss that is not finite; nothing was changed then.
    pub fn step<P: Policy>(
        &mut self,
        policy: &mut P,
        examples: &Examples<P::Sample>,
    ) -> Result<Option<FitRecord>, FitError> {
        self.step_on(policy, examples, &|_, samples| samples)
    }

    /// The same on samples that are changed before they are learnt: `change` is given a random number, the same whenever this step is taken, and
    /// keeps the number of choices.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn step_on<P: Policy>(
        &mut self,
        policy: &mut P,
        examples: &Examples<P::Sample>,
        change: &Change<'_, P::Sample>,
    ) -> Result<Option<FitRecord>, FitError> {
        self.step_while(policy, examples, change, &|| true)
    }

    /// The same, which is dropped in the middle once `wanted` says no: it is asked before each part of the step, of some hundred choices.
    ///
    /// # Errors
    /// [`FitError::Dropped`] for a step that was dropped, and as [`Self::step`].
    pub fn step_while<P: Policy>(
        &mut self,
        policy: &mut P,
        examples: &Examples<P::Sample>,
        change: &Change<'_, P::Sample>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Option<FitRecord>, FitError> {
        if self.place.step >= self.steps() {
            return Ok(None);
        }
        let (epoch, part) = (self.place.step / self.steps_of_epoch(), self.place.step % self.steps_of_epoch());
        let order = shuffled(&mut Stream::numbered(self.place.settings.seed, epoch), examples.count());
        let batch = self.place.settings.batch;
        let first = usize::try_from(part).unwrap_or(usize::MAX).saturating_mul(batch);
        let samples: Vec<P::Sample> =
            order.iter().skip(first).take(batch).filter_map(|place| examples.samples.get(*place)).cloned().collect();
        let mut stream = Stream::numbered(self.place.settings.seed ^ CHANGES, self.place.step);
        let samples = change(stream.bits(), samples);
        let tokens: usize = samples.iter().map(P::choices).sum();
        #[expect(clippy::cast_precision_loss, reason = "tokens of a step are far below 2^53")]
        let denominator = tokens.max(1) as f64;
        let loss = |chosen: &candle_core::Tensor, range: std::ops::Range<usize>| {
            if !wanted() {
                return Err(candle_core::Error::Msg(FitError::Dropped.to_string()));
            }
            negative_log_likelihood(chosen, &vec![1.0; range.len()], denominator)
        };
        let gradients = policy.gradients(&samples, &loss);
        if !wanted() {
            return Err(FitError::Dropped);
        }
        let gradients = gradients?;
        let update = self.optimizer.step(policy.parameters_mut(), &gradients).map_err(PolicyFault::from)?;
        self.place.step += 1;
        self.place.loss = gradients.loss();
        Ok(Some(FitRecord { step: self.place.step, loss: gradients.loss(), tokens_learnt: tokens as u64, update }))
    }

    /// The state after the last step.
    ///
    /// # Errors
    /// [`FitError::Checkpoint`] for a state that is not finite.
    pub fn checkpoint<P: Policy>(&self, policy: &P) -> Result<Finite, FitError> {
        let place = serde_json::to_vec_pretty(&self.place).map_err(|error| FitError::State(error.to_string()))?;
        Ok(Finite::new(self.place.loss, policy.parameters(), &self.optimizer)?.with(FIT_PART, place)?)
    }
}

/// The digest of samples in order.
fn digest_of<P: Policy>(samples: &[P::Sample]) -> BlobDigest {
    let (mut all, mut bytes) = (Vec::with_capacity(samples.len() * 32), Vec::new());
    for sample in samples {
        bytes.clear();
        P::write(sample, &mut bytes);
        all.extend(BlobDigest::of(&bytes).0);
    }
    BlobDigest::of(&all)
}
