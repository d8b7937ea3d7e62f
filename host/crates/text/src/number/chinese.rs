//! Chinese numerals: 二十五, 一百零五, 两万五, 二〇二五, 三点二, 三分之一, 百分之五十, 第三, 负十, 半; traditional and formal characters too.

use super::{NumberKind, Scanned};
use crate::fold::Folded;
use crate::lex::one_of;
use crate::number::value::Number;

/// The most characters of one numeral.
const CHARACTERS_MAX: usize = 32;
/// Words in which a numeral character counts nothing.
const NO_NUMBERS: &[&str] = &[
    "一下",
    "一起",
    "一样",
    "一樣",
    "一直",
    "一些",
    "一定",
    "一般",
    "一会",
    "一會",
    "一边",
    "一邊",
    "一切",
    "一旦",
    "一共",
    "一点儿",
    "统一",
    "統一",
    "唯一",
    "之一",
    "万一",
    "萬一",
    "第一时间",
    "星期一",
    "礼拜一",
    "周一",
    "千万别",
    "百度",
    "半径",
    "三明治",
];
/// What may not follow the digits of a decimal: the point was the hour of a time.
const AFTER_TIME: &[&str] = &["十", "分", "刻", "半", "钟", "鐘", "整"];

pub(crate) fn digit(ch: char) -> Option<i64> {
    Some(match ch {
        '零' | '〇' => 0,
        '一' | '壹' | '弌' => 1,
        '二' | '两' | '兩' | '贰' | '貳' => 2,
        '三' | '叁' | '參' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' | '陸' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        _ => return None,
    })
}

fn small_unit(ch: char) -> Option<i64> {
    Some(match ch {
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1_000,
        _ => return None,
    })
}

/// The value of 万 and 亿.
pub(crate) fn large_unit(ch: char) -> Option<i64> {
    Some(match ch {
        '万' | '萬' => 10_000,
        '亿' | '億' => 100_000_000,
        _ => return None,
    })
}

/// Whether the character can be part of a Chinese numeral.
pub(crate) fn is_numeral(ch: char) -> bool {
    digit(ch).is_some() || small_unit(ch).is_some() || large_unit(ch).is_some()
}

/// The numeral that begins at `at`, with its prefixes and its fraction.
pub(crate) fn scan(folded: &Folded, at: usize) -> Option<Scanned> {
    if folded.is_plain(at) {
        return None;
    }
    if let Some((_, next)) = one_of(folded, at, &["第"]) {
        let (value, end) = cardinal(folded, next)?;
        return Some(Scanned { end, value: Number::integer(value), kind: NumberKind::Ordinal });
    }
    if let Some((_, next)) = one_of(folded, at, &["负", "負", "零下"]) {
        let number = scan_unsigned(folded, next)?;
        return Some(Scanned { value: number.value.negated()?, ..number });
    }
    if let Some((_, next)) = one_of(folded, at, &["百分之"]) {
        let number = scan_unsigned(folded, next).or_else(|| super::scan_digits(folded, next))?;
        return Some(Scanned { kind: NumberKind::Percent, ..number });
    }
    if is_inside_word(folded, at) {
        return None;
    }
    scan_unsigned(folded, at)
}

fn scan_unsigned(folded: &Folded, at: usize) -> Option<Scanned> {
    if folded.ch(at) == Some('半') {
        return Some(Scanned { end: at + 1, value: Number::ratio(1, 2)?, kind: NumberKind::Cardinal });
    }
    let (whole, end) = cardinal(folded, at)?;
    let (value, end) = fraction(folded, whole, end)
        .or_else(|| decimals(folded, whole, end))
        .or_else(|| and_a_half(folded, whole, end))
        .unwrap_or((Number::integer(whole), end));
    Some(Scanned { end, value, kind: NumberKind::Cardinal })
}

/// A whole number, and the index after it.
pub(crate) fn cardinal(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    let characters: Vec<char> =
        folded.slice(at..at + CHARACTERS_MAX).iter().map(|folded| folded.ch).take_while(|ch| is_numeral(*ch)).collect();
    let units = characters.iter().any(|ch| digit(*ch).is_none());
    let value = if units { with_units(&characters)? } else { positional(&characters)? };
    Some((value, at + characters.len()))
}

