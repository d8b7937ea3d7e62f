//! Histories that end at any step, and what must be there afterwards. The model knows nothing of logs: it keeps lists of what was said, derived
//! and purged.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// What the model knows of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    text: String,
    status: Status,
    /// The messages that it rests on, by number; the first gave it its value. Of a message: none.
    rests_on: Vec<u64>,
    predicate: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Model {
    units: BTreeMap<u64, Known>,
    /// Words that must be nowhere.
    purged: BTreeSet<String>,
}

/// A word that is in one message, and nowhere else.
fn word(number: u64) -> String {
    format!("w{number:04}x")
}

#[derive(Debug, Clone)]
enum Act {
    Say(Vec<u64>),
    Claim { predicate: String, on: Vec<u64>, contest: bool },
    Purge { ordinal: u64, sources: bool },
    PurgeClaim(String),
    Redact(u64),
    Reject(u64),
    Checkpoint,
    Reopen,
}

impl Model {
    fn live(&self, keep: impl Fn(&Known) -> bool) -> Vec<u64> {
        self.units.iter().filter(|(_, known)| keep(known)).map(|(ordinal, _)| *ordinal).collect()
    }

    fn heads(&self, predicate: &str) -> Vec<u64> {
        self.live(|known| known.predicate.as_deref() == Some(predicate) && known.status.is_current())
    }

    fn remove(&mut self, ordinal: u64) {
        if let Some(known) = self.units.remove(&ordinal) {
            self.purged.extend(words(&known.text).filter(|_| known.rests_on.is_empty()));
        }
    }

    /// What rests on messages that are gone goes with them, or loses its text when that came from them.
    fn settle(&mut self) {
        let said = |units: &BTreeMap<u64, Known>, ordinal: &u64| {
            units.get(ordinal).is_some_and(|known| known.status != Status::Redacted)
        };
        for ordinal in self.live(|known| !known.rests_on.is_empty()) {
            let known = self.units[&ordinal].clone();
            let left: Vec<u64> = known.rests_on.iter().filter(|on| said(&self.units, on)).copied().collect();
            let silent = left.first() != known.rests_on.first();
            if left.len() == known.rests_on.len() {
                continue;
            }
            if left.is_empty() || (silent && !(known.status.is_current() || known.status == Status::Candidate)) {
                self.units.remove(&ordinal);
            } else if let Some(known) = self.units.get_mut(&ordinal) {
                known.rests_on = left;
                if silent {
                    (known.text, known.status, known.predicate) = (String::new(), Status::Candidate, None);
                }
            }
        }
        for ordinal in self.live(|known| known.status == Status::Contested) {
            let predicate = self.units[&ordinal].predicate.clone();
            if self.live(|known| known.status == Status::Contested && known.predicate == predicate).len() == 1
                && let Some(known) = self.units.get_mut(&ordinal)
            {
                known.status = Status::Verified;
            }
        }
    }

    fn follow(&mut self, act: &Act, next: u64) {
        match act {
            Act::Say(numbers) => {
                for (ordinal, number) in (next..).zip(numbers) {
                    let text = format!("I said {}", word(*number));
                    let known = Known { text, status: Status::Verified, rests_on: Vec::new(), predicate: None };
                    self.units.insert(ordinal, known);
                }
            }
            Act::Claim { predicate, on, contest } => {
                let stands = if *contest { Status::Contested } else { Status::Superseded };
                if let Some(head) = self.heads(predicate).first().and_then(|head| self.units.get_mut(head)) {
                    head.status = stands;
                }
                let status = if *contest { Status::Contested } else { Status::Verified };
                let value = words(&self.units[&on[0]].text).next().expect("a word");
                let (text, predicate) = (format!("{predicate} {value}"), Some(predicate.clone()));
                self.units.insert(next, Known { text, status, rests_on: on.clone(), predicate });
                self.settle();
            }
            Act::Purge { ordinal, sources } => {
                let on = self.units[ordinal].rests_on.clone();
                self.remove(*ordinal);
                for ordinal in on.into_iter().filter(|_| *sources) {
                    self.remove(ordinal);
                }
                self.settle();
            }
            Act::PurgeClaim(predicate) => {
                for ordinal in self.live(|known| known.predicate.as_ref() == Some(predicate)) {
                    for on in self.units[&ordinal].rests_on.clone() {
                        self.remove(on);
                    }
                    self.remove(ordinal);
                }
                self.settle();
            }
            Act::Redact(ordinal) => {
                let known = self.units.get_mut(ordinal).expect("known");
                self.purged.extend(words(&known.text));
                (known.text, known.status) = (String::new(), Status::Redacted);
                self.settle();
            }
            Act::Reject(_) | Act::Checkpoint | Act::Reopen => {}
        }
    }

