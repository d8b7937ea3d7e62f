use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Power;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Power>().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 8 * 3600)
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Power>();
}

#[test]
fn a_repeated_change_succeeds_and_says_that_nothing_changed() {
    for (tool, arguments) in [
        ("manage_battery", json!({"action": "set", "mode": "super_saving"})),
        ("control_device_power", json!({"action": "reboot"})),
        (
            "manage_scheduled_power",
            json!({"action": "enable", "onTime": "07:00", "offTime": "23:30", "days": ["fri", "mon", "mon"]}),
        ),
        ("control_cooling_fan", json!({"action": "level", "level": 2})),
        ("manage_device_info", json!({"action": "rename", "name": "Blue"})),
        ("manage_system_update", json!({"action": "download"})),
        ("manage_dnd", json!({"action": "enable", "untilTime": "18:00"})),
        ("manage_dnd", json!({"action": "allowlist", "allowContacts": ["Alice Wang"]})),
        ("manage_focus_mode", json!({"action": "start", "profile": "Work", "durationMin": 30})),
        ("manage_notification_setting", json!({"action": "set", "appName": "Games", "enabled": false})),
        ("manage_language_region", json!({"action": "set", "locale": "en-US"})),
        ("manage_datetime_setting", json!({"action": "set", "auto": false, "timezone": "Asia/Tokyo"})),
        ("manage_location_service", json!({"action": "accuracy", "accuracy": "device_only"})),
        ("manage_talkback", json!({"action": "enable"})),
        ("manage_select_to_speak", json!({"action": "enable"})),
        ("manage_accessibility_feature", json!({"action": "enable", "feature": "caption"})),
    ] {
        let mut test = phone();
        assert_eq!(data(&mut test, tool, arguments.clone())["changed"], json!(true), "{tool} {arguments}");
        assert_eq!(data(&mut test, tool, arguments.clone())["changed"], json!(false), "{tool} {arguments} again");
    }
}

#[test]
fn an_update_is_downloaded_before_it_is_installed_and_changes_the_version() {
    let mut test = phone();
    assert_eq!(
        test.call("manage_system_update", json!({"action": "install"})).expect_err("not downloaded").code(),
        Some(Code::CONFLICT)
    );
    data(&mut test, "manage_system_update", json!({"action": "download"}));
    assert_eq!(
        test.call("manage_system_update", json!({"action": "schedule", "time": "2026-03-01T03:00"}))
            .expect_err("in the past")
            .code(),
        Some(Code::BAD_ARGUMENT)
    );
    data(&mut test, "manage_system_update", json!({"action": "schedule", "time": "2026-03-03T03:00"}));
    data(&mut test, "manage_system_update", json!({"action": "install"}));
    assert_eq!(
        data(&mut test, "manage_device_info", json!({"action": "query", "item": "os_version"}))["osVersion"],
        json!("1.1.0")
    );
    assert_eq!(
        test.call("manage_system_update", json!({"action": "download"})).expect_err("nothing new").code(),
        Some(Code::NOT_FOUND)
    );
}

#[test]
fn focus_ends_on_the_phones_clock() {
    let mut test = phone();
    let focus = data(&mut test, "manage_focus_mode", json!({"action": "start", "profile": "Sleep", "durationMin": 90}));
    assert_eq!(focus["active"], json!({"profile": "Sleep", "until": "2026-03-02T10:30:00+08:00"}));
}

#[test]
fn every_setting_that_is_named_can_be_read() {
    let failure = phone().call("query_setting", json!({"key": "nothing"})).expect_err("an unknown key");
    let allowed = failure.data().and_then(|data| data["allowed"].as_array().cloned()).expect("the allowed keys");
    assert_eq!(allowed.len(), 16);
    for key in allowed {
        assert_eq!(data(&mut phone(), "query_setting", json!({"key": key}))["key"], key);
    }
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("manage_battery", json!({"action": "set"}), Code::BAD_ARGUMENT, "super_saving"),
        ("manage_scheduled_power", json!({"action": "enable"}), Code::BAD_ARGUMENT, "onTime"),
        ("manage_scheduled_power", json!({"action": "enable", "onTime": "7:00"}), Code::BAD_ARGUMENT, "HH:MM"),
        ("control_cooling_fan", json!({"action": "level"}), Code::BAD_ARGUMENT, "1 to 3"),
        ("control_cooling_fan", json!({"action": "level", "level": 9}), Code::BAD_ARGUMENT, "1 to 3"),
        ("manage_device_info", json!({"action": "rename"}), Code::BAD_ARGUMENT, "name"),
        ("manage_dnd", json!({"action": "schedule"}), Code::BAD_ARGUMENT, "schedule"),
        ("manage_dnd", json!({"action": "enable", "untilTime": "26:00"}), Code::BAD_ARGUMENT, "untilTime"),
        ("manage_dnd", json!({"action": "allowlist"}), Code::BAD_ARGUMENT, "allowContacts"),
        ("manage_focus_mode", json!({"action": "start", "profile": "Party"}), Code::NOT_FOUND, "Work"),
        (
            "manage_focus_mode",
            json!({"action": "start", "profile": "Work", "durationMin": 1}),
            Code::BAD_ARGUMENT,
            "5 to 720",
        ),
        ("manage_focus_mode", json!({"action": "define", "profile": "Gym"}), Code::BAD_ARGUMENT, "blockedApps"),
        (
            "manage_notification_setting",
            json!({"action": "set", "appName": "Chess", "enabled": true}),
            Code::NOT_FOUND,
            "Browser",
        ),
        ("manage_notification_setting", json!({"action": "set", "appName": "Maps"}), Code::BAD_ARGUMENT, "preview"),
        ("manage_language_region", json!({"action": "set", "locale": "fr-FR"}), Code::BAD_ARGUMENT, "ja-JP"),
        ("manage_datetime_setting", json!({"action": "set", "timezone": "Asia/Tokyo"}), Code::CONFLICT, "auto"),
        (
            "manage_datetime_setting",
            json!({"action": "set", "timezone": "Mars/Base"}),
            Code::BAD_ARGUMENT,
            "Europe/London",
        ),
        ("manage_location_service", json!({"action": "accuracy"}), Code::BAD_ARGUMENT, "battery_saving"),
        ("manage_accessibility_feature", json!({"action": "enable"}), Code::BAD_ARGUMENT, "magnification"),
        ("manage_usb_debug", json!({"action": "enable"}), Code::PRECONDITION, "developer options"),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        assert!(failure.message().contains(part), "{tool} {arguments}: `{}` lacks `{part}`", failure.message());
    }
}
