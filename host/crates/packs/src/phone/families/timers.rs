//! Timers and the sleep plan.

use serde_json::json;

use super::category::{ORDERED, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::world;

pub(super) const FAMILIES: &[Family] = &[TIMER_START, TIMER_PAUSE, BEDTIME];

const TIMER_START: Family = Family {
    name: "timer-start",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Start a {minutes} minute timer called {label}.",
            "Set a timer for {minutes} minutes, label {label}.",
            "Count down {minutes} minutes for {label}.",
            "Begin a countdown of {minutes} minutes named {label}.",
            "Tell me when {minutes} minutes are over, for {label}.",
            "Let {minutes} minutes run down, headed {label}.",
        ],
        zh: [
            "开始一个{minutes}分钟的计时器，名叫{label}。",
            "设{minutes}分钟的倒计时，标签{label}。",
            "为{label}倒数{minutes}分钟，名称写{label}。",
            "启动名为{label}的{minutes}分钟倒计时。",
            "{minutes}分钟到了告诉我，备注{label}。",
            "计时{minutes}分钟，标上{label}。",
        ],
    }],
    plan: |draw| {
        let minutes = draw.number(2, 45, 1);
        let label =
            draw.word(&[("Eggs", "煮蛋"), ("Tea", "泡茶"), ("Laundry", "洗衣"), ("Noodles", "煮面"), ("Nap", "小睡")]);
        Plan::new()
            .word("minutes", minutes)
            .word("label", label)
            .call("manage_countdown", json!({"action": "start", "durationSec": minutes * 60, "label": label}))
            .exists(
                "timers",
                &[("/duration_s", json!(minutes * 60)), ("/label", json!(label)), ("/state", json!("running"))],
            )
            .only(&["timers"])
    },
};

const TIMER_PAUSE: Family = Family {
    name: "timer-pause",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Pause the {label} timer.",
            "Pause my countdown called {label}.",
            "Hold the timer {label} for a moment.",
            "The {label} timer should be paused.",
            "Freeze the countdown for {label}.",
            "Interrupt the {label} clock, I'll go on later.",
        ],
        zh: [
            "暂停{label}计时器。",
            "把名为{label}的倒计时暂停。",
            "{label}的计时先停一下。",
            "请暂停{label}这个倒计时。",
            "{label}倒数先定住。",
            "把{label}的计时中断一下，待会儿继续。",
        ],
    }],
    plan: |draw| {
        let label =
            draw.word(&[("Eggs", "煮蛋"), ("Tea", "泡茶"), ("Laundry", "洗衣"), ("Noodles", "煮面"), ("Nap", "小睡")]);
        let minutes = draw.number(10, 50, 1);
        let key = draw.pick(&["timer-0031", "timer-0042", "timer-0057"]);
        let ends_at = format!("2026-03-02T09:{minutes:02}:00+08:00");
        Plan::new()
            .word("label", label)
            .put("timers", key, world::timer(key, label, minutes * 60, &ends_at))
            .call("manage_countdown", json!({"action": "query"}))
            .call("manage_countdown", json!({"action": "pause", "timerId": key}))
            .is("timers", key, "/state", "paused")
            .only(&["timers"])
    },
};

const BEDTIME: Family = Family {
    name: "bedtime-plan",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set my bedtime to {sleep} and wake-up to {wake}.",
            "Change the sleep plan: to bed at {sleep}, up at {wake}.",
            "My sleep schedule should be {sleep} to {wake}.",
            "Plan my nights from {sleep} until {wake} in the bedtime settings.",
            "I'd like to sleep between {sleep} and {wake}, put that in the bedtime plan.",
            "Night's rest is {sleep} through {wake} from now on.",
        ],
        zh: [
            "把就寝时间设为{sleep}，起床时间设为{wake}。",
            "修改睡眠计划：{sleep}睡，{wake}起。",
            "我的作息改成{sleep}到{wake}睡觉。",
            "在就寝设置里安排{sleep}到{wake}睡眠。",
            "我想在{sleep}和{wake}之间睡觉，写进睡眠计划。",
            "以后晚上休息从{sleep}到{wake}。",
        ],
    }],
    plan: |draw| {
        let (sleep, wake) = (draw.time(21, 22), draw.time(5, 6));
        Plan::new()
            .word("sleep", sleep.spoken(draw.tongue()))
            .word("wake", wake.spoken(draw.tongue()))
            .call("manage_bedtime", json!({"action": "set", "sleepTime": sleep.text(), "wakeTime": wake.text()}))
            .is("clock", "bedtime", "/sleep_time", sleep.text())
            .is("clock", "bedtime", "/wake_time", wake.text())
            .only(&["clock/bedtime"])
    },
};
