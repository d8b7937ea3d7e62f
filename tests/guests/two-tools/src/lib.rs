//! A lamp with two tools. It knows nothing but its own collection.
use loopwright_sdk::{Collection, Failure, Identity, NoArguments, Phone, Reply, Storage};
use loopwright_sdk::{Tool, ToolPlugin, export_tool, identity};

/// The lamp: what a call sets, what is stored and what is answered.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lamp {
    /// How bright, from 0 (off) to 255.
    level: u8,
}

fn set(phone: &mut Phone, lamp: Lamp) -> Result<Reply<Lamp>, Failure> {
    phone.put("lamp", "main", &lamp)?;
    Ok(Reply::new("the lamp is set", lamp))
}
fn get(phone: &mut Phone, _: NoArguments) -> Result<Reply<Lamp>, Failure> {
    Ok(Reply::new("the lamp", phone.require("lamp", "main")?))
}

impl ToolPlugin for Lamp {
    const IDENTITY: Identity = identity!("lamp");
    fn tools() -> Vec<Tool> {
        let set = Tool::new("set_lamp", set).domain("home");
        let get = Tool::new("get_lamp", get).domain("home");
        vec![
            set.en("Sets the lamp.", "light, lamp, dim, bright")
                .zh("调节台灯亮度。", "台灯 灯 亮度 调亮 调暗")
                .writes(),
            get.en("Says how bright the lamp is.", "light, lamp").zh("查询台灯亮度。", "台灯 灯 亮度").reads(),
        ]
    }

    fn storage() -> Storage {
        let lamp = Collection::new("lamp");
        Storage::new().owns(lamp.initial("main", serde_json::json!({"level": 0})))
    }
}

export_tool!(Lamp);
