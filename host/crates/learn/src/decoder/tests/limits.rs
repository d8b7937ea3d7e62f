use super::{VOCABULARY, small};
use crate::decoder::{
    Actor, Ask, BATCH_SYMBOLS_MAX, Choice, Decoder, DecoderError, Feed, HIDDEN_MAX, LAYERS_MAX, POSITIONS_MAX, Pick,
    ROWS_MAX, Sequence, Shape, WIDTH_MAX,
};
use crate::nn::{Allowed, VOCABULARY_MAX};

#[test]
fn dimensions_outside_their_range_are_refused() {
    let fine = small();
    for (name, shape) in [
        ("vocabulary", Shape { vocabulary: 1, ..fine }),
        ("vocabulary", Shape { vocabulary: VOCABULARY_MAX + 1, ..fine }),
        ("width", Shape { width: WIDTH_MAX + 2, ..fine }),
        ("width", Shape { width: 0, ..fine }),
        ("width", Shape { width: 10, heads: 2, ..fine }),
        ("layers", Shape { layers: 0, ..fine }),
        ("layers", Shape { layers: LAYERS_MAX + 1, ..fine }),
        ("heads", Shape { heads: 0, ..fine }),
        ("heads", Shape { heads: 5, ..fine }),
        ("hidden", Shape { hidden: HIDDEN_MAX + 1, ..fine }),
        ("positions", Shape { positions: 0, ..fine }),
        ("positions", Shape { positions: POSITIONS_MAX + 1, ..fine }),
    ] {
        let error = Decoder::new(shape, 1).unwrap_err();
        assert!(matches!(&error, DecoderError::Shape { name: found, .. } if *found == name), "{shape:?}: {error}");
        assert!(Decoder::from_bytes(shape, &[]).is_err());
    }
    let largest = Shape {
        vocabulary: VOCABULARY_MAX,
        width: WIDTH_MAX,
        layers: 1,
        heads: 1,
        hidden: HIDDEN_MAX,
        positions: POSITIONS_MAX,
    };
    largest.check().unwrap();
}

#[test]
fn weights_of_another_architecture_are_refused() {
    let bytes = Decoder::new(small(), 1).unwrap().parameters().to_bytes().unwrap();
    let wider = Shape { hidden: 7, ..small() };
    let error = Decoder::from_bytes(wider, &bytes).unwrap_err().to_string();
    assert!(
        error.contains("`layers.0.gate_up.weight`: expected f32 of shape [8, 14], found f32 of shape [8, 12]"),
        "{error}"
    );
}

