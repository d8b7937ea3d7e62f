//! What the acts that are no tools take: memories, what to keep and to look for, answers, reasons, things to ask for.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Candidate, Pick, texts, words_of};
use crate::pointer::scene::{Origin, Scene, Source};
use crate::pointer::spec::Shape;
use crate::pointer::units::{Meaning, bits};

/// Values of a record that can be changed, and values of the request that they can be changed to.
const CHANGES_MAX: usize = 4;
/// The categories of the memory's catalogue, as planners are told them.
const CATEGORIES: [&str; 4] = ["important_info", "user_profile", "routines_habits", "important_event"];
/// Why a request is refused: nothing that is offered does it, the state does not let it, or it is not allowed.
pub(in crate::pointer) const REASONS: [(&str, &str); 3] = [
    ("unknown", "no tool none offered only apps 没有 只能"),
    ("blocked", "not possible now off locked offline 无法 关机 锁"),
    ("forbidden", "not allowed permission denied access 权限 拒绝"),
];

pub(super) fn collect(
    scene: &Scene,
    shape: &Shape,
    chosen: &Map<String, Value>,
    values: &mut Vec<Candidate>,
    openers: &mut Vec<Candidate>,
) {
    match shape {
        Shape::Memory => values.extend(memories(scene)),
        Shape::Category => values.extend(categories(scene)),
        Shape::Content => {
            changed(scene, chosen, values);
            clauses(scene, values, true);
            found(scene, values, |source| matches!(source.origin, Origin::Request | Origin::User));
            openers.extend(words_of(scene, |origin| matches!(origin, Origin::Request | Origin::User)));
        }
        Shape::Query | Shape::Topic => {
            clauses(scene, values, false);
            found(scene, values, |source| source.origin == Origin::Request);
            openers.extend(words_of(scene, |origin| matches!(origin, Origin::Request | Origin::User)));
        }
        Shape::Answer => {
            // No value: an answer that says no more than that all is done.
            let changed = scene.history.past.last().is_none_or(|past| past.changed);
            let nothing = Candidate::plain(scene, Pick::Value(Value::Null), "done ok 好 完成", Origin::Schema);
            values.push(Candidate { own: if changed { 1.0 } else { -1.0 }, ..nothing });
            texts::leaves(scene, values);
            found(scene, values, |source| source.origin != Origin::Request);
            for place in 1..scene.sources.len() {
                texts::whole(scene, place, values);
            }
            openers.extend(words_of(scene, |origin| origin != Origin::Request));
        }
        Shape::Reason => {
            values.extend(REASONS.map(|(name, words)| Candidate::plain(scene, text(name), words, Origin::Schema)))
        }
        Shape::Thing => values.extend(things(scene)),
        _ => {}
    }
}

fn text(text: &str) -> Pick {
    Pick::Value(Value::String(text.to_owned()))
}

fn memories(scene: &Scene) -> Vec<Candidate> {
    let candidate = |memory: &crate::pointer::scene::Memory| Candidate {
        record: Arc::clone(&memory.terms),
        late: if memory.due { 1.0 } else { 0.0 },
        own: if memory.holds { 1.0 } else { -1.0 },
        ..Candidate::with_terms(
            text(memory.id.as_str()),
            Arc::clone(&memory.content),
            Arc::clone(&memory.terms),
            Origin::Memory,
        )
    };
    scene.memories.iter().map(candidate).collect()
}

fn categories(scene: &Scene) -> Vec<Candidate> {
    let known = scene.memories.iter().filter_map(|memory| memory.category.as_deref());
    CATEGORIES
        .into_iter()
        .chain(known)
        .map(|name| Candidate::plain(scene, text(name), name.replace('_', " "), Origin::Schema))
        .collect()
}

/// Clauses of the request, where wanted also several in a row, and the whole of it.
fn clauses(scene: &Scene, values: &mut Vec<Candidate>, rows: bool) {
    let Some(request) = scene.request() else { return };
    let clauses = &request.reading().clauses;
    for (first, start) in clauses.iter().enumerate() {
        let last = if rows { clauses.len() } else { first + 1 };
        for end in clauses.get(first..last).into_iter().flatten() {
            let bytes = start.start..end.end;
            let pick = text(request.reading().slice(&bytes).trim());
            values.extend(Candidate::of(scene, 0, &bytes, bits::CLAUSE, pick));
        }
    }
    texts::whole(scene, 0, values);
}

/// Typed spans of some texts, as text.
fn found(scene: &Scene, values: &mut Vec<Candidate>, wanted: impl Fn(&Source) -> bool) {
    for (place, source) in scene.sources.iter().enumerate().filter(|(_, source)| wanted(source)) {
        for found in &source.reading().found {
            let pick = match &found.meaning {
                Meaning::Text(_) if found.bit & (bits::MEASURE | bits::SUM) != 0 => continue,
                Meaning::Text(words) => text(words),
                _ => text(source.reading().slice(&found.bytes).trim()),
            };
            values.extend(Candidate::of(scene, place, &found.bytes, found.bit, pick));
        }
    }
}

/// What the chosen memory says, with one of its values changed to one of the request's.
fn changed(scene: &Scene, chosen: &Map<String, Value>, values: &mut Vec<Candidate>) {
    let Some(id) = chosen.get("memoryId").and_then(Value::as_str) else { return };
    let known = scene.sources.iter().find(|source| {
        source.memory.and_then(|place| scene.memories.get(place)).is_some_and(|memory| memory.id == *id)
    });
    let Some((known, request)) = known.zip(scene.request()) else { return };
    let open = bits::NUMBER | bits::PERCENT | bits::CODE | bits::CLOCK | bits::DATE | bits::LENGTH | bits::QUOTE;
    let of = |source: &'_ Source| -> Vec<(std::ops::Range<usize>, u32)> {
        let found = source.reading().found.iter().filter(|found| found.bit & open != 0);
        found.map(|found| (found.bytes.clone(), found.bit)).take(CHANGES_MAX).collect()
    };
    for (old, _) in of(known) {
        for (new, bit) in of(request) {
            let (before, after) = (known.reading().text.get(..old.start), known.reading().text.get(old.end..));
            let Some((before, after)) = before.zip(after) else { continue };
            let content = format!("{before}{}{after}", request.reading().slice(&new));
            let pick = Pick::Value(Value::String(content.clone()));
            let candidate = Candidate::of(scene, 0, &new, bit, pick);
            values.extend(candidate.map(|candidate| Candidate { words: content.into(), own: 1.0, ..candidate }));
        }
    }
}

/// What the user can be asked for: a slot of an offered tool, or whether to call one.
fn things(scene: &Scene) -> Vec<Candidate> {
    let mut things = Vec::new();
    for (place, (rank, offer)) in scene.offers.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
        let early = 1.0 / (1.0 + *rank as f32);
        let name = &offer.label.words;
        let thing = |slot: Option<&str>, words: String| Candidate {
            label: Arc::clone(&offer.label),
            record: Arc::clone(&offer.terms),
            early,
            own: if slot.is_none() { 1.0 } else { 0.0 },
            ..Candidate::plain(scene, Pick::Value(json!([place, slot])), words, Origin::Schema)
        };
        things.push(thing(None, format!("confirm whether now {name} 现在 可以")));
        for slot in &offer.slots {
            if matches!(slot.shape, Shape::Text { .. } | Shape::Number { .. }) {
                things.push(thing(Some(&slot.name), slot.spoken.clone()));
            }
        }
    }
    things
}
