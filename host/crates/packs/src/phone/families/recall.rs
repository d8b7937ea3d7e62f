//! What the user told earlier, and what is to be done with it: facts, standing rules with an exception, and a trip that is watched in part.

use serde_json::json;

use super::category::MEMORY;
use super::{Family, Phrases};
use crate::phone::draw::{Draw, Two};
use crate::phone::plan::Plan;
use crate::phone::world;

pub(super) const FAMILIES: &[Family] =
    &[TRIP_WATCH, USUAL_WAKE, LIKED_VOLUME, EARLY_RULE, BRIGHTNESS_RULE, LATEST_DESK];

/// The ids of two records: they tell nothing of what they stand for.
pub(super) fn two_ids(draw: &mut Draw) -> (&'static str, &'static str) {
    draw.pick(&[
        ("memory-0214", "memory-0377"),
        ("memory-0641", "memory-0135"),
        ("memory-0508", "memory-0592"),
        ("memory-0733", "memory-0420"),
    ])
}

const CITIES: &[Two] = &[
    ("Chengdu", "成都"),
    ("Kunming", "昆明"),
    ("Xiamen", "厦门"),
    ("Harbin", "哈尔滨"),
    ("Guilin", "桂林"),
    ("Lhasa", "拉萨"),
    ("Sanya", "三亚"),
];

const TRIP_WATCH: Family = Family {
    name: "trip-watch",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Watch the flights of my {month} trip that are not watched yet.",
            "Look up my {month} trip and add a flight monitor for each route that has none so far.",
            "Make sure that every flight of the trip in {month} is monitored; leave the monitors that exist alone.",
            "My {month} trip: add the missing flight watches, please.",
            "Some flights of my {month} trip have no alert yet. Set up what is lacking.",
            "Complete the flight alerts for the trip that I planned for {month}.",
        ],
        zh: [
            "把我{month}行程里还没有监控的航班监控起来。",
            "查一下我{month}的行程，给还没有航班监控的航线加上监控。",
            "确保{month}行程的每个航班都有监控，已有的不要动。",
            "我{month}的行程，缺的航班监控帮我补上。",
            "{month}那趟行程有的航班还没关注，补齐缺的。",
            "把{month}计划的行程的航班提醒补全。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let (first, second) = draw.pair(CITIES);
        let old = draw.pick(&[("Macau", "澳门"), ("Dalian", "大连"), ("Lanzhou", "兰州")]);
        let (trip, past) = two_ids(draw);
        let from = draw.say("Shanghai", "上海");
        let (first, second) = (tongue.of(first), tongue.of(second));
        let (covered, missing) = if draw.branch() { (first, second) } else { (second, first) };
        let (content, before) = match tongue.tag() {
            "zh" => (
                format!("三月的行程：从上海出发，去{first}和{second}两个城市"),
                format!("一月的行程：从上海出发，去{}", old.1),
            ),
            _ => (
                format!("Trip in March: from Shanghai to two cities, {first} and {second}"),
                format!("Trip in January: from Shanghai to {}", old.0),
            ),
        };
        let add = json!({"action": "add", "route": {"from": from, "to": missing}});
        Plan::new()
            .word("month", draw.say("March", "三月"))
            .put("memory", trip, world::memory(trip, "long_term", "important_event", &content))
            .put(
                "memory",
                past,
                world::memory_with(
                    past,
                    "long_term",
                    "important_event",
                    &before,
                    &[("valid_until", json!("2026-01-31T23:59:59"))],
                ),
            )
            .put("flight_watches", "watch-k", world::flight_watch(from, covered))
            .recall(draw.say("trip in March", "三月的行程"))
            .call("manage_flight_watch", json!({"action": "query"}))
            .call("manage_flight_watch", add.clone())
            .counted("flight_watches", &[("/from", json!(from)), ("/to", json!(missing))], 1)
            .counted("flight_watches", &[("/from", json!(from)), ("/to", json!(covered))], 1)
            .only(&["flight_watches"])
            .check(
                "tool-calls",
                json!({
                    "calls": [{"tool": "manage_flight_watch", "arguments": add}],
                    "order": "partial", "extra": "reads", "ignore_arguments": ["date"],
                }),
            )
    },
};

