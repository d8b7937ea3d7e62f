//! What comes up at its time, what no longer holds, and what contradicts itself.

use serde_json::json;

use super::category::{MEMORY, MISSING};
use super::recall::two_ids;
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] = &[DUE_NOW, DUE_MEANWHILE, EXPIRED_SPACE, CONTESTED_NUMBER];

const DUE_NOW: Family = Family {
    name: "due-now",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "If a reminder of mine has come up, set the alarm that it asks for.",
            "Check what I wanted to be reminded of now and create that alarm.",
            "A reminder of mine is due; set the alarm it names.",
            "Take care of the reminder that is due at present: it is about an alarm.",
            "Whatever alarm my reminder for this morning speaks of, make it.",
            "See to the reminder that just popped up by setting its alarm.",
        ],
        zh: [
            "如果有我的提醒到点了，就按它说的设闹钟。",
            "看看我现在要被提醒什么，把那个闹钟建好。",
            "我的一个提醒到时间了，设好它说的闹钟。",
            "处理一下现在到期的提醒，是关于闹钟的。",
            "今天早上的提醒说的是哪个闹钟，就定哪个闹钟。",
            "刚弹出来的提醒，照着把闹钟设了。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let (time, later) = (draw.time(10, 14), draw.time(16, 20));
        let (due, coming) = two_ids(draw);
        let says = |time: crate::phone::draw::Time| match tongue.tag() {
            "zh" => format!("设一个{}的闹钟", time.spoken(tongue)),
            _ => format!("Set an alarm for {}", time.spoken(tongue)),
        };
        let record = |key: &str, content: &str, at: &str| {
            world::memory_with(key, "prospective", "important_event", content, &[("due", json!(at))])
        };
        Plan::new()
            .put("memory", due, record(due, &says(time), "2026-03-02T09:00:00"))
            .put("memory", coming, record(coming, &says(later), "2026-03-03T09:00:00"))
            .call("manage_alarm", json!({"action": "create", "time": time.text()}))
            .exists("alarms", &[("/time", json!(time.text())), ("/on", json!(true))])
            .absent("alarms", &[("/time", json!(later.text()))])
            .has("memory", due, "/fired", true)
            .has("memory", coming, "/fired", false)
            .only(&["alarms"])
    },
};

const DUE_MEANWHILE: Family = Family {
    name: "due-meanwhile",
    category: MEMORY,
    phrases: &[Phrases {
        en: [
            "Turn dark mode on. Should a reminder of mine come up meanwhile, send the text message that it asks for.",
            "Enable dark mode, and when one of my reminders shows up, send the message it speaks of.",
            "Switch to dark mode; a reminder will appear after that, so send the SMS it wants.",
            "Dark mode, please. After that see whether I am reminded to text somebody, and do it.",
            "Go dark on the screen; should I be reminded of a message while you are at it, send that message as well.",
            "First the dark theme, then the text message that my reminder brings up.",
        ],
        zh: [
            "打开深色模式。期间如果我的提醒到点了，就按提醒发短信。",
            "开启深色模式，等我的提醒出现时，把它说的短信发出去。",
            "切换到深色模式，之后会有提醒弹出，照它发短信。",
            "深色模式打开。然后看看有没有提醒我给谁发消息，有就发。",
            "屏幕换成深色模式；这时候要是提醒我发短信，也一起发了。",
            "先开深色主题，再发提醒里说的那条短信。",
        ],
    }],
    plan: |draw| {
        let (name, phone) = draw.pick(&[("Alice Wang", "13811110001"), ("Bob Li", "13811110002")]);
        let text = draw.word(pools::MESSAGES);
        let (due, _) = two_ids(draw);
        let content = match draw.tongue().tag() {
            "zh" => format!("给{name}发短信：“{text}”"),
            _ => format!("Text {name}: \"{text}\""),
        };
        Plan::new()
            .patch("display", "dark_mode", json!({"on": false}))
            .put(
                "memory",
                due,
                world::memory_with(
                    due,
                    "prospective",
                    "important_event",
                    &content,
                    &[("due", json!("2026-03-02T09:00:20"))],
                ),
            )
            .call("manage_dark_mode", json!({"action": "enable"}))
            .call("send_message", json!({"contact": name, "content": text}))
            .is("display", "dark_mode", "/on", true)
            .exists("messages", &[("/peer", json!(phone)), ("/body", json!(text)), ("/direction", json!("out"))])
            .has("memory", due, "/fired", true)
            .only(&["display/dark_mode", "messages"])
    },
};

