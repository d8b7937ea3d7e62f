//! Which made call stands for which wanted one.

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

/// A call that did what was asked.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) step: u32,
    pub(crate) turn: u32,
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// Tries before an assignment is given up; far more than any check with distinct calls needs.
const TRIES_MAX: u32 = 20_000;

/// Gives each wanted call a made one, each made one at most once, so that every wanted call comes after its predecessors. When not all can be
/// served, as many as possible of the first ones are.
pub(crate) fn assign<W>(
    wanted: &[W],
    made: &[Made],
    before: &[Vec<usize>],
    fits: &dyn Fn(&W, &Made) -> bool,
) -> Vec<Option<usize>> {
    let options: Vec<Vec<usize>> = wanted
        .iter()
        .map(|wanted| {
            made.iter().enumerate().filter(|(_, made)| fits(wanted, made)).map(|(position, _)| position).collect()
        })
        .collect();
    let mut search = Search {
        options: &options,
        made,
        before,
        chosen: vec![None; wanted.len()],
        best: vec![None; wanted.len()],
        tries: 0,
    };
    search.choose(0);
    search.best
}

struct Search<'a> {
    options: &'a [Vec<usize>],
    made: &'a [Made],
    before: &'a [Vec<usize>],
    chosen: Vec<Option<usize>>,
    best: Vec<Option<usize>>,
    tries: u32,
}

impl Search<'_> {
    /// Chooses from `position` on; true when all are served.
    fn choose(&mut self, position: usize) -> bool {
        self.tries = self.tries.saturating_add(1);
        let served = |chosen: &[Option<usize>]| chosen.iter().flatten().count();
        if served(&self.chosen) > served(&self.best) {
            self.best.clone_from(&self.chosen);
        }
        let Some(options) = self.options.get(position) else {
            return served(&self.chosen) == self.options.len();
        };
        for &option in options {
            if self.tries > TRIES_MAX {
                return false;
            }
            if self.chosen.contains(&Some(option)) || !self.follows(position, option) {
                continue;
            }
            self.set(position, Some(option));
            if self.choose(position + 1) {
                return true;
            }
            self.set(position, None);
        }
        // Going on without this one shows how far the rest comes; it can no longer be a pass.
        self.tries <= TRIES_MAX && self.choose(position + 1)
    }

    fn set(&mut self, position: usize, choice: Option<usize>) {
        if let Some(slot) = self.chosen.get_mut(position) {
            *slot = choice;
        }
    }

    /// Whether a made call comes after all that must come before. Calls of one turn were decided together, so their order inside the turn
    /// is the order in which they ran.
    fn follows(&self, position: usize, option: usize) -> bool {
        let place = |option: usize| self.made.get(option).map(|made| (made.turn, made.step));
        self.before.get(position).is_none_or(|before| {
            before.iter().all(|earlier| {
                self.chosen.get(*earlier).copied().flatten().is_some_and(|earlier| place(earlier) < place(option))
            })
        })
    }
}

/// Whether arguments are the same: numbers by value, text in NFC, ignored names left out.
pub(crate) fn same_arguments(wanted: &Map<String, Value>, made: &Map<String, Value>, ignored: &[String]) -> bool {
    let counted = |map: &Map<String, Value>| map.keys().filter(|key| !ignored.contains(key)).count();
    counted(wanted) == counted(made)
        && wanted
            .iter()
            .filter(|(key, _)| !ignored.contains(key))
            .all(|(key, value)| made.get(key).is_some_and(|found| same(value, found)))
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b || a.nfc().eq(b.nfc()),
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
