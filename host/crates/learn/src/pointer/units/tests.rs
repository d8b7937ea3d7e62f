use super::*;
use crate::pointer::candidates::moment::{Format, of_now};

fn read(text: &str) -> Reading {
    Reading::new(text, of_now("2026-03-02T09:00:00+08:00"))
}

fn texts(reading: &Reading, bit: u32) -> Vec<String> {
    reading
        .found
        .iter()
        .filter(|found| found.bit == bit)
        .map(|found| match &found.meaning {
            Meaning::Text(text) => text.clone(),
            Meaning::Number(number) => number.to_string(),
            Meaning::Moment(moment) => [Format::DateTime, Format::Time, Format::Date]
                .iter()
                .find_map(|format| moment.written(*format))
                .expect("a part"),
            Meaning::Length(months, days, seconds) => format!("{months}/{days}/{seconds}"),
        })
        .collect()
}

#[test]
fn units_are_words_numbers_and_han() {
    let reading = read("I'll set 7:30，闹钟 Café");
    let units: Vec<&str> = reading.pieces.iter().map(|piece| reading.slice(&piece.bytes)).collect();
    assert_eq!(units, ["I'll", "set", "7", "30", "闹", "钟", "Café"]);
    assert_eq!(reading.units().len(), units.len());
}

#[test]
fn a_long_request_is_cut_at_its_limits() {
    let reading = read(&"word ".repeat(5 * UNITS_MAX));
    assert_eq!(reading.pieces.len(), UNITS_MAX);
    let reading = read(&"长".repeat(TEXT_BYTES_MAX));
    assert!(reading.text.len() <= TEXT_BYTES_MAX);
    let reading = read(&"7 ".repeat(4 * FOUND_MAX));
    assert_eq!(reading.found.len(), FOUND_MAX);
}

#[test]
fn typed_spans_are_found_in_both_languages() {
    for (text, bit, expected) in [
        ("Text Carol Zhang \"I got home\"", bits::QUOTE, vec!["I got home"]),
        ("Text Carol Zhang: hello", bits::NAME, vec!["Carol Zhang", "Text Carol Zhang"]),
        ("把手机连上CoffeeShop这个Wi-Fi", bits::NAME, vec!["CoffeeShop", "Wi-Fi"]),
        ("It's river1234.", bits::CODE, vec!["river1234"]),
        ("3月5号下午2点半到下午3点", bits::CLOCK, vec!["2026-03-05T14:30", "2026-03-02T15:00"]),
        ("in March 5, for 20 minutes", bits::LENGTH, vec!["0/0/1200"]),
        ("调到50%", bits::PERCENT, vec!["50"]),
        ("13千克", bits::NUMBER, vec!["13000", "13"]),
        ("Carol Zhang's number", bits::NAME, vec!["Zhang", "Carol Zhang"]),
        ("5公里是多少米", bits::MEASURE, vec!["kilometer", "meter"]),
        ("20 US dollars in yuan", bits::MEASURE, vec!["USD", "CNY"]),
        ("What is 12 times 34, plus 5?", bits::SUM, vec!["12 * 34 + 5"]),
        ("12乘以34再加5等于多少", bits::SUM, vec!["12 * 34 + 5"]),
        ("between 3 and 4", bits::SUM, vec![]),
    ] {
        assert_eq!(texts(&read(text), bit), expected, "{text}");
    }
}

#[test]
fn bytes_and_units_lead_to_each_other() {
    let reading = read("把“晚上好”发给Bob Li");
    let bytes = reading.found.iter().find(|found| found.bit == bits::QUOTE).expect("a quotation").bytes.clone();
    let span = reading.span(&bytes).expect("units");
    assert_eq!(span, 1..4);
    assert_eq!(reading.between(1, 3), Some(bytes.clone()));
    assert_eq!(reading.around(&span, 2), (0..1, 4..6));
    assert_eq!(reading.unit(Some(0)), "把");
    assert_eq!(reading.unit(Some(99)), "");
    assert_eq!(reading.between(3, 1), None);
}

#[test]
fn terms_of_units_are_those_of_their_text() {
    let reading = read("Set alarms 打开闹钟 now");
    let whole = 0..reading.pieces.len();
    assert_eq!(reading.terms(&whole), crate::pointer::grams::terms(&reading.text));
    assert_eq!(reading.terms(&(1..2)), crate::pointer::grams::terms("alarm"));
    assert_eq!(reading.terms(&(2..3)), crate::pointer::grams::terms("打"));
    assert!(reading.terms(&(0..0)).is_empty());
}
