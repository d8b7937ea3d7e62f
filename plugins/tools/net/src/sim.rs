//! SIM cards.

use loopwright_sdk::{Failure, Phone, Query, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::mobile::{Mobile, follow_sim};

/// A SIM card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sim {
    pub(crate) slot: u8,
    carrier: String,
    number: String,
    label: String,
    pub(crate) enabled: bool,
    default_for: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    SetDefault,
    Enable,
    Disable,
    Rename,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Purpose {
    Call,
    Data,
    Sms,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Data => "data",
            Self::Sms => "sms",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageSim {
    /// What to do; everything but `query` needs `slot`, `set_default` needs `purpose`, `rename` needs `name`.
    action: Action,
    /// The card.
    #[schemars(range(min = 1, max = 2))]
    slot: Option<u8>,
    /// What the card becomes the default for.
    purpose: Option<Purpose>,
    /// The new label, 1 to 20 characters.
    name: Option<String>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_sim", manage_sim)
            .domain(crate::DOMAIN)
            .en(
                "Tells the SIM cards, sets the default card for calls, data or messages, turns a card on or off, or renames it.",
                "sim card, dual sim, second sim, default sim, which card for calls, carrier, phone number, sim slot, enable sim, disable sim, rename sim, my number",
            )
            .zh("查询 SIM 卡，设置通话、数据或短信的默认卡，启用、停用或重命名一张卡。", "SIM卡 双卡 副卡 主卡 默认卡 卡一 卡二 卡1 卡2 手机卡 运营商 本机号码 停用卡 启用卡 打电话用哪张卡")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

/// The card in a slot, which must be enabled.
pub(crate) fn enabled_sim(phone: &Phone, slot: u8) -> Result<Sim, Failure> {
    let sim = sim(phone, slot)?;
    if sim.enabled {
        Ok(sim)
    } else {
        Err(Failure::conflict(&format!("SIM {slot} is turned off"), "enable it with manage_sim first"))
    }
}

fn sim(phone: &Phone, slot: u8) -> Result<Sim, Failure> {
    phone.get("sims", &slot.to_string())?.ok_or_else(|| Failure::not_found("SIM slot", slot).with_allowed(["1", "2"]))
}

fn manage_sim(phone: &mut Phone, arguments: ManageSim) -> Result<Reply, Failure> {
    if arguments.action == Action::Query && arguments.slot.is_none() {
        let sims: Vec<Sim> = phone.find_all::<Sim>("sims", &Query::new())?.into_iter().map(|doc| doc.value).collect();
        return Ok(Reply::new(format!("{} SIM cards", sims.len()), json!({"sims": sims})));
    }
    let slot = arguments.slot.ok_or_else(|| Failure::missing_argument("slot", ["1", "2"], "everything but `query`"))?;
    let key = slot.to_string();
    let current = sim(phone, slot)?;
    match arguments.action {
        Action::Query => Ok(Reply::new(format!("SIM {slot} is `{}`", current.label), json!({"sims": [current]}))),
        Action::Rename => {
            let name = arguments
                .name
                .filter(|name| (1..=20).contains(&name.chars().count()))
                .ok_or_else(|| Failure::missing_argument("name", "1 to 20 characters", "`rename`"))?;
            let update = phone.update("sims", &key, |sim: &mut Sim| {
                sim.label.clone_from(&name);
                Ok(())
            })?;
            Ok(Reply::new(
                format!("SIM {slot} is `{name}`"),
                json!({"changed": update.changed, "slot": slot, "label": name}),
            ))
        }
        Action::SetDefault => {
            let purpose = arguments
                .purpose
                .ok_or_else(|| Failure::missing_argument("purpose", ["call", "data", "sms"], "`set_default`"))?;
            set_default(phone, &current, purpose)
        }
        Action::Enable => switch(phone, &current, true),
        Action::Disable => switch(phone, &current, false),
    }
}

fn set_default(phone: &mut Phone, sim: &Sim, purpose: Purpose) -> Result<Reply, Failure> {
    if !sim.enabled {
        return Err(Failure::conflict(&format!("SIM {} is turned off", sim.slot), "enable it first"));
    }
    let mut changed = false;
    for doc in phone.find_all::<Sim>("sims", &Query::new())? {
        let update = phone.update("sims", &doc.key, |other: &mut Sim| {
            other.default_for.retain(|name| name != purpose.name());
            if other.slot == sim.slot {
                other.default_for.push(purpose.name().to_owned());
                other.default_for.sort();
            }
            Ok(())
        })?;
        changed |= update.changed;
    }
    if purpose.name() == "data" {
        phone.update("net", "mobile", |mobile: &mut Mobile| {
            mobile.slot = sim.slot;
            Ok(())
        })?;
    }
    Ok(Reply::new(
        format!("SIM {} is the default for {}", sim.slot, purpose.name()),
        json!({"changed": changed, "slot": sim.slot, "purpose": purpose.name()}),
    ))
}

fn switch(phone: &mut Phone, sim: &Sim, on: bool) -> Result<Reply, Failure> {
    let update = phone.update("sims", &sim.slot.to_string(), |sim: &mut Sim| {
        sim.enabled = on;
        Ok(())
    })?;
    if !on && update.changed {
        let other =
            phone.find_all::<Sim>("sims", &Query::new().eq("/enabled", true))?.into_iter().next().map(|doc| doc.value);
        follow_sim(phone, sim.slot, other.as_ref())?;
    }
    let word = if on { "on" } else { "off" };
    let text = if update.changed {
        format!("SIM {} turned {word}", sim.slot)
    } else {
        format!("SIM {} was already {word}", sim.slot)
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "slot": sim.slot, "enabled": on})))
}
