//! The order in which actions that stand in each other's way are taken. It exposes no tools: it only knows what comes first.

use loopwright_sdk::{Advice, Card, Fault, Guidance, Identity, PhoneView, SkillPlugin, ToolCall, identity};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
struct Session {
    state: String,
    device: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Switch {
    on: bool,
}

struct ConflictOrderArbiter;

impl SkillPlugin for ConflictOrderArbiter {
    const IDENTITY: Identity = identity!("conflict-order-arbiter");

    fn card() -> Card {
        Card::new("conflict-order-arbiter", "Load it when a request needs several settings that may exclude each other, such as casting, hotspot, Wi-Fi, airplane mode or battery modes.")
            .summary("zh", "当请求涉及多项可能互相冲突的设置（投屏、热点、无线网、飞行模式、电池模式）时加载。")
            .about(&["control_screen_casting", "manage_hotspot", "manage_wifi", "manage_mobile_data", "manage_airplane_mode", "manage_bluetooth", "manage_battery"])
    }

    fn guidance(offered: &[String], lang: &str) -> String {
        Guidance::new(offered, lang)
            .paragraph("Query first, undo what stands in the way, then do what was asked, and check the result at the end.", "先查询，再解除冲突，然后执行请求，最后检查结果。")
            .rule(&["control_screen_casting"], "One cast session at a time: to change the target, stop, then start.", "同时只能有一个投屏：换设备时先停止，再开始。")
            .rule(&["manage_hotspot", "manage_mobile_data"], "The hotspot needs mobile data: enable mobile data first.", "热点需要移动数据：先打开移动数据。")
            .rule(&["manage_hotspot", "manage_wifi"], "A hotspot on the band of the connected Wi-Fi ends that connection: say so, or change the band first.", "热点与已连接的无线网同频段时会断开无线网：先说明，或先换频段。")
            .rule(&["manage_airplane_mode"], "Airplane mode turns Wi-Fi, mobile data and Bluetooth off: do what needs them before it, and leave it before turning one of them on.", "飞行模式会关闭无线网、移动数据和蓝牙：需要网络的操作先做；要打开其中之一，先退出飞行模式。")
            .rule(&["manage_battery"], "`performance` and `super_saving` exclude each other: set `normal` in between.", "`performance` 与 `super_saving` 互斥：中间先设为 `normal`。")
            .render()
    }

    fn check(phone: &PhoneView, call: &ToolCall) -> Result<Advice, Fault> {
        let action = argument(call, "action");
        let on = |collection: &str, key: &str| -> Result<bool, Fault> {
            Ok(phone.get::<Switch>(collection, key).map_err(fault)?.is_some_and(|switch| switch.on))
        };
        Ok(match (call.tool.as_str(), action.as_deref()) {
            ("control_screen_casting", Some("start")) => casting(phone, argument(call, "targetDeviceName").as_deref())?,
            ("manage_wifi" | "manage_mobile_data" | "manage_bluetooth", Some("enable")) if on("net", "airplane")? => {
                Advice::Block("airplane mode is on: disable it first".to_owned())
            }
            ("manage_hotspot", Some("enable")) if !on("net", "mobile")? => {
                Advice::Block("mobile data is off: enable it first".to_owned())
            }
            ("manage_airplane_mode", Some("enable"))
                if phone
                    .get::<Session>("casting", "session")
                    .map_err(fault)?
                    .is_some_and(|session| session.state == "casting") =>
            {
                Advice::Warn(
                    "a cast session is running and will lose its network: stop it first if it should end cleanly"
                        .to_owned(),
                )
            }
            _ => Advice::Allow,
        })
    }
}

fn casting(phone: &PhoneView, target: Option<&str>) -> Result<Advice, Fault> {
    let Some(session) = phone.get::<Session>("casting", "session").map_err(fault)? else { return Ok(Advice::Allow) };
    let running = session.device.unwrap_or_default();
    let other = target.is_none_or(|target| !target.eq_ignore_ascii_case(&running));
    Ok(if session.state == "casting" && other {
        Advice::Block(format!("the screen is cast to `{running}`: stop that session first, then start the new one"))
    } else {
        Advice::Allow
    })
}

fn fault(error: loopwright_sdk::StateError) -> Fault {
    Fault::new(error.to_string())
}

/// A text argument.
fn argument(call: &ToolCall, name: &str) -> Option<String> {
    match call.argument(name).ok().flatten()? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

loopwright_sdk::export_skill!(ConflictOrderArbiter);

#[cfg(test)]
mod tests {
    use loopwright_sdk::testing::TestPhone;
    use serde_json::json;

    use super::*;

    fn advice(state: Value, tool: &str, arguments: Value) -> Advice {
        ConflictOrderArbiter::check(&TestPhone::new().state(state).view(), &ToolCall::new("c1", tool, &arguments))
            .expect("advice")
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        let casting = || json!({"casting": {"session": {"state": "casting", "device": "Bedroom TV"}}});
        let start = |name: &str| json!({"action": "start", "targetDeviceName": name});
        assert!(
            matches!(advice(casting(), "control_screen_casting", start("Office PC")), Advice::Block(reason) if reason.contains("Bedroom TV"))
        );
        assert!(matches!(advice(casting(), "control_screen_casting", start("bedroom tv")), Advice::Allow));
        assert!(matches!(advice(casting(), "manage_airplane_mode", json!({"action": "enable"})), Advice::Warn(_)));
        let flying = || json!({"net": {"airplane": {"on": true}, "mobile": {"on": false}}});
        for tool in ["manage_wifi", "manage_mobile_data", "manage_bluetooth"] {
            assert!(matches!(advice(flying(), tool, json!({"action": "enable"})), Advice::Block(_)), "{tool}");
            assert!(matches!(advice(flying(), tool, json!({"action": "disable"})), Advice::Allow), "{tool}");
        }
        assert!(matches!(advice(flying(), "manage_hotspot", json!({"action": "enable"})), Advice::Block(_)));
        assert!(matches!(
            advice(json!({"net": {"mobile": {"on": true}}}), "manage_hotspot", json!({"action": "enable"})),
            Advice::Allow
        ));
    }

    #[test]
    fn guidance_speaks_only_of_offered_tools() {
        let text =
            ConflictOrderArbiter::guidance(&["manage_hotspot".to_owned(), "manage_mobile_data".to_owned()], "en");
        assert!(text.contains("mobile data first") && !text.contains("cast"), "{text}");
    }
}
