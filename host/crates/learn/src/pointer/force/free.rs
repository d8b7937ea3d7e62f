//! Free text of demonstrations: what of the scene reaches the same effect. The rules stand at the head of the module above.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::pointer::candidates::own::REASONS;
use crate::pointer::candidates::{Candidate, options};
use crate::pointer::grams::{hash, shared, terms};
use crate::pointer::scene::{Origin, Scene, Status};
use crate::pointer::spec::Slot;
use crate::pointer::walk::act::Act;
use crate::pointer::walk::say::{self, Sort};

/// Words of questions that ask what, not whether.
const INTERROGATIVES: [&str; 16] = [
    "what", "which", "who", "whom", "whose", "where", "when", "how", "why", "哪", "谁", "什么", "几", "多少", "怎",
    "何",
];
/// Characters of a value without digits that an answer is taken to hold.
const TELLING_CHARS_MIN: usize = 4;

/// All terms of a text but stop words, single Han characters among them.
fn words(text: &str) -> Vec<u64> {
    let tokens = loopwright_text::tokenize(text);
    let mut words: Vec<u64> =
        tokens.iter().filter(|token| !token.stop).map(|token| hash("t", token.text.chars())).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// How much two texts have in common: the harmonic mean of the shares that each has of the other's words.
#[expect(clippy::cast_precision_loss, reason = "words of a text are few")]
fn likeness(left: &[u64], right: &[u64]) -> f32 {
    let both = shared(left, right).count() as f32;
    let all = (left.len() + right.len()) as f32;
    if all > 0.0 { 2.0 * both / all } else { 0.0 }
}

/// The units of a text that say exactly this, first and last.
pub(super) fn units_of(scene: &Scene, source: usize, text: &str) -> Option<(usize, usize)> {
    let reading = scene.sources.get(source)?.reading();
    let starts = reading.text.match_indices(text).map(|(start, _)| start);
    starts.into_iter().find_map(|start| {
        let end = start + text.len();
        let first = reading.pieces.iter().position(|piece| piece.bytes.start == start)?;
        let last = reading.pieces.iter().position(|piece| piece.bytes.end == end)?;
        (first <= last && !text.is_empty()).then_some((first, last))
    })
}

/// The fewest words of the request in a row that hold all words that it shares with a text.
fn stretch(scene: &Scene, wanted: &[u64]) -> Option<String> {
    let reading = scene.request()?.reading();
    let count = reading.pieces.len();
    let text = |range: Range<usize>| Some(reading.slice(&reading.between(range.start, range.end.checked_sub(1)?)?));
    let of = |range: Range<usize>| text(range).map(words).map_or(0, |words| shared(&words, wanted).count());
    let most = of(0..count);
    if most == 0 {
        return None;
    }
    let end = (1..=count).find(|end| of(0..*end) == most)?;
    let start = (0..end).rev().find(|start| of(*start..end) == most)?;
    text(start..end).map(str::to_owned)
}

fn slot(act: Act, scene: &Scene, name: &str) -> Option<std::sync::Arc<Slot>> {
    act.slots(scene).iter().find(|slot| slot.name == name).cloned()
}

/// The text among candidates, and a stretch of the request, that is most like a text; the shorter of equals.
fn closest(scene: &Scene, candidates: &[Candidate], text: &str, allowed: impl Fn(&str) -> bool) -> Option<String> {
    let wanted = words(text);
    let known = candidates.iter().filter_map(Candidate::value).filter_map(|value| value.as_str().map(str::to_owned));
    let mut best: Option<(f32, String)> = None;
    for found in known.chain(stretch(scene, &wanted)).filter(|found| allowed(found)) {
        let like = if found == text { 2.0 } else { likeness(&words(&found), &wanted) };
        let better = match &best {
            Some((known, short)) => like > *known || (like == *known && found.len() < short.len()),
            None => like > 0.0,
        };
        if better {
            best = Some((like, found));
        }
    }
    best.map(|(_, found)| found)
}

/// What to search for.
pub(super) fn query(scene: &Scene, query: &str) -> Option<String> {
    let slot = slot(Act::Recall, scene, "query")?;
    closest(scene, &options(scene, &slot, &Map::new()), query, |_| true)
}

/// What to keep.
pub(super) fn content(scene: &Scene, content: &str, memory: Option<&str>) -> Option<String> {
    let act = if memory.is_some() { Act::Replace } else { Act::Remember };
    let slot = slot(act, scene, "content")?;
    let mut chosen = Map::new();
    if let Some(memory) = memory {
        chosen.insert("memoryId".to_owned(), json!(memory));
    }
    let codes = codes(content);
    closest(scene, &options(scene, &slot, &chosen), content, |found| codes.iter().all(|code| found.contains(code)))
}

/// Runs of Latin letters and digits with a digit in them.
fn codes(text: &str) -> Vec<&str> {
    let runs = text.split(|character: char| !character.is_ascii_alphanumeric());
    runs.filter(|run| run.chars().any(|character| character.is_ascii_digit())).collect()
}

/// Words with which each kind of thing is asked for.
const SORTS: [(Sort, &[&str]); 4] = [
    (
        Sort::Moment,
        &["when", "time", "day", "date", "o'clock", "几点", "哪天", "哪一天", "几号", "什么时候", "何时", "日期"],
    ),
    (Sort::Person, &["who", "whom", "whose", "谁", "哪位"]),
    (Sort::Place, &["where", "哪里", "哪儿", "哪台"]),
    (Sort::Number, &["how much", "how many", "how long", "多少", "多大"]),
];

fn has_word(folded: &str, word: &str) -> bool {
    if word.is_ascii() && !word.contains(' ') {
        folded.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|part| part == word)
    } else {
        folded.contains(word)
    }
}

