//! Words made of several: `snake_case`, `camelCase`, hyphens, letters beside digits.

use std::ops::Range;

use crate::fold::Folded;
use crate::script::{Class, class, is_word};

/// The index after the word that begins at `start`. Underscores, hyphens beside a letter and apostrophes between
/// letters are inside a word when a letter or digit follows.
pub(crate) fn run_end(folded: &Folded, start: usize) -> usize {
    let mut at = start;
    while let Some(ch) = folded.ch(at) {
        if !is_word(ch) && !joins(folded, at, ch) {
            break;
        }
        at += 1;
    }
    at
}

fn joins(folded: &Folded, at: usize, ch: char) -> bool {
    let neighbours = (folded.ch_before(at).map(class), folded.ch(at + 1).map(class));
    let letters = [neighbours.0, neighbours.1].iter().filter(|side| **side == Some(Class::Letter)).count();
    let words = letters + [neighbours.0, neighbours.1].iter().filter(|side| **side == Some(Class::Digit)).count();
    match ch {
        '_' => words == 2,
        '-' | '\u{2010}' | '\u{2011}' => words == 2 && letters >= 1,
        _ => is_apostrophe(ch) && letters == 2,
    }
}

pub(crate) fn is_apostrophe(ch: char) -> bool {
    matches!(ch, '\'' | '\u{2019}')
}

/// Cuts a word into its pieces, each without joiners; an English possessive `'s` is dropped and other apostrophes
/// stay inside their piece (they are left out of a token's text).
pub(crate) fn pieces(folded: &Folded, run: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = run.start;
    let mut at = run.start;
    while at < run.end {
        let Some(current) = folded.get(at) else { break };
        if is_apostrophe(current.ch) && is_possessive(folded, at, run.end) {
            push(&mut pieces, start..at);
            at += 2;
            start = at;
            continue;
        }
        if !is_word(current.ch) && !is_apostrophe(current.ch) {
            push(&mut pieces, start..at);
            start = at + 1;
        } else if at > start && begins_piece(folded, at) {
            push(&mut pieces, start..at);
            start = at;
        }
        at += 1;
    }
    push(&mut pieces, start..run.end);
    pieces
}

fn push(pieces: &mut Vec<Range<usize>>, piece: Range<usize>) {
    if piece.start < piece.end {
        pieces.push(piece);
    }
}

fn is_possessive(folded: &Folded, apostrophe: usize, end: usize) -> bool {
    folded.ch(apostrophe + 1) == Some('s') && (apostrophe + 2 == end || !folded.ch(apostrophe + 2).is_some_and(is_word))
}

/// Whether a new piece begins at `at`: after a change between letters and digits, at `aB`, and at `ABc`'s `B`.
fn begins_piece(folded: &Folded, at: usize) -> bool {
    let (Some(before), Some(current)) = (at.checked_sub(1).and_then(|index| folded.get(index)), folded.get(at)) else {
        return false;
    };
    if before.start == current.start {
        return false; // Both come from one original character.
    }
    match (class(before.ch), class(current.ch)) {
        (Class::Letter, Class::Digit) | (Class::Digit, Class::Letter) => true,
        (Class::Letter, Class::Letter) if current.upper => {
            !before.upper || folded.get(at + 1).is_some_and(|next| class(next.ch) == Class::Letter && !next.upper)
        }
        _ => false,
    }
}