    /// What a memory should show.
    fn shows(&self) -> Vec<(u64, String, Status)> {
        self.units.iter().map(|(ordinal, known)| (*ordinal, known.text.clone(), known.status)).collect()
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(' ').filter(|word| word.starts_with('w') && word.ends_with('x')).map(str::to_owned)
}

/// A history that makes sense, one act after another.
fn history(random: &mut Random, length: usize) -> Vec<(Act, Model, Model)> {
    let (mut model, mut acts, mut said, mut next) = (Model::default(), Vec::new(), 0, 0);
    while acts.len() < length {
        let messages = model.live(|known| known.rests_on.is_empty() && known.status == Status::Verified);
        let pick = |from: &[u64], random: &mut Random| from[random.below(from.len() as u64) as usize];
        let all = model.live(|_| true);
        let predicate = format!("p{}", random.below(3));
        let act = match random.below(14) {
            4..=6 if !messages.is_empty() => {
                let mut on = vec![pick(&messages, random), pick(&messages, random)];
                on.dedup();
                // The same claim of the same message would be the same unit, or contest itself.
                let value = words(&model.units[&on[0]].text).next().expect("a word");
                let text = format!("{predicate} {value}");
                if model.units.values().any(|known| known.text == text) || model.purged.contains(&text) {
                    continue;
                }
                // Three that contradict each other by twos would need a model as long as the code.
                let contest = random.below(3) == 0 && model.heads(&predicate).len() == 1;
                Act::Claim { predicate, on, contest }
            }
            7 | 8 if !all.is_empty() => Act::Purge { ordinal: pick(&all, random), sources: random.below(2) == 0 },
            9 => Act::PurgeClaim(predicate),
            10 if !messages.is_empty() => Act::Redact(pick(&messages, random)),
            11 if !messages.is_empty() => Act::Reject(pick(&messages, random)),
            12 => Act::Checkpoint,
            13 => Act::Reopen,
            _ => {
                let numbers = (said..=said + random.below(3)).collect::<Vec<_>>();
                said += numbers.len() as u64;
                Act::Say(numbers)
            }
        };
        let before = model.clone();
        model.follow(&act, next);
        // A text whose derived unit was purged does not come back from the same message: such claims are not made.
        for (ordinal, known) in &before.units {
            if !known.rests_on.is_empty() && model.units.get(ordinal).is_none_or(|now| now.text.is_empty()) {
                model.purged.insert(known.text.clone());
            }
        }
        next = model.units.keys().last().map_or(next, |last| next.max(last + 1));
        acts.push((act, before, model.clone()));
    }
    acts
}

/// Does it to a store. Kills come back as errors.
fn perform(files: &Faulty, store: &mut Option<Store>, act: &Act, model: &Model) -> Result<(), StoreError> {
    let open = store.as_ref().expect("open");
    let snapshot = open.snapshot();
    let id = |ordinal: u64| UnitId::of(open.key(), ordinal);
    let sequence = |ordinal: u64| snapshot.made_at(ordinal).expect("made");
    match act {
        Act::Say(numbers) => {
            let said = numbers.iter().map(|number| capture(*number as u32, &format!("I said {}", word(*number))));
            let kept = open.capture(said.collect(), &when(5_000))?;
            assert!(kept.iter().all(|kept| matches!(kept, Kept::New(_))), "{act:?} {kept:?}");
        }
        Act::Claim { predicate, on, contest } => {
            let value = words(&snapshot.unit(on[0]).expect("there").text).next().expect("a word");
            let sequences: Vec<u64> = on.iter().map(|ordinal| sequence(*ordinal)).collect();
            let mut transaction = Transaction::at(&snapshot);
            let new = transaction.add(content(&snapshot, predicate, &value, &sequences), None);
            match model.heads(predicate).first() {
                Some(head) if *contest => transaction.contest(id(*head), new),
                Some(head) => transaction.supersede(id(*head), new),
                None => {}
            }
            assert!(open.commit(transaction, &when(6_000))?.added[0].new, "{act:?}");
        }
        Act::Purge { ordinal, sources } => {
            let sources = if *sources { Sources::Purge } else { Sources::Keep };
            open.purge(&Selection::Units(vec![id(*ordinal)]), sources, &when(9_000))?;
        }
        Act::PurgeClaim(predicate) => {
            open.purge(&Selection::Claim(key_of(predicate)), Sources::Purge, &when(9_000))?;
        }
        Act::Redact(ordinal) => {
            open.redact(&[id(*ordinal)], &when(9_000))?;
        }
        Act::Reject(ordinal) => {
            let mut transaction = Transaction::at(&snapshot);
            let text = snapshot.unit(*ordinal).expect("there").text.clone();
            transaction.reject(text, "no rule".into(), vec![quote(&snapshot, sequence(*ordinal))]);
            open.commit(transaction, &when(6_000))?;
        }
        Act::Checkpoint => open.checkpoint()?,
        Act::Reopen => {
            *store = None;
            *store = Some(try_open(files)?);
        }
    }
    Ok(())
}

fn shown(store: &Store) -> Vec<(u64, String, Status)> {
    store.snapshot().units().map(|(ordinal, unit)| (ordinal, unit.text.clone(), unit.status)).collect()
}

/// No file has a purged word.
fn scan(files: &Faulty, model: &Model, context: &str) {
    let kept: BTreeSet<String> = model.units.values().flat_map(|known| words(&known.text)).collect();
    let purged: BTreeSet<String> = model.purged.iter().flat_map(|text| words(text)).collect();
    for (path, bytes) in files.all() {
        // Every word has the length of the first one.
        for place in bytes.windows(word(0).len()).filter(|place| place[0] == b'w' && place.ends_with(b"x")) {
            let found = String::from_utf8_lossy(place).into_owned();
            assert!(kept.contains(&found) || !purged.contains(&found), "{context}: `{found}` is in {path}");
        }
    }
}

/// What a run came to.
#[derive(Default)]
struct Count {
    kills: u64,
    units: u64,
    purged: u64,
}

/// Opens what a kill left, compares it with what may be there, and goes on with it.
fn compare(files: &Faulty, possible: &[&Model], count: &mut Count, context: &str) {
    let store = try_open(files).unwrap_or_else(|error| panic!("{context}: {}", told(&error)));
    let found = shown(&store);
    let Some(model) = possible.iter().find(|model| model.shows() == found) else {
        panic!("{context}: found {found:?}, expected one of {possible:#?}");
    };
    scan(files, model, context);
    store.verify().unwrap_or_else(|error| panic!("{context}: {}", told(&error)));
    keep(&store, 60_000, "and life goes on");
    (count.kills, count.units) = (count.kills + 1, count.units + found.len() as u64);
    count.purged += model.purged.len() as u64;
}

/// Opens a memory and does one act to it, with a kill before `step`. Returns whether it came to that.
fn kill(before: &Faulty, act: &(Act, Model, Model), step: u64, seed: u64, count: &mut Count) -> bool {
    let (act, old, new) = act;
    let files = before.fork();
    files.die_at(step);
    let mut store = try_open(&files).ok();
    let performed = store.is_some().then(|| perform(&files, &mut store, act, old));
    let mut possible = match performed {
        Some(Ok(()) | Err(StoreError::Leftover { .. })) => vec![new],
        Some(Err(_)) => vec![old, new],
        None => vec![old],
    };
    if !files.is_dead() {
        return false;
    }
    drop(store);
    let context = format!("step {step} of {act:?} in {seed}");
    if (seed ^ step) & 1 == 0 {
        // The process alone was killed. What the next one shows must last when the machine goes down after it.
        files.next_process();
        let store = try_open(&files).unwrap_or_else(|error| panic!("{context}: {}", told(&error)));
        let seen = shown(&store);
        possible.retain(|model| model.shows() == seen);
    }
    files.restart(&mut Random(seed ^ step));
    compare(&files, &possible, count, &context);
    true
}

#[test]
fn every_step_of_fifty_histories_may_be_the_last() {
    let mut count = Count::default();
    for seed in 0..50 {
        let files = Faulty::new();
        let acts = history(&mut Random(seed), 10);
        let mut store = Some(open(&files));
        for (number, act) in acts.iter().enumerate() {
            let steps = (0..).take_while(|step| kill(&files, act, *step, seed, &mut count)).count();
            let context = format!("{seed}: act {number}, {:?}", act.0);
            assert!(steps > 0, "{context}: opening alone makes a step");
            perform(&files, &mut store, &act.0, &act.1).unwrap_or_else(|error| panic!("{context}: {}", told(&error)));
            let store = store.as_ref().expect("open");
            assert_eq!(shown(store), act.2.shows(), "{context}\n{:#?}", act.1);
            store.verify().unwrap_or_else(|error| panic!("{context}: {}", told(&error)));
            scan(&files, &act.2, &context);
        }
    }
    let Count { kills, units, purged } = count;
    println!("50 histories, {kills} kills: {units} units compared, none lost; {purged} purged texts, none back");
    assert!(kills > 4_000 && units > 10_000 && purged > 1_000);
}

/// Runs a history until it ends or is killed, and returns what may be there then.
fn run<'a>(files: &Faulty, acts: &'a [(Act, Model, Model)], none: &'a Model) -> Vec<&'a Model> {
    let Ok(store) = try_open(files) else { return vec![none] };
    let (mut store, mut possible) = (Some(store), vec![none]);
    for (act, old, new) in acts {
        match perform(files, &mut store, act, old) {
            Ok(()) if !files.is_dead() => possible = vec![new],
            Ok(()) => return vec![new],
            Err(StoreError::Leftover { .. }) if store.is_some() => return vec![new],
            Err(error) => {
                assert!(files.is_dead(), "{act:?}: {}", told(&error));
                return vec![old, new];
            }
        }
    }
    possible
}

#[test]
fn a_thousand_histories_end_somewhere() {
    let (mut count, none) = (Count::default(), Model::default());
    for seed in 1_000..2_000 {
        let mut random = Random(seed);
        let acts = history(&mut random, 18);
        let files = Faulty::new();
        run(&files, &acts, &none);
        let step = random.below(files.steps());
        let files = Faulty::new();
        files.die_at(step);
        let possible = run(&files, &acts, &none);
        assert!(files.is_dead());
        files.restart(&mut random);
        compare(&files, &possible, &mut count, &format!("step {step} of {seed}"));
    }
    let Count { kills, units, purged } = count;
    println!("1000 histories, {kills} kills: {units} units compared, none lost; {purged} purged texts, none back");
    assert_eq!(kills, 1_000);
}
