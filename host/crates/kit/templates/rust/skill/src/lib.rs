//! Warns before Wi-Fi is turned off. It reads nothing.

use loopwright_sdk::{Advice, Card, Fault, Guidance, Identity, PhoneView, SkillPlugin, ToolCall, export_skill, identity};
use serde_json::Value;

const WARNING: &str = "what runs over Wi-Fi stops: say so, or turn mobile data on first";

/// The plugin.
pub struct PluginName;

impl SkillPlugin for PluginName {
    const IDENTITY: Identity = identity!("plugin-name");

    fn card() -> Card {
        Card::new("plugin-name", "Load before changing the Wi-Fi.").summary("zh", "更改 Wi-Fi 前加载。").about(&["manage_wifi"])
    }

    fn guidance(offered: &[String], lang: &str) -> String {
        Guidance::new(offered, lang)
            .rule(&["manage_wifi"], "Before Wi-Fi is turned off, say what will stop.", "关闭 Wi-Fi 前，说明会中断什么。")
            .render()
    }

    fn check(_: &PhoneView, call: &ToolCall) -> Result<Advice, Fault> {
        let off = call.tool == "manage_wifi" && call.argument("action")? == Some(Value::from("disable"));
        Ok(if off { Advice::Warn(WARNING.to_owned()) } else { Advice::Allow })
    }
}

export_skill!(PluginName);
