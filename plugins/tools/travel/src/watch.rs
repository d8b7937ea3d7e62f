//! What the app does: plain functions over the phone's state.

use loopwright_sdk::{Date, Doc, Failure, Phone, Query, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The collection of monitors, by their ids.
pub(crate) const COLLECTION: &str = "flight_watches";

const WATCHES_MAX: u32 = 50;
const CITY_CHARS_MAX: usize = 60;

/// A monitor as it is stored: of a flight, or of all flights of a route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Watch {
    flight_no: Option<String>,
    from: Option<String>,
    to: Option<String>,
    /// `YYYY-MM-DD`; null: every day.
    date: Option<String>,
    created: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Remove,
    Query,
}

/// From where to where.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Route {
    /// The city of departure, 1 to 60 characters.
    from: String,
    /// The city of arrival, 1 to 60 characters.
    to: String,
}

/// The arguments of `manage_flight_watch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    /// What to do; `add` and `remove` need exactly one of `flightNo` and `route`. `add` makes a further monitor, also of what is watched already.
    action: Action,
    /// A flight number such as `CA1831`. query: only monitors of this flight.
    flight_no: Option<String>,
    /// All flights between two cities. query: only monitors of this route.
    route: Option<Route>,
    /// A day `YYYY-MM-DD`; when absent, every day. remove, query: only monitors of this day.
    date: Option<String>,
}

/// The answer of `manage_flight_watch`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Whether the state changed.
    changed: bool,
    /// The monitors that were added, removed or asked for: flights before routes, each by its text.
    watches: Vec<Listed>,
}

/// A monitor as the planner sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    watch_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    flight_no: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
}

impl From<Doc<Watch>> for Listed {
    fn from(doc: Doc<Watch>) -> Self {
        let Watch { flight_no, from, to, date, .. } = doc.value;
        Self { watch_id: doc.key, flight_no, from, to, date }
    }
}

/// What is watched, as the arguments say it.
struct Subject {
    flight_no: Option<String>,
    from: Option<String>,
    to: Option<String>,
    date: Option<String>,
}

impl Subject {
    /// Whether a monitor is of the same flight or route, in whatever case the cities are written.
    fn is_of(&self, watch: &Watch) -> bool {
        let same = |ours: &Option<String>, theirs: &Option<String>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => ours.to_lowercase() == theirs.to_lowercase(),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        same(&self.flight_no, &watch.flight_no) && same(&self.from, &watch.from) && same(&self.to, &watch.to)
    }
}

/// Serves `manage_flight_watch`.
pub(crate) fn manage(phone: &mut Phone, arguments: Arguments) -> Result<Reply<Answer>, Failure> {
    let action = arguments.action;
    let subject = subject(arguments)?;
    match action {
        Action::Add => add(phone, subject),
        Action::Remove => remove(phone, &subject),
        Action::Query => query(phone, &subject),
    }
}

fn subject(arguments: Arguments) -> Result<Option<Subject>, Failure> {
    let Arguments { action, flight_no, route, date } = arguments;
    let date = date.map(|text| day(&text)).transpose()?;
    let subject = match (flight_no, route) {
        (Some(_), Some(_)) => {
            return Err(Failure::bad_argument("route", "either `flightNo` or `route`", "both"));
        }
        (None, None) if action == Action::Query => None,
        (None, None) => {
            return Err(Failure::missing_argument("route", "`flightNo` or `route`", "`add` and `remove`"));
        }
        (Some(number), None) => {
            Some(Subject { flight_no: Some(flight(&number)?), from: None, to: None, date: date.clone() })
        }
        (None, Some(route)) => {
            let (from, to) = (city("route.from", &route.from)?, city("route.to", &route.to)?);
            if from.to_lowercase() == to.to_lowercase() {
                return Err(Failure::bad_argument("route.to", "another city than `route.from`", to));
            }
            Some(Subject { flight_no: None, from: Some(from), to: Some(to), date: date.clone() })
        }
    };
    Ok(subject.or(date.map(|date| Subject { flight_no: None, from: None, to: None, date: Some(date) })))
}

