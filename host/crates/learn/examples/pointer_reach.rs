//! Which share of a file of demonstrations the phone policy's choices reach, by language, split, phrasing and family, with what they miss.
//!
//! ```sh
//! cargo run --release -p loopwright-learn --example pointer_reach -- demos.jsonl
//! ```
//!
//! A line is an object with `family`, `lang`, `split`, `phrasing`, `context` and `gold`, the actions of one decision. It ends with an error when
//! less than [`SHARE_MIN`] hundredths of the arguments are reached.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_learn::pointer::{Lexical, Specs, Taken, Walk, force_with};
use serde_json::Map;

/// Hundredths of the arguments that have to be reached.
const SHARE_MIN: usize = 98;

type Failed = Box<dyn std::error::Error>;

/// One decision of a demonstration.
#[derive(serde::Deserialize)]
struct Demonstration {
    family: String,
    lang: String,
    split: String,
    phrasing: String,
    context: Context,
    gold: Vec<Action>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Share {
    arguments: usize,
    reached: usize,
    decisions: usize,
    whole: usize,
}

impl Share {
    fn add(&mut self, other: Self) {
        self.arguments += other.arguments;
        self.reached += other.reached;
        self.decisions += other.decisions;
        self.whole += other.whole;
    }

    fn text(self) -> String {
        let (arguments, decisions) = (per(100 * self.reached, self.arguments), per(100 * self.whole, self.decisions));
        format!(
            "{arguments:6.2} % of {:5} arguments, {decisions:6.2} % of {:5} decisions",
            self.arguments, self.decisions
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
fn per(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

/// What is counted over all demonstrations.
#[derive(Default)]
struct Figures {
    groups: BTreeMap<String, Share>,
    misses: BTreeMap<String, usize>,
    questions: BTreeSet<String>,
    decisions: usize,
    choices: usize,
    answers: usize,
    most: usize,
    widest: usize,
    lexical: usize,
    time: Duration,
}

fn arguments(action: &Action) -> usize {
    match action {
        Action::Call(call) => call.arguments.as_object().map_or(0, Map::len).max(1),
        _ => 1,
    }
}

/// How many arguments a decision misses: what is missed is taken out, and the rest tried again.
fn missed(specs: &Specs, context: &Context, gold: &[Action], all: usize, mut slot: String) -> usize {
    let mut rest = gold.to_vec();
    for missed in 1..all {
        let name = slot.split('/').next().unwrap_or_default().to_owned();
        let mut stripped = false;
        for action in &mut rest {
            if let Action::Call(call) = action {
                stripped |= call.arguments.as_object_mut().is_some_and(|fields| fields.remove(&name).is_some());
            }
        }
        match force_with(specs, context, &rest) {
            _ if name.is_empty() || !stripped => return all,
            Ok(_) => return missed,
            Err(error) => slot = error.place().1.to_owned(),
        }
    }
    all
}

/// The decision again, choice by choice.
fn again(specs: &Specs, context: &Context, taken: &[Taken]) -> Result<Vec<Action>, Failed> {
    let mut walk = Walk::with(specs, context);
    for choice in taken {
        if walk.choice() != Some(&choice.choice) || !walk.take(choice.answer) {
            return Err("the walk asks for something else than what was forced".into());
        }
    }
    let action = |proposed| match proposed {
        Proposed::Action { value } => Ok(value),
        other => Err(Failed::from(format!("not an action: {other:?}"))),
    };
    walk.finish().proposed.into_iter().map(action).collect()
}

/// Whether calls came back as they were; other actions reach the same effect by the rules of the module.
fn same(made: &[Action], gold: &[Action]) -> bool {
    let calls = |actions: &[Action]| -> Vec<String> {
        let calls = actions.iter().filter_map(|action| if let Action::Call(call) = action { Some(call) } else { None });
        calls.map(|call| call.digest().to_string()).collect()
    };
    made.len() == gold.len() && calls(made) == calls(gold)
}

impl Figures {
    fn read(&mut self, specs: &Specs, demo: &Demonstration) -> Result<(), Failed> {
        let begun = Instant::now();
        let forced = force_with(specs, &demo.context, &demo.gold);
        let took = begun.elapsed();
        let all: usize = demo.gold.iter().map(arguments).sum();
        let mut share = Share { arguments: all, reached: all, decisions: 1, whole: 1 };
        match forced {
            Ok(taken) => {
                self.time += took;
                self.count(demo, &again(specs, &demo.context, &taken)?, &taken)?;
            }
            Err(error) => {
                let slot = error.place().1.to_owned();
                share.reached -= missed(specs, &demo.context, &demo.gold, all, slot);
                share.whole = 0;
                *self.misses.entry(format!("{}/{}: {error}", demo.family, demo.lang)).or_default() += 1;
            }
        }
        let family = format!("family {}", demo.family);
        for group in
            ["all", &demo.lang, &demo.split, &demo.phrasing, &format!("{}/{}", demo.split, demo.phrasing), &family]
        {
            self.groups.entry(group.to_owned()).or_default().add(share);
        }
        Ok(())
    }

    fn count(&mut self, demo: &Demonstration, made: &[Action], taken: &[Taken]) -> Result<(), Failed> {
        if !same(made, &demo.gold) {
            return Err(format!("{}: {made:?} came of {:?}", demo.family, demo.gold).into());
        }
        for action in made {
            if let Action::Ask { question, pending: None } = action {
                self.questions.insert(format!("{}/{}: {question}", demo.family, demo.lang));
            }
        }
        let widths = taken.iter().map(|taken| taken.choice.answers.len());
        self.decisions += 1;
        self.choices += taken.len();
        self.answers += widths.clone().sum::<usize>();
        self.most = self.most.max(taken.len());
        self.widest = self.widest.max(widths.max().unwrap_or(0));
        self.lexical += taken.iter().filter(|taken| Lexical::answer(&taken.choice) == taken.answer).count();
        Ok(())
    }

    fn print(&self) {
        for (group, share) in &self.groups {
            if !group.starts_with("family") || share.reached < share.arguments {
                println!("{group:32} {}", share.text());
            }
        }
        for (miss, times) in &self.misses {
            println!("{times} x {miss}");
        }
        for question in &self.questions {
            println!("asks {question}");
        }
        println!("choices of a decision: {:.1}, at most {}", per(self.choices, self.decisions), self.most);
        println!("options of a choice: {:.1}, at most {}", per(self.answers, self.choices), self.widest);
        println!(
            "the lexical planner takes {:.1} % of the choices as gold does",
            per(100 * self.lexical, self.choices)
        );
        let micros = usize::try_from(self.time.as_micros()).unwrap_or(usize::MAX);
        println!(
            "microseconds: {:.0} a choice, {:.0} a decision",
            per(micros, self.choices),
            per(micros, self.decisions)
        );
    }
}

fn main() -> Result<(), Failed> {
    let path = std::env::args().nth(1).ok_or("expected the path of a file of demonstrations")?;
    let specs = Specs::new();
    let mut figures = Figures::default();
    for line in std::fs::read_to_string(path)?.lines() {
        figures.read(&specs, &serde_json::from_str(line)?)?;
    }
    figures.print();
    let all = figures.groups.get("all").copied().unwrap_or_default();
    if all.reached * 100 < all.arguments * SHARE_MIN {
        return Err(format!("{}: expected {SHARE_MIN} % of the arguments", all.text()).into());
    }
    Ok(())
}
