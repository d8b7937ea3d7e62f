//! Lengths of time and offsets in both languages: "an hour and a half", "in 20 minutes", 一个半小时, 三天前.

use super::expression::{Direction, TimeExpression};
use super::span::{CivilSpan, Unit};
use crate::fold::Folded;
use crate::lex::{Word, letters_at, next_word, one_of, phrase_end, skip_spaces, word_at};
use crate::number::{self, Number, NumberKind, chinese, digits, english};
use crate::script::is_word;

/// The most units of one length: "1 hour 2 minutes 3 seconds" has three.
const UNITS_MAX: usize = 6;
/// Chinese units, longer ones first.
const UNITS_CHINESE: &[(&str, Unit)] = &[
    ("个小时", Unit::Hour),
    ("個小時", Unit::Hour),
    ("个钟头", Unit::Hour),
    ("個鐘頭", Unit::Hour),
    ("个星期", Unit::Week),
    ("個星期", Unit::Week),
    ("个礼拜", Unit::Week),
    ("個禮拜", Unit::Week),
    ("个月", Unit::Month),
    ("個月", Unit::Month),
    ("刻钟", Unit::QuarterHour),
    ("刻鐘", Unit::QuarterHour),
    ("分钟", Unit::Minute),
    ("分鐘", Unit::Minute),
    ("秒钟", Unit::Second),
    ("秒鐘", Unit::Second),
    ("小时", Unit::Hour),
    ("小時", Unit::Hour),
    ("钟头", Unit::Hour),
    ("鐘頭", Unit::Hour),
    ("星期", Unit::Week),
    ("礼拜", Unit::Week),
    ("禮拜", Unit::Week),
    ("秒", Unit::Second),
    ("天", Unit::Day),
    ("周", Unit::Week),
    ("週", Unit::Week),
    ("年", Unit::Year),
];
/// What a Chinese unit of one character may not be followed by: it is another word then.
const NO_UNITS_CHINESE: &[&str] = &["年级", "年級", "年代", "天气", "天氣", "周年", "周岁", "年前的"];
/// From here on 年 names a year instead of counting years.
const YEARS_COUNTED_MAX: i64 = 999;

/// The English unit of a word.
pub(crate) fn unit_english(word: &str) -> Option<Unit> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

/// The length or offset that begins at `at`.
pub(crate) fn scan(folded: &Folded, at: usize) -> Option<(TimeExpression, usize)> {
    english_offset(folded, at).or_else(|| chinese_offset(folded, at))
}

fn english_offset(folded: &Folded, at: usize) -> Option<(TimeExpression, usize)> {
    let offset = |span, direction, end| Some((TimeExpression::Offset { span, direction }, end));
    if let Some(word) = word_at(folded, at).filter(|word| matches!(word.text.as_str(), "in" | "after" | "for"))
        && let Some((span, end)) = english_length(folded, skip_spaces(folded, word.end), true)
    {
        return match word.text.as_str() {
            // The length alone is meant, and it is found where it begins; with an article only here.
            "for" => Some((TimeExpression::Length(span), end)),
            _ => offset(span, Direction::Forward, end),
        };
    }
    let (span, end) = english_length(folded, at, true)?;
    for (phrase, direction) in [
        ("ago", Direction::Back),
        ("earlier", Direction::Back),
        ("from now", Direction::Forward),
        ("later", Direction::Forward),
    ] {
        if let Some(after) = phrase_end(folded, skip_spaces(folded, end), phrase) {
            return offset(span, direction, after);
        }
    }
    // "a day" and "a second" alone say how often or how dear, not how long.
    let (span, end) = english_length(folded, at, false)?;
    Some((TimeExpression::Length(span), end))
}

/// "two hours and 30 minutes", "an hour and a half", "half an hour", "1h30m".
fn english_length(folded: &Folded, at: usize, article: bool) -> Option<(CivilSpan, usize)> {
    let (mut span, mut unit, mut end) = english_part(folded, at, article)?;
    for _ in 1..UNITS_MAX {
        if let Some((part, after)) =
            next_word(folded, end).filter(|word| word.text == "and").and_then(|and| english::and_a_part(folded, &and))
        {
            // "an hour and a half", but not "an hour and a half marathon".
            return if is_followed_by_noun(folded, after) {
                Some((span, end))
            } else {
                Some((span.plus(CivilSpan::of(part, unit)?)?, after))
            };
        }
        let next = joint(folded, end).and_then(|start| english_part(folded, start, false));
        match next.filter(|(_, next_unit, _)| *next_unit > unit) {
            Some((part, next_unit, after)) => (span, unit, end) = (span.plus(part)?, next_unit, after),
            None => break,
        }
    }
    Some((span, end))
}

