//! The calendar app: events with a zone and a repetition, free time, and facts of the calendar. It knows no other app; a recurring event is
//! only changed with a stated scope (world rule 11).

mod dates;
mod event;
mod facts;
mod free;
mod schedule;

use loopwright_sdk::{Collection, Identity, Requirement, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "time_management";

struct Calendar;

impl ToolPlugin for Calendar {
    const IDENTITY: Identity = identity!("calendar");

    fn tools() -> Vec<Tool> {
        let permission = Requirement::Permission("calendar");
        vec![
            Tool::new("manage_schedule", schedule::manage)
                .domain(DOMAIN)
                .en(
                    "Creates, changes, deletes or tells calendar events.",
                    "calendar event, meeting, appointment, schedule, agenda, add to calendar, book a meeting, move the meeting, reschedule, cancel the meeting, what is on my calendar, invite, dentist, today's meeting, when is the meeting, kickoff, lecture, class, lunch with, event today",
                )
                .zh("新建、修改、删除或查询日历日程。", "日程 会议 约会 安排 日历 加个日程 开会 改会议时间 取消会议 今天有什么安排 预约 行程 提醒我开会 今天的会 几点开会 日程表 聚餐 课程 活动")
                .when("action", &["query"])
                .reads()
                .requires(permission)
                .when("action", &["delete"])
                .destructive()
                .requires(permission)
                .writes()
                .requires(permission),
            Tool::new("query_free_busy", free::query)
                .domain(DOMAIN)
                .en(
                    "Finds free time in the calendar between two days.",
                    "free time, when am i free, available slot, busy, find a gap, free slot, availability, open time, any time for a meeting",
                )
                .zh("查询两天之间日历里的空闲时间。", "空闲时间 什么时候有空 有空 忙不忙 空档 可用时间 找个时间 哪天有时间")
                .reads()
                .requires(permission),
            Tool::new("respond_calendar_invite", schedule::respond)
                .domain(DOMAIN)
                .en(
                    "Accepts, declines or tentatively accepts an invitation to an event.",
                    "accept invitation, decline invite, respond to invitation, tentative, rsvp, say yes to the meeting, turn down the meeting, join the event",
                )
                .zh("接受、拒绝或暂定日程邀请。", "接受邀请 拒绝邀请 暂定 回复邀请 参加会议 不参加 答应会议 邀请")
                .writes()
                .requires(Requirement::Network)
                .requires(permission),
            Tool::new("calendar_service", facts::query)
                .domain(DOMAIN)
                .en(
                    "Tells calendar facts of a day: weekday, public holiday, or whether it is a working day.",
                    "what day of the week, is it a holiday, public holiday, working day, weekday, day off, is that a workday, bank holiday",
                )
                .zh("查询某天的日历信息：星期几、节假日、是否工作日。", "星期几 周几 节假日 放假 工作日 是不是假期 上班吗 调休 法定假日 农历")
                .reads(),
            Tool::new("calculate_date", facts::calculate)
                .domain(DOMAIN)
                .en(
                    "Adds days, weeks, months or years to a date, or counts the days between two dates.",
                    "days between dates, date in days, how many days until, add days to date, weeks from now, date difference, countdown days, what date is, days left, starting from a date, days later, days after, days before, which date is that",
                )
                .zh("日期加减，或计算两个日期相隔多少天。", "日期计算 相隔多少天 多少天后 几天后是几号 距离 倒数日 还有几天 日期加减 几周后 从某天起 之后是哪天 往后数 往前数")
                .reads(),
        ]
    }

    fn storage() -> Storage {
        Storage::new()
            .owns(Collection::new("events").documents::<event::Event>().bookkeeping("/created").bookkeeping("/modified").index("/title"))
            .owns(Collection::new("calendar").initial(
                "facts",
                json!({
                    "holidays": {"2026-02-17": "Spring Festival", "2026-04-05": "Qingming Festival", "2026-05-01": "Labour Day", "2026-06-19": "Dragon Boat Festival", "2026-09-25": "Mid-Autumn Festival", "2026-10-01": "National Day"},
                    "workdays": ["2026-05-09", "2026-10-10"],
                }),
            ))
    }
}

loopwright_sdk::export_tool!(Calendar);

#[cfg(test)]
mod tests;
