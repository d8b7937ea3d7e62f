//! Texts and moments.

use serde_json::Value;

use super::moment::{Format, Moment, anchors, of_written};
use super::{Candidate, Pick};
use crate::pointer::scene::{Origin, Scene};
use crate::pointer::spec::Slot;
use crate::pointer::units::{Meaning, bits};

/// Dates put together with times of day, for one slot.
pub(in crate::pointer) const PAIRS_MAX: usize = 48;

/// The texts that a slot without a form could take.
pub(super) fn collect(scene: &Scene, slot: &Slot, values: &mut Vec<Candidate>) {
    for (place, source) in scene.sources.iter().enumerate() {
        for found in &source.reading().found {
            let text = match &found.meaning {
                Meaning::Text(text) => text.clone(),
                Meaning::Number(number) => number.to_string(),
                Meaning::Moment(_) | Meaning::Length(..) => continue,
            };
            values.extend(Candidate::of(scene, place, &found.bytes, found.bit, Pick::Value(Value::String(text))));
        }
        if source.origin != Origin::Request {
            whole(scene, place, values);
        }
        if place == 0 {
            described(scene, slot, values);
        }
    }
    leaves(scene, values);
}

/// The whole of a text, as a value.
pub(super) fn whole(scene: &Scene, place: usize, values: &mut Vec<Candidate>) {
    let Some(source) = scene.sources.get(place) else { return };
    let text = source.reading().text.trim();
    let start = source.reading().text.find(text).unwrap_or(0);
    let pick = Pick::Value(Value::String(text.to_owned()));
    values.extend(Candidate::of(scene, place, &(start..start + text.len()), bits::WHOLE, pick));
}

/// Values that the description names.
fn described(scene: &Scene, slot: &Slot, values: &mut Vec<Candidate>) {
    for text in &slot.described {
        let words = crate::pointer::glossary::spoken(text);
        values.push(Candidate::plain(scene, Pick::Value(Value::String(text.clone())), words, Origin::Schema));
    }
}

/// Single values of results, as text.
pub(super) fn leaves(scene: &Scene, values: &mut Vec<Candidate>) {
    for leaf in &scene.leaves {
        let (text, bit) = match &leaf.value {
            Value::String(text) => (text.clone(), 0),
            Value::Number(number) => (number.to_string(), bits::NUMBER),
            _ => continue,
        };
        values.push(leaf.candidate(Pick::Value(Value::String(text)), bit));
    }
}

/// The moments in a form: as they were said or told, and dates put together with times of day.
pub(super) fn moments(scene: &Scene, format: Format, values: &mut Vec<Candidate>) {
    let mut known: Vec<(Moment, Candidate)> = Vec::new();
    for (place, source) in scene.sources.iter().enumerate() {
        for found in &source.reading().found {
            if let Meaning::Moment(moment) = found.meaning {
                let pick = Pick::Moment(moment, format);
                known.extend(
                    Candidate::of(scene, place, &found.bytes, found.bit, pick).map(|candidate| (moment, candidate)),
                );
            }
        }
    }
    for leaf in &scene.leaves {
        let Some((text, moment)) = leaf.value.as_str().and_then(|text| Some((text, of_written(text)?))) else {
            continue;
        };
        let mut candidate = Candidate::plain(scene, Pick::Moment(moment, format), text, Origin::Result);
        candidate.bits = if moment.time.is_some() { bits::CLOCK } else { bits::DATE };
        candidate.label.clone_from(&leaf.label);
        candidate.record.clone_from(&leaf.record);
        (candidate.late, candidate.early) = (leaf.late, leaf.early);
        known.push((moment, candidate));
    }
    let fits = |moment: &Moment| match format {
        Format::Time => moment.time.is_some(),
        Format::Date => moment.said,
        Format::DateTime => moment.said && moment.time.is_some(),
    };
    values.extend(known.iter().filter(|(moment, _)| fits(moment)).map(|(_, candidate)| candidate.clone()));
    match format {
        Format::DateTime => pairs(&known, values),
        Format::Date => values.extend(days(scene)),
        Format::Time => {}
    }
}

/// Whether [`moments`] would find one that can be written.
pub(super) fn any_moment(scene: &Scene, format: Format) -> bool {
    let found = scene.sources.iter().flat_map(|source| &source.reading().found);
    let said = found.filter_map(|found| match found.meaning {
        Meaning::Moment(moment) => Some(moment),
        _ => None,
    });
    let told = scene.leaves.iter().filter_map(|leaf| leaf.value.as_str().and_then(of_written));
    let mut moments = said.chain(told);
    match format {
        Format::Time => moments.any(|moment| moment.time.is_some()),
        // Today is always one.
        Format::Date => scene.now.is_some() || moments.any(|moment| moment.said && moment.date.is_some()),
        Format::DateTime => {
            let (mut day, mut time) = (false, false);
            moments.any(|moment| {
                day |= moment.said && moment.date.is_some();
                time |= moment.time.is_some();
                (day && time) || (moment.date.is_some() && moment.time.is_some())
            })
        }
    }
}

/// Each date at each time of day, then times of day at their nearest dates.
fn pairs(known: &[(Moment, Candidate)], values: &mut Vec<Candidate>) {
    let dates = known.iter().filter(|(moment, _)| moment.said && moment.date.is_some());
    let pairs = dates.flat_map(|(date, dated)| {
        let times = known.iter().filter(|(moment, _)| moment.time.is_some());
        times.filter_map(move |(time, timed)| {
            let mut candidate = timed.clone();
            candidate.pick = Pick::Moment(date.at(*time)?, Format::DateTime);
            candidate.words = format!("{} {}", dated.words, timed.words).into();
            candidate.bits |= dated.bits;
            candidate.late = candidate.late.max(dated.late);
            Some(candidate)
        })
    });
    values.extend(pairs.take(PAIRS_MAX));
    let nearest = known.iter().filter(|(moment, _)| moment.time.is_some() && !moment.said);
    values.extend(nearest.map(|(_, candidate)| candidate.clone()));
}

/// The days that people mean without a date.
fn days(scene: &Scene) -> Vec<Candidate> {
    let days = scene.now.map(anchors).unwrap_or_default();
    days.into_iter()
        .map(|day| {
            let pick = Pick::Moment(Moment::day(day), Format::Date);
            Candidate { bits: bits::NOW | bits::DATE, ..Candidate::plain(scene, pick, day.to_string(), Origin::Schema) }
        })
        .collect()
}