fn is_followed_by_noun(folded: &Folded, end: usize) -> bool {
    next_word(folded, end).is_some_and(|word| word.text == "marathon")
}

/// Where the next unit of a length may begin: after "and", a comma or spaces, or at once in `1h30m`.
fn joint(folded: &Folded, end: usize) -> Option<usize> {
    if folded.ch(end).is_some_and(|ch| ch.is_ascii_digit()) {
        return Some(end);
    }
    if let Some(and) = next_word(folded, end).filter(|word| word.text == "and") {
        return Some(skip_spaces(folded, and.end));
    }
    let comma = usize::from(folded.ch(end) == Some(','));
    Some(skip_spaces(folded, end + comma)).filter(|start| *start > end)
}

fn english_part(folded: &Folded, at: usize, article: bool) -> Option<(CivilSpan, Unit, usize)> {
    let (amount, end) = english_amount(folded, at, article)?;
    let (unit, end) = unit_after(folded, end)?;
    Some((CivilSpan::of(amount, unit)?, unit, end))
}

/// How many units: a number, "a", "half a", "a quarter of an".
fn english_amount(folded: &Folded, at: usize, article: bool) -> Option<(Number, usize)> {
    if folded.ch(at).is_some_and(|ch| ch.is_ascii_digit()) {
        let inside_length = folded.ch_before(at).is_some_and(|ch| matches!(ch, 'h' | 'm'));
        if folded.ch_before(at).is_some_and(is_word) && !inside_length {
            return None;
        }
        if inside_length {
            let run = digits::scan(folded, at);
            let (whole, decimals) = digits::parts(folded, &run);
            return Some((Number::from_digits(&whole, &decimals)?, run.end));
        }
    }
    let Some(number) = number::scan(folded, at) else {
        let word = word_at(folded, at).filter(|word| article && matches!(word.text.as_str(), "a" | "an"))?;
        return Some((Number::integer(1), word.end));
    };
    (number.kind == NumberKind::Cardinal && number.value.numerator() >= 0).then_some(())?;
    if number.value.as_integer().is_some() {
        return Some((number.value, number.end));
    }
    // "half an hour", "three quarters of an hour".
    let of = next_word(folded, number.end).filter(|word| word.text == "of").map_or(number.end, |word| word.end);
    let end = next_word(folded, of)
        .filter(|word| matches!(word.text.as_str(), "a" | "an"))
        .map_or(number.end, |word| word.end);
    Some((number.value, end))
}

/// The unit after a number: a word after spaces or a hyphen, or letters at once, and then perhaps the next number.
fn unit_after(folded: &Folded, end: usize) -> Option<(Unit, usize)> {
    let hyphen = usize::from(folded.ch(end) == Some('-'));
    let start = skip_spaces(folded, end + hyphen);
    let attached = start == end;
    let word = letters_at(folded, start).or_else(|| if attached { short_unit(folded, start) } else { None })?;
    let unit = unit_english(&word.text)?;
    // "5 m" is a distance and "5 s" a plural; attached, `m` is minutes only inside `1h30m`.
    let one_letter = word.text.len() == 1;
    let after_hours = folded.slice(end.saturating_sub(4)..end).iter().any(|folded| folded.ch == 'h');
    let fits = !one_letter || (attached && (word.text == "h" || (word.text == "m" && after_hours) || word.text == "s"));
    fits.then_some((unit, word.end))
}

/// `h`, `m` or `min` with a digit after it.
fn short_unit(folded: &Folded, at: usize) -> Option<Word> {
    ["min", "hr", "h", "m"].iter().find_map(|unit| {
        let end = at + unit.len();
        let fits = folded.starts_with(at, unit) && folded.ch(end).is_some_and(|ch| ch.is_ascii_digit());
        fits.then(|| Word { text: (*unit).to_owned(), end })
    })
}

