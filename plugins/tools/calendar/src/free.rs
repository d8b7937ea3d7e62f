//! Free time.

use loopwright_sdk::{Date, Failure, Phone, Reply};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dates::DateRange;
use crate::event::{Occurrence, all, between};

/// The part of a day that counts: 9:00 to 18:00, in minutes.
const DAY_START_MIN: u32 = 9 * 60;
const DAY_END_MIN: u32 = 18 * 60;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct QueryFreeBusy {
    /// The days to look at, at most 31. Of each day 09:00 to 18:00 counts.
    date_range: DateRange,
    /// Only events that one of these takes part in keep time busy; every event when absent.
    attendees: Option<Vec<String>>,
    /// The shortest free time in minutes, 5 to 540; 30 when absent.
    #[schemars(range(min = 5, max = 540))]
    min_duration_min: Option<u32>,
}

pub(crate) fn query(phone: &mut Phone, arguments: QueryFreeBusy) -> Result<Reply, Failure> {
    let (from, to) = arguments.date_range.read()?;
    if to.days_since(from) > 30 {
        return Err(Failure::bad_argument(
            "dateRange.to",
            "at most 30 days after dateRange.from",
            arguments.date_range.to,
        ));
    }
    let shortest = arguments.min_duration_min.unwrap_or(30);
    if !(5..=540).contains(&shortest) {
        return Err(Failure::bad_argument("minDurationMin", "5 to 540", shortest));
    }
    let mut events = all(phone)?;
    events.retain(|event| {
        event.response.as_deref() != Some("declined")
            && arguments
                .attendees
                .as_ref()
                .is_none_or(|wanted| wanted.iter().any(|name| event.attendees.contains(name)))
    });
    let busy = between(&events, from, to)?;
    let mut free: Vec<Value> = Vec::new();
    let mut day = from;
    while day.days_since(to) <= 0 {
        for (start, end) in gaps(&busy, day).into_iter().filter(|(start, end)| end - start >= shortest) {
            free.push(
                json!({"date": day.to_string(), "start": clock(start), "end": clock(end), "minutes": end - start}),
            );
        }
        match day.plus_days(1) {
            Some(next) => day = next,
            None => break,
        }
    }
    let busy: Vec<Value> = busy.iter().map(|occurrence| json!({"title": occurrence.event.title, "start": crate::dates::written(occurrence.start), "end": crate::dates::written(occurrence.end)})).collect();
    Ok(Reply::new(format!("{} free times", free.len()), json!({"free": free, "busy": busy})))
}

fn clock(minutes: u32) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// The free spans of a day in minutes from midnight.
fn gaps(busy: &[Occurrence<'_>], day: Date) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = busy.iter().filter_map(|occurrence| on_day(occurrence, day)).collect();
    spans.sort_unstable();
    let mut free = Vec::new();
    let mut at = DAY_START_MIN;
    for (start, end) in spans {
        if start > at {
            free.push((at, start.min(DAY_END_MIN)));
        }
        at = at.max(end);
    }
    if at < DAY_END_MIN {
        free.push((at, DAY_END_MIN));
    }
    free.retain(|(start, end)| start < end);
    free
}

/// The minutes of a day that an event takes.
fn on_day(occurrence: &Occurrence<'_>, day: Date) -> Option<(u32, u32)> {
    let before = occurrence.start.date.days_since(day);
    let after = occurrence.end.date.days_since(day);
    if before > 0 || after < 0 {
        return None;
    }
    let start = if before < 0 { 0 } else { occurrence.start.time.seconds() / 60 };
    let end = if after > 0 { 24 * 60 } else { occurrence.end.time.seconds() / 60 };
    Some((start, end))
}
