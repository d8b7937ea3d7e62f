//! Language, region, clock rules and location.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Locale {
    locale: String,
    region: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ClockRules {
    auto: bool,
    timezone: String,
    format24h: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Location {
    on: bool,
    accuracy: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SetAction {
    Set,
    Query,
}

/// The languages that the phone speaks.
const LOCALES: [&str; 6] = ["zh-CN", "zh-TW", "en-US", "en-GB", "ja-JP", "de-DE"];
/// The regions that the phone knows.
const REGIONS: [&str; 6] = ["CN", "TW", "US", "GB", "JP", "DE"];
/// The time zones that the settings page offers.
const ZONES: [&str; 8] = [
    "Asia/Shanghai",
    "Asia/Tokyo",
    "Asia/Singapore",
    "Europe/London",
    "Europe/Berlin",
    "America/New_York",
    "America/Los_Angeles",
    "UTC",
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageLanguageRegion {
    /// What to do; `set` needs `locale` or `region`.
    action: SetAction,
    /// The language: zh-CN, zh-TW, en-US, en-GB, ja-JP or de-DE.
    locale: Option<String>,
    /// The region: CN, TW, US, GB, JP or DE.
    region: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageDatetimeSetting {
    /// What to do; `set` needs one of the others.
    action: SetAction,
    /// Whether time and zone come from the network.
    auto: Option<bool>,
    /// An IANA zone; only while `auto` is off.
    timezone: Option<String>,
    /// Whether times are shown in 24 hours.
    #[serde(rename = "format24h")]
    format24h: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LocationAction {
    Enable,
    Disable,
    Accuracy,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Accuracy {
    High,
    BatterySaving,
    DeviceOnly,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageLocationService {
    /// What to do; `accuracy` needs `accuracy`.
    action: LocationAction,
    /// How exact.
    accuracy: Option<Accuracy>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_language_region", manage_language_region)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the phone's language and region.",
                "language, system language, change language to english, chinese, japanese, german, region, locale, country setting, display language",
            )
            .zh("设置或查询手机的语言和地区。", "语言 系统语言 切换语言 英文 中文 日语 德语 地区 语言和地区 改成英语")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_datetime_setting", manage_datetime_setting)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the clock rules: automatic time, time zone, 12 or 24 hours.",
                "time zone setting, 24 hour clock, 12 hour format, automatic time, date and time settings, change timezone, clock format, am pm",
            )
            .zh("设置或查询时间规则：自动时间、时区、12 或 24 小时制。", "时区 时区设置 24小时制 12小时制 自动时间 日期和时间设置 时间格式 改时区")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_location_service", manage_location_service)
            .domain(crate::DOMAIN)
            .en(
                "Turns the location service on or off, sets its accuracy, or tells its state.",
                "location, gps, location service, positioning, where am i, location accuracy, turn off gps, enable location, tracking",
            )
            .zh("打开或关闭定位服务，设置精度，或查询状态。", "定位 GPS 位置服务 定位服务 位置信息 定位精度 打开定位 关闭定位 位置")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

/// A value out of a closed list, where one is given.
fn listed<const N: usize>(argument: &str, value: Option<&String>, allowed: [&str; N]) -> Result<(), Failure> {
    match value {
        Some(value) if !allowed.contains(&value.as_str()) => {
            Err(Failure::bad_argument(argument, allowed, value.as_str()))
        }
        _ => Ok(()),
    }
}

fn manage_language_region(phone: &mut Phone, arguments: ManageLanguageRegion) -> Result<Reply, Failure> {
    listed("locale", arguments.locale.as_ref(), LOCALES)?;
    listed("region", arguments.region.as_ref(), REGIONS)?;
    let update = phone.update("settings", "locale", |locale: &mut Locale| {
        if arguments.action == SetAction::Set {
            if arguments.locale.is_none() && arguments.region.is_none() {
                return Err(Failure::missing_argument("locale", LOCALES, "`set` without region"));
            }
            locale.locale = arguments.locale.clone().unwrap_or_else(|| std::mem::take(&mut locale.locale));
            locale.region = arguments.region.clone().unwrap_or_else(|| std::mem::take(&mut locale.region));
        }
        Ok(())
    })?;
    let Locale { locale, region } = update.value;
    Ok(Reply::new(
        format!("language {locale}, region {region}"),
        json!({"changed": update.changed, "locale": locale, "region": region}),
    ))
}

fn manage_datetime_setting(phone: &mut Phone, arguments: ManageDatetimeSetting) -> Result<Reply, Failure> {
    listed("timezone", arguments.timezone.as_ref(), ZONES)?;
    let update = phone.update("settings", "datetime", |rules: &mut ClockRules| {
        if arguments.action == SetAction::Query {
            return Ok(());
        }
        if arguments.auto.is_none() && arguments.timezone.is_none() && arguments.format24h.is_none() {
            return Err(Failure::missing_argument("auto", "true or false, or timezone, or format24h", "`set`"));
        }
        rules.auto = arguments.auto.unwrap_or(rules.auto);
        rules.format24h = arguments.format24h.unwrap_or(rules.format24h);
        if let Some(zone) = &arguments.timezone {
            if rules.auto {
                return Err(Failure::conflict(
                    "automatic time sets the zone",
                    "set `auto` to false first, or in the same call",
                ));
            }
            rules.timezone.clone_from(zone);
        }
        Ok(())
    })?;
    let rules = update.value;
    let data = json!({"changed": update.changed, "auto": rules.auto, "timezone": rules.timezone, "format24h": rules.format24h});
    Ok(Reply::new(format!("zone {}, {} h clock", rules.timezone, if rules.format24h { 24 } else { 12 }), data))
}

fn manage_location_service(phone: &mut Phone, arguments: ManageLocationService) -> Result<Reply, Failure> {
    let update = phone.update("settings", "location", |location: &mut Location| {
        match arguments.action {
            LocationAction::Query => {}
            LocationAction::Enable => location.on = true,
            LocationAction::Disable => location.on = false,
            LocationAction::Accuracy => {
                let accuracy = match arguments.accuracy {
                    None => {
                        return Err(Failure::missing_argument(
                            "accuracy",
                            ["high", "battery_saving", "device_only"],
                            "`accuracy`",
                        ));
                    }
                    Some(Accuracy::High) => "high",
                    Some(Accuracy::BatterySaving) => "battery_saving",
                    Some(Accuracy::DeviceOnly) => "device_only",
                };
                accuracy.clone_into(&mut location.accuracy);
            }
        }
        Ok(())
    })?;
    let Location { on, accuracy } = update.value;
    Ok(Reply::new(
        format!("location is {}, accuracy {accuracy}", if on { "on" } else { "off" }),
        json!({"changed": update.changed, "on": on, "accuracy": accuracy}),
    ))
}
