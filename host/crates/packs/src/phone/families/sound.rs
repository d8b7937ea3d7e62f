//! Volume, ring mode and ringtones.

use serde_json::json;

use super::category::{CONDITIONAL, CONFLICT, CROSS_APP, PARALLEL, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] = &[VOLUME_SET, MEETING_QUIET, RING_UNDER_DND, RING_OR_VIBRATE, CONTACT_RINGTONE];

const VOLUME_SET: Family = Family {
    name: "volume-set",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set the {stream} volume to {level} percent.",
            "{stream} volume to {level}%, please.",
            "Change the volume of {stream} to {level}.",
            "I want {stream} at {level} percent volume.",
            "How loud {stream} is should be {level} out of 100.",
            "Move the {stream} loudness slider to {level}%.",
        ],
        zh: [
            "把{stream}音量调到{level}%。",
            "{stream}音量设为百分之{level}。",
            "将{stream}的音量改成{level}。",
            "我要{stream}音量是{level}%。",
            "{stream}的声音大小调成{level}（满分100）。",
            "把{stream}声音滑块拉到{level}%。",
        ],
    }],
    plan: |draw| {
        let (stream, english, chinese) = draw.pick(&[
            ("media", "media", "媒体"),
            ("alarm", "alarm", "闹钟"),
            ("call", "call", "通话"),
            ("notification", "notification", "通知"),
        ]);
        let level = draw.pick(&[15, 20, 25, 30, 35, 85, 90, 95]);
        let spoken = draw.tongue().of((english, chinese));
        Plan::new()
            .word("stream", spoken)
            .word("level", level)
            .call("manage_volume", json!({"action": "set", "stream": stream, "level": level}))
            .is("sound", "volume", &format!("/{stream}"), level)
            .only(&["sound/volume"])
    },
};

const MEETING_QUIET: Family = Family {
    name: "meeting-quiet",
    category: PARALLEL,
    phrases: &[Phrases {
        en: [
            "My meeting starts: phone on vibrate and media volume to {level}.",
            "Switch to vibrate mode and set the media volume to {level} percent.",
            "For the meeting, set the ring mode to vibrate and turn media down to {level}%.",
            "Vibrate only please, and media volume {level}.",
            "I'm about to sit in a conference: buzzing instead of ringing, media sound at {level}.",
            "Keep it discreet: vibration mode, and {level}% for media.",
        ],
        zh: [
            "要开会了，手机调成振动，媒体音量调到{level}。",
            "切换到振动模式，媒体音量设为{level}%。",
            "开会用：铃声模式改成振动，媒体音量降到{level}%。",
            "只要振动，媒体音量{level}。",
            "马上进会议室：来电改成震动，媒体声音调到{level}。",
            "低调一点，震动模式，媒体音量百分之{level}。",
        ],
    }],
    plan: |draw| {
        let level = draw.pick(&[0, 5, 10, 15, 20]);
        Plan::new()
            .word("level", level)
            .together(vec![
                ("manage_sound_mode", json!({"action": "set", "mode": "vibrate"})),
                ("manage_volume", json!({"action": "set", "stream": "media", "level": level})),
            ])
            .is("sound", "mode", "/mode", "vibrate")
            .is("sound", "volume", "/media", level)
            .only(&["sound/mode", "sound/volume"])
            .made(json!([
                {"tool": "manage_sound_mode", "arguments": {"action": "set", "mode": "vibrate"}},
                {"tool": "manage_volume", "arguments": {"action": "set", "stream": "media", "level": level}},
            ]))
    },
};

const RING_UNDER_DND: Family = Family {
    name: "ring-under-dnd",
    category: CONFLICT,
    phrases: &[Phrases {
        en: [
            "Set the ring volume to {level}% but leave do not disturb on.",
            "Ring volume to {level} percent, and keep do not disturb as it is.",
            "While do not disturb stays on, change the ring volume to {level}%.",
            "For later: ringtone volume {level}%. Don't switch do not disturb off.",
            "The ringer should be at {level}% once quiet time is over; do not end it now.",
            "Prepare a ringer level of {level}, DND must go on.",
        ],
        zh: [
            "把铃声音量调到{level}%，但保持免打扰开启。",
            "来电音量设为百分之{level}，免打扰不要动。",
            "在免打扰开着的情况下，把铃声音量改成{level}%。",
            "给之后用：铃声音量{level}%，别关闭免打扰。",
            "等勿扰结束后铃声要有{level}%，现在先别关勿扰。",
            "先把响铃大小准备成{level}，勿扰继续。",
        ],
    }],
    plan: |draw| {
        let level = draw.pick(&[25, 30, 35, 75, 80, 85, 90]);
        Plan::new()
            .word("level", level)
            .patch("settings", "dnd", json!({"on": true}))
            .call("manage_volume", json!({"action": "set", "stream": "ring", "level": level}))
            .is("sound", "volume", "/ring", level)
            .is("settings", "dnd", "/on", true)
            .only(&["sound/volume"])
    },
};

