//! From a match of a rule to a proposal.

use std::ops::Range;

use loopwright_contract::memory::Role;
use regex::Captures;

use super::rule::{Compiled, Rule, Says, Tense};
use super::sentence::{Sentence, is_not_own, is_reported, is_supposed};
use super::value::values;
use super::view::{View, is_han};
use super::{PROPOSALS_MAX, Proposal, ProposalKind, when};
use crate::message::Message;
use crate::names::{KnownNames, fold};
use crate::unit::{Claim, ClaimKey, Confidence};

/// The most matches of one rule in one sentence.
const MATCHES_MAX: usize = 4;

/// Words of a call for a reminder.
const REMINDING: &[&str] = &["remind", "forget", "提醒", "别忘", "不要忘", "叫我"];
/// A reminder that comes again and again: a to-do fires once, so that it is how the assistant is to behave.
const REPEATED: Rule = Rule::instruction("");

/// Reads the sentences of one message.
pub(super) struct Reader<'a> {
    message: &'a Message,
    known: &'a KnownNames,
    view: &'a View,
    quotations: &'a [Range<usize>],
    pub(super) found: Vec<Proposal>,
    /// Per sentence: where it begins, and the values that rules took from it.
    taken: (usize, Vec<(Range<usize>, &'static str)>),
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        message: &'a Message,
        known: &'a KnownNames,
        view: &'a View,
        quotations: &'a [Range<usize>],
    ) -> Self {
        Self { message, known, view, quotations, found: Vec::new(), taken: (usize::MAX, Vec::new()) }
    }

    /// Adds what a rule finds in a sentence.
    pub(super) fn apply(&mut self, compiled: &Compiled, sentence: &Sentence<'_>) {
        if self.taken.0 != sentence.start {
            self.taken = (sentence.start, Vec::new());
        }
        for captures in compiled.pattern.captures_iter(sentence.text).take(MATCHES_MAX) {
            let (Some(whole), Some(value)) = (captures.get(0), captures.name("v").or_else(|| captures.name("w")))
            else {
                continue;
            };
            if !self.is_meant(&compiled.rule, sentence, &captures, whole.range()) {
                continue;
            }
            for range in values(sentence.text, value.range(), compiled.rule.take) {
                self.add(&compiled.rule, sentence, &captures, range);
            }
        }
    }

    /// Whether the match is the speaker's own statement.
    fn is_meant(&self, rule: &Rule, sentence: &Sentence<'_>, captures: &Captures<'_>, whole: Range<usize>) -> bool {
        let start = own_start(sentence.text, whole.start);
        let before = sentence.text.get(..start).unwrap_or_default();
        let asked = sentence.asks_from.is_some_and(|from| start >= from);
        let at = sentence.start + start;
        let quoted = self.quotations.iter().any(|quotation| quotation.contains(&at));
        let own = if rule.with_condition { !is_reported(before) } else { !is_not_own(before) };
        let rest = sentence.text.get(start..).unwrap_or_default();
        let supposed = !rule.with_condition && is_supposed(rest);
        let timed = rule.says == Says::ToDo || captures.name("t").is_none_or(|said| is_time_or_nothing(said.as_str()));
        (!asked || rule.in_question) && !quoted && own && !supposed && timed
    }

    fn add(&mut self, rule: &Rule, sentence: &Sentence<'_>, captures: &Captures<'_>, value: Range<usize>) {
        let overlaps = |(other, _): &(Range<usize>, &str)| other.start < value.end && value.start < other.end;
        if self.found.len() >= PROPOSALS_MAX || self.taken.1.iter().any(overlaps) {
            return;
        }
        let Some(subject) = self.subject(captures) else { return };
        let repeats = rule.says == Says::ToDo && when::repeats(sentence.text);
        if repeats && !REMINDING.iter().any(|word| sentence.text.to_lowercase().contains(word)) {
            // "I have to get up at six every day" is nothing that is done once.
            return;
        }
        let (rule, value) = if repeats { (&REPEATED, whole(sentence.text)) } else { (rule, value) };
        let in_view = sentence.start + value.start..sentence.start + value.end;
        let quote = self.view.origin(sentence.start..sentence.start + sentence.text.len());
        let value_bytes = self.view.origin(in_view);
        let (Some(text), Some(said)) =
            (self.message.text.get(quote.clone()), self.message.text.get(value_bytes.clone()))
        else {
            return;
        };
        let proposal_text = text.to_owned();
        let said = said.to_owned();
        let (event, activation, mut note) = self.times(rule, sentence);
        if repeats {
            note = Some("it repeats: kept as a standing instruction, no reminder fires for it".to_owned());
        }
        if rule.needs_time
            && event.is_none()
            && note.is_none()
            && activation.as_ref().is_none_or(|found| found.due.is_none())
        {
            return;
        }
        self.taken.1.push((value, rule.predicate));
        let claim = matches!(rule.says, Says::Fact | Says::Instruction | Says::ToDo).then(|| Claim {
            key: ClaimKey {
                subject,
                predicate: rule.predicate.to_owned(),
                qualifier: qualifier(rule, captures, &said),
            },
            value: said,
            arity: arity(rule, captures),
            negated: rule.negated,
        });
        let duplicate = claim.is_some() && self.found.iter().any(|other| other.claim == claim);
        if duplicate {
            return;
        }
        self.found.push(Proposal {
            kind: kind(rule.says),
            layer: rule.layer,
            category: rule.category,
            text: proposal_text,
            claim,
            quote,
            value: value_bytes,
            event,
            activation,
            confidence: self.confidence(rule, note),
        });
    }

    fn times(
        &self,
        rule: &Rule,
        sentence: &Sentence<'_>,
    ) -> (Option<crate::moment::EventTime>, Option<crate::unit::Activation>, Option<String>) {
        match rule.says {
            Says::ToDo => {
                let (activation, note) = when::activation(sentence.text, &self.message.mentioned);
                (activation.due.clone(), Some(activation), note)
            }
            Says::Instruction => (None, None, None),
            _ if rule.predicate == "routine" => (None, None, None),
            _ if rule.predicate == "birthday" => {
                let dated = when::dated(sentence.text, &self.message.mentioned, Tense::Present);
                (None, None, dated.note)
            }
            _ => {
                let dated = when::dated(sentence.text, &self.message.mentioned, rule.tense);
                (dated.event, None, dated.note)
            }
        }
    }

    /// Whom the match is about; none when that is nobody who is known.
    fn subject(&self, captures: &Captures<'_>) -> Option<String> {
        let speaker = match self.message.place.role {
            Role::User => "user".to_owned(),
            _ => {
                self.known.resolve(&self.message.place.speaker).map_or_else(|| fold(&self.message.place.speaker), fold)
            }
        };
        if let Some(person) = captures.name("person") {
            return self.known.resolve(person.as_str()).map(fold);
        }
        if let Some(topic) = captures.name("topic") {
            return Some(fold(topic.as_str()));
        }
        let Some(relation) = captures.name("who") else { return Some(speaker) };
        if let Some(name) = captures.name("name") {
            return Some(self.known.resolve(name.as_str()).map_or_else(|| fold(name.as_str()), fold));
        }
        let relation = canonical_relation(&fold(relation.as_str()));
        Some(if speaker == "user" { relation } else { format!("{speaker}/{relation}") })
    }

    fn confidence(&self, rule: &Rule, note: Option<String>) -> Confidence {
        let (sure, who) = match self.message.place.role {
            Role::User => (rule.sure, "stated by the user"),
            _ => (rule.sure.saturating_sub(200), "said by another person"),
        };
        let mut reason = format!("{who}; rule for `{}`", rule.predicate);
        if let Some(note) = note {
            reason.push_str("; ");
            reason.push_str(&note);
        }
        Confidence { thousandths: sure, reason }
    }
}