const USUAL_WAKE: Family = Family {
    name: "usual-wake",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Set an alarm for the time at which I usually get up on {days}.",
            "Create an alarm at my usual wake-up time of {days}.",
            "I need an alarm, at the time when I normally get up on {days}.",
            "Wake me tomorrow as I usually get up on {days}: set the alarm.",
            "An alarm, please, for my habitual hour on {days}.",
            "Let the alarm clock ring when I'm used to getting up on {days}.",
        ],
        zh: [
            "按我{days}平时起床的时间设一个闹钟。",
            "新建一个闹钟，用我{days}习惯的起床时间。",
            "我需要一个闹钟，时间是我{days}通常起床的时间。",
            "明天照我{days}平时起床的时间叫醒我，设好闹钟。",
            "按{days}的老时间给我定个闹钟。",
            "闹钟定在我{days}惯常起床的那个点。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let (early, late) = (draw.time(5, 6), draw.time(8, 9));
        let (workday, weekend) = two_ids(draw);
        let on_workdays = draw.branch();
        let (wanted, unwanted) = if on_workdays { (early, late) } else { (late, early) };
        let days = if on_workdays { ("workdays", "工作日") } else { ("weekends", "周末") };
        let habit = |days: Two, time: crate::phone::draw::Time| match tongue.tag() {
            "zh" => format!("{}一般{}起床", days.1, time.spoken(tongue)),
            _ => format!("On {} I get up at {}", days.0, time.spoken(tongue)),
        };
        Plan::new()
            .word("days", tongue.of(days))
            .put(
                "memory",
                workday,
                world::memory(workday, "long_term", "routines_habits", &habit(("workdays", "工作日"), early)),
            )
            .put(
                "memory",
                weekend,
                world::memory(weekend, "long_term", "routines_habits", &habit(("weekends", "周末"), late)),
            )
            .recall(match tongue.tag() {
                "zh" => format!("{}起床时间", days.1),
                _ => format!("when do I get up on {}", days.0),
            })
            .call("manage_alarm", json!({"action": "create", "time": wanted.text()}))
            .exists("alarms", &[("/time", json!(wanted.text())), ("/on", json!(true))])
            .absent("alarms", &[("/time", json!(unwanted.text()))])
            .only(&["alarms"])
    },
};

const LIKED_VOLUME: Family = Family {
    name: "liked-volume",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Set the {stream} volume to the level that I like.",
            "Put the {stream} volume where I prefer it.",
            "Adjust the {stream} volume to my preferred level.",
            "The {stream} volume should be as I like it, please change it.",
            "Make the {stream} sound as loud as suits me best, volume-wise.",
            "Turn the {stream} volume to my favourite setting.",
        ],
        zh: [
            "把{stream}音量调到我喜欢的大小。",
            "{stream}音量设成我偏好的值。",
            "按我的喜好调整{stream}音量。",
            "{stream}音量要我喜欢的那样，改一下。",
            "{stream}声音调到最合我意的音量。",
            "{stream}音量换成我最爱的设置。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let (media, call) = draw.pair(&[15, 20, 25, 30, 35, 85, 90, 95]);
        let (stream, spoken, level) =
            if draw.branch() { ("media", ("media", "媒体"), media) } else { ("call", ("call", "通话"), call) };
        let (one, other) = two_ids(draw);
        let content = match tongue.tag() {
            "zh" => format!("喜欢的音量：媒体{media}，通话{call}"),
            _ => format!("Preferred volume: media {media}, call {call}"),
        };
        Plan::new()
            .word("stream", tongue.of(spoken))
            .put("memory", one, world::memory(one, "profile", "user_profile", &content))
            .put(
                "memory",
                other,
                world::memory(other, "profile", "user_profile", draw.say("Prefers short messages", "喜欢简短的消息")),
            )
            .call("manage_volume", json!({"action": "set", "stream": stream, "level": level}))
            .is("sound", "volume", &format!("/{stream}"), level)
            .only(&["sound/volume"])
    },
};

const EARLY_RULE: Family = Family {
    name: "early-rule",
    category: MEMORY,
    phrases: &[
        Phrases {
            en: [
                "Set an alarm for {time}, with my usual lead.",
                "I need an alarm for {time}; keep to my rule for alarms.",
                "Create the alarm for {time} as I always want it.",
                "Alarm for {time}, the way I have told you to set them.",
                "Let me be woken for {time}, following my standing rule on alarms.",
                "An alarm for {time}, and mind my rule.",
            ],
            zh: [
                "设一个{time}的闹钟，按我的老规矩提前。",
                "我要{time}的闹钟，照我的闹钟规矩来。",
                "新建{time}的闹钟，像我一直要求的那样。",
                "{time}的闹钟，按我说过的办法设。",
                "{time}叫醒我，遵守我定的闹钟规则。",
                "来个{time}的闹钟，别忘了我的规矩。",
            ],
        },
        Phrases {
            en: [
                "Set an alarm for exactly {time}.",
                "I need an alarm at exactly {time}, on the dot.",
                "Create the alarm for exactly {time}.",
                "Alarm at {time}, and that time is exact.",
                "Let me be woken at {time} exactly.",
                "An alarm, {time} exactly.",
            ],
            zh: [
                "设一个准点{time}的闹钟。",
                "我要{time}的闹钟，准点。",
                "新建闹钟，准点{time}响。",
                "{time}的闹钟，要准点。",
                "准点{time}叫醒我。",
                "来个闹钟，{time}准点。",
            ],
        },
    ],
    plan: |draw| {
        let tongue = draw.tongue();
        let lead = draw.pick(&[10, 15, 20]);
        let time = draw.time(6, 9);
        let (rule, other) = two_ids(draw);
        let content = match tongue.tag() {
            "zh" => format!("设闹钟时总是比我说的时间提前{lead}分钟，除非我说准点"),
            _ => format!(
                "Always set my alarms {lead} minutes earlier than the time I name, except when I say that the time is exact"
            ),
        };
        let applies = draw.branch();
        let early = time.earlier(lead);
        let (wanted, unwanted) = if applies { (early, time) } else { (time, early) };
        Plan::new()
            .word("time", time.spoken(tongue))
            .phrased(usize::from(!applies))
            .put("memory", rule, world::memory(rule, "profile", "routines_habits", &content))
            .put("memory", other, world::memory(other, "profile", "user_profile", draw.say("Likes jazz", "喜欢爵士乐")))
            .call("manage_alarm", json!({"action": "create", "time": wanted.text()}))
            .exists("alarms", &[("/time", json!(wanted.text())), ("/on", json!(true))])
            .absent("alarms", &[("/time", json!(unwanted.text()))])
            .only(&["alarms"])
    },
};

