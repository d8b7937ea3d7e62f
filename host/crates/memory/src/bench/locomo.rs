//! Reads a file of LoCoMo's form. The file is hostile until it is read: every count has a limit, and what does not fit says where.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use loopwright_contract::memory::Role;
use serde_json::{Map, Value};

use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};

/// The largest file, in bytes.
pub const BYTES_MAX: usize = 64 * 1024 * 1024;
/// The most conversations of a file.
const CONVERSATIONS_MAX: usize = 1_000;
/// The most turns of one conversation.
pub const TURNS_MAX: usize = 100_000;
/// The most questions of one conversation.
pub const QUESTIONS_MAX: usize = 10_000;
/// The form of a session's time: `1:56 pm on 8 May, 2023`.
const TIME_FORM: &str = "%I:%M %p on %d %B, %Y";

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// More of something than is read.
    #[error("{what}: found {found}, expected at most {most}")]
    TooMany {
        /// Of what, and where.
        what: String,
        /// How many there are.
        found: usize,
        /// How many are read.
        most: usize,
    },
    /// No JSON.
    #[error("the file is no JSON")]
    Json(#[source] serde_json::Error),
    /// Another form.
    #[error("at {at}: expected {expected}")]
    Form {
        /// Where.
        at: String,
        /// What is expected there.
        expected: &'static str,
    },
}

/// A question with the turns that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// From 1; see [`Form::categories`](super::Form::categories).
    pub category: u8,
    /// The ordinals of the turns that answer it, ascending; never empty.
    pub gold: Vec<u64>,
    /// The expected answer, where there is one.
    pub answer: Option<String>,
}

/// A conversation and its questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its name.
    pub name: String,
    /// Its turns in order; the place of a turn in the list is its ordinal.
    pub messages: Vec<Message>,
    /// Its speakers.
    pub speakers: Vec<String>,
    /// Its questions that have at least one turn that exists.
    pub questions: Vec<Question>,
    /// Questions that were left out, since none of their turns exists.
    pub skipped: usize,
    /// Turns that questions name and that do not exist.
    pub unknown: usize,
}

pub(super) fn form(at: &str, expected: &'static str) -> LoadError {
    LoadError::Form { at: at.chars().take(200).collect(), expected }
}

pub(super) fn limit(what: &str, found: usize, most: usize) -> Result<(), LoadError> {
    if found > most { Err(LoadError::TooMany { what: what.to_owned(), found, most }) } else { Ok(()) }
}

/// Reads conversations.
///
/// # Errors
/// [`LoadError`] with the place that does not fit.
pub fn load_locomo(bytes: &[u8]) -> Result<Vec<Conversation>, LoadError> {
    limit("bytes of the file", bytes.len(), BYTES_MAX)?;
    let file: Value = serde_json::from_slice(bytes).map_err(LoadError::Json)?;
    let samples = file.as_array().ok_or_else(|| form("the file", "a list of conversations"))?;
    limit("conversations", samples.len(), CONVERSATIONS_MAX)?;
    samples.iter().enumerate().map(|(at, sample)| conversation(at, sample)).collect()
}

fn conversation(at: usize, sample: &Value) -> Result<Conversation, LoadError> {
    let at = format!("[{at}]");
    let name = sample.get("sample_id").and_then(Value::as_str).unwrap_or(&at).to_owned();
    let place = format!("{at}.conversation");
    let content =
        sample.get("conversation").and_then(Value::as_object).ok_or_else(|| form(&place, "an object of sessions"))?;
    let mut numbers: Vec<u32> = content.keys().filter_map(|key| key.strip_prefix("session_")?.parse().ok()).collect();
    numbers.sort_unstable();
    let mut reader = Reader { name: name.clone(), messages: Vec::new(), ids: BTreeMap::new(), speakers: Vec::new() };
    for number in numbers {
        reader.session(&place, content, number)?;
    }
    let place = format!("{at}.qa");
    let asked = sample.get("qa").and_then(Value::as_array).ok_or_else(|| form(&place, "a list of questions"))?;
    limit(&place, asked.len(), QUESTIONS_MAX)?;
    let (mut questions, mut skipped, mut unknown) = (Vec::new(), 0, 0);
    for (number, asked) in asked.iter().enumerate() {
        let (question, missing) = question(&format!("{place}[{number}]"), asked, &reader.ids)?;
        unknown += missing;
        match question {
            Some(question) => questions.push(question),
            None => skipped += 1,
        }
    }
    Ok(Conversation { name, messages: reader.messages, speakers: reader.speakers, questions, skipped, unknown })
}

struct Reader {
    name: String,
    messages: Vec<Message>,
    ids: BTreeMap<(u32, u32), u64>,
    speakers: Vec<String>,
}

impl Reader {
    fn session(&mut self, place: &str, content: &Map<String, Value>, number: u32) -> Result<(), LoadError> {
        let place = format!("{place}.session_{number}");
        let turns = match content.get(&format!("session_{number}")) {
            None | Some(Value::Null) => return Ok(()),
            Some(turns) => turns.as_array().ok_or_else(|| form(&place, "a list of turns"))?,
        };
        limit(&place, self.messages.len() + turns.len(), TURNS_MAX)?;
        let time = content.get(&format!("session_{number}_date_time")).and_then(Value::as_str).unwrap_or_default();
        let mentioned = moment(time)
            .ok_or_else(|| form(&format!("{place}_date_time"), "a time such as `1:56 pm on 8 May, 2023`"))?;
        for (at, turn) in turns.iter().enumerate() {
            self.turn(&format!("{place}[{at}]"), number, at, &mentioned, turn)?;
        }
        Ok(())
    }

