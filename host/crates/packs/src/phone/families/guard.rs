//! What the phone's state forbids: power, lock, permissions and things that a phone cannot do.

use serde_json::json;

use super::category::{CONFLICT, CROSS_APP, REFUSE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] =
    &[PHONE_IS_OFF, SCREEN_IS_OFF, LOCKED_MESSAGE, DENIED_CONTACTS, NOT_A_PHONE_THING, OFFLINE_MESSAGE];

/// Words with which people say that something cannot be done.
const CANNOT: [&str; 14] = [
    "can't",
    "cannot",
    "can not",
    "unable",
    "not able",
    "not possible",
    "impossible",
    "no tool",
    "no app",
    "无法",
    "不能",
    "没办法",
    "没有",
    "不支持",
];

fn cannot(further: &[&'static str]) -> Vec<&'static str> {
    CANNOT.iter().chain(further).copied().collect()
}

const PHONE_IS_OFF: Family = Family {
    name: "phone-is-off",
    category: REFUSE,
    phrases: &[Phrases {
        en: [
            "Set an alarm for {time}.",
            "Wake me up at {time}.",
            "I need an alarm at {time}, please.",
            "Create an alarm that rings at {time}.",
            "Get me out of bed at {time}.",
            "Let something ring at {time}.",
        ],
        zh: [
            "设一个{time}的闹钟。",
            "{time}叫醒我。",
            "请给我定{time}的闹钟。",
            "新建一个{time}响的闹钟。",
            "{time}把我叫起来。",
            "{time}的时候响一下铃。",
        ],
    }],
    plan: |draw| {
        let time = draw.time(5, 8);
        Plan::new()
            .word("time", time.spoken(draw.tongue()))
            .put("power", "state", json!({"state": "off"}))
            .call("manage_alarm", json!({"action": "query"}))
            .refuse(draw.say("I cannot do that: the phone is switched off.", "手机处于关机状态，无法设置闹钟。"))
            .refused(&cannot(&["off", "关机", "power"]))
            .only(&[])
    },
};

const SCREEN_IS_OFF: Family = Family {
    name: "screen-is-off",
    category: CONFLICT,
    phrases: &[Phrases {
        en: [
            "Text {name}: \"{text}\". Wake the screen if you have to.",
            "Send {name} the message \"{text}\", the screen may be turned on for it.",
            "Message {name} with \"{text}\". If the screen is off, turn it on.",
            "Please send \"{text}\" to {name}; switch the screen on first when needed.",
            "Let {name} know by SMS: \"{text}\". Light the display up for that where it's dark.",
            "An SMS to {name}, saying \"{text}\". The dark screen can come on.",
        ],
        zh: [
            "给{name}发短信：“{text}”，需要的话点亮屏幕。",
            "把“{text}”发短信给{name}，可以先打开屏幕。",
            "发消息给{name}说“{text}”，屏幕关着就打开它。",
            "请给{name}发送“{text}”，必要时先亮屏。",
            "用短信告诉{name}“{text}”，屏幕黑着就唤醒一下。",
            "给{name}来条短信，写“{text}”，屏幕可以亮起来。",
        ],
    }],
    plan: |draw| {
        let (name, phone) = draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002")]);
        let text = draw.word(pools::MESSAGES);
        Plan::new()
            .word("name", name)
            .word("text", text)
            .put("display", "screen", json!({"on": false, "locked": false}))
            .call("control_screen", json!({"action": "on"}))
            .call("send_message", json!({"contact": name, "content": text}))
            .is("display", "screen", "/on", true)
            .exists("messages", &[("/peer", json!(phone)), ("/body", json!(text)), ("/direction", json!("out"))])
            .only(&["display/screen", "messages"])
    },
};

const LOCKED_MESSAGE: Family = Family {
    name: "locked-message",
    category: REFUSE,
    phrases: &[Phrases {
        en: [
            "Send {name} a text saying \"{text}\".",
            "Text \"{text}\" to {name}.",
            "Write an SMS to {name}: \"{text}\".",
            "Please message {name}: \"{text}\".",
            "Drop {name} a line, \"{text}\".",
            "Let {name} know \"{text}\" by text message.",
        ],
        zh: [
            "给{name}发短信说“{text}”。",
            "把“{text}”发给{name}。",
            "写条短信给{name}：“{text}”。",
            "请给{name}发消息：“{text}”。",
            "跟{name}说一声“{text}”，用短信。",
            "短信通知{name}：“{text}”。",
        ],
    }],
    plan: |draw| {
        let name = draw.pick(&["Alice Wang", "Bob Li", "妈妈"]);
        let text = draw.word(pools::MESSAGES);
        Plan::new()
            .word("name", name)
            .word("text", text)
            .put("display", "screen", json!({"on": true, "locked": true}))
            .call("search_messages", json!({"contact": name}))
            .refuse(draw.say("I can't: the phone is locked, please unlock it first.", "手机锁着，无法发送，请先解锁。"))
            .refused(&cannot(&["lock", "锁"]))
            .only(&[])
    },
};

const DENIED_CONTACTS: Family = Family {
    name: "denied-contacts",
    category: REFUSE,
    phrases: &[Phrases {
        en: [
            "What is {name}'s phone number?",
            "Look up the number of {name} in my contacts.",
            "Find {name} in the address book and tell me the number.",
            "Give me the telephone number of my contact {name}.",
            "How can I reach {name}, what's the number on file?",
            "Read me the saved number for {name}.",
        ],
        zh: [
            "{name}的电话号码是多少？",
            "在通讯录里查一下{name}的号码。",
            "从联系人里找到{name}，告诉我号码。",
            "把联系人{name}的手机号给我。",
            "怎么联系{name}，存的号码是什么？",
            "念一下{name}保存的号码。",
        ],
    }],
    plan: |draw| {
        let name = draw.pick(&["Alice Wang", "Bob Li", "妈妈"]);
        Plan::new()
            .word("name", name)
            .put("perms", "contacts", json!({"state": "deny"}))
            .call("search_contacts", json!({"name": name}))
            .refuse(draw.say("I cannot: access to the contacts is denied.", "通讯录的权限被拒绝了，无法查看。"))
            .refused(&cannot(&["permission", "denied", "access", "权限", "拒绝"]))
            .only(&[])
    },
};

const NOT_A_PHONE_THING: Family =
    Family {
        name: "not-a-phone-thing",
        category: REFUSE,
        phrases: &[Phrases {
            en: [
                "Have {count} {thing} made and carried over to me by yourself.",
                "Cook me {count} {thing} in the kitchen right away.",
                "Please bake {count} {thing} for my guests now.",
                "Go and fetch {count} {thing} from the shop downstairs.",
                "Hand me {count} {thing} through the screen.",
                "Fry {count} {thing}, and mind that they are warm.",
            ],
            zh: [
                "你亲手做{count}个{thing}给我端过来。",
                "马上在厨房给我做{count}个{thing}。",
                "现在就为客人烤{count}个{thing}。",
                "去楼下店里给我拿{count}个{thing}上来。",
                "从屏幕里递给我{count}个{thing}。",
                "煎{count}个{thing}，要热的。",
            ],
        }],
        plan: |draw| {
            let thing = draw.word(&[
                ("dumplings", "饺子"),
                ("pancakes", "煎饼"),
                ("egg tarts", "蛋挞"),
                ("sandwiches", "三明治"),
                ("meat pies", "肉饼"),
            ]);
            Plan::new()
                .word("thing", thing)
                .word("count", draw.number(2, 20, 1))
                .patch("power", "battery", json!({"percent": draw.number(40, 99, 1)}))
                .refuse(draw.say(
                    "I cannot do that: I only have this phone's apps.",
                    "我无法做到，我只能使用这台手机上的应用。",
                ))
                .refused(&cannot(&["only", "只能"]))
                .only(&[])
        },
    };

const OFFLINE_MESSAGE: Family = Family {
    name: "offline-message",
    category: CROSS_APP,
    phrases: &[Phrases {
        en: [
            "Turn airplane mode off and text {name} \"{text}\".",
            "End flight mode, then send {name} the message \"{text}\".",
            "I've landed: leave airplane mode and tell {name} by SMS \"{text}\".",
            "Get out of flight mode so that you can send \"{text}\" to {name}, and send it.",
            "Plane mode off, and an SMS to {name} afterwards: \"{text}\".",
            "Back on the ground. Radios on again, and let {name} know \"{text}\".",
        ],
        zh: [
            "关闭飞行模式，然后给{name}发短信“{text}”。",
            "退出飞行模式，再把“{text}”发给{name}。",
            "我落地了：关掉飞行模式，发短信告诉{name}“{text}”。",
            "先结束飞行模式，好给{name}发“{text}”，然后发出去。",
            "飞行模式取消，之后给{name}短信：“{text}”。",
            "到地面了，恢复信号，跟{name}说“{text}”。",
        ],
    }],
    plan: |draw| {
        let (name, phone) = draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002")]);
        let text = draw.word(pools::MESSAGES);
        Plan::new()
            .word("name", name)
            .word("text", text)
            .put("net", "airplane", world::airplane_on())
            .put("net", "wifi", world::wifi(None))
            .patch("net", "mobile", json!({"on": false}))
            .patch("radio", "bluetooth", json!({"on": false, "connected": []}))
            .call("manage_airplane_mode", json!({"action": "disable"}))
            .call("send_message", json!({"contact": name, "content": text}))
            .is("net", "airplane", "/on", false)
            .exists("messages", &[("/peer", json!(phone)), ("/body", json!(text)), ("/direction", json!("out"))])
            .only(&["net/airplane", "net/wifi", "net/mobile", "radio/bluetooth", "messages"])
    },
};
