use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault};

use super::*;
use crate::ablation::tests::context;
use crate::pointer::net::tests::{choice, small, word};
use crate::pointer::testing::english;
use crate::pointer::{Bag, Past, Specs, Walk};

/// Begins [`Toy`]s.
struct Toys;

/// Some choices about nothing: two or three a turn, `endless` ones without end; the third turn finishes.
struct Toy {
    units: Arc<[Unit]>,
    request: String,
    turn: u32,
    past: Arc<[Past]>,
    choice: Option<Choice>,
    taken: Vec<Taken>,
}

impl Toy {
    fn next(&mut self) {
        let more = self.request == "endless" || self.taken.len() < 2 + self.turn as usize % 2;
        let mut stream = Stream::numbered(self.turn.into(), self.taken.len() as u64);
        self.choice = more.then(|| choice(&mut stream, self.units.len(), &self.past));
    }
}

impl Turns for Toys {
    type Turn = Toy;

    fn begin(&self, context: &Context) -> Toy {
        let unit = |text: &str| Unit { bag: Bag::new(word(text.len())), types: 1 };
        let past = Past { bag: Bag::new(word(1)), status: 1, changed: false };
        let mut toy = Toy {
            units: context.request.split(' ').map(unit).collect(),
            request: context.request.clone(),
            turn: context.turn,
            past: vec![past; context.turn as usize].into(),
            choice: None,
            taken: Vec::new(),
        };
        toy.next();
        toy
    }
}

impl Turn for Toy {
    fn units(&self) -> &Arc<[Unit]> {
        &self.units
    }

    fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }

    fn take(&mut self, answer: usize) -> bool {
        if self.request == "broken" {
            return false;
        }
        self.taken.extend(self.choice.take().map(|choice| Taken { choice, answer }));
        self.next();
        true
    }

    fn finish(mut self) -> (Vec<Proposed>, Vec<Taken>) {
        let answers: Vec<usize> = self.taken.iter().map(|taken| taken.answer).collect();
        let value = if self.turn == 2 {
            Action::Finish { answer: String::new(), data: None }
        } else {
            Action::Ask { question: format!("{answers:?}"), pending: None }
        };
        if self.request == "forgetful" {
            self.taken.pop();
        }
        (vec![Proposed::Action { value }], self.taken)
    }
}

fn planner(style: Style) -> (PointerNet, PolicyPlanner<Toys>) {
    let net = PointerNet::new(small(), 4).unwrap();
    let planner = PolicyPlanner::new(&net, Toys, style).unwrap();
    (net, planner)
}

fn at(name: &str, request: &str, turn: u32) -> Context {
    Context { turn, ..context(name, request) }
}

fn contexts(count: usize, turn: u32) -> Vec<Context> {
    (0..count).map(|number| at(&format!("e{number}"), &"word ".repeat(number % 7), turn)).collect()
}

fn decide(planner: &dyn Planner, contexts: &[Context]) -> Vec<Decision> {
    let seed = |context: &Context| context.request.len() as u64 * 1000 + u64::from(context.turn);
    let requests: Vec<_> = contexts.iter().map(|context| DecisionRequest { context, seed: seed(context) }).collect();
    planner.decide_batch(&requests).into_iter().map(|decision| decision.expect("a decision")).collect()
}

