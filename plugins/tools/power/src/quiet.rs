//! Do-not-disturb, focus mode and notifications.

use loopwright_sdk::{Failure, Phone, Reply, TimeOfDay, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// A daily time span; it may run past midnight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Span {
    /// Start, `HH:MM`.
    from: String,
    /// End, `HH:MM`.
    to: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Dnd {
    on: bool,
    until: Option<String>,
    schedule: Option<Span>,
    allow_contacts: Vec<String>,
    allow_apps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Focus {
    active: Option<Active>,
    profiles: BTreeMap<String, Profile>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Active {
    profile: String,
    until: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Profile {
    blocked_apps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct AppNotifications {
    enabled: bool,
    sound: bool,
    preview: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DndAction {
    Enable,
    Disable,
    Schedule,
    Allowlist,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageDnd {
    /// What to do; `schedule` needs `schedule`, `allowlist` needs `allowContacts` or `allowApps`.
    action: DndAction,
    /// When it turns on and off every day.
    schedule: Option<Span>,
    /// Contacts whose calls come through: the new list.
    allow_contacts: Option<Vec<String>>,
    /// Apps whose notifications come through: the new list.
    allow_apps: Option<Vec<String>>,
    /// With `enable`: the time of day at which it ends, `HH:MM`.
    until_time: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FocusAction {
    Start,
    Stop,
    Define,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageFocusMode {
    /// What to do; `start` and `define` need `profile`, `define` needs `blockedApps`.
    action: FocusAction,
    /// The profile's name.
    profile: Option<String>,
    /// With `start`: minutes until it ends, 5 to 720.
    #[schemars(range(min = 5, max = 720))]
    duration_min: Option<u32>,
    /// The apps that it blocks.
    blocked_apps: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SetAction {
    Set,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageNotificationSetting {
    /// What to do; `set` needs one of the three switches.
    action: SetAction,
    /// The app.
    app_name: String,
    /// Whether the app may notify at all.
    enabled: Option<bool>,
    /// Whether its notifications make a sound.
    sound: Option<bool>,
    /// Whether their content is shown.
    preview: Option<bool>,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("manage_dnd", manage_dnd)
            .domain(crate::DOMAIN)
            .en(
                "Turns do-not-disturb on or off, until a time or on a schedule, sets who comes through, or tells its state.",
                "do not disturb, dnd, quiet hours, no interruptions, don't bother me, silence calls, block notifications, allow calls from, peace and quiet, undisturbed",
            )
            .zh("打开或关闭勿扰模式，设置结束时间、定时和允许名单，或查询状态。", "勿扰 免打扰 勿扰模式 别打扰我 不被打扰 安静 屏蔽来电 允许来电 定时勿扰")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_focus_mode", manage_focus_mode)
            .domain(crate::DOMAIN)
            .en(
                "Starts or stops a focus profile, defines which apps a profile blocks, or tells them.",
                "focus mode, concentrate, block distracting apps, work profile, study, stop distractions, deep work, focus for minutes, focus profile",
            )
            .zh("开始或结束专注模式，定义配置屏蔽哪些应用，或查询。", "专注模式 专注 屏蔽应用 工作模式 学习 别分心 专心 集中注意力 专注多少分钟")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_notification_setting", manage_notification_setting)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells whether an app may notify, with sound and with a preview of the content.",
                "app notifications, turn off notifications of an app, notification settings, mute app, notification preview, stop alerts from, notification sound of app, push messages",
            )
            .zh("设置或查询某个应用的通知、声音和内容预览。", "应用通知 关闭通知 通知设置 通知权限 通知预览 不要推送 推送 消息提醒 通知声音")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

/// Checks a time of day.
fn time(argument: &str, text: &str) -> Result<(), Failure> {
    if text.len() == 5 && TimeOfDay::parse(text).is_some() {
        Ok(())
    } else {
        Err(Failure::bad_argument(argument, "a time `HH:MM` from 00:00 to 23:59", text))
    }
}

fn manage_dnd(phone: &mut Phone, arguments: ManageDnd) -> Result<Reply, Failure> {
    if let Some(until) = &arguments.until_time {
        time("untilTime", until)?;
    }
    if let Some(span) = &arguments.schedule {
        time("schedule.from", &span.from)?;
        time("schedule.to", &span.to)?;
    }
    let update = phone.update("settings", "dnd", |dnd: &mut Dnd| {
        match arguments.action {
            DndAction::Query => {}
            DndAction::Enable => {
                dnd.on = true;
                dnd.until.clone_from(&arguments.until_time);
            }
            DndAction::Disable => {
                dnd.on = false;
                dnd.until = None;
                dnd.schedule = None;
            }
            DndAction::Schedule => {
                dnd.schedule = Some(arguments.schedule.clone().ok_or_else(|| {
                    Failure::missing_argument("schedule", "{from: `HH:MM`, to: `HH:MM`}", "`schedule`")
                })?)
            }
            DndAction::Allowlist => {
                if arguments.allow_contacts.is_none() && arguments.allow_apps.is_none() {
                    return Err(Failure::missing_argument(
                        "allowContacts",
                        "a list of names, or allowApps",
                        "`allowlist`",
                    ));
                }
                dnd.allow_contacts =
                    arguments.allow_contacts.clone().unwrap_or_else(|| std::mem::take(&mut dnd.allow_contacts));
                dnd.allow_apps = arguments.allow_apps.clone().unwrap_or_else(|| std::mem::take(&mut dnd.allow_apps));
            }
        }
        Ok(())
    })?;
    let dnd = update.value;
    let data = json!({"changed": update.changed, "on": dnd.on, "until": dnd.until, "schedule": dnd.schedule, "allowContacts": dnd.allow_contacts, "allowApps": dnd.allow_apps});
    Ok(Reply::new(format!("do-not-disturb is {}", if dnd.on { "on" } else { "off" }), data))
}

fn manage_focus_mode(phone: &mut Phone, arguments: ManageFocusMode) -> Result<Reply, Failure> {
    let until = match arguments.duration_min {
        Some(minutes) if !(5..=720).contains(&minutes) => {
            return Err(Failure::bad_argument("durationMin", "5 to 720", minutes));
        }
        Some(minutes) => phone.now().plus_s(i64::from(minutes) * 60).map(|at| at.to_rfc3339(phone.offset_s(at))),
        None => None,
    };
    let profile = || {
        arguments
            .profile
            .clone()
            .ok_or_else(|| Failure::missing_argument("profile", "the name of a profile", "`start` and `define`"))
    };
    let update = phone.update("settings", "focus", |focus: &mut Focus| {
        match arguments.action {
            FocusAction::Query => {}
            FocusAction::Stop => focus.active = None,
            FocusAction::Start => {
                let profile = profile()?;
                if !focus.profiles.contains_key(&profile) {
                    return Err(Failure::not_found("focus profile", profile)
                        .with_allowed(focus.profiles.keys().cloned().collect::<Vec<_>>()));
                }
                focus.active = Some(Active { profile, until: until.clone() });
            }
            FocusAction::Define => {
                let blocked_apps = arguments
                    .blocked_apps
                    .clone()
                    .ok_or_else(|| Failure::missing_argument("blockedApps", "a list of apps", "`define`"))?;
                focus.profiles.insert(profile()?, Profile { blocked_apps });
            }
        }
        Ok(())
    })?;
    let focus = update.value;
    let text = match &focus.active {
        Some(active) => format!("focus profile `{}` is active", active.profile),
        None => "no focus profile is active".to_owned(),
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "active": focus.active, "profiles": focus.profiles})))
}

fn manage_notification_setting(phone: &mut Phone, arguments: ManageNotificationSetting) -> Result<Reply, Failure> {
    let app = arguments.app_name;
    let update = phone.update("settings", "notifications", |apps: &mut BTreeMap<String, AppNotifications>| {
        let names: Vec<String> = apps.keys().cloned().collect();
        let Some(setting) = apps.get_mut(&app) else {
            return Err(Failure::not_found("app", app.as_str()).with_allowed(names));
        };
        if arguments.action == SetAction::Set {
            if arguments.enabled.is_none() && arguments.sound.is_none() && arguments.preview.is_none() {
                return Err(Failure::missing_argument("enabled", "true or false, or sound, or preview", "`set`"));
            }
            setting.enabled = arguments.enabled.unwrap_or(setting.enabled);
            setting.sound = arguments.sound.unwrap_or(setting.sound);
            setting.preview = arguments.preview.unwrap_or(setting.preview);
        }
        Ok(())
    })?;
    let setting = update.value.get(&app);
    let text = format!(
        "notifications of {app} are {}",
        if setting.is_some_and(|setting| setting.enabled) { "on" } else { "off" }
    );
    Ok(Reply::new(text, json!({"changed": update.changed, "appName": app, "setting": setting})))
}
