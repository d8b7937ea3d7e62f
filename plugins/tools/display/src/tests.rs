use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Display;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Display>().state(json!({
        "radio": {"bluetooth": {"on": true, "connected": ["Earbuds"]}},
        "contacts": {"contact-a": {"id": "contact-a", "name": "Alice"}},
    }))
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Display>();
}

#[test]
fn a_repeated_change_succeeds_and_says_that_nothing_changed() {
    for (tool, arguments) in [
        ("manage_brightness", json!({"action": "set", "level": 80})),
        ("manage_brightness", json!({"action": "auto"})),
        ("manage_dark_mode", json!({"action": "enable"})),
        ("manage_dark_mode", json!({"action": "schedule", "schedule": {"from": "22:00", "to": "06:30"}})),
        ("manage_eye_comfort", json!({"action": "enable", "intensity": 70})),
        ("manage_auto_rotate", json!({"action": "disable"})),
        ("set_screen_timeout", json!({"seconds": 300})),
        ("control_screen", json!({"action": "lock"})),
        ("manage_font", json!({"action": "set", "sizePercent": 130, "bold": true})),
        ("set_display_size", json!({"level": "large"})),
        ("manage_refresh_rate", json!({"action": "set", "mode": "high"})),
        ("set_screen_resolution", json!({"mode": "wqhd"})),
        ("manage_color_mode", json!({"action": "set", "mode": "vivid"})),
        ("manage_always_on_display", json!({"action": "enable", "style": "calendar"})),
        ("manage_status_bar_display", json!({"action": "show", "item": "network_speed"})),
        ("manage_volume", json!({"action": "set", "stream": "media", "level": 20})),
        ("manage_sound_mode", json!({"action": "set", "mode": "silent"})),
        ("manage_vibration", json!({"action": "set", "scope": "touch", "enabled": false})),
        ("set_ringtone", json!({"target": "contact", "contactId": "contact-a", "sound": "Bell"})),
        ("manage_sound_effect", json!({"action": "preset", "effect": "movie"})),
        ("manage_audio_output", json!({"action": "switch", "deviceName": "Earbuds"})),
        ("manage_audio_balance", json!({"action": "set", "mono": true, "balance": -20})),
    ] {
        let mut test = phone();
        assert_eq!(data(&mut test, tool, arguments.clone())["changed"], json!(true), "{tool} {arguments}");
        assert_eq!(data(&mut test, tool, arguments.clone())["changed"], json!(false), "{tool} {arguments} again");
    }
}

#[test]
fn steps_stop_at_the_ends() {
    let mut test = phone();
    data(&mut test, "manage_volume", json!({"action": "increase", "stream": "alarm", "level": 90}));
    assert_eq!(test.document("sound", "volume").expect("volumes")["alarm"], json!(100));
    data(&mut test, "manage_volume", json!({"action": "mute", "stream": "alarm"}));
    assert_eq!(test.document("sound", "volume").expect("volumes")["alarm"], json!(0));
    data(&mut test, "manage_brightness", json!({"action": "decrease", "level": 90}));
    assert_eq!(test.document("display", "brightness"), Some(json!({"level": 0, "auto": false})));
}

#[test]
fn a_query_changes_nothing() {
    for tool in [
        "manage_brightness",
        "manage_dark_mode",
        "manage_eye_comfort",
        "manage_auto_rotate",
        "manage_font",
        "manage_refresh_rate",
        "manage_color_mode",
        "manage_always_on_display",
        "manage_status_bar_display",
        "manage_volume",
        "manage_sound_mode",
        "manage_vibration",
        "manage_sound_effect",
        "manage_audio_output",
        "manage_audio_balance",
    ] {
        assert_eq!(data(&mut phone(), tool, json!({"action": "query"}))["changed"], json!(false), "{tool}");
    }
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("manage_brightness", json!({"action": "set"}), Code::BAD_ARGUMENT, "0 to 100"),
        ("manage_brightness", json!({"action": "set", "level": 101}), Code::BAD_ARGUMENT, "101"),
        ("manage_dark_mode", json!({"action": "schedule"}), Code::BAD_ARGUMENT, "schedule"),
        (
            "manage_dark_mode",
            json!({"action": "schedule", "schedule": {"from": "25:00", "to": "06:00"}}),
            Code::BAD_ARGUMENT,
            "schedule.from",
        ),
        ("set_screen_timeout", json!({"seconds": 45}), Code::BAD_ARGUMENT, "1800"),
        ("manage_font", json!({"action": "set"}), Code::BAD_ARGUMENT, "sizePercent"),
        ("manage_font", json!({"action": "set", "sizePercent": 500}), Code::BAD_ARGUMENT, "80 to 200"),
        ("manage_refresh_rate", json!({"action": "set"}), Code::BAD_ARGUMENT, "adaptive"),
        ("manage_status_bar_display", json!({"action": "hide"}), Code::BAD_ARGUMENT, "battery_percent"),
        ("manage_volume", json!({"action": "set", "level": 5}), Code::BAD_ARGUMENT, "stream"),
        ("manage_sound_mode", json!({"action": "set"}), Code::BAD_ARGUMENT, "vibrate"),
        ("manage_vibration", json!({"action": "set", "scope": "ring"}), Code::BAD_ARGUMENT, "enabled"),
        ("set_ringtone", json!({"target": "call", "sound": "Techno"}), Code::BAD_ARGUMENT, "Marimba"),
        ("set_ringtone", json!({"target": "contact", "sound": "Bell"}), Code::BAD_ARGUMENT, "contactId"),
        (
            "set_ringtone",
            json!({"target": "contact", "sound": "Bell", "contactId": "nobody"}),
            Code::NOT_FOUND,
            "nobody",
        ),
        ("manage_audio_output", json!({"action": "switch", "deviceName": "Car"}), Code::NOT_FOUND, "Earbuds"),
        ("manage_audio_balance", json!({"action": "set", "balance": 200}), Code::BAD_ARGUMENT, "-100 to 100"),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        assert!(failure.message().contains(part), "{tool} {arguments}: `{}` lacks `{part}`", failure.message());
    }
}
