//! Battery, power, scheduled power and the cooling fan.

use loopwright_sdk::{Failure, Phone, Reply, Requirement, TimeOfDay, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Battery {
    percent: u8,
    charging: bool,
    mode: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PowerState {
    state: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Schedule {
    on: bool,
    on_time: Option<String>,
    off_time: Option<String>,
    days: Vec<Day>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fan {
    on: bool,
    level: u8,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SetAction {
    Set,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BatteryMode {
    Normal,
    Saving,
    SuperSaving,
    Performance,
}

impl BatteryMode {
    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Saving => "saving",
            Self::SuperSaving => "super_saving",
            Self::Performance => "performance",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageBattery {
    /// What to do; `set` needs `mode`.
    action: SetAction,
    /// The battery mode.
    mode: Option<BatteryMode>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PowerAction {
    PowerOff,
    Reboot,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ControlDevicePower {
    /// What to do. Both need the user's confirmation.
    action: PowerAction,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScheduleAction {
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageScheduledPower {
    /// What to do; the first `enable` needs a time.
    action: ScheduleAction,
    /// When the phone turns on, `HH:MM`.
    on_time: Option<String>,
    /// When the phone turns off, `HH:MM`.
    off_time: Option<String>,
    /// On which days; every day when absent.
    days: Option<Vec<Day>>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FanAction {
    On,
    Off,
    Level,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ControlCoolingFan {
    /// What to do; `level` needs `level`.
    action: FanAction,
    /// The speed, 1 to 3.
    #[schemars(range(min = 1, max = 3))]
    level: Option<u8>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_battery", manage_battery)
            .domain(crate::DOMAIN)
            .en(
                "Tells the battery level, whether it is charging and its mode, or sets the mode: normal, saving, super_saving or performance.",
                "battery, battery level, battery percentage, charge left, power saving, battery saver, low power mode, super saving, performance mode, save power, make battery last, charging, juice left",
            )
            .zh("查询电量、充电状态和电池模式，或设置模式：正常、省电、超级省电或性能。", "电池 电量 还剩多少电 省电模式 超级省电 性能模式 充电 低电量 节电 续航 省点电 电池模式")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("control_device_power", control_device_power)
            .domain(crate::DOMAIN)
            .en("Turns the phone off or restarts it.", "power off, shut down, turn off the phone, restart, reboot, switch the phone off, restart device, shutdown, cut the power, power down, turn it off completely")
            .zh("关机或重启手机。", "关机 重启 重新启动 关闭手机 关掉手机 开机重启 断电 关电源 切断电源 彻底关掉")
            .destructive()
            .requires(Requirement::Unlocked)
            .requires(Requirement::PowerOffOk),
        Tool::new("manage_scheduled_power", manage_scheduled_power)
            .domain(crate::DOMAIN)
            .en(
                "Turns scheduled power on or off, sets its times, or tells them.",
                "scheduled power on, scheduled power off, turn phone off every night, automatic shutdown, auto power on, power schedule, timed shutdown, timetable for power, off overnight, switched off from until, on again in the morning",
            )
            .zh("打开或关闭定时开关机，设置时间，或查询。", "定时开关机 定时关机 定时开机 自动关机 自动开机 每晚关机 开关机时间 按时关机 按时开机 夜里关机 早上开机")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("control_cooling_fan", control_cooling_fan)
            .domain(crate::DOMAIN)
            .en(
                "Turns the cooling fan on or off, sets its speed, or tells its state.",
                "cooling fan, fan speed, phone is hot, cool down, overheating, ventilator, fan level, too warm",
            )
            .zh("打开或关闭散热风扇，设置转速，或查询状态。", "散热风扇 风扇 散热 手机发烫 降温 太热 风扇转速 风扇档位")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

fn manage_battery(phone: &mut Phone, arguments: ManageBattery) -> Result<Reply, Failure> {
    let update = phone.update("power", "battery", |battery: &mut Battery| {
        if arguments.action == SetAction::Set {
            let mode = arguments.mode.ok_or_else(|| {
                Failure::missing_argument("mode", ["normal", "saving", "super_saving", "performance"], "`set`")
            })?;
            mode.name().clone_into(&mut battery.mode);
        }
        Ok(())
    })?;
    let battery = update.value;
    let data = json!({"changed": update.changed, "percent": battery.percent, "charging": battery.charging, "mode": battery.mode});
    Ok(Reply::new(format!("battery {} %, mode {}", battery.percent, battery.mode), data))
}

fn control_device_power(phone: &mut Phone, arguments: ControlDevicePower) -> Result<Reply, Failure> {
    let (state, text) = match arguments.action {
        PowerAction::PowerOff => ("off", "the phone is off"),
        PowerAction::Reboot => ("rebooting", "the phone restarts"),
    };
    let update = phone.update("power", "state", |power: &mut PowerState| {
        state.clone_into(&mut power.state);
        Ok(())
    })?;
    Ok(Reply::new(text, json!({"changed": update.changed, "state": state})))
}

fn manage_scheduled_power(phone: &mut Phone, arguments: ManageScheduledPower) -> Result<Reply, Failure> {
    for (argument, time) in [("onTime", &arguments.on_time), ("offTime", &arguments.off_time)] {
        if let Some(time) = time
            && (time.len() != 5 || TimeOfDay::parse(time).is_none())
        {
            return Err(Failure::bad_argument(argument, "a time `HH:MM` from 00:00 to 23:59", time.as_str()));
        }
    }
    let update = phone.update("power", "schedule", |schedule: &mut Schedule| {
        match arguments.action {
            ScheduleAction::Query => {}
            ScheduleAction::Disable => schedule.on = false,
            ScheduleAction::Enable => {
                schedule.on_time = arguments.on_time.clone().or_else(|| schedule.on_time.take());
                schedule.off_time = arguments.off_time.clone().or_else(|| schedule.off_time.take());
                if schedule.on_time.is_none() && schedule.off_time.is_none() {
                    return Err(Failure::missing_argument(
                        "onTime",
                        "a time `HH:MM`, or offTime",
                        "the first `enable`",
                    ));
                }
                if let Some(days) = &arguments.days {
                    schedule.days.clone_from(days);
                    schedule.days.sort_unstable();
                    schedule.days.dedup();
                }
                schedule.on = true;
            }
        }
        Ok(())
    })?;
    let schedule = update.value;
    let data = json!({"changed": update.changed, "on": schedule.on, "onTime": schedule.on_time, "offTime": schedule.off_time, "days": schedule.days});
    Ok(Reply::new(format!("scheduled power is {}", if schedule.on { "on" } else { "off" }), data))
}

fn control_cooling_fan(phone: &mut Phone, arguments: ControlCoolingFan) -> Result<Reply, Failure> {
    let update = phone.update("power", "fan", |fan: &mut Fan| {
        match arguments.action {
            FanAction::Query => {}
            FanAction::On => {
                fan.on = true;
                fan.level = fan.level.max(1);
            }
            FanAction::Off => {
                fan.on = false;
                fan.level = 0;
            }
            FanAction::Level => {
                let level = arguments.level.ok_or_else(|| Failure::missing_argument("level", "1 to 3", "`level`"))?;
                if !(1..=3).contains(&level) {
                    return Err(Failure::bad_argument("level", "1 to 3", level));
                }
                fan.on = true;
                fan.level = level;
            }
        }
        Ok(())
    })?;
    let fan = update.value;
    Ok(Reply::new(
        if fan.on { format!("the fan is on, level {}", fan.level) } else { "the fan is off".to_owned() },
        json!({"changed": update.changed, "on": fan.on, "level": fan.level}),
    ))
}
