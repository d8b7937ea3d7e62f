//! Which units a request may see.

use loopwright_contract::memory::Layer;

use super::query::Query;
use crate::corpus::Corpus;
use crate::index::{Searcher, layer_number, status_number};
use crate::unit::{Status, Unit};

/// For each row of the snapshot, whether the request may see it.
pub(crate) fn rows(searcher: &Searcher, corpus: &dyn Corpus, query: &Query) -> Vec<bool> {
    let layers: Vec<u64> = query.layers.iter().copied().map(layer_number).collect();
    let current: Vec<u64> = [Status::Verified, Status::Contested].into_iter().map(status_number).collect();
    searcher
        .rows()
        .iter()
        .map(|row| {
            if !layers.is_empty() && !layers.contains(&u64::from(row.layer)) {
                return false;
            }
            match &query.as_of {
                Some(at) if row.mentioned > at.seconds() => false,
                _ if query.history => true,
                _ if current.contains(&u64::from(row.status)) => {
                    query.as_of.is_none() || is_seen(corpus, query, row.ordinal)
                }
                Some(_) => is_seen(corpus, query, row.ordinal),
                None => false,
            }
        })
        .collect()
}

fn is_seen(corpus: &dyn Corpus, query: &Query, ordinal: u64) -> bool {
    corpus.unit(ordinal).is_some_and(|unit| unit_is_seen(unit, corpus, query))
}

/// Whether a request may see a unit, whatever the index says.
pub(crate) fn unit_is_seen(unit: &Unit, corpus: &dyn Corpus, query: &Query) -> bool {
    if matches!(unit.status, Status::Candidate | Status::Redacted) {
        return false;
    }
    if !query.layers.is_empty() && !query.layers.contains(&unit.layer) {
        return false;
    }
    let Some(at) = query.as_of.as_ref().map(crate::moment::Moment::seconds) else {
        return query.history || unit.status.is_current();
    };
    if unit.mentioned.seconds() > at {
        return false;
    }
    query.history || was_current(unit, corpus, at)
}

/// Whether a unit that had been said by then was current then.
fn was_current(unit: &Unit, corpus: &dyn Corpus, at: i64) -> bool {
    let over = |moment: Option<i64>| moment.is_some_and(|moment| moment <= at);
    match unit.status {
        Status::Verified | Status::Contested => true,
        Status::Superseded => {
            let later = unit.superseded_by.and_then(|id| corpus.ordinal(&id)).and_then(|ordinal| corpus.unit(ordinal));
            // What took its place may have been purged: then it is not known to have been current.
            later.is_some_and(|later| later.mentioned.seconds() > at)
        }
        Status::Expired => !over(valid_until(unit)) && valid_until(unit).is_some(),
        Status::Completed => {
            let completed = unit.activation.as_ref().and_then(|activation| activation.completed.as_ref());
            completed.is_some_and(|moment| moment.seconds() > at)
        }
        Status::Candidate | Status::Redacted => false,
    }
}

/// When the use of a unit ends.
fn valid_until(unit: &Unit) -> Option<i64> {
    let until = unit.activation.as_ref().and_then(|activation| activation.valid_until.as_ref());
    until.map(crate::moment::Moment::seconds).or_else(|| unit.event.as_ref().and_then(|event| event.end))
}

/// Whether a unit is served whatever is asked: profile and standing instructions, and what is due, until it is done or over.
pub(crate) fn is_served(unit: &Unit, query: &Query) -> bool {
    let now = query.as_of.as_ref().unwrap_or(&query.now).seconds();
    match unit.layer {
        Layer::Profile => true,
        Layer::Prospective => unit.activation.as_ref().is_some_and(|activation| {
            let by =
                |moment: &Option<crate::moment::Moment>| moment.as_ref().is_some_and(|moment| moment.seconds() <= now);
            let due = activation.due.as_ref().is_some_and(|due| due.start.seconds() <= now);
            // That it fired says that it was shown, not that it is done; what waited for something to happen is due since then.
            (due || by(&activation.fired)) && !by(&activation.valid_until) && !by(&activation.completed)
        }),
        Layer::Episodic | Layer::LongTerm => false,
    }
}
