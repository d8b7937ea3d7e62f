//! The display and sound app: screen, look, volumes, ring mode and tones. It knows no rule of another app.

mod look;
mod screen;
mod sound;
mod switch;

use loopwright_sdk::{Collection, Identity, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "display_sound";

struct Display;

impl ToolPlugin for Display {
    const IDENTITY: Identity = identity!("display");

    fn tools() -> Vec<Tool> {
        let mut tools = screen::tools();
        tools.extend(look::tools());
        tools.extend(sound::tools());
        tools
    }

    fn storage() -> Storage {
        Storage::new()
            .owns(
                Collection::new("display")
                    .initial("brightness", json!({"level": 50, "auto": false}))
                    .initial("dark_mode", json!({"on": false, "schedule": null}))
                    .initial("eye_comfort", json!({"on": false, "intensity": 50, "schedule": null}))
                    .initial("auto_rotate", json!({"on": true}))
                    .initial("timeout", json!({"seconds": 60}))
                    .initial("font", json!({"size_percent": 100, "bold": false}))
                    .initial("zoom", json!({"level": "default"}))
                    .initial("refresh", json!({"mode": "adaptive"}))
                    .initial("resolution", json!({"mode": "fhd"}))
                    .initial("color", json!({"mode": "natural"}))
                    .initial("aod", json!({"on": false, "style": "clock", "schedule": null}))
                    .initial("status_bar", json!({"battery_percent": true, "network_speed": false, "notification_icons": true, "carrier_name": true}))
                    .initial("screen", json!({"on": true, "locked": false})),
            )
            .owns(
                Collection::new("sound")
                    .initial("volume", json!({"media": 50, "ring": 60, "alarm": 70, "call": 50, "notification": 50}))
                    .initial("mode", json!({"mode": "ring"}))
                    .initial("vibration", json!({"ring": true, "silent": true, "touch": true, "notification": true, "intensity": 50}))
                    .initial("ringtones", json!({"call": "Classic", "alarm": "Sunrise", "notification": "Drop", "contacts": {}}))
                    .initial("effect", json!({"on": false, "preset": "none"}))
                    .initial("output", json!({"device": "speaker"}))
                    .initial("balance", json!({"mono": false, "balance": 0})),
            )
            .reads("radio")
            .reads("contacts")
    }
}

loopwright_sdk::export_tool!(Display);

#[cfg(test)]
mod tests;
