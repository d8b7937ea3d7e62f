//! The clock app: alarms, timers, stopwatch, world clock and bedtime. It knows no other app, and no time but the episode's.

mod alarm;
mod countdown;
mod day;
mod stopwatch;
mod world;

use loopwright_sdk::{Collection, Identity, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "time_management";

struct Clock;

impl ToolPlugin for Clock {
    const IDENTITY: Identity = identity!("clock");

    fn tools() -> Vec<Tool> {
        let mut tools = alarm::tools();
        tools.extend(countdown::tools());
        tools.extend(stopwatch::tools());
        tools.extend(world::tools());
        tools
    }

    fn storage() -> Storage {
        Storage::new()
            .owns(Collection::new("alarms").documents::<alarm::Alarm>().bookkeeping("/created").bookkeeping("/modified").index("/time"))
            .owns(Collection::new("timers").documents::<countdown::Timer>().bookkeeping("/created").bookkeeping("/modified").index("/state"))
            .owns(
                Collection::new("clock")
                    .initial("stopwatch", json!({"state": "stopped", "elapsed_ms": 0, "started_at": null, "laps": []}))
                    .initial("world", json!({"cities": ["Beijing"]}))
                    .initial("bedtime", json!({"on": false, "sleep_time": "23:00", "wake_time": "07:00", "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]})),
            )
    }
}

loopwright_sdk::export_tool!(Clock);

#[cfg(test)]
mod tests;
