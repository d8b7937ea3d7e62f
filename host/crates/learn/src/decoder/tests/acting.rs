use super::{VOCABULARY, play, small};
use crate::decoder::{Ask, Decoder, Feed, Pick, Sequence, Shape};
use crate::nn::Allowed;

/// A policy that is not indifferent.
fn decoder(shape: Shape) -> Decoder {
    let mut decoder = Decoder::new(shape, 5).unwrap();
    let mut values = decoder.parameters().values().unwrap();
    let head = values.last_mut().unwrap();
    head.iter_mut().for_each(|value| *value *= 20.0);
    decoder.parameters_mut().set(values).unwrap();
    decoder
}

#[test]
fn training_recomputes_what_acting_reported() {
    for shape in [small(), Shape { vocabulary: VOCABULARY, ..Shape::tiny(VOCABULARY) }] {
        let decoder = decoder(shape);
        let rows: Vec<(usize, u64)> = (0..40).map(|row| (row, row as u64 * 7 + 1)).collect();
        let mut session = decoder.actor().unwrap().start(40).unwrap();
        let played = play(&mut session, &rows, &shape);
        let sequences: Vec<Sequence> = played.iter().map(|(sequence, _)| sequence.clone()).collect();
        let acted: Vec<f32> = played.iter().flat_map(|(_, log_probs)| log_probs.clone()).collect();
        let trained = decoder.score(&sequences).unwrap().chosen.to_vec1::<f32>().unwrap();
        assert!(acted.len() > 60 && acted.iter().any(|value| *value < -1.0), "{acted:?}");
        let largest = acted.iter().zip(&trained).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest < 1e-5, "{largest}");
        // The promise is 1e-5; as both passes call the same functions, it is the same bits.
        assert_eq!(acted, trained);
    }
}

#[test]
fn a_row_is_the_same_alone_and_in_any_company() {
    let shape = Shape { vocabulary: VOCABULARY, ..Shape::tiny(VOCABULARY) };
    let actor = decoder(shape).actor().unwrap();
    let seeds: Vec<u64> = (0..23).map(|row| row * 11 + 3).collect();
    let together: Vec<(usize, u64)> = seeds.iter().copied().enumerate().collect();
    let together = play(&mut actor.start(23).unwrap(), &together, &shape);
    let backwards: Vec<(usize, u64)> = seeds.iter().copied().rev().enumerate().collect();
    let mut backwards = play(&mut actor.start(23).unwrap(), &backwards, &shape);
    backwards.reverse();
    assert_eq!(together, backwards);
    for (seed, together) in seeds.iter().zip(&together) {
        let alone = play(&mut actor.start(1).unwrap(), &[(0, *seed)], &shape);
        assert_eq!(&alone[0], together);
    }
}

#[test]
fn how_symbols_are_cut_into_calls_changes_nothing() {
    let actor = decoder(small()).actor().unwrap();
    let symbols = [3_u8, 1, 4, 1, 5, 9, 2];
    let ask = Ask { row: 0, allowed: Allowed::first(VOCABULARY), pick: Pick::Sample { seed: 12 } };
    let mut at_once = actor.start(1).unwrap();
    at_once.feed(&[Feed { row: 0, symbols: &symbols }]).unwrap();
    let expected = at_once.choose(&[ask]).unwrap();
    for cut in 0..symbols.len() {
        let (first, second) = symbols.split_at(cut);
        for feeds in [vec![first, second], vec![first, &[], second]] {
            let mut session = actor.start(1).unwrap();
            for part in &feeds {
                session.feed(&[Feed { row: 0, symbols: part }]).unwrap();
            }
            assert_eq!(session.choose(&[ask]).unwrap(), expected);
            let mut session = actor.start(1).unwrap();
            let parts: Vec<Feed<'_>> = feeds.iter().map(|symbols| Feed { row: 0, symbols }).collect();
            session.feed(&parts).unwrap();
            assert_eq!(session.choose(&[ask]).unwrap(), expected);
            assert_eq!(session.fed(0), Some(7));
        }
    }
}

