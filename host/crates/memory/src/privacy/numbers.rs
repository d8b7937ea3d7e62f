//! Numbers and codes: telephones, identity documents, cards, plates, accounts, links.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Found, IdentifierKind};
use crate::extract::compile;

/// Digits from which on a run that no detector knows is doubtful.
const SUSPECT_DIGITS: usize = 6;

/// Patterns that are sure by themselves. `v` is what is taken out.
const PATTERNS: &[(IdentifierKind, u16, &str)] = &[
    (IdentifierKind::Email, 980, r"(?i)(?P<v>[\w.+-]+\s?@\s?[\w-]+(?:\.[\w-]{2,}){1,4})"),
    (
        IdentifierKind::Email,
        850,
        r"(?i)(?P<v>[\w.+-]+ ?[(\[]at[)\]] ?[\w-]+(?: ?(?:\.|[(\[]dot[)\]]) ?[\w-]{2,}){1,4})",
    ),
    (IdentifierKind::Url, 960, r#"(?i)(?P<v>\b(?:https?|ftp)://[^\s<>"'，。）)]{3,}|\bwww\.[^\s<>"'，。）)]{3,})"#),
    (
        IdentifierKind::Url,
        900,
        r"(?i)(?P<v>\b[a-z0-9-]+(?:\.[a-z0-9-]{2,}){0,3}\.(?:com|org|net|io|cn|de|me|info|co|app|dev|edu|gov|uk|eu|top|xyz)(?:/[\w./?=&%#-]*)?\b)",
    ),
    (IdentifierKind::Url, 900, r"(?P<v>\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b)"),
    (IdentifierKind::IdNumber, 950, r"(?P<v>\b\d{3}-\d{2}-\d{4}\b)"),
    (IdentifierKind::Phone, 950, r"(?P<v>(?:\+|00)86[ -]?1[3-9]\d[ -]?\d{4}[ -]?\d{4})"),
    (IdentifierKind::Phone, 950, r"(?:^|[^\d])(?P<v>1[3-9]\d[ -]?\d{4}[ -]?\d{4})(?:$|[^\d])"),
    (IdentifierKind::Phone, 900, r"(?:^|[^\d])(?P<v>\(?0\d{2,3}\)?[ -]?\d{7,8}(?:-\d{1,5})?)(?:$|[^\d])"),
    (IdentifierKind::Phone, 930, r"(?P<v>\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4})"),
    (IdentifierKind::Phone, 900, r"(?:^|[^\d-])(?P<v>(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})(?:$|[^\d])"),
    (IdentifierKind::Phone, 900, r"(?:^|[^\d])(?P<v>0\d{3,4} \d{3} ?\d{3,4})(?:$|[^\d])"),
    (
        IdentifierKind::Phone,
        850,
        r"(?i)(?:phone|mobile|cell|tel|call me at|call me on|reach me (?:at|on)|电话|手机|座机|联系方式)[^\d\n+]{0,12}(?P<v>\+?\d[\d ().-]{5,18}\d)",
    ),
    (
        IdentifierKind::Plate,
        950,
        r"(?P<v>[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使领][A-HJ-NP-Z][ ·•.]?[A-HJ-NP-Z0-9]{5,6}[挂学警港澳]?)",
    ),
    (
        IdentifierKind::Plate,
        880,
        r"(?i)\b(?:plate|licen[cs]e plate|registration|number plate|reg)(?: number| no\.?)?(?: is|'s|:|,)? ?(?P<v>(?-i:[A-Z0-9]{1,4}[ -]?[A-Z0-9]{2,4}(?:[ -]?[A-Z0-9]{1,4})?))\b",
    ),
    (IdentifierKind::Passport, 930, r"(?i)(?:passport|护照)[^\n\d]{0,20}?(?P<v>(?-i:[A-Z]{0,2})\d{7,9})\b"),
    (IdentifierKind::Passport, 850, r"(?:^|[^A-Za-z0-9])(?P<v>[EGPDSH][A-HJ-NP-Z]?\d{7,8})(?:$|[^A-Za-z0-9])"),
    (IdentifierKind::BankCard, 930, r"(?P<v>\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b)"),
    (
        IdentifierKind::BankCard,
        900,
        r"(?i)(?:account(?: number| no\.?)|acct|sort code|routing(?: number)?|银行账号|银行账户|账号|卡号|开户账号)[^\d\n]{0,10}(?P<v>\d[\d -]{5,26}\d)",
    ),
    (
        IdentifierKind::Account,
        920,
        r"(?i)(?:wechat|weixin|微信|qq|telegram|whatsapp|skype|line|instagram|twitter|github|discord|slack|支付宝|微博|抖音|小红书|钉钉|steam)(?: ?(?:id|号码|号|账号|帐号|用户名|handle|username|account))?(?: ?(?:is|是|为|叫|:))? ?(?P<v>@?[A-Za-z0-9][\w.-]{4,30})",
    ),
    (
        IdentifierKind::Account,
        900,
        r"(?i)(?:user ?name|user id|login|handle|screen name|account name|employee (?:id|number)|student (?:id|number)|member(?:ship)? (?:id|number)|customer (?:id|number)|用户名|登录名|账户名|工号|学号|会员号|客户号|订单号)(?: ?(?:is|是|为|:))? ?(?P<v>@?[A-Za-z0-9][\w.-]{2,30})",
    ),
    (IdentifierKind::Account, 900, r"(?:^|[\s(,:：])(?P<v>@[A-Za-z0-9_][\w.]{2,30})"),
    (IdentifierKind::Phone, 850, r"(?P<v>[零〇一二三四五六七八九幺]{7,18})"),
    (
        IdentifierKind::Email,
        820,
        r"(?i)(?P<v>[a-z0-9]+(?: (?:dot|underscore|dash) [a-z0-9]+)* at [a-z0-9-]+ dot (?:com|org|net|cn|de|io|edu|co)\b(?: dot [a-z]{2}\b)?)",
    ),
    (
        IdentifierKind::Account,
        900,
        r"(?i)(?:加|我的?)(?:vx?|wx|威信|薇信|v信)(?:信|号)?\s?(?:是|:)?\s?(?P<v>[a-z][a-z0-9_-]{5,24})",
    ),
];

static COMPILED: LazyLock<Vec<(IdentifierKind, u16, Regex)>> = LazyLock::new(|| {
    PATTERNS.iter().filter_map(|(kind, sure, pattern)| Some((*kind, *sure, compile(pattern)?))).collect()
});
static LONG: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\d(?:[ -]?\d){11,22}[Xx]?|\d{14}"));
static RUN: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"[A-Za-z]{0,3}\d(?:[ -]?\d){4,30}"));

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = COMPILED
        .iter()
        .flat_map(|(kind, sure, pattern)| {
            pattern
                .captures_iter(text)
                .filter_map(|captures| Some(Found::new(*kind, captures.name("v")?.range(), *sure)))
        })
        .collect();
    found.extend(
        LONG.iter()
            .flat_map(|pattern| pattern.find_iter(text))
            .filter_map(|run| long_number(run.as_str(), run.start())),
    );
    found
}

