//! Reads one conversation of BEAM's form: `chat.json`, batches of turns, and `probing_questions.json`, questions by ability with the turns that answer
//! them. Both are hostile until they are read.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use loopwright_contract::memory::Role;
use serde_json::Value;

use super::locomo::{Conversation, LoadError, QUESTIONS_MAX, Question, TURNS_MAX, form, limit};
use super::metrics::ABILITIES;
use crate::message::{Message, Place, TEXT_BYTES_MAX};
use crate::moment::{Moment, Zone};

/// The largest file, in bytes.
pub const BEAM_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The form of the day on which what follows was said: `March-15-2024`.
const DAY_FORM: &str = "%B-%d-%Y";
/// The mark at the end of what the user says, which numbers the plan that the turn was made from: it would tell which turn is meant.
const MARK: &str = "->->";
/// Keys that have the expected answer, by ability.
const ANSWERS: [&str; 4] = ["answer", "ideal_answer", "ideal_summary", "ideal_response"];

/// Reads a conversation. Texts longer than a message may be are cut there, and the marks of the set's own making are taken off.
///
/// # Errors
/// [`LoadError`] with the place that does not fit.
pub fn load_beam(name: &str, chat: &[u8], questions: &[u8]) -> Result<Conversation, LoadError> {
    let json = |bytes: &[u8]| {
        limit("bytes of the file", bytes.len(), BEAM_BYTES_MAX)?;
        serde_json::from_slice::<Value>(bytes).map_err(LoadError::Json)
    };
    let mut reader = Reader { name, messages: Vec::new(), ids: BTreeMap::new(), mentioned: Moment::epoch() };
    let chat = json(chat)?;
    let batches = chat.as_array().ok_or_else(|| form("the chat", "a list of batches"))?;
    for (number, batch) in batches.iter().enumerate() {
        reader.batch(&format!("chat[{number}]"), number, batch)?;
    }
    let Reader { messages, ids, .. } = reader;
    let speakers = vec!["user".to_owned(), "assistant".to_owned()];
    let (questions, skipped, unknown) = asked(&json(questions)?, &ids)?;
    Ok(Conversation { name: name.to_owned(), messages, speakers, questions, skipped, unknown })
}

struct Reader<'a> {
    name: &'a str,
    messages: Vec<Message>,
    ids: BTreeMap<u64, u64>,
    /// The day of the last anchor: it holds until the next one.
    mentioned: Moment,
}

impl Reader<'_> {
    fn batch(&mut self, place: &str, number: usize, batch: &Value) -> Result<(), LoadError> {
        let place = format!("{place}.turns");
        let groups = batch.get("turns").and_then(Value::as_array).ok_or_else(|| form(&place, "a list of turns"))?;
        let mut position = 0;
        for (at, group) in groups.iter().enumerate() {
            let turns = match group {
                Value::Array(turns) => turns.as_slice(),
                one => std::slice::from_ref(one),
            };
            limit(&place, self.messages.len() + turns.len(), TURNS_MAX)?;
            for turn in turns {
                self.turn(&format!("{place}[{at}]"), number, position, turn)?;
                position += 1;
            }
        }
        Ok(())
    }

    fn turn(&mut self, place: &str, session: usize, position: u32, turn: &Value) -> Result<(), LoadError> {
        let text_of = |key: &str| turn.get(key).and_then(Value::as_str);
        let speaker = text_of("role").filter(|role| ["user", "assistant"].contains(role));
        let speaker = speaker.ok_or_else(|| form(place, "a `role`, `user` or `assistant`"))?;
        if let Some(day) = text_of("time_anchor") {
            self.mentioned = moment(day).ok_or_else(|| form(place, "a `time_anchor` such as `March-15-2024`"))?;
        }
        let id = turn.get("id").and_then(Value::as_u64).ok_or_else(|| form(place, "a turn with a number as `id`"))?;
        if self.ids.insert(id, self.messages.len() as u64).is_some() {
            return Err(form(place, "an `id` that no other turn has"));
        }
        let text = text_of("content").ok_or_else(|| form(place, "a turn with a `content`"))?;
        let text = text.rsplit_once(MARK).map_or(text, |(before, _)| before).trim();
        let end = text.floor_char_boundary(TEXT_BYTES_MAX);
        let message = Message {
            place: Place {
                dialogue: self.name.to_owned(),
                session: session.to_string(),
                position,
                speaker: speaker.to_owned(),
                role: if speaker == "user" { Role::User } else { Role::Assistant },
            },
            // An empty turn keeps its place: what the others say refers to their order.
            text: if end == 0 { "-".to_owned() } else { text.get(..end).unwrap_or_default().to_owned() },
            mentioned: self.mentioned.clone(),
        };
        message.check().map_err(|_| form(place, "a message within the limits of a capture"))?;
        self.messages.push(message);
        Ok(())
    }
}