const RING_OR_VIBRATE: Family = Family {
    name: "ring-or-vibrate",
    category: CONDITIONAL,
    phrases: &[Phrases {
        en: [
            "If the phone is on silent, let it ring again; otherwise put it on vibrate. Media volume stays {level}%.",
            "Check the sound mode: silent becomes ring, anything else becomes vibrate. Leave media at {level}%.",
            "Is my phone silent? Then set it to ring. If not, set it to vibrate. Don't change media volume, {level}%.",
            "Set ring mode when it's silent now, and vibrate mode when it isn't. The media volume of {level}% is fine.",
            "Muted at the moment? Make it audible. Audible? Make it buzz. Media remains at {level}%.",
            "Flip the ringer: from silent to ringing, or from ringing to vibration, with media at {level}% as it is.",
        ],
        zh: [
            "如果手机是静音，就恢复响铃，否则改成振动。媒体音量保持{level}%。",
            "看下声音模式：静音就改响铃，其他就改振动，媒体音量{level}%不动。",
            "手机静音了吗？是就设为响铃，不是就设为振动，媒体音量{level}%别改。",
            "现在静音的话切到响铃模式，不是静音就切到振动模式，媒体{level}%正好。",
            "没声音就让它响，有声音就让它震，媒体音量还是{level}%。",
            "铃声换个状态：静音变响铃，响铃变震动，媒体的{level}%留着。",
        ],
    }],
    plan: |draw| {
        let silent = draw.branch();
        let level = draw.number(20, 90, 5);
        let (before, after) = if silent { ("silent", "ring") } else { ("ring", "vibrate") };
        Plan::new()
            .word("level", level)
            .patch("sound", "volume", json!({"media": level}))
            .patch("sound", "mode", json!({"mode": before}))
            .call("manage_sound_mode", json!({"action": "query"}))
            .call("manage_sound_mode", json!({"action": "set", "mode": after}))
            .is("sound", "mode", "/mode", after)
            .only(&["sound/mode"])
    },
};

const CONTACT_RINGTONE: Family = Family {
    name: "contact-ringtone",
    category: CROSS_APP,
    phrases: &[Phrases {
        en: [
            "Give my contact {name} the ringtone {sound}.",
            "When {name} calls, play {sound} as the ringtone.",
            "Set {sound} as the ringtone for the contact {name}.",
            "I want to hear {sound} when {name} from my contacts rings.",
            "{name}'s calls should have their own ringing sound, {sound}.",
            "Assign the tune {sound} to {name} in the address book.",
        ],
        zh: [
            "给联系人{name}设置铃声{sound}。",
            "{name}来电时用{sound}作为铃声。",
            "把{sound}设为联系人{name}的来电铃声。",
            "通讯录里的{name}打来时我想听到{sound}。",
            "{name}的电话要有专属铃音{sound}。",
            "为通讯录的{name}指定来电音乐{sound}。",
        ],
    }],
    plan: |draw| {
        let name = draw.word(pools::PEOPLE);
        let phone = draw.phone();
        let sound = draw.pick(&["Drop", "Sunrise", "Marimba", "Bell", "Waves"]);
        let key = draw.pick(&["contact-k", "contact-m", "contact-r"]);
        Plan::new()
            .word("name", name)
            .word("sound", sound)
            .put("contacts", key, world::contact(key, name, &phone))
            .call("search_contacts", json!({"name": name}))
            .call("set_ringtone", json!({"target": "contact", "sound": sound, "contactId": key}))
            .is("sound", "ringtones", &format!("/contacts/{key}"), sound)
            .only(&["sound/ringtones"])
    },
};
