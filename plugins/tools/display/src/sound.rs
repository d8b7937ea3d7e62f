//! Sound: volumes, ring mode, vibration, tones, effect, output and balance.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

use crate::switch::{percent, told};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Mode {
    mode: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Vibration {
    ring: bool,
    silent: bool,
    touch: bool,
    notification: bool,
    intensity: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Ringtones {
    call: String,
    alarm: String,
    notification: String,
    contacts: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SoundEffect {
    on: bool,
    preset: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Output {
    device: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Balance {
    mono: bool,
    balance: i64,
}

/// What the display app needs to know of Bluetooth.
#[derive(Debug, Deserialize)]
struct Bluetooth {
    connected: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum VolumeAction {
    Set,
    Increase,
    Decrease,
    Mute,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Stream {
    Media,
    Ring,
    Alarm,
    Call,
    Notification,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Media => "media",
            Self::Ring => "ring",
            Self::Alarm => "alarm",
            Self::Call => "call",
            Self::Notification => "notification",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageVolume {
    /// What to do; everything but `query` needs `stream`, `set` needs `level`.
    action: VolumeAction,
    /// Which volume.
    stream: Option<Stream>,
    /// For `set` the volume, for `increase` and `decrease` the step (10 when absent), in percent.
    #[schemars(range(min = 0, max = 100))]
    level: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SetAction {
    Set,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RingMode {
    Ring,
    Vibrate,
    Silent,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageSoundMode {
    /// What to do; `set` needs `mode`.
    action: SetAction,
    /// The ring mode.
    mode: Option<RingMode>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Scope {
    Ring,
    Silent,
    Touch,
    Notification,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageVibration {
    /// What to do; `set` needs `scope` with `enabled`, or `intensity`.
    action: SetAction,
    /// When the phone vibrates.
    scope: Option<Scope>,
    /// Whether it vibrates then.
    enabled: Option<bool>,
    /// How strongly, in percent.
    #[schemars(range(min = 0, max = 100))]
    intensity: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Call,
    Alarm,
    Notification,
    Contact,
}

/// The tones that the phone has.
const TONES: [&str; 6] = ["Classic", "Sunrise", "Drop", "Marimba", "Bell", "Waves"];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SetRingtone {
    /// What the tone is for; `contact` needs `contactId`.
    target: Target,
    /// The tone: Classic, Sunrise, Drop, Marimba, Bell or Waves.
    sound: String,
    /// The contact, as search_contacts tells it.
    contact_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EffectAction {
    Enable,
    Disable,
    Preset,
    Query,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Preset {
    None,
    Music,
    Movie,
    Voice,
}

impl Preset {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Music => "music",
            Self::Movie => "movie",
            Self::Voice => "voice",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageSoundEffect {
    /// What to do; `preset` needs `effect`.
    action: EffectAction,
    /// The preset.
    effect: Option<Preset>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputAction {
    Switch,
    Query,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageAudioOutput {
    /// What to do; `switch` needs `deviceName`.
    action: OutputAction,
    /// `speaker`, `earpiece` or a connected Bluetooth device.
    device_name: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ManageAudioBalance {
    /// What to do; `set` needs `mono` or `balance`.
    action: SetAction,
    /// Both channels on both sides.
    mono: Option<bool>,
    /// From -100 (left) to 100 (right).
    #[schemars(range(min = -100, max = 100))]
    balance: Option<i64>,
}

pub(crate) fn tools() -> Vec<Tool> {
    let mut tools = ringing();
    tools.extend(playing());
    tools
}

fn ringing() -> Vec<Tool> {
    vec![
        Tool::new("manage_sound_mode", manage_sound_mode)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells the ring mode: ring, vibrate or silent.",
                "silent mode, mute phone, vibrate mode, ring mode, quiet, put on silent, no sound, in a meeting, ringer, sound mode",
            )
            .zh("设置或查询响铃模式：响铃、振动或静音。", "静音 静音模式 振动模式 震动 响铃模式 调成静音 开会 别出声 情景模式")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_vibration", manage_vibration)
            .domain(crate::DOMAIN)
            .en(
                "Sets when and how strongly the phone vibrates, or tells it.",
                "vibration, vibrate on ring, haptic feedback, touch vibration, buzz, vibration strength, vibration intensity, haptics",
            )
            .zh("设置手机何时振动和振动强度，或查询。", "振动 震动 触感 触摸震动 响铃时振动 震动强度 振动反馈 通知震动")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("set_ringtone", set_ringtone)
            .domain(crate::DOMAIN)
            .en(
                "Sets the tone of calls, alarms, notifications or one contact.",
                "ringtone, ring tone, alarm sound, notification sound, call tone, change ringtone, tone for contact, song for calls, marimba, bell, own sound for a person, sound when someone calls",
            )
            .zh("设置来电、闹钟、通知或某个联系人的铃声。", "铃声 来电铃声 闹钟铃声 通知声音 通知音 联系人铃声 换铃声 提示音 专属铃声 谁来电的声音")
            .writes(),
    ]
}

fn playing() -> Vec<Tool> {
    vec![
        Tool::new("manage_volume", manage_volume)
            .domain(crate::DOMAIN)
            .en(
                "Sets, raises, lowers or mutes a volume (media, ring, alarm, call, notification), or tells all of them.",
                "volume, louder, quieter, turn up, turn down, sound level, mute music, media volume, ring volume, alarm volume, call volume, too loud",
            )
            .zh("设置、调高、调低或静音某个音量（媒体、铃声、闹钟、通话、通知），或查询音量。", "音量 声音大一点 声音小一点 调大 调小 媒体音量 铃声音量 闹钟音量 通话音量 太吵 太响 声音")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_sound_effect", manage_sound_effect)
            .domain(crate::DOMAIN)
            .en(
                "Turns the sound effect on or off, chooses its preset, or tells its state.",
                "sound effect, surround, music effect, movie sound, voice enhancement, audio preset, dolby, stereo effect",
            )
            .zh("打开或关闭音效，选择预设，或查询状态。", "音效 环绕声 杜比 音乐音效 电影音效 人声增强 音效模式")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_audio_output", manage_audio_output)
            .domain(crate::DOMAIN)
            .en(
                "Switches where sound is played, or tells it: speaker, earpiece or a connected Bluetooth device.",
                "audio output, play on speaker, switch to earbuds, earpiece, sound through headphones, output device, where sound comes out",
            )
            .zh("切换或查询声音的输出设备：扬声器、听筒或已连接的蓝牙设备。", "音频输出 声音输出 切到扬声器 切到耳机 听筒 外放 播放设备 从哪里出声")
            .when("action", &["query"])
            .reads()
            .writes(),
        Tool::new("manage_audio_balance", manage_audio_balance)
            .domain(crate::DOMAIN)
            .en(
                "Sets or tells mono sound and the balance between left and right.",
                "mono audio, audio balance, left right balance, one ear, hearing aid, left channel, right channel, stereo to mono",
            )
            .zh("设置或查询单声道和左右声道平衡。", "单声道 声道平衡 左右声道 左耳 右耳 听力 左右平衡")
            .when("action", &["query"])
            .reads()
            .writes(),
    ]
}

fn manage_volume(phone: &mut Phone, arguments: ManageVolume) -> Result<Reply, Failure> {
    let step = percent("level", arguments.level.or(Some(10)), "")?;
    let update = phone.update("sound", "volume", |volumes: &mut BTreeMap<String, i64>| {
        if arguments.action == VolumeAction::Query {
            return Ok(());
        }
        let stream = arguments.stream.ok_or_else(|| {
            Failure::missing_argument(
                "stream",
                ["media", "ring", "alarm", "call", "notification"],
                "everything but `query`",
            )
        })?;
        let now = volumes.get(stream.name()).copied().unwrap_or(0);
        let level = match arguments.action {
            VolumeAction::Set => percent("level", arguments.level, "`set`")?,
            VolumeAction::Increase => (now + step).min(100),
            VolumeAction::Decrease => (now - step).max(0),
            VolumeAction::Mute | VolumeAction::Query => 0,
        };
        volumes.insert(stream.name().to_owned(), level);
        Ok(())
    })?;
    let text = match arguments.stream {
        Some(stream) => {
            format!("{} volume is {} %", stream.name(), update.value.get(stream.name()).copied().unwrap_or(0))
        }
        None => "volumes".to_owned(),
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "volumes": update.value})))
}

fn manage_sound_mode(phone: &mut Phone, arguments: ManageSoundMode) -> Result<Reply, Failure> {
    let mode = match (arguments.action, arguments.mode) {
        (SetAction::Query, _) => None,
        (SetAction::Set, None) => {
            return Err(Failure::missing_argument("mode", ["ring", "vibrate", "silent"], "`set`"));
        }
        (SetAction::Set, Some(RingMode::Ring)) => Some("ring"),
        (SetAction::Set, Some(RingMode::Vibrate)) => Some("vibrate"),
        (SetAction::Set, Some(RingMode::Silent)) => Some("silent"),
    };
    let update = phone.update("sound", "mode", |ring: &mut Mode| {
        if let Some(mode) = mode {
            mode.clone_into(&mut ring.mode);
        }
        Ok(())
    })?;
    Ok(Reply::new(
        format!("ring mode is {}", update.value.mode),
        json!({"changed": update.changed, "mode": update.value.mode}),
    ))
}

fn manage_vibration(phone: &mut Phone, arguments: ManageVibration) -> Result<Reply, Failure> {
    let update = phone.update("sound", "vibration", |vibration: &mut Vibration| {
        if arguments.action == SetAction::Query {
            return Ok(());
        }
        match (arguments.scope, arguments.enabled) {
            (Some(Scope::Ring), Some(enabled)) => vibration.ring = enabled,
            (Some(Scope::Silent), Some(enabled)) => vibration.silent = enabled,
            (Some(Scope::Touch), Some(enabled)) => vibration.touch = enabled,
            (Some(Scope::Notification), Some(enabled)) => vibration.notification = enabled,
            (Some(_), None) => return Err(Failure::missing_argument("enabled", "true or false", "`scope`")),
            (None, Some(_)) => {
                return Err(Failure::missing_argument(
                    "scope",
                    ["ring", "silent", "touch", "notification"],
                    "`enabled`",
                ));
            }
            (None, None) if arguments.intensity.is_none() => {
                return Err(Failure::missing_argument("scope", "a scope with enabled, or intensity", "`set`"));
            }
            (None, None) => {}
        }
        vibration.intensity = percent("intensity", arguments.intensity.or(Some(vibration.intensity)), "")?;
        Ok(())
    })?;
    Ok(Reply::new("vibration settings", json!({"changed": update.changed, "vibration": update.value})))
}

fn set_ringtone(phone: &mut Phone, arguments: SetRingtone) -> Result<Reply, Failure> {
    let sound = arguments.sound;
    if !TONES.contains(&sound.as_str()) {
        return Err(Failure::bad_argument("sound", TONES, sound));
    }
    let contact = match (arguments.target, arguments.contact_id) {
        (Target::Contact, None) => {
            return Err(Failure::missing_argument(
                "contactId",
                "a contact's id, as search_contacts tells it",
                "target `contact`",
            ));
        }
        (Target::Contact, Some(id)) => {
            if phone.get::<serde_json::Value>("contacts", &id)?.is_none() {
                return Err(Failure::not_found("contact", id));
            }
            Some(id)
        }
        _ => None,
    };
    let update = phone.update("sound", "ringtones", |tones: &mut Ringtones| {
        match (arguments.target, contact.clone()) {
            (Target::Alarm, _) => tones.alarm.clone_from(&sound),
            (Target::Notification, _) => tones.notification.clone_from(&sound),
            (Target::Contact, Some(contact)) => {
                tones.contacts.insert(contact, sound.clone());
            }
            (Target::Call | Target::Contact, _) => tones.call.clone_from(&sound),
        }
        Ok(())
    })?;
    Ok(Reply::new(format!("the tone is `{sound}`"), json!({"changed": update.changed, "ringtones": update.value})))
}

fn manage_sound_effect(phone: &mut Phone, arguments: ManageSoundEffect) -> Result<Reply, Failure> {
    let update = phone.update("sound", "effect", |effect: &mut SoundEffect| {
        match arguments.action {
            EffectAction::Query => {}
            EffectAction::Enable => effect.on = true,
            EffectAction::Disable => effect.on = false,
            EffectAction::Preset => {
                let preset = arguments.effect.ok_or_else(|| {
                    Failure::missing_argument("effect", ["none", "music", "movie", "voice"], "`preset`")
                })?;
                preset.name().clone_into(&mut effect.preset);
                effect.on = true;
            }
        }
        Ok(())
    })?;
    let effect = update.value;
    let text = match arguments.action {
        EffectAction::Enable | EffectAction::Disable => told("sound effect", effect.on, update.changed),
        EffectAction::Preset | EffectAction::Query => {
            format!("sound effect is {}, preset {}", if effect.on { "on" } else { "off" }, effect.preset)
        }
    };
    Ok(Reply::new(text, json!({"changed": update.changed, "on": effect.on, "effect": effect.preset})))
}

fn manage_audio_output(phone: &mut Phone, arguments: ManageAudioOutput) -> Result<Reply, Failure> {
    let bluetooth: Option<Bluetooth> = phone.get("radio", "bluetooth")?;
    let mut devices = vec!["speaker".to_owned(), "earpiece".to_owned()];
    devices.extend(bluetooth.map(|bluetooth| bluetooth.connected).unwrap_or_default());
    let update = phone.update("sound", "output", |output: &mut Output| {
        if arguments.action == OutputAction::Switch {
            let device = arguments
                .device_name
                .clone()
                .ok_or_else(|| Failure::missing_argument("deviceName", devices.clone(), "`switch`"))?;
            if !devices.contains(&device) {
                return Err(Failure::not_found("output device", device).with_allowed(devices.clone()));
            }
            output.device = device;
        }
        Ok(())
    })?;
    Ok(Reply::new(
        format!("sound comes from {}", update.value.device),
        json!({"changed": update.changed, "device": update.value.device, "devices": devices}),
    ))
}

fn manage_audio_balance(phone: &mut Phone, arguments: ManageAudioBalance) -> Result<Reply, Failure> {
    let update = phone.update("sound", "balance", |sound: &mut Balance| {
        if arguments.action == SetAction::Query {
            return Ok(());
        }
        if arguments.mono.is_none() && arguments.balance.is_none() {
            return Err(Failure::missing_argument("mono", "true or false, or balance", "`set`"));
        }
        let balance = arguments.balance.unwrap_or(sound.balance);
        if !(-100..=100).contains(&balance) {
            return Err(Failure::bad_argument("balance", "-100 to 100", balance));
        }
        sound.balance = balance;
        sound.mono = arguments.mono.unwrap_or(sound.mono);
        Ok(())
    })?;
    Ok(Reply::new(
        "audio balance",
        json!({"changed": update.changed, "mono": update.value.mono, "balance": update.value.balance}),
    ))
}
