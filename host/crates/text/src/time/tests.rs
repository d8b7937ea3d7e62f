//! One table of expressions in both languages, each with the interval that a speaker would mean.

use jiff::civil::{DateTime, date};

use super::*;

/// Tuesday, 4 March 2025, 10:20:30.
fn now() -> DateTime {
    date(2025, 3, 4).at(10, 20, 30, 0)
}

fn start_of(text: &str, prefer: Prefer) -> Option<(String, Granularity)> {
    let expression = parse_time(text).unwrap_or_else(|| panic!("{text:?} was not read: {:?}", find_times(text)));
    let interval = resolve(&expression, &Reference { now: now(), prefer })?;
    assert!(interval.start < interval.end, "{text:?}: {interval:?}");
    Some((interval.start.to_string().replace(":00.", "."), interval.granularity))
}

fn check(rows: &[(&str, &str, Granularity)], prefer: Prefer) {
    for (text, start, granularity) in rows {
        assert_eq!(start_of(text, prefer), Some(((*start).to_owned(), *granularity)), "placing {text:?}");
    }
}

#[test]
fn places_english_dates() {
    use Granularity::{Day, Month, Week, Weekend, Year};
    check(
        &[
            ("today", "2025-03-04T00:00:00", Day),
            ("tomorrow", "2025-03-05T00:00:00", Day),
            ("the day after tomorrow", "2025-03-06T00:00:00", Day),
            ("Friday", "2025-03-07T00:00:00", Day),
            ("Tuesday", "2025-03-04T00:00:00", Day),
            ("next Friday", "2025-03-14T00:00:00", Day),
            ("this Sun", "2025-03-09T00:00:00", Day),
            ("last monday", "2025-02-24T00:00:00", Day),
            ("this weekend", "2025-03-08T00:00:00", Weekend),
            ("next week", "2025-03-10T00:00:00", Week),
            ("last month", "2025-02-01T00:00:00", Month),
            ("next year", "2026-01-01T00:00:00", Year),
            ("2025-03-04", "2025-03-04T00:00:00", Day),
            ("2025/12/31", "2025-12-31T00:00:00", Day),
            ("March 4th, 2026", "2026-03-04T00:00:00", Day),
            ("Mar. 3", "2026-03-03T00:00:00", Day),
            ("4 March", "2025-03-04T00:00:00", Day),
            ("the fifth of May 2025", "2025-05-05T00:00:00", Day),
            ("Friday, March 7", "2025-03-07T00:00:00", Day),
            ("on the 15th", "2025-03-15T00:00:00", Day),
            ("on the 2nd", "2025-04-02T00:00:00", Day),
            ("in May", "2025-05-01T00:00:00", Month),
            ("March 2024", "2024-03-01T00:00:00", Month),
            ("in 2027", "2027-01-01T00:00:00", Year),
            ("February 29", "2028-02-29T00:00:00", Day),
        ],
        Prefer::Future,
    );
}

#[test]
fn places_chinese_dates() {
    use Granularity::{Day, Month, MonthPart, Week, Weekend, Year};
    check(
        &[
            ("今天", "2025-03-04T00:00:00", Day),
            ("大后天", "2025-03-07T00:00:00", Day),
            ("前天", "2025-03-02T00:00:00", Day),
            ("周五", "2025-03-07T00:00:00", Day),
            ("下周五", "2025-03-14T00:00:00", Day),
            ("下个星期天", "2025-03-16T00:00:00", Day),
            ("上上周三", "2025-02-19T00:00:00", Day),
            ("这周末", "2025-03-08T00:00:00", Weekend),
            ("下礼拜", "2025-03-10T00:00:00", Week),
            ("下个月", "2025-04-01T00:00:00", Month),
            ("下个月5号", "2025-04-05T00:00:00", Day),
            ("下个月初", "2025-04-01T00:00:00", MonthPart),
            ("二月底", "2026-02-21T00:00:00", MonthPart),
            ("去年三月", "2024-03-01T00:00:00", Month),
            ("明年", "2026-01-01T00:00:00", Year),
            ("2025年3月4日", "2025-03-04T00:00:00", Day),
            ("二〇二五年十二月二十五日", "2025-12-25T00:00:00", Day),
            ("3月4号星期二", "2025-03-04T00:00:00", Day),
            ("15号", "2025-03-15T00:00:00", Day),
            ("二〇二七年", "2027-01-01T00:00:00", Year),
        ],
        Prefer::Future,
    );
}

