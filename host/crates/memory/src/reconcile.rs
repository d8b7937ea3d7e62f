//! Where a new unit stands among the units of its claim: the same again, beside them, after them, before them, or against them.
//!
//! Everything is decided by [`settle`], which looks at the whole set of units of one key and not at the order in which they came: by event time,
//! then mention time, then the place in the dialogue. [`reconcile`] is the difference that one more unit makes. Units of other keys are never
//! touched, nothing is decided by likeness, and nothing is thrown away: a superseded unit keeps its text and is linked both ways.
//!
//! It knows no store, no clock, and not whether a claim is true.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::id::UnitId;
use crate::names::fold;
use crate::unit::{Arity, Claim, ClaimKey, Status, Unit};

/// Predicates whose event is what they say, not how long they hold: the later word takes the earlier one's place.
const EVENT_IS_VALUE: &[&str] = &["scheduled", "birthday"];
/// Two dates of one thing that lie further apart are two occasions, in seconds: 30 days.
const OCCASIONS_APART_SECONDS: i64 = 30 * 86_400;

/// How a unit came to stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The unit says what this one says: the new evidence goes to it, and there is no new unit.
    Same {
        /// The unit that gets the evidence. Its mention time becomes the later of the two.
        unit: UnitId,
    },
    /// Nothing else is known of its key.
    Add,
    /// It takes the place of these.
    Supersede {
        /// In order.
        units: Vec<UnitId>,
    },
    /// It came late: what it says was over before. Kept, superseded.
    Older {
        /// The unit that took its place.
        by: UnitId,
    },
    /// It holds beside the others: another stretch of time, or another value of a set.
    Coexist,
    /// It contradicts these, and neither is known to be later.
    Contest {
        /// In order.
        with: Vec<UnitId>,
    },
    /// It says that these no longer hold.
    Retract {
        /// In order.
        units: Vec<UnitId>,
    },
}

/// How a unit stands after a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its status.
    pub status: Status,
    /// The unit that took its place.
    pub superseded_by: Option<UnitId>,
    /// Units whose place it took, in order.
    pub supersedes: Vec<UnitId>,
    /// Units that it contradicts, in order.
    pub conflicts: Vec<UnitId>,
}

/// What one more unit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    /// How the new unit stands to the others.
    pub decision: Decision,
    /// The new unit's standing; none for [`Decision::Same`].
    pub standing: Option<Standing>,
    /// Known units whose standing changed, by id.
    pub changes: BTreeMap<UnitId, Standing>,
}

/// Whether two values are the same when written in one way: case, width, spaces and a leading article do not count.
#[must_use]
pub fn same_value(left: &str, right: &str) -> bool {
    value_key(left) == value_key(right)
}

fn value_key(value: &str) -> String {
    let folded = fold(value);
    let bare = folded.trim_matches(|ch: char| !ch.is_alphanumeric());
    let bare = ["the ", "a ", "an ", "my "].into_iter().find_map(|article| bare.strip_prefix(article)).unwrap_or(bare);
    if bare.is_empty() { folded.clone() } else { bare.to_owned() }
}

/// Places a new unit among the units of its claim. `known` may hold others: units of other keys and units that are no longer in play (candidates,
/// completed, expired, redacted) are passed over.
#[must_use]
pub fn reconcile(new: &Unit, known: &[&Unit]) -> Reconciled {
    let Some(claim) = &new.claim else {
        return Reconciled { decision: Decision::Add, standing: Some(Standing::alone()), changes: BTreeMap::new() };
    };
    let mut units: Vec<&Unit> =
        known.iter().copied().filter(|unit| unit.id != new.id && in_play(unit, &claim.key)).collect();
    if let Some((unit, merged)) =
        same(new, claim, &units).and_then(|id| Some((id, absorb(units.iter().find(|unit| unit.id == id)?, new))))
    {
        // Its mention may be later now, and with it what it took the place of.
        let mut settled =
            settle(&units.iter().map(|one| if one.id == unit { &merged } else { *one }).collect::<Vec<_>>());
        keep_changed(&mut settled, &units);
        return Reconciled { decision: Decision::Same { unit }, standing: None, changes: settled };
    }
    units.push(new);
    let mut settled = settle(&units);
    let standing = settled.remove(&new.id).unwrap_or_else(Standing::alone);
    let decision = decision(claim, &standing, units.len());
    keep_changed(&mut settled, &units);
    Reconciled { decision, standing: Some(standing), changes: settled }
}

fn keep_changed(settled: &mut BTreeMap<UnitId, Standing>, units: &[&Unit]) {
    let before: BTreeMap<UnitId, &Unit> = units.iter().map(|unit| (unit.id, *unit)).collect();
    settled.retain(|id, standing| before.get(id).is_some_and(|unit| !standing.is_that_of(unit)));
}

