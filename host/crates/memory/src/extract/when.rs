//! When what a sentence says happens or holds: resolved against the moment and the zone of the message.

use std::sync::LazyLock;

use jiff::civil::Date;
use loopwright_text::{
    DateExpression, Granularity as TextGranularity, Interval, Prefer, Reference, TimeExpression, YearReference,
    find_times, resolve,
};
use regex::{Captures, Regex};

use super::pattern::compile;
use super::rule::Tense;
use crate::moment::{EventTime, Granularity, Moment, Zone};
use crate::unit::Activation;

/// The most times of one sentence that are placed.
const TIMES_MAX: usize = 8;
/// The longest condition, in characters.
const CONDITION_CHARS_MAX: usize = 120;

/// A time, and what is to be said about it.
#[derive(Debug, Clone, Default)]
pub(super) struct Dated {
    pub(super) event: Option<EventTime>,
    /// Why there is no event although the sentence names a time.
    pub(super) note: Option<String>,
}

/// How zones are called, and which they are.
const ZONES: &[(&str, &str)] = &[
    (r"\bUTC\b|\bGMT\b|世界协调时|格林尼治时间", "UTC"),
    (
        r"\b(?:PST|PDT)\b|(?i:\bpacific time\b|\b(?:la|los angeles|san francisco|seattle) time\b)|太平洋时间|洛杉矶时间|旧金山时间",
        "America/Los_Angeles",
    ),
    (r"\b(?:EST|EDT)\b|(?i:\beastern time\b|\bnew york time\b)|美东时间|纽约时间", "America/New_York"),
    (r"\b(?:CET|CEST)\b|(?i:\b(?:berlin|central european) time\b)|柏林时间", "Europe/Berlin"),
    (r"(?i:\b(?:london|uk) time\b)|伦敦时间", "Europe/London"),
    (r"(?i:\b(?:paris|french) time\b)|巴黎时间", "Europe/Paris"),
    (r"(?i:\b(?:beijing|shanghai|china) time\b)|北京时间|上海时间", "Asia/Shanghai"),
    (r"\bJST\b|(?i:\b(?:tokyo|japan) time\b)|东京时间|日本时间", "Asia/Tokyo"),
    (r"(?i:\bsingapore time\b)|新加坡时间", "Asia/Singapore"),
    (r"(?i:\bsydney time\b)|悉尼时间", "Australia/Sydney"),
];

static ZONE_PATTERNS: LazyLock<Vec<(Regex, Zone)>> = LazyLock::new(|| {
    ZONES.iter().filter_map(|(pattern, zone)| Some((compile(pattern)?, Zone::new(zone).ok()?))).collect()
});
static MONTH_FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?:,? (?P<year>\d{4})\b)?",
    )
});
static DAY_FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:,? (?P<year>\d{4})\b)?",
    )
});
static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?:(?P<year>\d{4})\s*[年/-]\s*)?(?P<month>\d{1,2})\s*[月/-]\s*(?P<day>\d{1,2})\s*(?:日|号)|\b(?P<year2>\d{4})[-/](?P<month2>\d{1,2})[-/](?P<day2>\d{1,2})\b",
    )
});
static HAN_DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?P<month>十[一二]?|[一二三四五六七八九])月(?P<day>[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]",
    )
});
static YEARS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:from|between) (?P<a>(?:19|20)\d\d) (?:to|until|till|and|through) (?P<b>(?:19|20)\d\d)\b|\b(?P<c>(?:19|20)\d\d)年?(?: ?- ?|到|至)(?P<d>(?:19|20)\d\d)\b",
    )
});
static SINCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:since|starting|as of|from) (?P<v>[^,;!?\n]{2,40})|(?:自|从)(?P<w>[^,;!?\n]{2,24}?)(?:起|开始|以来|就)",
    )
});
static YEAR: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"^(?:the year |early |late )?(?P<v>(?:19|20)\d\d)\b"));
static UNTIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:until|till|valid until|no later than) (?P<v>[^,;!?\n]{2,40})|(?:直到|截止到|有效期到)(?P<w>[^,;!?\n]{2,24})|到(?P<x>[^,;!?\n]{2,24}?)为止",
    )
});
static CONDITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)\b(?P<v>(?:when|whenever|once|as\ soon\ as|after|before|if|in\ case|the\ next\ time|next\ time)\ (?:i|we|my|the|it|he|she|they|you|there|someone|anyone|[a-z])[^,;!?\n]{1,100}?)(?:,|$|\.$|\ remind\ me|\ don't\ let)
         |(?:^|,)(?P<w>(?:如果|要是|假如|等|当)?[^,;!?。\n]{1,40}?(?:的时候|时|之后|以后|后|的话)),?(?:请|就|再|麻烦)?(?:提醒|叫|告诉)
         |(?:^|,)(?P<x>(?:如果|要是|假如|一旦)[^,;!?。\n]{1,40})",
    )
});

