//! A skill over a phone that it can only read.

use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{Advice, Card, Fault, Guidance, Identity, PhoneView, SkillPlugin, ToolCall, identity};
use serde_json::json;

/// Warns of a low battery and blocks an update below 20 %.
struct ChargeFirst;

impl SkillPlugin for ChargeFirst {
    const IDENTITY: Identity = identity!("charge-first");

    fn card() -> Card {
        Card::new("charge-first", "Load before an update.").about(&["manage_system_update"])
    }

    fn guidance(offered: &[String], lang: &str) -> String {
        Guidance::new(offered, lang)
            .rule(&["manage_system_update"], "Charge above 20 % first.", "先充电到 20% 以上。")
            .render()
    }

    fn check(phone: &PhoneView, call: &ToolCall) -> Result<Advice, Fault> {
        let percent: u8 = phone.require("power", "percent")?;
        let installs = call.argument("action")? == Some("install".into());
        Ok(match (call.tool.as_str(), percent) {
            ("manage_system_update", 0..=19) if installs => {
                Advice::Block(format!("{percent} % is too low: charge first"))
            }
            (_, 0..=29) => Advice::Warn(format!("{percent} % left")),
            _ => Advice::Allow,
        })
    }
}

fn advice(percent: u8, action: &str) -> Result<Advice, Fault> {
    let test = TestPhone::new().state(json!({"power": {"percent": percent}}));
    let call = ToolCall::new("c", "manage_system_update", &json!({"action": action}));
    ChargeFirst::check(&test.view(), &call)
}

#[test]
fn advice_follows_state_and_call() {
    assert_eq!(advice(80, "install"), Ok(Advice::Allow));
    assert!(matches!(advice(10, "check"), Ok(Advice::Warn(_))));
    assert!(matches!(advice(10, "install"), Ok(Advice::Block(_))));
}

#[test]
fn a_skill_that_cannot_read_is_at_fault() {
    let call = ToolCall::new("c", "manage_system_update", &json!({}));
    let fault = ChargeFirst::check(&TestPhone::new().view(), &call).unwrap_err();
    assert!(fault.message().contains("`percent`"), "{fault}");
    let malformed = ToolCall::new("c", "manage_system_update", &json!([]));
    let test = TestPhone::new().state(json!({"power": {"percent": 50}}));
    assert!(ChargeFirst::check(&test.view(), &malformed).is_err());
}

#[test]
fn guidance_is_about_offered_tools() {
    assert_eq!(ChargeFirst::guidance(&[], "en"), "");
    let offered = ["manage_system_update".to_owned()];
    assert_eq!(ChargeFirst::guidance(&offered, "zh"), "- 先充电到 20% 以上。\n");
}