/// What is asked for, and about what.
pub(super) fn question(scene: &Scene, question: &str) -> Option<Value> {
    let folded = question.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| has_word(&folded, word));
    let what = has(&INTERROGATIVES);
    let sort = SORTS.iter().find(|(_, words)| has(words)).map_or(Sort::Other, |(sort, _)| *sort);
    let wanted = words(question);
    let slot = slot(Act::Ask, scene, "thing")?;
    let mut best: Option<((f32, f32), Value, Vec<u64>)> = None;
    for thing in options(scene, &slot, &Map::new()) {
        let Some(value) = thing.value().map(Cow::into_owned) else { continue };
        let asked = say::slot_of(scene, &value);
        if asked.is_some() != what {
            continue;
        }
        let fits = asked.as_ref().map_or(0.0, |asked| {
            let identifies = asked.name.to_lowercase().ends_with("id");
            2.0 * f32::from(u8::from(say::sort(asked) == sort)) - f32::from(u8::from(identifies))
        });
        let said = words(&say::question(scene, &json!({"thing": value}))?);
        let weight = |terms: &[u64]| shared(&wanted, terms).map(|term| scene.weight(term)).sum::<f32>();
        let about = scene.share(&scene.wanted, &thing.record);
        let score = (fits, 0.5 * weight(&said) + 0.5 * weight(&thing.record) + 2.0 * about);
        if best.as_ref().is_none_or(|(known, ..)| score > *known) {
            let mut said = said;
            said.extend(thing.record.iter());
            said.sort_unstable();
            best = Some((score, value, said));
        }
    }
    let (_, thing, said) = best?;
    let rest: Vec<u64> = terms(question).into_iter().filter(|term| said.binary_search(term).is_err()).collect();
    Some(match stretch(scene, &rest) {
        Some(topic) => json!({"thing": thing, "topic": topic}),
        None => json!({"thing": thing}),
    })
}

/// Why a request is refused.
pub(super) fn reason(scene: &Scene) -> &'static str {
    let [unknown, blocked, forbidden] = REASONS.map(|(name, _)| name);
    match scene.history.trouble {
        None => unknown,
        Some((Status::Forbidden, _)) => forbidden,
        Some(_) => blocked,
    }
}

/// The value that an answer tells. No text: that all is done.
pub(super) fn answer(scene: &Scene, answer: &str) -> Option<Value> {
    let slot = Slot { required: true, ..slot(Act::Finish, scene, "answer")?.as_ref().clone() };
    let telling = |text: &str| {
        text.chars().any(|character| character.is_ascii_digit()) || text.chars().count() >= TELLING_CHARS_MIN
    };
    let holds = |text: &str| answer.match_indices(text).any(|(start, _)| is_whole(answer, start, start + text.len()));
    let told = options(scene, &slot, &Map::new())
        .iter()
        .filter(|candidate| candidate.origin != Origin::Request)
        .filter_map(Candidate::value)
        .filter_map(|value| value.as_str().map(str::to_owned))
        .filter(|text| text == answer || (telling(text) && holds(text)))
        .max_by_key(String::len);
    match told {
        Some(text) => Some(Value::String(text)),
        None if codes(answer).is_empty() => Some(Value::Null),
        None => None,
    }
}

/// Whether a part of a text is not cut out of a word or a number.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let joins = |left: Option<char>, right: Option<char>| match (left, right) {
        (Some(left), Some(right)) => left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric(),
        _ => false,
    };
    let (before, inside, after) = (text.get(..start), text.get(start..end), text.get(end..));
    let (Some(before), Some(inside), Some(after)) = (before, inside, after) else { return false };
    !joins(before.chars().next_back(), inside.chars().next())
        && !joins(inside.chars().next_back(), after.chars().next())
}
