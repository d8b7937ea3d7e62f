//! Alarms.

use loopwright_sdk::{Failure, Phone, PhoneView, Query, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::day::{Day, sorted, stamp, time};

/// The collection.
const ALARMS: &str = "alarms";
/// Alarms that the app keeps.
const ALARMS_MAX: u32 = 50;
/// The tones that an alarm can have.
const TONES: [&str; 6] = ["Classic", "Sunrise", "Drop", "Marimba", "Bell", "Waves"];

/// An alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Alarm {
    id: String,
    /// `HH:MM`.
    time: String,
    title: String,
    /// The days on which it rings; once when empty.
    days: Vec<Day>,
    skip_holidays: bool,
    on: bool,
    sound: String,
    created: String,
    modified: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Update,
    Delete,
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageAlarm {
    /// What to do. `create` needs `time`; `update`, `delete`, `enable` and `disable` need `alarmId`, or a `time` or `title` that only one
    /// alarm has.
    action: Action,
    /// The alarm's id, as `query` tells it.
    alarm_id: Option<String>,
    /// `HH:MM`. With `alarmId` and `update` the new time.
    time: Option<String>,
    /// A title of at most 60 characters. With `alarmId` and `update` the new title.
    title: Option<String>,
    /// The days on which it rings; an empty list or none: once.
    repeat_days: Option<Vec<Day>>,
    /// Whether it stays silent on holidays.
    skip_holidays: Option<bool>,
    /// The tone: Classic, Sunrise, Drop, Marimba, Bell or Waves.
    ringtone: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_alarm", manage_alarm)
            .domain(crate::DOMAIN)
            .en(
                "Creates, changes, deletes, turns on or off, or tells alarms.",
                "alarm, wake me up, wake up call, set an alarm, alarm clock, ring at, every weekday morning, delete alarm, turn off alarm, change alarm time, which alarms, get me up, ring me, buzz me at, go off at, wake, alert at a time of day, medicine alarm, twice in the morning",
            )
            .zh("新建、修改、删除、打开、关闭或查询闹钟。", "闹钟 叫我起床 叫醒我 定闹钟 设闹钟 早上叫我 删除闹钟 关闭闹钟 改闹钟 工作日闹钟 几点起床 喊我 喊醒 响铃 响一次 几点响 到点提醒 吃药提醒 晨跑 唤醒")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

fn all(phone: &PhoneView) -> Result<Vec<Alarm>, Failure> {
    Ok(phone.find_all::<Alarm>(ALARMS, &Query::new().ascending("/time"))?.into_iter().map(|doc| doc.value).collect())
}

/// An alarm as the tool tells it.
fn told(alarm: &Alarm) -> Value {
    json!({"alarmId": alarm.id, "time": alarm.time, "title": alarm.title, "repeatDays": alarm.days, "skipHolidays": alarm.skip_holidays, "on": alarm.on, "ringtone": alarm.sound})
}

fn manage_alarm(phone: &mut Phone, arguments: ManageAlarm) -> Result<Reply, Failure> {
    let clock = arguments.time.as_deref().map(|text| time("time", text)).transpose()?;
    if let Some(tone) = arguments.ringtone.as_ref().filter(|tone| !TONES.contains(&tone.as_str())) {
        return Err(Failure::bad_argument("ringtone", TONES, tone.as_str()));
    }
    if let Some(title) = arguments.title.as_ref().filter(|title| title.chars().count() > 60) {
        return Err(Failure::bad_argument("title", "at most 60 characters", title.as_str()));
    }
    match arguments.action {
        Action::Query => query(phone, &arguments, clock.as_ref()),
        Action::Create => create(phone, &arguments, clock),
        Action::Update => {
            let before = chosen(phone, &arguments, clock.as_ref())?;
            let mut after = before.clone();
            if arguments.alarm_id.is_some() {
                after.time = clock.unwrap_or(after.time);
            }
            after.title = arguments.title.unwrap_or(after.title);
            after.days = arguments.repeat_days.map_or(after.days, sorted);
            after.skip_holidays = arguments.skip_holidays.unwrap_or(after.skip_holidays);
            after.sound = arguments.ringtone.unwrap_or(after.sound);
            keep(phone, &before, after)
        }
        Action::Enable | Action::Disable => {
            let before = chosen(phone, &arguments, clock.as_ref())?;
            let after = Alarm { on: arguments.action == Action::Enable, ..before.clone() };
            keep(phone, &before, after)
        }
        Action::Delete => {
            let alarm = chosen(phone, &arguments, clock.as_ref())?;
            phone.delete(ALARMS, &alarm.id)?;
            Ok(Reply::new(format!("alarm at {} deleted", alarm.time), json!({"changed": true, "alarmId": alarm.id})))
        }
    }
}

fn query(phone: &Phone, arguments: &ManageAlarm, clock: Option<&String>) -> Result<Reply, Failure> {
    let mut alarms = all(phone)?;
    alarms.retain(|alarm| {
        arguments.alarm_id.as_ref().is_none_or(|id| alarm.id == *id)
            && clock.is_none_or(|clock| alarm.time == *clock)
            && arguments.title.as_ref().is_none_or(|title| alarm.title.to_lowercase().contains(&title.to_lowercase()))
    });
    let alarms: Vec<Value> = alarms.iter().map(told).collect();
    Ok(Reply::new(format!("{} alarms", alarms.len()), json!({"total": alarms.len(), "alarms": alarms})))
}

fn create(phone: &mut Phone, arguments: &ManageAlarm, clock: Option<String>) -> Result<Reply, Failure> {
    let clock = clock.ok_or_else(|| Failure::missing_argument("time", "a time `HH:MM`", "`create`"))?;
    let alarms = all(phone)?;
    if alarms.len() >= ALARMS_MAX as usize {
        return Err(Failure::limit("alarms", ALARMS_MAX, alarms.len()));
    }
    let now = stamp(phone);
    let id = phone.next_id("alarm");
    let alarm = Alarm {
        id: id.clone(),
        time: clock,
        title: arguments.title.clone().unwrap_or_default(),
        days: sorted(arguments.repeat_days.clone().unwrap_or_default()),
        skip_holidays: arguments.skip_holidays.unwrap_or(false),
        on: true,
        sound: arguments.ringtone.clone().unwrap_or_else(|| "Sunrise".to_owned()),
        created: now.clone(),
        modified: now,
    };
    phone.put(ALARMS, &id, &alarm)?;
    Ok(Reply::new(
        format!("alarm set for {}", alarm.time),
        json!({"changed": true, "alarmId": id, "alarm": told(&alarm)}),
    ))
}

/// The alarm that is meant: by id, else the only one of this time or title.
fn chosen(phone: &PhoneView, arguments: &ManageAlarm, clock: Option<&String>) -> Result<Alarm, Failure> {
    if let Some(id) = &arguments.alarm_id {
        return phone.get(ALARMS, id)?.ok_or_else(|| Failure::not_found("alarm", id.as_str()));
    }
    let (argument, wanted) = match (clock, &arguments.title) {
        (Some(clock), _) => ("time", clock),
        (None, Some(title)) => ("title", title),
        (None, None) => {
            return Err(Failure::missing_argument(
                "alarmId",
                "an id, or a time or title that only one alarm has",
                "everything but `create` and `query`",
            ));
        }
    };
    let alarms = all(phone)?;
    let fitting: Vec<&Alarm> = alarms
        .iter()
        .filter(|alarm| {
            if clock.is_some() { alarm.time == *wanted } else { alarm.title.to_lowercase() == wanted.to_lowercase() }
        })
        .collect();
    match fitting.as_slice() {
        [] => Err(Failure::not_found("alarm", wanted.as_str())
            .with_allowed(alarms.iter().map(|alarm| alarm.time.clone()).collect::<Vec<_>>())),
        [one] => Ok((*one).clone()),
        several => Err(Failure::ambiguous(argument, wanted.as_str(), several.iter().map(|alarm| told(alarm)))),
    }
}

fn keep(phone: &mut Phone, before: &Alarm, mut after: Alarm) -> Result<Reply, Failure> {
    let changed = after != *before;
    if changed {
        after.modified = stamp(phone);
        phone.put(ALARMS, &after.id, &after)?;
    }
    let text = format!("alarm at {} {}", after.time, if changed { "changed" } else { "was already so" });
    Ok(Reply::new(text, json!({"changed": changed, "alarmId": after.id, "alarm": told(&after)})))
}
