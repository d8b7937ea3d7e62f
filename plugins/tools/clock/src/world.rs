//! The time now, here and in other cities, and the sleep plan.

use loopwright_sdk::{Failure, Instant, Phone, Reply, Tool, Weekday};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::day::{Day, sorted, time};

/// Cities with their zone and offset from UTC in hours. Offsets are those of standard time: the app says so.
const CITIES: [(&str, &str, i32); 10] = [
    ("Beijing", "Asia/Shanghai", 8),
    ("Berlin", "Europe/Berlin", 1),
    ("Dubai", "Asia/Dubai", 4),
    ("London", "Europe/London", 0),
    ("Los Angeles", "America/Los_Angeles", -8),
    ("Moscow", "Europe/Moscow", 3),
    ("New York", "America/New_York", -5),
    ("Paris", "Europe/Paris", 1),
    ("Singapore", "Asia/Singapore", 8),
    ("Tokyo", "Asia/Tokyo", 9),
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct World {
    cities: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Bedtime {
    on: bool,
    sleep_time: String,
    wake_time: String,
    days: Vec<Day>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct QueryCurrentTime {
    /// A zone such as `Asia/Tokyo` or a city of the world clock; the phone's own when absent.
    timezone: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CityAction {
    Add,
    Remove,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageWorldClock {
    /// What to do; `add` and `remove` need `city`.
    action: CityAction,
    /// Beijing, Berlin, Dubai, London, Los Angeles, Moscow, New York, Paris, Singapore or Tokyo.
    city: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BedtimeAction {
    Set,
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageBedtime {
    /// What to do; `set` needs one of the others, and turns the plan on.
    action: BedtimeAction,
    /// When to sleep, `HH:MM`.
    sleep_time: Option<String>,
    /// When to wake, `HH:MM`.
    wake_time: Option<String>,
    /// On which days.
    days: Option<Vec<Day>>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("query_current_time", query_current_time)
            .domain(crate::DOMAIN)
            .en(
                "Tells the date and time now, here or in another zone.",
                "what time is it, current time, today's date, time now, time in tokyo, date today, what day is it, local time in another city",
            )
            .zh("查询现在的日期和时间，本地或其他时区。", "现在几点 当前时间 今天几号 今天日期 东京几点 现在时间 今天星期几")
            .reads(),
        Tool::new("manage_world_clock", manage_world_clock)
            .domain(crate::DOMAIN)
            .en(
                "Adds or removes a city of the world clock, or tells the times of all of them.",
                "world clock, add city, remove city, time in other cities, show london time, time zones clock, international time",
            )
            .zh("添加或删除世界时钟城市，或查询各城市时间。", "世界时钟 添加城市 删除城市 各地时间 伦敦时间 时差 国际时间")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_bedtime", manage_bedtime)
            .domain(crate::DOMAIN)
            .en(
                "Sets the sleep plan, turns it on or off, or tells it.",
                "bedtime, sleep schedule, sleep plan, go to bed at, wake up time, sleep routine, bedtime reminder, sleeping hours",
            )
            .zh("设置睡眠计划，打开或关闭，或查询。", "就寝 睡眠计划 睡眠时间 几点睡觉 作息 睡眠模式 起床时间 就寝提醒")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

/// The English name of a day.
fn weekday(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

/// The time in a zone, as a person reads it.
fn shown(now: Instant, offset_s: i32, zone: &str) -> Value {
    let local = now.civil(offset_s);
    json!({"date": local.date.to_string(), "time": local.time.to_minutes(), "weekday": weekday(local.date.weekday()), "timezone": zone, "iso": now.to_rfc3339(offset_s)})
}

fn query_current_time(phone: &mut Phone, arguments: QueryCurrentTime) -> Result<Reply, Failure> {
    let now = phone.now();
    let zone = phone.zone();
    let data = match &arguments.timezone {
        None => shown(now, phone.offset_s(now), &zone),
        Some(wanted) if *wanted == zone => shown(now, phone.offset_s(now), &zone),
        Some(wanted) if wanted == "UTC" => shown(now, 0, "UTC"),
        Some(wanted) => match CITIES.iter().find(|(city, zone, _)| wanted == zone || wanted.eq_ignore_ascii_case(city))
        {
            Some((_, zone, hours)) => shown(now, hours * 3600, zone),
            None => return Err(Failure::bad_argument("timezone", CITIES.map(|(_, zone, _)| zone), wanted.as_str())),
        },
    };
    Ok(Reply::new("the time now", data))
}

fn manage_world_clock(phone: &mut Phone, arguments: ManageWorldClock) -> Result<Reply, Failure> {
    let city = || {
        let city = arguments
            .city
            .as_deref()
            .ok_or_else(|| Failure::missing_argument("city", CITIES.map(|(city, ..)| city), "`add` and `remove`"))?;
        CITIES
            .iter()
            .find(|(known, ..)| known.eq_ignore_ascii_case(city))
            .map(|(known, ..)| (*known).to_owned())
            .ok_or_else(|| Failure::not_found("city", city).with_allowed(CITIES.map(|(city, ..)| city)))
    };
    let update = phone.update("clock", "world", |world: &mut World| {
        match arguments.action {
            CityAction::Query => {}
            CityAction::Add => {
                let city = city()?;
                if !world.cities.contains(&city) {
                    world.cities.push(city);
                    world.cities.sort();
                }
            }
            CityAction::Remove => {
                let city = city()?;
                world.cities.retain(|known| *known != city);
            }
        }
        Ok(())
    })?;
    let now = phone.now();
    let times: Vec<Value> = CITIES
        .iter()
        .filter(|(city, ..)| update.value.cities.iter().any(|known| known == city))
        .map(|(city, zone, hours)| json!({"city": city, "now": shown(now, hours * 3600, zone)}))
        .collect();
    Ok(Reply::new(
        format!("{} cities", times.len()),
        json!({"changed": update.changed, "cities": update.value.cities, "times": times}),
    ))
}

fn manage_bedtime(phone: &mut Phone, arguments: ManageBedtime) -> Result<Reply, Failure> {
    let sleep = arguments.sleep_time.as_deref().map(|text| time("sleepTime", text)).transpose()?;
    let wake = arguments.wake_time.as_deref().map(|text| time("wakeTime", text)).transpose()?;
    let update = phone.update("clock", "bedtime", |plan: &mut Bedtime| {
        match arguments.action {
            BedtimeAction::Query => {}
            BedtimeAction::Enable => plan.on = true,
            BedtimeAction::Disable => plan.on = false,
            BedtimeAction::Set => {
                if sleep.is_none() && wake.is_none() && arguments.days.is_none() {
                    return Err(Failure::missing_argument(
                        "sleepTime",
                        "a time `HH:MM`, or wakeTime, or days",
                        "`set`",
                    ));
                }
                plan.sleep_time = sleep.clone().unwrap_or_else(|| std::mem::take(&mut plan.sleep_time));
                plan.wake_time = wake.clone().unwrap_or_else(|| std::mem::take(&mut plan.wake_time));
                plan.days = arguments.days.clone().map_or_else(|| std::mem::take(&mut plan.days), sorted);
                plan.on = true;
            }
        }
        Ok(())
    })?;
    let plan = update.value;
    let data = json!({"changed": update.changed, "on": plan.on, "sleepTime": plan.sleep_time, "wakeTime": plan.wake_time, "days": plan.days});
    Ok(Reply::new(format!("sleep plan is {}", if plan.on { "on" } else { "off" }), data))
}
