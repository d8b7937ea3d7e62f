//! The plugin's code by itself, natively.

use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use plugin_name::PluginName;
use serde_json::json;

#[test]
fn what_it_declares_is_valid() {
    assert_valid_plugin::<PluginName>();
}

#[test]
fn what_is_set_is_what_is_got() {
    let mut phone = TestPhone::new().plugin::<PluginName>();
    phone.call("set_plugin_name", json!({"level": 40})).unwrap();
    assert_eq!(phone.call("get_plugin_name", json!({})).unwrap().data, json!({"level": 40}));
}

#[test]
fn the_same_level_again_is_refused() {
    let mut phone = TestPhone::new().plugin::<PluginName>();
    let failure = phone.call("set_plugin_name", json!({"level": 0})).unwrap_err();
    assert_eq!(failure.message(), "the level is 0 already: choose another");
    assert_eq!(phone.document("plugin-name", "main"), Some(json!({"level": 0})));
}
