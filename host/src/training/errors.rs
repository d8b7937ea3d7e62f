//! Which turns of a teacher's episode are erroneous by evidence, and how that compares with what was planted. It plays nothing and masks nothing.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use loopwright_contract::environment::{Reply, TurnResult};
use loopwright_contract::name::CollectionName;
use loopwright_contract::trajectory::{Kept, TurnRecord, VerifiedTrajectory};
use loopwright_harness::EpisodeResult;
use loopwright_harness::trajectory::read_bytes;
use loopwright_learn::pointer::Slip;
use loopwright_learn::sft::{Cause, Finding, Rules, StepTurns, find};
use serde::Serialize;

use super::clumsy::Planted;

/// Fields of the phone's documents that say when they were made and changed, and nothing else.
const BOOKKEEPING: [(&str, &[&str]); 7] = [
    ("alarms", &["/created", "/modified"]),
    ("contacts", &["/created", "/modified"]),
    ("events", &["/created", "/modified"]),
    ("flight_watches", &["/created"]),
    ("messages", &["/created", "/modified"]),
    ("notes", &["/created", "/updated"]),
    ("timers", &["/created", "/modified"]),
];

/// The trajectory of an episode that was kept in memory.
///
/// # Errors
/// An episode that was not kept, or that is not judged.
pub fn verified(result: &EpisodeResult) -> anyhow::Result<VerifiedTrajectory> {
    let lines = result.lines.as_ref().context("an episode was not kept")?;
    let mut bytes = lines.join("\n").into_bytes();
    bytes.push(b'\n');
    Ok(VerifiedTrajectory::new(read_bytes(&bytes)?.trajectory)?)
}

/// What counts as an error on the phone: every cause.
///
/// # Errors
/// None but a defect of ours.
pub fn rules() -> anyhow::Result<Rules> {
    let fields = |(name, fields): (&str, &[&str])| {
        Ok((CollectionName::new(name)?, fields.iter().map(|field| (*field).to_owned()).collect()))
    };
    let bookkeeping = BOOKKEEPING.into_iter().map(fields).collect::<anyhow::Result<_>>()?;
    Ok(Rules { bookkeeping, ..Rules::default() })
}

/// A demonstration as it is compared with what was planted.
pub struct Judged {
    /// The erroneous turns, by cause.
    findings: Vec<Finding>,
    /// Turns that were answered without an error, or wait for the user's word, and changed nothing.
    quiet: BTreeSet<u32>,
}

impl Judged {
    /// Finds the erroneous turns of an episode.
    ///
    /// # Errors
    /// An episode that was not kept in full, or of which steps are not the teacher's.
    pub fn of(result: &EpisodeResult, rules: &Rules) -> anyhow::Result<Self> {
        let verified = verified(result)?;
        let steps = StepTurns::by_actions(verified.trajectory());
        let steps = steps.with_context(|| format!("episode `{}` has steps that are no actions", result.episode))?;
        let findings = find(&verified, &steps, rules)?.findings;
        let quiet = verified.trajectory().turns.iter().filter(|turn| is_quiet(turn)).map(|turn| turn.turn).collect();
        Ok(Self { findings, quiet })
    }

    /// Planted turns against which no evidence speaks: not found, an answer without an error or none but a question to the user, no change. Needless
    /// perhaps, and no error; the last call over again is one by itself.
    pub fn harmless<'a>(&'a self, planted: &'a Planted) -> impl Iterator<Item = Slip> + 'a {
        let harmless = |(turn, slip): &(&u32, &Slip)| {
            **slip != Slip::Again && self.quiet.contains(turn) && self.findings.iter().all(|found| found.turn != **turn)
        };
        planted.iter().filter(harmless).map(|(_, slip)| *slip)
    }

    /// The erroneous turns.
    #[must_use]
    pub fn found(&self) -> BTreeSet<u32> {
        self.findings.iter().map(|finding| finding.turn).collect()
    }
}

fn is_quiet(turn: &TurnRecord) -> bool {
    let unchanged = matches!(&turn.changes, Kept::Full(changes) if changes.is_empty());
    let answered = |result: &TurnResult| result.feedback.iter().all(|given| !matches!(given.reply, Reply::Failed(_)));
    unchanged && turn.malformed.is_empty() && matches!(&turn.result, Some(Kept::Full(result)) if answered(result))
}

/// Planted turns of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OfKind {
    /// In all episodes, those that do not pass included.
    pub planted: u64,
    /// In demonstrations.
    pub shown: u64,
    /// Of those, found.
    pub found: u64,
    /// In episodes that pass and are no demonstrations for that: against these no evidence speaks, such as a read that nobody needed.
    pub harmless: u64,
}

/// Turns that were found for one cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OfCause {
    /// Planted ones.
    pub planted: u64,
    /// Turns of the gold.
    pub gold: u64,
}

