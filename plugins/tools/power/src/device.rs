//! The facts of the device, its updates, and reading any setting by its key.

use loopwright_sdk::{DateTime, Failure, Phone, Reply, Requirement, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Device {
    name: String,
    model: String,
    os_version: String,
    storage_total_gb: u32,
    storage_used_gb: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Update {
    current: String,
    available: Option<String>,
    state: String,
    time: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InfoAction {
    Query,
    Rename,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InfoItem {
    Name,
    Model,
    OsVersion,
    Storage,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageDeviceInfo {
    /// What to do; `rename` needs `name`.
    action: InfoAction,
    /// Only this fact; all when absent.
    item: Option<InfoItem>,
    /// The phone's new name, 1 to 32 characters.
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum UpdateAction {
    Check,
    Download,
    Install,
    Schedule,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageSystemUpdate {
    /// What to do; `install` restarts the phone and needs the user's confirmation, `schedule` needs `time`.
    action: UpdateAction,
    /// When the update is installed, `YYYY-MM-DDTHH:MM` on the phone's clock.
    time: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct QuerySetting {
    /// The setting: location, dnd, locale, datetime, usb_debug, developer, device, update, talkback, select_to_speak, accessibility,
    /// notifications, focus, battery, power_schedule or fan.
    key: String,
}

/// Settings by the key under which they are read, with the document that holds them.
const SETTINGS: [(&str, &str, &str); 16] = [
    ("location", "settings", "location"),
    ("dnd", "settings", "dnd"),
    ("locale", "settings", "locale"),
    ("datetime", "settings", "datetime"),
    ("usb_debug", "settings", "usb_debug"),
    ("developer", "settings", "developer"),
    ("device", "settings", "device"),
    ("update", "settings", "update"),
    ("talkback", "settings", "talkback"),
    ("select_to_speak", "settings", "select_to_speak"),
    ("accessibility", "settings", "accessibility"),
    ("notifications", "settings", "notifications"),
    ("focus", "settings", "focus"),
    ("battery", "power", "battery"),
    ("power_schedule", "power", "schedule"),
    ("fan", "power", "fan"),
];

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_device_info", manage_device_info)
            .domain(crate::DOMAIN)
            .en(
                "Tells facts of the phone (name, model, system version, storage) or renames it.",
                "about phone, device information, phone model, system version, os version, storage space, free space, rename phone, phone name, device name, how much storage",
            )
            .zh("查询手机信息（名称、型号、系统版本、存储空间）或给手机改名。", "关于手机 手机信息 手机型号 系统版本 存储空间 剩余空间 手机名称 设备名称 改名 内存还有多少")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_system_update", manage_system_update)
            .domain(crate::DOMAIN)
            .en(
                "Checks for a system update, downloads it, installs it or schedules the installation.",
                "system update, software update, upgrade system, new version, download update, install update, schedule update, update tonight, firmware",
            )
            .zh("检查、下载、安装系统更新，或预约安装时间。", "系统更新 软件更新 升级系统 新版本 下载更新 安装更新 预约更新 夜间更新 检查更新")
            .when("action", &["check"])
            .reads()
            .requires(Requirement::Network)
            .when("action", &["install"])
            .destructive()
            .when("action", &["schedule"])
            .writes()
            .writes()
            .requires(Requirement::Network),
        Tool::new("query_setting", query_setting)
            .domain(crate::DOMAIN)
            .en("Reads one setting by its key.", "read setting, check a setting, setting value, current setting, look up setting, configuration value")
            .zh("按名称读取一项设置。", "查看设置 读取设置 设置项 当前设置 配置 查设置")
            .reads(),
    ]
}

fn manage_device_info(phone: &mut Phone, arguments: ManageDeviceInfo) -> Result<Reply, Failure> {
    let update = phone.update("settings", "device", |device: &mut Device| {
        if matches!(arguments.action, InfoAction::Rename) {
            let name = arguments
                .name
                .clone()
                .ok_or_else(|| Failure::missing_argument("name", "1 to 32 characters", "`rename`"))?;
            if !(1..=32).contains(&name.chars().count()) {
                return Err(Failure::bad_argument("name", "1 to 32 characters", name));
            }
            device.name = name;
        }
        Ok(())
    })?;
    let device = update.value;
    let free_gb = device.storage_total_gb.saturating_sub(device.storage_used_gb);
    let mut data = match arguments.item {
        Some(InfoItem::Name) => json!({"name": device.name}),
        Some(InfoItem::Model) => json!({"model": device.model}),
        Some(InfoItem::OsVersion) => json!({"osVersion": device.os_version}),
        Some(InfoItem::Storage) => {
            json!({"totalGb": device.storage_total_gb, "usedGb": device.storage_used_gb, "freeGb": free_gb})
        }
        None => {
            json!({"name": device.name, "model": device.model, "osVersion": device.os_version, "totalGb": device.storage_total_gb, "usedGb": device.storage_used_gb, "freeGb": free_gb})
        }
    };
    if let Some(data) = data.as_object_mut() {
        data.insert("changed".to_owned(), Value::Bool(update.changed));
    }
    Ok(Reply::new(format!("{}, {}", device.name, device.model), data))
}

fn manage_system_update(phone: &mut Phone, arguments: ManageSystemUpdate) -> Result<Reply, Failure> {
    let now = phone.local(phone.now()).to_string();
    let update = phone.update("settings", "update", |update: &mut Update| {
        if arguments.action == UpdateAction::Check {
            return Ok(());
        }
        let Some(version) = update.available.clone() else {
            return Err(Failure::not_found("system update", update.current.as_str()));
        };
        match arguments.action {
            UpdateAction::Download if update.state == "available" => "downloaded".clone_into(&mut update.state),
            UpdateAction::Check | UpdateAction::Download => {}
            UpdateAction::Install | UpdateAction::Schedule if update.state == "available" => {
                return Err(Failure::conflict("the update is not downloaded", "download it first"));
            }
            UpdateAction::Install => {
                *update = Update { current: version, available: None, state: "installed".to_owned(), time: None };
            }
            UpdateAction::Schedule => {
                let time = arguments
                    .time
                    .clone()
                    .ok_or_else(|| Failure::missing_argument("time", "`YYYY-MM-DDTHH:MM`", "`schedule`"))?;
                if DateTime::parse(&time).is_none() || time <= now {
                    return Err(Failure::bad_argument("time", "a time `YYYY-MM-DDTHH:MM` in the future", time));
                }
                "scheduled".clone_into(&mut update.state);
                update.time = Some(time);
            }
        }
        Ok(())
    })?;
    let state = update.value;
    if update.changed && state.state == "installed" {
        phone.update("settings", "device", |device: &mut Device| {
            device.os_version.clone_from(&state.current);
            Ok(())
        })?;
    }
    let data = json!({"changed": update.changed, "current": state.current, "available": state.available, "state": state.state, "time": state.time});
    Ok(Reply::new(format!("system update: {}", state.state), data))
}

fn query_setting(phone: &mut Phone, arguments: QuerySetting) -> Result<Reply, Failure> {
    let Some((_, collection, key)) = SETTINGS.iter().find(|(name, ..)| *name == arguments.key) else {
        return Err(Failure::not_found("setting", arguments.key).with_allowed(SETTINGS.map(|(name, ..)| name)));
    };
    let value: Value = phone.require(collection, key)?;
    Ok(Reply::new(format!("setting `{}`", arguments.key), json!({"key": arguments.key, "value": value})))
}
