//! Alarms.

use serde_json::json;

use super::category::{CONDITIONAL, MISSING, ORDERED, PARALLEL, SINGLE};
use super::{Family, Phrases};
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] =
    &[ALARM_CREATE, ALARM_REPEATED, ALARM_TIME_MISSING, ALARM_DELETE, ALARM_MOVE, ALARM_OR_CREATE, TWO_ALARMS];

const ALARM_CREATE: Family = Family {
    name: "alarm-create",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set an alarm for {time} called {title}.",
            "I need an alarm at {time} with the title {title}.",
            "Create an alarm: {time}, title {title}.",
            "Wake me at {time}; name the alarm {title}.",
            "Ring at {time} for \"{title}\".",
            "Have the phone rouse me at {time}, labelled {title}.",
        ],
        zh: [
            "设一个{time}的闹钟，名字叫{title}。",
            "我要一个{time}的闹钟，标题{title}。",
            "新建闹钟：{time}，标题是{title}。",
            "{time}叫醒我，闹钟名称{title}。",
            "{time}响铃，备注“{title}”。",
            "{time}让手机喊我，标签写{title}。",
        ],
    }],
    plan: |draw| {
        let time = draw.time(5, 22);
        let title = draw.word(pools::LABELS);
        Plan::new()
            .word("time", time.spoken(draw.tongue()))
            .word("title", title)
            .call("manage_alarm", json!({"action": "create", "time": time.text(), "title": title}))
            .exists("alarms", &[("/time", json!(time.text())), ("/title", json!(title)), ("/on", json!(true))])
            .only(&["alarms"])
    },
};

const ALARM_REPEATED: Family = Family {
    name: "alarm-repeated",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Set an alarm for {time} every {days}.",
            "Wake me up at {time} on {days}, each week.",
            "I need a repeating alarm at {time} on {days}.",
            "Create an alarm that rings at {time} every {days}.",
            "Each {days}, get me up at {time}.",
            "A weekly wake-up at {time}, {days} only.",
        ],
        zh: [
            "设一个每{days}{time}的闹钟。",
            "每{days}{time}叫醒我。",
            "我要一个{days}{time}重复响的闹钟，每周都响。",
            "新建闹钟，每{days}{time}响铃。",
            "每逢{days}，{time}把我叫起来。",
            "只在{days}，{time}响，每周重复。",
        ],
    }],
    plan: |draw| {
        let (days, english, chinese) = draw.pick(&[
            (["tue", "thu"], "Tuesday and Thursday", "周二和周四"),
            (["mon", "wed"], "Monday and Wednesday", "周一和周三"),
            (["wed", "fri"], "Wednesday and Friday", "周三和周五"),
            (["sat", "sun"], "Saturday and Sunday", "周六和周日"),
        ]);
        let spoken = draw.tongue().of((english, chinese));
        let time = draw.time(5, 9);
        Plan::new()
            .word("time", time.spoken(draw.tongue()))
            .word("days", spoken)
            .call("manage_alarm", json!({"action": "create", "time": time.text(), "repeatDays": days}))
            .exists("alarms", &[("/time", json!(time.text())), ("/days", json!(days)), ("/on", json!(true))])
            .only(&["alarms"])
    },
};

