//! The network app: Wi-Fi, mobile data, SIM cards, hotspot, VPN, Bluetooth and NFC. It knows no rule of another app.
//!
//! Rules that it keeps by itself: airplane mode turns the radios off and restores them (world rule 2), and a hotspot needs mobile data and
//! shuts out a Wi-Fi connection on the same band (world rule 5).

mod airplane;
mod hotspot;
mod mobile;
mod radio;
mod sim;
mod vpn;
mod wifi;

use loopwright_sdk::{Collection, Identity, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "network_connectivity";

struct Net;

impl ToolPlugin for Net {
    const IDENTITY: Identity = identity!("net");

    fn tools() -> Vec<Tool> {
        let mut tools = wifi::tools();
        tools.extend(mobile::tools());
        tools.extend(airplane::tools());
        tools.extend(radio::tools());
        tools.extend(hotspot::tools());
        tools.extend(vpn::tools());
        tools.extend(sim::tools());
        tools
    }

    fn storage() -> Storage {
        Storage::new()
            .owns(
                Collection::new("net")
                    .initial("wifi", json!({"on": true, "connected": "HomeNet", "saved": ["HomeNet", "Office"], "scan": [
                        {"ssid": "HomeNet", "secured": true, "band": "5ghz"},
                        {"ssid": "Office", "secured": true, "band": "2.4ghz"},
                        {"ssid": "CoffeeShop", "secured": false, "band": "2.4ghz"},
                        {"ssid": "Guest", "secured": true, "band": "2.4ghz"},
                    ]}))
                    .initial("mobile", json!({"on": true, "slot": 1, "in_service": true, "mode": "5g_auto", "limit_mb": null, "warn_mb": null, "reset_day": 1, "used_mb": 1200}))
                    .initial("usage", json!({"apps": {"Browser": 500, "Maps": 100, "Video": 600}}))
                    .initial("airplane", json!({"on": false, "remembered": null}))
                    .initial("hotspot", json!({"on": false, "name": "MyPhone", "password": "12345678", "band": "2.4ghz", "max_devices": 5, "auto_off_min": 10, "clients": []}))
                    .initial("vpn", json!({"active": null, "profiles": ["Home", "Work"]}))
                    .initial("roaming", json!({"on": false})),
            )
            .owns(
                Collection::new("sims")
                    .initial("1", json!({"slot": 1, "carrier": "China Mobile", "number": "13800000001", "label": "Personal", "enabled": true, "default_for": ["call", "data", "sms"]}))
                    .initial("2", json!({"slot": 2, "carrier": "China Unicom", "number": "13900000002", "label": "Work", "enabled": true, "default_for": []})),
            )
            .owns(
                Collection::new("radio")
                    .initial("bluetooth", json!({"on": true, "paired": ["Car", "Earbuds"], "connected": ["Earbuds"], "scan": ["Car", "Earbuds", "Keyboard", "Speaker"]}))
                    .initial("nfc", json!({"on": false, "mode": "tap_to_pay", "card_id": null, "cards": ["bank", "bus"]})),
            )
    }
}

loopwright_sdk::export_tool!(Net);

#[cfg(test)]
mod tests;
