//! Events, invitations and what depends on the day.

use serde_json::json;

use super::category::{CONFIRM, CROSS_APP, MISSING, ORDERED, QUERY, SINGLE};
use super::{Family, Phrases};
use crate::phone::draw::Time;
use crate::phone::plan::Plan;
use crate::phone::{pools, world};

pub(super) const FAMILIES: &[Family] = &[
    EVENT_CREATE,
    EVENT_DAY_MISSING,
    SERIES_MOVED_ONCE,
    EVENT_DELETE,
    INVITE_ANSWERED,
    ALARM_BEFORE_EVENT,
    DAYS_LATER,
];

const EVENT_CREATE: Family = Family {
    name: "event-create",
    category: SINGLE,
    phrases: &[Phrases {
        en: [
            "Put \"{title}\" in my calendar on {day} from {start} to {end}.",
            "Add an event {title} on {day}, {start} until {end}.",
            "Schedule {title} for {day} at {start}, ending at {end}.",
            "Create a calendar entry: {title}, {day}, {start} to {end}.",
            "Block {day} between {start} and {end} for {title}.",
            "I've got {title} on {day}, {start} through {end}; note it in the agenda.",
        ],
        zh: [
            "在日历里加上“{title}”，{day}{start}到{end}。",
            "添加日程{title}，{day}，{start}至{end}。",
            "把{title}安排在{day}{start}，{end}结束。",
            "新建日历事件：{title}，{day}，从{start}到{end}。",
            "{day}{start}到{end}留给{title}。",
            "{day}有{title}，{start}开始{end}完，记进行程。",
        ],
    }],
    plan: |draw| {
        let title = draw.word(pools::EVENTS);
        let day = draw.day();
        let start = draw.time(9, 18);
        let end = Time { hour: start.hour + 1, minute: start.minute };
        Plan::new()
            .word("title", title)
            .word("day", day.spoken(draw.tongue()))
            .word("start", start.spoken(draw.tongue()))
            .word("end", end.spoken(draw.tongue()))
            .call(
                "manage_schedule",
                json!({"action": "create", "event": title, "datetime": day.at(start), "endTime": day.at(end)}),
            )
            .exists(
                "events",
                &[("/title", json!(title)), ("/start", json!(day.at(start))), ("/end", json!(day.at(end)))],
            )
            .only(&["events"])
    },
};

const EVENT_DAY_MISSING: Family = Family {
    name: "event-day-missing",
    category: MISSING,
    phrases: &[
        Phrases {
            en: [
                "Put {title} in my calendar from {start} to {end}. Ask me for the day.",
                "Schedule {title}, {start} until {end}; I haven't said on which day.",
                "Add {title} to the calendar, {start} to {end}. You need the day from me.",
                "I want {title} in the calendar from {start} to {end}, find out from me which day.",
                "Book {title} between {start} and {end}, on a day that I have yet to tell you.",
                "{title}, {start} through {end}. The date? Check with me.",
            ],
            zh: [
                "把{title}加进日历，{start}到{end}，哪天你问我。",
                "安排{title}，{start}至{end}，日期我还没说。",
                "日历里加上{title}，{start}到{end}，具体哪天要问我。",
                "我想在日历记上{title}，从{start}到{end}，先向我确认日期。",
                "给{title}留出{start}到{end}，是哪一天我还没告诉你。",
                "{title}，{start}开始{end}完，日子嘛跟我核对一下。",
            ],
        },
        Phrases {
            en: [
                "Put {title} in my calendar from {start} to {end} on {day}.",
                "Schedule {title} on {day}, {start} until {end}.",
                "Add {title} to the calendar on {day}, {start} to {end}.",
                "I want {title} in the calendar for {day} from {start} to {end}.",
                "Book {title} between {start} and {end} on {day}.",
                "{title}, {start} through {end}, on {day}. In the agenda, please.",
            ],
            zh: [
                "把{title}加进日历，{day}{start}到{end}。",
                "安排{title}，{day}，{start}至{end}。",
                "日历里加上{day}的{title}，{start}到{end}。",
                "我想在日历记上{day}从{start}到{end}的{title}。",
                "给{title}留出{day}{start}到{end}。",
                "{title}，{day}{start}开始{end}完，记到行程里。",
            ],
        },
    ],
    plan: |draw| {
        let title = draw.word(pools::EVENTS);
        let day = draw.day();
        let start = draw.time(9, 18);
        let end = Time { hour: start.hour + 1, minute: start.minute };
        let spoken = day.spoken(draw.tongue());
        let words = ["day", "date", "when", "哪天", "哪一天", "日期", "几号", "什么时候"];
        let plan = Plan::new()
            .word("title", title)
            .word("start", start.spoken(draw.tongue()))
            .word("end", end.spoken(draw.tongue()));
        let plan = if draw.branch() {
            plan.slot("day", &words, &spoken).ask(draw.say("On which day?", "请问是哪一天？")).asked(&words)
        } else {
            plan.word("day", &spoken).phrased(1).category(SINGLE)
        };
        plan.call(
            "manage_schedule",
            json!({"action": "create", "event": title, "datetime": day.at(start), "endTime": day.at(end)}),
        )
        .exists("events", &[("/title", json!(title)), ("/start", json!(day.at(start)))])
        .only(&["events"])
    },
};

