//! Variations of plays while they are learnt, so that what is learnt carries over to tools and words that were never seen. They know no network.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::choice::{Answer, BUCKETS, Bag, Choice, Kind, OPTION_FACTS, Past, Play, Question, Taken, Unit};
use crate::nn::random::Stream;

/// The stream of a random number that numbers n-grams when acting.
const NUMBERING: u64 = u64::MAX;

/// How plays are varied, step by step. Each number is a share, 0 to 1; by default nothing is varied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Variation {
    /// Of the steps: those in which the n-grams have other numbers.
    pub renumber: f64,
    /// Of the acts that were not taken: those that are not offered.
    pub drop_acts: f64,
    /// Of the facts of answers: those that are not told, the same ones for all answers of a step.
    pub drop_facts: f64,
}

impl Variation {
    /// Whether every number is a share, and nothing is left without an answer.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        [self.renumber, self.drop_acts, self.drop_facts].iter().all(|share| (0.0..=1.0).contains(share))
    }

    /// Plays as a step learns them. The number of their choices and which answers were taken stay.
    #[must_use]
    pub fn apply(&self, random: u64, plays: Vec<Play>) -> Vec<Play> {
        let mut stream = Stream::numbered(random, 0);
        let renumbered = stream.uniform() < self.renumber;
        let mut plays = if renumbered { Renumbering::of(stream.bits()).apply(&plays) } else { plays };
        let dropped: [bool; OPTION_FACTS] = std::array::from_fn(|_| stream.uniform() < self.drop_facts);
        for choice in plays.iter_mut().flat_map(|play| &mut play.choices) {
            if choice.choice.question.kind == Kind::Act && self.drop_acts > 0.0 {
                self.drop_answers(&mut stream, choice);
            }
            for answer in &mut choice.choice.answers {
                answer.facts.iter_mut().zip(dropped).filter(|(_, dropped)| *dropped).for_each(|(fact, _)| *fact = 0.0);
            }
        }
        plays
    }

    fn drop_answers(&self, stream: &mut Stream, taken: &mut Taken) {
        let (mut place, mut kept) = (0, 0);
        let (before, mut answer) = (taken.answer, 0);
        taken.choice.answers.retain(|_| {
            let keep = place == before || stream.uniform() >= self.drop_acts;
            if place == before {
                answer = kept;
            }
            place += 1;
            kept += usize::from(keep);
            keep
        });
        taken.answer = answer;
    }
}

/// Another numbering of the n-grams, the same for all that it is applied to: an odd factor and a term, modulo [`BUCKETS`].
///
/// A network that sees another numbering in every step cannot learn what single words mean, and so not which tool they name: what it can learn is
/// which words of the request and of a specification are the same. That carries over to tools and words that it never saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Renumbering {
    factor: u32,
    term: u32,
}

impl Renumbering {
    /// The one of a random number.
    fn of(random: u64) -> Self {
        let low = |bits: u64| u32::try_from(bits % u64::from(BUCKETS)).unwrap_or(0);
        Self { factor: low(random) | 1, term: low(random >> 32) }
    }

    fn gram(self, gram: u32) -> u32 {
        // Below 2^26 before the remainder: no overflow.
        (gram * self.factor + self.term) % BUCKETS
    }

    /// In a share of the steps, 0 to 1, the one of a step's random number.
    #[must_use]
    pub fn sometimes(share: f64, random: u64) -> Option<Self> {
        let mut stream = Stream::numbered(random, NUMBERING);
        (stream.uniform() < share).then(|| Self::of(stream.bits()))
    }

    /// A bag under this numbering.
    #[must_use]
    pub fn bag(self, bag: &Bag) -> Bag {
        Bag::new(bag.grams().iter().map(|gram| self.gram(*gram)))
    }

