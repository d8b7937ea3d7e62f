//! Mobile data: on or off, limit, usage, network generation, roaming and the connection test.

use loopwright_sdk::{Failure, Phone, Reply, Requirement, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

use crate::airplane;
use crate::sim::{Sim, enabled_sim};

/// The mobile data connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mobile {
    pub(crate) on: bool,
    pub(crate) slot: u8,
    pub(crate) in_service: bool,
    pub(crate) mode: String,
    pub(crate) limit_mb: Option<u32>,
    pub(crate) warn_mb: Option<u32>,
    pub(crate) reset_day: u8,
    pub(crate) used_mb: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Roaming {
    on: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Usage {
    apps: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Switch {
    Enable,
    Disable,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageMobileData {
    /// What to do.
    action: Switch,
    /// The SIM card that carries the data; the current one when absent.
    #[schemars(range(min = 1, max = 2))]
    sim_slot: Option<u8>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LimitAction {
    Set,
    Clear,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageDataLimit {
    /// What to do; `set` needs at least one of the others.
    action: LimitAction,
    /// Megabytes a month after which mobile data stops, 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    limit_mb: Option<u32>,
    /// Megabytes a month after which the phone warns, 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    warn_mb: Option<u32>,
    /// The day of the month on which counting starts, 1 to 31.
    #[schemars(range(min = 1, max = 31))]
    reset_day: Option<u8>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Range {
    Month,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct QueryDataUsage {
    /// The time that is counted; the running month.
    range: Option<Range>,
    /// Only this app.
    app_name: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageRoaming {
    /// What to do.
    action: Switch,
    /// The SIM card; both share one setting.
    #[schemars(range(min = 1, max = 2))]
    sim_slot: Option<u8>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ModeAction {
    Set,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
enum Mode {
    #[serde(rename = "5g_auto")]
    FiveG,
    #[serde(rename = "4g")]
    FourG,
    #[serde(rename = "3g")]
    ThreeG,
    #[serde(rename = "2g")]
    TwoG,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::FiveG => "5g_auto",
            Self::FourG => "4g",
            Self::ThreeG => "3g",
            Self::TwoG => "2g",
        }
    }

    fn down_mbit(mode: &str) -> u32 {
        match mode {
            "5g_auto" => 300,
            "4g" => 60,
            "3g" => 8,
            _ => 1,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageNetworkMode {
    /// What to do; `set` needs `mode`.
    action: ModeAction,
    /// The newest generation that the phone uses.
    mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Test {
    Speed,
    Latency,
    Reachability,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RunNetworkTest {
    /// What to measure.
    kind: Test,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_mobile_data", manage_mobile_data)
            .domain(crate::DOMAIN)
            .en(
                "Turns mobile data on or off, or says whether it is on and which SIM carries it.",
                "mobile data, cellular data, cell data, data connection, internet on the go, 4g 5g data, data plan on, switch data sim, use sim for data",
            )
            .zh("打开或关闭移动数据，或查询移动数据状态和所用的卡。", "移动数据 流量 数据网络 蜂窝数据 手机流量 上网 开流量 关流量 数据开关 数据卡")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_data_limit", manage_data_limit)
            .domain(crate::DOMAIN)
            .en(
                "Sets, clears or tells the monthly limit and warning of mobile data.",
                "data limit, data cap, quota, monthly allowance, warn me at gigabytes, stop data after, megabytes, billing cycle, data plan, limit usage",
            )
            .zh("设置、清除或查询每月移动数据的上限和提醒。", "流量上限 流量限额 流量限制 每月流量 套餐 流量提醒 超过多少提醒 月结日 兆 GB 限额")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("query_data_usage", query_data_usage)
            .domain(crate::DOMAIN)
            .en(
                "Tells how much mobile data was used this month, in all and by app.",
                "data usage, how much data used, traffic, consumed, which app uses data, megabytes used, statistics",
            )
            .zh("查询本月移动数据用量，总量和各应用用量。", "流量使用 用了多少流量 流量统计 哪个应用耗流量 已用流量 用量")
            .reads(),
        Tool::new("manage_roaming", manage_roaming)
            .domain(crate::DOMAIN)
            .en(
                "Turns data roaming on or off, or says whether it is on.",
                "roaming, data roaming, abroad, overseas, foreign country, travelling abroad, international",
            )
            .zh("打开或关闭数据漫游，或查询漫游状态。", "漫游 数据漫游 出国 国外 境外 海外 国际漫游")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_network_mode", manage_network_mode)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the newest network generation that the phone uses: 5G, 4G, 3G or 2G.",
                "network mode, 5g, 4g, lte, 3g, 2g, preferred network type, network generation, force 4g, switch to 5g",
            )
            .zh("设置或查询手机使用的网络制式：5G、4G、3G 或 2G。", "网络模式 5G 4G 3G 2G 网络制式 首选网络 切换5G 只用4G 信号类型")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("run_network_test", run_network_test)
            .domain(crate::DOMAIN)
            .en(
                "Measures the speed, latency or reachability of the current connection.",
                "speed test, network test, bandwidth, ping, latency, how fast is my internet, slow connection, check connection, reachability, measure",
            )
            .zh("测试当前网络的速度、延迟或连通性。", "测速 网速 网络测试 延迟 带宽 网络快不快 连通性 检测网络 ping")
            .reads()
            .requires(Requirement::Network),
    ]
}

fn manage_mobile_data(phone: &mut Phone, arguments: ManageMobileData) -> Result<Reply, Failure> {
    let on = match arguments.action {
        Switch::Query => {
            let mobile: Mobile = phone.require("net", "mobile")?;
            let text = if mobile.on { "mobile data is on" } else { "mobile data is off" };
            return Ok(Reply::new(
                text,
                json!({"on": mobile.on, "slot": mobile.slot, "inService": mobile.in_service, "mode": mobile.mode}),
            ));
        }
        Switch::Enable => true,
        Switch::Disable => false,
    };
    if on {
        airplane::leave_for("mobile data", phone)?;
    }
    if let Some(slot) = arguments.sim_slot {
        enabled_sim(phone, slot)?;
    }
    let update = phone.update("net", "mobile", |mobile: &mut Mobile| {
        mobile.on = on;
        mobile.slot = arguments.sim_slot.unwrap_or(mobile.slot);
        Ok(())
    })?;
    if !on {
        crate::hotspot::shut(phone)?;
    }
    let word = if on { "on" } else { "off" };
    let text =
        if update.changed { format!("mobile data turned {word}") } else { format!("mobile data was already {word}") };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": on, "slot": update.value.slot})))
}

fn manage_data_limit(phone: &mut Phone, arguments: ManageDataLimit) -> Result<Reply, Failure> {
    let update = phone.update("net", "mobile", |mobile: &mut Mobile| {
        match arguments.action {
            LimitAction::Query => {}
            LimitAction::Clear => {
                mobile.limit_mb = None;
                mobile.warn_mb = None;
            }
            LimitAction::Set => {
                if arguments.limit_mb.is_none() && arguments.warn_mb.is_none() && arguments.reset_day.is_none() {
                    return Err(Failure::missing_argument("limitMb", "1 to 1000000, or warnMb, or resetDay", "`set`"));
                }
                mobile.limit_mb = arguments.limit_mb.or(mobile.limit_mb);
                mobile.warn_mb = arguments.warn_mb.or(mobile.warn_mb);
                mobile.reset_day = arguments.reset_day.unwrap_or(mobile.reset_day);
                if let (Some(warn), Some(limit)) = (mobile.warn_mb, mobile.limit_mb)
                    && warn > limit
                {
                    return Err(Failure::bad_argument("warnMb", format!("at most the limit of {limit}"), warn));
                }
            }
        }
        Ok(())
    })?;
    let mobile = update.value;
    let text = match (arguments.action, mobile.limit_mb) {
        (LimitAction::Query, Some(limit)) => format!("the limit is {limit} MB a month"),
        (LimitAction::Query, None) => "there is no limit".to_owned(),
        (LimitAction::Clear, _) => "limit and warning cleared".to_owned(),
        (LimitAction::Set, _) => "data limit set".to_owned(),
    };
    let data = json!({"changed": update.changed, "limitMb": mobile.limit_mb, "warnMb": mobile.warn_mb, "resetDay": mobile.reset_day, "usedMb": mobile.used_mb});
    Ok(Reply::new(text, data))
}

fn query_data_usage(phone: &mut Phone, arguments: QueryDataUsage) -> Result<Reply, Failure> {
    let range = match arguments.range {
        None | Some(Range::Month) => "month",
    };
    let mobile: Mobile = phone.require("net", "mobile")?;
    let usage: Usage = phone.require("net", "usage")?;
    let Some(app) = arguments.app_name else {
        return Ok(Reply::new(
            format!("{} MB used this month", mobile.used_mb),
            json!({"range": range, "totalMb": mobile.used_mb, "apps": usage.apps}),
        ));
    };
    match usage.apps.get(&app) {
        Some(used) => Ok(Reply::new(
            format!("{app} used {used} MB this month"),
            json!({"range": range, "appName": app, "usedMb": used}),
        )),
        None => Err(Failure::not_found("app with data usage", app.as_str())
            .with_allowed(usage.apps.into_keys().collect::<Vec<_>>())),
    }
}

fn manage_roaming(phone: &mut Phone, arguments: ManageRoaming) -> Result<Reply, Failure> {
    let on = match arguments.action {
        Switch::Query => {
            let roaming: Roaming = phone.require("net", "roaming")?;
            return Ok(Reply::new(
                if roaming.on { "roaming is on" } else { "roaming is off" },
                json!({"on": roaming.on}),
            ));
        }
        Switch::Enable => true,
        Switch::Disable => false,
    };
    if let Some(slot) = arguments.sim_slot {
        enabled_sim(phone, slot)?;
    }
    let update = phone.update("net", "roaming", |roaming: &mut Roaming| {
        roaming.on = on;
        Ok(())
    })?;
    let word = if on { "on" } else { "off" };
    let text = if update.changed { format!("roaming turned {word}") } else { format!("roaming was already {word}") };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": on})))
}

fn manage_network_mode(phone: &mut Phone, arguments: ManageNetworkMode) -> Result<Reply, Failure> {
    let mode = match arguments.action {
        ModeAction::Query => {
            let mobile: Mobile = phone.require("net", "mobile")?;
            return Ok(Reply::new(format!("network mode is {}", mobile.mode), json!({"mode": mobile.mode})));
        }
        ModeAction::Set => {
            arguments.mode.ok_or_else(|| Failure::missing_argument("mode", ["5g_auto", "4g", "3g", "2g"], "`set`"))?
        }
    };
    let update = phone.update("net", "mobile", |mobile: &mut Mobile| {
        mode.name().clone_into(&mut mobile.mode);
        Ok(())
    })?;
    Ok(Reply::new(format!("network mode is {}", mode.name()), json!({"changed": update.changed, "mode": mode.name()})))
}

fn run_network_test(phone: &mut Phone, arguments: RunNetworkTest) -> Result<Reply, Failure> {
    let wifi: crate::wifi::Wifi = phone.require("net", "wifi")?;
    let mobile: Mobile = phone.require("net", "mobile")?;
    let over_wifi = wifi.on && wifi.connected.is_some();
    let (over, down_mbit, latency_ms) =
        if over_wifi { ("wifi", 200, 12) } else { ("mobile", Mode::down_mbit(&mobile.mode), 45) };
    let data = match arguments.kind {
        Test::Speed => json!({"over": over, "downMbit": down_mbit, "upMbit": down_mbit / 5}),
        Test::Latency => json!({"over": over, "latencyMs": latency_ms}),
        Test::Reachability => json!({"over": over, "reachable": true}),
    };
    Ok(Reply::new(format!("tested over {over}"), data))
}

/// Moves mobile data to another card when its own is turned off.
pub(crate) fn follow_sim(phone: &mut Phone, gone: u8, other: Option<&Sim>) -> Result<(), Failure> {
    phone.update("net", "mobile", |mobile: &mut Mobile| {
        if mobile.slot == gone {
            match other {
                Some(sim) => mobile.slot = sim.slot,
                None => mobile.on = false,
            }
        }
        Ok(())
    })?;
    Ok(())
}
