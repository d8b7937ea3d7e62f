//! The screen: brightness, dark mode, eye comfort, rotation, timeout, power and lock.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::switch::{Schedule, percent, told};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Brightness {
    level: i64,
    auto: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DarkMode {
    on: bool,
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EyeComfort {
    on: bool,
    intensity: i64,
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct AutoRotate {
    on: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Timeout {
    seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Screen {
    on: bool,
    locked: bool,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BrightnessAction {
    Set,
    Increase,
    Decrease,
    Auto,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageBrightness {
    /// What to do; `set` needs `level`, `auto` lets the phone decide.
    action: BrightnessAction,
    /// For `set` the brightness, for `increase` and `decrease` the step (10 when absent), in percent.
    #[schemars(range(min = 0, max = 100))]
    level: Option<i64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DarkAction {
    Enable,
    Disable,
    Schedule,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageDarkMode {
    /// What to do; `schedule` needs `schedule`.
    action: DarkAction,
    /// When dark mode turns on and off every day.
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ComfortAction {
    Enable,
    Disable,
    Intensity,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageEyeComfort {
    /// What to do; `intensity` needs `intensity`.
    action: ComfortAction,
    /// How warm the screen is, in percent.
    #[schemars(range(min = 0, max = 100))]
    intensity: Option<i64>,
    /// When it turns on and off every day; with `enable`.
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Toggle {
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageAutoRotate {
    /// What to do.
    action: Toggle,
}

/// The delays that the phone offers, in seconds.
const TIMEOUTS: [u32; 7] = [15, 30, 60, 120, 300, 600, 1800];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SetScreenTimeout {
    /// The delay: 15, 30, 60, 120, 300, 600 or 1800.
    seconds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScreenAction {
    On,
    Off,
    Lock,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ControlScreen {
    /// What to do. `on` does not unlock: only the user can.
    action: ScreenAction,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_brightness", manage_brightness)
            .domain(crate::DOMAIN)
            .en(
                "Sets, raises or lowers the screen brightness, makes it automatic, or tells it.",
                "brightness, brighter, dimmer, dim the screen, backlight, too bright, too dark, adaptive brightness, screen light, make display brighter",
            )
            .zh("设置、调高或调低屏幕亮度，改为自动亮度，或查询亮度。", "亮度 屏幕亮度 调亮 调暗 太亮 太暗 自动亮度 刺眼 亮一点 暗一点 背光")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_dark_mode", manage_dark_mode)
            .domain(crate::DOMAIN)
            .en(
                "Turns dark mode on or off, schedules it, or tells its state.",
                "dark mode, dark theme, night theme, black background, light mode, dark appearance, schedule dark mode",
            )
            .zh("打开或关闭深色模式，设置定时，或查询状态。", "深色模式 暗黑模式 夜间主题 黑色背景 浅色模式 深色主题 定时深色")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_eye_comfort", manage_eye_comfort)
            .domain(crate::DOMAIN)
            .en(
                "Turns the eye comfort filter on or off, sets how warm it is, or tells its state.",
                "eye comfort, blue light filter, night light, warm screen, reading mode, eye protection, tired eyes, blue light, night shift",
            )
            .zh("打开或关闭护眼模式，设置强度，或查询状态。", "护眼 护眼模式 蓝光 防蓝光 暖色 夜览 阅读模式 眼睛累 眼睛疲劳 滤蓝光")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_auto_rotate", manage_auto_rotate)
            .domain(crate::DOMAIN)
            .en(
                "Turns automatic rotation of the screen on or off, or tells its state.",
                "auto rotate, rotation lock, rotate screen, landscape, portrait, screen turns sideways, orientation",
            )
            .zh("打开或关闭屏幕自动旋转，或查询状态。", "自动旋转 屏幕旋转 横屏 竖屏 旋转锁定 方向锁定 别转屏")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("set_screen_timeout", set_screen_timeout)
            .domain(crate::DOMAIN)
            .en(
                "Sets after how many seconds without a touch the screen turns off and locks.",
                "screen timeout, auto lock, sleep after, screen goes off, keep screen on longer, lock after seconds, minutes of inactivity, turn off display after",
            )
            .zh("设置无操作多少秒后自动熄屏锁定。", "自动锁屏 息屏时间 熄屏 屏幕超时 多久锁屏 休眠时间 屏幕常亮久一点 自动熄灭 黑屏时间")
            .writes(),
        Tool::new("control_screen", control_screen)
            .domain(crate::DOMAIN)
            .en(
                "Turns the screen on or off, or locks the phone now.",
                "lock the phone, lock screen now, turn off screen, turn on screen, screen off, wake screen, sleep display",
            )
            .zh("点亮或熄灭屏幕，或立即锁定手机。", "锁屏 锁定手机 立即锁屏 熄屏 关屏幕 亮屏 点亮屏幕 关闭屏幕 黑屏")
            .writes(),
    ]
}

fn manage_brightness(phone: &mut Phone, arguments: ManageBrightness) -> Result<Reply, Failure> {
    let step = percent("level", arguments.level.or(Some(10)), "")?;
    let update = phone.update("display", "brightness", |brightness: &mut Brightness| {
        match arguments.action {
            BrightnessAction::Query => return Ok(()),
            BrightnessAction::Auto => {
                brightness.auto = true;
                return Ok(());
            }
            BrightnessAction::Set => brightness.level = percent("level", arguments.level, "`set`")?,
            BrightnessAction::Increase => brightness.level = (brightness.level + step).min(100),
            BrightnessAction::Decrease => brightness.level = (brightness.level - step).max(0),
        }
        brightness.auto = false;
        Ok(())
    })?;
    let Brightness { level, auto } = update.value;
    Ok(Reply::new(
        format!("brightness is {}", if auto { "automatic".to_owned() } else { format!("{level} %") }),
        json!({"changed": update.changed, "level": level, "auto": auto}),
    ))
}

fn manage_dark_mode(phone: &mut Phone, arguments: ManageDarkMode) -> Result<Reply, Failure> {
    let schedule = arguments.schedule.map(Schedule::checked).transpose()?;
    let update = phone.update("display", "dark_mode", |dark: &mut DarkMode| {
        match arguments.action {
            DarkAction::Query => {}
            DarkAction::Enable => dark.on = true,
            DarkAction::Disable => {
                dark.on = false;
                dark.schedule = None;
            }
            DarkAction::Schedule => {
                dark.schedule = Some(schedule.ok_or_else(|| {
                    Failure::missing_argument("schedule", "{from: `HH:MM`, to: `HH:MM`}", "`schedule`")
                })?)
            }
        }
        Ok(())
    })?;
    let dark = update.value;
    let text = match arguments.action {
        DarkAction::Query => format!("dark mode is {}", if dark.on { "on" } else { "off" }),
        DarkAction::Schedule => "dark mode scheduled".to_owned(),
        DarkAction::Enable | DarkAction::Disable => told("dark mode", dark.on, update.changed),
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": dark.on, "schedule": dark.schedule})))
}

fn manage_eye_comfort(phone: &mut Phone, arguments: ManageEyeComfort) -> Result<Reply, Failure> {
    let schedule = arguments.schedule.map(Schedule::checked).transpose()?;
    let update = phone.update("display", "eye_comfort", |comfort: &mut EyeComfort| {
        match arguments.action {
            ComfortAction::Query => {}
            ComfortAction::Enable => {
                comfort.on = true;
                comfort.intensity = percent("intensity", arguments.intensity.or(Some(comfort.intensity)), "")?;
                comfort.schedule = schedule.or_else(|| comfort.schedule.take());
            }
            ComfortAction::Disable => {
                comfort.on = false;
                comfort.schedule = None;
            }
            ComfortAction::Intensity => comfort.intensity = percent("intensity", arguments.intensity, "`intensity`")?,
        }
        Ok(())
    })?;
    let comfort = update.value;
    let text = match arguments.action {
        ComfortAction::Query => format!("eye comfort is {}", if comfort.on { "on" } else { "off" }),
        ComfortAction::Intensity => format!("eye comfort intensity is {} %", comfort.intensity),
        ComfortAction::Enable | ComfortAction::Disable => told("eye comfort", comfort.on, update.changed),
    };
    Ok(Reply::new(
        text,
        json!({"changed": update.changed, "on": comfort.on, "intensity": comfort.intensity, "schedule": comfort.schedule}),
    ))
}

fn manage_auto_rotate(phone: &mut Phone, arguments: ManageAutoRotate) -> Result<Reply, Failure> {
    let update = phone.update("display", "auto_rotate", |rotate: &mut AutoRotate| {
        match arguments.action {
            Toggle::Query => {}
            Toggle::Enable => rotate.on = true,
            Toggle::Disable => rotate.on = false,
        }
        Ok(())
    })?;
    let on = update.value.on;
    let text = match arguments.action {
        Toggle::Query => format!("automatic rotation is {}", if on { "on" } else { "off" }),
        Toggle::Enable | Toggle::Disable => told("automatic rotation", on, update.changed),
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": on})))
}

fn set_screen_timeout(phone: &mut Phone, arguments: SetScreenTimeout) -> Result<Reply, Failure> {
    let seconds = arguments.seconds;
    if !TIMEOUTS.contains(&seconds) {
        return Err(Failure::bad_argument("seconds", "15, 30, 60, 120, 300, 600 or 1800", seconds));
    }
    let update = phone.update("display", "timeout", |timeout: &mut Timeout| {
        timeout.seconds = seconds;
        Ok(())
    })?;
    Ok(Reply::new(
        format!("the screen turns off after {seconds} s"),
        json!({"changed": update.changed, "seconds": seconds}),
    ))
}

fn control_screen(phone: &mut Phone, arguments: ControlScreen) -> Result<Reply, Failure> {
    let update = phone.update("display", "screen", |screen: &mut Screen| {
        match arguments.action {
            ScreenAction::On => screen.on = true,
            ScreenAction::Off => screen.on = false,
            ScreenAction::Lock => {
                screen.on = false;
                screen.locked = true;
            }
        }
        Ok(())
    })?;
    let screen = update.value;
    let text = match (screen.on, screen.locked) {
        (true, false) => "the screen is on",
        (true, true) => "the screen is on and locked: the user has to unlock it",
        (false, false) => "the screen is off",
        (false, true) => "the screen is off and locked",
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": screen.on, "locked": screen.locked})))
}