/// A run of 13 digits and more: by its check digit, or by its length alone.
fn long_number(run: &str, start: usize) -> Option<Found> {
    let compact: Vec<u8> = run.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let range = start..start + run.len();
    let digits = compact.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_x = digits < compact.len();
    let kind = match (compact.len(), digits) {
        (18, _) if is_resident_id(&compact) => (IdentifierKind::IdNumber, 990),
        (18, _) if has_birthday(&compact) => (IdentifierKind::IdNumber, 750),
        (14..=20, _) if has_x => (IdentifierKind::IdNumber, 600),
        (13..=19, _) if is_luhn(&compact) => (IdentifierKind::BankCard, 950),
        (15 | 18, _) => (IdentifierKind::IdNumber, 700),
        (16..=23, _) => (IdentifierKind::BankCard, 700),
        _ => return None,
    };
    Some(Found::new(kind.0, range, kind.1))
}

/// ISO 7064 MOD 11-2 over the 17 digits of a Chinese resident's number, with its birthday in place.
fn is_resident_id(compact: &[u8]) -> bool {
    let (Some(body), Some(check)) = (compact.get(..17), compact.get(17)) else { return false };
    let mut remainder: u32 = 0;
    for byte in body {
        if !byte.is_ascii_digit() {
            return false;
        }
        remainder = (remainder + u32::from(byte - b'0')) * 2 % 11;
    }
    let expected = (12 - remainder) % 11;
    let stated = if check.eq_ignore_ascii_case(&b'X') { 10 } else { u32::from(check.wrapping_sub(b'0')) };
    expected == stated && has_birthday(compact)
}

