//! The few facts of other apps that the rules of the world rest on. An app that is not installed leaves no document, and then the fact
//! does not stand in the way.

use loopwright_sdk::{Phone, StateError};
use serde::{Deserialize, Serialize};

/// The battery modes that the rules know.
pub(crate) const SUPER_SAVING: &str = "super_saving";
pub(crate) const PERFORMANCE: &str = "performance";

#[derive(Debug, Deserialize)]
struct Power {
    state: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Screen {
    pub(crate) on: bool,
    pub(crate) locked: bool,
}

#[derive(Debug, Deserialize)]
struct Battery {
    mode: String,
}

#[derive(Debug, Deserialize)]
struct Wifi {
    on: bool,
    connected: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Mobile {
    on: bool,
    in_service: bool,
    limit_mb: Option<u32>,
    used_mb: u32,
}

/// Any document with a switch.
#[derive(Debug, Deserialize)]
struct Switch {
    on: bool,
}

/// What a permission's document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Permission {
    Allow,
    Deny,
    Ask,
}

#[derive(Debug, Deserialize)]
struct PermissionDocument {
    state: Permission,
}

#[derive(Debug, Deserialize)]
struct Mode {
    mode: String,
}

/// Whether the phone is on.
pub(crate) fn is_on(phone: &Phone) -> Result<bool, StateError> {
    Ok(phone.get::<Power>("power", "state")?.is_none_or(|power| power.state == "on"))
}

/// The screen.
pub(crate) fn screen(phone: &Phone) -> Result<Option<Screen>, StateError> {
    phone.get("display", "screen")
}

/// The battery mode.
pub(crate) fn battery_mode(phone: &Phone) -> Result<Option<String>, StateError> {
    Ok(phone.get::<Battery>("power", "battery")?.map(|battery| battery.mode))
}

/// Whether a switch is on; an absent one is.
pub(crate) fn switch(phone: &Phone, collection: &str, key: &str) -> Result<bool, StateError> {
    Ok(phone.get::<Switch>(collection, key)?.is_none_or(|switch| switch.on))
}

/// What a permission says; an app without a document was allowed.
pub(crate) fn permission(phone: &Phone, name: &str) -> Result<Permission, StateError> {
    Ok(phone.get::<PermissionDocument>("perms", name)?.map_or(Permission::Allow, |permission| permission.state))
}

/// The ring mode.
pub(crate) fn ring_mode(phone: &Phone) -> Result<Option<String>, StateError> {
    Ok(phone.get::<Mode>("sound", "mode")?.map(|mode| mode.mode))
}

/// Why there is no network, where there is none: what was found and what to do.
pub(crate) fn offline(phone: &Phone) -> Result<Option<(String, &'static str)>, StateError> {
    let wifi = phone.get::<Wifi>("net", "wifi")?;
    let mobile = phone.get::<Mobile>("net", "mobile")?;
    let (Some(wifi), Some(mobile)) = (wifi, mobile) else { return Ok(None) };
    if wifi.on && wifi.connected.is_some() {
        return Ok(None);
    }
    if phone.get::<Switch>("net", "airplane")?.is_some_and(|airplane| airplane.on) {
        return Ok(Some(("no network: airplane mode is on".to_owned(), "disable airplane mode first")));
    }
    Ok(match mobile {
        Mobile { on: false, .. } if wifi.on => Some((
            "no network: Wi-Fi is on but not connected, and mobile data is off".to_owned(),
            "connect Wi-Fi or enable mobile data first",
        )),
        Mobile { on: false, .. } => {
            Some(("no network: Wi-Fi and mobile data are off".to_owned(), "enable one of them first"))
        }
        Mobile { in_service: false, .. } => {
            Some(("no network: the SIM card is out of service".to_owned(), "connect Wi-Fi first"))
        }
        Mobile { limit_mb: Some(limit), used_mb, .. } if used_mb >= limit => Some((
            format!("no network: the mobile data limit of {limit} MB is reached"),
            "connect Wi-Fi, or raise or clear the limit first",
        )),
        Mobile { .. } => None,
    })
}
