use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use loopwright_sdk::{Code, Failure};
use serde_json::{Value, json};

use super::Net;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Net>()
}

/// Calls a tool and returns its data, or the failure's code.
fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Result<Value, Code> {
    test.call(tool, arguments)
        .map(|reply| reply.data)
        .map_err(|failure: Failure| failure.code().expect("a refusal, not a fault"))
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Net>();
}

#[test]
fn switches_are_idempotent() {
    for tool in [
        "manage_wifi",
        "manage_mobile_data",
        "manage_bluetooth",
        "manage_hotspot",
        "manage_nfc",
        "manage_roaming",
        "manage_airplane_mode",
    ] {
        let mut test = phone();
        for (action, on) in
            [("disable", false), ("enable", true), ("enable", true), ("disable", false), ("disable", false)]
        {
            let before = data(&mut test, tool, json!({"action": "query"})).expect("a query");
            let after = data(&mut test, tool, json!({"action": action})).expect("a switch");
            assert_eq!(after["changed"], json!(before["on"] != json!(on)), "{tool} {action}");
            assert_eq!(after["on"], json!(on), "{tool} {action}");
        }
    }
}

#[test]
fn airplane_mode_remembers_and_restores_the_radios() {
    let mut test = phone();
    let before = ["wifi", "mobile"].map(|key| test.document("net", key));
    let bluetooth = test.document("radio", "bluetooth");
    data(&mut test, "manage_airplane_mode", json!({"action": "enable"})).expect("airplane mode on");
    for tool in ["manage_wifi", "manage_mobile_data", "manage_bluetooth"] {
        assert_eq!(data(&mut test, tool, json!({"action": "query"})).expect("a query")["on"], json!(false), "{tool}");
        assert_eq!(data(&mut test, tool, json!({"action": "enable"})), Err(Code::CONFLICT), "{tool}");
    }
    data(&mut test, "manage_airplane_mode", json!({"action": "disable"})).expect("airplane mode off");
    assert_eq!(["wifi", "mobile"].map(|key| test.document("net", key)), before);
    assert_eq!(test.document("radio", "bluetooth"), bluetooth);
}

#[test]
fn a_hotspot_needs_mobile_data_and_its_own_band() {
    let mut test = phone();
    data(&mut test, "manage_mobile_data", json!({"action": "disable"})).expect("data off");
    assert_eq!(data(&mut test, "manage_hotspot", json!({"action": "enable"})), Err(Code::PRECONDITION));
    data(&mut test, "manage_mobile_data", json!({"action": "enable"})).expect("data on");
    data(&mut test, "manage_wifi", json!({"action": "connect", "ssid": "Office"})).expect("connected");
    assert_eq!(
        data(&mut test, "manage_hotspot", json!({"action": "enable"})).expect("on")["leftWifi"],
        json!("Office")
    );
    assert_eq!(data(&mut test, "manage_wifi", json!({"action": "connect", "ssid": "Office"})), Err(Code::CONFLICT));
    data(&mut test, "manage_wifi", json!({"action": "connect", "ssid": "HomeNet"})).expect("another band");
    data(&mut test, "manage_mobile_data", json!({"action": "disable"})).expect("data off");
    assert_eq!(data(&mut test, "manage_hotspot", json!({"action": "query"})).expect("a query")["on"], json!(false));
}