    /// Plays under this numbering. What was one bag stays one.
    #[must_use]
    pub fn apply(self, plays: &[Play]) -> Vec<Play> {
        let mut known: BTreeMap<Bag, Bag> = BTreeMap::new();
        let mut bag = |bag: &Bag| {
            if let Some(known) = known.get(bag) {
                return known.clone();
            }
            let renumbered = self.bag(bag);
            known.insert(bag.clone(), renumbered.clone());
            renumbered
        };
        let mut play = |play: &Play| {
            let units = play.units.iter().map(|unit| Unit { bag: bag(&unit.bag), types: unit.types }).collect();
            let mut taken = |taken: &Taken| {
                let choice = &taken.choice;
                let question = Question { bag: bag(&choice.question.bag), ..choice.question.clone() };
                let answers =
                    choice.answers.iter().map(|answer| Answer { bag: bag(&answer.bag), ..answer.clone() }).collect();
                let past = choice.past.iter().map(|past| Past { bag: bag(&past.bag), ..past.clone() }).collect();
                Taken { choice: Choice { question, answers, past }, answer: taken.answer }
            };
            Play { units, choices: play.choices.iter().map(&mut taken).collect() }
        };
        plays.iter().map(&mut play).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pointer::choice::QUESTION_FACTS;

    fn play() -> Play {
        let bag = |grams: &[u32]| Bag::new(grams.iter().copied());
        let answer = |grams: &[u32]| Answer { bag: bag(grams), facts: [1.0; OPTION_FACTS], span: None };
        let question = Question { kind: Kind::Act, bag: bag(&[5]), facts: [1.0; QUESTION_FACTS] };
        let answers = vec![answer(&[1, 2]), answer(&[2, 3]), answer(&[7]), answer(&[8])];
        let past: Arc<[Past]> = vec![Past { bag: bag(&[2, 3]), status: 1, changed: true }].into();
        let choice = Choice { question, answers, past };
        let units: Arc<[Unit]> = vec![Unit { bag: bag(&[2]), types: 3 }].into();
        Play { units, choices: vec![Taken { choice, answer: 2 }] }
    }

    #[test]
    fn other_numbers_keep_what_is_the_same_and_nothing_else() {
        let variation = Variation { renumber: 1.0, ..Variation::default() };
        let varied = variation.apply(9, vec![play()]).remove(0);
        assert_eq!(varied, variation.apply(9, vec![play()]).remove(0), "a step varies alike whenever it is taken");
        assert_ne!(varied, variation.apply(10, vec![play()]).remove(0));
        let (Taken { choice, answer }, before) = (&varied.choices[0], &play().choices[0].choice);
        assert_eq!(*answer, 2);
        assert_eq!(choice.past[0].bag, choice.answers[1].bag);
        let shared = |left: &Bag, right: &Bag| left.grams().iter().filter(|gram| right.grams().contains(gram)).count();
        assert_eq!(shared(&choice.answers[0].bag, &choice.answers[1].bag), 1);
        assert_eq!(shared(&varied.units[0].bag, &choice.answers[0].bag), 1);
        assert_eq!(shared(&varied.units[0].bag, &choice.answers[2].bag), 0);
        assert_ne!(choice.answers[0].bag, before.answers[0].bag);
        assert_eq!(choice.answers[0].facts, before.answers[0].facts);
    }

    #[test]
    fn a_numbering_gives_no_two_grams_one_number() {
        for random in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let numbering = Renumbering::of(random);
            let found: std::collections::BTreeSet<u32> = (0..BUCKETS).map(|gram| numbering.gram(gram)).collect();
            assert_eq!(found.len(), BUCKETS as usize);
        }
    }

    #[test]
    fn what_was_taken_is_never_dropped() {
        let all = Variation { drop_acts: 1.0, drop_facts: 1.0, ..Variation::default() };
        let varied = all.apply(1, vec![play()]).remove(0);
        let Taken { choice, answer } = &varied.choices[0];
        assert_eq!((choice.answers.len(), *answer), (1, 0));
        assert_eq!(choice.answers[0].bag, play().choices[0].choice.answers[2].bag);
        assert_eq!(choice.answers[0].facts, [0.0; OPTION_FACTS]);
        let some = Variation { drop_acts: 0.5, ..Variation::default() };
        for random in 0..50 {
            let Taken { choice, answer } = &some.apply(random, vec![play()]).remove(0).choices[0];
            assert_eq!(choice.answers[*answer].bag, play().choices[0].choice.answers[2].bag);
        }
        assert_eq!(Variation::default().apply(1, vec![play()]), [play()]);
        assert!(!Variation { renumber: f64::NAN, ..all }.is_sound() && all.is_sound());
    }
}
