//! A play as bytes, so that two can be told apart by a digest. Nothing is read back from them.

use super::choice::{Answer, Bag, Choice, Past, Play, Question, Unit};

impl Play {
    /// Appends the play: every list with its length before it, numbers with the lowest byte first.
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        list(into, &self.units, |into, Unit { bag, types }| {
            write_bag(into, bag);
            into.extend(types.to_le_bytes());
        });
        list(into, &self.choices, |into, taken| {
            write_choice(into, &taken.choice);
            count(into, taken.answer);
        });
    }
}

fn write_choice(into: &mut Vec<u8>, choice: &Choice) {
    let Question { kind, bag, facts } = &choice.question;
    into.push(*kind as u8);
    write_bag(into, bag);
    write_facts(into, facts);
    list(into, &choice.answers, |into, Answer { bag, facts, span }| {
        write_bag(into, bag);
        write_facts(into, facts);
        into.push(u8::from(span.is_some()));
        if let Some(span) = span {
            count(into, span.start);
            count(into, span.end);
        }
    });
    list(into, &choice.past, |into, Past { bag, status, changed }| {
        write_bag(into, bag);
        into.extend([*status, u8::from(*changed)]);
    });
}

fn write_bag(into: &mut Vec<u8>, bag: &Bag) {
    list(into, bag.grams(), |into, gram| into.extend(gram.to_le_bytes()));
}

fn write_facts(into: &mut Vec<u8>, facts: &[f32]) {
    facts.iter().for_each(|fact| into.extend(fact.to_le_bytes()));
}

fn list<T>(into: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    count(into, items.len());
    items.iter().for_each(|item| write(into, item));
}

fn count(into: &mut Vec<u8>, count: usize) {
    into.extend((count as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pointer::choice::Kind;
    use crate::pointer::net::tests::plays;

    /// A change of a play.
    type Change = dyn Fn(&mut Play);

    #[test]
    fn whatever_is_changed_in_a_play_changes_its_bytes() {
        let bytes = |play: &Play| {
            let mut bytes = Vec::new();
            play.write(&mut bytes);
            bytes
        };
        let has_all = |play: &Play| {
            let past = play.choices.iter().any(|taken| !taken.choice.past.is_empty());
            past && !play.units.is_empty() && play.choices[0].choice.answers.len() > 1
        };
        let play = plays(40, 3).into_iter().find(has_all).expect("a play");
        let past = play.choices.iter().position(|taken| !taken.choice.past.is_empty()).expect("one");
        let other = || Bag::new([8_000, 8_001]);
        let mend_unit = |change: fn(&mut Unit)| {
            move |play: &mut Play| {
                let mut units = play.units.to_vec();
                change(&mut units[0]);
                play.units = units.into();
            }
        };
        let mend_past = |change: fn(&mut Past)| {
            move |play: &mut Play| {
                let mut calls = play.choices[past].choice.past.to_vec();
                change(&mut calls[0]);
                play.choices[past].choice.past = calls.into();
            }
        };
        let changes: [Box<Change>; 15] = [
            Box::new(mend_unit(|unit| unit.bag = Bag::new([8_000]))),
            Box::new(mend_unit(|unit| unit.types ^= 1 << 9)),
            Box::new(|play| play.units = play.units[1..].to_vec().into()),
            Box::new(|play| drop(play.choices.pop())),
            Box::new(|play| play.choices[0].answer ^= 1),
            Box::new(|play| {
                let kind = &mut play.choices[0].choice.question.kind;
                *kind = if *kind == Kind::Act { Kind::More } else { Kind::Act };
            }),
            Box::new(move |play| play.choices[0].choice.question.bag = other()),
            Box::new(|play| play.choices[0].choice.question.facts[15] += 0.5),
            Box::new(move |play| play.choices[0].choice.answers[1].bag = other()),
            Box::new(|play| play.choices[0].choice.answers[1].facts[31] += 0.5),
            Box::new(|play| {
                let span = &mut play.choices[0].choice.answers[1].span;
                *span = if span.is_some() { None } else { Some(0..1) };
            }),
            Box::new(|play| drop(play.choices[0].choice.answers.pop())),
            Box::new(mend_past(|past| past.bag = Bag::new([8_000]))),
            Box::new(mend_past(|past| past.status ^= 1)),
            Box::new(mend_past(|past| past.changed = !past.changed)),
        ];
        assert_eq!(bytes(&play), bytes(&play.clone()));
        for (number, change) in changes.iter().enumerate() {
            let mut changed = play.clone();
            change(&mut changed);
            assert_ne!(bytes(&changed), bytes(&play), "change {number}");
        }
        // What is shared is no part of it.
        let mut apart = play.clone();
        apart.units = Arc::from(apart.units.to_vec());
        assert_eq!(bytes(&apart), bytes(&play));
    }
}