#[test]
fn renaming_the_hotspot_drops_its_clients() {
    let hotspot = json!({"on": true, "name": "MyPhone", "password": "12345678", "band": "2.4ghz", "max_devices": 5, "auto_off_min": 10, "clients": ["Laptop"]});
    let mut test = phone().state(json!({"net": {"hotspot": hotspot}}));
    data(&mut test, "configure_hotspot", json!({"settingItem": "max_devices", "settingValue": "3"})).expect("set");
    assert_eq!(test.document("net", "hotspot").expect("a document")["clients"], json!(["Laptop"]));
    data(&mut test, "configure_hotspot", json!({"settingItem": "hotspot_name", "settingValue": "Other"}))
        .expect("renamed");
    assert_eq!(test.document("net", "hotspot").expect("a document")["clients"], json!([]));
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("manage_wifi", json!({"action": "connect"}), Code::BAD_ARGUMENT, "ssid"),
        ("manage_wifi", json!({"action": "connect", "ssid": "Nowhere"}), Code::NOT_FOUND, "CoffeeShop"),
        ("manage_wifi", json!({"action": "connect", "ssid": "Guest"}), Code::BAD_ARGUMENT, "password"),
        (
            "manage_wifi",
            json!({"action": "connect", "ssid": "Guest", "password": "short"}),
            Code::BAD_ARGUMENT,
            "8 characters",
        ),
        ("manage_wifi", json!({"action": "forget", "ssid": "Guest"}), Code::NOT_FOUND, "HomeNet"),
        ("manage_bluetooth", json!({"action": "pair", "deviceName": "Toaster"}), Code::NOT_FOUND, "Speaker"),
        ("manage_bluetooth", json!({"action": "connect", "deviceName": "Speaker"}), Code::NOT_FOUND, "Earbuds"),
        ("manage_nfc", json!({"action": "set_mode", "mode": "card"}), Code::BAD_ARGUMENT, "bank"),
        ("manage_vpn", json!({"action": "connect", "profile": "School"}), Code::NOT_FOUND, "Work"),
        ("manage_data_limit", json!({"action": "set"}), Code::BAD_ARGUMENT, "limitMb"),
        (
            "manage_data_limit",
            json!({"action": "set", "limitMb": 100, "warnMb": 200}),
            Code::BAD_ARGUMENT,
            "at most the limit of 100",
        ),
        (
            "configure_hotspot",
            json!({"settingItem": "password", "settingValue": "short"}),
            Code::BAD_ARGUMENT,
            "8 to 63",
        ),
        ("configure_hotspot", json!({"settingItem": "band", "settingValue": "6ghz"}), Code::BAD_ARGUMENT, "5ghz"),
        (
            "configure_hotspot",
            json!({"settingItem": "max_devices", "settingValue": "99"}),
            Code::BAD_ARGUMENT,
            "from 1 to 10",
        ),
        ("manage_sim", json!({"action": "enable", "slot": 7}), Code::NOT_FOUND, "`1` or `2`"),
        ("manage_network_mode", json!({"action": "set"}), Code::BAD_ARGUMENT, "5g_auto"),
        ("query_data_usage", json!({"appName": "Chess"}), Code::NOT_FOUND, "Browser"),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        assert!(failure.message().contains(part), "{tool} {arguments}: `{}` lacks `{part}`", failure.message());
    }
}

#[test]
fn a_network_takes_its_own_password_only_and_tells_it_nobody() {
    let scan = json!([{"ssid": "Guest", "secured": true, "band": "2.4ghz", "password": "maple1234"}]);
    let mut test = phone().state(json!({"net": {"wifi": {"on": true, "connected": null, "saved": [], "scan": scan}}}));
    assert!(
        !data(&mut test, "manage_wifi", json!({"action": "scan"})).expect("networks").to_string().contains("maple")
    );
    assert_eq!(
        data(&mut test, "manage_wifi", json!({"action": "connect", "ssid": "Guest", "password": "maple0000"})),
        Err(Code::DENIED)
    );
    assert_eq!(
        data(&mut test, "manage_wifi", json!({"action": "connect", "ssid": "Guest", "password": "maple1234"}))
            .expect("connected")["connected"],
        json!("Guest")
    );
}

#[test]
fn the_default_card_moves_mobile_data() {
    let mut test = phone();
    data(&mut test, "manage_sim", json!({"action": "set_default", "slot": 2, "purpose": "data"})).expect("set");
    assert_eq!(test.document("net", "mobile").expect("a document")["slot"], json!(2));
    assert_eq!(test.document("sims", "1").expect("a document")["default_for"], json!(["call", "sms"]));
    data(&mut test, "manage_sim", json!({"action": "disable", "slot": 2})).expect("off");
    assert_eq!(test.document("net", "mobile").expect("a document")["slot"], json!(1));
    assert_eq!(
        data(&mut test, "manage_sim", json!({"action": "set_default", "slot": 2, "purpose": "sms"})),
        Err(Code::CONFLICT)
    );
}
