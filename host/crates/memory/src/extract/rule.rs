//! What a rule is: a pattern with named parts, and what is made of a match.

use loopwright_contract::memory::Layer;
use regex::Regex;

use super::Category;
use super::pattern::compile;
use crate::unit::Arity;

/// How the part `v` of a match becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// A person's or an animal's name.
    Name,
    /// As a name, said of oneself without "name": "I'm Priya". Only what is written as one.
    StrictName,
    /// How somebody wants to be called.
    Called,
    /// A town, a country, a district.
    Place,
    /// A firm, a school.
    Organisation,
    /// An occupation.
    Job,
    /// A thing or an activity.
    Thing,
    /// Several of them.
    Things,
    /// Several towns.
    Towns,
    /// A date, an age, a number, an address: as it stands.
    Plain,
    /// A date or a time, as it stands.
    When,
    /// What is to be done: the rest of the sentence.
    Whole,
    /// What is to be done, without its time.
    Action,
    /// What happened, without its time.
    Happening,
}

/// To which side of the message an open time lies, and whether what it says goes on from then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    /// It holds now. Only "since" and ranges date it.
    Present,
    /// It began then and goes on.
    Began,
    /// It will begin then and go on.
    Begins,
    /// It happened then.
    Past,
    /// It happens then.
    Future,
}

/// What a match says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// Something holds or happens.
    Fact,
    /// How the assistant is to behave.
    Instruction,
    /// Something is to be done.
    ToDo,
    /// Something is done.
    Done,
    /// What was said before is wrong.
    Correction,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// With the parts `v` (the value), `who` (of whose), `name` (that one's name), `q` (the qualifier) and `t` (when).
    pub(super) pattern: &'static str,
    pub(super) predicate: &'static str,
    pub(super) take: Take,
    pub(super) says: Says,
    pub(super) arity: Arity,
    pub(super) negated: bool,
    pub(super) layer: Layer,
    pub(super) category: Category,
    pub(super) tense: Tense,
    /// Whether it is meant in a question too: "could you remind me …?"
    pub(super) in_question: bool,
    /// Whether "if" and "when" before it are part of it.
    pub(super) with_condition: bool,
    /// Whether it is a fact only when the sentence dates it.
    pub(super) needs_time: bool,
    /// In thousandths.
    pub(super) sure: u16,
}

impl Rule {
    /// A profile fact of one value that holds now.
    pub(super) const fn new(predicate: &'static str, take: Take, pattern: &'static str) -> Self {
        Self {
            pattern,
            predicate,
            take,
            says: Says::Fact,
            arity: Arity::Single,
            negated: false,
            layer: Layer::Profile,
            category: Category::UserProfile,
            tense: Tense::Present,
            in_question: false,
            with_condition: false,
            needs_time: false,
            sure: 900,
        }
    }

    pub(super) const fn set(mut self) -> Self {
        self.arity = Arity::Set;
        self
    }

    pub(super) const fn negated(mut self) -> Self {
        self.negated = true;
        self
    }

    pub(super) const fn tense(mut self, tense: Tense) -> Self {
        self.tense = tense;
        self
    }

    pub(super) const fn sure(mut self, thousandths: u16) -> Self {
        self.sure = thousandths;
        self
    }

    pub(super) const fn dated(mut self) -> Self {
        self.needs_time = true;
        self
    }

    /// A fact of the long-term layer.
    pub(super) const fn long_term(mut self, category: Category) -> Self {
        self.layer = Layer::LongTerm;
        self.category = category;
        self
    }

    pub(super) const fn routine(take: Take, pattern: &'static str) -> Self {
        let mut rule = Self::new("routine", take, pattern).sure(800);
        rule.category = Category::RoutinesHabits;
        rule
    }

    pub(super) const fn instruction(pattern: &'static str) -> Self {
        let mut rule = Self::new("instruction", Take::Whole, pattern).set();
        rule.says = Says::Instruction;
        rule.category = Category::StandingInstruction;
        rule.with_condition = true;
        rule.in_question = true;
        rule
    }

    pub(super) const fn to_do(pattern: &'static str) -> Self {
        let mut rule = Self::new("todo", Take::Action, pattern).set().tense(Tense::Future);
        rule.says = Says::ToDo;
        rule.layer = Layer::Prospective;
        rule.category = Category::ToDo;
        rule.with_condition = true;
        rule.in_question = true;
        rule
    }

    pub(super) const fn done(pattern: &'static str) -> Self {
        let mut rule = Self::new("done", Take::Happening, pattern).set().tense(Tense::Past).sure(800);
        rule.says = Says::Done;
        rule.layer = Layer::Prospective;
        rule.category = Category::ToDo;
        rule
    }

    pub(super) const fn correction(pattern: &'static str) -> Self {
        let mut rule = Self::new("correction", Take::Thing, pattern).sure(400);
        rule.says = Says::Correction;
        rule.layer = Layer::LongTerm;
        rule.category = Category::ImportantInfo;
        rule
    }
}

/// A rule and its compiled pattern.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) rule: Rule,
    pub(super) pattern: Regex,
}

/// Compiles the rules of a table; what does not compile is left out, and a test counts them.
pub(super) fn compiled(rules: &[Rule]) -> Vec<Compiled> {
    rules.iter().filter_map(|rule| Some(Compiled { rule: *rule, pattern: compile(rule.pattern)? })).collect()
}
