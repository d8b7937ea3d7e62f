//! The power and settings app: battery, power, location, do-not-disturb, language, accessibility and the facts of the device. It knows no
//! rule of another app.

mod device;
mod energy;
mod quiet;
mod regional;
mod switches;

use loopwright_sdk::{Collection, Identity, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "system_settings";

struct Power;

impl ToolPlugin for Power {
    const IDENTITY: Identity = identity!("power");

    fn tools() -> Vec<Tool> {
        let mut tools = energy::tools();
        tools.extend(device::tools());
        tools.extend(quiet::tools());
        tools.extend(regional::tools());
        tools.extend(switches::tools());
        tools
    }

    fn storage() -> Storage {
        let app = || json!({"enabled": true, "sound": true, "preview": true});
        Storage::new()
            .owns(
                Collection::new("power")
                    .initial("battery", json!({"percent": 64, "charging": false, "mode": "normal"}))
                    .initial("state", json!({"state": "on"}))
                    .initial("schedule", json!({"on": false, "on_time": null, "off_time": null, "days": []}))
                    .initial("fan", json!({"on": false, "level": 0})),
            )
            .owns(
                Collection::new("settings")
                    .initial("location", json!({"on": true, "accuracy": "high"}))
                    .initial("dnd", json!({"on": false, "until": null, "schedule": null, "allow_contacts": [], "allow_apps": []}))
                    .initial("locale", json!({"locale": "zh-CN", "region": "CN"}))
                    .initial("datetime", json!({"auto": true, "timezone": "Asia/Shanghai", "format24h": true}))
                    .initial("usb_debug", json!({"on": false}))
                    .initial("developer", json!({"on": false}))
                    .initial("device", json!({"name": "My Phone", "model": "LW-1", "os_version": "1.0.0", "storage_total_gb": 256, "storage_used_gb": 120}))
                    .initial("update", json!({"current": "1.0.0", "available": "1.1.0", "state": "available", "time": null}))
                    .initial("talkback", json!({"on": false}))
                    .initial("select_to_speak", json!({"on": false}))
                    .initial("accessibility", json!({"magnification": false, "caption": false, "color_correction": false}))
                    .initial("notifications", json!({"Browser": app(), "Games": app(), "Maps": app(), "Messages": app(), "Video": app()}))
                    .initial("focus", json!({"active": null, "profiles": {"Sleep": {"blocked_apps": ["Browser", "Games", "Video"]}, "Work": {"blocked_apps": ["Games", "Video"]}}})),
            )
            .owns(
                Collection::new("perms")
                    .initial("calendar", json!({"state": "allow"}))
                    .initial("contacts", json!({"state": "allow"}))
                    .initial("sms", json!({"state": "allow"})),
            )
    }
}

loopwright_sdk::export_tool!(Power);

#[cfg(test)]
mod tests;
