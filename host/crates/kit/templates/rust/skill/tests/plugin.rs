//! The plugin's code by itself, natively.

use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{Advice, SkillPlugin, ToolCall};
use plugin_name::PluginName;
use serde_json::json;

#[test]
fn turning_wifi_off_is_warned_of_and_asking_is_not() {
    let advice = |action: &str| {
        let call = ToolCall::new("c1", "manage_wifi", &json!({"action": action}));
        PluginName::check(&TestPhone::new().view(), &call).unwrap()
    };
    assert!(matches!(advice("disable"), Advice::Warn(_)));
    assert!(matches!(advice("query"), Advice::Allow));
}

#[test]
fn rules_about_absent_tools_disappear() {
    assert_eq!(PluginName::guidance(&[], "en"), "");
    assert!(PluginName::guidance(&["manage_wifi".to_owned()], "en").contains("Wi-Fi"));
}