fn chinese_offset(folded: &Folded, at: usize) -> Option<(TimeExpression, usize)> {
    let offset = |span, direction, end| Some((TimeExpression::Offset { span, direction }, end));
    if let Some((_, start)) = one_of(folded, at, &["再过", "再過", "过", "過"]) {
        let (span, end) = chinese_length(folded, start)?;
        let end = one_of(folded, end, &["之后", "以后", "之後", "以後", "后", "後"]).map_or(end, |(_, end)| end);
        return offset(span, Direction::Forward, end);
    }
    let (span, end) = chinese_length(folded, at)?;
    if let Some((_, after)) = one_of(folded, end, &["之后", "以后", "之後", "以後", "过后", "後", "后"])
        && !matches!(folded.ch(after), Some('面' | '台' | '边'))
    {
        return offset(span, Direction::Forward, after);
    }
    if let Some((_, after)) = one_of(folded, end, &["之前", "以前", "前"])
        && !matches!(folded.ch(after), Some('面' | '台' | '边'))
    {
        return offset(span, Direction::Back, after);
    }
    Some((TimeExpression::Length(span), end))
}

/// 一个半小时, 两小时三十分, 半年, 一刻钟, 三天.
fn chinese_length(folded: &Folded, at: usize) -> Option<(CivilSpan, usize)> {
    if folded.ch_before(at) == Some('第') {
        return None;
    }
    let (mut span, mut unit, mut end) = chinese_part(folded, at)?;
    for _ in 1..UNITS_MAX {
        if let Some((_, after)) =
            one_of(folded, end, &["半"]).filter(|(_, after)| chinese_part(folded, after - 1).is_none())
        {
            // 一年半, 两小时半.
            return Some((span.plus(CivilSpan::of(Number::ratio(1, 2)?, unit)?)?, after));
        }
        let start = one_of(folded, end, &["零", "又", "加", "和"]).map_or(end, |(_, after)| after);
        let next =
            chinese_part(folded, start).or_else(|| if unit == Unit::Hour { minutes(folded, start) } else { None });
        match next.filter(|(_, next_unit, _)| *next_unit > unit) {
            Some((part, next_unit, after)) => (span, unit, end) = (span.plus(part)?, next_unit, after),
            None => break,
        }
    }
    Some((span, end))
}

fn chinese_part(folded: &Folded, at: usize) -> Option<(CivilSpan, Unit, usize)> {
    let (amount, end) = chinese_amount(folded, at)?;
    let end = skip_spaces(folded, end);
    if one_of(folded, end, NO_UNITS_CHINESE).is_some() {
        return None;
    }
    let (_, unit, after) = UNITS_CHINESE
        .iter()
        .find(|(word, _)| folded.starts_with(end, word))
        .map(|(word, unit)| (word, *unit, end + word.chars().count()))?;
    let names_year =
        unit == Unit::Year && amount.as_integer().is_some_and(|years| years > YEARS_COUNTED_MAX || years == 0);
    (!names_year).then_some((CivilSpan::of(amount, unit)?, unit, after))
}

/// 三十分 after hours, where it is short for 三十分钟.
fn minutes(folded: &Folded, at: usize) -> Option<(CivilSpan, Unit, usize)> {
    let (amount, end) = chinese_amount(folded, at)?;
    let (_, end) = one_of(folded, end, &["分"])?;
    Some((CivilSpan::of(amount, Unit::Minute)?, Unit::Minute, end))
}

/// A count before a unit; 一个半小时 keeps its 个 here, since the number has taken it.
fn chinese_amount(folded: &Folded, at: usize) -> Option<(Number, usize)> {
    // 十分钟 and 一周 begin like words that are no numbers.
    if let Some((value, end)) =
        chinese::cardinal(folded, at).filter(|(_, end)| !matches!(folded.ch(*end), Some('点' | '點' | '个' | '個')))
    {
        let inside = folded.ch_before(at).is_some_and(|ch| chinese::is_numeral(ch) || ch == '.');
        return (!inside || folded.ch_before(at) == Some('零')).then_some((Number::integer(value), end));
    }
    if folded.ch_before(at).is_some_and(|ch| is_word(ch) || matches!(ch, '.' | ':')) {
        return None;
    }
    let number = number::scan(folded, at)
        .filter(|number| number.kind == NumberKind::Cardinal && number.value.numerator() >= 0)?;
    word_at(folded, at).is_none().then_some((number.value, number.end))
}