/// Digits read one by one: 二〇二五. Two digits without a zero are left out: 三四 usually means "three or four".
fn positional(characters: &[char]) -> Option<i64> {
    let approximate = characters.len() == 2 && !characters.iter().any(|ch| digit(*ch) == Some(0));
    if characters.is_empty()
        || approximate
        || (characters.len() > 1 && characters.iter().any(|ch| matches!(ch, '两' | '兩')))
    {
        return None;
    }
    characters.iter().try_fold(0_i64, |value, ch| value.checked_mul(10)?.checked_add(digit(*ch)?))
}

/// A number with 十百千万亿. A last digit without a unit after 百, 千, 万 or 亿 counts a tenth of it: 两万五 is 25,000.
fn with_units(characters: &[char]) -> Option<i64> {
    let mut total = 0_i64;
    let mut section = 0_i64;
    let mut pending: Option<i64> = None;
    let mut last_unit = i64::MAX;
    let mut zero = false;
    for (place, ch) in characters.iter().enumerate() {
        if let Some(value) = digit(*ch) {
            if value == 0 {
                (pending.is_none() && place > 0).then_some(())?;
                zero = true;
            } else {
                pending.is_none().then_some(())?;
                pending = Some(value);
            }
        } else if let Some(unit) = small_unit(*ch) {
            // Only 十 stands without a digit, as in 十五 and 一百十五.
            let value = pending.take().or((unit == 10).then_some(1))?;
            (unit < last_unit || last_unit >= 10_000).then_some(())?;
            section += value * unit;
            last_unit = unit;
            zero = false;
        } else {
            let unit = large_unit(*ch)?;
            section += pending.take().unwrap_or(0);
            if section == 0 {
                // 万亿: the unit multiplies all before it.
                (total > 0 && last_unit == 10_000 && unit > last_unit).then_some(())?;
                total = total.checked_mul(unit)?;
            } else {
                total = if total > 0 && unit > 10_000 {
                    (total + section).checked_mul(unit)?
                } else {
                    total.checked_add(section.checked_mul(unit)?)?
                };
            }
            section = 0;
            last_unit = unit;
            zero = false;
        }
    }
    let rest = pending.map_or(0, |value| if zero || last_unit <= 10 { value } else { value * (last_unit / 10) });
    total.checked_add(section)?.checked_add(rest)
}

/// 三分之一: the whole read so far is the denominator.
fn fraction(folded: &Folded, denominator: i64, end: usize) -> Option<(Number, usize)> {
    let (_, next) = one_of(folded, end, &["分之"])?;
    let (numerator, end) = cardinal(folded, next)?;
    Some((Number::ratio(numerator, denominator)?, end))
}

/// 三点二, unless it goes on as a time: 三点二十.
fn decimals(folded: &Folded, whole: i64, end: usize) -> Option<(Number, usize)> {
    let (_, start) = one_of(folded, end, &["点", "點"])?;
    let digits: String = folded
        .slice(start..start + CHARACTERS_MAX)
        .iter()
        .map_while(|folded| digit(folded.ch).filter(|_| !matches!(folded.ch, '两' | '兩')))
        .map(|value| value.to_string())
        .collect();
    let end = start + digits.len();
    if digits.is_empty() || one_of(folded, end, AFTER_TIME).is_some() {
        return None;
    }
    let value = Number::from_digits(&whole.to_string(), &digits)?;
    match folded.ch(end).and_then(large_unit) {
        Some(unit) => Some((value.times(Number::integer(unit))?, end + 1)),
        None => Some((value, end)),
    }
}

/// 两个半.
fn and_a_half(folded: &Folded, whole: i64, end: usize) -> Option<(Number, usize)> {
    let (_, end) = one_of(folded, end, &["个半", "個半"])?;
    Some((Number::integer(whole).plus(Number::ratio(1, 2)?)?, end))
}

/// Whether the numeral character at `at` belongs to a word such as 一起.
fn is_inside_word(folded: &Folded, at: usize) -> bool {
    let listed = NO_NUMBERS.iter().any(|word| {
        let place = word.chars().position(is_numeral_or_half).unwrap_or(0);
        at.checked_sub(place).is_some_and(|start| folded.starts_with(start, word))
    });
    // 十分 is "very" unless minutes follow.
    let very = folded.starts_with(at, "十分") && !matches!(folded.ch(at + 2), Some('钟' | '鐘' | '之'));
    listed || (very && !folded.ch_before(at).is_some_and(is_numeral))
}

fn is_numeral_or_half(ch: char) -> bool {
    is_numeral(ch) || ch == '半'
}
