//! Screen casting: one session at a time. Changing the target means stopping, then starting.

use loopwright_sdk::{Failure, Phone, Query, Reply, Requirement, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::pairing::{PEERS, Peer, named};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Session {
    state: String,
    direction: Option<String>,
    method: Option<String>,
    device: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    Stop,
    Query,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    #[default]
    PhoneToDevice,
    DeviceToPhone,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Method {
    #[default]
    Wireless,
    Wired,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DeviceType {
    Tv,
    Pc,
    Tablet,
}

impl DeviceType {
    fn name(self) -> &'static str {
        match self {
            Self::Tv => "tv",
            Self::Pc => "pc",
            Self::Tablet => "tablet",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ControlScreenCasting {
    /// What to do; `start` needs `targetDeviceName`, or `targetDeviceType` where only one such device is online.
    action: Action,
    /// Which way; from the phone when absent.
    cast_direction: Option<Direction>,
    /// How; wireless when absent.
    connection_method: Option<Method>,
    /// The kind of device.
    target_device_type: Option<DeviceType>,
    /// The device's name.
    target_device_name: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("control_screen_casting", control_screen_casting)
            .domain(crate::DOMAIN)
            .en(
                "Starts or stops casting the screen to a device, or tells the session. One session at a time.",
                "cast screen, screen mirroring, show phone on tv, cast to tv, project screen, mirror to computer, stop casting, screen cast, put this on the television",
            )
            .zh("开始或停止投屏，或查询投屏状态。同时只能有一个投屏。", "投屏 投到电视 镜像 屏幕投射 投影 停止投屏 投到电脑 无线投屏 把屏幕放到电视上")
            .when("action", &["query"])
            .reads()
            .when("action", &["stop"])
            .writes()
            .writes()
            .requires(Requirement::Unlocked),
    ]
}

fn control_screen_casting(phone: &mut Phone, arguments: ControlScreenCasting) -> Result<Reply, Failure> {
    let session: Session = phone.require("casting", "session")?;
    let device = match arguments.action {
        Action::Start => Some(target(phone, &arguments)?),
        Action::Stop | Action::Query => None,
    };
    let direction = match arguments.cast_direction.unwrap_or_default() {
        Direction::PhoneToDevice => "phone_to_device",
        Direction::DeviceToPhone => "device_to_phone",
    };
    let method = match arguments.connection_method.unwrap_or_default() {
        Method::Wireless => "wireless",
        Method::Wired => "wired",
    };
    if let (Some(device), "casting") = (&device, session.state.as_str()) {
        let running = session.device.as_deref().unwrap_or("another device");
        let same = session.device.as_ref() == Some(&device.name);
        if !same {
            return Err(Failure::conflict(
                &format!("the screen is already cast to `{running}`"),
                "stop that session first, then start the new one",
            ));
        }
    }
    let update = phone.update("casting", "session", |session: &mut Session| {
        match (arguments.action, &device) {
            (Action::Start, Some(device)) => {
                *session = Session {
                    state: "casting".to_owned(),
                    direction: Some(direction.to_owned()),
                    method: Some(method.to_owned()),
                    device: Some(device.name.clone()),
                };
            }
            (Action::Stop, _) => {
                *session = Session { state: "idle".to_owned(), direction: None, method: None, device: None }
            }
            (Action::Start | Action::Query, _) => {}
        }
        Ok(())
    })?;
    let session = update.value;
    let text = match &session.device {
        Some(device) => format!("the screen is cast to `{device}`"),
        None => "nothing is cast".to_owned(),
    };
    Ok(Reply::new(
        text,
        json!({"changed": update.changed, "state": session.state, "direction": session.direction, "method": session.method, "device": session.device}),
    ))
}

/// The device to cast to: trusted, online, and able to show a screen.
fn target(phone: &Phone, arguments: &ControlScreenCasting) -> Result<Peer, Failure> {
    let peer = match (&arguments.target_device_name, arguments.target_device_type) {
        (Some(name), _) => named(phone, "targetDeviceName", name)?,
        (None, Some(kind)) => {
            let fitting: Vec<Peer> = phone
                .find_all::<Peer>(PEERS, &Query::new().eq("/type", kind.name()).eq("/online", true))?
                .into_iter()
                .map(|doc| doc.value)
                .collect();
            match fitting.as_slice() {
                [] => return Err(Failure::not_found("online device of type", kind.name())),
                [one] => one.clone(),
                several => {
                    return Err(Failure::ambiguous(
                        "targetDeviceType",
                        kind.name(),
                        several.iter().map(|peer| peer.name.clone()),
                    ));
                }
            }
        }
        (None, None) => {
            return Err(Failure::missing_argument(
                "targetDeviceName",
                "the name of a device, or targetDeviceType",
                "`start`",
            ));
        }
    };
    if arguments.target_device_type.is_some_and(|kind| kind.name() != peer.kind) {
        return Err(Failure::bad_argument(
            "targetDeviceType",
            peer.kind.as_str(),
            arguments.target_device_type.map(DeviceType::name).unwrap_or_default(),
        ));
    }
    if !["tv", "pc", "tablet"].contains(&peer.kind.as_str()) {
        return Err(Failure::conflict(&format!("`{}` cannot show a screen", peer.name), "choose a tv, pc or tablet"));
    }
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
