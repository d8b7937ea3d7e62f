//! What holds for every text.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::ops::Range;

use jiff::civil::DateTime;
use loopwright_text::{
    CLAUSES_MAX, Prefer, Reference, TOKEN_CHARS_MAX, TokenKind, clauses, find_numbers, find_times, parse_number,
    parse_time, query_tokens, quotations, resolve, tokenize,
};
use proptest::prelude::*;

/// Words and signs that the grammars know, so that random texts come near to what they read.
const FRAGMENTS: &[&str] = &[
    "at ",
    "in ",
    "on the ",
    "half ",
    "past ",
    "to ",
    "quarter ",
    "a ",
    "an ",
    "and ",
    "next ",
    "last ",
    "this ",
    "Friday ",
    "March ",
    "tomorrow ",
    "morning ",
    "7:30",
    "19:00",
    " pm",
    " a.m.",
    "2025-03-04",
    "T",
    "4th ",
    "hours ",
    "minutes ",
    "h",
    "m",
    "ago",
    "from now",
    "twenty",
    "-",
    "five ",
    "hundred ",
    "million ",
    "point ",
    "minus ",
    "percent",
    "%",
    "1,200",
    ".5",
    "½",
    "０",
    "９",
    "99999999999999999999",
    "明天",
    "下",
    "个",
    "周",
    "五",
    "月",
    "底",
    "号",
    "年",
    "早上",
    "七",
    "点",
    "半",
    "二十",
    "分",
    "钟",
    "小时",
    "后",
    "前",
    "过",
    "差",
    "一刻",
    "两",
    "百",
    "千",
    "万",
    "亿",
    "零",
    "分之",
    "百分之",
    "第",
    "负",
    "天",
    "，",
    "。",
    " ",
    "“",
    "”",
    "然后",
    "并",
    "wifi_name",
    "targetDevice",
    "Wi-Fi",
    "'s",
    "\u{301}",
    "\u{200b}",
    "ﬁ",
    "㍻",
    "한",
    "ｶﾞ",
    "é",
    "İ",
    "ß",
    "🙂",
    "\n",
];

