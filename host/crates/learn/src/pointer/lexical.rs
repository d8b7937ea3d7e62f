//! A planner that scores the tables by fixed rules: overlap of words and fit of types, no learning. It is what a policy has to beat.

use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion, Usage};
use serde_json::json;

use super::choice::{Answer, Choice, Kind};
use super::facts::{Asked, Told};
use super::specs::Specs;
use super::walk::Walk;

/// Walks by fixed scores; of equal scores the first option counts.
#[derive(Debug, Default)]
pub struct Lexical {
    specs: Specs,
}

/// What each fact of an option counts when an act is chosen.
const ACTS: &[(Told, f32)] = &[
    (Told::Covers, 1.0),
    (Told::CoversOpen, 4.0),
    (Told::Meets, 0.5),
    (Told::Early, 1.0),
    (Told::Effect, 0.1),
    (Told::Again, -4.0),
    (Told::Ends, -0.6),
    (Told::Remembers, -0.5),
    (Told::Speaks, -0.6),
    (Told::Skill, -1.0),
];
/// What each fact of an option counts when a slot is filled.
const SLOTS: &[(Told, f32)] = &[
    (Told::Request, 1.0),
    (Told::User, 1.2),
    (Told::Memory, 0.2),
    (Told::Result, 0.3),
    (Told::Before, 1.5),
    (Told::After, 1.0),
    (Told::Label, 1.5),
    (Told::Early, 0.1),
    (Told::Late, 0.4),
    (Told::Quote, 1.2),
    (Told::Name, 0.4),
    (Told::Own, 0.5),
    (Told::Twice, -1.5),
    (Told::Opens, -0.4),
];
/// What else counts of an option that does not stand in the request: how it meets it.
const ELSEWHERE: &[(Told, f32)] =
    &[(Told::Meets, 1.0), (Told::Covers, 1.0), (Told::CoversOpen, 1.0), (Told::Record, 1.0)];

impl Lexical {
    /// A planner that read no specification yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer that it takes, by its place.
    #[must_use]
    pub fn answer(choice: &Choice) -> usize {
        let mut best = (f32::NEG_INFINITY, 0);
        for (place, answer) in choice.answers.iter().enumerate() {
            let score = score(choice, answer);
            if score > best.0 {
                best = (score, place);
            }
        }
        best.1
    }
}

fn told(answer: &Answer, fact: Told) -> f32 {
    answer.facts.get(fact as usize).copied().unwrap_or(0.0)
}

fn asked(choice: &Choice, fact: Asked) -> f32 {
    choice.question.facts.get(fact as usize).copied().unwrap_or(0.0)
}

fn score(choice: &Choice, answer: &Answer) -> f32 {
    let sum = |weights: &[(Told, f32)]| weights.iter().map(|(fact, weight)| weight * told(answer, *fact)).sum::<f32>();
    match choice.question.kind {
        Kind::Act => sum(ACTS) + act(choice, answer),
        Kind::More => told(answer, Told::Leaves),
        Kind::Slot if told(answer, Told::Request) > 0.0 => sum(SLOTS) + slot(choice, answer),
        Kind::Slot => sum(SLOTS) + sum(ELSEWHERE) + slot(choice, answer),
    }
}

/// What waits is confirmed once; a call that the user was asked for is made again; what ran is not done again; when nothing is open the end
/// has come.
fn act(choice: &Choice, answer: &Answer) -> f32 {
    let mut score = 0.0;
    let waits = asked(choice, Asked::Waits);
    if waits > 0.0 && told(answer, Told::Speaks) > 0.0 {
        score += 6.0 * told(answer, Told::Own);
    }
    if waits < 0.0 && told(answer, Told::Outcome) < 0.0 {
        score += 4.0;
    }
    let ran = asked(choice, Asked::Last1);
    if told(answer, Told::Ends) > 0.0 {
        let refuses = told(answer, Told::Leaves) > 0.0;
        score += match ran {
            ran if ran > 0.0 && !refuses => {
                let changed = choice.past.last().is_some_and(|past| past.changed);
                1.2 + 2.0 * (1.0 - asked(choice, Asked::Open)) + if changed { 1.5 } else { 0.0 }
            }
            ran if ran < 0.0 && refuses && waits == 0.0 => 2.5,
            _ => 0.0,
        };
    }
    score
}

/// What is wanted is filled, what is not is left out; a moment is moved when the words beside it name an earlier or later one.
fn slot(choice: &Choice, answer: &Answer) -> f32 {
    if asked(choice, Asked::Shift) > 0.0 {
        return if told(answer, Told::Time) > 0.0 { 0.0 } else { 3.0 };
    }
    if asked(choice, Asked::First) > 0.0 {
        return 2.0 * told(answer, Told::Before) - told(answer, Told::Own);
    }
    if asked(choice, Asked::Last) > 0.0 {
        return told(answer, Told::After) - told(answer, Told::Length) - 3.0 * told(answer, Told::Own);
    }
    if asked(choice, Asked::Own) > 0.0 && told(answer, Told::Schema) > 0.0 {
        return 3.0 * told(answer, Told::Own);
    }
    if told(answer, Told::Leaves) > 0.0 { 3.2 - 3.5 * asked(choice, Asked::Wanted) } else { 0.0 }
}

impl Planner for Lexical {
    fn version(&self) -> PolicyVersion {
        PolicyVersion { name: "lexical".to_owned(), digest: PolicyDigest::of(b"lexical/1"), sampling: json!({}) }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let decide = |request: &DecisionRequest<'_>| {
            let mut walk = Walk::with(&self.specs, request.context);
            while let Some(answer) = walk.choice().map(Self::answer) {
                if !walk.take(answer) {
                    break;
                }
            }
            let walked = walk.finish();
            let usage = Usage { tokens_out: u64::try_from(walked.taken.len()).unwrap_or(u64::MAX), ..Usage::default() };
            Ok(Decision { proposed: walked.proposed, usage, ..Decision::default() })
        };
        requests.iter().map(decide).collect()
    }
}

#[cfg(test)]
mod tests;
