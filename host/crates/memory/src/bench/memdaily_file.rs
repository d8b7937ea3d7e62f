//! Reads a file of MemDaily's form: people, their messages in Chinese, and questions that name the messages that answer them.

use jiff::civil::DateTime;
use loopwright_contract::memory::Role;
use serde_json::Value;

use super::locomo::{BYTES_MAX, LoadError, QUESTIONS_MAX, TURNS_MAX, form, limit};
use super::memdaily::Trajectory;
use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};

/// The form of a message's time without its weekday: `2024年04月01日 08:30`.
const TIME_FORM: &str = "%Y年%m月%d日 %H:%M";
/// Messages of one person.
const MESSAGES_MAX: usize = 1_000;

/// Reads the questions of a file, each with the messages of its person. `name` tells the people of one file from those of another.
///
/// # Errors
/// [`LoadError`] with the place that does not fit.
pub fn load_memdaily(name: &str, bytes: &[u8]) -> Result<Vec<Trajectory>, LoadError> {
    limit("bytes of the file", bytes.len(), BYTES_MAX)?;
    let file: Value = serde_json::from_slice(bytes).map_err(LoadError::Json)?;
    let people = file.as_array().ok_or_else(|| form("the file", "a list of people"))?;
    limit("people", people.len(), TURNS_MAX)?;
    let mut read = Vec::with_capacity(people.len());
    for (number, person) in people.iter().enumerate() {
        let list = |key: &str, expected| {
            let at = format!("[{number}].{key}");
            person.get(key).and_then(Value::as_array).ok_or_else(|| form(&at, expected))
        };
        let said = list("message_list", "a list of messages")?;
        limit(&format!("[{number}].message_list"), said.len(), MESSAGES_MAX)?;
        let messages: Vec<Message> = (0_u32..)
            .zip(said)
            .map(|(position, said)| {
                message(&format!("[{number}].message_list[{position}]"), &format!("{name}/{number}"), position, said)
            })
            .collect::<Result<_, _>>()?;
        let asked = list("question_list", "a list of questions")?;
        limit("questions of the file", read.len() + asked.len(), QUESTIONS_MAX)?;
        for (at, asked) in asked.iter().enumerate() {
            read.push(question(&format!("[{number}].question_list[{at}]"), asked, said, &messages)?);
        }
    }
    Ok(read)
}

fn message(at: &str, person: &str, position: u32, said: &Value) -> Result<Message, LoadError> {
    let text_of = |key: &str| said.get(key).and_then(Value::as_str);
    let time = text_of("time").unwrap_or_default();
    let message = Message {
        place: Place {
            dialogue: "memdaily".to_owned(),
            session: person.to_owned(),
            position,
            speaker: "用户".to_owned(),
            role: Role::User,
        },
        text: text_of("message").ok_or_else(|| form(at, "a `message`"))?.to_owned(),
        mentioned: moment(time).ok_or_else(|| form(at, "a `time` such as `2024年04月01日 周一 08:30`"))?,
    };
    message.check().map_err(|_| form(at, "a message within the limits of a capture, with a text"))?;
    Ok(message)
}

fn question(at: &str, asked: &Value, said: &[Value], messages: &[Message]) -> Result<Trajectory, LoadError> {
    let question = asked.get("question").and_then(Value::as_str).ok_or_else(|| form(at, "a `question`"))?;
    let named = asked.get("target_step_id").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let place = |id: &Value| said.iter().position(|said| said.get("mid").is_some_and(|mid| mid == id));
    let gold: Option<Vec<usize>> = named.iter().map(place).collect();
    let mut gold = gold.filter(|gold| !gold.is_empty()).ok_or_else(|| {
        form(at, "a `target_step_id` with the `mid` of at least one message, and of none that is not there")
    })?;
    gold.sort_unstable();
    gold.dedup();
    Ok(Trajectory { messages: messages.to_vec(), question: question.to_owned(), gold })
}

fn moment(text: &str) -> Option<Moment> {
    let (day, rest) = text.split_once(' ')?;
    let (_weekday, time) = rest.split_once(' ')?;
    let civil = DateTime::strptime(TIME_FORM, format!("{day} {time}")).ok()?;
    Moment::of_civil(civil, Zone::new("Asia/Shanghai").ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"[{"tid": 0, "message_list": [{"mid": 5, "message": "我要去深圳。", "time": "2024年04月01日 周一 08:30", "place": "广东"},
        {"mid": 6, "message": "论坛很好。", "time": "2024年04月02日 周二 09:00"}], "question_list": [{"question": "去哪里？", "target_step_id": [6, 5, 6]}]}]"#;

    #[test]
    fn messages_and_questions_are_read() {
        let read = load_memdaily("a", FILE.as_bytes()).expect("fits");
        assert_eq!((read.len(), read[0].gold.clone(), read[0].question.as_str()), (1, vec![0, 1], "去哪里？"));
        assert_eq!(read[0].messages[0].mentioned.to_string(), "2024-04-01T08:30:00+08:00[Asia/Shanghai]");
    }

    #[test]
    fn what_does_not_fit_says_where() {
        for (from, to, place) in [
            ("04月01日", "02月31日", "[0].message_list[0]"),
            ("\"message\": \"论", "\"m\": \"论", "[0].message_list[1]"),
            ("[6, 5, 6]", "[7]", "[0].question_list[0]"),
            ("[6, 5, 6]", "[]", "[0].question_list[0]"),
            ("question_list", "q", "[0].question_list"),
        ] {
            let error = load_memdaily("a", FILE.replace(from, to).as_bytes()).expect_err(place).to_string();
            assert!(error.contains(place), "{error} for {from}");
        }
        assert!(matches!(load_memdaily("a", b"["), Err(LoadError::Json(_))));
    }
}