fn has_birthday(compact: &[u8]) -> bool {
    let number =
        |from: usize, to: usize| -> Option<i16> { std::str::from_utf8(compact.get(from..to)?).ok()?.parse().ok() };
    let parts = || Some((number(6, 10)?, i8::try_from(number(10, 12)?).ok()?, i8::try_from(number(12, 14)?).ok()?));
    parts().is_some_and(|(year, month, day)| {
        (1_880..=2_100).contains(&year) && jiff::civil::Date::new(year, month, day).is_ok()
    })
}

/// The check of Luhn (ISO/IEC 7812-1).
fn is_luhn(compact: &[u8]) -> bool {
    let mut sum: u32 = 0;
    for (place, byte) in compact.iter().rev().enumerate() {
        if !byte.is_ascii_digit() {
            return false;
        }
        let digit = u32::from(byte - b'0');
        let doubled = if place % 2 == 1 { digit * 2 } else { digit };
        sum += doubled / 10 + doubled % 10;
    }
    sum.is_multiple_of(10) && compact.iter().any(|byte| *byte != b'0')
}

/// Runs of digits, in digits or in words, and short codes, that a person should look at if they are still there.
pub(super) fn suspects(text: &str) -> Vec<Range<usize>> {
    let runs = RUN.iter().flat_map(|pattern| pattern.find_iter(text));
    let long = runs.filter(|run| run.as_str().bytes().filter(u8::is_ascii_digit).count() >= SUSPECT_DIGITS);
    let named = [&SPELT, &CODE].into_iter().flat_map(|pattern| pattern.iter());
    let named = named
        .flat_map(|pattern| pattern.captures_iter(text))
        .filter_map(|captures| captures.name("v").or_else(|| captures.name("v2")));
    long.map(|run| run.range()).chain(named.map(|run| run.range())).collect()
}

/// Three digits and more in words, in a row; of Chinese digits four, and no year.
static SPELT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?P<v>(?:(?:double|triple)[ -])?(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine)(?:(?:,? |-)(?:(?:double|triple)[ -])?(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine)){2,30})\b|(?P<w>[零〇一二三四五六七八九幺]{4})年|(?P<v2>[零〇一二三四五六七八九幺](?:[ ,、-]?[零〇一二三四五六七八九幺]){3,30})",
    )
});
/// What is called a code and has fewer digits than a long number.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)(?:\b(?:code|pin|passcode|password|combination)\b|密码|口令|验证码|门禁)[^\d\n]{0,12}(?P<v>\d[\d -]{1,8}\d)",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(COMPILED.len(), PATTERNS.len());
        assert!(LONG.is_some() && RUN.is_some() && SPELT.is_some() && CODE.is_some());
    }

    #[test]
    fn check_digits_are_checked() {
        // The example of GB 11643, and the same with another check digit.
        assert!(is_resident_id(b"11010519491231002X") && is_resident_id(b"440524188001010014"));
        assert!(!is_resident_id(b"110105194912310021") && !is_resident_id(b"11010519491331002X"));
        // The examples of ISO/IEC 7812.
        assert!(is_luhn(b"4111111111111111") && is_luhn(b"79927398713"));
        assert!(!is_luhn(b"4111111111111112") && !is_luhn(b"0000000000000000"));
    }
}
