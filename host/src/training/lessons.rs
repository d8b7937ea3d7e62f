//! From episodes of the phone's teacher to what is learnt of them. It plays nothing, and learns nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::verdict::Outcome;
use loopwright_harness::EpisodeResult;
use loopwright_learn::pointer::{Play, Specs, Walk, force_with};
use loopwright_learn::sft::Rules;
use serde::Serialize;

use super::clumsy::Planted;
use super::errors::{Errors, Judged, rules};
use super::watching::Seen;

/// What the teacher showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Shown {
    /// Episodes that were played.
    pub episodes: u64,
    /// Of those, passed: the others are no demonstrations, such as where recall missed a tool.
    pub passed: u64,
    /// Decisions of those, masked ones included.
    pub decisions: u64,
    /// Demonstrations that were refused, by why: a value that was not observed, an act that no choice says.
    pub refused: BTreeMap<String, u64>,
    /// Where wrong turns were planted: which, and what evidence said of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
}

/// Gathers demonstrations.
pub struct Lessons<'a> {
    specs: &'a Specs,
    mask: bool,
    rules: Rules,
    /// What is learnt.
    pub plays: Vec<Play>,
    /// What there is to say of it.
    pub shown: Shown,
}

impl<'a> Lessons<'a> {
    /// Of a teacher that errs, with its erroneous turns masked or not, or of gold.
    ///
    /// # Errors
    /// None but a defect of ours.
    pub fn new(specs: &'a Specs, mask: bool, errs: bool) -> anyhow::Result<Self> {
        let shown = Shown { errors: errs.then(Errors::default), ..Shown::default() };
        Ok(Self { specs, mask, rules: rules()?, plays: Vec::new(), shown })
    }

    /// Adds an episode; masked turns' choices are left out, and what they did stays in what later turns look back on. What does not pass, or is said
    /// by no choice, is counted and left out.
    ///
    /// # Errors
    /// An episode that is void, or a record that does not say what happened.
    pub fn add(&mut self, result: &EpisodeResult, turns: &[Seen], planted: &Planted) -> anyhow::Result<()> {
        match self.play(result, turns, planted)? {
            Ok(play) => self.plays.push(play),
            Err(why) => *self.shown.refused.entry(why).or_default() += 1,
        }
        Ok(())
    }

    /// The play of an episode, or why it is no demonstration.
    fn play(
        &mut self,
        result: &EpisodeResult,
        turns: &[Seen],
        planted: &Planted,
    ) -> anyhow::Result<Result<Play, String>> {
        self.shown.episodes += 1;
        if let Some(errors) = &mut self.shown.errors {
            errors.plant(planted);
        }
        match &result.outcome {
            Outcome::Void(reason) => anyhow::bail!("episode `{}` of the teacher is void: {reason}", result.episode),
            Outcome::Pass => {}
            _ => return Ok(Err("it does not pass".to_owned())),
        }
        self.shown.passed += 1;
        let first = turns.first().with_context(|| format!("episode `{}` has no decision", result.episode))?;
        let units = Arc::clone(Walk::with(self.specs, &first.context).units());
        let mut choices = Vec::new();
        for turn in turns {
            match force_with(self.specs, &turn.context, &turn.actions()) {
                Ok(taken) => choices.push((turn.context.turn, taken)),
                Err(why) => {
                    let (act, slot) = why.place();
                    return Ok(Err(format!("{act} {slot}")));
                }
            }
        }
        let judged = self.shown.errors.is_some().then(|| Judged::of(result, &self.rules)).transpose()?;
        if let (Some(errors), Some(judged)) = (&mut self.shown.errors, &judged)
            && errors.spare(planted, judged)
        {
            return Ok(Err("a planted turn did no wrong: it succeeded and changed nothing".to_owned()));
        }
        let masked = judged.as_ref().filter(|_| self.mask).map(Judged::found).unwrap_or_default();
        let left = choices.into_iter().filter(|(turn, _)| !masked.contains(turn));
        let play = Play { units, choices: left.flat_map(|(_, taken)| taken).collect() };
        if play.choices.is_empty() {
            return Ok(Err("nothing was to be chosen".to_owned()));
        }
        self.shown.decisions += turns.len() as u64;
        if let (Some(errors), Some(judged)) = (&mut self.shown.errors, &judged) {
            errors.compare(planted, judged);
            errors.masked += masked.len() as u64;
        }
        Ok(Ok(play))
    }
}