const ALARM_TIME_MISSING: Family = Family {
    name: "alarm-time-missing",
    category: MISSING,
    phrases: &[
        Phrases {
            en: [
                "Set an alarm called {title}.",
                "I need an alarm for {title}.",
                "Create an alarm named {title}, please.",
                "Make me an alarm with the title {title}.",
                "Let something ring for {title}.",
                "An alarm labelled {title}, can you do that?",
            ],
            zh: [
                "设一个叫{title}的闹钟。",
                "我需要一个{title}的闹钟。",
                "请新建一个名为{title}的闹钟。",
                "给我定个闹钟，标题{title}。",
                "{title}的时候响铃提醒我。",
                "帮我弄个闹钟，备注{title}。",
            ],
        },
        Phrases {
            en: [
                "Set an alarm called {title}, for {time}.",
                "I need an alarm for {title} at {time}.",
                "Create an alarm named {title} at {time}, please.",
                "Make me an alarm with the title {title}; the time is {time}.",
                "Let something ring for {title} at {time}.",
                "An alarm labelled {title} at {time}, can you do that?",
            ],
            zh: [
                "设一个叫{title}的闹钟，{time}的。",
                "我需要一个{time}的{title}闹钟，名称就写{title}。",
                "请新建一个名为{title}的闹钟，时间{time}。",
                "给我定个{time}的闹钟，标题{title}。",
                "{time}响铃提醒我，标签{title}。",
                "帮我弄个{time}的闹钟，备注{title}。",
            ],
        },
    ],
    plan: |draw| {
        let time = draw.time(6, 21);
        let title = draw.word(pools::LABELS);
        let spoken = time.spoken(draw.tongue());
        let words = ["time", "when", "o'clock", "hour", "几点", "时间", "什么时候", "何时"];
        let plan = Plan::new().word("title", title);
        let plan = if draw.branch() {
            plan.slot("time", &words, &spoken)
                .ask(draw.say("What time should the alarm ring?", "闹钟要几点响？"))
                .asked(&words)
        } else {
            plan.word("time", &spoken).phrased(1).category(SINGLE)
        };
        plan.call("manage_alarm", json!({"action": "create", "time": time.text(), "title": title}))
            .exists("alarms", &[("/time", json!(time.text())), ("/title", json!(title))])
            .only(&["alarms"])
    },
};

const ALARM_DELETE: Family = Family {
    name: "alarm-delete",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Delete the alarm called {title}.",
            "Remove my {title} alarm.",
            "I don't need the alarm {title} any more, delete it.",
            "Get rid of the alarm named {title}.",
            "The {title} wake-up can go for good.",
            "Scrap the alarm labelled {title}.",
        ],
        zh: [
            "删除名为{title}的闹钟。",
            "把{title}的闹钟删掉。",
            "不需要{title}那个闹钟了，删了吧。",
            "移除标题是{title}的闹钟。",
            "{title}的叫醒以后都不要了，清掉。",
            "把备注{title}的那个闹铃去掉。",
        ],
    }],
    plan: |draw| {
        let (gone, kept) = draw.pair(pools::LABELS);
        let (gone, kept) = (draw.tongue().of(gone), draw.tongue().of(kept));
        let (first, second) = (draw.time(5, 8), draw.time(17, 21));
        let (key, other) = draw.pair(&["alarm-0031", "alarm-0042", "alarm-0057"]);
        Plan::new()
            .word("title", gone)
            .put("alarms", key, world::alarm(key, &first.text(), gone, &[]))
            .put("alarms", other, world::alarm(other, &second.text(), kept, &[]))
            .call("manage_alarm", json!({"action": "query"}))
            .call("manage_alarm", json!({"action": "delete", "alarmId": key}))
            .absent("alarms", &[("/title", json!(gone))])
            .exists("alarms", &[("/title", json!(kept))])
            .reaches_gold()
    },
};

const ALARM_MOVE: Family = Family {
    name: "alarm-move",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Move the alarm {title} to {time}.",
            "Change my {title} alarm to {time}.",
            "The alarm called {title} should ring at {time} instead.",
            "Set the existing {title} alarm to {time}.",
            "Shift the {title} wake-up so that it goes off at {time}.",
            "My {title} alarm has the wrong time, {time} is right.",
        ],
        zh: [
            "把{title}的闹钟改到{time}。",
            "我的{title}闹钟调整为{time}。",
            "名为{title}的闹钟改成{time}响。",
            "将现有的{title}闹钟设到{time}。",
            "{title}那个闹铃挪到{time}。",
            "{title}闹钟的时间不对，应该是{time}。",
        ],
    }],
    plan: |draw| {
        let title = draw.word(pools::LABELS);
        let (before, after) = (draw.time(5, 7), draw.time(8, 11));
        let key = draw.pick(&["alarm-0031", "alarm-0042", "alarm-0057"]);
        Plan::new()
            .word("title", title)
            .word("time", after.spoken(draw.tongue()))
            .put("alarms", key, world::alarm(key, &before.text(), title, &[]))
            .call("manage_alarm", json!({"action": "query"}))
            .call("manage_alarm", json!({"action": "update", "alarmId": key, "time": after.text()}))
            .is("alarms", key, "/time", after.text())
            .is("alarms", key, "/title", title)
            .reaches_gold()
    },
};