fn text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![4 => prop::sample::select(FRAGMENTS).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

fn is_inside(text: &str, range: &Range<usize>) -> bool {
    range.start < range.end && text.get(range.clone()).is_some()
}

fn in_order(ranges: &[Range<usize>]) -> bool {
    ranges.is_sorted_by(|left, right| left.end <= right.start)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn tokens_are_bounded_and_lie_in_the_text(text in text()) {
        let tokens = tokenize(&text);
        for token in &tokens {
            prop_assert!(is_inside(&text, &token.range), "{:?} of {:?}", token, text);
            prop_assert!((1..=TOKEN_CHARS_MAX).contains(&token.text.chars().count()));
        }
        prop_assert!(tokens.is_sorted_by_key(|token| token.position));
        prop_assert!(tokens.is_sorted_by_key(|token| token.range.start));
        let query = query_tokens(&text);
        prop_assert!(query.iter().all(|token| tokens.contains(token)));
        prop_assert_eq!(query.is_empty(), tokens.is_empty());
    }

    #[test]
    fn width_and_case_do_not_change_tokens(words in prop::collection::vec("[a-z]{1,8}|[0-9]{1,4}", 0..8)) {
        let text = words.join(" ");
        let wide: String = text.chars().map(|ch| if ch == ' ' { ch } else { char::from_u32(u32::from(ch) + 0xfee0).unwrap() }).collect();
        let terms = |text: &str| tokenize(text).into_iter().map(|token| (token.text, token.position, token.stop)).collect::<Vec<_>>();
        prop_assert_eq!(terms(&text), terms(&wide));
        prop_assert_eq!(terms(&text), terms(&text.to_uppercase()));
    }

    #[test]
    fn a_chinese_run_gives_every_character_and_every_pair(run in "[一-龥]{1,12}") {
        let tokens = tokenize(&run);
        let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
        let characters = run.chars().count();
        prop_assert_eq!((count(TokenKind::Unigram), count(TokenKind::Bigram)), (characters, characters - 1));
    }

    #[test]
    fn clauses_and_quotations_lie_in_the_text_in_order(text in text()) {
        let clauses = clauses(&text);
        prop_assert!(clauses.len() <= CLAUSES_MAX);
        prop_assert!(clauses.iter().chain(&quotations(&text)).all(|range| is_inside(&text, range)));
        prop_assert!(in_order(&clauses) && in_order(&quotations(&text)));
    }

    #[test]
    fn numbers_and_times_lie_in_the_text_in_order(text in text()) {
        let numbers: Vec<_> = find_numbers(&text).into_iter().map(|found| found.range).collect();
        let times: Vec<_> = find_times(&text).into_iter().map(|found| found.range).collect();
        prop_assert!(numbers.iter().chain(&times).all(|range| is_inside(&text, range)), "{:?}", text);
        prop_assert!(in_order(&numbers) && in_order(&times), "{:?} in {:?}", (numbers, times), text);
    }

    #[test]
    fn what_is_found_reads_alone(text in text()) {
        if let Some(number) = parse_number(&text) {
            prop_assert_eq!(find_numbers(&text), vec![number]);
        }
        if let Some(expression) = parse_time(&text) {
            prop_assert!(find_times(&text).iter().any(|found| found.expression == expression));
        }
    }

    #[test]
    fn placing_never_fails_badly(text in text(), seconds in -377_705_023_201_i64..=253_402_207_200, past in any::<bool>()) {
        let now = DateTime::default().checked_add(jiff::Span::new().seconds(seconds)).unwrap_or(DateTime::MAX);
        let prefer = if past { Prefer::Past } else { Prefer::Future };
        for found in find_times(&text) {
            if let Some(interval) = resolve(&found.expression, &Reference { now, prefer }) {
                prop_assert!(interval.start < interval.end, "{:?} of {:?}", interval, text);
            }
        }
    }

    #[test]
    fn english_cardinals_read_back(value in 0_i64..1_000_000_000_000) {
        let found = parse_number(&spell_english(value)).unwrap();
        prop_assert_eq!(found.value.as_integer(), Some(value));
    }

    #[test]
    fn chinese_cardinals_read_back(value in 0_i64..1_000_000_000_000) {
        let spelled = spell_chinese(value);
        let found = parse_number(&spelled).map(|found| found.value.as_integer());
        prop_assert_eq!(found, Some(Some(value)), "{}", spelled);
    }
}

/// The usual English spelling, written independently of the reader.
fn spell_english(value: i64) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let index = |value: i64| usize::try_from(value).unwrap();
    let with_rest = |unit: i64, name: &str, joint: &str| {
        let head = format!("{} {name}", spell_english(value / unit));
        if value % unit == 0 { head } else { format!("{head}{joint}{}", spell_english(value % unit)) }
    };
    match value {
        0..=19 => SMALL[index(value)].to_owned(),
        20..=99 if value % 10 == 0 => TENS[index(value / 10)].to_owned(),
        20..=99 => format!("{}-{}", TENS[index(value / 10)], SMALL[index(value % 10)]),
        100..=999 => with_rest(100, "hundred", " and "),
        1_000..=999_999 => with_rest(1_000, "thousand", " "),
        1_000_000..=999_999_999 => with_rest(1_000_000, "million", " "),
        _ => with_rest(1_000_000_000, "billion", " "),
    }
}

/// The usual Chinese spelling: sections of four digits with 万 and 亿, 零 for gaps, 十 alone at the start.
fn spell_chinese(value: i64) -> String {
    const DIGITS: [char; 10] = ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    let index = |value: i64| usize::try_from(value).unwrap();
    if value == 0 {
        return "零".to_owned();
    }
    let section = |value: i64| {
        let mut text = String::new();
        let mut gap = false;
        for (unit, name) in [(1_000, "千"), (100, "百"), (10, "十"), (1, "")] {
            let digit = value / unit % 10;
            if digit == 0 {
                gap = !text.is_empty();
            } else {
                if gap {
                    text.push('零');
                    gap = false;
                }
                text.push(DIGITS[index(digit)]);
                text.push_str(name);
            }
        }
        text
    };
    let mut text = String::new();
    for (unit, name) in [(100_000_000, "亿"), (10_000, "万"), (1, "")] {
        let part = value / unit % 10_000;
        if part > 0 {
            let gap = !text.is_empty() && (part < 1_000 || value / unit / 10_000 % 10 == 0);
            if gap {
                text.push('零');
            }
            text.push_str(&section(part));
            text.push_str(name);
        }
    }
    match text.strip_prefix("一十") {
        Some(rest) => format!("十{rest}"),
        None => text,
    }
}
