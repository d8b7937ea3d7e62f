//! Airplane mode: turns the radios off, remembers them, and restores them (world rule 2).

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::mobile::Mobile;
use crate::radio::Bluetooth;
use crate::wifi::Wifi;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Airplane {
    on: bool,
    remembered: Option<Radios>,
}

/// Which radios were on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Radios {
    wifi: bool,
    connected: Option<String>,
    mobile: bool,
    bluetooth: bool,
    devices: Vec<String>,
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
struct ManageAirplaneMode {
    /// What to do.
    action: Action,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_airplane_mode", manage_airplane_mode)
            .domain(crate::DOMAIN)
            .en(
                "Turns airplane mode on or off. On: Wi-Fi, mobile data and Bluetooth go off and are remembered; off restores them.",
                "airplane mode, flight mode, plane, boarding, flying, takeoff, land, landed, all radios off, go offline, aeroplane",
            )
            .zh("打开或关闭飞行模式。打开时关闭无线网、移动数据和蓝牙并记住状态，关闭时恢复。", "飞行模式 飞机 登机 起飞 落地 航班 断网 离线 关闭所有信号")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

/// Refuses to turn a radio on while airplane mode is on.
pub(crate) fn leave_for(what: &str, phone: &Phone) -> Result<(), Failure> {
    let airplane: Airplane = phone.require("net", "airplane")?;
    if airplane.on {
        Err(Failure::conflict(&format!("airplane mode keeps {what} off"), "disable airplane mode first"))
    } else {
        Ok(())
    }
}

fn manage_airplane_mode(phone: &mut Phone, arguments: ManageAirplaneMode) -> Result<Reply, Failure> {
    let airplane: Airplane = phone.require("net", "airplane")?;
    let on = match arguments.action {
        Action::Query => {
            return Ok(Reply::new(
                if airplane.on { "airplane mode is on" } else { "airplane mode is off" },
                json!({"on": airplane.on}),
            ));
        }
        Action::Enable => true,
        Action::Disable => false,
    };
    if airplane.on == on {
        return Ok(Reply::new(
            format!("airplane mode was already {}", if on { "on" } else { "off" }),
            json!({"changed": false, "on": on}),
        ));
    }
    let remembered = if on { Some(turn_off(phone)?) } else { None };
    if let Some(radios) = &airplane.remembered {
        restore(phone, radios)?;
    }
    phone.put("net", "airplane", &Airplane { on, remembered })?;
    Ok(Reply::new(
        format!("airplane mode turned {}", if on { "on" } else { "off" }),
        json!({"changed": true, "on": on}),
    ))
}

fn turn_off(phone: &mut Phone) -> Result<Radios, Failure> {
    let mut wifi: Wifi = phone.require("net", "wifi")?;
    let mut mobile: Mobile = phone.require("net", "mobile")?;
    let mut bluetooth: Bluetooth = phone.require("radio", "bluetooth")?;
    let radios = Radios {
        wifi: wifi.on,
        connected: wifi.connected.take(),
        mobile: mobile.on,
        bluetooth: bluetooth.on,
        devices: std::mem::take(&mut bluetooth.connected),
    };
    wifi.on = false;
    mobile.on = false;
    bluetooth.on = false;
    phone.put("net", "wifi", &wifi)?;
    phone.put("net", "mobile", &mobile)?;
    phone.put("radio", "bluetooth", &bluetooth)?;
    crate::hotspot::shut(phone)?;
    Ok(radios)
}

fn restore(phone: &mut Phone, radios: &Radios) -> Result<(), Failure> {
    phone.update("net", "wifi", |wifi: &mut Wifi| {
        wifi.on = radios.wifi;
        wifi.connected.clone_from(&radios.connected);
        Ok(())
    })?;
    phone.update("net", "mobile", |mobile: &mut Mobile| {
        mobile.on = radios.mobile;
        Ok(())
    })?;
    phone.update("radio", "bluetooth", |bluetooth: &mut Bluetooth| {
        bluetooth.on = radios.bluetooth;
        bluetooth.connected.clone_from(&radios.devices);
        Ok(())
    })?;
    Ok(())
}
