//! Bluetooth and NFC.

use loopwright_sdk::{Failure, Phone, Reply, Requirement, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::airplane;

/// The Bluetooth radio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bluetooth {
    pub(crate) on: bool,
    paired: Vec<String>,
    pub(crate) connected: Vec<String>,
    scan: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Nfc {
    on: bool,
    mode: String,
    card_id: Option<String>,
    cards: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BluetoothAction {
    Enable,
    Disable,
    Scan,
    Pair,
    Connect,
    Disconnect,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageBluetooth {
    /// What to do; `pair`, `connect` and `disconnect` need `deviceName`.
    action: BluetoothAction,
    /// The other device's name.
    device_name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NfcAction {
    Enable,
    Disable,
    SetMode,
    Query,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NfcMode {
    TapToPay,
    Read,
    Card,
}

impl NfcMode {
    fn name(self) -> &'static str {
        match self {
            Self::TapToPay => "tap_to_pay",
            Self::Read => "read",
            Self::Card => "card",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageNfc {
    /// What to do; `set_mode` needs `mode`.
    action: NfcAction,
    /// What NFC is for; `card` needs `cardId`.
    mode: Option<NfcMode>,
    /// The card that is used.
    card_id: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_bluetooth", manage_bluetooth)
            .domain(crate::DOMAIN)
            .en(
                "Turns Bluetooth on or off, scans, pairs with a device, connects to or disconnects from one, or tells what is connected.",
                "bluetooth, pair headphones, earbuds, headset, speaker, car kit, wireless keyboard, connect device, disconnect earbuds, bt",
            )
            .zh("打开或关闭蓝牙，扫描、配对、连接或断开设备，或查询已连接的设备。", "蓝牙 配对 耳机 蓝牙耳机 音箱 车载 蓝牙键盘 连接设备 断开耳机")
            .when("action", &["query", "scan"])
            .reads()
            .writes(),
        Tool::new("manage_nfc", manage_nfc)
            .domain(crate::DOMAIN)
            .en(
                "Turns NFC on or off, sets what it is used for and with which card, or tells its state.",
                "nfc, tap to pay, contactless, bus card, bank card, read tag, access card, touch payment, pay by phone",
            )
            .zh("打开或关闭 NFC，设置用途和所用的卡，或查询状态。", "NFC 碰一碰 刷卡 公交卡 门禁卡 银行卡 感应支付 近场 读卡")
            .when("action", &["query"])
            .reads()
            .writes()
            .requires(Requirement::Unlocked),
    ]
}

fn manage_bluetooth(phone: &mut Phone, arguments: ManageBluetooth) -> Result<Reply, Failure> {
    let device = || {
        arguments.device_name.clone().ok_or_else(|| {
            Failure::missing_argument("deviceName", "the name of a device", "`pair`, `connect` and `disconnect`")
        })
    };
    if arguments.action == BluetoothAction::Enable {
        airplane::leave_for("Bluetooth", phone)?;
    }
    let update = phone.update("radio", "bluetooth", |bluetooth: &mut Bluetooth| {
        let needs_radio =
            !matches!(arguments.action, BluetoothAction::Enable | BluetoothAction::Disable | BluetoothAction::Query);
        if needs_radio && !bluetooth.on {
            return Err(Failure::precondition("Bluetooth is off", "enable it first"));
        }
        match arguments.action {
            BluetoothAction::Query | BluetoothAction::Scan => {}
            BluetoothAction::Enable => bluetooth.on = true,
            BluetoothAction::Disable => {
                bluetooth.on = false;
                bluetooth.connected.clear();
            }
            BluetoothAction::Pair => {
                let device = device()?;
                if !bluetooth.scan.contains(&device) {
                    return Err(Failure::not_found("device in reach", device).with_allowed(bluetooth.scan.clone()));
                }
                add(&mut bluetooth.paired, device);
            }
            BluetoothAction::Connect => {
                let device = device()?;
                if !bluetooth.paired.contains(&device) {
                    return Err(Failure::not_found("paired device", device).with_allowed(bluetooth.paired.clone()));
                }
                add(&mut bluetooth.connected, device);
            }
            BluetoothAction::Disconnect => {
                let device = device()?;
                if !bluetooth.paired.contains(&device) {
                    return Err(Failure::not_found("paired device", device).with_allowed(bluetooth.paired.clone()));
                }
                bluetooth.connected.retain(|connected| *connected != device);
            }
        }
        Ok(())
    })?;
    let bluetooth = update.value;
    let text = match (bluetooth.on, bluetooth.connected.as_slice()) {
        (false, _) => "Bluetooth is off".to_owned(),
        (true, []) => "Bluetooth is on, nothing is connected".to_owned(),
        (true, connected) => format!("Bluetooth is on, connected: {}", connected.join(", ")),
    };
    let mut data = json!({"changed": update.changed, "on": bluetooth.on, "paired": bluetooth.paired, "connected": bluetooth.connected});
    if let (BluetoothAction::Scan, Some(data)) = (arguments.action, data.as_object_mut()) {
        data.insert("devices".to_owned(), json!(bluetooth.scan));
    }
    Ok(Reply::new(text, data))
}

/// Adds a name to a sorted list without doubles.
fn add(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
        names.sort();
    }
}

fn manage_nfc(phone: &mut Phone, arguments: ManageNfc) -> Result<Reply, Failure> {
    let update = phone.update("radio", "nfc", |nfc: &mut Nfc| {
        match arguments.action {
            NfcAction::Query => {}
            NfcAction::Enable => nfc.on = true,
            NfcAction::Disable => nfc.on = false,
            NfcAction::SetMode => {
                let mode = arguments
                    .mode
                    .ok_or_else(|| Failure::missing_argument("mode", ["tap_to_pay", "read", "card"], "`set_mode`"))?;
                if mode == NfcMode::Card && arguments.card_id.is_none() {
                    return Err(Failure::missing_argument("cardId", nfc.cards.clone(), "mode `card`"));
                }
                if let Some(card) = arguments.card_id.as_ref().filter(|card| !nfc.cards.contains(card)) {
                    return Err(Failure::not_found("card", card.as_str()).with_allowed(nfc.cards.clone()));
                }
                mode.name().clone_into(&mut nfc.mode);
                nfc.card_id.clone_from(&arguments.card_id);
            }
        }
        Ok(())
    })?;
    let nfc = update.value;
    Ok(Reply::new(
        format!("NFC is {}, mode {}", if nfc.on { "on" } else { "off" }, nfc.mode),
        json!({"changed": update.changed, "on": nfc.on, "mode": nfc.mode, "cardId": nfc.card_id, "cards": nfc.cards}),
    ))
}