const SERIES_MOVED_ONCE: Family = Family {
    name: "series-moved-once",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "Move only this {day}'s {title} to {after} to {until}, the weekly series stays.",
            "The weekly {title} on {day} should be from {after} to {until}, just this once.",
            "Reschedule the {title} of {day} to {after} until {until} and leave the other weeks alone.",
            "For {day} only, {title} takes place from {after} to {until}.",
            "One exception: {title} on {day} runs {after} through {until}, not the rest of the series.",
            "Shift {day}'s {title}, no other occurrence, to {after} until {until}.",
        ],
        zh: [
            "只把{day}这次的{title}改到{after}至{until}，每周的系列不变。",
            "每周的{title}，{day}这一次改成{after}到{until}。",
            "把{day}的{title}调整为{after}到{until}，其他周不要动。",
            "仅{day}这天，{title}改在{after}到{until}。",
            "来个例外：{day}的{title}从{after}到{until}，别的照旧。",
            "{day}那次{title}挪到{after}至{until}，其余各次不动。",
        ],
    }],
    plan: |draw| {
        let title = draw.word(pools::EVENTS);
        let day = crate::phone::draw::Day(draw.pick(&[10, 17, 24]));
        let before = draw.time(9, 11);
        let after = draw.time(14, 17);
        let until = Time { hour: after.hour + 1, minute: after.minute };
        let key = draw.pick(&["event-0031", "event-0042", "event-0057"]);
        let first = crate::phone::draw::Day(3);
        let ends = Time { hour: before.hour + 1, minute: before.minute };
        Plan::new()
            .word("title", title)
            .word("day", day.spoken(draw.tongue()))
            .word("after", after.spoken(draw.tongue()))
            .word("until", until.spoken(draw.tongue()))
            .put("events", key, world::event(key, title, &first.at(before), &first.at(ends), Some("weekly")))
            .call("manage_schedule", json!({"action": "query", "event": title, "dateRange": {"from": day.text(), "to": day.text()}}))
            .call("manage_schedule", json!({"action": "update", "eventId": key, "scope": "this", "occurrenceDate": day.text(), "datetime": day.at(after), "endTime": day.at(until)}))
            .is("events", key, "/start", first.at(before))
            .exists("events", &[("/title", json!(title)), ("/start", json!(day.at(after)))])
            .reaches_gold()
    },
};

