//! The stopwatch.

use loopwright_sdk::{Failure, Instant, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Laps that are kept.
const LAPS_MAX: usize = 99;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stopwatch {
    state: String,
    elapsed_ms: u64,
    started_at: Option<String>,
    laps: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    Lap,
    Stop,
    Reset,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageStopwatch {
    /// What to do.
    action: Action,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_stopwatch", manage_stopwatch)
            .domain(crate::DOMAIN)
            .en(
                "Starts, stops or resets the stopwatch, takes a lap, or tells it.",
                "stopwatch, lap time, time my run, start timing, stop timing, reset stopwatch, elapsed time, how long did it take, split time",
            )
            .zh("开始、停止、重置秒表，计圈，或查询。", "秒表 计圈 跑步计时 开始计时 停止计时 秒表清零 用了多久 计时跑")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

impl Stopwatch {
    fn elapsed_ms(&self, now: Instant) -> u64 {
        let running = self
            .started_at
            .as_deref()
            .and_then(Instant::parse_rfc3339)
            .map_or(0, |started| now.unix_ns().saturating_sub(started.unix_ns()) / 1_000_000);
        self.elapsed_ms.saturating_add(running)
    }
}

fn manage_stopwatch(phone: &mut Phone, arguments: ManageStopwatch) -> Result<Reply, Failure> {
    let now = phone.now();
    let stamp = now.to_rfc3339(0);
    let update = phone.update("clock", "stopwatch", |watch: &mut Stopwatch| {
        let running = watch.state == "running";
        match arguments.action {
            Action::Start if !running => {
                "running".clone_into(&mut watch.state);
                watch.started_at = Some(stamp);
            }
            Action::Stop if running => {
                watch.elapsed_ms = watch.elapsed_ms(now);
                watch.started_at = None;
                "stopped".clone_into(&mut watch.state);
            }
            Action::Start | Action::Stop | Action::Query => {}
            Action::Reset => {
                *watch = Stopwatch { state: "stopped".to_owned(), elapsed_ms: 0, started_at: None, laps: Vec::new() }
            }
            Action::Lap if !running => return Err(Failure::conflict("the stopwatch is not running", "start it first")),
            Action::Lap if watch.laps.len() >= LAPS_MAX => {
                return Err(Failure::limit("laps", LAPS_MAX, watch.laps.len()));
            }
            Action::Lap => watch.laps.push(watch.elapsed_ms(now)),
        }
        Ok(())
    })?;
    let watch = update.value;
    let elapsed = watch.elapsed_ms(now);
    Ok(Reply::new(
        format!("stopwatch {}, {elapsed} ms", watch.state),
        json!({"changed": update.changed, "state": watch.state, "elapsedMs": elapsed, "laps": watch.laps}),
    ))
}
