//! The search for a renaming: refine, pair what needs no choice, then try choices within a bound.

use std::collections::{BTreeMap, BTreeSet};

use crate::GoOn;
use crate::limits::{COMPARISON_VISITS_LIMIT, RENAMING_BRANCHES_LIMIT};

use super::{
    colour::{Colour, Colours, Unrefined, blank, classes, mix, refine, shares_documents},
    shape::{Name, Node, Shape, Variable},
};

pub(super) enum Outcome {
    /// From the left side's ids to the right side's.
    Found(BTreeMap<String, String>),
    /// There is none; the colours of the first dead end show why.
    Impossible(Colours),
    Undecided {
        ambiguous: usize,
    },
    GivenUp,
}

struct Search<'a> {
    left: &'a Shape,
    right: &'a Shape,
    branches: usize,
    /// How many documents may still be visited.
    visits: usize,
    /// How many ids were ambiguous when the search began; all of them before that.
    ambiguous: Option<usize>,
    /// The colours of the first dead end.
    dead_end: Option<Colours>,
    go_on: GoOn<'a>,
}

/// Why a branch has no answer.
enum Stop {
    DeadEnd,
    BoundReached,
    GivenUp,
}

pub(super) fn find_renaming<'a>(left: &'a Shape, right: &'a Shape, go_on: GoOn<'a>) -> Outcome {
    let mut search =
        Search { left, right, branches: 0, visits: COMPARISON_VISITS_LIMIT, ambiguous: None, dead_end: None, go_on };
    let start = blank(left, right);
    match search.solve(start.clone()) {
        Ok(renaming) => Outcome::Found(renaming),
        Err(Stop::DeadEnd) => Outcome::Impossible(search.dead_end.unwrap_or(start)),
        Err(Stop::BoundReached) => Outcome::Undecided { ambiguous: search.ambiguous.unwrap_or(left.ids.len()) },
        Err(Stop::GivenUp) => Outcome::GivenUp,
    }
}

impl Search<'_> {
    fn solve(&mut self, colours: Colours) -> Result<BTreeMap<String, String>, Stop> {
        let colours = match refine((self.left, self.right), colours, &mut self.visits, self.go_on) {
            Ok(colours) => self.pair_free(colours),
            Err(Unrefined::Unbalanced(colours)) => return self.dead_end(colours),
            Err(Unrefined::OutOfVisits) => return Err(Stop::BoundReached),
            Err(Unrefined::GivenUp) => return Err(Stop::GivenUp),
        };
        let (left, right) = (classes(&colours.left), classes(&colours.right));
        // The smallest class leaves the fewest choices; among equals the one whose first id came first.
        let smallest = left
            .iter()
            .filter(|(_, class)| class.len() > 1)
            .min_by_key(|(_, class)| (class.len(), class.first().copied()));
        let Some((colour, class)) = smallest else {
            return match self.verified(&left, &right) {
                Some(renaming) => Ok(renaming),
                None => self.dead_end(colours),
            };
        };
        self.ambiguous.get_or_insert_with(|| left.values().filter(|class| class.len() > 1).map(Vec::len).sum());
        let chosen = class.first().copied().unwrap_or_default();
        for candidate in right.get(colour).into_iter().flatten() {
            self.branches += 1;
            if self.branches > RENAMING_BRANCHES_LIMIT {
                return Err(Stop::BoundReached);
            }
            match self.solve(distinguished(&colours, chosen, *candidate)) {
                Err(Stop::DeadEnd) => {}
                answer => return answer,
            }
        }
        Err(Stop::DeadEnd)
    }

    fn dead_end<T>(&mut self, colours: Colours) -> Result<T, Stop> {
        self.dead_end.get_or_insert(colours);
        Err(Stop::DeadEnd)
    }

    /// Pairs off classes whose ids never share a document with another ambiguous id: their members are alike in every respect, so
    /// that any pairing of them is as good as any other.
    fn pair_free(&self, mut colours: Colours) -> Colours {
        let left = classes(&colours.left);
        let right = classes(&colours.right);
        let several: BTreeSet<Colour> =
            left.iter().filter(|(_, class)| class.len() > 1).map(|(colour, _)| *colour).collect();
        if several.is_empty() {
            return colours;
        }
        let ambiguous = |colour| several.contains(&colour);
        let shares = [
            shares_documents(self.left, &colours.left, &ambiguous),
            shares_documents(self.right, &colours.right, &ambiguous),
        ];
        let bound = |shares: &[bool], class: &[Variable]| {
            class.iter().any(|variable| shares.get(*variable).copied().unwrap_or(true))
        };
        let [left_shares, right_shares] = &shares;
        for colour in several {
            let (Some(ours), Some(theirs)) = (left.get(&colour), right.get(&colour)) else { continue };
            if bound(left_shares, ours) || bound(right_shares, theirs) {
                continue;
            }
            for (rank, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                set(&mut colours.left, *ours, mix(16, (colour, rank)));
                set(&mut colours.right, *theirs, mix(16, (colour, rank)));
            }
        }
        colours
    }

    /// The renaming that single-member classes give, if every document of the left side under it is a document of the right side.
    fn verified(
        &self,
        left: &BTreeMap<Colour, Vec<Variable>>,
        right: &BTreeMap<Colour, Vec<Variable>>,
    ) -> Option<BTreeMap<String, String>> {
        let mut renaming: Vec<Variable> = vec![Variable::MAX; self.left.ids.len()];
        for (colour, ours) in left {
            *renaming.get_mut(*ours.first()?)? = *right.get(colour)?.first()?;
        }
        let places: BTreeMap<(&str, &Name), &Node> =
            self.right.items.iter().map(|item| ((item.collection.as_str(), &item.key), &item.node)).collect();
        let equal = self.left.items.iter().all(|item| {
            let key = match &item.key {
                Name::Id(variable) => Name::Id(renaming.get(*variable).copied().unwrap_or(Variable::MAX)),
                fixed @ Name::Fixed(_) => fixed.clone(),
            };
            places.get(&(item.collection.as_str(), &key)).is_some_and(|node| item.node.becomes(node, &renaming))
        });
        let texts = renaming.iter().enumerate().map(|(ours, theirs)| (self.left.text(ours), self.right.text(*theirs)));
        (equal && self.left.items.len() == self.right.items.len()).then(|| texts.collect())
    }
}

fn set(colours: &mut [Colour], variable: Variable, colour: Colour) {
    if let Some(found) = colours.get_mut(variable) {
        *found = colour;
    }
}

/// The colours with one id of each side told apart from all others of its class.
fn distinguished(colours: &Colours, ours: Variable, theirs: Variable) -> Colours {
    let mut colours = colours.clone();
    let old = colours.left.get(ours).copied().unwrap_or_default();
    set(&mut colours.left, ours, mix(17, old));
    set(&mut colours.right, theirs, mix(17, old));
    colours
}