fn day(text: &str) -> Result<String, Failure> {
    Date::parse(text)
        .map(|date| date.to_string())
        .ok_or_else(|| Failure::bad_argument("date", "a day `YYYY-MM-DD`", text))
}

/// Two letters or digits of the airline and up to four digits, in capitals.
fn flight(text: &str) -> Result<String, Failure> {
    let number: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let number = number.to_ascii_uppercase();
    let (airline, digits) = number.split_at_checked(2).unwrap_or(("", ""));
    let right = airline.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && airline.bytes().any(|byte| byte.is_ascii_alphabetic())
        && (1..=4).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    if right { Ok(number) } else { Err(Failure::bad_argument("flightNo", "a flight number such as `CA1831`", text)) }
}

fn city(argument: &str, text: &str) -> Result<String, Failure> {
    let name = text.trim();
    if (1..=CITY_CHARS_MAX).contains(&name.chars().count()) {
        Ok(name.to_owned())
    } else {
        Err(Failure::bad_argument(argument, "the name of a city, 1 to 60 characters", text))
    }
}

fn all(phone: &Phone) -> Result<Vec<Doc<Watch>>, Failure> {
    let mut found = phone.find_all::<Watch>(COLLECTION, &Query::new())?;
    found.sort_by(|left, right| key(&left.value).cmp(&key(&right.value)).then_with(|| left.key.cmp(&right.key)));
    Ok(found)
}

fn key(watch: &Watch) -> (bool, &Option<String>, &Option<String>, &Option<String>, &Option<String>) {
    (watch.flight_no.is_none(), &watch.flight_no, &watch.from, &watch.to, &watch.date)
}

fn add(phone: &mut Phone, subject: Option<Subject>) -> Result<Reply<Answer>, Failure> {
    let Some(subject) = subject else {
        return Err(Failure::missing_argument("route", "`flightNo` or `route`", "`add`"));
    };
    let total = phone.count(COLLECTION, &Query::new())?;
    if total >= WATCHES_MAX {
        return Err(Failure::limit("the number of flight monitors", WATCHES_MAX, total.saturating_add(1)));
    }
    let Subject { flight_no, from, to, date } = subject;
    let now = phone.now();
    let watch = Watch { flight_no, from, to, date, created: phone.local(now).to_string() };
    let key = phone.next_id("watch");
    phone.put(COLLECTION, &key, &watch)?;
    Ok(answer("added the monitor", true, vec![Doc { key, value: watch }]))
}

fn matching(phone: &Phone, subject: &Option<Subject>) -> Result<Vec<Doc<Watch>>, Failure> {
    let mut watches = all(phone)?;
    if let Some(subject) = subject {
        let any = subject.flight_no.is_none() && subject.from.is_none();
        watches.retain(|doc| any || subject.is_of(&doc.value));
        watches.retain(|doc| subject.date.is_none() || doc.value.date == subject.date);
    }
    Ok(watches)
}

fn remove(phone: &mut Phone, subject: &Option<Subject>) -> Result<Reply<Answer>, Failure> {
    let watches = matching(phone, subject)?;
    if watches.is_empty() {
        let there: Vec<String> = all(phone)?.iter().map(|doc| named(&doc.value)).collect();
        return Err(Failure::not_found("such a flight monitor", "none").with_allowed(there));
    }
    for doc in &watches {
        phone.delete(COLLECTION, &doc.key)?;
    }
    Ok(answer("removed", true, watches))
}

fn named(watch: &Watch) -> String {
    let route = || format!("{} - {}", watch.from.as_deref().unwrap_or("?"), watch.to.as_deref().unwrap_or("?"));
    watch.flight_no.clone().unwrap_or_else(route)
}

fn query(phone: &Phone, subject: &Option<Subject>) -> Result<Reply<Answer>, Failure> {
    let watches = matching(phone, subject)?;
    Ok(answer(format!("{} found", watches.len()), false, watches))
}

fn answer(message: impl Into<String>, changed: bool, watches: Vec<Doc<Watch>>) -> Reply<Answer> {
    Reply::new(message.into(), Answer { changed, watches: watches.into_iter().map(Listed::from).collect() })
}
