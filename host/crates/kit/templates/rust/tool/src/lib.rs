//! A lamp with two tools. It knows nothing but its own collection. What it asks an operator for beyond that, such as other plugins' tools
//! to call or bytes to keep, stands in `request.json`.

use loopwright_sdk::{
    Collection, Failure, Identity, NoArguments, Phone, Reply, Storage, Tool, ToolPlugin, export_tool, identity,
};

/// The lamp: what a call sets, what is stored and what is answered.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lamp {
    /// How bright, from 0 (off) to 255.
    level: u8,
}

fn set(phone: &mut Phone, lamp: Lamp) -> Result<Reply<Lamp>, Failure> {
    let now: Lamp = phone.require("plugin-name", "main")?;
    if now.level == lamp.level {
        return Err(Failure::conflict(&format!("the level is {} already", now.level), "choose another"));
    }
    phone.put("plugin-name", "main", &lamp)?;
    Ok(Reply::new("the lamp is set", lamp))
}

fn get(phone: &mut Phone, _: NoArguments) -> Result<Reply<Lamp>, Failure> {
    Ok(Reply::new("the lamp", phone.require("plugin-name", "main")?))
}

/// The plugin.
pub struct PluginName;

impl ToolPlugin for PluginName {
    const IDENTITY: Identity = identity!("plugin-name");

    fn tools() -> Vec<Tool> {
        let set = Tool::new("set_plugin_name", set).domain("home");
        let get = Tool::new("get_plugin_name", get).domain("home");
        vec![
            set.en("Sets how bright the lamp is.", "light, lamp, dim, bright")
                .zh("调节台灯亮度。", "台灯 灯 亮度 调亮 调暗")
                .writes(),
            get.en("Says how bright the lamp is.", "light, lamp").zh("查询台灯亮度。", "台灯 灯 亮度").reads(),
        ]
    }

    fn storage() -> Storage {
        Storage::new().owns(Collection::new("plugin-name").initial("main", serde_json::json!({"level": 0})))
    }
}

export_tool!(PluginName);
