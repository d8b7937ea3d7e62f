//! The plugin's code by itself, natively.

use loopwright_sdk::testing::TestEvidence;
use plugin_name::PluginName;
use serde_json::json;

#[test]
fn the_state_after_the_last_step_decides() {
    let check = json!({"collection": "lamp", "key": "main", "at": "/level", "equals": 40});
    let begin = TestEvidence::new(json!({"lamp": {"main": {"level": 0}}}));
    assert!(!begin.judge::<PluginName>(check.clone()).unwrap().passed());
    let done = TestEvidence::new(json!({"lamp": {"main": {"level": 0}}}))
        .call("set_lamp", json!({"level": 40}))
        .changed(json!({"lamp": {"main": {"level": 40}}}));
    assert!(done.judge::<PluginName>(check).unwrap().passed());
}
