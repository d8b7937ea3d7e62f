//! The personal hotspot: it needs mobile data and shuts out a Wi-Fi connection on its own band (world rule 5).

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::mobile::Mobile;
use crate::wifi::Wifi;

/// The hotspot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hotspot {
    pub(crate) on: bool,
    name: String,
    password: String,
    pub(crate) band: String,
    max_devices: u8,
    auto_off_min: u16,
    clients: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageHotspot {
    /// What to do.
    action: Action,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Item {
    HotspotName,
    Password,
    Band,
    MaxDevices,
    AutoOff,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ConfigureHotspot {
    /// Which setting.
    setting_item: Item,
    /// The new value: a name of 1 to 32 characters, a password of 8 to 63, `2.4ghz` or `5ghz`, 1 to 10 devices, 0 to 60 minutes (0: never off).
    setting_value: String,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_hotspot", manage_hotspot)
            .domain(crate::DOMAIN)
            .en(
                "Turns the personal hotspot on or off, or tells its settings and connected devices.",
                "hotspot, personal hotspot, tethering, share my internet, share connection, mobile hotspot, let laptop use my data, portable wifi",
            )
            .zh("打开或关闭个人热点，或查询热点设置和已连接的设备。", "热点 个人热点 共享网络 分享流量 给电脑上网 便携式热点 网络共享 开热点 关热点")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("configure_hotspot", configure_hotspot)
            .domain(crate::DOMAIN)
            .en(
                "Changes one setting of the hotspot: name, password, band, largest number of devices or automatic switch-off.",
                "hotspot name, hotspot password, rename hotspot, hotspot band, 5ghz hotspot, maximum devices, hotspot auto off, change hotspot settings, configure tethering",
            )
            .zh("修改热点的一项设置：名称、密码、频段、最大连接数或自动关闭时间。", "热点名称 热点密码 热点改名 热点频段 热点最大连接数 热点自动关闭 设置热点 修改热点 几台设备")
            .writes(),
    ]
}

/// Turns the hotspot off, as when its uplink is gone.
pub(crate) fn shut(phone: &mut Phone) -> Result<(), Failure> {
    phone.update("net", "hotspot", |hotspot: &mut Hotspot| {
        hotspot.on = false;
        hotspot.clients.clear();
        Ok(())
    })?;
    Ok(())
}

fn manage_hotspot(phone: &mut Phone, arguments: ManageHotspot) -> Result<Reply, Failure> {
    let hotspot: Hotspot = phone.require("net", "hotspot")?;
    let on = match arguments.action {
        Action::Query => {
            let text = if hotspot.on { "the hotspot is on" } else { "the hotspot is off" };
            let data = json!({"on": hotspot.on, "name": hotspot.name, "band": hotspot.band, "maxDevices": hotspot.max_devices, "autoOffMin": hotspot.auto_off_min, "clients": hotspot.clients});
            return Ok(Reply::new(text, data));
        }
        Action::Enable => true,
        Action::Disable => false,
    };
    let mut left_wifi = None;
    if on && !hotspot.on {
        let mobile: Mobile = phone.require("net", "mobile")?;
        if !mobile.on {
            return Err(Failure::precondition(
                "mobile data is off",
                "the hotspot shares mobile data: enable it with manage_mobile_data first",
            ));
        }
        let wifi: Wifi = phone.require("net", "wifi")?;
        if wifi.band() == Some(hotspot.band.as_str()) {
            left_wifi.clone_from(&wifi.connected);
            phone.put("net", "wifi", &Wifi { connected: None, ..wifi })?;
        }
    }
    let update = phone.update("net", "hotspot", |hotspot: &mut Hotspot| {
        hotspot.on = on;
        if !on {
            hotspot.clients.clear();
        }
        Ok(())
    })?;
    let word = if on { "on" } else { "off" };
    let text = match (&left_wifi, update.changed) {
        (Some(ssid), _) => format!("hotspot turned on; Wi-Fi left `{ssid}`, which is on the same band"),
        (None, true) => format!("hotspot turned {word}"),
        (None, false) => format!("the hotspot was already {word}"),
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": on, "leftWifi": left_wifi})))
}

fn configure_hotspot(phone: &mut Phone, arguments: ConfigureHotspot) -> Result<Reply, Failure> {
    let value = arguments.setting_value;
    let length = value.chars().count();
    let number = |from: u16, to: u16| {
        value.parse::<u16>().ok().filter(|number| (from..=to).contains(number)).ok_or_else(|| {
            Failure::bad_argument("settingValue", format!("a whole number from {from} to {to}"), value.as_str())
        })
    };
    let wifi: Wifi = phone.require("net", "wifi")?;
    let update = phone.update("net", "hotspot", |hotspot: &mut Hotspot| {
        match arguments.setting_item {
            Item::HotspotName if (1..=32).contains(&length) => {
                // A new name is a new network: whoever was connected is not any more.
                if hotspot.name != value {
                    hotspot.clients.clear();
                }
                hotspot.name.clone_from(&value);
            }
            Item::HotspotName => {
                return Err(Failure::bad_argument("settingValue", "1 to 32 characters", value.as_str()));
            }
            Item::Password if (8..=63).contains(&length) => hotspot.password.clone_from(&value),
            Item::Password => return Err(Failure::bad_argument("settingValue", "8 to 63 characters", value.as_str())),
            Item::Band if ["2.4ghz", "5ghz"].contains(&value.as_str()) => {
                if hotspot.on && wifi.band() == Some(value.as_str()) {
                    return Err(Failure::conflict(
                        &format!("Wi-Fi is connected on the {value} band"),
                        "disconnect Wi-Fi or choose the other band",
                    ));
                }
                hotspot.band.clone_from(&value);
            }
            Item::Band => return Err(Failure::bad_argument("settingValue", ["2.4ghz", "5ghz"], value.as_str())),
            Item::MaxDevices => hotspot.max_devices = u8::try_from(number(1, 10)?).unwrap_or(u8::MAX),
            Item::AutoOff => hotspot.auto_off_min = number(0, 60)?,
        }
        Ok(())
    })?;
    let hotspot = update.value;
    let data = json!({"changed": update.changed, "name": hotspot.name, "band": hotspot.band, "maxDevices": hotspot.max_devices, "autoOffMin": hotspot.auto_off_min});
    Ok(Reply::new(if update.changed { "hotspot setting changed" } else { "the hotspot was already set so" }, data))
}
