use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Devices;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Devices>()
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Devices>();
}

#[test]
fn one_session_at_a_time() {
    let mut test = phone();
    let start = |name: &str| json!({"action": "start", "targetDeviceName": name});
    assert_eq!(data(&mut test, "control_screen_casting", start("living room tv"))["changed"], json!(true));
    assert_eq!(data(&mut test, "control_screen_casting", start("Living Room TV"))["changed"], json!(false));
    let failure = test.call("control_screen_casting", start("Bedroom TV")).expect_err("a second session");
    assert_eq!(failure.code(), Some(Code::CONFLICT));
    assert!(failure.message().contains("Living Room TV"), "{}", failure.message());
    data(&mut test, "control_screen_casting", json!({"action": "stop"}));
    assert_eq!(data(&mut test, "control_screen_casting", start("Bedroom TV"))["device"], json!("Bedroom TV"));
}

#[test]
fn a_repeated_change_succeeds_and_says_that_nothing_changed() {
    for (tool, arguments) in [
        ("control_screen_casting", json!({"action": "start", "targetDeviceType": "pc", "connectionMethod": "wired"})),
        ("manage_device_pairing", json!({"action": "unpair", "deviceName": "Watch"})),
        ("manage_clipboard_sharing", json!({"action": "enable"})),
        ("manage_keyboard_mouse_sharing", json!({"action": "enable", "deviceName": "Office PC"})),
        ("manage_multi_screen", json!({"action": "start", "device": "Tablet", "mode": "extend"})),
    ] {
        let mut test = phone();
        assert_eq!(data(&mut test, tool, arguments.clone())["changed"], json!(true), "{tool} {arguments}");
        assert_eq!(data(&mut test, tool, arguments.clone())["changed"], json!(false), "{tool} {arguments} again");
    }
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    let away = || {
        phone().state(json!({"devices": {"peer-d": {"id": "peer-d", "name": "Tablet", "type": "tablet", "trusted": true, "online": false, "battery": null}}}))
    };
    for (mut test, tool, arguments, code, part) in [
        (phone(), "control_screen_casting", json!({"action": "start"}), Code::BAD_ARGUMENT, "targetDeviceName"),
        (
            phone(),
            "control_screen_casting",
            json!({"action": "start", "targetDeviceName": "Radio"}),
            Code::NOT_FOUND,
            "Office PC",
        ),
        (
            phone(),
            "control_screen_casting",
            json!({"action": "start", "targetDeviceName": "tv"}),
            Code::AMBIGUOUS,
            "Bedroom TV",
        ),
        (
            phone(),
            "control_screen_casting",
            json!({"action": "start", "targetDeviceType": "tv"}),
            Code::AMBIGUOUS,
            "Living Room TV",
        ),
        (
            phone(),
            "control_screen_casting",
            json!({"action": "start", "targetDeviceName": "Watch"}),
            Code::CONFLICT,
            "cannot show",
        ),
        (
            phone(),
            "control_screen_casting",
            json!({"action": "start", "targetDeviceName": "Office PC", "targetDeviceType": "tv"}),
            Code::BAD_ARGUMENT,
            "pc",
        ),
        (
            away(),
            "control_screen_casting",
            json!({"action": "start", "targetDeviceName": "Tablet"}),
            Code::PRECONDITION,
            "offline",
        ),
        (
            away(),
            "manage_device_pairing",
            json!({"action": "pair", "deviceName": "Tablet"}),
            Code::PRECONDITION,
            "offline",
        ),
        (
            phone(),
            "manage_device_pairing",
            json!({"action": "rename", "deviceName": "Tablet"}),
            Code::BAD_ARGUMENT,
            "newName",
        ),
        (
            phone(),
            "manage_keyboard_mouse_sharing",
            json!({"action": "enable", "deviceName": "Watch"}),
            Code::CONFLICT,
            "pc or tablet",
        ),
        (
            phone(),
            "manage_keyboard_mouse_sharing",
            json!({"action": "enable", "deviceName": "Tablet", "targetDeviceType": "tablet"}),
            Code::BAD_ARGUMENT,
            "another side",
        ),
        (
            phone(),
            "manage_multi_screen",
            json!({"action": "mode", "mode": "extend"}),
            Code::PRECONDITION,
            "start it first",
        ),
    ] {
        let failure = test.call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        let told = format!("{} {}", failure.message(), failure.data().map(ToString::to_string).unwrap_or_default());
        assert!(told.contains(part), "{tool} {arguments}: `{told}` lacks `{part}`");
    }
}
