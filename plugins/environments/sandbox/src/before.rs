//! What is checked before a call runs.

use loopwright_sdk::{AccessNeeds, Effect, Failure, Requirement, ToolCall, World};
use serde_json::{Value, json};

use crate::phone::{self, PERFORMANCE, Permission, SUPER_SAVING};

/// The plugins whose tools work in super saving mode.
const SUPER_SAVING_APPS: [&str; 6] = ["power", "display", "net", "sms", "contacts", "clock"];

/// Whether a call may run.
pub(crate) enum Verdict {
    /// It may.
    Allowed,
    /// It may not.
    Refused(Failure),
    /// It may once the user has confirmed it.
    Unconfirmed(Failure),
}

/// Judges a call by the rules of the world.
pub(crate) fn judge(world: &World, call: &ToolCall, needs: &AccessNeeds) -> Result<Verdict, Failure> {
    if let Some(failure) = refusal(world, call, needs)? {
        return Ok(Verdict::Refused(failure));
    }
    // An "ask" permission and a call that cannot be undone wait for the same thing: the user's word on exactly this call.
    let asks = needs.effect == Effect::Destructive
        || needs.requirements().any(|requirement| requirement == Requirement::Confirm)
        || asked_permission(world, needs)?;
    if asks && !world.confirmed(call) {
        return Ok(Verdict::Unconfirmed(Failure::confirmation_needed(&call.tool)));
    }
    Ok(Verdict::Allowed)
}

fn refusal(world: &World, call: &ToolCall, needs: &AccessNeeds) -> Result<Option<Failure>, Failure> {
    if let Some(unknown) = needs.requirements().find_map(|requirement| match requirement {
        Requirement::Other(name) => Some(name.to_owned()),
        _ => None,
    }) {
        return Ok(Some(Failure::denied(
            &format!("requirement `{unknown}` is not known on this phone"),
            "use another tool",
        )));
    }
    let requires = |wanted: Requirement<'_>| needs.requirements().any(|requirement| requirement == wanted);
    if !phone::is_on(world)? && !requires(Requirement::PowerOffOk) {
        return Ok(Some(Failure::precondition("the phone is off", "only the user can turn it on")));
    }
    if requires(Requirement::Unlocked)
        && let Some(failure) = locked(world)?
    {
        return Ok(Some(failure));
    }
    if let Some(failure) = battery_mode(world, call, needs)? {
        return Ok(Some(failure));
    }
    for requirement in needs.requirements() {
        if let Requirement::Permission(name) = requirement
            && phone::permission(world, name)? == Permission::Deny
        {
            // The same words whatever the app holds: a denial tells nothing of its data.
            return Ok(Some(Failure::denied(
                &format!("permission `{name}` is denied"),
                "the user can allow it in the settings",
            )));
        }
    }
    if requires(Requirement::Network)
        && let Some((found, remedy)) = phone::offline(world)?
    {
        return Ok(Some(Failure::precondition(&found, remedy)));
    }
    if requires(Requirement::Location) && !phone::switch(world, "settings", "location")? {
        return Ok(Some(Failure::precondition("location is off", "enable it with manage_location_service first")));
    }
    Ok(None)
}

fn locked(world: &World) -> Result<Option<Failure>, Failure> {
    Ok(match phone::screen(world)? {
        Some(screen) if screen.locked => Some(Failure::locked("the phone is locked", "only the user can unlock it")),
        Some(screen) if !screen.on => {
            Some(Failure::locked("the screen is off", "turn it on with control_screen first"))
        }
        _ => None,
    })
}

fn asked_permission(world: &World, needs: &AccessNeeds) -> Result<bool, Failure> {
    for requirement in needs.requirements() {
        if let Requirement::Permission(name) = requirement
            && phone::permission(world, name)? == Permission::Ask
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// World rule 4: super saving limits the apps and what may be turned on; performance and super saving exclude each other.
fn battery_mode(world: &World, call: &ToolCall, needs: &AccessNeeds) -> Result<Option<Failure>, Failure> {
    let Some(mode) = phone::battery_mode(world)? else { return Ok(None) };
    if mode != SUPER_SAVING && mode != PERFORMANCE {
        return Ok(None);
    }
    let leave = "set manage_battery to `normal` first";
    let argument = |name: &str| call.argument(name).ok().flatten();
    let wanted =
        if call.tool == "manage_battery" && argument("action") == Some(json!("set")) { argument("mode") } else { None };
    if mode == PERFORMANCE {
        let excluded = wanted.is_some_and(|wanted| wanted == json!(SUPER_SAVING));
        return Ok(excluded.then(|| Failure::conflict("performance mode excludes super saving", leave)));
    }
    if wanted == Some(json!(PERFORMANCE)) {
        return Ok(Some(Failure::conflict("super saving mode excludes performance", leave)));
    }
    if !SUPER_SAVING_APPS.contains(&needs.plugin.as_str()) {
        return Ok(Some(Failure::conflict(
            &format!("super saving mode does not run the app `{}`", needs.plugin),
            leave,
        )));
    }
    let forbidden = [
        ("manage_refresh_rate", "mode", json!(["high", "adaptive"])),
        ("manage_location_service", "action", json!(["enable"])),
    ];
    let hit = forbidden.iter().any(|(tool, name, values)| {
        call.tool == *tool
            && values
                .as_array()
                .is_some_and(|values| argument(name).is_some_and(|found: Value| values.contains(&found)))
    });
    Ok(hit.then(|| Failure::conflict("super saving mode keeps a low refresh rate and location off", leave)))
}
