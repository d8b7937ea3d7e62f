//! Battery modes and power.

use serde_json::json;

use super::category::{CONFIRM, CONFLICT, QUERY, SINGLE, SKILL};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::pools;

pub(super) const FAMILIES: &[Family] = &[
    BATTERY_SAVING,
    BATTERY_WHICH,
    PERFORMANCE_OVER_SUPER,
    NOTE_UNDER_SUPER,
    BATTERY_LOW,
    POWER_OFF,
    REBOOT_CALLED_OFF,
    SCHEDULED_POWER,
    FAN,
];

const BATTERY_SAVING: Family = Family {
    name: "battery-saving",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "The battery is at {percent}%. Switch to power saving mode.",
            "Turn on battery saver, I only have {percent}% left.",
            "Set the battery mode to saving; {percent} percent has to last.",
            "With {percent}% battery I want power saving on.",
            "Stretch my remaining {percent}%: ordinary saver mode, please.",
            "{percent}% charge, so go easy on the battery with the saving mode.",
        ],
        zh: [
            "电量只剩{percent}%，切换到省电模式。",
            "打开省电模式，我只有{percent}%的电了。",
            "电池模式设为省电，{percent}%要撑一天。",
            "还有{percent}%的电，我想开启省电。",
            "剩下的{percent}%省着用，用普通省电模式。",
            "电池{percent}%了，改成节电的省电模式。",
        ],
    }],
    plan: |draw| {
        let percent = draw.number(22, 45, 1);
        Plan::new()
            .word("percent", percent)
            .patch("power", "battery", json!({"percent": percent}))
            .call("manage_battery", json!({"action": "set", "mode": "saving"}))
            .is("power", "battery", "/mode", "saving")
            .only(&["power/battery"])
    },
};

const BATTERY_WHICH: Family = Family {
    name: "battery-which",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "How much battery do I have left, in percent?",
            "What is my battery level?",
            "Tell me the battery percentage.",
            "How many percent is the phone charged?",
            "How full is the battery, as a number?",
            "Look up the remaining charge for me.",
        ],
        zh: [
            "手机还剩百分之多少的电？",
            "我的电池电量是多少？",
            "告诉我电量百分比。",
            "现在电池还有多少电？",
            "电池还有多满，说个数字。",
            "帮我查剩余电量。",
        ],
    }],
    plan: |draw| {
        let percent = draw.number(21, 98, 1);
        Plan::new()
            .patch("power", "battery", json!({"percent": percent, "charging": draw.branch()}))
            .call("manage_battery", json!({"action": "query"}))
            .finish(format!("{percent}%"))
            .answers(&[&percent.to_string()])
            .only(&[])
    },
};

const PERFORMANCE_OVER_SUPER: Family = Family {
    name: "performance-over-super",
    category: CONFLICT,
    phrases: &[Phrases {
        en: [
            "The battery is {percent}% full again. Leave super power saving and go to performance mode.",
            "I'm at {percent}% and want performance mode; super saving may end.",
            "Switch from super saving to performance mode, the charge is {percent}%.",
            "Set the battery mode to performance, even if super saving has to be left for it. I have {percent}%.",
            "Full speed now that I'm at {percent}%! Whatever extreme saver is running, drop it first.",
            "{percent} percent charged, so swap the ultra saver for top performance.",
        ],
        zh: [
            "电量恢复到{percent}%了，退出超级省电，切到性能模式。",
            "现在{percent}%，我要性能模式，超级省电可以结束。",
            "从超级省电换成性能模式，电量{percent}%。",
            "把电池模式设为性能，需要的话先退出超级省电，我有{percent}%的电。",
            "都{percent}%了，全速运行吧，先把极致省电停掉。",
            "充到{percent}%了，把超省模式换成高性能。",
        ],
    }],
    plan: |draw| {
        let percent = draw.number(70, 100, 1);
        Plan::new()
            .word("percent", percent)
            .patch("power", "battery", json!({"percent": percent, "mode": "super_saving"}))
            .skill("conflict-order-arbiter")
            .call("manage_battery", json!({"action": "set", "mode": "normal"}))
            .call("manage_battery", json!({"action": "set", "mode": "performance"}))
            .is("power", "battery", "/mode", "performance")
            .only(&["power/battery", "display/refresh", "settings/location"])
    },
};