const EXPIRED_SPACE: Family = Family {
    name: "expired-space",
    category: MISSING,
    phrases: &[Phrases {
        en: [
            "Make a note called {title} with the number of my parking space.",
            "Write my parking space number into a new note titled {title}.",
            "I need a note, {title}, that says where I am allowed to park: the number of the space.",
            "Create the note {title} and put my parking space in it.",
            "Jot down under {title} which parking space is mine.",
            "Put my parking space's number on file as a note, headed {title}.",
        ],
        zh: [
            "新建一条叫{title}的备忘录，写上我的车位号。",
            "把我的车位号写进标题为{title}的新备忘录。",
            "我需要一条备忘录{title}，写明我的车位号。",
            "创建备忘录{title}，内容是我的车位。",
            "在{title}下面记一下哪个车位是我的，写成备忘录。",
            "把我的车位号存成备忘录，标题{title}。",
        ],
    }],
    plan: |draw| {
        let title = draw.word(&[("Parking", "停车"), ("Car", "汽车"), ("Garage", "车库")]);
        let (now, before) = draw.pair(&["P12", "P27", "P34", "P48", "P53", "P66"]);
        let (one, other) = two_ids(draw);
        let says = |space: &str| match draw.tongue().tag() {
            "zh" => format!("我的车位号是{space}"),
            _ => format!("My parking space is {space}"),
        };
        let expired = draw.branch();
        let until = json!(if expired { "2026-02-28T23:59:59" } else { "2026-12-31T23:59:59" });
        let held = if expired { before } else { now };
        let record = world::memory_with(one, "long_term", "important_info", &says(held), &[("valid_until", until)]);
        let unrelated = draw.say("Takes the number 5 bus on Fridays", "周五坐5路公交");
        let words = ["parking", "space", "park", "车位", "停车"];
        let plan = Plan::new()
            .word("title", title)
            .put("memory", one, record)
            .put("memory", other, world::memory(other, "long_term", "routines_habits", unrelated))
            .recall(draw.say("number of my parking space", "我的车位号"));
        let plan = if expired {
            plan.slot("space", &words, now)
                .ask(draw.say("Which parking space do you have now?", "您现在的车位号是多少？"))
                .asked(&words)
        } else {
            plan.category(MEMORY)
        };
        plan.call("manage_note", json!({"action": "create", "title": title, "content": now}))
            .says("notes", "/body", now, &[("/title", json!(title))])
            .says_not("notes", "/body", before, &[])
            .only(&["notes"])
    },
};

const CONTESTED_NUMBER: Family = Family {
    name: "contested-number",
    category: MISSING,
    phrases: &[Phrases {
        en: [
            "Add my {who} to the contacts as {name}; you know the phone number.",
            "Save a contact called {name}, with the number of my {who} that I told you.",
            "Create the contact {name} for my {who}, the phone number is one you remember.",
            "My {who} should be in the contacts as {name}. I gave you the number before.",
            "Put {name}, my {who}, into the address book, number as you have it in mind.",
            "The phone book lacks my {who}: {name}, and the number from your memory.",
        ],
        zh: [
            "把我的{who}加到通讯录，名字{name}，号码你知道。",
            "保存联系人{name}，用我告诉过你的{who}的号码。",
            "给我的{who}新建联系人{name}，电话是你记得的那个。",
            "我的{who}要存进联系人，叫{name}，号码以前给过你。",
            "把{name}，也就是我的{who}，写进电话簿，号码用你记着的。",
            "电话簿里缺我的{who}：{name}，号码在你的记忆里。",
        ],
    }],
    plan: |draw| {
        let tongue = draw.tongue();
        let who = draw.pick(&[("dentist", "牙医"), ("plumber", "水管工"), ("landlord", "房东"), ("tailor", "裁缝")]);
        let name = draw.word(pools::PEOPLE);
        let (first, second) = (draw.phone(), draw.phone());
        let (one, other) = two_ids(draw);
        let says = |number: &str| match tongue.tag() {
            "zh" => format!("{}的电话号码是{number}", who.1),
            _ => format!("The phone number of my {} is {number}", who.0),
        };
        let record = |key: &str, number: &str| {
            world::memory_with(key, "long_term", "important_info", &says(number), &[("claim", json!("telephone"))])
        };
        let words = ["number", "which", "telephone", "phone", "号码", "哪个", "电话"];
        let contested = draw.branch();
        let plan = Plan::new().word("who", tongue.of(who)).word("name", name).put("memory", one, record(one, &first));
        let plan = if contested { plan.put("memory", other, record(other, &second)) } else { plan };
        let plan = plan.recall(match tongue.tag() {
            "zh" => format!("{}的电话号码", who.1),
            _ => format!("phone number of my {}", who.0),
        });
        let plan =
            if contested {
                plan.slot("number", &words, &second)
                    .ask(draw.say(
                        "I have two numbers on record. Which number is right?",
                        "我记了两个号码，哪个号码是对的？",
                    ))
                    .asked(&words)
            } else {
                plan.category(MEMORY)
            };
        let number = if contested { &second } else { &first };
        plan.call("add_contact", json!({"name": name, "phoneNumber": number}))
            .row(json!({"collection": "contacts", "exists": {"where": [{"at": "/name", "test": "eq", "value": name}, {"at": "/phones", "test": "contains", "value": number}]}, "count": 1}))
            .counted("contacts", &[("/name", json!(name))], 1)
            .only(&["contacts"])
    },
};