const EVENT_DELETE: Family = Family {
    name: "event-delete",
    category: CONFIRM,
    phrases: &[Phrases {
        en: [
            "Delete {title} on {day} from my calendar.",
            "Cancel the event {title} of {day}.",
            "Remove the calendar entry {title} on {day}.",
            "{title} on {day} is called off, take it out of my calendar.",
            "Strike {title} off the agenda for {day}.",
            "There will be no {title} on {day}, clear the entry.",
        ],
        zh: [
            "从日历删除{day}的{title}。",
            "取消{day}的{title}日程。",
            "移除{day}的日历事件{title}。",
            "{day}的{title}取消了，从日历里去掉。",
            "把{day}行程里的{title}划掉。",
            "{day}不搞{title}了，清掉那条安排。",
        ],
    }],
    plan: |draw| {
        let (gone, kept) = draw.pair(pools::EVENTS);
        let (gone, kept) = (draw.tongue().of(gone), draw.tongue().of(kept));
        let day = draw.day();
        let (start, later) = (draw.time(9, 11), draw.time(14, 17));
        let end = |time: Time| Time { hour: time.hour + 1, minute: time.minute };
        let (key, other) = draw.pair(&["event-0031", "event-0042", "event-0057"]);
        Plan::new()
            .word("title", gone)
            .word("day", day.spoken(draw.tongue()))
            .put("events", key, world::event(key, gone, &day.at(start), &day.at(end(start)), None))
            .put("events", other, world::event(other, kept, &day.at(later), &day.at(end(later)), None))
            .call("manage_schedule", json!({"action": "query", "dateRange": {"from": day.text(), "to": day.text()}}))
            .confirmed(
                "manage_schedule",
                json!({"action": "delete", "eventId": key}),
                draw.say("Shall I delete this event?", "确定要删除这个日程吗？"),
            )
            .absent("events", &[("/title", json!(gone))])
            .exists("events", &[("/title", json!(kept))])
            .reaches_gold()
    },
};

const INVITE_ANSWERED: Family = Family {
    name: "invite-answered",
    category: ORDERED,
    phrases: &[Phrases {
        en: [
            "{answer} the invitation to {title}.",
            "There's a calendar invite for {title}: {answer} it.",
            "Please {answer} the meeting invitation {title}.",
            "{answer} {title}, the invite in my calendar.",
            "Reply to the {title} invitation for me: {answer}.",
            "I got asked to join {title}. {answer}, please.",
        ],
        zh: [
            "{answer}“{title}”的邀请。",
            "日历里有{title}的邀请，{answer}它。",
            "请{answer}会议邀请{title}。",
            "我日历中的邀请{title}，{answer}吧。",
            "替我回复{title}的邀请：{answer}。",
            "有人请我参加{title}，{answer}。",
        ],
    }],
    plan: |draw| {
        let title = draw.word(pools::EVENTS);
        let (response, answer, english, chinese) =
            draw.pick(&[("accept", "accepted", "Accept", "接受"), ("decline", "declined", "Decline", "拒绝")]);
        let spoken = draw.tongue().of((english, chinese));
        let day = draw.day();
        let start = draw.time(9, 16);
        let end = Time { hour: start.hour + 1, minute: start.minute };
        let key = draw.pick(&["event-0031", "event-0042", "event-0057"]);
        let mut invite = world::event(key, title, &day.at(start), &day.at(end), None);
        if let Some(organizer) = invite.get_mut("organizer") {
            *organizer = json!("Alice Wang");
        }
        Plan::new()
            .word("title", title)
            .word("answer", spoken)
            .put("events", key, invite)
            .call(
                "manage_schedule",
                json!({"action": "query", "event": title, "dateRange": {"from": "2026-03-02", "to": "2026-03-31"}}),
            )
            .call("respond_calendar_invite", json!({"eventId": key, "response": response}))
            .is("events", key, "/response", answer)
            .only(&["events"])
    },
};