const NOTE_UNDER_SUPER: Family = Family {
    name: "note-under-super",
    category: CONFLICT,
    phrases: &[Phrases {
        en: [
            "Make a note titled {title} that says \"{body}\". If super power saving is in the way, go back to the normal battery mode.",
            "Note down \"{body}\" under the title {title}; you may leave super saving for normal mode to do it.",
            "I need a new note {title} with the text \"{body}\". Switch the battery mode to normal if super saving blocks notes.",
            "Create the note {title}: \"{body}\". Normal battery mode is fine when super saving doesn't allow it.",
            "Jot down \"{body}\", headed {title}. The extreme saver can go back to normal for that.",
            "Keep a memo called {title} reading \"{body}\"; end the ultra saver and use normal mode where it stops you.",
        ],
        zh: [
            "新建一条标题为{title}的笔记，内容是“{body}”。如果超级省电挡住了，就切回普通电池模式。",
            "用标题{title}记下“{body}”，需要的话可以从超级省电改回普通模式。",
            "我要一条新笔记{title}，内容“{body}”，超级省电不让用笔记就把电池模式改成普通。",
            "创建笔记{title}：“{body}”。超级省电不允许时用普通模式就好。",
            "帮我写下“{body}”，标题{title}，极致省电可以先改回普通。",
            "存一条备忘，叫{title}，写“{body}”；超省模式拦着就结束它，用普通模式。",
        ],
    }],
    plan: |draw| {
        let (title, body) = draw.pick(pools::NOTES);
        let (title, body) = (draw.tongue().of(title), draw.tongue().of(body));
        Plan::new()
            .word("title", title)
            .word("body", body)
            .patch("power", "battery", json!({"percent": draw.number(30, 60, 1), "mode": "super_saving"}))
            .call("manage_battery", json!({"action": "set", "mode": "normal"}))
            .call("manage_note", json!({"action": "create", "title": title, "content": body}))
            .is("power", "battery", "/mode", "normal")
            .exists("notes", &[("/title", json!(title)), ("/body", json!(body))])
            .only(&["power/battery", "notes", "display/refresh", "settings/location"])
    },
};

const BATTERY_LOW: Family = Family {
    name: "battery-low",
    category: SKILL,
    phrases: &[Phrases {
        en: [
            "Only {percent}% battery and a long day ahead. Save as much power as possible with super saving.",
            "Battery is down to {percent}%, turn on super power saving.",
            "I have {percent} percent left and no charger: super saving mode, please.",
            "Switch to the super saving battery mode, I'm at {percent}%.",
            "{percent}% and falling, go for the strongest saver there is.",
            "Make the last {percent} percent last as long as it can, with the extreme saver.",
        ],
        zh: [
            "只剩{percent}%的电，今天还很长，用超级省电尽量省。",
            "电量降到{percent}%了，打开超级省电。",
            "还有{percent}%，没带充电器，请开超级省电模式。",
            "把电池切到超级省电模式，现在{percent}%。",
            "{percent}%还在掉，用最省电的那个模式。",
            "让最后的{percent}%撑得越久越好，开极致省电。",
        ],
    }],
    plan: |draw| {
        let percent = draw.number(4, 19, 1);
        Plan::new()
            .word("percent", percent)
            .patch("power", "battery", json!({"percent": percent}))
            .skill("power-performance-battery")
            .call("manage_battery", json!({"action": "set", "mode": "super_saving"}))
            .is("power", "battery", "/mode", "super_saving")
            .is("display", "refresh", "/mode", "standard")
            .is("settings", "location", "/on", false)
            .only(&["power/battery", "display/refresh", "settings/location"])
    },
};

const POWER_OFF: Family = Family {
    name: "power-off",
    category: CONFIRM,
    phrases: &[Phrases {
        en: [
            "Turn the phone off, the {event} begins.",
            "Please power off the phone for the {event}.",
            "Shut the phone down, I'm going into the {event}.",
            "Switch my phone off completely during the {event}.",
            "The {event} doesn't allow devices, so shut down.",
            "Power down now, it's time for the {event}.",
        ],
        zh: [
            "{event}开始了，把手机关机。",
            "{event}要求关机，请关闭手机电源。",
            "我要进{event}了，把手机关掉。",
            "{event}期间让手机完全关机。",
            "{event}不许带设备，断电吧。",
            "到{event}时间了，现在关电源。",
        ],
    }],
    plan: |draw| {
        let event = draw.word(&[
            ("exam", "考试"),
            ("concert", "音乐会"),
            ("film", "电影"),
            ("ceremony", "典礼"),
            ("theatre play", "话剧"),
        ]);
        Plan::new()
            .word("event", event)
            .confirmed(
                "control_device_power",
                json!({"action": "power_off"}),
                draw.say("Shall I turn the phone off now?", "现在要关机吗？"),
            )
            .is("power", "state", "/state", "off")
            .only(&["power/state"])
    },
};