    fn turn(&mut self, place: &str, number: u32, at: usize, mentioned: &Moment, turn: &Value) -> Result<(), LoadError> {
        let text_of = |key: &str| turn.get(key).and_then(Value::as_str);
        let speaker = text_of("speaker").ok_or_else(|| form(place, "a turn with a `speaker`"))?.to_owned();
        let mut text = text_of("text").unwrap_or_default().to_owned();
        if let Some(caption) = text_of("blip_caption").filter(|caption| !caption.is_empty()) {
            text = format!("{text} [image: {caption}]");
        }
        let id = text_of("dia_id").unwrap_or_default();
        let id = ids(id).next().ok_or_else(|| form(place, "a turn with a `dia_id` such as `D1:3`"))?;
        if self.ids.insert(id, self.messages.len() as u64).is_some() {
            return Err(form(place, "a `dia_id` that no other turn has"));
        }
        if !self.speakers.contains(&speaker) {
            self.speakers.push(speaker.clone());
        }
        let message = Message {
            place: Place {
                dialogue: self.name.clone(),
                session: number.to_string(),
                position: u32::try_from(at).unwrap_or(u32::MAX),
                speaker,
                role: Role::Other,
            },
            text,
            mentioned: mentioned.clone(),
        };
        message.check().map_err(|_| form(place, "a message within the limits of a capture, with a text"))?;
        self.messages.push(message);
        Ok(())
    }
}

fn moment(text: &str) -> Option<Moment> {
    let civil = DateTime::strptime(TIME_FORM, text.trim()).ok()?;
    Moment::of_civil(civil, Zone::utc())
}

/// The question, when it has a turn that exists, and how many turns it names that do not.
fn question(
    place: &str,
    asked: &Value,
    known: &BTreeMap<(u32, u32), u64>,
) -> Result<(Option<Question>, usize), LoadError> {
    let text = asked.get("question").and_then(Value::as_str).ok_or_else(|| form(place, "a `question`"))?;
    let category = asked.get("category").and_then(Value::as_u64).and_then(|number| u8::try_from(number).ok());
    let category =
        category.filter(|number| (1..=5).contains(number)).ok_or_else(|| form(place, "a `category` from 1 to 5"))?;
    let evidence = asked.get("evidence").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut named: Vec<(u32, u32)> = evidence.iter().filter_map(Value::as_str).flat_map(ids).collect();
    named.sort_unstable();
    named.dedup();
    let mut gold: Vec<u64> = named.iter().filter_map(|id| known.get(id).copied()).collect();
    let missing = named.len() - gold.len();
    gold.sort_unstable();
    let answer = match asked.get("answer") {
        Some(Value::String(answer)) => Some(answer.clone()),
        Some(Value::Number(answer)) => Some(answer.to_string()),
        _ => None,
    };
    let question = (!gold.is_empty()).then(|| Question { text: text.to_owned(), category, gold, answer });
    Ok((question, missing))
}

/// The turn ids of a text: `D8:6; D9:17`, `D:11:26` and `D30:05` are found in the data.
fn ids(text: &str) -> impl Iterator<Item = (u32, u32)> {
    text.split('D').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let (session, rest) = rest.split_once(':')?;
        let digits = rest.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(rest.len());
        Some((session.parse().ok()?, rest.get(..digits)?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirty_ids_are_read() {
        for (text, expected) in [
            ("D8:6; D9:17", vec![(8, 6), (9, 17)]),
            ("D:11:26", vec![(11, 26)]),
            ("D30:05", vec![(30, 5)]),
            ("D9:1 D4:4 D4:6", vec![(9, 1), (4, 4), (4, 6)]),
            ("D", vec![]),
            ("", vec![]),
            ("D99999999999:1", vec![]),
        ] {
            assert_eq!(ids(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_says_where() {
        let whole = r#"[{"sample_id": "a", "conversation": {"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hi"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023"}, "qa": [{"question": "q", "category": 1, "evidence": ["D1:1", "D7:7"]},
            {"question": "q", "category": 1, "evidence": ["D"]}]}]"#;
        let loaded = load_locomo(whole.as_bytes()).expect("fits");
        let first = &loaded[0];
        assert_eq!((first.questions.len(), first.skipped, first.unknown), (1, 1, 1));
        assert_eq!(first.messages[0].mentioned.to_string(), "2023-05-08T13:56:00+00:00[UTC]");
        for (from, to, place) in [
            ("\"conversation\"", "\"c\"", "[0].conversation"),
            ("1:56 pm", "25:56 pm", "session_1_date_time"),
            ("8 May", "31 February", "session_1_date_time"),
            ("\"speaker\"", "\"s\"", "session_1[0]"),
            ("\"D1:1\", \"text\"", "\"x\", \"text\"", "session_1[0]"),
            ("\"category\": 1, \"evidence\": [\"D1", "\"category\": 9, \"evidence\": [\"D1", "qa[0]"),
            ("\"qa\"", "\"q\"", "[0].qa"),
            ("\"hi\"", "\"\"", "session_1[0]"),
            ("\"hi\"", "\"\\u0000\"", "session_1[0]"),
        ] {
            let error = load_locomo(whole.replace(from, to).as_bytes()).expect_err(place).to_string();
            assert!(error.contains(place), "{error} for {from}");
        }
        assert!(matches!(load_locomo(b"\xff"), Err(LoadError::Json(_))));
        assert!(matches!(load_locomo(&vec![b' '; BYTES_MAX + 1]), Err(LoadError::TooMany { .. })));
        let deep = "[".repeat(100_000);
        assert!(matches!(load_locomo(deep.as_bytes()), Err(LoadError::Json(_))), "nesting has a limit");
    }
}