#[test]
fn sequences_that_do_not_fit_are_refused() {
    let decoder = Decoder::new(small(), 1).unwrap();
    let choice = |at: usize, symbols: &[u8]| Choice { at, allowed: Allowed::of(symbols).unwrap() };
    for (symbols, choices, expected) in [
        (
            vec![1, 2],
            vec![choice(1, &[1, 3])],
            "choice 0 of sequence 0: symbol 2 was chosen and its mask does not allow it",
        ),
        (vec![1, 2], vec![choice(1, &[])], "the mask allows 0 symbols"),
        (vec![1, 2], vec![choice(1, &[2, 11])], "the mask allows 2 symbols up to 12"),
        (vec![1, 2], vec![choice(0, &[1])], "a choice at 0 of 2 symbols"),
        (vec![1, 2], vec![choice(2, &[1])], "a choice at 2 of 2 symbols"),
        (vec![1, 2, 3], vec![choice(2, &[3]), choice(1, &[2])], "choice 1 of sequence 0: a choice at 1"),
        (vec![1, 2, 3], vec![choice(2, &[3]), choice(2, &[3])], "choice 1 of sequence 0: a choice at 2"),
        (vec![1, 11], vec![choice(1, &[1])], "sequence 0: symbol 11 is beyond the vocabulary of 11"),
        (vec![0; 12], vec![choice(11, &[0])], "sequence 0: 11 symbols, the decoder has 10 positions"),
        (vec![1, 2], vec![], "there is no choice in 1 sequences"),
    ] {
        let error = decoder.score(&[Sequence { symbols, choices }]).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let longest = Sequence { symbols: vec![0; 11], choices: vec![choice(10, &[0])] };
    decoder.score(std::slice::from_ref(&longest)).unwrap();
    let many = vec![longest; BATCH_SYMBOLS_MAX / 10 + 1];
    let error = decoder.score(&many).unwrap_err();
    assert!(matches!(error, DecoderError::TooMany { what: "symbols", limit: BATCH_SYMBOLS_MAX, .. }), "{error}");
}

#[test]
fn what_a_session_cannot_do_is_refused_and_changes_nothing() {
    let actor: Actor = Decoder::new(small(), 1).unwrap().actor().unwrap();
    assert!(matches!(actor.start(ROWS_MAX + 1), Err(DecoderError::TooMany { what: "rows", .. })));
    let mut session = actor.start(2).unwrap();
    let ask = |row: usize, symbols: &[u8]| Ask { row, allowed: Allowed::of(symbols).unwrap(), pick: Pick::Greedy };
    assert!(matches!(session.choose(&[ask(0, &[1])]), Err(DecoderError::NothingFed { row: 0 })));
    session.feed(&[Feed { row: 0, symbols: &[1, 2, 3] }, Feed { row: 1, symbols: &[4] }]).unwrap();
    let before = session.choose(&[ask(0, &[1, 2, 3]), ask(1, &[5, 6])]).unwrap();
    for (feeds, expected) in [
        (
            vec![Feed { row: 1, symbols: &[1] }, Feed { row: 2, symbols: &[1][..] }],
            "row 2 is not one of the session's 2",
        ),
        (vec![Feed { row: 1, symbols: &[1, 11] }], "row 1: symbol 11 is beyond the vocabulary"),
        (vec![Feed { row: 0, symbols: &[0; 8] }], "row 0: 11 symbols, the decoder has 10 positions"),
        (vec![Feed { row: 0, symbols: &[0; 4] }, Feed { row: 0, symbols: &[0; 4] }], "row 0: 11 symbols"),
    ] {
        let error = session.feed(&feeds).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!((session.fed(0), session.fed(1), session.fed(2)), (Some(3), Some(1), None));
        assert_eq!(session.choose(&[ask(0, &[1, 2, 3]), ask(1, &[5, 6])]).unwrap(), before);
    }
    assert!(matches!(session.choose(&[ask(2, &[1])]), Err(DecoderError::Row { row: 2, rows: 2 })));
    assert!(matches!(session.choose(&[ask(0, &[])]), Err(DecoderError::Mask { .. })));
    assert!(matches!(session.choose(&[ask(0, &[11])]), Err(DecoderError::Mask { vocabulary: VOCABULARY, .. })));
    session.feed(&[Feed { row: 0, symbols: &[0; 7] }]).unwrap();
    assert_eq!(session.fed(0), Some(10));
}

#[test]
fn damaged_weights_give_errors_and_no_choices() {
    let mut decoder = Decoder::new(small(), 1).unwrap();
    let mut values = decoder.parameters().values().unwrap();
    values[0][8] = f32::NAN;
    decoder.parameters_mut().set(values.clone()).unwrap();
    let error = decoder.actor().unwrap_err().to_string();
    assert_eq!(error, "`embed.weight` has a weight that is not finite: refused, and nothing was changed");
    // Finite, and infinite on the way.
    values[0][8] = 0.0;
    values.last_mut().unwrap().fill(f32::MAX);
    decoder.parameters_mut().set(values).unwrap();
    let mut session = decoder.actor().unwrap().start(1).unwrap();
    session.feed(&[Feed { row: 0, symbols: &[1] }]).unwrap();
    let asks =
        [Pick::Greedy, Pick::Sample { seed: 1 }].map(|pick| Ask { row: 0, allowed: Allowed::first(VOCABULARY), pick });
    for ask in asks {
        let error = session.choose(&[ask]).unwrap_err();
        assert!(matches!(error, DecoderError::NotFinite { row: 0 }), "{error}");
    }
}
