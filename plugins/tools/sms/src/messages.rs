//! Messages: sending, finding and keeping them.

use loopwright_sdk::{Date, Failure, Phone, PhoneView, Query, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The collection.
const MESSAGES: &str = "messages";
/// Characters of one message.
const BODY_MAX: usize = 1000;
/// Messages that a search tells at most.
const FOUND_MAX: usize = 50;

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Message {
    id: String,
    /// The other side's number.
    peer: String,
    direction: String,
    time: String,
    body: String,
    read: bool,
    pinned: bool,
    #[serde(rename = "type")]
    kind: String,
    created: String,
    modified: String,
}

/// What the messages app needs to know of a contact.
#[derive(Debug, Clone, Deserialize)]
struct Contact {
    id: String,
    name: String,
    phones: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MessageType {
    #[default]
    Text,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SendMessage {
    /// A contact's name; either this or `phoneNumber`.
    contact: Option<String>,
    /// A number; either this or `contact`.
    phone_number: Option<String>,
    /// The text, 1 to 1000 characters.
    content: String,
    /// The kind of message; text when absent.
    message_type: Option<MessageType>,
}

/// A span of days, both included.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct DateRange {
    /// The first day, `YYYY-MM-DD`.
    from: String,
    /// The last day, `YYYY-MM-DD`.
    to: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SearchMessages {
    /// A part of the text, upper and lower case alike.
    keyword: Option<String>,
    /// A contact's name or a number.
    contact: Option<String>,
    /// Only messages of these days.
    date_range: Option<DateRange>,
    /// Only messages that were not read.
    unread_only: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Delete,
    MarkRead,
    Pin,
    Unpin,
    Forward,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ManageMessage {
    /// What to do; `forward` needs `target`, `delete` the user's confirmation.
    action: Action,
    /// The message's id, as search_messages tells it.
    message_id: String,
    /// With `forward`: a contact's name or a number.
    target: Option<String>,
}

fn contacts(phone: &PhoneView) -> Result<Vec<Contact>, Failure> {
    Ok(phone.find_all::<Contact>("contacts", &Query::new())?.into_iter().map(|doc| doc.value).collect())
}

/// Whether a text is a number rather than a name.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or(text);
    (3..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The one number of the contact of this name.
fn number_of(phone: &PhoneView, argument: &str, name: &str) -> Result<String, Failure> {
    let wanted = name.trim().to_lowercase();
    let people = contacts(phone)?;
    let exact: Vec<&Contact> = people.iter().filter(|contact| contact.name.to_lowercase() == wanted).collect();
    let part: Vec<&Contact> =
        people.iter().filter(|contact| !wanted.is_empty() && contact.name.to_lowercase().contains(&wanted)).collect();
    let found = if exact.is_empty() { part } else { exact };
    match found.as_slice() {
        [] => Err(Failure::not_found("contact", name)),
        [one] => match one.phones.as_slice() {
            [] => Err(Failure::not_found("number of contact", name)),
            [number] => Ok(number.clone()),
            numbers => Err(Failure::ambiguous(
                argument,
                name,
                numbers.iter().map(|number| json!({"contactId": one.id, "phoneNumber": number})),
            )),
        },
        several => Err(Failure::ambiguous(
            argument,
            name,
            several
                .iter()
                .map(|contact| json!({"contactId": contact.id, "name": contact.name, "phoneNumbers": contact.phones})),
        )),
    }
}

pub(crate) fn send(phone: &mut Phone, arguments: SendMessage) -> Result<Reply, Failure> {
    let MessageType::Text = arguments.message_type.unwrap_or_default();
    let peer = match (&arguments.contact, &arguments.phone_number) {
        (Some(name), None) => number_of(phone, "contact", name)?,
        (None, Some(number)) => {
            let clean: String = number.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
            if !is_number(&clean) {
                return Err(Failure::bad_argument(
                    "phoneNumber",
                    "3 to 15 digits, perhaps with a leading +",
                    number.as_str(),
                ));
            }
            clean
        }
        _ => return Err(Failure::missing_argument("contact", "a name, or phoneNumber, and not both", "a message")),
    };
    deliver(phone, peer, arguments.content)
}

fn deliver(phone: &mut Phone, peer: String, body: String) -> Result<Reply, Failure> {
    if !(1..=BODY_MAX).contains(&body.chars().count()) {
        return Err(Failure::bad_argument("content", "1 to 1000 characters", body.chars().count()));
    }
    let now = phone.now();
    let time = now.to_rfc3339(phone.offset_s(now));
    let id = phone.next_id("msg");
    let message = Message {
        id: id.clone(),
        peer,
        direction: "out".to_owned(),
        time: time.clone(),
        body,
        read: true,
        pinned: false,
        kind: "text".to_owned(),
        created: time.clone(),
        modified: time,
    };
    phone.put(MESSAGES, &id, &message)?;
    let names = names(phone)?;
    Ok(Reply::new(
        format!("message sent to {}", shown(&names, &message.peer)),
        json!({"changed": true, "messageId": id, "to": message.peer, "name": names.get(&message.peer)}),
    ))
}

/// Names by number.
fn names(phone: &PhoneView) -> Result<BTreeMap<String, String>, Failure> {
    Ok(contacts(phone)?
        .into_iter()
        .flat_map(|contact| contact.phones.into_iter().map(move |number| (number, contact.name.clone())))
        .collect())
}

/// The name of a number, else the number itself.
fn shown<'a>(names: &'a BTreeMap<String, String>, number: &'a str) -> &'a str {
    names.get(number).map_or(number, String::as_str)
}

pub(crate) fn search(phone: &mut Phone, arguments: SearchMessages) -> Result<Reply, Failure> {
    let days = arguments
        .date_range
        .map(|range| Ok::<_, Failure>((day("dateRange.from", range.from)?, day("dateRange.to", range.to)?)))
        .transpose()?;
    let names = names(phone)?;
    let keyword = arguments.keyword.map(|keyword| keyword.to_lowercase());
    let who = arguments.contact.map(|contact| contact.trim().to_lowercase());
    let unread_only = arguments.unread_only.unwrap_or(false);
    let mut found: Vec<Message> = phone
        .find_all::<Message>(MESSAGES, &Query::new().descending("/time"))?
        .into_iter()
        .map(|doc| doc.value)
        .collect();
    found.retain(|message| {
        let date = message.time.get(..10).unwrap_or_default();
        keyword.as_ref().is_none_or(|keyword| message.body.to_lowercase().contains(keyword))
            && who.as_ref().is_none_or(|who| {
                message.peer.contains(who.as_str()) || shown(&names, &message.peer).to_lowercase().contains(who)
            })
            && days.as_ref().is_none_or(|(from, to)| date >= from.as_str() && date <= to.as_str())
            && (!unread_only || !message.read)
    });
    let total = found.len();
    let messages: Vec<Value> = found
        .iter()
        .take(FOUND_MAX)
        .map(|message| json!({"messageId": message.id, "phoneNumber": message.peer, "name": shown(&names, &message.peer), "direction": message.direction, "time": message.time, "content": message.body, "read": message.read, "pinned": message.pinned}))
        .collect();
    Ok(Reply::new(format!("{total} messages"), json!({"total": total, "messages": messages})))
}

fn day(argument: &str, text: String) -> Result<String, Failure> {
    if Date::parse(&text).is_some() {
        Ok(text)
    } else {
        Err(Failure::bad_argument(argument, "a day `YYYY-MM-DD`", text))
    }
}

pub(crate) fn manage(phone: &mut Phone, arguments: ManageMessage) -> Result<Reply, Failure> {
    let id = arguments.message_id;
    let before: Message = phone.get(MESSAGES, &id)?.ok_or_else(|| Failure::not_found("message", id.as_str()))?;
    let mut after = before.clone();
    match arguments.action {
        Action::Delete => {
            phone.delete(MESSAGES, &id)?;
            return Ok(Reply::new("message deleted", json!({"changed": true, "messageId": id})));
        }
        Action::Forward => {
            let target = arguments
                .target
                .ok_or_else(|| Failure::missing_argument("target", "a contact's name or a number", "`forward`"))?;
            let peer = if is_number(&target) { target } else { number_of(phone, "target", &target)? };
            return deliver(phone, peer, before.body);
        }
        Action::MarkRead => after.read = true,
        Action::Pin => after.pinned = true,
        Action::Unpin => after.pinned = false,
    }
    let changed = after != before;
    if changed {
        let now = phone.now();
        after.modified = now.to_rfc3339(phone.offset_s(now));
        phone.put(MESSAGES, &id, &after)?;
    }
    Ok(Reply::new(
        if changed { "message changed" } else { "the message was already so" },
        json!({"changed": changed, "messageId": id, "read": after.read, "pinned": after.pinned}),
    ))
}
