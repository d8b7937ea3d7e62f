//! Numbers, and lengths of time as numbers.

use serde_json::{Number, Value};

use super::{Candidate, Pick};
use crate::pointer::scene::{Origin, Scene};
use crate::pointer::spec::{Count, Slot};
use crate::pointer::units::{Found, Meaning, bits};

/// Numbers that the description names.
fn described(slot: &Slot) -> impl Iterator<Item = Number> + '_ {
    slot.described.iter().filter_map(|text| text.parse::<i64>().ok()).map(Number::from)
}

/// Whether [`collect`] would find one.
pub(super) fn any(scene: &Scene, slot: &Slot, bounds: Bounds) -> bool {
    let said = |found: &Found| match &found.meaning {
        Meaning::Number(number) => within(number, bounds),
        Meaning::Length(months, days, seconds) => {
            counted(slot, (*months, *days, *seconds)).iter().any(|(number, _)| within(number, bounds))
        }
        Meaning::Text(_) | Meaning::Moment(_) => false,
    };
    let told = |value: &Value| matches!(value, Value::Number(number) if within(number, bounds));
    scene.sources.iter().flat_map(|source| &source.reading().found).any(said)
        || scene.leaves.iter().any(|leaf| told(&leaf.value))
        || described(slot).any(|number| within(&number, bounds))
}

/// Whether a number is whole, the least and the most.
type Bounds = (bool, Option<f64>, Option<f64>);

/// The numbers within bounds that a slot could take.
pub(super) fn collect(scene: &Scene, slot: &Slot, bounds: Bounds, values: &mut Vec<Candidate>) {
    for (place, source) in scene.sources.iter().enumerate() {
        for found in &source.reading().found {
            let numbers = match &found.meaning {
                Meaning::Number(number) => vec![(number.clone(), 0.0)],
                Meaning::Length(months, days, seconds) => counted(slot, (*months, *days, *seconds)),
                _ => continue,
            };
            for (number, own) in numbers.into_iter().filter(|(number, _)| within(number, bounds)) {
                let pick = Pick::Value(Value::Number(number));
                let candidate = Candidate::of(scene, place, &found.bytes, found.bit, pick);
                values.extend(candidate.map(|candidate| Candidate { own, ..candidate }));
            }
        }
    }
    for leaf in &scene.leaves {
        if let Value::Number(number) = &leaf.value
            && within(number, bounds)
        {
            values.push(leaf.candidate(Pick::Value(leaf.value.clone()), bits::NUMBER));
        }
    }
    for number in described(slot) {
        if within(&number, bounds) {
            let words = number.to_string();
            values.push(Candidate::plain(scene, Pick::Value(Value::Number(number)), words, Origin::Schema));
        }
    }
}

fn within(number: &Number, (whole, least, most): Bounds) -> bool {
    let Some(value) = number.as_f64() else { return false };
    (!whole || number.is_i64() || number.is_u64())
        && least.is_none_or(|least| value >= least)
        && most.is_none_or(|most| value <= most)
}

/// A length in every count in which it is whole; 1 beside the one that the slot's words name.
fn counted(slot: &Slot, (months, days, seconds): (i32, i32, i64)) -> Vec<(Number, f32)> {
    let named = |count: Count| if slot.count == Some(count) { 1.0 } else { 0.0 };
    let mut numbers = Vec::new();
    if months == 0 {
        let all = i64::from(days).saturating_mul(86_400).saturating_add(seconds);
        let units = [
            (Count::Seconds, 1),
            (Count::Minutes, 60),
            (Count::Hours, 3_600),
            (Count::Days, 86_400),
            (Count::Weeks, 604_800),
        ];
        let whole = units.into_iter().filter(|(_, unit)| all % unit == 0 && all != 0);
        numbers.extend(whole.map(|(count, unit)| (Number::from(all / unit), named(count))));
    } else if days == 0 && seconds == 0 {
        numbers.push((Number::from(months), named(Count::Months)));
        if months % 12 == 0 {
            numbers.push((Number::from(months / 12), named(Count::Years)));
        }
    }
    numbers
}
