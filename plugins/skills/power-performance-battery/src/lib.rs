//! How battery modes, heat and updates go together. It advises and cannot act; what it forbids, the world may still allow.

use loopwright_sdk::{Advice, Card, Fault, Guidance, Identity, PhoneView, SkillPlugin, ToolCall, identity};
use serde::Deserialize;
use serde_json::{Value, json};

/// Below this charge in percent an update or a demanding mode is risky.
const LOW_PERCENT: u8 = 20;

#[derive(Debug, Deserialize)]
struct Battery {
    percent: u8,
    charging: bool,
    mode: String,
}

struct PowerPerformanceBattery;

impl SkillPlugin for PowerPerformanceBattery {
    const IDENTITY: Identity = identity!("power-performance-battery");

    fn card() -> Card {
        Card::new(
            "power-performance-battery",
            "Load it before changing battery modes, saving power, cooling the phone, turning it off, or installing a system update.",
        )
        .summary("zh", "在切换电池模式、省电、散热、关机或安装系统更新之前加载。")
        .about(&["manage_battery", "control_cooling_fan", "manage_refresh_rate", "manage_brightness", "manage_location_service", "manage_system_update", "control_device_power", "manage_scheduled_power"])
        .exposes(&["manage_battery", "control_cooling_fan", "manage_refresh_rate", "manage_system_update", "control_device_power"])
    }

    fn guidance(offered: &[String], lang: &str) -> String {
        Guidance::new(offered, lang)
            .paragraph("Look at the battery before you change anything that uses power.", "在改变任何耗电设置之前先看电量。")
            .rule(
                &["manage_battery"],
                "`performance` and `super_saving` exclude each other: set `normal` in between. `super_saving` turns location off and lowers the refresh rate, and stops most apps; use `saving` unless the user asks for the strongest.",
                "`performance` 与 `super_saving` 互斥：中间先设为 `normal`。`super_saving` 会关闭定位、降低刷新率并停用大部分应用；除非用户要求最省电，否则用 `saving`。",
            )
            .rule(&["manage_battery", "manage_refresh_rate"], "A high refresh rate is refused in `super_saving`: leave that mode first.", "`super_saving` 下不能设高刷新率：先退出该模式。")
            .rule(&["manage_system_update"], "Install an update only above 20 % charge or while charging, and only after it was downloaded. Installing needs the user's confirmation.", "电量高于 20% 或正在充电时才安装更新，且必须先下载。安装需要用户确认。")
            .rule(&["control_device_power"], "Turning the phone off or restarting it needs the user's confirmation: call it, then ask about that call.", "关机或重启需要用户确认：先调用，再就该调用询问用户。")
            .rule(&["control_cooling_fan"], "When the phone is hot, turn the fan on before you choose a faster mode.", "手机发热时，先开风扇，再选择更快的模式。")
            .render()
    }

    fn check(phone: &PhoneView, call: &ToolCall) -> Result<Advice, Fault> {
        let action = argument(call, "action");
        let Some(battery) = phone.get::<Battery>("power", "battery").map_err(|error| Fault::new(error.to_string()))?
        else {
            return Ok(Advice::Allow);
        };
        let low = battery.percent <= LOW_PERCENT && !battery.charging;
        Ok(match (call.tool.as_str(), action.as_str()) {
            ("manage_system_update", Some("install")) if low => Advice::Block(format!("the battery is at {} % and not charging: charge it above {LOW_PERCENT} % before an update", battery.percent)),
            ("manage_battery", Some("set")) => mode(&battery, argument(call, "mode").as_str(), low),
            ("control_device_power", _) => Advice::Warn("the phone cannot be reached while it is off: do everything else first, and have the user confirm exactly this call".to_owned()),
            _ => Advice::Allow,
        })
    }
}

fn mode(battery: &Battery, wanted: Option<&str>, low: bool) -> Advice {
    match (battery.mode.as_str(), wanted) {
        ("super_saving", Some("performance")) | ("performance", Some("super_saving")) => {
            Advice::Block(format!("mode `{}` excludes the other: set `normal` first", battery.mode))
        }
        (_, Some("performance")) if low => {
            Advice::Warn(format!("performance mode drains the battery, which is at {} %", battery.percent))
        }
        _ => Advice::Allow,
    }
}

/// An argument; `null` when it is absent or the arguments are not readable.
fn argument(call: &ToolCall, name: &str) -> Value {
    call.argument(name).ok().flatten().unwrap_or(json!(null))
}

loopwright_sdk::export_skill!(PowerPerformanceBattery);

#[cfg(test)]
mod tests {
    use loopwright_sdk::testing::TestPhone;

    use super::*;

    fn advice(percent: u8, charging: bool, mode: &str, tool: &str, arguments: Value) -> Advice {
        let test = TestPhone::new()
            .state(json!({"power": {"battery": {"percent": percent, "charging": charging, "mode": mode}}}));
        PowerPerformanceBattery::check(&test.view(), &ToolCall::new("c1", tool, &arguments)).expect("advice")
    }

    #[test]
    fn an_update_waits_for_charge() {
        let install = || json!({"action": "install"});
        assert!(
            matches!(advice(20, false, "normal", "manage_system_update", install()), Advice::Block(reason) if reason.contains("20 %"))
        );
        assert!(matches!(advice(21, false, "normal", "manage_system_update", install()), Advice::Allow));
        assert!(matches!(advice(5, true, "normal", "manage_system_update", install()), Advice::Allow));
        assert!(matches!(
            advice(5, false, "normal", "manage_system_update", json!({"action": "check"})),
            Advice::Allow
        ));
    }

    #[test]
    fn modes_that_exclude_each_other_are_blocked_and_a_costly_one_is_warned_of() {
        let set = |mode: &str| json!({"action": "set", "mode": mode});
        assert!(matches!(advice(80, false, "super_saving", "manage_battery", set("performance")), Advice::Block(_)));
        assert!(matches!(advice(80, false, "performance", "manage_battery", set("super_saving")), Advice::Block(_)));
        assert!(matches!(advice(10, false, "normal", "manage_battery", set("performance")), Advice::Warn(_)));
        assert!(matches!(advice(80, false, "normal", "manage_battery", set("performance")), Advice::Allow));
        assert!(matches!(
            advice(80, false, "normal", "control_device_power", json!({"action": "reboot"})),
            Advice::Warn(_)
        ));
    }

    #[test]
    fn guidance_speaks_only_of_offered_tools() {
        let all =
            PowerPerformanceBattery::guidance(&["manage_battery".to_owned(), "manage_system_update".to_owned()], "en");
        assert!(all.contains("super_saving") && all.contains("20 %") && !all.contains("fan"), "{all}");
        let chinese = PowerPerformanceBattery::guidance(&["control_cooling_fan".to_owned()], "zh");
        assert!(chinese.contains("风扇") && !chinese.contains("super_saving"), "{chinese}");
    }
}