/// The unit of a [`Decision::Same`] with the new one's evidence: both quotes, the later mention with its place, and the surer of the two.
#[must_use]
pub fn absorb(unit: &Unit, new: &Unit) -> Unit {
    let mut merged = unit.clone();
    for evidence in &new.evidence {
        if !merged.evidence.contains(evidence) {
            merged.evidence.push(evidence.clone());
        }
    }
    let later = Said::of(unit).zip(Said::of(new)).is_some_and(|(old, new)| old.order(&new).is_lt());
    if later {
        merged.mentioned = new.mentioned.clone();
        merged.place = new.place.clone();
    }
    if new.confidence.thousandths > merged.confidence.thousandths {
        merged.confidence = new.confidence.clone();
    }
    for source in &new.derived_from {
        if !merged.derived_from.contains(source) {
            merged.derived_from.push(*source);
        }
    }
    merged
}

fn in_play(unit: &Unit, key: &ClaimKey) -> bool {
    matches!(unit.status, Status::Verified | Status::Contested | Status::Superseded)
        && unit.claim.as_ref().is_some_and(|claim| claim.key == *key)
}

fn decision(claim: &Claim, standing: &Standing, units: usize) -> Decision {
    match (standing.superseded_by, standing.status) {
        (Some(by), _) => Decision::Older { by },
        (None, Status::Contested) => Decision::Contest { with: standing.conflicts.clone() },
        _ if !standing.supersedes.is_empty() && claim.negated => {
            Decision::Retract { units: standing.supersedes.clone() }
        }
        _ if !standing.supersedes.is_empty() => Decision::Supersede { units: standing.supersedes.clone() },
        _ if units == 1 => Decision::Add,
        _ => Decision::Coexist,
    }
}

impl Standing {
    fn alone() -> Self {
        Self { status: Status::Verified, superseded_by: None, supersedes: Vec::new(), conflicts: Vec::new() }
    }

    fn is_that_of(&self, unit: &Unit) -> bool {
        let sorted = |ids: &[UnitId]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        self.status == unit.status
            && self.superseded_by == unit.superseded_by
            && sorted(&self.supersedes) == sorted(&unit.supersedes)
            && sorted(&self.conflicts) == sorted(&unit.conflicts)
    }
}

/// A unit's claim, and when.
#[derive(Debug, Clone, Copy)]
struct Said<'a> {
    unit: &'a Unit,
    claim: &'a Claim,
}

impl<'a> Said<'a> {
    fn of(unit: &'a Unit) -> Option<Self> {
        Some(Self { unit, claim: unit.claim.as_ref()? })
    }

    /// Whether the event is what is said rather than how long it holds.
    fn event_is_value(&self) -> bool {
        EVENT_IS_VALUE.contains(&self.claim.key.predicate.as_str())
    }

    /// From when on it holds, so far as is known: the event, or else the mention.
    fn from(&self) -> i64 {
        match &self.unit.event {
            Some(event) if !self.event_is_value() => event.start.seconds(),
            _ => self.unit.mentioned.seconds(),
        }
    }

    /// Whether it holds for a stretch that has an end.
    fn is_bounded(&self) -> bool {
        !self.event_is_value() && self.unit.event.as_ref().is_some_and(|event| event.end.is_some())
    }

    fn key(&self) -> String {
        match &self.unit.event {
            Some(event) if self.event_is_value() => format!("@{}", event.start.seconds()),
            _ => value_key(&self.claim.value),
        }
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.claim.negated == other.claim.negated && self.key() == other.key()
    }

    /// Whether both cannot hold at one time.
    fn contradicts(&self, other: &Self) -> bool {
        if self.key() == other.key() {
            return self.claim.negated != other.claim.negated;
        }
        self.claim.arity == Arity::Single
            && !self.claim.negated
            && !other.claim.negated
            && !self.is_other_occasion(other)
    }

    /// Whether this takes the place of what was said before it. A value does, of every other value and of what was denied; a denial only of the
    /// value that it denies.
    fn displaces(&self, earlier: &Self) -> bool {
        let over_denial = self.claim.arity == Arity::Single && !self.claim.negated && earlier.claim.negated;
        self.contradicts(earlier) || over_denial
    }

    /// Earlier or later: by event, by mention, and in one dialogue's session by position.
    fn order(&self, other: &Self) -> Ordering {
        let mention = |said: &Self| said.unit.mentioned.seconds();
        let by_time = self.from().cmp(&other.from()).then(mention(self).cmp(&mention(other)));
        by_time.then_with(|| match (&self.unit.place, &other.unit.place) {
            (Some(one), Some(two)) if (&one.dialogue, &one.session) == (&two.dialogue, &two.session) => {
                one.position.cmp(&two.position)
            }
            _ => Ordering::Equal,
        })
    }

