//! Exact dates, coarsened to the month.

use std::sync::LazyLock;

use loopwright_text::{DateExpression, MonthPart, MonthReference, TimeExpression, YearReference, find_times};
use regex::Regex;

use super::{Found, IdentifierKind};
use crate::extract::compile;

static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"(?:^|[^\d./-])(?P<v>(?P<a>\d{1,2})[/.-](?P<b>\d{1,2})[/.-](?P<year>(?:19|20)?\d\d))(?:$|[^\d./-])")
});
/// What the time grammar does not read as one date, such as 19900512 or 1990.5.12.
static COMPACT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?:^|[^\d./-])(?P<v>(?P<year>(?:19|20)\d\d)(?:[./-](?P<month>\d{1,2})[./-]\d{1,2}|(?P<month2>0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))(?:$|[^\d./-])",
    )
});

/// Two digits of a year, month and day, in characters.
static HAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?P<v>(?P<year>[〇零一二三四五六七八九0-9]{2})年(?:十[一二]?|[一二三四五六七八九0-9]{1,2})月[初一二三四五六七八九十0-9]{1,3}[日号]?)",
    )
});

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = find_times(text)
        .into_iter()
        .filter_map(|time| {
            let coarse = month(&time.expression)?;
            Some(Found { range: time.range, kind: IdentifierKind::Date, sure: 940, coarse: Some(coarse) })
        })
        .collect();
    // Day and month may stand in either order, so that only the year is left.
    for captures in DIGITS.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        if let (Some(value), Some(year)) = (captures.name("v"), captures.name("year")) {
            let coarse = Some(year.as_str().to_owned());
            found.push(Found { range: value.range(), kind: IdentifierKind::Date, sure: 870, coarse });
        }
    }
    for captures in HAN.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        if let (Some(value), Some(year)) = (captures.name("v"), captures.name("year")) {
            let coarse = Some(year.as_str().to_owned());
            found.push(Found { range: value.range(), kind: IdentifierKind::Date, sure: 850, coarse });
        }
    }
    for captures in COMPACT.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let month = captures.name("month").or_else(|| captures.name("month2"));
        if let (Some(value), Some(year), Some(month)) = (captures.name("v"), captures.name("year"), month) {
            let coarse = Some(format!("{}-{:0>2}", year.as_str(), month.as_str()));
            found.push(Found { range: value.range(), kind: IdentifierKind::Date, sure: 860, coarse });
        }
    }
    found
}

/// The month of a date to the day. Relative dates and times of day identify nobody and stay.
fn month(expression: &TimeExpression) -> Option<String> {
    let (TimeExpression::Date(date) | TimeExpression::DateClock(date, _)) = expression else { return None };
    match date {
        DateExpression::Month { month: MonthReference::Named { year, month }, part: MonthPart::Day(_) } => {
            Some(match year {
                YearReference::Number(year) => format!("{year}-{month:02}"),
                YearReference::Unstated | YearReference::Offset(_) => format!("{month:02}"),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_months_and_relative_dates_stay() {
        for (text, expected) in [
            ("on 12 May 1990", Some("1990-05")),
            ("1990年5月12日", Some("1990-05")),
            ("March 4", Some("03")),
            ("2025-03-04", Some("2025-03")),
            ("04/03/2025", Some("2025")),
            ("born 19900512", Some("1990-05")),
            ("tomorrow at 9", None),
            ("下周五", None),
            ("in May", None),
        ] {
            assert_eq!(find(text).first().and_then(|one| one.coarse.as_deref()), expected, "{text}");
        }
    }
}
