//! Accessibility aids and USB debugging: plain switches.

use loopwright_sdk::{Failure, Phone, Reply, Requirement, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Switch {
    on: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Toggle {
    /// What to do.
    action: Action,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Feature {
    Magnification,
    Caption,
    ColorCorrection,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageAccessibilityFeature {
    /// What to do; `enable` and `disable` need `feature`.
    action: Action,
    /// The aid.
    feature: Option<Feature>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_talkback", |phone: &mut Phone, arguments: Toggle| switch(phone, "talkback", "TalkBack", arguments.action))
            .domain(crate::DOMAIN)
            .en("Turns the TalkBack screen reader on or off, or tells its state.", "talkback, screen reader, read the screen aloud, blind, voice feedback, spoken feedback, visually impaired")
            .zh("打开或关闭 TalkBack 屏幕朗读，或查询状态。", "TalkBack 屏幕朗读 读屏 盲人 语音反馈 朗读屏幕 无障碍朗读")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_select_to_speak", |phone: &mut Phone, arguments: Toggle| switch(phone, "select_to_speak", "select to speak", arguments.action))
            .domain(crate::DOMAIN)
            .en("Turns select-to-speak on or off, or tells its state.", "select to speak, read selected text, speak selection, tap text to hear it, read this aloud, speak what I tap")
            .zh("打开或关闭随选朗读，或查询状态。", "随选朗读 选中朗读 朗读选中文字 点读 点哪读哪")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_accessibility_feature", manage_accessibility_feature)
            .domain(crate::DOMAIN)
            .en(
                "Turns another accessibility aid on or off, or tells all of them: magnification, captions, colour correction.",
                "accessibility, magnification, magnifier, zoom gesture, captions, subtitles for videos, color blind, colour correction, color correction, hearing aid captions",
            )
            .zh("打开或关闭其他无障碍功能，或查询：放大手势、字幕、色彩校正。", "无障碍 放大手势 放大镜 字幕 视频字幕 色盲 色彩校正 辅助功能 色弱")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_usb_debug", manage_usb_debug)
            .domain(crate::DOMAIN)
            .en("Turns USB debugging on or off, or tells its state.", "usb debugging, developer options, adb, debug mode, connect to computer for development, developer mode")
            .zh("打开或关闭 USB 调试，或查询状态。", "USB调试 开发者选项 adb 调试模式 开发者模式 连接电脑调试")
            .when("action", &["query"])
            .reads()
            .writes()
            .requires(Requirement::Unlocked),
    ]
}

/// Turns a setting on or off, or tells it.
fn switch(phone: &mut Phone, key: &str, what: &str, action: Action) -> Result<Reply, Failure> {
    let update = phone.update("settings", key, |switch: &mut Switch| {
        match action {
            Action::Query => {}
            Action::Enable => switch.on = true,
            Action::Disable => switch.on = false,
        }
        Ok(())
    })?;
    let on = update.value.on;
    Ok(Reply::new(format!("{what} is {}", if on { "on" } else { "off" }), json!({"changed": update.changed, "on": on})))
}

fn manage_accessibility_feature(phone: &mut Phone, arguments: ManageAccessibilityFeature) -> Result<Reply, Failure> {
    let update = phone.update("settings", "accessibility", |aids: &mut BTreeMap<String, bool>| {
        let on = match arguments.action {
            Action::Query => return Ok(()),
            Action::Enable => true,
            Action::Disable => false,
        };
        let aid = match arguments.feature {
            None => {
                return Err(Failure::missing_argument(
                    "feature",
                    ["magnification", "caption", "color_correction"],
                    "`enable` and `disable`",
                ));
            }
            Some(Feature::Magnification) => "magnification",
            Some(Feature::Caption) => "caption",
            Some(Feature::ColorCorrection) => "color_correction",
        };
        aids.insert(aid.to_owned(), on);
        Ok(())
    })?;
    Ok(Reply::new("accessibility aids", json!({"changed": update.changed, "features": update.value})))
}

fn manage_usb_debug(phone: &mut Phone, arguments: Toggle) -> Result<Reply, Failure> {
    let developer: Switch = phone.require("settings", "developer")?;
    if arguments.action == Action::Enable && !developer.on {
        return Err(Failure::precondition("developer options are off", "the user turns them on by hand"));
    }
    switch(phone, "usb_debug", "USB debugging", arguments.action)
}
