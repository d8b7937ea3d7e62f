//! Amounts of money, coarsened to one digit.

use std::sync::LazyLock;

use loopwright_text::{Number, parse_number};
use regex::Regex;

use super::{Found, IdentifierKind};
use crate::extract::compile;

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?ix)(?P<before>[$€£¥₩]|\b(?:usd|eur|gbp|rmb|cny|hkd|jpy)\ ?)\ ?(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,4})?)\ ?(?P<scale>k\b|m\b|million|thousand|万|亿)?
         |(?:^|[^\d,.])(?P<m>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,4})?)\ ?(?P<scale2>k|m|million|thousand|万|亿|千|百)?\ ?(?P<after>dollars?|euros?|pounds?|yuan|usd|eur|gbp|rmb|cny|bucks|元|块钱|块|人民币|美元|欧元|英镑|日元|港币)
         |(?P<h>[零一二三四五六七八九十百千万亿两]{2,16})(?P<after2>元|块钱|块|美元|欧元|英镑)",
    )
});

pub(super) fn find(text: &str) -> Vec<Found> {
    let captures = PATTERN.iter().flat_map(|pattern| pattern.captures_iter(text));
    captures
        .filter_map(|captures| {
            let number = captures.name("n").or_else(|| captures.name("m")).or_else(|| captures.name("h"))?;
            let start = captures.name("before").map_or(number.start(), |before| before.start());
            let last = ["n", "m", "h", "scale", "scale2", "after", "after2"]
                .iter()
                .filter_map(|name| captures.name(name))
                .map(|part| part.end())
                .max()?;
            let scale =
                captures.name("scale").or_else(|| captures.name("scale2")).map(|scale| scale.as_str().to_lowercase());
            let amount = round(parse_number(number.as_str())?.value, scale.as_deref())?;
            Some(Found {
                range: start..last,
                kind: IdentifierKind::Amount,
                sure: 910,
                coarse: Some(format!("about {amount}")),
            })
        })
        .collect()
}

/// The amount to its first digit.
fn round(value: Number, scale: Option<&str>) -> Option<i64> {
    let factor: i64 = match scale {
        None => 1,
        Some("百") => 100,
        Some("k" | "thousand" | "千") => 1_000,
        Some("万") => 10_000,
        Some("m" | "million") => 1_000_000,
        Some("亿") => 100_000_000,
        Some(_) => return None,
    };
    let whole = value.numerator().checked_mul(factor)?.checked_div(value.denominator())?;
    let mut unit: i64 = 1;
    while whole / unit >= 10 {
        unit = unit.checked_mul(10)?;
    }
    Some(whole.saturating_add(unit / 2) / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_one_digit() {
        for (text, expected) in [
            ("it cost $1,234.56", Some("about 1000")),
            ("工资是12800元", Some("about 10000")),
            ("3.7万元", Some("about 40000")),
            ("一千二百元", Some("about 1000")),
            ("paid 45 dollars", Some("about 50")),
            ("5 apples", None),
            ("两块蛋糕", None),
        ] {
            assert_eq!(find(text).first().and_then(|one| one.coarse.as_deref()), expected, "{text}");
        }
    }
}