const REBOOT_CALLED_OFF: Family = Family {
    name: "reboot-called-off",
    category: CONFIRM,
    phrases: &[Phrases {
        en: [
            "{app} feels slow. Restart the phone, but ask me if now is a good moment before you do.",
            "Reboot the phone because of {app}, and check with me first whether I'm ready.",
            "Please restart the device, {app} hangs. Ask whether the restart suits me beforehand.",
            "I think a restart helps with {app}. Before restarting, ask me if it's okay.",
            "Give the phone a fresh boot on account of {app}; don't start before you asked me.",
            "{app} acts up, so cycle the power, after having my word for it.",
        ],
        zh: [
            "{app}很卡，重启手机吧，不过重启前先问我现在方不方便。",
            "因为{app}出问题，重启一下手机，先和我确认是否准备好了。",
            "{app}卡住了，请重启设备，重启之前问问我合不合适。",
            "我觉得{app}重启一下会好，重启前先问我行不行。",
            "{app}不对劲，重新开机吧，没问过我别动手。",
            "为了{app}把手机重新启动，先征求我的意见。",
        ],
    }],
    plan: |draw| {
        let app = draw.pick(pools::APPS);
        let words = ["restart", "reboot", "now", "ready", "okay", "重启", "现在", "方便", "可以"];
        Plan::new()
            .word("app", app)
            .slot("moment", &words, draw.say("No, not now. Leave it on.", "不，现在不行，别关。"))
            .ask(draw.say("May I restart the phone now?", "现在可以重启手机吗？"))
            .finish(draw.say("I have left the phone running.", "好的，没有重启。"))
            .asked(&words)
            .row(json!({"finished": true}))
            .only(&[])
    },
};

const SCHEDULED_POWER: Family = Family {
    name: "scheduled-power",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Turn the phone off at {off} and on again at {on} automatically.",
            "Schedule power off at {off} and power on at {on}.",
            "Set up scheduled power: off at {off}, on at {on}.",
            "I want the phone to shut down by itself at {off} and to start at {on}.",
            "Have the device sleep switched off from {off} until {on}, on a timetable.",
            "Timed shutdown at {off}, timed start at {on}.",
        ],
        zh: [
            "让手机{off}自动关机，{on}自动开机。",
            "设置定时关机{off}，定时开机{on}。",
            "开启定时开关机：{off}关，{on}开。",
            "我想让手机{off}自己关机，{on}自己开机。",
            "按时间表，{off}断电，{on}再启动。",
            "定个时：{off}关手机，{on}打开手机。",
        ],
    }],
    plan: |draw| {
        let (off, on) = (draw.time(22, 23), draw.time(5, 8));
        Plan::new()
            .word("off", off.spoken(draw.tongue()))
            .word("on", on.spoken(draw.tongue()))
            .call("manage_scheduled_power", json!({"action": "enable", "onTime": on.text(), "offTime": off.text()}))
            .is("power", "schedule", "/on", true)
            .is("power", "schedule", "/on_time", on.text())
            .is("power", "schedule", "/off_time", off.text())
            .only(&["power/schedule"])
    },
};

const FAN: Family = Family {
    name: "cooling-fan",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "{app} makes the phone hot. Set the cooling fan to level {level}.",
            "Cooling fan to level {level}, please, I'm using {app}.",
            "Let the fan run at level {level} while {app} is open.",
            "Turn the cooling fan to {level} for {app}.",
            "It's getting warm with {app}: blow at strength {level}.",
            "Ventilate the phone at stage {level} during {app}.",
        ],
        zh: [
            "{app}让手机发烫，把散热风扇调到{level}档。",
            "在用{app}，散热风扇请开{level}档。",
            "开着{app}时让风扇以{level}档运行。",
            "为{app}把冷却风扇设成{level}档。",
            "用{app}手机发热了，风力{level}档吹一吹。",
            "{app}期间以{level}级给手机降温。",
        ],
    }],
    plan: |draw| {
        let level = draw.number(1, 3, 1);
        Plan::new()
            .word("app", draw.pick(pools::APPS))
            .word("level", level)
            .call("control_cooling_fan", json!({"action": "level", "level": level}))
            .is("power", "fan", "/level", level)
            .only(&["power/fan"])
    },
};