const BRIGHTNESS_RULE: Family = Family {
    name: "brightness-rule",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "I'm {place}, set the brightness by my rule.",
            "Adjust the screen brightness as I want it when I'm {place}.",
            "{place} now: brightness by my standing rule, please.",
            "Put the brightness where it belongs while I'm {place}.",
            "Being {place}, I want the display as bright as I said.",
            "Make the screen as bright as my rule says for {place}.",
        ],
        zh: [
            "我在{place}，按我的规矩调屏幕亮度。",
            "把屏幕亮度调到我在{place}时想要的值。",
            "现在在{place}：亮度照我的老规矩。",
            "我在{place}，亮度该是多少就调成多少。",
            "人在{place}，屏幕要我说过的那么亮。",
            "照我对{place}的规定把屏幕调亮度。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let low = draw.pick(&[15, 25, 35, 40]);
        let high = draw.pick(&[80, 85, 90, 95]);
        let (rule, other) = two_ids(draw);
        let content = match tongue.tag() {
            "zh" => format!("屏幕亮度总是设为{low}，只有在户外时设为{high}"),
            _ => format!("Always set the brightness to {low}, except outdoors, where it is {high}"),
        };
        let outdoors = draw.branch();
        let place = if outdoors { draw.say("outdoors", "户外") } else { draw.say("in my office", "办公室里") };
        let level = if outdoors { high } else { low };
        Plan::new()
            .word("place", place)
            .patch("display", "brightness", json!({"level": 60}))
            .put("memory", rule, world::memory(rule, "profile", "routines_habits", &content))
            .put(
                "memory",
                other,
                world::memory(other, "profile", "user_profile", draw.say("Works as a nurse", "职业是护士")),
            )
            .call("manage_brightness", json!({"action": "set", "level": level}))
            .is("display", "brightness", "/level", level)
            .only(&["display/brightness"])
    },
};

const LATEST_DESK: Family = Family {
    name: "latest-desk",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Text {name} the number of my desk at work, and nothing else.",
            "Send {name} a message with nothing but my desk number.",
            "Message {name} my desk number in the office, only the number.",
            "By SMS, tell {name} which desk is mine; just its number.",
            "Let {name} know my desk by text, the bare number will do.",
            "An SMS to {name}: my desk number, no more.",
        ],
        zh: [
            "给{name}发短信，只写我的工位号。",
            "把我的工位号发消息给{name}，别写别的。",
            "发短信给{name}，内容就是我办公室的工位号。",
            "用短信告诉{name}我的工位，只要号码。",
            "短信通知{name}我坐哪个工位，光写编号。",
            "给{name}来条短信：我的工位号，不要多写。",
        ],
    }],
    plan: |draw| {
        let (name, phone) = draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002")]);
        let (now, before) = draw.pair(&["A12", "B07", "C31", "D18", "E25", "F09"]);
        let (old, new) = two_ids(draw);
        let says = |desk: &str| match draw.tongue().tag() {
            "zh" => format!("我的工位号是{desk}"),
            _ => format!("My desk number at work is {desk}"),
        };
        Plan::new()
            .word("name", name)
            .put(
                "memory",
                old,
                world::memory_with(
                    old,
                    "long_term",
                    "important_info",
                    &says(before),
                    &[("superseded_by", json!(new)), ("claim", json!("desk"))],
                ),
            )
            .put(
                "memory",
                new,
                world::memory_with(
                    new,
                    "long_term",
                    "important_info",
                    &says(now),
                    &[("supersedes", json!(old)), ("claim", json!("desk"))],
                ),
            )
            .recall(draw.say("my desk number at work", "我的工位号"))
            .call("send_message", json!({"contact": name, "content": now}))
            .says("messages", "/body", now, &[("/peer", json!(phone)), ("/direction", json!("out"))])
            .says_not("messages", "/body", before, &[("/direction", json!("out"))])
            .only(&["messages"])
    },
};
