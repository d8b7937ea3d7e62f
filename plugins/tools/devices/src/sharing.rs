//! What is shared with a nearby device: clipboard, keyboard and mouse, several screens.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::pairing::{Peer, named};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Clipboard {
    on: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct KeyboardMouse {
    on: bool,
    source: Option<String>,
    target: Option<String>,
    device: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct MultiScreen {
    on: bool,
    device: Option<String>,
    mode: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Toggle {
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageClipboardSharing {
    /// What to do.
    action: Toggle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Side {
    Phone,
    Pc,
    Tablet,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Phone => "phone",
            Self::Pc => "pc",
            Self::Tablet => "tablet",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageKeyboardMouseSharing {
    /// What to do; `enable` needs `deviceName`.
    action: Toggle,
    /// Whose keyboard and mouse are used; the other device's when absent.
    source_device_type: Option<Side>,
    /// Which side is operated with them; the phone when absent.
    target_device_type: Option<Side>,
    /// The other device.
    device_name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScreenAction {
    Start,
    Stop,
    Mode,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScreenMode {
    Mirror,
    Extend,
}

impl ScreenMode {
    fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Extend => "extend",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageMultiScreen {
    /// What to do; `start` needs `device`, `mode` needs `mode`.
    action: ScreenAction,
    /// The other device's name.
    device: Option<String>,
    /// What the other screen shows; mirror when absent.
    mode: Option<ScreenMode>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_clipboard_sharing", manage_clipboard_sharing)
            .domain(crate::DOMAIN)
            .en(
                "Turns the clipboard shared with paired devices on or off, or tells its state.",
                "shared clipboard, copy on phone paste on computer, universal clipboard, cross device clipboard, sync clipboard, copy paste between devices",
            )
            .zh("打开或关闭跨设备剪贴板，或查询状态。", "剪贴板共享 跨设备剪贴板 手机复制电脑粘贴 同步剪贴板 复制粘贴 互通剪贴板")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_keyboard_mouse_sharing", manage_keyboard_mouse_sharing)
            .domain(crate::DOMAIN)
            .en(
                "Turns sharing of keyboard and mouse with a device on or off, or tells its state.",
                "share keyboard and mouse, use pc mouse on phone, keyboard sharing, one mouse for both, control tablet with keyboard, mouse sharing",
            )
            .zh("打开或关闭键鼠共享，或查询状态。", "键鼠共享 键盘鼠标共享 用电脑鼠标控制手机 共享鼠标 共享键盘 一套键鼠")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_multi_screen", manage_multi_screen)
            .domain(crate::DOMAIN)
            .en(
                "Starts or stops working across two screens with a device, sets mirror or extend, or tells its state.",
                "multi screen, second screen, extend display, mirror display, extended desktop, multi-screen collaboration, use tablet as second screen",
            )
            .zh("开始或停止多屏协同，设置镜像或扩展，或查询状态。", "多屏协同 扩展屏幕 副屏 第二屏幕 镜像模式 扩展模式 协同办公 多屏")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

fn manage_clipboard_sharing(phone: &mut Phone, arguments: ManageClipboardSharing) -> Result<Reply, Failure> {
    let update = phone.update("sharing", "clipboard", |clipboard: &mut Clipboard| {
        match arguments.action {
            Toggle::Query => {}
            Toggle::Enable => clipboard.on = true,
            Toggle::Disable => clipboard.on = false,
        }
        Ok(())
    })?;
    let on = update.value.on;
    Ok(Reply::new(
        format!("clipboard sharing is {}", if on { "on" } else { "off" }),
        json!({"changed": update.changed, "on": on}),
    ))
}

/// A paired device that is online.
fn partner(phone: &Phone, argument: &str, name: Option<&String>, needed_by: &str) -> Result<Peer, Failure> {
    let name = name.ok_or_else(|| Failure::missing_argument(argument, "the name of a device", needed_by))?;
    let peer = named(phone, argument, name)?;
    match (peer.trusted, peer.online) {
        (false, _) => Err(Failure::precondition(
            &format!("`{}` is not paired", peer.name),
            "pair it with manage_device_pairing first",
        )),
        (true, false) => {
            Err(Failure::precondition(&format!("`{}` is offline", peer.name), "the user turns it on first"))
        }
        (true, true) => Ok(peer),
    }
}

fn manage_keyboard_mouse_sharing(phone: &mut Phone, arguments: ManageKeyboardMouseSharing) -> Result<Reply, Failure> {
    let peer = if arguments.action == Toggle::Enable {
        Some(partner(phone, "deviceName", arguments.device_name.as_ref(), "`enable`")?)
    } else {
        None
    };
    let other = match peer.as_ref().map(|peer| peer.kind.as_str()) {
        None | Some("pc") => "pc",
        Some("tablet") => "tablet",
        Some(_) => "other",
    };
    if other == "other" {
        return Err(Failure::conflict("this device has no keyboard and mouse to share", "choose a pc or tablet"));
    }
    let source = arguments.source_device_type.map_or(other, Side::name);
    let target = arguments.target_device_type.map_or("phone", Side::name);
    if source == target {
        return Err(Failure::bad_argument("targetDeviceType", "another side than sourceDeviceType", target));
    }
    let update = phone.update("sharing", "keyboard_mouse", |sharing: &mut KeyboardMouse| {
        match (arguments.action, &peer) {
            (Toggle::Enable, Some(peer)) => {
                *sharing = KeyboardMouse {
                    on: true,
                    source: Some(source.to_owned()),
                    target: Some(target.to_owned()),
                    device: Some(peer.name.clone()),
                }
            }
            (Toggle::Disable, _) => *sharing = KeyboardMouse { on: false, source: None, target: None, device: None },
            (Toggle::Enable | Toggle::Query, _) => {}
        }
        Ok(())
    })?;
    let sharing = update.value;
    let text = format!("keyboard and mouse sharing is {}", if sharing.on { "on" } else { "off" });
    Ok(Reply::new(
        text,
        json!({"changed": update.changed, "on": sharing.on, "source": sharing.source, "target": sharing.target, "device": sharing.device}),
    ))
}

fn manage_multi_screen(phone: &mut Phone, arguments: ManageMultiScreen) -> Result<Reply, Failure> {
    let peer = if arguments.action == ScreenAction::Start {
        Some(partner(phone, "device", arguments.device.as_ref(), "`start`")?)
    } else {
        None
    };
    let update = phone.update("sharing", "multi_screen", |screen: &mut MultiScreen| {
        match (arguments.action, &peer) {
            (ScreenAction::Start, Some(peer)) => {
                if screen.on && screen.device.as_ref() != Some(&peer.name) {
                    let running = screen.device.as_deref().unwrap_or("another device");
                    return Err(Failure::conflict(&format!("`{running}` is already the second screen"), "stop first"));
                }
                *screen = MultiScreen {
                    on: true,
                    device: Some(peer.name.clone()),
                    mode: Some(arguments.mode.map_or("mirror", ScreenMode::name).to_owned()),
                };
            }
            (ScreenAction::Stop, _) => *screen = MultiScreen { on: false, device: None, mode: None },
            (ScreenAction::Mode, _) => {
                let mode =
                    arguments.mode.ok_or_else(|| Failure::missing_argument("mode", ["mirror", "extend"], "`mode`"))?;
                if !screen.on {
                    return Err(Failure::precondition("no second screen is running", "start it first"));
                }
                screen.mode = Some(mode.name().to_owned());
            }
            (ScreenAction::Start | ScreenAction::Query, _) => {}
        }
        Ok(())
    })?;
    let screen = update.value;
    let text = match &screen.device {
        Some(device) => format!("`{device}` is the second screen"),
        None => "no second screen is running".to_owned(),
    };
    Ok(Reply::new(
        text,
        json!({"changed": update.changed, "on": screen.on, "device": screen.device, "mode": screen.mode}),
    ))
}