    /// Whether the two are dates of two occasions.
    fn is_other_occasion(&self, other: &Self) -> bool {
        let start = |said: &Self| said.unit.event.as_ref().map(|event| event.start.seconds());
        self.event_is_value()
            && start(self)
                .zip(start(other))
                .is_some_and(|(left, right)| left.abs_diff(right) > OCCASIONS_APART_SECONDS.unsigned_abs())
    }
}

/// The unit that says what the new one says: next to it in order, with nothing that excludes it between.
fn same(new: &Unit, claim: &Claim, units: &[&Unit]) -> Option<UnitId> {
    let new = Said { unit: new, claim };
    let others: Vec<Said<'_>> = units.iter().filter_map(|unit| Said::of(unit)).collect();
    let between = |one: &Said<'_>| {
        let (low, high) = if new.order(one).is_lt() { (&new, one) } else { (one, &new) };
        others.iter().any(|other| {
            other.unit.id != one.unit.id
                && !other.says_the_same(&new)
                && (other.displaces(&new) || new.displaces(other))
                && !other.is_bounded()
                && other.order(low).is_ge()
                && other.order(high).is_le()
        })
    };
    let same_time = |one: &Said<'_>| match (&new.unit.event, &one.unit.event) {
        (None, None) => new.order(one).is_eq() || !between(one),
        (Some(left), Some(right)) => {
            let same = left.start.seconds() == right.start.seconds() && left.end == right.end;
            same && (new.is_bounded() || new.order(one).is_eq() || !between(one))
        }
        _ => false,
    };
    others.iter().filter(|one| one.says_the_same(&new) && same_time(one)).map(|one| one.unit.id).min()
}

/// How units of one claim key stand to each other, whatever order they came in. Units without a claim and units of another key than the first
/// one's are left out.
#[must_use]
pub fn settle(units: &[&Unit]) -> BTreeMap<UnitId, Standing> {
    let mut said: Vec<Said<'_>> = units.iter().filter_map(|unit| Said::of(unit)).collect();
    let key = said.first().map(|one| one.claim.key.clone());
    said.retain(|one| Some(&one.claim.key) == key.as_ref());
    // Ids only make the result the same for every order of arrival; they decide nothing.
    said.sort_by(|left, right| left.order(right).then(left.unit.id.cmp(&right.unit.id)));
    let mut standings: BTreeMap<UnitId, Standing> = said.iter().map(|one| (one.unit.id, Standing::alone())).collect();
    for (place, one) in said.iter().enumerate() {
        let later = said.get(place + 1..).unwrap_or_default();
        settle_one(one, later, &mut standings);
    }
    let open: Vec<UnitId> =
        standings.iter().filter(|(_, standing)| standing.superseded_by.is_none()).map(|(id, _)| *id).collect();
    for standing in standings.values_mut() {
        let contested = standing.conflicts.iter().any(|id| open.binary_search(id).is_ok());
        standing.status = match standing.superseded_by {
            Some(_) => Status::Superseded,
            None if contested => Status::Contested,
            None => Status::Verified,
        };
    }
    let links: Vec<(UnitId, UnitId)> =
        standings.iter().filter_map(|(id, standing)| Some((standing.superseded_by?, *id))).collect();
    for (by, of) in links {
        if let Some(standing) = standings.get_mut(&by) {
            standing.supersedes.push(of);
        }
    }
    standings
}

/// What those after it do to one unit.
fn settle_one(one: &Said<'_>, later: &[Said<'_>], standings: &mut BTreeMap<UnitId, Standing>) {
    for other in later {
        match (one.is_bounded(), other.is_bounded()) {
            // Two stretches: one of them is wrong where they meet, and nobody said which.
            (true, true) => {
                let meet = one
                    .unit
                    .event
                    .as_ref()
                    .zip(other.unit.event.as_ref())
                    .is_some_and(|(left, right)| left.meets(right));
                if meet && one.contradicts(other) {
                    contest(one, other, standings);
                }
            }
            // A stretch with an end is history, or an exception, beside what goes on.
            (true, false) | (false, true) => {}
            (false, false) if one.order(other).is_eq() => {
                if one.contradicts(other) {
                    contest(one, other, standings);
                }
            }
            (false, false) if other.displaces(one) => {
                if let Some(standing) = standings.get_mut(&one.unit.id) {
                    standing.superseded_by.get_or_insert(other.unit.id);
                }
            }
            (false, false) => {}
        }
    }
}

fn contest(one: &Said<'_>, other: &Said<'_>, standings: &mut BTreeMap<UnitId, Standing>) {
    for (of, with) in [(one, other), (other, one)] {
        if let Some(standing) = standings.get_mut(&of.unit.id) {
            standing.conflicts.push(with.unit.id);
            standing.conflicts.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests;
