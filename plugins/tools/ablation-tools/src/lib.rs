//! The five tools of the ablation world. They know no setting: what a call did, the environment decides and says, because its noise is a rule of
//! that world. They exist so that calls go the way of every other tool's: offered, checked against a schema, invoked in a sandbox, recorded.

use loopwright_sdk::{Failure, Identity, NoArguments, Phone, Reply, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "ext.ablation";

struct AblationTools;

impl ToolPlugin for AblationTools {
    const IDENTITY: Identity = identity!("ablation-tools").world("ablation");

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("think", done)
                .domain(DOMAIN)
                .en("Thinks, and does nothing.", "think")
                .zh("思考。", "思考")
                .reads(),
            Tool::new("read_setting", done)
                .domain(DOMAIN)
                .en("Reads what this setting should be.", "read setting")
                .zh("读取这项设置应为何值。", "读取 设置")
                .reads(),
            Tool::new("set_setting", done)
                .domain(DOMAIN)
                .en("Sets this setting.", "set setting")
                .zh("写入这项设置。", "写入 设置")
                .writes(),
            Tool::new("verify_setting", done)
                .domain(DOMAIN)
                .en("Says whether this setting is set.", "verify setting")
                .zh("检查这项设置是否生效。", "检查 设置")
                .reads(),
            Tool::new("next_setting", done)
                .domain(DOMAIN)
                .en("Goes on to the next setting.", "next setting")
                .zh("转到下一项设置。", "下一项 设置")
                .writes(),
        ]
    }

    fn storage() -> loopwright_sdk::Storage {
        loopwright_sdk::Storage::new()
    }
}

fn done(_: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    Ok(Reply::new("done", json!({})))
}

loopwright_sdk::export_tool!(AblationTools);

#[cfg(test)]
mod tests {
    use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
    use serde_json::json;

    use super::AblationTools;

    #[test]
    fn the_tools_are_well_formed_and_take_nothing() {
        assert_valid_plugin::<AblationTools>();
        let mut test = TestPhone::new().plugin::<AblationTools>();
        for tool in ["think", "read_setting", "set_setting", "verify_setting", "next_setting"] {
            assert_eq!(test.call(tool, json!({})).expect("a reply").data, json!({}));
            assert!(test.call(tool, json!({"value": 1})).is_err());
        }
    }
}
