//! How the screen looks: font, size, refresh rate, resolution, colours, always-on display and status bar.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

use crate::switch::{Schedule, told};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Font {
    size_percent: i64,
    bold: bool,
}

/// A document that holds one chosen word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Chosen {
    mode: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Zoom {
    level: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct AlwaysOn {
    on: bool,
    style: String,
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SetAction {
    Set,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageFont {
    /// What to do; `set` needs `sizePercent` or `bold`.
    action: SetAction,
    /// Text size in percent of the standard, 80 to 200.
    #[schemars(range(min = 80, max = 200))]
    size_percent: Option<i64>,
    /// Bold text.
    bold: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ZoomLevel {
    Small,
    Default,
    Large,
    Larger,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SetDisplaySize {
    /// How large everything on the screen is.
    level: ZoomLevel,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RefreshMode {
    Standard,
    High,
    Adaptive,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageRefreshRate {
    /// What to do; `set` needs `mode`.
    action: SetAction,
    /// The rate: 60 Hz, 120 Hz, or as the content asks.
    mode: Option<RefreshMode>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ResolutionMode {
    Hd,
    Fhd,
    Wqhd,
    Auto,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SetScreenResolution {
    /// The resolution.
    mode: ResolutionMode,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ColorMode {
    Natural,
    Vivid,
    Cinema,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageColorMode {
    /// What to do; `set` needs `mode`.
    action: SetAction,
    /// The colours.
    mode: Option<ColorMode>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AlwaysOnAction {
    Enable,
    Disable,
    SetStyle,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Style {
    Clock,
    Calendar,
    Picture,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageAlwaysOnDisplay {
    /// What to do; `set_style` needs `style`.
    action: AlwaysOnAction,
    /// What it shows.
    style: Option<Style>,
    /// When it is shown every day; with `enable`.
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BarAction {
    Show,
    Hide,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BarItem {
    BatteryPercent,
    NetworkSpeed,
    NotificationIcons,
    CarrierName,
}

impl BarItem {
    fn name(self) -> &'static str {
        match self {
            Self::BatteryPercent => "battery_percent",
            Self::NetworkSpeed => "network_speed",
            Self::NotificationIcons => "notification_icons",
            Self::CarrierName => "carrier_name",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageStatusBarDisplay {
    /// What to do; `show` and `hide` need `item`.
    action: BarAction,
    /// Which item.
    item: Option<BarItem>,
}

pub(crate) fn tools() -> Vec<Tool> {
    let mut tools = sizes();
    tools.extend(modes());
    tools
}

fn sizes() -> Vec<Tool> {
    vec![
        Tool::new("manage_font", manage_font)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the text size and whether text is bold.",
                "font size, text size, bigger text, larger letters, letters too small, bold text, smaller font, hard to read, font weight",
            )
            .zh("设置或查询文字大小和是否加粗。", "字体 字体大小 字号 字太小 大字 放大字体 加粗 粗体 文字大小 看不清字")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("set_display_size", set_display_size)
            .domain(crate::DOMAIN)
            .en(
                "Sets how large everything on the screen is: icons, buttons and text.",
                "display size, screen zoom, bigger icons, everything larger, interface scale, zoom level, larger buttons, ui size",
            )
            .zh("设置屏幕上所有内容的显示大小。", "显示大小 显示缩放 图标大一点 界面放大 界面缩小 屏幕缩放 按钮变大")
            .writes(),
    ]
}

fn modes() -> Vec<Tool> {
    vec![
        Tool::new("manage_refresh_rate", manage_refresh_rate)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the screen's refresh rate: standard, high or adaptive.",
                "refresh rate, 120hz, 60hz, smooth scrolling, high refresh, hertz, fluid animation, frame rate of screen",
            )
            .zh("设置或查询屏幕刷新率：标准、高或自适应。", "刷新率 高刷 120赫兹 60赫兹 流畅 屏幕帧率 标准刷新率 自适应刷新")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("set_screen_resolution", set_screen_resolution)
            .domain(crate::DOMAIN)
            .en("Sets the screen resolution.", "screen resolution, full hd, fhd, wqhd, hd resolution, sharper display, pixels, 1080p screen")
            .zh("设置屏幕分辨率。", "分辨率 屏幕分辨率 高清 超清 全高清 像素 清晰度")
            .writes(),
        Tool::new("manage_color_mode", manage_color_mode)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the screen's colour mode: natural, vivid or cinema.",
                "color mode, colour profile, vivid colors, natural colors, cinema mode, saturated, screen colours, more colourful",
            )
            .zh("设置或查询屏幕色彩模式：自然、鲜艳或影院。", "色彩模式 颜色模式 鲜艳 自然 影院模式 屏幕颜色 色彩 艳丽")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_always_on_display", manage_always_on_display)
            .domain(crate::DOMAIN)
            .en(
                "Turns the always-on display on or off, sets what it shows, or tells its state.",
                "always on display, aod, clock on locked screen, show time when screen is off, ambient display, standby clock",
            )
            .zh("打开或关闭息屏显示，设置样式，或查询状态。", "息屏显示 熄屏显示 AOD 锁屏时钟 息屏时钟 常显 息屏样式")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_status_bar_display", manage_status_bar_display)
            .domain(crate::DOMAIN)
            .en(
                "Shows or hides an item of the status bar: battery percentage, network speed, notification icons or carrier name.",
                "status bar, battery percentage, show battery percent, network speed indicator, notification icons, carrier name, top of the screen, top bar",
            )
            .zh("显示或隐藏状态栏的一项：电量百分比、网速、通知图标或运营商名称。", "状态栏 电量百分比 显示电量 显示网速 通知图标 运营商名称 顶部 屏幕上方 实时网速")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

fn manage_font(phone: &mut Phone, arguments: ManageFont) -> Result<Reply, Failure> {
    let update = phone.update("display", "font", |font: &mut Font| {
        if arguments.action == SetAction::Query {
            return Ok(());
        }
        if arguments.size_percent.is_none() && arguments.bold.is_none() {
            return Err(Failure::missing_argument("sizePercent", "80 to 200, or bold", "`set`"));
        }
        let size = arguments.size_percent.unwrap_or(font.size_percent);
        if !(80..=200).contains(&size) {
            return Err(Failure::bad_argument("sizePercent", "80 to 200", size));
        }
        font.size_percent = size;
        font.bold = arguments.bold.unwrap_or(font.bold);
        Ok(())
    })?;
    let Font { size_percent, bold } = update.value;
    Ok(Reply::new(
        format!("text is {size_percent} %{}", if bold { ", bold" } else { "" }),
        json!({"changed": update.changed, "sizePercent": size_percent, "bold": bold}),
    ))
}

fn set_display_size(phone: &mut Phone, arguments: SetDisplaySize) -> Result<Reply, Failure> {
    let level = match arguments.level {
        ZoomLevel::Small => "small",
        ZoomLevel::Default => "default",
        ZoomLevel::Large => "large",
        ZoomLevel::Larger => "larger",
    };
    let update = phone.update("display", "zoom", |zoom: &mut Zoom| {
        level.clone_into(&mut zoom.level);
        Ok(())
    })?;
    Ok(Reply::new(format!("display size is {level}"), json!({"changed": update.changed, "level": level})))
}

/// Sets or tells a document that holds one word.
fn choose(phone: &mut Phone, key: &str, what: &str, mode: Option<&str>) -> Result<Reply, Failure> {
    let update = phone.update("display", key, |chosen: &mut Chosen| {
        if let Some(mode) = mode {
            mode.clone_into(&mut chosen.mode);
        }
        Ok(())
    })?;
    Ok(Reply::new(
        format!("{what} is {}", update.value.mode),
        json!({"changed": update.changed, "mode": update.value.mode}),
    ))
}

fn manage_refresh_rate(phone: &mut Phone, arguments: ManageRefreshRate) -> Result<Reply, Failure> {
    let mode = match (arguments.action, arguments.mode) {
        (SetAction::Query, _) => None,
        (SetAction::Set, None) => {
            return Err(Failure::missing_argument("mode", ["standard", "high", "adaptive"], "`set`"));
        }
        (SetAction::Set, Some(RefreshMode::Standard)) => Some("standard"),
        (SetAction::Set, Some(RefreshMode::High)) => Some("high"),
        (SetAction::Set, Some(RefreshMode::Adaptive)) => Some("adaptive"),
    };
    choose(phone, "refresh", "refresh rate", mode)
}

fn set_screen_resolution(phone: &mut Phone, arguments: SetScreenResolution) -> Result<Reply, Failure> {
    let mode = match arguments.mode {
        ResolutionMode::Hd => "hd",
        ResolutionMode::Fhd => "fhd",
        ResolutionMode::Wqhd => "wqhd",
        ResolutionMode::Auto => "auto",
    };
    choose(phone, "resolution", "resolution", Some(mode))
}

fn manage_color_mode(phone: &mut Phone, arguments: ManageColorMode) -> Result<Reply, Failure> {
    let mode = match (arguments.action, arguments.mode) {
        (SetAction::Query, _) => None,
        (SetAction::Set, None) => {
            return Err(Failure::missing_argument("mode", ["natural", "vivid", "cinema"], "`set`"));
        }
        (SetAction::Set, Some(ColorMode::Natural)) => Some("natural"),
        (SetAction::Set, Some(ColorMode::Vivid)) => Some("vivid"),
        (SetAction::Set, Some(ColorMode::Cinema)) => Some("cinema"),
    };
    choose(phone, "color", "colour mode", mode)
}

fn manage_always_on_display(phone: &mut Phone, arguments: ManageAlwaysOnDisplay) -> Result<Reply, Failure> {
    let schedule = arguments.schedule.map(Schedule::checked).transpose()?;
    let style = arguments.style.map(|style| match style {
        Style::Clock => "clock",
        Style::Calendar => "calendar",
        Style::Picture => "picture",
    });
    let update = phone.update("display", "aod", |always_on: &mut AlwaysOn| {
        match arguments.action {
            AlwaysOnAction::Query => {}
            AlwaysOnAction::Enable => {
                always_on.on = true;
                always_on.schedule = schedule.or_else(|| always_on.schedule.take());
                if let Some(style) = style {
                    style.clone_into(&mut always_on.style);
                }
            }
            AlwaysOnAction::Disable => always_on.on = false,
            AlwaysOnAction::SetStyle => style
                .ok_or_else(|| Failure::missing_argument("style", ["clock", "calendar", "picture"], "`set_style`"))?
                .clone_into(&mut always_on.style),
        }
        Ok(())
    })?;
    let always_on = update.value;
    let text = match arguments.action {
        AlwaysOnAction::Enable | AlwaysOnAction::Disable => told("always-on display", always_on.on, update.changed),
        AlwaysOnAction::SetStyle | AlwaysOnAction::Query => {
            format!("always-on display is {}, showing {}", if always_on.on { "on" } else { "off" }, always_on.style)
        }
    };
    Ok(Reply::new(
        text,
        json!({"changed": update.changed, "on": always_on.on, "style": always_on.style, "schedule": always_on.schedule}),
    ))
}

fn manage_status_bar_display(phone: &mut Phone, arguments: ManageStatusBarDisplay) -> Result<Reply, Failure> {
    let update = phone.update("display", "status_bar", |items: &mut BTreeMap<String, bool>| {
        let shown = match arguments.action {
            BarAction::Query => return Ok(()),
            BarAction::Show => true,
            BarAction::Hide => false,
        };
        let item = arguments.item.ok_or_else(|| {
            Failure::missing_argument("item", items.keys().cloned().collect::<Vec<_>>(), "`show` and `hide`")
        })?;
        items.insert(item.name().to_owned(), shown);
        Ok(())
    })?;
    let text = match (arguments.action, arguments.item) {
        (BarAction::Show, Some(item)) => format!("the status bar shows {}", item.name()),
        (BarAction::Hide, Some(item)) => format!("the status bar hides {}", item.name()),
        _ => "status bar items".to_owned(),
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "items": update.value})))
}
