//! What follows from a call that ran.

use loopwright_sdk::{AccessNeeds, Effect, Failure, ToolCall, World};
use serde_json::{Value, json};

use crate::phone::{self, SUPER_SAVING};

/// What is looked at around a call, so that its consequences are found by what changed and not by its name.
pub(crate) struct Watch {
    battery_mode: Option<String>,
    writes: bool,
    plugin: Plugin,
}

#[derive(PartialEq, Eq)]
enum Plugin {
    Power,
    Display,
    Other,
}

impl Watch {
    /// Looks before the call. Only the apps whose state has consequences cost a read.
    pub(crate) fn before(world: &World, needs: &AccessNeeds) -> Result<Self, Failure> {
        let plugin = match needs.plugin.as_str() {
            "power" => Plugin::Power,
            "display" => Plugin::Display,
            _ => Plugin::Other,
        };
        let writes = needs.effect != Effect::Read;
        let battery_mode = if writes && plugin == Plugin::Power { phone::battery_mode(world)? } else { None };
        Ok(Self { battery_mode, writes, plugin })
    }

    /// Applies the consequences, and tells them.
    pub(crate) fn after(self, world: &mut World, call: &ToolCall) -> Result<Vec<Value>, Failure> {
        if !self.writes {
            return Ok(Vec::new());
        }
        match self.plugin {
            Plugin::Power => super_saving(world, self.battery_mode.as_deref()),
            Plugin::Display => muted(world, call),
            Plugin::Other => Ok(Vec::new()),
        }
    }
}

/// World rule 4: super saving forces a low refresh rate and no location.
fn super_saving(world: &mut World, before: Option<&str>) -> Result<Vec<Value>, Failure> {
    let entered = phone::battery_mode(world)?.as_deref() == Some(SUPER_SAVING) && before != Some(SUPER_SAVING);
    if !entered {
        return Ok(Vec::new());
    }
    let mut effects = Vec::new();
    for (collection, key, merge, text) in [
        ("display", "refresh", json!({"mode": "standard"}), "refresh rate set to standard"),
        ("settings", "location", json!({"on": false}), "location turned off"),
    ] {
        if world.get::<Value>(collection, key)?.is_some() {
            world.patch(collection, key, &merge)?;
            effects.push(json!({"kind": "forced", "by": SUPER_SAVING, "text": text}));
        }
    }
    Ok(effects)
}

/// World rule 8: silent mode and do-not-disturb suppress what a ring volume does, not its value. Alarms still ring.
fn muted(world: &World, call: &ToolCall) -> Result<Vec<Value>, Failure> {
    let stream = call.argument("stream").ok().flatten();
    let ringing = call.tool == "manage_volume"
        && stream.is_some_and(|stream| stream == json!("ring") || stream == json!("notification"));
    if !ringing {
        return Ok(Vec::new());
    }
    let silent = phone::ring_mode(world)?.is_some_and(|mode| mode != "ring");
    let undisturbed = world.get::<Value>("settings", "dnd")?.is_some_and(|dnd| dnd.get("on") == Some(&json!(true)));
    Ok(match (silent, undisturbed) {
        (false, false) => Vec::new(),
        (true, _) => vec![
            json!({"kind": "muted", "by": "sound_mode", "text": "the value is set, but the phone does not ring in this sound mode"}),
        ],
        (false, true) => vec![
            json!({"kind": "muted", "by": "dnd", "text": "the value is set, but do-not-disturb keeps calls and notifications quiet; alarms still ring"}),
        ],
    })
}
