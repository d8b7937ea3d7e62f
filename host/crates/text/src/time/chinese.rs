//! Chinese dates and times of day.

use jiff::civil::Weekday;

use super::expression::{DateExpression, DayPart, MonthPart, MonthReference, TimeOfDay, YearReference};
use super::numeric::{is_continuation, month_day, month_of, short_number, time_of_day};
use super::{Component, Setting};
use crate::fold::Folded;
use crate::lex::{one_of, skip_spaces};
use crate::number::chinese;

const DAYS: &[(&str, i32)] = &[
    ("大后天", 3),
    ("大後天", 3),
    ("大前天", -3),
    ("今天", 0),
    ("今日", 0),
    ("明天", 1),
    ("明日", 1),
    ("后天", 2),
    ("後天", 2),
    ("昨天", -1),
    ("昨日", -1),
    ("前天", -2),
];
/// A day and its part in one word.
const DAYS_WITH_PART: &[(&str, i32, DayPart)] = &[
    ("今早", 0, DayPart::Morning),
    ("今晚", 0, DayPart::Evening),
    ("明早", 1, DayPart::Morning),
    ("明晚", 1, DayPart::Evening),
    ("昨晚", -1, DayPart::Evening),
    ("后晚", 2, DayPart::Evening),
];
const PARTS: &[(&str, DayPart)] = &[
    ("凌晨", DayPart::EarlyMorning),
    ("清晨", DayPart::Morning),
    ("清早", DayPart::Morning),
    ("早上", DayPart::Morning),
    ("早晨", DayPart::Morning),
    ("上午", DayPart::Morning),
    ("中午", DayPart::Noon),
    ("下午", DayPart::Afternoon),
    ("午后", DayPart::Afternoon),
    ("傍晚", DayPart::Evening),
    ("晚上", DayPart::Evening),
    ("晚间", DayPart::Evening),
    ("夜里", DayPart::Night),
    ("夜晚", DayPart::Evening),
    ("半夜", DayPart::Night),
    ("深夜", DayPart::Night),
];
/// Prefixes of week and month with their distance, longer ones first.
const STEPS: &[(&str, i32)] =
    &[("上上", -2), ("下下", 2), ("上", -1), ("下", 1), ("这", 0), ("這", 0), ("本", 0), ("当", 0)];
const YEARS: &[(&str, i32)] = &[("今年", 0), ("明年", 1), ("后年", 2), ("後年", 2), ("去年", -1), ("前年", -2)];
const WEEKS: &[&str] = &["星期", "礼拜", "禮拜", "周", "週"];
/// What makes a number and 点 a count of points, not an hour.
const NO_HOURS: &[&str] =
    &["建议", "意见", "要求", "注意", "原因", "理由", "内容", "启示", "看法", "儿", "击", "赞", "心"];
/// What makes a number and 号 a name, not a day.
const NO_DAYS: &[&str] = &["线", "楼", "房", "门", "店", "机", "码", "院", "车", "球", "位", "库", "桌", "字", "电"];

/// The date, time or part of the day that begins at `at`.
pub(crate) fn component(folded: &Folded, at: usize, setting: Setting) -> Option<(Component, usize)> {
    if folded.is_plain(at) {
        return None;
    }
    if let Some((_, days, part)) = DAYS_WITH_PART.iter().find(|(word, ..)| folded.starts_with(at, word)) {
        return Some((Component::DatePart(DateExpression::Day(*days), *part), at + 2));
    }
    date(folded, at)
        .map(|(date, end)| (Component::Date(date), end))
        .or_else(|| clock(folded, at, setting).map(|(time, end)| (Component::Clock(time), end)))
        .or_else(|| valued(folded, at, PARTS).map(|(part, end)| (Component::Part(part), end)))
}

/// The value of the first listed word that stands at `at`, and the index after it.
fn valued<T: Copy>(folded: &Folded, at: usize, words: &[(&str, T)]) -> Option<(T, usize)> {
    words.iter().find(|(word, _)| folded.starts_with(at, word)).map(|(word, value)| (*value, at + word.chars().count()))
}

fn date(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    if let Some((days, end)) = valued(folded, at, DAYS) {
        return Some((DateExpression::Day(days), end));
    }
    week(folded, at)
        .or_else(|| month_by_step(folded, at))
        .or_else(|| with_year(folded, at))
        .or_else(|| month_and_day(folded, at, YearReference::Unstated))
        .or_else(|| day_alone(folded, at))
}

