//! Creating, finding, changing and deleting events, and answering invitations.

use loopwright_sdk::{Date, DateTime, Failure, Phone, Reply};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dates::{DateRange, date, date_time, written};
use crate::event::{EVENTS, Event, Occurrence, Repeat, all, between};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Update,
    Delete,
    Query,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Scope {
    This,
    Following,
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ManageSchedule {
    /// What to do. `create` needs `event` and `datetime`; `update` and `delete` need `eventId`, and for a repeated event `scope`. `delete`
    /// needs the user's confirmation.
    action: Action,
    /// The event's id, as `query` tells it.
    event_id: Option<String>,
    /// The title, 1 to 100 characters; with `query` a part of it.
    event: Option<String>,
    /// The start, `YYYY-MM-DDTHH:MM` on the clock of `timezone`.
    datetime: Option<String>,
    /// The end; an hour after the start when absent.
    end_time: Option<String>,
    /// The zone of the times; the phone's when absent.
    timezone: Option<String>,
    /// Where it takes place.
    location: Option<String>,
    /// Who takes part.
    attendees: Option<Vec<String>>,
    /// Minutes before the start at which the phone reminds, 0 to 10080.
    #[schemars(range(min = 0, max = 10_080))]
    reminder_min: Option<u32>,
    /// How it repeats; once when absent.
    repeat: Option<Repeat>,
    /// Which of a repeated event's times are meant: the one on `occurrenceDate`, that one and the following, or all.
    scope: Option<Scope>,
    /// With scope `this` and `following`: the day, `YYYY-MM-DD`.
    occurrence_date: Option<String>,
    /// With `query`: the days to look at; today and the six days after it when absent.
    date_range: Option<DateRange>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Response {
    Accept,
    Decline,
    Tentative,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RespondCalendarInvite {
    /// The event's id, as manage_schedule tells it.
    event_id: String,
    /// The answer.
    response: Response,
    /// A note to the organizer.
    note: Option<String>,
}

pub(crate) fn manage(phone: &mut Phone, arguments: ManageSchedule) -> Result<Reply, Failure> {
    match arguments.action {
        Action::Query => query(phone, &arguments),
        Action::Create => create(phone, &arguments),
        Action::Update => update(phone, &arguments),
        Action::Delete => delete(phone, &arguments),
    }
}

fn told(occurrence: &Occurrence<'_>) -> Value {
    let event = occurrence.event;
    json!({
        "eventId": event.id, "title": event.title, "start": written(occurrence.start), "end": written(occurrence.end), "timezone": event.timezone,
        "location": event.location, "attendees": event.attendees, "reminderMin": event.reminder_min, "repeat": event.repeat,
        "response": event.response, "organizer": event.organizer,
    })
}

fn query(phone: &Phone, arguments: &ManageSchedule) -> Result<Reply, Failure> {
    let today = phone.local(phone.now()).date;
    let (from, to) = match &arguments.date_range {
        Some(range) => range.read()?,
        None => (today, today.plus_days(6).unwrap_or(today)),
    };
    let mut events = all(phone)?;
    events.retain(|event| {
        arguments.event_id.as_ref().is_none_or(|id| event.id == *id)
            && arguments.event.as_ref().is_none_or(|title| event.title.to_lowercase().contains(&title.to_lowercase()))
    });
    let found: Vec<Value> = between(&events, from, to)?.iter().map(told).collect();
    Ok(Reply::new(
        format!("{} events from {from} to {to}", found.len()),
        json!({"from": from.to_string(), "to": to.to_string(), "total": found.len(), "events": found}),
    ))
}

fn title(text: Option<&String>) -> Result<Option<String>, Failure> {
    match text {
        Some(text) if !(1..=100).contains(&text.chars().count()) => {
            Err(Failure::bad_argument("event", "1 to 100 characters", text.as_str()))
        }
        text => Ok(text.cloned()),
    }
}

fn create(phone: &mut Phone, arguments: &ManageSchedule) -> Result<Reply, Failure> {
    let title =
        title(arguments.event.as_ref())?.ok_or_else(|| Failure::missing_argument("event", "a title", "`create`"))?;
    let start = date_time(
        "datetime",
        arguments
            .datetime
            .as_deref()
            .ok_or_else(|| Failure::missing_argument("datetime", "a time `YYYY-MM-DDTHH:MM`", "`create`"))?,
    )?;
    let end = end(start, arguments.end_time.as_deref())?;
    let now = phone.now();
    let stamp = now.to_rfc3339(phone.offset_s(now));
    let id = phone.next_id("event");
    let event = Event {
        id: id.clone(),
        title,
        start: written(start),
        end: written(end),
        timezone: arguments.timezone.clone().unwrap_or_else(|| phone.zone()),
        location: arguments.location.clone(),
        attendees: arguments.attendees.clone().unwrap_or_default(),
        reminder_min: arguments.reminder_min,
        repeat: arguments.repeat,
        until: None,
        exceptions: Vec::new(),
        response: None,
        organizer: None,
        created: stamp.clone(),
        modified: stamp,
    };
    let conflicts = conflicts(phone, &event)?;
    phone.put(EVENTS, &id, &event)?;
    let text = if conflicts.is_empty() {
        format!("`{}` added on {}", event.title, event.start)
    } else {
        format!("`{}` added on {}; it overlaps {} events", event.title, event.start, conflicts.len())
    };
    Ok(Reply::new(
        text,
        json!({"changed": true, "eventId": id, "start": event.start, "end": event.end, "conflicts": conflicts}),
    ))
}

fn end(start: DateTime, text: Option<&str>) -> Result<DateTime, Failure> {
    let end = match text {
        Some(text) => date_time("endTime", text)?,
        None => start
            .plus_s(3600)
            .ok_or_else(|| Failure::bad_argument("datetime", "a time before the year 9999", start.to_string()))?,
    };
    if written(end) <= written(start) {
        Err(Failure::bad_argument("endTime", format!("a time after {}", written(start)), written(end)))
    } else {
        Ok(end)
    }
}

/// What else takes place while the event does, on its first day.
fn conflicts(phone: &Phone, event: &Event) -> Result<Vec<Value>, Failure> {
    let (start, end) = event.times()?;
    let others: Vec<Event> = all(phone)?
        .into_iter()
        .filter(|other| other.id != event.id && other.response.as_deref() != Some("declined"))
        .collect();
    let overlapping = between(&others, start.date, end.date)?;
    Ok(overlapping
        .iter()
        .filter(|other| other.start.to_string() < end.to_string() && other.end.to_string() > start.to_string())
        .map(told)
        .collect())
}

fn known(phone: &Phone, id: Option<&String>, needed_by: &str) -> Result<Event, Failure> {
    let id = id.ok_or_else(|| Failure::missing_argument("eventId", "an event's id, as `query` tells it", needed_by))?;
    phone.get(EVENTS, id)?.ok_or_else(|| Failure::not_found("event", id.as_str()))
}

/// Which times of an event are meant; for a repeated one the caller has to say.
enum Meant {
    All,
    This(Date),
    Following(Date),
}

fn meant(event: &Event, arguments: &ManageSchedule) -> Result<Meant, Failure> {
    if event.repeat.is_none() {
        return Ok(Meant::All);
    }
    let Some(scope) = arguments.scope else {
        return Err(Failure::missing_argument("scope", ["this", "following", "all"], "a repeated event"));
    };
    if scope == Scope::All {
        return Ok(Meant::All);
    }
    let day = date(
        "occurrenceDate",
        arguments.occurrence_date.as_deref().ok_or_else(|| {
            Failure::missing_argument("occurrenceDate", "a day `YYYY-MM-DD`", "scope `this` and `following`")
        })?,
    )?;
    let (start, _) = event.times()?;
    if !event.occurrences(day, day)?.iter().any(|occurrence| occurrence.start.date == day) {
        return Err(Failure::not_found("occurrence of the event on", day.to_string()));
    }
    Ok(match scope {
        Scope::Following if day == start.date => Meant::All,
        Scope::Following => Meant::Following(day),
        Scope::This | Scope::All => Meant::This(day),
    })
}

/// The event without the times from `day` on.
fn cut_before(event: &mut Event, day: Date) {
    event.until = day.plus_days(-1).map(|day| day.to_string());
}

fn update(phone: &mut Phone, arguments: &ManageSchedule) -> Result<Reply, Failure> {
    let before = known(phone, arguments.event_id.as_ref(), "`update`")?;
    let meant = meant(&before, arguments)?;
    let now = phone.now();
    let stamp = now.to_rfc3339(phone.offset_s(now));
    let mut after = before.clone();
    match &meant {
        Meant::All => {}
        Meant::This(day) => {
            // One time of a series becomes an event of its own.
            after = moved_to(&before, *day)?;
            after.repeat = None;
            after.until = None;
            after.exceptions = Vec::new();
        }
        Meant::Following(day) => after = moved_to(&before, *day)?,
    }
    change(&mut after, arguments)?;
    let changed = after != before;
    if !changed {
        return Ok(Reply::new("the event was already so", json!({"changed": false, "eventId": before.id})));
    }
    after.modified.clone_from(&stamp);
    if !matches!(meant, Meant::All) {
        let mut series = before.clone();
        match meant {
            Meant::This(day) => series.exceptions.push(day.to_string()),
            Meant::Following(day) => cut_before(&mut series, day),
            Meant::All => {}
        }
        series.modified.clone_from(&stamp);
        phone.put(EVENTS, &series.id, &series)?;
        after.id = phone.next_id("event");
        after.created = stamp;
    }
    let conflicts = conflicts(phone, &after)?;
    phone.put(EVENTS, &after.id, &after)?;
    Ok(Reply::new(
        format!("`{}` is now on {}", after.title, after.start),
        json!({"changed": true, "eventId": after.id, "start": after.start, "end": after.end, "conflicts": conflicts}),
    ))
}

/// The event as it takes place on `day`.
fn moved_to(event: &Event, day: Date) -> Result<Event, Failure> {
    let occurrences = event.occurrences(day, day)?;
    let occurrence = occurrences
        .iter()
        .find(|occurrence| occurrence.start.date == day)
        .ok_or_else(|| Failure::not_found("occurrence of the event on", day.to_string()))?;
    Ok(Event { start: written(occurrence.start), end: written(occurrence.end), ..event.clone() })
}

fn change(event: &mut Event, arguments: &ManageSchedule) -> Result<(), Failure> {
    if let Some(title) = title(arguments.event.as_ref())? {
        event.title = title;
    }
    if let Some(text) = &arguments.datetime {
        // A moved event keeps its length unless an end is given.
        let (start, old_end) = event.times()?;
        let length_s = old_end.date.days_since(start.date) * 86_400 + i64::from(old_end.time.seconds())
            - i64::from(start.time.seconds());
        let start = date_time("datetime", text)?;
        event.start = written(start);
        event.end = written(
            start
                .plus_s(length_s)
                .ok_or_else(|| Failure::bad_argument("datetime", "a time before the year 9999", text.as_str()))?,
        );
    }
    if let Some(text) = &arguments.end_time {
        let (start, _) = event.times()?;
        event.end = written(end(start, Some(text))?);
    }
    if let Some(zone) = &arguments.timezone {
        event.timezone.clone_from(zone);
    }
    event.location = arguments.location.clone().or_else(|| event.location.take());
    if let Some(attendees) = &arguments.attendees {
        event.attendees.clone_from(attendees);
    }
    event.reminder_min = arguments.reminder_min.or(event.reminder_min);
    event.repeat = arguments.repeat.or(event.repeat);
    Ok(())
}

fn delete(phone: &mut Phone, arguments: &ManageSchedule) -> Result<Reply, Failure> {
    let mut event = known(phone, arguments.event_id.as_ref(), "`delete`")?;
    match meant(&event, arguments)? {
        Meant::All => {
            phone.delete(EVENTS, &event.id)?;
        }
        Meant::This(day) => {
            event.exceptions.push(day.to_string());
            phone.put(EVENTS, &event.id, &event)?;
        }
        Meant::Following(day) => {
            cut_before(&mut event, day);
            phone.put(EVENTS, &event.id, &event)?;
        }
    }
    Ok(Reply::new(format!("`{}` deleted", event.title), json!({"changed": true, "eventId": event.id})))
}

pub(crate) fn respond(phone: &mut Phone, arguments: RespondCalendarInvite) -> Result<Reply, Failure> {
    let mut event = known(phone, Some(&arguments.event_id), "an answer")?;
    if event.organizer.is_none() {
        return Err(Failure::conflict(
            &format!("`{}` is the owner's own event", event.title),
            "only invitations are answered",
        ));
    }
    let response = match arguments.response {
        Response::Accept => "accepted",
        Response::Decline => "declined",
        Response::Tentative => "tentative",
    };
    let changed = event.response.as_deref() != Some(response);
    if changed {
        event.response = Some(response.to_owned());
        phone.put(EVENTS, &event.id, &event)?;
    }
    Ok(Reply::new(
        format!("`{}` {response}", event.title),
        json!({"changed": changed, "eventId": event.id, "response": response, "note": arguments.note}),
    ))
}
