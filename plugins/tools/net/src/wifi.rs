//! Wi-Fi.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::airplane;

/// The Wi-Fi client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wifi {
    pub(crate) on: bool,
    pub(crate) connected: Option<String>,
    pub(crate) saved: Vec<String>,
    pub(crate) scan: Vec<Network>,
}

/// A network in reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) ssid: String,
    pub(crate) secured: bool,
    pub(crate) band: String,
    /// What a new device has to give; where it is not known, any password of 8 characters is taken. Never told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    password: Option<String>,
}

impl Wifi {
    /// The band of the connected network.
    pub(crate) fn band(&self) -> Option<&str> {
        let connected = self.connected.as_ref()?;
        self.scan.iter().find(|network| network.ssid == *connected).map(|network| network.band.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Enable,
    Disable,
    Scan,
    Connect,
    Forget,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageWifi {
    /// What to do; `connect` and `forget` need `ssid`.
    action: Action,
    /// The network's name.
    ssid: Option<String>,
    /// The password of a secured network that is not saved yet, at least 8 characters.
    password: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_wifi", manage_wifi)
            .domain(crate::DOMAIN)
            .en(
                "Turns Wi-Fi on or off, scans for networks, connects to one, forgets one, or says what is connected.",
                "wifi, wi-fi, wlan, wireless network, internet at home, join network, hook up, ssid, router, password, networks nearby, forget network, turn on wifi, switch off wifi",
            )
            .zh("打开或关闭无线网络，扫描、连接或忘记一个网络，或查询当前连接。", "无线网 WiFi 无线网络 WLAN 连接网络 连上 路由器 热点列表 附近网络 忘记网络 开wifi 关wifi 无线 断开")
            .when("action", &["query", "scan"])
            .reads()
            .writes(),
    ]
}

fn manage_wifi(phone: &mut Phone, arguments: ManageWifi) -> Result<Reply, Failure> {
    let ssid = || {
        arguments
            .ssid
            .clone()
            .ok_or_else(|| Failure::missing_argument("ssid", "the name of a network", "`connect` and `forget`"))
    };
    match arguments.action {
        Action::Query => {
            let wifi: Wifi = phone.require("net", "wifi")?;
            Ok(Reply::new(
                if wifi.on { "Wi-Fi is on" } else { "Wi-Fi is off" },
                json!({"on": wifi.on, "connected": wifi.connected, "saved": wifi.saved}),
            ))
        }
        Action::Scan => {
            let wifi: Wifi = phone.require("net", "wifi")?;
            if !wifi.on {
                return Err(Failure::precondition("Wi-Fi is off", "enable it first"));
            }
            let networks: Vec<_> = wifi
                .scan
                .iter()
                .map(|network| json!({"ssid": network.ssid, "secured": network.secured, "band": network.band}))
                .collect();
            Ok(Reply::new(format!("{} networks in reach", networks.len()), json!({"networks": networks})))
        }
        Action::Enable => {
            airplane::leave_for("Wi-Fi", phone)?;
            switch(phone, true)
        }
        Action::Disable => switch(phone, false),
        Action::Connect => connect(phone, ssid()?, arguments.password.as_deref()),
        Action::Forget => {
            let ssid = ssid()?;
            let update = phone.update("net", "wifi", |wifi: &mut Wifi| {
                if !wifi.saved.contains(&ssid) {
                    return Err(Failure::not_found("saved network", ssid.as_str()).with_allowed(wifi.saved.clone()));
                }
                wifi.saved.retain(|saved| *saved != ssid);
                wifi.connected = wifi.connected.take().filter(|connected| *connected != ssid);
                Ok(())
            })?;
            Ok(Reply::new(
                format!("forgot `{ssid}`"),
                json!({"changed": update.changed, "saved": update.value.saved, "connected": update.value.connected}),
            ))
        }
    }
}

fn switch(phone: &mut Phone, on: bool) -> Result<Reply, Failure> {
    let update = phone.update("net", "wifi", |wifi: &mut Wifi| {
        wifi.on = on;
        if !on {
            wifi.connected = None;
        }
        Ok(())
    })?;
    let text = match (update.changed, on) {
        (true, true) => "Wi-Fi turned on",
        (true, false) => "Wi-Fi turned off",
        (false, true) => "Wi-Fi was already on",
        (false, false) => "Wi-Fi was already off",
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": on, "connected": update.value.connected})))
}

fn connect(phone: &mut Phone, ssid: String, password: Option<&str>) -> Result<Reply, Failure> {
    let hotspot: crate::hotspot::Hotspot = phone.require("net", "hotspot")?;
    let update = phone.update("net", "wifi", |wifi: &mut Wifi| {
        if !wifi.on {
            return Err(Failure::precondition("Wi-Fi is off", "enable it first"));
        }
        let Some(network) = wifi.scan.iter().find(|network| network.ssid == ssid) else {
            let names: Vec<String> = wifi.scan.iter().map(|network| network.ssid.clone()).collect();
            return Err(Failure::not_found("network in reach", ssid.as_str()).with_allowed(names));
        };
        if hotspot.on && hotspot.band == network.band {
            return Err(Failure::conflict(
                &format!("the hotspot uses the {} band of `{ssid}`", network.band),
                "disable the hotspot or move it to the other band first",
            ));
        }
        if network.secured && !wifi.saved.contains(&ssid) {
            match password {
                None => {
                    return Err(Failure::missing_argument(
                        "password",
                        "at least 8 characters",
                        "a secured network that is not saved",
                    ));
                }
                Some(password) if password.chars().count() < 8 => {
                    return Err(Failure::bad_argument("password", "at least 8 characters", password));
                }
                Some(given) if network.password.as_ref().is_some_and(|password| password != given) => {
                    return Err(Failure::denied(
                        &format!("`{ssid}` does not take this password"),
                        "ask the user for it",
                    ));
                }
                Some(_) => {}
            }
        }
        if !wifi.saved.contains(&ssid) {
            wifi.saved.push(ssid.clone());
            wifi.saved.sort();
        }
        wifi.connected = Some(ssid.clone());
        Ok(())
    })?;
    let text = if update.changed { format!("connected to `{ssid}`") } else { format!("already connected to `{ssid}`") };
    Ok(Reply::new(text, json!({"changed": update.changed, "connected": ssid})))
}