/// A sentence without the marks around it.
fn whole(text: &str) -> Range<usize> {
    let is_mark = |ch: char| !ch.is_alphanumeric();
    let start = text.len() - text.trim_start_matches(is_mark).len();
    start..text.trim_end_matches(is_mark).len().max(start)
}

/// The start of what the speaker says, without the mark or greeting that the pattern begins with.
fn own_start(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    start + (rest.len() - rest.trim_start_matches([',', ' ', '\'', ':']).len())
}

/// Whether what stands between 我 and the verb is when, or with whom.
fn is_time_or_nothing(said: &str) -> bool {
    let said = said.trim();
    said.is_empty()
        || said.starts_with(['和', '跟', '与', '同'])
        || loopwright_text::find_times(said).first().is_some_and(|found| found.range.start <= 6)
        || ["国庆", "春节", "暑假", "寒假", "五一", "周末", "上次", "今年", "从", "中秋", "元旦"]
            .iter()
            .any(|word| said.starts_with(word))
}

fn kind(says: Says) -> ProposalKind {
    match says {
        Says::Fact => ProposalKind::Fact,
        Says::Instruction => ProposalKind::Instruction,
        Says::ToDo => ProposalKind::ToDo,
        Says::Done => ProposalKind::Done,
        Says::Correction => ProposalKind::Correction,
    }
}

