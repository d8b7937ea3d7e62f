//! The plugin's code by itself, natively.

use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{Actor, Answer, Effect};
use plugin_name::PluginName;
use serde_json::json;

fn phone() -> TestPhone {
    TestPhone::new()
        .fake_tool("look", Effect::Read, &[], |_, _| Ok(json!(1)))
        .fake_tool("wipe", Effect::Destructive, &[], |_, _| Ok(json!(null)))
}

#[test]
fn a_read_runs_and_what_cannot_be_undone_waits() {
    let mut phone = phone();
    phone.reset::<PluginName>(json!({})).unwrap();
    let calls = [("look", json!({})), ("wipe", json!({})), ("none", json!({}))];
    let result = phone.step::<PluginName>(Actor::Agent, &calls).unwrap();
    let answers: Vec<_> = result.feedback.into_iter().map(|feedback| feedback.answer).collect();
    assert!(matches!(answers[..], [Answer::Done(_), Answer::NeedsConfirmation(_), Answer::Failed(_)]), "{answers:?}");
}

#[test]
fn a_confirmed_call_runs() {
    let mut phone = phone();
    phone.reset::<PluginName>(json!({})).unwrap();
    phone.confirm("wipe", json!({}));
    let result = phone.step::<PluginName>(Actor::Agent, &[("wipe", json!({}))]).unwrap();
    assert!(matches!(result.feedback[0].answer, Answer::Done(_)));
}
