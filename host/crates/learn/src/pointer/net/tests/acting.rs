use std::sync::Arc;

use super::{acted, choice, decided, plays, small, word};
use crate::nn::random::Stream;
use crate::pointer::net::{ANSWERS_KEPT_MAX, BAGS_KEPT_MAX, Shape};
use crate::pointer::{Answer, Bag, OPTION_FACTS, OPTIONS_MAX, Past, Unit};

#[test]
fn training_recomputes_what_acting_reported() {
    for shape in [small(), Shape::phone()] {
        let net = decided(shape);
        let plays = plays(60, 3);
        let (acted, trained) = (acted(&net, &plays), net.log_probs(&plays).unwrap());
        assert!(acted.len() > 100 && acted.iter().any(|value| *value < -1.0), "{acted:?}");
        let largest = acted.iter().zip(&trained).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest < 1e-5, "{largest}");
        // The promise is 1e-5; as both passes call the same functions, it is the same bits.
        assert_eq!(acted, trained);
    }
}

#[test]
fn a_choice_is_the_same_alone_and_after_any_other() {
    let net = decided(small());
    let plays = plays(30, 8);
    let together = acted(&net, &plays);
    let mut alone = Vec::new();
    for play in &plays {
        for taken in &play.choices {
            let mut scorer = net.scorer().unwrap();
            let mut request = scorer.encode(&play.units).unwrap();
            let scores = scorer.score(&mut request, &taken.choice).unwrap();
            assert_eq!(scores, scorer.score(&mut request, &taken.choice).unwrap(), "and once more");
            assert!((scores.iter().map(|value| f64::from(*value).exp()).sum::<f64>() - 1.0).abs() < 1e-5);
            alone.push(scores[taken.answer]);
        }
    }
    assert_eq!(together, alone);
}

#[test]
fn what_matters_changes_the_scores() {
    let net = decided(small());
    let mut stream = Stream::numbered(5, 5);
    let past: Arc<[Past]> = [Past { bag: Bag::new(word(3)), status: 1, changed: true }].into();
    let units: Vec<Unit> = (0..4).map(|number| Unit { bag: Bag::new(word(number)), types: 1 << number }).collect();
    let mut whole = choice(&mut stream, 4, &past);
    whole.answers.push(Answer { bag: Bag::new(word(2)), facts: [0.0; OPTION_FACTS], span: Some(1..3) });
    let mut scorer = net.scorer().unwrap();
    let mut score = |units: &[Unit], choice: &crate::pointer::Choice| {
        let mut request = scorer.encode(units).unwrap();
        scorer.score(&mut request, choice).unwrap()
    };
    let first = score(&units, &whole);
    let mut cases = Vec::new();
    let mut changed = |edit: &dyn Fn(&mut Vec<Unit>, &mut crate::pointer::Choice)| {
        let (mut units, mut choice) = (units.clone(), whole.clone());
        edit(&mut units, &mut choice);
        cases.push(score(&units, &choice));
    };
    let call = |status: u8, changed: bool| Past { bag: Bag::new(word(3)), status, changed };
    changed(&|units, _| units[0].types = 2);
    changed(&|units, _| units[3].bag = Bag::new(word(9)));
    changed(&|units, _| units.swap(0, 3));
    changed(&|_, choice| choice.past = [call(2, true)].into());
    changed(&|_, choice| choice.past = [call(1, false)].into());
    changed(&|_, choice| choice.past = [call(1, true), call(1, true)].into());
    changed(&|_, choice| choice.question.bag = Bag::new(word(11)));
    changed(&|_, choice| choice.question.facts[7] = 3.5);
    changed(&|_, choice| choice.answers.last_mut().unwrap().span = Some(1..2));
    changed(&|_, choice| choice.answers.last_mut().unwrap().span = None);
    changed(&|_, choice| choice.answers.last_mut().unwrap().bag = Bag::new(word(12)));
    changed(&|_, choice| choice.answers.last_mut().unwrap().facts[31] = 1.0);
    for (number, case) in cases.iter().enumerate() {
        assert_ne!(&first, case, "case {number}");
    }
}

#[test]
fn what_is_kept_is_bounded_and_changes_nothing() {
    let net = decided(small());
    let units = [Unit { bag: Bag::new(word(1)), types: 1 }];
    let probe = choice(&mut Stream::numbered(1, 1), 1, &[].into());
    let mut scorer = net.scorer().unwrap();
    let mut request = scorer.encode(&units).unwrap();
    let first = scorer.score(&mut request, &probe).unwrap();
    let mut number = 0_u32;
    while (number as usize) < BAGS_KEPT_MAX + ANSWERS_KEPT_MAX {
        let mut many = probe.clone();
        many.answers = (0..OPTIONS_MAX as u32)
            .map(|place| Answer {
                bag: Bag::new([(number + place) % 8191, (number + place) / 8191 + 1, 8191]),
                facts: [0.0; OPTION_FACTS],
                span: None,
            })
            .collect();
        number += OPTIONS_MAX as u32;
        scorer.score(&mut request, &many).unwrap();
        assert!(scorer.kept() <= BAGS_KEPT_MAX && request.kept() <= ANSWERS_KEPT_MAX);
    }
    assert_eq!(scorer.score(&mut request, &probe).unwrap(), first);
}