#[test]
fn places_times_of_day() {
    use Granularity::{DayPart, Minute, Second};
    check(
        &[
            ("7:30 pm", "2025-03-04T19:30:00", Minute),
            ("at 7", "2025-03-05T07:00:00", Minute),
            ("at seven thirty", "2025-03-05T07:30:00", Minute),
            ("7 a.m.", "2025-03-05T07:00:00", Minute),
            ("12 am", "2025-03-05T00:00:00", Minute),
            ("seven o'clock in the evening", "2025-03-04T19:00:00", Minute),
            ("half past ten", "2025-03-04T10:30:00", Minute),
            ("a quarter to one pm", "2025-03-04T12:45:00", Minute),
            ("noon", "2025-03-04T12:00:00", Minute),
            ("midnight", "2025-03-05T00:00:00", Minute),
            ("23:59:59", "2025-03-04T23:59:59", Second),
            ("tomorrow at 7:30 am", "2025-03-05T07:30:00", Minute),
            ("7 pm tomorrow", "2025-03-05T19:00:00", Minute),
            ("tomorrow morning at 7", "2025-03-05T07:00:00", Minute),
            ("tonight at eight", "2025-03-04T20:00:00", Minute),
            ("Friday evening", "2025-03-07T18:00:00", DayPart),
            ("2025-03-04T07:30:15", "2025-03-04T07:30:15", Second),
            ("March 7 at noon", "2025-03-07T12:00:00", Minute),
            ("明天早上七点半", "2025-03-05T07:30:00", Minute),
            ("下午三点", "2025-03-04T15:00:00", Minute),
            ("中午十二点", "2025-03-04T12:00:00", Minute),
            ("今晚八点一刻", "2025-03-04T20:15:00", Minute),
            ("晚上十二点", "2025-03-05T00:00:00", Minute),
            ("凌晨两点", "2025-03-05T02:00:00", Minute),
            ("下周五下午2点05分", "2025-03-14T14:05:00", Minute),
            ("十一点二十", "2025-03-04T11:20:00", Minute),
            ("差五分十二点", "2025-03-04T11:55:00", Minute),
            ("十二点差一刻", "2025-03-04T11:45:00", Minute),
            ("19时30分", "2025-03-04T19:30:00", Minute),
            ("明天的7:30", "2025-03-05T07:30:00", Minute),
            ("明天晚上", "2025-03-05T18:00:00", DayPart),
            ("下午一点", "2025-03-04T13:00:00", Minute),
            ("一点钟", "2025-03-05T01:00:00", Minute),
        ],
        Prefer::Future,
    );
}

#[test]
fn looks_back_when_the_text_is_a_report() {
    use Granularity::{Day, Minute, Month};
    check(
        &[
            ("Friday", "2025-02-28T00:00:00", Day),
            ("March 7", "2024-03-07T00:00:00", Day),
            ("周五", "2025-02-28T00:00:00", Day),
            ("15号", "2025-02-15T00:00:00", Day),
            ("五月", "2024-05-01T00:00:00", Month),
            ("23:00", "2025-03-03T23:00:00", Minute),
        ],
        Prefer::Past,
    );
}

#[test]
fn places_offsets() {
    use Granularity::{Day, Minute, Second};
    check(
        &[
            ("in 20 minutes", "2025-03-04T10:40:30", Minute),
            ("in an hour and a half", "2025-03-04T11:50:30", Minute),
            ("half an hour ago", "2025-03-04T09:50:30", Minute),
            ("two hours and thirty minutes from now", "2025-03-04T12:50:30", Minute),
            ("three days ago", "2025-03-01T00:00:00", Day),
            ("in two weeks", "2025-03-18T00:00:00", Day),
            ("a month ago", "2025-02-04T00:00:00", Day),
            ("in 15 seconds", "2025-03-04T10:20:45", Second),
            ("二十分钟后", "2025-03-04T10:40:30", Minute),
            ("一个半小时之后", "2025-03-04T11:50:30", Minute),
            ("半小时前", "2025-03-04T09:50:30", Minute),
            ("三天前", "2025-03-01T00:00:00", Day),
            ("过十分钟", "2025-03-04T10:30:30", Minute),
            ("两周以后", "2025-03-18T00:00:00", Day),
            ("一个月前", "2025-02-04T00:00:00", Day),
            ("一年半后", "2026-09-04T00:00:00", Day),
        ],
        Prefer::Future,
    );
}

