//! One table of spellings, each with the value that a reader of the language would name.

use super::*;
use NumberKind::{Cardinal, Ordinal, Percent};

fn check(text: &str, numerator: i64, denominator: i64, kind: NumberKind) {
    let expected = Number::ratio(numerator, denominator).unwrap();
    let found = parse_number(text);
    assert_eq!(found.as_ref().map(|found| (found.value, found.kind)), Some((expected, kind)), "reading {text:?}");
    assert_eq!(found.unwrap().range, 0..text.len(), "range of {text:?}");
}

#[test]
fn reads_digits() {
    for (text, value) in [
        ("0", 0),
        ("007", 7),
        ("1,200", 1_200),
        ("1,234,567", 1_234_567),
        ("１２", 12),
        ("-5", -5),
        ("\u{2212}5", -5),
        ("3 million", 3_000_000),
        ("3万", 30_000),
        ("1.2万", 12_000),
        ("5千", 5_000),
        ("2.50 hundred", 250),
        ("13800138000", 13_800_138_000),
    ] {
        check(text, value, 1, Cardinal);
    }
    check("1,200.50", 2_401, 2, Cardinal);
    check("½", 1, 2, Cardinal);
    check("1½", 3, 2, Cardinal);
    check("3 and a half", 7, 2, Cardinal);
    check("2个半", 5, 2, Cardinal);
    check("21st", 21, 1, Ordinal);
    check("５０％", 50, 1, Percent);
    check("12.5 percent", 25, 2, Percent);
    check("3 per cent", 3, 1, Percent);
}

#[test]
fn reads_english() {
    for (text, value) in [
        ("zero", 0),
        ("twelve", 12),
        ("twenty-five", 25),
        ("Twenty Five", 25),
        ("a hundred", 100),
        ("two hundred and five", 205),
        ("nineteen hundred", 1_900),
        ("one thousand two hundred thirty-four", 1_234),
        ("three million and one", 3_000_001),
        ("two hundred thousand", 200_000),
        ("half a dozen", 6),
        ("two dozen", 24),
        ("minus five", -5),
    ] {
        check(text, value, 1, Cardinal);
    }
    check("half", 1, 2, Cardinal);
    check("one and a half", 3, 2, Cardinal);
    check("three quarters", 3, 4, Cardinal);
    check("two thirds", 2, 3, Cardinal);
    check("three point one four", 157, 50, Cardinal);
    check("third", 3, 1, Ordinal);
    check("twenty-second", 22, 1, Ordinal);
    check("one hundred and first", 101, 1, Ordinal);
    check("fifty percent", 50, 1, Percent);
}

#[test]
fn reads_chinese() {
    for (text, value) in [
        ("零", 0),
        ("两", 2),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("二十五", 25),
        ("一百零五", 105),
        ("一百一", 110),
        ("二百五", 250),
        ("一百一十五", 115),
        ("三千零二十", 3_020),
        ("一万二", 12_000),
        ("两万五千", 25_000),
        ("十万", 100_000),
        ("一亿二千万", 120_000_000),
        ("三万亿", 3_000_000_000_000),
        ("二〇二五", 2_025),
        ("一二三四", 1_234),
        ("負五", -5),
        ("零下五", -5),
        ("叁佰", 300),
        ("一萬", 10_000),
    ] {
        check(text, value, 1, Cardinal);
    }
    check("半", 1, 2, Cardinal);
    check("三点二", 16, 5, Cardinal);
    check("零点五", 1, 2, Cardinal);
    check("一点五万", 15_000, 1, Cardinal);
    check("两个半", 5, 2, Cardinal);
    check("三分之一", 1, 3, Cardinal);
    check("第三", 3, 1, Ordinal);
    check("百分之五十", 50, 1, Percent);
    check("百分之12.5", 25, 2, Percent);
    check("五十%", 50, 1, Percent);
}

#[test]
fn refuses_what_is_no_number() {
    for text in [
        "",
        "hundred",
        "twenty twenty",
        "one two",
        "five hundred thousand million",
        "百",
        "三四",
        "一起",
        "十分",
        "1,20",
        "1.2.3",
        "five and",
        "12345678901234567890",
        "第",
        "百分之",
        "三分之",
        "point five",
        "a",
        "minus",
        "minus third",
        "一二千",
    ] {
        assert_eq!(parse_number(text), None, "{text:?} was read");
    }
}

#[test]
fn finds_numbers_inside_a_sentence() {
    let rows: &[(&str, &[&str])] = &[
        ("Set 2 alarms, the third at 7:30", &["2", "third", "7", "30"]),
        ("we'll stay together 一起看一下十分好的第二集", &["第二"]),
        ("把音量调到百分之三十，等十分钟", &["百分之三十", "十"]),
        ("mp3 and v2 and A4", &[]),
        ("三四个人，25人", &["25"]),
        ("温度零下五度", &["零下五"]),
        ("twenty second timer", &["twenty", "second"]),
        ("三点二十", &["三", "二十"]),
        ("range 5-7", &["5", "7"]),
    ];
    for (text, expected) in rows {
        let found: Vec<&str> = find_numbers(text).into_iter().map(|found| &text[found.range]).collect();
        assert_eq!(found, *expected, "numbers of {text:?}");
    }
}
