//! Whether two worlds mean the same: equal up to a renaming of the ids that the host issued, without bookkeeping.
//!
//! Two runs that create the same two notes in another order hold the same notes under swapped ids. The comparison finds a one-to-one
//! renaming of one world's issued ids to the other's under which every document is equal, or says what differs. It is graph isomorphism
//! of a friendly kind: ids are coloured by the content around them, the colours are refined until they settle, and only
//! where ids still look alike does a bounded search try them one by one.

mod colour;
mod report;
mod search;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use crate::{Bookkeeping, EpisodeState, GoOn, Ids, World};
pub use report::Difference;

/// One of the two worlds, with the ids that were issued in it.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The documents.
    pub world: &'a World,
    /// Which ids are the host's and may be renamed.
    pub ids: &'a Ids,
}

impl EpisodeState {
    /// This state as one side of a comparison.
    #[must_use]
    pub fn side(&self) -> Side<'_> {
        Side { world: &self.world, ids: &self.ids }
    }
}

/// What a comparison looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamenessRule {
    /// Whether bookkeeping fields count.
    pub bookkeeping: Bookkeeping,
    /// Collections that do not count at all.
    pub except: BTreeSet<String>,
}

impl Default for SamenessRule {
    /// The contract's rule: no bookkeeping, every collection.
    fn default() -> Self {
        Self { bookkeeping: Bookkeeping::Ignore, except: BTreeSet::new() }
    }
}

/// The answer of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sameness {
    /// Every document is equal after this renaming of the left world's ids. Ids that occur in no compared document are not in it.
    Same {
        /// From each of the left world's ids to the right world's.
        renaming: BTreeMap<String, String>,
    },
    /// No renaming makes them equal.
    Different {
        /// The first differences, at most [`crate::limits::DIFFERENCES_LIMIT`], ordered by collection and key.
        first: Vec<Difference>,
        /// How many there are in all; at least 1.
        total: usize,
    },
    /// The search ended at [`crate::limits::RENAMING_BRANCHES_LIMIT`] or [`crate::limits::COMPARISON_VISITS_LIMIT`]. That takes hundreds of new
    /// documents that refer to each other and differ in nothing else. Whoever needs an answer takes it for a no.
    Undecided {
        /// How many ids the search could not tell apart.
        ambiguous: usize,
    },
}

impl Sameness {
    /// Whether the worlds are the same.
    #[must_use]
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same { .. })
    }

    /// Why they are not the same, in lines for people; empty when they are.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Same { .. } => Vec::new(),
            Self::Different { first, .. } => first.iter().map(ToString::to_string).collect(),
            Self::Undecided { ambiguous } => vec![format!(
                "undecided: {ambiguous} new documents look alike and refer to each other in too many ways"
            )],
        }
    }
}

/// Compares two worlds. Costs what was changed in either where both descend from one sealed base, else a pass over both.
#[must_use]
pub fn same_up_to(left: Side<'_>, right: Side<'_>, rule: &SamenessRule) -> Sameness {
    same_up_to_while(left, right, rule, &|| true).unwrap_or(Sameness::Undecided { ambiguous: 0 })
}

/// The same, given up as soon as `go_on` says no: `None`. It is asked before each document that is read, and in each round of the search.
#[must_use]
pub fn same_up_to_while(left: Side<'_>, right: Side<'_>, rule: &SamenessRule, go_on: GoOn<'_>) -> Option<Sameness> {
    let rows = shape::gather(left, right, rule, go_on)?;
    // Most runs that do the same do it in the same order, and issue the same ids.
    if rows.iter().all(|row| row.left == row.right) {
        let mut renaming = BTreeMap::new();
        rows.iter().for_each(|row| row.for_each_id(left.ids, |id| drop(renaming.insert(id.to_owned(), id.to_owned()))));
        return Some(Sameness::Same { renaming });
    }
    let (left, right) = shape::shapes(rows, left.ids, right.ids, go_on)?;
    Some(match search::find_renaming(&left, &right, go_on) {
        search::Outcome::Found(renaming) => Sameness::Same { renaming },
        search::Outcome::Impossible(colours) => report::different(&left, &right, &colours, go_on)?,
        search::Outcome::Undecided { ambiguous } => Sameness::Undecided { ambiguous },
        search::Outcome::GivenUp => return None,
    })
}