fn moment(day: &str) -> Option<Moment> {
    let date = Date::strptime(DAY_FORM, day.trim()).ok()?;
    Moment::of_civil(date.at(12, 0, 0, 0), Zone::utc())
}

type Read = (Vec<Question>, usize, usize);

/// The questions that mark a turn that exists, how many mark none, and how many marked turns do not exist.
fn asked(file: &Value, known: &BTreeMap<u64, u64>) -> Result<Read, LoadError> {
    let by_ability = file.as_object().ok_or_else(|| form("the questions", "an object of abilities"))?;
    let (mut questions, mut skipped, mut unknown) = (Vec::new(), 0, 0);
    for (ability, asked) in by_ability {
        let asked = asked.as_array().ok_or_else(|| form(ability, "a list of questions"))?;
        limit(ability, questions.len() + asked.len(), QUESTIONS_MAX)?;
        let category = ABILITIES.iter().zip(1_u8..).find(|(name, _)| **name == ability).map(|(_, number)| number);
        for (number, asked) in asked.iter().enumerate() {
            let place = format!("{ability}[{number}]");
            let text = asked.get("question").and_then(Value::as_str).ok_or_else(|| form(&place, "a `question`"))?;
            let mut named = BTreeSet::new();
            marked(asked.get("source_chat_ids").unwrap_or(&Value::Null), &mut named);
            let mut gold: Vec<u64> = named.iter().filter_map(|id| known.get(id).copied()).collect();
            gold.sort_unstable();
            unknown += named.len() - gold.len();
            let answer = ANSWERS.iter().find_map(|key| asked.get(key)?.as_str()).map(str::to_owned);
            match category.filter(|_| !gold.is_empty()) {
                Some(category) => questions.push(Question { text: text.to_owned(), category, gold, answer }),
                None => skipped += 1,
            }
        }
    }
    Ok((questions, skipped, unknown))
}

/// The numbers in a value: some abilities have a list, some an object of lists. JSON's own depth bounds the recursion.
fn marked(value: &Value, into: &mut BTreeSet<u64>) {
    match value {
        Value::Number(number) => into.extend(number.as_u64()),
        Value::Array(values) => values.iter().for_each(|value| marked(value, into)),
        Value::Object(values) => values.values().for_each(|value| marked(value, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = r#"[{"batch_number": 1, "turns": [[{"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "hi ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "hello"}]]}, {"turns": [{"role": "user", "id": 2, "content": ""}]}]"#;
    const QUESTIONS: &str = r#"{"abstention": [{"question": "what?", "source_chat_ids": null}],
        "knowledge_update": [{"question": "when?", "answer": "then", "source_chat_ids": {"original_info": [2], "updated_info": [0, 9]}}]}"#;

    #[test]
    fn turns_days_and_marks_are_read() {
        let read = load_beam("1", CHAT.as_bytes(), QUESTIONS.as_bytes()).expect("fits");
        let texts: Vec<&str> = read.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["hi", "hello", "-"]);
        assert_eq!(read.messages[2].mentioned.to_string(), "2024-03-15T12:00:00+00:00[UTC]");
        assert_eq!(
            read.questions,
            [Question { text: "when?".into(), category: 5, gold: vec![0, 2], answer: Some("then".into()) }]
        );
        assert_eq!((read.skipped, read.unknown), (1, 1));
    }

    #[test]
    fn what_does_not_fit_says_where() {
        for (from, to, place) in [
            ("\"turns\": [[", "\"t\": [[", "chat[0].turns"),
            ("March-15", "February-31", "chat[0].turns[0]"),
            ("assistant", "system", "chat[0].turns[0]"),
            ("\"id\": 1", "\"id\": 0", "chat[0].turns[0]"),
            ("\"id\": 2", "\"id\": -2", "chat[1].turns[0]"),
            ("\"hello\"", "7", "chat[0].turns[0]"),
            ("\"hello\"", "\"a\\u0000b\"", "chat[0].turns[0]"),
        ] {
            let error = load_beam("1", CHAT.replace(from, to).as_bytes(), QUESTIONS.as_bytes()).expect_err(place);
            assert!(error.to_string().contains(place), "{error} for {from}");
        }
        let long = CHAT.replace("hello", &"ü".repeat(TEXT_BYTES_MAX));
        let read = load_beam("1", long.as_bytes(), QUESTIONS.as_bytes()).expect("is cut");
        assert_eq!(read.messages[1].text.len(), TEXT_BYTES_MAX);
        assert!(matches!(load_beam("1", b"\xff", b"{}"), Err(LoadError::Json(_))));
        assert!(load_beam("1", b"[]", b"[]").expect_err("no abilities").to_string().contains("an object of abilities"));
    }
}