const ALARM_OR_CREATE: Family = Family {
    name: "alarm-enable-or-create",
    category: CONDITIONAL,
    phrases: &[Phrases {
        en: [
            "If there is already an alarm at {time}, switch it on; otherwise create one for {time}.",
            "Enable my {time} alarm if it exists, else make a new alarm at {time}.",
            "Check whether I have an alarm at {time}: turn it on if so, and create it if not.",
            "I need to be woken at {time}. Use the old alarm for that time if there is one, or set a new one.",
            "Ring at {time}: re-activate what is in the list for it, or add it where nothing is.",
            "Have a {time} wake-up ready, reviving the stored one or, failing that, with a fresh one.",
        ],
        zh: [
            "如果已经有{time}的闹钟，就打开它，否则新建一个{time}的闹钟。",
            "有{time}的闹钟就启用，没有就新建{time}的闹钟。",
            "看看我有没有{time}的闹钟：有就打开，没有就创建。",
            "{time}要叫醒我，有现成的那个时间的闹钟就用它，没有就设新的。",
            "{time}响铃：列表里有就重新开起来，没有就加上。",
            "准备好{time}的叫醒，存着的就恢复，不然就弄个新的。",
        ],
    }],
    plan: |draw| {
        let time = draw.time(5, 9);
        let plan =
            Plan::new().word("time", time.spoken(draw.tongue())).call("manage_alarm", json!({"action": "query"}));
        let key = draw.pick(&["alarm-0031", "alarm-0042", "alarm-0057"]);
        let plan = if draw.branch() {
            let mut alarm = world::alarm(key, &time.text(), "", &[]);
            if let Some(on) = alarm.get_mut("on") {
                *on = json!(false);
            }
            plan.put("alarms", key, alarm).call("manage_alarm", json!({"action": "enable", "alarmId": key}))
        } else {
            plan.call("manage_alarm", json!({"action": "create", "time": time.text()}))
        };
        plan.row(json!({"collection": "alarms", "exists": {"where": [{"at": "/time", "test": "eq", "value": time.text()}, {"at": "/on", "test": "eq", "value": true}]}, "count": 1}))
            .reaches_gold()
    },
};

const TWO_ALARMS: Family = Family {
    name: "two-alarms",
    category: PARALLEL,
    phrases: &[Phrases {
        en: [
            "Set two alarms, one at {first} and one at {second}.",
            "I need alarms for {first} and {second}.",
            "Create an alarm at {first} and another at {second}.",
            "Wake me at {first}, and again at {second}.",
            "Two rings please, {first} and then {second}.",
            "A first wake-up at {first} and a backup at {second}.",
        ],
        zh: [
            "设两个闹钟，一个{first}，一个{second}。",
            "我需要{first}和{second}的闹钟。",
            "新建{first}的闹钟，再建一个{second}的。",
            "{first}叫醒我，{second}再叫一次。",
            "响两次，{first}和{second}各一次。",
            "{first}先叫一遍，{second}备用再叫一遍。",
        ],
    }],
    plan: |draw| {
        let (first, second) = (draw.time(5, 6), draw.time(7, 9));
        Plan::new()
            .word("first", first.spoken(draw.tongue()))
            .word("second", second.spoken(draw.tongue()))
            .together(vec![
                ("manage_alarm", json!({"action": "create", "time": first.text()})),
                ("manage_alarm", json!({"action": "create", "time": second.text()})),
            ])
            .reaches_gold()
            .exists("alarms", &[("/time", json!(first.text()))])
            .exists("alarms", &[("/time", json!(second.text()))])
    },
};
