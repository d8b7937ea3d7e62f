//! Nearby devices, and pairing with them.

use loopwright_sdk::{Failure, Phone, PhoneView, Query, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The collection.
pub(crate) const PEERS: &str = "devices";

/// A nearby device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Peer {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) trusted: bool,
    pub(crate) online: bool,
    battery: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Pair,
    Unpair,
    Rename,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageDevicePairing {
    /// What to do; everything but `query` needs `deviceName`, `rename` needs `newName`.
    action: Action,
    /// The device.
    device_name: Option<String>,
    /// The device's new name, 1 to 40 characters.
    new_name: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_device_pairing", manage_device_pairing)
            .domain(crate::DOMAIN)
            .en(
                "Pairs with a nearby device, unpairs or renames one, or tells all of them.",
                "pair device, unpair, trusted devices, rename device, my devices, nearby devices, forget device, link tablet, connected devices list, watch battery",
            )
            .zh("与附近设备配对、取消配对、重命名，或查询设备。", "设备配对 取消配对 我的设备 附近设备 设备改名 信任设备 平板 电视 手表 设备列表")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

/// The one device of this name.
pub(crate) fn named(phone: &PhoneView, argument: &str, name: &str) -> Result<Peer, Failure> {
    let wanted = name.trim().to_lowercase();
    let all: Vec<Peer> = phone.find_all::<Peer>(PEERS, &Query::new())?.into_iter().map(|doc| doc.value).collect();
    let exact = all.iter().find(|peer| peer.name.to_lowercase() == wanted);
    let part: Vec<&Peer> =
        all.iter().filter(|peer| !wanted.is_empty() && peer.name.to_lowercase().contains(&wanted)).collect();
    match (exact, part.as_slice()) {
        (Some(peer), _) => Ok(peer.clone()),
        (None, [peer]) => Ok((*peer).clone()),
        (None, []) => Err(Failure::not_found("device", name)
            .with_allowed(all.iter().map(|peer| peer.name.clone()).collect::<Vec<_>>())),
        (None, several) => Err(Failure::ambiguous(argument, name, several.iter().map(|peer| peer.name.clone()))),
    }
}

fn manage_device_pairing(phone: &mut Phone, arguments: ManageDevicePairing) -> Result<Reply, Failure> {
    if arguments.action == Action::Query && arguments.device_name.is_none() {
        let all: Vec<Value> = phone
            .find_all::<Value>(PEERS, &Query::new().ascending("/name"))?
            .into_iter()
            .map(|doc| doc.value)
            .collect();
        return Ok(Reply::new(format!("{} devices", all.len()), json!({"total": all.len(), "devices": all})));
    }
    let name = arguments
        .device_name
        .ok_or_else(|| Failure::missing_argument("deviceName", "the name of a device", "everything but `query`"))?;
    let before = named(phone, "deviceName", &name)?;
    let mut after = before.clone();
    match arguments.action {
        Action::Query => {}
        Action::Unpair => after.trusted = false,
        Action::Pair if !before.online => {
            return Err(Failure::precondition(&format!("`{}` is offline", before.name), "the user turns it on first"));
        }
        Action::Pair => after.trusted = true,
        Action::Rename => {
            let new = arguments
                .new_name
                .ok_or_else(|| Failure::missing_argument("newName", "1 to 40 characters", "`rename`"))?;
            if !(1..=40).contains(&new.chars().count()) {
                return Err(Failure::bad_argument("newName", "1 to 40 characters", new));
            }
            after.name = new;
        }
    }
    let changed = after != before;
    if changed {
        phone.put(PEERS, &after.id, &after)?;
    }
    let text = format!("`{}` is {}", after.name, if after.trusted { "paired" } else { "not paired" });
    Ok(Reply::new(text, json!({"changed": changed, "device": after})))
}