#[test]
fn samples_follow_the_probabilities_and_stay_within_the_mask() {
    let actor = decoder(small()).actor().unwrap();
    let mut session = actor.start(1).unwrap();
    session.feed(&[Feed { row: 0, symbols: &[2, 7] }]).unwrap();
    let allowed = Allowed::of(&[1, 3, 4, 8]).unwrap();
    let draws = 20_000;
    let asks: Vec<Ask> = (0..draws).map(|seed| Ask { row: 0, allowed, pick: Pick::Sample { seed } }).collect();
    let chosen = session.choose(&asks).unwrap();
    let mut counts = [0_u32; VOCABULARY];
    let mut likely = [0.0_f64; VOCABULARY];
    for chosen in &chosen {
        counts[usize::from(chosen.symbol)] += 1;
        likely[usize::from(chosen.symbol)] = f64::from(chosen.log_prob).exp();
    }
    assert!((likely.iter().sum::<f64>() - 1.0).abs() < 1e-5, "each allowed symbol came up: {likely:?}");
    for symbol in 0..VOCABULARY {
        assert_eq!(counts[symbol] > 0, allowed.contains(symbol));
        let expected = likely[symbol] * draws as f64;
        let deviation = (expected * (1.0 - likely[symbol])).sqrt();
        assert!((f64::from(counts[symbol]) - expected).abs() <= 4.0 * deviation, "{symbol}: {counts:?}, {likely:?}");
    }
    let greedy = session.choose(&[Ask { row: 0, allowed, pick: Pick::Greedy }]).unwrap()[0];
    let best = (0..VOCABULARY).max_by(|a, b| likely[*a].total_cmp(&likely[*b])).unwrap();
    assert_eq!(usize::from(greedy.symbol), best);
    assert!((f64::from(greedy.log_prob).exp() - likely[best]).abs() < 1e-9);
}

#[test]
fn one_allowed_symbol_is_certain() {
    let actor = decoder(small()).actor().unwrap();
    let mut session = actor.start(1).unwrap();
    session.feed(&[Feed { row: 0, symbols: &[0] }]).unwrap();
    for pick in [Pick::Greedy, Pick::Sample { seed: 1 }] {
        let chosen = session.choose(&[Ask { row: 0, allowed: Allowed::of(&[6]).unwrap(), pick }]).unwrap();
        assert_eq!((chosen[0].symbol, chosen[0].log_prob), (6, 0.0));
    }
}

#[test]
fn a_seed_draws_anew_at_each_position() {
    // Indifferent, so that what is drawn is the seed's.
    let actor = Decoder::new(small(), 1).unwrap().actor().unwrap();
    let mut session = actor.start(1).unwrap();
    let ask = Ask { row: 0, allowed: Allowed::first(VOCABULARY), pick: Pick::Sample { seed: 4 } };
    let mut drawn = Vec::new();
    for _ in 0..10 {
        session.feed(&[Feed { row: 0, symbols: &[1] }]).unwrap();
        let first = session.choose(&[ask]).unwrap();
        assert_eq!(session.choose(&[ask]).unwrap(), first, "asking twice is asking once");
        drawn.push(first[0].symbol);
    }
    assert!(drawn.iter().any(|symbol| *symbol != drawn[0]), "{drawn:?}");
}

#[test]
fn a_policy_stays_as_it_was_when_it_was_taken() {
    let mut decoder = decoder(small());
    let actor = decoder.actor().unwrap();
    let ask = Ask { row: 0, allowed: Allowed::first(VOCABULARY), pick: Pick::Greedy };
    let act = |actor: &crate::decoder::Actor| {
        let mut session = actor.start(1).unwrap();
        session.feed(&[Feed { row: 0, symbols: &[1, 2] }]).unwrap();
        session.choose(&[ask]).unwrap()
    };
    let before = act(&actor);
    let values = decoder.parameters().values().unwrap();
    decoder
        .parameters_mut()
        .set(values.iter().map(|values| values.iter().map(|value| value * 0.5).collect()).collect())
        .unwrap();
    assert_eq!(act(&actor), before);
    assert_ne!(act(&decoder.actor().unwrap())[0].log_prob, before[0].log_prob);
}

#[test]
fn a_row_that_begins_anew_is_as_a_fresh_one() {
    let actor = decoder(small()).actor().unwrap();
    let ask = Ask { row: 0, allowed: Allowed::first(VOCABULARY), pick: Pick::Sample { seed: 3 } };
    let mut fresh = actor.start(1).unwrap();
    fresh.feed(&[Feed { row: 0, symbols: &[4, 2] }]).unwrap();
    let mut used = actor.start(2).unwrap();
    used.feed(&[Feed { row: 0, symbols: &[1, 5, 3, 6] }, Feed { row: 1, symbols: &[1] }]).unwrap();
    used.restart(0).unwrap();
    assert!(used.choose(&[ask]).unwrap_err().to_string().contains("fed nothing"));
    used.feed(&[Feed { row: 0, symbols: &[4, 2] }]).unwrap();
    assert_eq!(used.choose(&[ask]).unwrap(), fresh.choose(&[ask]).unwrap());
    assert_eq!((used.fed(0), used.fed(1)), (Some(2), Some(1)));
    assert!(used.restart(2).is_err());
}
