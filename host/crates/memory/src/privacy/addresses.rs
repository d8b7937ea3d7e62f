//! Postal addresses.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, IdentifierKind};
use crate::extract::compile;

const PATTERNS: &[(u16, &str)] = &[
    (
        930,
        r"(?i)(?P<v>\b\d{1,5}[A-Z]?(?:-\d{1,4})? (?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.? )?(?:(?-i:\p{Lu})[\p{L}'.]+ |\d{1,3}(?:st|nd|rd|th) ){1,4}(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|way|place|pl|square|terrace|highway|hwy|parkway|close|crescent|gardens|row)\b\.?(?:,? (?:apt|apartment|suite|ste|unit|flat|floor|#)\.? ?#?[A-Z0-9-]{1,6})?(?:, (?-i:\p{Lu})[\p{L} .]*)?(?:,? (?-i:[A-Z]{2}) \d{5}(?:-\d{4})?)?)",
    ),
    (920, r"(?i)(?P<v>\bp\.? ?o\.? box \d{1,8})"),
    (900, r"(?P<v>\b[A-Z]{2} \d{5}(?:-\d{4})?\b)"),
    (900, r"(?P<v>\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b)"),
    (
        880,
        r"(?P<v>\b(?:\p{Lu}[\p{L}]+(?:straße|strasse|str\.|weg|platz|gasse|allee)|(?:rue|via|calle|avenida) \p{Lu}[\p{L} ]+) \d{1,4}[a-z]?\b)",
    ),
    (
        950,
        r"(?P<v>(?:\p{Han}{2,8}?(?:省|自治区))?(?:\p{Han}{2,8}?(?:市|州|盟))?(?:\p{Han}{1,8}?(?:区|县|旗|市))?(?:\p{Han}{1,8}?(?:镇|乡|街道))?\p{Han}{1,8}?(?:路|街|大道|巷|胡同|弄|里|道)(?:[0-9一二三四五六七八九十百零]{1,6}(?:号|弄|巷|-[0-9]+号?))(?:(?:院|大院)?[0-9A-Za-z一二三四五六七八九十-]{1,6}(?:号楼|栋|幢|座|楼|单元|层|室|号|户|门)){0,5}(?:[0-9]{2,5}(?:室|号|房)?)?)",
    ),
    (
        930,
        r"(?P<v>\p{Han}{2,8}?(?:小区|花园|公寓|家园|苑|新村|大厦|广场|府|城|庭|湾|宿舍)(?:[0-9A-Za-z一二三四五六七八九十-]{1,6}(?:期|号楼|栋|幢|座|楼|单元|层|室|号|户|门)){1,5}(?:[0-9]{2,5}(?:室|号|房)?)?)",
    ),
    (
        900,
        r"(?P<v>(?:\p{Han}{2,8}(?:省|自治区))(?:\p{Han}{2,8}(?:市|州|盟))(?:\p{Han}{1,8}(?:区|县|旗|市))(?:\p{Han}{1,8}(?:镇|乡|街道|村))?(?:\p{Han}{1,6}[0-9一二三四五六七八九十]{1,4}(?:组|号|队))?)",
    ),
    (
        880,
        r"(?P<v>\p{Han}{1,8}?(?:区|县|镇|乡)\p{Han}{1,12}?[0-9]{1,5}(?:号楼|号院|号|楼|栋|幢|室)(?:[0-9A-Za-z-]{1,6}(?:栋|幢|座|楼|单元|层|室|号))*)",
    ),
    (
        880,
        r"(?P<v>(?:\p{Han}{2,6}(?:省|自治区))?\p{Han}{2,6}?市\p{Han}{1,8}?(?:县|区)\p{Han}{1,8}?(?:镇|乡|街道)(?:\p{Han}{1,8}?村)?)",
    ),
    (870, r"(?:邮编|邮政编码)[^0-9\n]{0,4}(?P<v>[0-9]{6})"),
];

/// Words that an address in Chinese does not begin with, although the pattern takes them with it.
const LEADING: &[&str] = &[
    "我现在住在",
    "我家住在",
    "我家住",
    "我家在",
    "我住在",
    "家住在",
    "家住",
    "住在",
    "搬到了",
    "搬到",
    "搬去",
    "寄到",
    "送到",
    "地址是",
    "地址在",
    "地址",
    "位于",
    "就在",
    "公司在",
    "快递到",
    "请寄",
    "请送",
    "来到",
    "去",
    "在",
    "到",
    "是",
    "我",
    "他",
    "她",
    "的",
];

static COMPILED: LazyLock<Vec<(u16, Regex)>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|(sure, pattern)| Some((*sure, compile(pattern)?))).collect());

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for (sure, pattern) in COMPILED.iter() {
        for value in pattern.captures_iter(text).filter_map(|captures| captures.name("v")) {
            let mut start = value.start();
            let mut said = value.as_str();
            while let Some(rest) =
                LEADING.iter().find_map(|word| said.strip_prefix(word)).filter(|rest| rest.chars().count() > 3)
            {
                start += said.len() - rest.len();
                said = rest;
            }
            found.push(Found::new(IdentifierKind::Address, start..value.end(), *sure));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(COMPILED.len(), PATTERNS.len());
    }

    #[test]
    fn an_address_does_not_take_the_words_before_it() {
        let text = "我住在杭州市西湖区文三路90号3栋201室。";
        let found = find(text);
        assert!(
            found.iter().any(|one| text.get(one.range.clone()) == Some("杭州市西湖区文三路90号3栋201室")),
            "{found:?}"
        );
    }
}