/// 下周五, 周末, 这个星期天, 上周.
fn week(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    let step = valued(folded, at, STEPS);
    let start = step.map_or(at, |(_, end)| one_of(folded, end, &["个", "個"]).map_or(end, |(_, end)| end));
    let (_, end) = one_of(folded, start, WEEKS)?;
    let week = step.map(|(step, _)| step);
    if folded.ch(end) == Some('末') {
        return Some((DateExpression::Weekend(week.unwrap_or(0)), end + 1));
    }
    match weekday(folded, end) {
        Some((weekday, end)) => Some((DateExpression::Weekday { weekday, week }, end)),
        None => Some((DateExpression::Week(week?), end)),
    }
}

fn weekday(folded: &Folded, at: usize) -> Option<(Weekday, usize)> {
    let ch = folded.ch(at)?;
    let place = match ch {
        '日' | '天' | '7' => 6,
        '1'..='6' => i8::try_from(u32::from(ch) - u32::from('1')).ok()?,
        _ => i8::try_from(chinese::digit(ch).filter(|day| (1..=6).contains(day) && !matches!(ch, '两' | '兩'))? - 1)
            .ok()?,
    };
    let counts = folded.ch(at + 1).is_some_and(|ch| ch.is_ascii_digit());
    (!counts).then_some((Weekday::from_monday_zero_offset(place).ok()?, at + 1))
}

/// 下个月, 下个月5号, 上个月底.
fn month_by_step(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    let (step, end) = valued(folded, at, STEPS)?;
    let end = one_of(folded, end, &["个", "個"]).map_or(end, |(_, end)| end);
    let (_, end) = one_of(folded, end, &["月"])?;
    let (part, end) = part_or_day(folded, end);
    Some((DateExpression::Month { month: MonthReference::Offset(step), part }, end))
}

/// 2025年, 二〇二五年三月四日, 明年三月.
fn with_year(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    let (year, end) = match valued(folded, at, YEARS) {
        Some((offset, end)) => (YearReference::Offset(offset), end),
        None => {
            let (year, end) = number(folded, at, 4)
                .filter(|(year, end)| (1_000..=9_999).contains(year) && folded.ch(*end) == Some('年'))?;
            (YearReference::Number(i16::try_from(year).ok()?), end + 1)
        }
    };
    let next = one_of(folded, end, &["的"]).map_or(end, |(_, end)| end);
    Some(month_and_day(folded, next, year).unwrap_or((DateExpression::Year(year), end)))
}

/// 三月四日, 3月, 三月底.
fn month_and_day(folded: &Folded, at: usize, year: YearReference) -> Option<(DateExpression, usize)> {
    let (month, end) = number(folded, at, 2).filter(|(_, end)| folded.ch(*end) == Some('月'))?;
    let end = one_of(folded, end + 1, &["份"]).map_or(end + 1, |(_, end)| end);
    let (part, end) = part_or_day(folded, end);
    let date = match part {
        MonthPart::Day(day) => month_day(year, month, i64::from(day))?,
        part => month_of(year, month, part)?,
    };
    Some((date, end))
}

/// What follows a month: 初, 中, 底 or a day, else all of it.
fn part_or_day(folded: &Folded, at: usize) -> (MonthPart, usize) {
    let parts = [
        ("初", MonthPart::Start),
        ("中旬", MonthPart::Middle),
        ("中", MonthPart::Middle),
        ("底", MonthPart::End),
        ("末", MonthPart::End),
        ("上旬", MonthPart::Start),
        ("下旬", MonthPart::End),
    ];
    let day = || {
        let (day, end) = number(folded, skip_spaces(folded, at), 2).filter(|(day, _)| (1..=31).contains(day))?;
        let (_, end) = one_of(folded, end, &["日", "号", "號"])?;
        Some((MonthPart::Day(i8::try_from(day).ok()?), end))
    };
    valued(folded, at, &parts).or_else(day).unwrap_or((MonthPart::Whole, at))
}

/// 15号.
fn day_alone(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    let (day, end) = number(folded, at, 2).filter(|(day, _)| (1..=31).contains(day))?;
    let (_, end) = one_of(folded, end, &["号", "號"])?;
    if one_of(folded, end, NO_DAYS).is_some() || folded.ch_before(at) == Some('第') {
        return None;
    }
    let part = MonthPart::Day(i8::try_from(day).ok()?);
    Some((DateExpression::Month { month: MonthReference::Unstated, part }, end))
}

/// A whole number in digits or characters that is no part of a longer one.
fn number(folded: &Folded, at: usize, digits_max: usize) -> Option<(i64, usize)> {
    if folded.ch(at).is_some_and(|ch| ch.is_ascii_digit()) {
        return if is_continuation(folded, at) { None } else { short_number(folded, at, digits_max) };
    }
    let inside = folded.ch_before(at).is_some_and(chinese::is_numeral);
    if inside { None } else { chinese::cardinal(folded, at) }
}

