//! The devices app: casting, pairing and what is shared with nearby devices. It knows no rule of another app; one cast session at a time is
//! its own (world rule 6).

mod casting;
mod pairing;
mod sharing;

use loopwright_sdk::{Collection, Identity, Storage, Tool, ToolPlugin, identity};
use serde_json::{Value, json};

/// The domain of every tool here.
const DOMAIN: &str = "devices_cross_device";

struct Devices;

impl ToolPlugin for Devices {
    const IDENTITY: Identity = identity!("devices");

    fn tools() -> Vec<Tool> {
        let mut tools = casting::tools();
        tools.extend(pairing::tools());
        tools.extend(sharing::tools());
        tools
    }

    fn storage() -> Storage {
        let peer = |id: &str, name: &str, kind: &str, battery: Value| json!({"id": id, "name": name, "type": kind, "trusted": true, "online": true, "battery": battery});
        Storage::new()
            .owns(
                Collection::new("devices")
                    .documents::<pairing::Peer>()
                    .index("/name")
                    .initial("peer-a", peer("peer-a", "Living Room TV", "tv", Value::Null))
                    .initial("peer-b", peer("peer-b", "Bedroom TV", "tv", Value::Null))
                    .initial("peer-c", peer("peer-c", "Office PC", "pc", Value::Null))
                    .initial("peer-d", peer("peer-d", "Tablet", "tablet", json!(80)))
                    .initial("peer-e", peer("peer-e", "Watch", "watch", json!(55))),
            )
            .owns(
                Collection::new("casting")
                    .initial("session", json!({"state": "idle", "direction": null, "method": null, "device": null})),
            )
            .owns(
                Collection::new("sharing")
                    .initial("clipboard", json!({"on": false}))
                    .initial("keyboard_mouse", json!({"on": false, "source": null, "target": null, "device": null}))
                    .initial("multi_screen", json!({"on": false, "device": null, "mode": null})),
            )
    }
}

loopwright_sdk::export_tool!(Devices);

#[cfg(test)]
mod tests;