/// Relations of which there is one at a time.
const ONE_AT_A_TIME: &[&str] = &["wife", "husband", "mother", "father", "partner", "妻子", "丈夫", "母亲", "父亲"];

fn arity(rule: &Rule, captures: &Captures<'_>) -> crate::unit::Arity {
    let one = rule.predicate == "relation"
        && captures
            .name("q")
            .is_some_and(|said| ONE_AT_A_TIME.contains(&canonical_relation(&fold(said.as_str())).as_str()));
    if one { crate::unit::Arity::Single } else { rule.arity }
}

fn qualifier(rule: &Rule, captures: &Captures<'_>, value: &str) -> Option<String> {
    let said = captures.name("q").map(|said| fold(said.as_str()));
    match (rule.predicate, said) {
        ("relation", Some(said)) => Some(canonical_relation(&said)),
        ("pet", Some(said)) => Some(canonical_pet(&said).to_owned()),
        ("prefers", _) => kind_of_thing(value),
        ("routine", Some(said)) => Some(said.trim_end_matches(['了', '.', '!']).trim().to_owned()),
        (_, Some(said)) => Some(said.trim_end_matches(['.', '!', '的']).trim().to_owned()),
        (_, None) => None,
    }
    .filter(|said| !said.is_empty())
}

/// What kind of thing is preferred, so that window seats take the place of aisle seats but not of tea.
fn kind_of_thing(value: &str) -> Option<String> {
    let folded = fold(value);
    if folded.chars().any(is_han) {
        return folded.rsplit_once('的').map(|(_, noun)| noun.to_owned()).filter(|noun| !noun.is_empty());
    }
    let words: Vec<&str> = folded.split(' ').collect();
    let last = words.last().filter(|_| words.len() > 1)?;
    let singular = last.strip_suffix("ies").map(|stem| format!("{stem}y"));
    Some(
        singular
            .unwrap_or_else(|| last.strip_suffix('s').filter(|stem| !stem.ends_with('s')).unwrap_or(last).to_owned()),
    )
}

/// One word for each relation.
pub(crate) fn canonical_relation(folded: &str) -> String {
    match folded {
        "mum" | "mom" | "mommy" => "mother",
        "dad" | "daddy" => "father",
        "grandma" => "grandmother",
        "grandpa" => "grandfather",
        "neighbor" => "neighbour",
        "fiancée" | "fiancé" | "fiancee" | "fiance" => "fiancé",
        "coworker" => "colleague",
        "妈妈" | "妈" | "老妈" => "母亲",
        "爸爸" | "爸" | "老爸" => "父亲",
        "老婆" | "太太" | "媳妇" => "妻子",
        "老公" => "丈夫",
        "哥" => "哥哥",
        "姐" => "姐姐",
        "弟" => "弟弟",
        "妹" => "妹妹",
        "姥姥" => "外婆",
        "姥爷" => "外公",
        other => other,
    }
    .to_owned()
}

fn canonical_pet(folded: &str) -> &str {
    match folded {
        "puppy" => "dog",
        "kitten" => "cat",
        "bunny" => "rabbit",
        "小狗" | "狗狗" => "狗",
        "小猫" | "猫咪" => "猫",
        other => other,
    }
}