/// 七点, 七点半, 七点二十分, 八点差五分, 差五分八点, 七时三十分, 零点, 正午.
fn clock(folded: &Folded, at: usize, setting: Setting) -> Option<(TimeOfDay, usize)> {
    if let Some((hour, end)) = valued(folded, at, &[("正午", 12), ("午夜", 24)]) {
        return time_of_day(hour, 0, 0, true).map(|time| (time, end));
    }
    if let Some((_, start)) = one_of(folded, at, &["差"]) {
        let (minutes, end) = difference(folded, start)?;
        let (hour, end) = hour(folded, end)?;
        return before_hour(hour, minutes).map(|time| (time, end));
    }
    let (hour, hour_end) = hour(folded, at)?;
    if let Some((minutes, end)) = one_of(folded, hour_end, &["差"]).and_then(|(_, start)| difference(folded, start)) {
        return before_hour(hour, minutes).map(|time| (time, end));
    }
    let (minute, end) = minute(folded, hour_end);
    let suffix = one_of(folded, end, &["钟", "鐘", "整"]);
    // 一点 is mostly "a bit": it is an hour only with something that says so.
    let vague = hour == 1 && folded.starts_with(at, "一") && end == hour_end && suffix.is_none() && !setting.bare_hour;
    // 三点五 is 3.5.
    let decimal = end == hour_end && chinese::scan(folded, at).is_some_and(|number| number.end > hour_end);
    if vague || (decimal && !setting.bare_hour) || one_of(folded, end, NO_HOURS).is_some() {
        return None;
    }
    let end = suffix.map_or(end, |(_, end)| end);
    let (second, end) = second(folded, end).unwrap_or((0, end));
    time_of_day(hour, minute, second, false).map(|time| (time, end))
}

/// 七点, 19时.
fn hour(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    let (hour, end) = number(folded, at, 2).filter(|(hour, _)| (0..=24).contains(hour))?;
    match one_of(folded, end, &["点", "點", "时", "時"])? {
        // 三时 alone is too rare to tell from 及时, 按时 and the like with a number before.
        (2 | 3, after) => {
            number(folded, after, 2).filter(|(_, end)| folded.ch(*end) == Some('分')).map(|_| (hour, after))
        }
        (_, after) => Some((hour, after)),
    }
}

/// What follows an hour: 半, 一刻, 二十分, 零五; else 0.
fn minute(folded: &Folded, at: usize) -> (i64, usize) {
    if let Some(found) = valued(folded, at, &[("半", 30), ("一刻", 15), ("三刻", 45), ("1刻", 15), ("3刻", 45)])
    {
        return found;
    }
    let start = one_of(folded, at, &["过", "過"]).map_or(at, |(_, end)| end);
    let Some((minute, end)) = short_number(folded, start, 2)
        .or_else(|| chinese::cardinal(folded, start))
        .filter(|(minute, _)| (0..60).contains(minute))
    else {
        return (0, at);
    };
    let padded = folded.ch(start).is_some_and(|ch| matches!(ch, '零' | '〇' | '0'));
    match one_of(folded, end, &["分钟", "分鐘", "分"]) {
        // 七点二十分钟 speaks of twenty minutes, not of 7:20.
        Some((2, end)) => (minute, end),
        Some(_) => (0, at),
        // Without 分 two digits are needed: 七点二十, 七点零五; and nothing that they could count.
        None if (minute >= 10 || padded) && !counts(folded, end) => (minute, end),
        None => (0, at),
    }
}

fn counts(folded: &Folded, end: usize) -> bool {
    one_of(folded, end, &["个", "個", "秒", "小时", "天", "%", "度", "次", "条", "页", "块", "元", "岁", "人"])
        .is_some()
}

fn second(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    let (second, end) = short_number(folded, at, 2).or_else(|| chinese::cardinal(folded, at))?;
    one_of(folded, end, &["秒"]).map(|(_, end)| (second, end))
}

/// The minutes before an hour: 五分, 一刻.
fn difference(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    if let Some((_, end)) = one_of(folded, at, &["一刻"]) {
        return Some((15, one_of(folded, end, &["钟", "鐘"]).map_or(end, |(_, end)| end)));
    }
    let (minutes, end) = short_number(folded, at, 2)
        .or_else(|| chinese::cardinal(folded, at))
        .filter(|(minutes, _)| (1..60).contains(minutes))?;
    one_of(folded, end, &["分钟", "分鐘", "分"]).map(|(_, end)| (minutes, end))
}

fn before_hour(hour: i64, minutes: i64) -> Option<TimeOfDay> {
    let hour = match hour {
        0 => 23,
        1 => 12,
        hour => hour - 1,
    };
    time_of_day(hour, 60 - minutes, 0, false)
}