static REPEATS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)\b(?:every|each)\ (?:single\ |other\ |second\ )?(?:day|morning|noon|afternoon|evening|night|week|weekday|workday|weekend|month|year|hour|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:\d+|two|three|four|six|eight|few)\ (?:hour|day|week|month|minute))s?\b
         |\bremind\ me\ (?:daily|weekly|monthly|hourly)\b|\b(?:daily|weekly|monthly|hourly)\W*$|\bon\ (?:mon|tues|wednes|thurs|fri|satur|sun|week|work)days\b
         |\b(?:once|twice|(?:three|four|\d)\ times)\ (?:a|per|every)\ (?:day|week|month)\b
         |每(?:天|日|晚|早|隔|逢|周|星期|礼拜|个?月|年|个?小时|个(?:早上|早晨|晚上|周末|星期|工作日)|(?:两|三|四|[0-9]+)个?(?:小时|天|周))|天天|隔天|隔周",
    )
});

/// Whether the sentence names occasions that come again and again.
pub(super) fn repeats(sentence: &str) -> bool {
    REPEATS.as_ref().is_some_and(|pattern| pattern.is_match(sentence))
}

/// When what the sentence says happens or holds.
pub(super) fn dated(sentence: &str, mentioned: &Moment, tense: Tense) -> Dated {
    if let Some(date) = impossible(sentence) {
        return Dated { event: None, note: Some(format!("no event time: there is no `{date}`")) };
    }
    let zones = named_zones(sentence);
    let zone = match zones.as_slice() {
        [] => mentioned.zone().clone(),
        [zone] => zone.clone(),
        _ => return Dated { event: None, note: Some("no event time: the sentence names two time zones".to_owned()) },
    };
    let prefer = if matches!(tense, Tense::Future | Tense::Begins) { Prefer::Future } else { Prefer::Past };
    let Ok(here) = Moment::new(mentioned.seconds(), zone.clone()) else { return Dated::default() };
    let reference = Reference { now: here.civil(), prefer };
    let event = event(sentence, &reference, &zone, tense);
    Dated { event, note: None }
}

fn event(sentence: &str, reference: &Reference, zone: &Zone, tense: Tense) -> Option<EventTime> {
    if let Some(years) = years(sentence) {
        return EventTime::of(&years, zone);
    }
    let since = SINCE.as_ref().and_then(|pattern| pattern.captures(sentence)).and_then(|captures| {
        let said = captures.name("v").or_else(|| captures.name("w"))?.as_str();
        year(said).or_else(|| first_interval(said, reference))
    });
    if let (Some(since), true) = (since, matches!(tense, Tense::Present | Tense::Began | Tense::Begins)) {
        return EventTime::of(&since, zone).map(open);
    }
    match tense {
        Tense::Present => None,
        Tense::Began | Tense::Begins => EventTime::of(&first_interval(sentence, reference)?, zone).map(open),
        Tense::Past | Tense::Future => EventTime::of(&whole_interval(sentence, reference)?, zone),
    }
}

fn open(event: EventTime) -> EventTime {
    EventTime { end: None, granularity: Granularity::Open, ..event }
}

fn intervals(text: &str, reference: &Reference) -> Vec<(usize, usize, Interval)> {
    find_times(text)
        .into_iter()
        .take(TIMES_MAX)
        .filter_map(|found| Some((found.range.start, found.range.end, resolve(&found.expression, reference)?)))
        .collect()
}

fn first_interval(text: &str, reference: &Reference) -> Option<Interval> {
    intervals(text, reference).into_iter().next().map(|(.., interval)| interval)
}

/// The first time, joined with the second where the text says "from … to …".
fn whole_interval(text: &str, reference: &Reference) -> Option<Interval> {
    let found = intervals(text, reference);
    let (_, end, first) = *found.first()?;
    let Some((start, _, second)) = found.get(1) else { return Some(first) };
    let between = text.get(end..*start).unwrap_or_default().trim().to_lowercase();
    let joins = matches!(between.as_str(), "to" | "until" | "till" | "through" | "-" | "~" | "到" | "至");
    if joins && first.start < second.end {
        return Some(Interval {
            start: first.start,
            end: second.end,
            granularity: first.granularity.max(second.granularity),
        });
    }
    Some(first)
}

fn year(text: &str) -> Option<Interval> {
    let number: i16 = YEAR.as_ref()?.captures(text.trim())?.name("v")?.as_str().parse().ok()?;
    year_interval(number, number)
}

