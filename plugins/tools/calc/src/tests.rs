use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Calc;

fn call(tool: &str, arguments: Value) -> Result<Value, (Code, String)> {
    TestPhone::new()
        .plugin::<Calc>()
        .call(tool, arguments)
        .map(|reply| reply.data)
        .map_err(|failure| (failure.code().expect("a refusal"), failure.message().to_owned()))
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Calc>();
}

#[test]
fn results_are_rounded_and_plain() {
    assert_eq!(
        call("calculate_expression", json!({"expression": "0.1 + 0.2"})),
        Ok(json!({"result": 0.3, "text": "0.3"}))
    );
    assert_eq!(
        call("calculate_expression", json!({"expression": "10 / 4", "precision": 0})).map(|data| data["text"].clone()),
        Ok(json!("2"))
    );
    assert_eq!(
        call("calculate_expression", json!({"expression": "0 * -1"})).map(|data| data["result"].clone()),
        Ok(json!(0))
    );
}

#[test]
fn units_convert_by_published_factors() {
    // NIST SP 811: 1 mi = 1.609344 km, 1 lb = 0.45359237 kg, 1 in = 2.54 cm; 100 °C = 212 °F; one jin is half a kilogram.
    for (category, from, to, value, expected) in [
        ("length", "mi", "km", 1.0, json!(1.609_344)),
        ("length", "inches", "Centimeters", 10.0, json!(25.4)),
        ("mass", "kilograms", "pounds", 1.0, json!(2.204_623)),
        ("mass", "kg", "lbs", 1.0, json!(2.204_623)),
        ("mass", "jin", "kg", 3.0, json!(1.5)),
        ("temperature", "celsius", "f", 100.0, json!(212)),
        ("temperature", "k", "°C", 0.0, json!(-273.15)),
        ("volume", "l", "ml", 1.5, json!(1500)),
        ("speed", "km/h", "mps", 36.0, json!(10)),
        ("time", "h", "min", 2.0, json!(120)),
        ("data", "gib", "mib", 1.0, json!(1024)),
    ] {
        let data = call("convert_unit", json!({"category": category, "fromUnit": from, "toUnit": to, "value": value}));
        assert_eq!(data.map(|data| data["value"].clone()), Ok(expected), "{value} {from} to {to}");
    }
    let (code, message) =
        call("convert_unit", json!({"category": "mass", "fromUnit": "stone", "toUnit": "kg", "value": 1}))
            .expect_err("an unknown unit");
    assert_eq!(code, Code::BAD_ARGUMENT);
    assert!(message.contains("kg (kilogram)") && message.contains("stone"), "{message}");
}

#[test]
fn currencies_convert_at_the_rates_of_the_world() {
    assert_eq!(
        call("convert_currency", json!({"amount": 100, "fromCurrency": "USD", "toCurrency": "cny"})),
        Ok(json!({"amount": 710, "currency": "CNY", "dated": "2026-03-01"}))
    );
    assert_eq!(
        call("convert_currency", json!({"amount": 1, "fromCurrency": "CNY", "toCurrency": "JPY"}))
            .map(|data| data["amount"].clone()),
        Ok(json!(21.13))
    );
    for (arguments, part) in [
        (json!({"amount": 1, "fromCurrency": "XYZ", "toCurrency": "CNY"}), "USD"),
        (json!({"amount": -1, "fromCurrency": "USD", "toCurrency": "CNY"}), "0 or more"),
    ] {
        let (code, message) = call("convert_currency", arguments.clone()).expect_err("a refusal");
        assert_eq!(code, Code::BAD_ARGUMENT);
        assert!(message.contains(part), "{arguments}: {message}");
    }
}
