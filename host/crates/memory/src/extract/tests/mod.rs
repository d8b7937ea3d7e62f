//! Tables of messages and what the rules take from them, and text that means harm.

mod held_out;
mod hostile;
mod table_chinese;
mod table_english;
mod times;

use std::collections::BTreeSet;

use jiff::civil::date;

use super::*;
use crate::message::Place;
use crate::moment::{Moment, Zone};

/// A message of Tuesday, 4 March 2025, 10:20, in Shanghai.
pub(super) fn said(role: Role, text: &str) -> Message {
    let zone = Zone::new("Asia/Shanghai").expect("a zone");
    let mentioned = Moment::of_civil(date(2025, 3, 4).at(10, 20, 0, 0), zone).expect("in range");
    let place = Place { dialogue: "d".into(), session: "s".into(), position: 0, speaker: "Lin".into(), role };
    Message { place, text: text.to_owned(), mentioned }
}

/// A proposal as the tables write it.
fn summary(message: &Message, proposal: &Proposal) -> String {
    let value = message.text.get(proposal.value.clone()).expect("a range of the text");
    match &proposal.claim {
        Some(claim) => {
            assert_eq!(claim.value, value, "the value is not where it is said to be");
            let subject = if claim.key.subject == "user" { String::new() } else { format!("{}:", claim.key.subject) };
            let qualifier = claim.key.qualifier.as_ref().map_or(String::new(), |said| format!("({said})"));
            let not = if claim.negated { "!" } else { "" };
            format!("{not}{subject}{}{qualifier}={value}", claim.key.predicate)
        }
        None => format!("{}={value}", if proposal.kind == ProposalKind::Done { "done" } else { "correction" }),
    }
}

/// What was right, what was too much and what was missing.
#[derive(Debug, Default)]
struct Score {
    right: usize,
    extra: usize,
    missing: usize,
    failures: Vec<String>,
}

impl Score {
    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.extra).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missing).max(1) as f64
    }
}

fn score(rows: &[(&str, &[&str])]) -> Score {
    let mut score = Score::default();
    for (text, expected) in rows {
        let message = said(Role::User, text);
        let found: BTreeSet<String> =
            extract(&message, &KnownNames::new()).iter().map(|proposal| summary(&message, proposal)).collect();
        let expected: BTreeSet<String> = expected.iter().map(|claim| (*claim).to_owned()).collect();
        score.right += found.intersection(&expected).count();
        score.extra += found.difference(&expected).count();
        score.missing += expected.difference(&found).count();
        if found != expected {
            score.failures.push(format!("{text}\n   expected {expected:?}\n   found    {found:?}"));
        }
    }
    score
}

fn report(name: &str, rows: &[(&str, &[&str])]) -> Score {
    let score = score(rows);
    println!(
        "{name}: {} rows, {} without a claim; precision {:.3}, recall {:.3}, {} rows wrong",
        rows.len(),
        rows.iter().filter(|(_, expected)| expected.is_empty()).count(),
        score.precision(),
        score.recall(),
        score.failures.len()
    );
    for failure in &score.failures {
        println!("  {failure}");
    }
    score
}

#[test]
fn the_tables_have_at_least_150_rows() {
    assert!(table_english::ENGLISH.len() + table_chinese::CHINESE.len() >= 150);
    assert!(held_out::HELD_OUT.len() >= 60);
}

#[test]
fn every_row_of_the_english_table_comes_out() {
    let score = report("English", table_english::ENGLISH);
    assert!(score.failures.is_empty(), "{:#?}", score.failures);
}

#[test]
fn every_row_of_the_chinese_table_comes_out() {
    let score = report("Chinese", table_chinese::CHINESE);
    assert!(score.failures.is_empty(), "{:#?}", score.failures);
}

#[test]
fn the_rows_held_out_are_mostly_right() {
    let score = report("held out", held_out::HELD_OUT);
    assert!(score.precision() >= 0.9 && score.recall() >= 0.85);
    let score = report("harder", held_out::HARDER);
    assert!(score.precision() >= 0.85 && score.recall() >= 0.65);
}

#[test]
fn what_the_rules_propose_passes_its_verification() {
    struct One(Message);
    impl crate::verify::Captures for One {
        fn message(&self, _: crate::unit::Sequence) -> Option<&Message> {
            Some(&self.0)
        }
    }
    for (text, _) in table_english::ENGLISH.iter().chain(table_chinese::CHINESE).chain(held_out::HELD_OUT) {
        let message = said(Role::User, text);
        for proposal in extract(&message, &KnownNames::new()) {
            let verified = crate::verify::verify(proposal, 1, &One(message.clone()));
            assert!(verified.is_ok(), "{text}: {verified:?}");
        }
    }
}

#[test]
fn every_rule_compiles() {
    let rules = |tables: &[&[rule::Rule]]| tables.iter().map(|table| table.len()).sum::<usize>();
    assert_eq!(ENGLISH.len(), rules(english::RULES));
    assert_eq!(CHINESE.len(), rules(chinese::RULES));
}