/// What was planted and what was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Errors {
    /// Planted turns by kind.
    pub kinds: BTreeMap<Slip, OfKind>,
    /// Turns of demonstrations that were found, by cause; a turn comes once for each.
    pub causes: BTreeMap<Cause, OfCause>,
    /// Planted turns of demonstrations.
    pub shown: u64,
    /// Of those, found.
    pub found: u64,
    /// Turns of the gold that were found.
    pub found_gold: u64,
    /// Turns that are left out of what is learnt: all that were found, or none without a mask.
    pub masked: u64,
    /// Planted turns among those that were found, 0 to 1; none without any.
    pub precision: Option<f64>,
    /// Found turns among those that were planted, 0 to 1; none without any.
    pub recall: Option<f64>,
}

impl Errors {
    /// Counts what was planted in an episode, whatever comes of it.
    pub fn plant(&mut self, planted: &Planted) {
        for slip in planted.values() {
            self.kinds.entry(*slip).or_default().planted += 1;
        }
    }

    /// Whether an episode has harmless turns, for which it is no demonstration; they are counted.
    pub fn spare(&mut self, planted: &Planted, judged: &Judged) -> bool {
        let mut any = false;
        for slip in judged.harmless(planted) {
            self.kinds.entry(slip).or_default().harmless += 1;
            any = true;
        }
        any
    }

    /// Counts a demonstration.
    pub fn compare(&mut self, planted: &Planted, judged: &Judged) {
        for Finding { turn, cause } in &judged.findings {
            let of = self.causes.entry(*cause).or_default();
            *(if planted.contains_key(turn) { &mut of.planted } else { &mut of.gold }) += 1;
        }
        let found = judged.found();
        for (turn, slip) in planted {
            let of = self.kinds.entry(*slip).or_default();
            of.shown += 1;
            of.found += u64::from(found.contains(turn));
        }
        let sum = |count: fn(&OfKind) -> u64| self.kinds.values().map(count).sum::<u64>();
        (self.shown, self.found) = (sum(|of| of.shown), sum(|of| of.found));
        self.found_gold += found.iter().filter(|turn| !planted.contains_key(turn)).count() as u64;
        self.precision = share(self.found, self.found + self.found_gold);
        self.recall = share(self.found, self.shown);
    }
}

#[expect(clippy::cast_precision_loss, reason = "turns of demonstrations are far below 2^53")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(findings: &[(u32, Cause)], quiet: &[u32]) -> Judged {
        let findings = findings.iter().map(|(turn, cause)| Finding { turn: *turn, cause: *cause }).collect();
        Judged { findings, quiet: quiet.iter().copied().collect() }
    }

    #[test]
    fn what_was_found_is_held_against_what_was_planted() {
        let planted = Planted::from([(0, Slip::OtherTool), (2, Slip::Again), (4, Slip::OtherValue)]);
        let found = [
            (0, Cause::ErrorResult),
            (0, Cause::SideEffect),
            (2, Cause::Repeat),
            (3, Cause::Undone),
            (5, Cause::Undone),
        ];
        let mut errors = Errors::default();
        errors.plant(&planted);
        errors.compare(&planted, &judged(&found, &[]));
        assert_eq!((errors.shown, errors.found, errors.found_gold), (3, 2, 2));
        assert_eq!((errors.precision, errors.recall), (Some(0.5), Some(2.0 / 3.0)));
        let kind = |slip: &Slip| (errors.kinds[slip].planted, errors.kinds[slip].shown, errors.kinds[slip].found);
        assert_eq!(Slip::ALL.map(|slip| kind(&slip)), [(1, 1, 1), (1, 1, 0), (1, 1, 1)]);
        assert_eq!(errors.causes[&Cause::Undone], OfCause { planted: 0, gold: 2 });
        assert_eq!(errors.causes[&Cause::SideEffect], OfCause { planted: 1, gold: 0 });
        // A second one adds to it.
        errors.compare(&planted, &judged(&[(4, Cause::ErrorResult)], &[]));
        assert_eq!((errors.precision, errors.recall), (Some(0.6), Some(0.5)));
    }

    #[test]
    fn a_planted_turn_that_was_quiet_and_not_found_is_harmless_unless_it_did_the_same_again() {
        let spared = |slip: Slip, judged: &Judged| {
            let mut errors = Errors::default();
            let any = errors.spare(&Planted::from([(1, slip)]), judged);
            (any, errors.kinds.get(&slip).map_or(0, |of| of.harmless))
        };
        let quiet = judged(&[], &[1]);
        assert_eq!(spared(Slip::OtherTool, &quiet), (true, 1));
        assert_eq!(spared(Slip::OtherValue, &quiet), (true, 1));
        assert_eq!(spared(Slip::Again, &quiet), (false, 0));
        assert_eq!(spared(Slip::OtherTool, &judged(&[], &[0])), (false, 0), "it was not quiet");
        assert_eq!(spared(Slip::OtherTool, &judged(&[(1, Cause::Repeat)], &[1])), (false, 0), "it was found");
    }
}
