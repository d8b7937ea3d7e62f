//! VPN profiles.

use loopwright_sdk::{Failure, Phone, Reply, Requirement, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Vpn {
    active: Option<String>,
    profiles: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Connect,
    Disconnect,
    Add,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageVpn {
    /// What to do; `connect` and `add` need `profile`.
    action: Action,
    /// The profile's name, 1 to 40 characters.
    profile: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_vpn", manage_vpn)
            .domain(crate::DOMAIN)
            .en(
                "Connects or disconnects a VPN profile, adds one, or tells which is active.",
                "vpn, virtual private network, secure tunnel, company network, work vpn, connect vpn, disconnect vpn, vpn profile",
            )
            .zh("连接或断开 VPN 配置，添加配置，或查询当前 VPN。", "VPN 虚拟专用网 公司内网 翻到内网 连接VPN 断开VPN 专网 代理配置")
            .when("action", &["query"])
            .reads()
            .when("action", &["add", "disconnect"])
            .writes()
            .writes()
            .requires(Requirement::Network),
    ]
}

fn manage_vpn(phone: &mut Phone, arguments: ManageVpn) -> Result<Reply, Failure> {
    let profile = || {
        let profile = arguments
            .profile
            .clone()
            .ok_or_else(|| Failure::missing_argument("profile", "the name of a profile", "`connect` and `add`"))?;
        if (1..=40).contains(&profile.chars().count()) {
            Ok(profile)
        } else {
            Err(Failure::bad_argument("profile", "1 to 40 characters", profile))
        }
    };
    let update = phone.update("net", "vpn", |vpn: &mut Vpn| {
        match arguments.action {
            Action::Query => {}
            Action::Disconnect => vpn.active = None,
            Action::Add => {
                let profile = profile()?;
                if !vpn.profiles.contains(&profile) {
                    vpn.profiles.push(profile);
                    vpn.profiles.sort();
                }
            }
            Action::Connect => {
                let profile = profile()?;
                if !vpn.profiles.contains(&profile) {
                    return Err(Failure::not_found("VPN profile", profile).with_allowed(vpn.profiles.clone()));
                }
                vpn.active = Some(profile);
            }
        }
        Ok(())
    })?;
    let text = match &update.value.active {
        Some(profile) => format!("VPN `{profile}` is connected"),
        None => "no VPN is connected".to_owned(),
    };
    Ok(Reply::new(
        text,
        json!({"changed": update.changed, "active": update.value.active, "profiles": update.value.profiles}),
    ))
}