const ALARM_BEFORE_EVENT: Family = Family {
    name: "alarm-before-event",
    category: CROSS_APP,
    phrases: &[Phrases {
        en: [
            "Look up when {title} starts today and set an alarm {minutes} minutes before it.",
            "Set an alarm {minutes} minutes ahead of today's {title}, the time is in my calendar.",
            "I have {title} today. Check the calendar and wake me {minutes} minutes before it begins.",
            "Create an alarm {minutes} minutes earlier than the start of {title} in today's calendar.",
            "Ring {minutes} minutes in advance of {title}; today's agenda says when that is.",
            "Find today's {title} and give me a {minutes} minute head start with an alarm.",
        ],
        zh: [
            "查一下今天{title}几点开始，提前{minutes}分钟设个闹钟。",
            "在今天的{title}之前{minutes}分钟设闹钟，时间在我的日历里。",
            "我今天有{title}，看下日历，开始前{minutes}分钟叫我，设个闹钟。",
            "按今天日历里{title}的开始时间，提前{minutes}分钟新建闹钟。",
            "{title}开始前{minutes}分钟响铃，今天的行程里写着几点。",
            "找到今天的{title}，用闹钟提前{minutes}分钟提醒我。",
        ],
    }],
    plan: |draw| {
        let title = draw.word(pools::EVENTS);
        let start = draw.time(11, 19);
        let end = Time { hour: start.hour + 1, minute: start.minute };
        let minutes = draw.pick(&[10, 15, 20, 25, 30, 45]);
        let alarm = start.earlier(minutes);
        let today = crate::phone::draw::Day(2);
        let key = draw.pick(&["event-0031", "event-0042", "event-0057"]);
        Plan::new()
            .word("title", title)
            .word("minutes", minutes)
            .put("events", key, world::event(key, title, &today.at(start), &today.at(end), None))
            .call("manage_schedule", json!({"action": "query"}))
            .call("manage_alarm", json!({"action": "create", "time": alarm.text()}))
            .exists("alarms", &[("/time", json!(alarm.text())), ("/on", json!(true))])
            .only(&["alarms"])
    },
};

const DAYS_LATER: Family = Family {
    name: "days-later",
    category: QUERY,
    phrases: &[Phrases {
        en: [
            "Which date is {days} days after March {from}, 2026? Answer as YYYY-MM-DD.",
            "Calculate the date {days} days after March {from}, 2026, in the form YYYY-MM-DD.",
            "What day do I get when I add {days} days to March {from}, 2026? I need it as YYYY-MM-DD.",
            "Add {days} days to March {from}, 2026 and tell me the date like YYYY-MM-DD.",
            "Starting on March {from}, 2026, where do {days} days take me? YYYY-MM-DD, please.",
            "Date arithmetic: March {from}, 2026 plus {days} days, written YYYY-MM-DD.",
        ],
        zh: [
            "2026年3月{from}日之后{days}天是哪天？用YYYY-MM-DD回答。",
            "算一下2026年3月{from}日加{days}天的日期，格式YYYY-MM-DD。",
            "2026年3月{from}号再过{days}天是几号？按YYYY-MM-DD告诉我。",
            "给2026年3月{from}日加上{days}天，日期写成YYYY-MM-DD。",
            "从2026年3月{from}日起往后数{days}天是哪一天，YYYY-MM-DD。",
            "日期推算：2026年3月{from}日加{days}天，YYYY-MM-DD格式。",
        ],
    }],
    plan: |draw| {
        let from = draw.number(2, 28, 1);
        let days = draw.number(35, 60, 1);
        // Days of March, then of April, then of May.
        let answer = match from + days {
            day @ ..=61 => format!("2026-04-{:02}", day - 31),
            day => format!("2026-05-{:02}", day - 61),
        };
        Plan::new()
            .word("from", from)
            .word("days", days)
            .call("calculate_date", json!({"base": format!("2026-03-{from:02}"), "offset": days, "unit": "days"}))
            .finish(&answer)
            .answers(&[&answer])
            .only(&[])
    },
};