fn refused(planner: &dyn Planner, context: &Context) -> String {
    match planner.decide_batch(&[DecisionRequest { context, seed: 1 }]).remove(0) {
        Err(PlannerFault::Failed(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn training_recomputes_what_was_recorded() {
    let (net, plain) = planner(Style::Recorded);
    recomputed(&net, &plain);
    let (_, other) = planner(Style::Recorded);
    let numbering = Renumbering::sometimes(1.0, 7).unwrap();
    let other = other.renumbered(numbering);
    recomputed(&net, &other);
    // Other words, so other answers; and what is recorded has them.
    let turns = |planner: &PolicyPlanner<Toys>| decide(planner, &contexts(20, 0));
    assert_ne!(turns(&plain), turns(&other));
    assert_ne!(plain.version().sampling, other.version().sampling);
    let (plain, other) = (plain.take_recordings(), other.take_recordings());
    let (id, recording) = plain.iter().next_back().unwrap();
    let renumbered = &numbering.apply(std::slice::from_ref(&recording.sample))[0];
    assert_ne!(renumbered.units, recording.sample.units);
    assert_eq!(renumbered.units, other[id].sample.units);
}

fn recomputed(net: &PointerNet, planner: &PolicyPlanner<Toys>) {
    let mut decisions = Vec::new();
    for turn in 0..3 {
        decisions.push(decide(planner, &contexts(20, turn)));
    }
    let recordings = planner.take_recordings();
    assert_eq!(recordings.len(), 20);
    for (number, context) in contexts(20, 0).iter().enumerate() {
        let recording = &recordings[&context.episode];
        assert_eq!(recording.policy, net.digest().unwrap());
        assert_eq!(recording.log_probs, net.log_probs(std::slice::from_ref(&recording.sample)).unwrap());
        let own = decisions.iter().map(|turn| &turn[number]);
        let tokens: Vec<SampledToken> = own.clone().flat_map(|decision| decision.tokens.clone()).collect();
        let answers: Vec<usize> = recording.sample.choices.iter().map(|taken| taken.answer).collect();
        assert_eq!(tokens.iter().map(|token| token.id as usize).collect::<Vec<_>>(), answers);
        assert_eq!(tokens.iter().map(|token| token.logprob).collect::<Vec<_>>(), recording.log_probs);
        assert_eq!(own.map(|decision| decision.usage.tokens_out).collect::<Vec<_>>(), [2, 3, 2]);
        assert!(matches!(&decisions[2][number].proposed[..], [Proposed::Action { value: Action::Finish { .. } }]));
    }
    assert!(planner.take_recordings().is_empty());
    assert_eq!(planner.version().digest, net.digest().unwrap());
}

#[test]
fn an_episode_is_the_same_alone_and_in_any_company() {
    let (_, together) = planner(Style::Recorded);
    let (_, backwards) = planner(Style::Recorded);
    for turn in 0..3 {
        let mut contexts = contexts(15, turn);
        let expected = decide(&together, &contexts);
        for (context, expected) in contexts.iter().zip(&expected) {
            let (_, alone) = planner(Style::Sampled);
            assert_eq!(&decide(&alone, std::slice::from_ref(context)), std::slice::from_ref(expected));
        }
        contexts.reverse();
        let mut found = decide(&backwards, &contexts);
        found.reverse();
        assert_eq!(found, expected);
    }
    assert_eq!(together.take_recordings(), backwards.take_recordings());
}

#[test]
fn greedy_takes_what_is_likeliest() {
    let (net, planner) = planner(Style::Greedy);
    let context = at("e", "one three", 1);
    let decision = decide(&planner, std::slice::from_ref(&context)).remove(0);
    let mut toy = Toys.begin(&context);
    let mut scorer = net.scorer().unwrap();
    let mut request = scorer.encode(toy.units()).unwrap();
    for token in decision.tokens {
        let scores = scorer.score(&mut request, toy.choice().unwrap()).unwrap();
        assert!(scores.iter().all(|score| *score <= scores[token.id as usize]));
        assert_eq!(scores[token.id as usize], token.logprob);
        assert!(toy.take(token.id as usize));
    }
    assert!(planner.take_recordings().is_empty(), "greedy play is not recorded");
}

#[test]
fn picks_follow_the_probabilities() {
    let likely = [0.5_f32, 0.2, 0.0, 0.3];
    let log_probs: Vec<f32> = likely.iter().map(|share| if *share > 0.0 { share.ln() } else { -90.0 }).collect();
    let draws = 20_000;
    let mut counts = [0_u32; 4];
    for seed in 0..draws {
        counts[pick(&log_probs, Some(seed), 3)] += 1;
    }
    for (count, share) in counts.iter().zip(likely) {
        let (expected, share) = (f64::from(share) * draws as f64, f64::from(share));
        assert!((f64::from(*count) - expected).abs() <= 4.0 * (expected * (1.0 - share)).sqrt(), "{counts:?}");
    }
    let row: Vec<usize> = (0..40).map(|number| pick(&log_probs, Some(7), number)).collect();
    assert!(row.iter().any(|place| *place != row[0]), "each choice draws anew: {row:?}");
    assert_eq!(pick(&[-1.0, -0.5, -0.5], None, 0), 1, "of equals the first");
    assert_eq!(pick(&[0.0], Some(9), 0), 0);
}

#[test]
fn turns_that_do_not_follow_are_refused_when_recorded() {
    let (_, recorded) = planner(Style::Recorded);
    assert!(refused(&recorded, &at("e", "a b", 1)).contains("turn 1 of `e` does not follow"));
    decide(&recorded, &[at("e", "a b", 0)]);
    for turn in [0, 2] {
        assert!(refused(&recorded, &at("e", "a b", turn)).contains("does not follow"));
    }
    assert!(refused(&recorded, &at("e", "another request", 1)).contains("does not follow"));
    decide(&recorded, &[at("e", "a b", 1)]);
    decide(&recorded, &[at("e", "a b", 2)]);
    assert!(refused(&recorded, &at("e", "a b", 3)).contains("does not follow"), "it has finished");
    let mut last = at("last", "a b", 0);
    last.remaining.steps = 1;
    decide(&recorded, &[last]);
    assert!(refused(&recorded, &at("last", "a b", 1)).contains("does not follow"), "it had no step left");
    assert_eq!(recorded.lock().requests.len(), 1, "episodes of one request share its encoding");
    let recordings = recorded.take_recordings();
    assert!(recorded.lock().requests.is_empty(), "with the recordings, requests are forgotten");
    assert_eq!(recordings.values().map(|recording| recording.log_probs.len()).collect::<Vec<_>>(), [7, 2]);
    assert!(refused(&recorded, &at("e", "a b", 3)).contains("does not follow"), "recordings end an episode");
    // What keeps no record takes any turn.
    decide(&planner(Style::Greedy).1, &[at("e", "a b", 5)]);
}

#[test]
fn what_is_kept_is_bounded() {
    let (_, recorded) = planner(Style::Recorded);
    let words = |number: usize| format!("{} {}", "a".repeat(number % 97), "a".repeat(number / 97 % 97));
    let begin = |number: usize| at(&format!("e{number}"), &words(number), 0);
    for number in 0..EPISODES_MAX {
        decide(&recorded, &[begin(number)]);
    }
    let why = refused(&recorded, &begin(EPISODES_MAX));
    assert!(why.contains("16384 episodes are recorded already\nhint: take the recordings"), "{why}");
    {
        let state = recorded.lock();
        assert_eq!((state.requests.len(), state.order.len()), (REQUESTS_KEPT_MAX, REQUESTS_KEPT_MAX));
    }
    // The first one's request was dropped, and it goes on all the same.
    let going_on = decide(&recorded, &[at("e0", &words(0), 1)]);
    let (_, fresh) = planner(Style::Sampled);
    assert_eq!(going_on, decide(&fresh, &[at("e0", &words(0), 1)]));
    assert_eq!(recorded.take_recordings().len(), EPISODES_MAX);
    decide(&recorded, &[begin(EPISODES_MAX)]);
}

#[test]
fn what_cannot_be_walked_is_refused_alone() {
    let (_, planner) = planner(Style::Sampled);
    assert!(refused(&planner, &at("e", "broken", 0)).contains("of choice 1 was not taken"));
    assert!(
        refused(&planner, &at("e", "forgetful", 0)).contains("a decision of 1 choices, expected the 2 that were made")
    );
    assert!(refused(&planner, &at("e", "endless", 0)).contains("more than 256 choices in one decision"));
    let contexts = [at("a", "a b", 0), at("b", "broken", 0), at("c", "a b", 0)];
    let requests: Vec<_> = contexts.iter().map(|context| DecisionRequest { context, seed: 3 }).collect();
    let decided = planner.decide_batch(&requests);
    assert_eq!(decided.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(decided[0].as_ref().unwrap().tokens, decided[2].as_ref().unwrap().tokens);
}

/// Begins walks that share nothing.
struct Alone;

impl Turns for Alone {
    type Turn = Walk;

    fn begin(&self, context: &Context) -> Walk {
        Walk::new(context)
    }
}

#[test]
fn members_of_a_group_are_told_what_each_alone_would_be() {
    let net = PointerNet::new(small(), 4).unwrap();
    let id = |number: usize| EpisodeId::new(format!("e{number}")).expect("an id");
    let member = |number| Context { episode: id(number), ..english("Turn on the lamp, and wake me at 7:30") };
    let group: Vec<Context> = (0..12).map(member).collect();
    let requests: Vec<_> =
        group.iter().zip(0..).map(|(context, number)| DecisionRequest { context, seed: number / 2 }).collect();
    let shared = PolicyPlanner::new(&net, Arc::new(Specs::new()), Style::Recorded).unwrap();
    let alone = PolicyPlanner::new(&net, Alone, Style::Recorded).unwrap();
    let decided = |planner: &dyn Planner| -> Vec<Decision> {
        planner.decide_batch(&requests).into_iter().map(|decision| decision.expect("a decision")).collect()
    };
    let (together, each) = (decided(&shared), decided(&alone));
    assert_eq!(together, each);
    let made: usize = together.iter().map(|decision| decision.tokens.len()).sum();
    assert!(shared.lock().scores.len() <= made / 2, "the members of a pair choose alike, and are scored once");
    let (together, each) = (shared.take_recordings(), alone.take_recordings());
    assert!(shared.lock().scores.is_empty());
    for (id, recording) in &together {
        assert_eq!((&recording.sample, &recording.log_probs), (&each[id].sample, &each[id].log_probs));
    }
}

#[test]
fn no_more_scores_than_the_limit_are_kept() {
    let net = PointerNet::new(small(), 4).unwrap();
    let alone = PolicyPlanner::new(&net, Alone, Style::Sampled).unwrap();
    let (context, mut made, mut most) = (english("Turn on the lamp, and wake me at 7:30"), 0, 0);
    for seed in 0.. {
        let decided = alone.decide_batch(&[DecisionRequest { context: &context, seed }]).remove(0).expect("a decision");
        made += decided.tokens.len();
        most = most.max(alone.lock().scores.len());
        if made > 2 * SCORES_KEPT_MAX {
            break;
        }
    }
    assert!((2..=SCORES_KEPT_MAX).contains(&most), "{most}");
}