#[test]
fn reads_lengths() {
    let rows: &[(&str, i32, i32, i64)] = &[
        ("20 minutes", 0, 0, 1_200),
        ("1h30m", 0, 0, 5_400),
        ("2 hours, 5 minutes and 10 seconds", 0, 0, 7_510),
        ("three quarters of an hour", 0, 0, 2_700),
        ("two and a half days", 0, 0, 216_000),
        ("for an hour", 0, 0, 3_600),
        ("25-minute", 0, 0, 1_500),
        ("six months", 6, 0, 0),
        ("1 year 2 months", 14, 0, 0),
        ("二十五分钟", 0, 0, 1_500),
        ("两小时三十分", 0, 0, 9_000),
        ("1小时30分钟", 0, 0, 5_400),
        ("一刻钟", 0, 0, 900),
        ("半个月", 0, 15, 0),
        ("半年", 6, 0, 0),
        ("两个礼拜", 0, 14, 0),
        ("三天半", 0, 3, 43_200),
        ("90秒", 0, 0, 90),
    ];
    for (text, months, days, seconds) in rows {
        let expected = TimeExpression::Length(CivilSpan::new(*months, *days, *seconds).unwrap());
        assert_eq!(parse_time(text), Some(expected), "reading {text:?}");
        let reference = Reference { now: now(), prefer: Prefer::Future };
        assert_eq!(resolve(&expected, &reference), None, "a length has no place");
    }
}

#[test]
fn finds_times_inside_a_sentence() {
    let rows: &[(&str, &[&str])] = &[
        ("Book a table for 4 on Friday at 7 pm, please", &["Friday at 7 pm"]),
        ("remind me at 7 to call, then wait 5 minutes", &["7", "5 minutes"]),
        ("see you at 50% or at 7 dollars", &[]),
        ("I may march with Sat and the sun", &[]),
        ("from 3:00 to 5:30 pm", &["3:00", "5:30 pm"]),
        ("the ratio 3:100, version 1.2.3, 16:9:1:2", &[]),
        ("once a day, one second", &["one second"]),
        ("声音大一点，亮度调到三点五", &[]),
        ("下午三点开会，声音一点开大", &["下午三点"]),
        ("三点二十分开始", &["三点二十分"]),
        ("this March 17 at noon, this March", &["this March 17 at noon", "this March"]),
        ("我有三点建议，坐3号线去3号楼", &[]),
        ("每周三天气", &["周三"]),
        ("上午开会，下周五提醒我，二十分钟后叫我", &["上午", "下周五", "二十分钟后"]),
        ("读三年级，2025年的第三天", &["2025年"]),
        ("七点二十分钟", &["七点", "二十分钟"]),
        ("周½号，½号", &[]),
        ("", &[]),
    ];
    for (text, expected) in rows {
        let found: Vec<&str> = find_times(text).into_iter().map(|found| &text[found.range]).collect();
        assert_eq!(found, *expected, "times of {text:?}");
    }
}

#[test]
fn refuses_what_does_not_exist() {
    for text in
        ["2025-02-29", "2025-13-01", "25:00", "7:60", "13 am", "February 30", "四月三十一日", "二十五点", "2025年13月"]
    {
        assert_eq!(parse_time(text), None, "{text:?} was read");
    }
    let next_month = parse_time("这个月31号").unwrap();
    let april = Reference { now: date(2025, 4, 1).at(0, 0, 0, 0), prefer: Prefer::Future };
    assert_eq!(resolve(&next_month, &april), None);
}

#[test]
fn resolving_at_the_end_of_the_calendar_gives_nothing() {
    let last = Reference { now: DateTime::MAX, prefer: Prefer::Future };
    for text in ["tomorrow", "in 1000 years", "next week", "下个月", "明年", "23:59", "三天后"] {
        let expression = parse_time(text).unwrap();
        let found = resolve(&expression, &last);
        assert!(found.is_none_or(|found| found.start < found.end), "{text}: {found:?}");
    }
    assert_eq!(parse_time("in 1001 years"), None);
}
