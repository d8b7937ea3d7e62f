use super::{choice, plays, small};
use crate::nn::random::Stream;
use crate::pointer::net::{HIDDEN_MAX, JOINT_MAX, LAYERS_MAX, PointerNet, Shape, WIDTH_MAX};
use crate::pointer::{Bag, Choice, OPTIONS_MAX, PAST_MAX, Past, Play, STATUSES, Taken, UNITS_MAX, Unit};
use crate::rl::PolicyFault;

#[test]
fn dimensions_outside_their_range_are_refused() {
    let refused = |shape: Shape, expected: &str| {
        let error = PointerNet::new(shape, 1).unwrap_err().to_string();
        assert!(error.starts_with(&format!("shape: expected `{expected}`")), "{error}");
        let error = PointerNet::from_bytes(shape, &[]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("shape: expected `{expected}`")), "{error}");
    };
    refused(Shape { width: WIDTH_MAX + 2, ..small() }, "width");
    refused(Shape { width: 0, ..small() }, "width");
    refused(Shape { width: 10, ..small() }, "width");
    refused(Shape { layers: LAYERS_MAX + 1, ..small() }, "layers");
    refused(Shape { layers: 0, ..small() }, "layers");
    refused(Shape { heads: 5, ..small() }, "heads");
    refused(Shape { hidden: HIDDEN_MAX + 1, ..small() }, "hidden");
    refused(Shape { joint: JOINT_MAX + 1, ..small() }, "joint");
    refused(Shape { joint: 0, ..small() }, "joint");
}

/// A play of one choice that is fine.
fn fine() -> Play {
    let units = vec![Unit { bag: Bag::new([1]), types: 1 }; 3].into();
    let mut choice = choice(&mut Stream::numbered(2, 2), 3, &[].into());
    let answer = choice.answers[0].clone();
    choice.answers.resize(2, answer);
    Play { units, choices: vec![Taken { choice, answer: 0 }] }
}

fn edited(edit: impl Fn(&mut Choice)) -> Play {
    let mut play = fine();
    edit(&mut play.choices[0].choice);
    play
}

#[test]
fn tables_that_do_not_fit_are_refused_wherever_they_come_from() {
    let net = PointerNet::new(small(), 1).unwrap();
    let past = |count: usize, status: u8| vec![Past { bag: Bag::default(), status, changed: false }; count].into();
    let answer = edited(|_| ()).choices[0].choice.answers[0].clone();
    let backwards = std::ops::Range { start: 2, end: 1 };
    let cases: [(&str, Play); 10] = [
        ("0 answers, expected 1 to 192", edited(|choice| choice.answers.clear())),
        ("193 answers", edited(|choice| choice.answers = vec![answer.clone(); OPTIONS_MAX + 1])),
        ("9 earlier calls, expected 0 to 8", edited(|choice| choice.past = past(PAST_MAX + 1, 0))),
        ("status 8, expected less than 8", edited(|choice| choice.past = past(1, STATUSES as u8))),
        ("fact 3 of the question is NaN", edited(|choice| choice.question.facts[3] = f32::NAN)),
        ("fact 15 of the question is 4.5", edited(|choice| choice.question.facts[15] = 4.5)),
        ("fact 31 of the answer is -inf", edited(|choice| choice.answers[0].facts[31] = f32::NEG_INFINITY)),
        ("answer 1 points to units 2..4 of a request of 3", edited(|choice| choice.answers[1].span = Some(2..4))),
        ("points to units 1..1 ", edited(|choice| choice.answers[0].span = Some(1..1))),
        ("points to units 2..1 ", edited(|choice| choice.answers[0].span = Some(backwards.clone()))),
    ];
    for (expected, play) in cases {
        let batch = [fine(), play.clone()];
        let error = net.log_probs(&batch).unwrap_err().to_string();
        assert!(error.starts_with("choice 0 of play 1: ") && error.contains(expected), "{expected}: {error}");
        let again = net.gradients(&batch, |chosen, _| chosen.sum_all()).unwrap_err().to_string();
        assert_eq!(again, error);
        let mut scorer = net.scorer().unwrap();
        let mut request = scorer.encode(&play.units).unwrap();
        let error = scorer.score(&mut request, &play.choices[0].choice).unwrap_err().to_string();
        assert!(error.starts_with("the choice: ") && error.contains(expected), "{expected}: {error}");
    }
    let full = edited(|choice| {
        choice.answers = vec![answer.clone(); OPTIONS_MAX];
        choice.past = past(PAST_MAX, 7);
        choice.question.facts[0] = 4.0;
    });
    assert_eq!(net.log_probs(&[full]).unwrap().len(), 1, "the limits themselves are within");
}

#[test]
fn plays_that_are_none_are_refused() {
    let net = PointerNet::new(small(), 1).unwrap();
    let mut long = fine();
    long.units = vec![Unit { bag: Bag::default(), types: 0 }; UNITS_MAX + 1].into();
    let error = net.log_probs(&[long.clone()]).unwrap_err().to_string();
    assert_eq!(error, "play 0: 65 units, expected 0 to 64");
    assert!(net.scorer().unwrap().encode(&long.units).is_err());
    assert!(net.scorer().unwrap().encode(&long.units[1..]).is_ok());
    let mut taken = fine();
    taken.choices[0].answer = 2;
    let error = net.log_probs(&[taken]).unwrap_err().to_string();
    assert!(error.starts_with("choice 0 of play 0: answer 2 was taken of 2"), "{error}");
    let empty = Play { choices: Vec::new(), ..fine() };
    for plays in [vec![], vec![empty.clone(), empty]] {
        let error = net.log_probs(&plays).unwrap_err().to_string();
        assert!(error.starts_with(&format!("there is no choice in {} plays", plays.len())), "{error}");
    }
}

#[test]
fn damaged_weights_are_refused() {
    let mut net = PointerNet::new(small(), 1).unwrap();
    let mut values = net.parameters().values().unwrap();
    values[3][0] = f32::NAN;
    net.parameters_mut().set(values.clone()).unwrap();
    assert!(net.scorer().unwrap_err().to_string().starts_with("`unit_types.weight`"));
    let fault = crate::rl::Policy::gradients(&net, &plays(3, 1), &|chosen, _| chosen.sum_all()).unwrap_err();
    assert!(matches!(fault, PolicyFault::NotFinite(_)), "{fault:?}");
    // Finite weights that no probability comes of.
    for values in &mut values {
        values.iter_mut().for_each(|value| *value = 1e30);
    }
    net.parameters_mut().set(values).unwrap();
    let mut scorer = net.scorer().unwrap();
    let play = edited(|choice| choice.answers.iter_mut().for_each(|answer| answer.facts.fill(1.0)));
    let mut request = scorer.encode(&play.units).unwrap();
    let fault: PolicyFault = scorer.score(&mut request, &play.choices[0].choice).unwrap_err().into();
    assert!(matches!(fault, PolicyFault::NotFinite(_)), "{fault:?}");
    let error =
        PointerNet::from_bytes(small(), &PointerNet::new(Shape::phone(), 1).unwrap().parameters().to_bytes().unwrap());
    assert!(error.unwrap_err().to_string().contains("another architecture"));
}