fn year_interval(first: i16, last: i16) -> Option<Interval> {
    let at = |year: i16| {
        let expression = TimeExpression::Date(DateExpression::Year(YearReference::Number(year)));
        resolve(&expression, &Reference { now: Date::new(year, 1, 1).ok()?.at(0, 0, 0, 0), prefer: Prefer::Past })
    };
    let (first, last) = (at(first)?, at(last)?);
    (first.start < last.end).then_some(Interval {
        start: first.start,
        end: last.end,
        granularity: TextGranularity::Year,
    })
}

fn years(text: &str) -> Option<Interval> {
    let captures = YEARS.as_ref()?.captures(text)?;
    let number =
        |one: &str, other: &str| captures.name(one).or_else(|| captures.name(other))?.as_str().parse::<i16>().ok();
    year_interval(number("a", "c")?, number("b", "d")?)
}

/// The zones that a sentence names.
fn named_zones(sentence: &str) -> Vec<Zone> {
    let mut zones: Vec<Zone> =
        ZONE_PATTERNS.iter().filter(|(pattern, _)| pattern.is_match(sentence)).map(|(_, zone)| zone.clone()).collect();
    zones.dedup();
    zones
}

/// A date in the sentence that no calendar has, as it was written.
fn impossible(sentence: &str) -> Option<String> {
    [&MONTH_FIRST, &DAY_FIRST, &DIGITS, &HAN_DATE]
        .into_iter()
        .filter_map(|pattern| pattern.as_ref())
        .flat_map(|pattern| pattern.captures_iter(sentence).take(TIMES_MAX))
        .find(|captures| !exists(captures).unwrap_or(true))
        .and_then(|captures| captures.get(0).map(|whole| whole.as_str().trim().to_owned()))
}

fn exists(captures: &Captures<'_>) -> Option<bool> {
    let part = |name: &str, other: &str| captures.name(name).or_else(|| captures.name(other)).map(|part| part.as_str());
    let month = month(part("month", "month2")?)?;
    let day = number(part("day", "day2")?)?;
    // Without a year the day has to exist in some year.
    let year = part("year", "year2").and_then(|year| year.parse().ok()).unwrap_or(2024);
    Some(Date::new(year, month, day).is_ok())
}

fn month(text: &str) -> Option<i8> {
    const NAMES: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let named =
        NAMES.iter().position(|name| text.eq_ignore_ascii_case(name)).and_then(|place| i8::try_from(place + 1).ok());
    named.or_else(|| number(text))
}

fn number(text: &str) -> Option<i8> {
    let value = loopwright_text::parse_number(text)?.value.as_integer()?;
    i8::try_from(value).ok()
}

/// When a to-do is due, what it waits for and until when it is of use.
pub(super) fn activation(sentence: &str, mentioned: &Moment) -> (Activation, Option<String>) {
    let due = dated(&without_until(sentence), mentioned, Tense::Future);
    let valid_until = UNTIL.as_ref().and_then(|pattern| pattern.captures(sentence)).and_then(|captures| {
        let said = ["v", "w", "x"].into_iter().find_map(|name| captures.name(name))?.as_str();
        let event = dated(said, mentioned, Tense::Future).event?;
        Moment::new(event.end?, event.start.zone().clone()).ok()
    });
    let condition = CONDITION.as_ref().and_then(|pattern| pattern.captures(sentence)).and_then(|captures| {
        let said = ["v", "w", "x"].into_iter().find_map(|name| captures.name(name))?.as_str().trim();
        // "after 5 pm" is a time.
        let timed = !find_times(said).is_empty() && dated(said, mentioned, Tense::Future).event.is_some();
        (!timed).then(|| said.chars().take(CONDITION_CHARS_MAX).collect())
    });
    (Activation { due: due.event, condition, valid_until, fired: None, completed: None }, due.note)
}

fn without_until(sentence: &str) -> String {
    UNTIL.as_ref().map_or_else(|| sentence.to_owned(), |pattern| pattern.replace_all(sentence, " ").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        for pattern in
            [&MONTH_FIRST, &DAY_FIRST, &DIGITS, &HAN_DATE, &YEARS, &SINCE, &YEAR, &UNTIL, &CONDITION, &REPEATS]
        {
            assert!(pattern.is_some());
        }
        assert_eq!(ZONE_PATTERNS.len(), ZONES.len());
    }

    #[test]
    fn dates_that_no_calendar_has_are_named() {
        for (text, expected) in [
            ("see you on February 31", Some("February 31")),
            ("on 30 Feb 2025", Some("30 Feb 2025")),
            ("Feb 29, 2025", Some("Feb 29, 2025")),
            ("Feb 29", None),
            ("2月31日见", Some("2月31日")),
            ("二月三十一号", Some("二月三十一号")),
            ("2025-02-31", Some("2025-02-31")),
            ("March 4", None),
            ("1-2日", None),
        ] {
            assert_eq!(impossible(text).as_deref(), expected, "{text}");
        }
    }
}
