//! Timers that count down on the episode's clock.

use loopwright_sdk::{Failure, Instant, Phone, PhoneView, Query, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::day::stamp;

/// The collection.
const TIMERS: &str = "timers";
/// The longest timer: a day less a second.
const DURATION_MAX_S: i64 = 86_399;

/// A timer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Timer {
    id: String,
    label: String,
    duration_s: i64,
    /// What was left when it was last started or paused.
    remaining_s: i64,
    /// `running` or `paused`.
    state: String,
    /// ISO 8601; absent while it is paused.
    ends_at: Option<String>,
    created: String,
    modified: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    Pause,
    Resume,
    Cancel,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageCountdown {
    /// What to do. `start` needs `durationSec`; `pause`, `resume` and `cancel` need `timerId`, or a `label` that only one timer has, or
    /// nothing when there is only one timer.
    action: Action,
    /// Seconds, 1 to 86399.
    #[schemars(range(min = 1, max = 86_399))]
    duration_sec: Option<i64>,
    /// A label of at most 60 characters.
    label: Option<String>,
    /// The timer's id, as `query` tells it.
    timer_id: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_countdown", manage_countdown)
            .domain(crate::DOMAIN)
            .en(
                "Starts, pauses, resumes, cancels or tells countdown timers.",
                "timer, countdown, set a timer, minutes timer, kitchen timer, pause timer, cancel timer, how long left, time the eggs, remind me in minutes, count down from, hold the timer, interrupt, continue later, go on with the timer, stop the clock, nap timer",
            )
            .zh("开始、暂停、继续、取消或查询倒计时。", "倒计时 计时器 定时器 计时十分钟 还剩多久 暂停计时 取消计时 煮蛋计时 分钟后提醒 倒数 小睡 停一下计时 接着计时 中断 秒后")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

fn all(phone: &PhoneView) -> Result<Vec<Timer>, Failure> {
    Ok(phone.find_all::<Timer>(TIMERS, &Query::new())?.into_iter().map(|doc| doc.value).collect())
}

/// Seconds that are left now; 0 when it has run out.
fn left(timer: &Timer, now: Instant) -> i64 {
    let end = timer.ends_at.as_deref().and_then(Instant::parse_rfc3339);
    match end {
        Some(end) => i64::try_from(end.unix_ns().saturating_sub(now.unix_ns()) / 1_000_000_000).unwrap_or(i64::MAX),
        None => timer.remaining_s,
    }
}

fn told(timer: &Timer, now: Instant) -> Value {
    let left = left(timer, now);
    let state = if timer.state == "running" && left == 0 { "finished" } else { timer.state.as_str() };
    json!({"timerId": timer.id, "label": timer.label, "durationSec": timer.duration_s, "remainingSec": left, "state": state, "endsAt": timer.ends_at})
}

fn ends_at(phone: &Phone, seconds: i64) -> Result<String, Failure> {
    let end = phone.now().plus_s(seconds).ok_or_else(|| Failure::fault("the clock cannot hold the timer's end"))?;
    Ok(end.to_rfc3339(phone.offset_s(end)))
}

fn manage_countdown(phone: &mut Phone, arguments: ManageCountdown) -> Result<Reply, Failure> {
    let now = phone.now();
    match arguments.action {
        Action::Query => {
            let timers: Vec<Value> = all(phone)?
                .iter()
                .filter(|timer| arguments.timer_id.as_ref().is_none_or(|id| timer.id == *id))
                .map(|timer| told(timer, now))
                .collect();
            Ok(Reply::new(format!("{} timers", timers.len()), json!({"total": timers.len(), "timers": timers})))
        }
        Action::Start => start(phone, &arguments),
        Action::Cancel => {
            let timer = chosen(phone, &arguments)?;
            phone.delete(TIMERS, &timer.id)?;
            Ok(Reply::new("timer cancelled", json!({"changed": true, "timerId": timer.id})))
        }
        Action::Pause | Action::Resume => {
            let before = chosen(phone, &arguments)?;
            let mut after = before.clone();
            let remaining = left(&before, now);
            if arguments.action == Action::Pause && before.state == "running" {
                "paused".clone_into(&mut after.state);
                after.remaining_s = remaining;
                after.ends_at = None;
            } else if arguments.action == Action::Resume && before.state == "paused" {
                "running".clone_into(&mut after.state);
                after.ends_at = Some(ends_at(phone, remaining)?);
            }
            let changed = after != before;
            if changed {
                after.modified = stamp(phone);
                phone.put(TIMERS, &after.id, &after)?;
            }
            Ok(Reply::new(
                format!("timer {}", after.state),
                json!({"changed": changed, "timerId": after.id, "timer": told(&after, now)}),
            ))
        }
    }
}

fn start(phone: &mut Phone, arguments: &ManageCountdown) -> Result<Reply, Failure> {
    let seconds =
        arguments.duration_sec.ok_or_else(|| Failure::missing_argument("durationSec", "1 to 86399", "`start`"))?;
    if !(1..=DURATION_MAX_S).contains(&seconds) {
        return Err(Failure::bad_argument("durationSec", "1 to 86399", seconds));
    }
    let label = arguments.label.clone().unwrap_or_default();
    if label.chars().count() > 60 {
        return Err(Failure::bad_argument("label", "at most 60 characters", label));
    }
    let stamp = stamp(phone);
    let ends_at = ends_at(phone, seconds)?;
    let id = phone.next_id("timer");
    let timer = Timer {
        id: id.clone(),
        label,
        duration_s: seconds,
        remaining_s: seconds,
        state: "running".to_owned(),
        ends_at: Some(ends_at),
        created: stamp.clone(),
        modified: stamp,
    };
    phone.put(TIMERS, &id, &timer)?;
    let now = phone.now();
    Ok(Reply::new(
        format!("timer of {seconds} s started"),
        json!({"changed": true, "timerId": id, "timer": told(&timer, now)}),
    ))
}

fn chosen(phone: &PhoneView, arguments: &ManageCountdown) -> Result<Timer, Failure> {
    if let Some(id) = &arguments.timer_id {
        return phone.get(TIMERS, id)?.ok_or_else(|| Failure::not_found("timer", id.as_str()));
    }
    let timers = all(phone)?;
    let fitting: Vec<&Timer> = timers
        .iter()
        .filter(|timer| arguments.label.as_ref().is_none_or(|label| timer.label.to_lowercase() == label.to_lowercase()))
        .collect();
    match fitting.as_slice() {
        [] => Err(Failure::not_found("timer", arguments.label.as_deref().unwrap_or("any"))),
        [one] => Ok((*one).clone()),
        several => Err(Failure::ambiguous(
            "timerId",
            arguments.label.as_deref().unwrap_or(""),
            several.iter().map(|timer| json!({"timerId": timer.id, "label": timer.label})),
        )),
    }
}
