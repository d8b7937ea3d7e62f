use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Clock;

fn phone_at(moment: &str) -> TestPhone {
    TestPhone::new().plugin::<Clock>().clock(moment).zone("Asia/Shanghai", 8 * 3600)
}

fn phone() -> TestPhone {
    phone_at("2026-03-02T09:00:00+08:00")
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Clock>();
}

#[test]
fn an_alarm_is_created_found_changed_and_deleted() {
    let mut test = phone();
    assert_eq!(
        data(
            &mut test,
            "manage_alarm",
            json!({"action": "create", "time": "06:45", "title": "Run", "repeatDays": ["wed", "mon"]})
        )["alarmId"],
        json!("alarm-0001")
    );
    data(&mut test, "manage_alarm", json!({"action": "create", "time": "07:30"}));
    let alarms = data(&mut test, "manage_alarm", json!({"action": "query"}));
    assert_eq!(alarms["total"], json!(2));
    assert_eq!(alarms["alarms"][0]["repeatDays"], json!(["mon", "wed"]));
    for (action, changed) in [("disable", true), ("disable", false), ("enable", true)] {
        assert_eq!(
            data(&mut test, "manage_alarm", json!({"action": action, "time": "06:45"}))["changed"],
            json!(changed),
            "{action}"
        );
    }
    data(&mut test, "manage_alarm", json!({"action": "update", "alarmId": "alarm-0001", "time": "07:30"}));
    assert_eq!(
        test.call("manage_alarm", json!({"action": "delete", "time": "07:30"})).expect_err("two alarms").code(),
        Some(Code::AMBIGUOUS)
    );
    data(&mut test, "manage_alarm", json!({"action": "delete", "title": "run"}));
    assert_eq!(test.keys("alarms"), ["alarm-0002"]);
}

#[test]
fn a_timer_keeps_its_rest_while_it_is_paused() {
    let running = json!({"id": "timer-a", "label": "Tea", "duration_s": 600, "remaining_s": 600, "state": "running", "ends_at": "2026-03-02T09:10:00+08:00", "created": "", "modified": ""});
    let mut test = phone_at("2026-03-02T09:04:00+08:00").state(json!({"timers": {"timer-a": running}}));
    assert_eq!(
        data(&mut test, "manage_countdown", json!({"action": "query"}))["timers"][0]["remainingSec"],
        json!(360)
    );
    assert_eq!(data(&mut test, "manage_countdown", json!({"action": "pause"}))["timer"]["remainingSec"], json!(360));
    assert_eq!(data(&mut test, "manage_countdown", json!({"action": "pause"}))["changed"], json!(false));
    let resumed = data(&mut test, "manage_countdown", json!({"action": "resume", "label": "tea"}));
    assert_eq!(resumed["timer"]["endsAt"], json!("2026-03-02T09:10:00+08:00"));
    data(&mut test, "manage_countdown", json!({"action": "cancel", "timerId": "timer-a"}));
    assert!(test.keys("timers").is_empty());
    let late = json!({"timer-a": {"id": "timer-a", "label": "", "duration_s": 60, "remaining_s": 60, "state": "running", "ends_at": "2026-03-02T08:00:00+08:00", "created": "", "modified": ""}});
    assert_eq!(
        data(&mut phone().state(json!({"timers": late})), "manage_countdown", json!({"action": "query"}))["timers"][0]
            ["state"],
        json!("finished")
    );
}

#[test]
fn the_stopwatch_counts_only_while_it_runs() {
    let running = json!({"state": "running", "elapsed_ms": 500, "started_at": "2026-03-02T00:59:58Z", "laps": []});
    let mut test = phone().state(json!({"clock": {"stopwatch": running}}));
    assert_eq!(data(&mut test, "manage_stopwatch", json!({"action": "lap"}))["laps"], json!([2500]));
    assert_eq!(data(&mut test, "manage_stopwatch", json!({"action": "stop"}))["elapsedMs"], json!(2500));
    assert_eq!(data(&mut test, "manage_stopwatch", json!({"action": "stop"}))["changed"], json!(false));
    assert_eq!(
        test.call("manage_stopwatch", json!({"action": "lap"})).expect_err("stopped").code(),
        Some(Code::CONFLICT)
    );
    assert_eq!(data(&mut test, "manage_stopwatch", json!({"action": "reset"}))["elapsedMs"], json!(0));
}

#[test]
fn times_are_those_of_the_episode() {
    let now = data(&mut phone(), "query_current_time", json!({}));
    assert_eq!((&now["date"], &now["time"]), (&json!("2026-03-02"), &json!("09:00")));
    for (zone, time) in [("Asia/Tokyo", "10:00"), ("london", "01:00"), ("UTC", "01:00"), ("America/New_York", "20:00")]
    {
        assert_eq!(data(&mut phone(), "query_current_time", json!({"timezone": zone}))["time"], json!(time), "{zone}");
    }
    let mut test = phone();
    assert_eq!(
        data(&mut test, "manage_world_clock", json!({"action": "add", "city": "tokyo"}))["cities"],
        json!(["Beijing", "Tokyo"])
    );
    assert_eq!(
        data(&mut test, "manage_world_clock", json!({"action": "add", "city": "Tokyo"}))["changed"],
        json!(false)
    );
    assert_eq!(
        data(&mut test, "manage_world_clock", json!({"action": "remove", "city": "Beijing"}))["cities"],
        json!(["Tokyo"])
    );
    assert_eq!(data(&mut test, "manage_bedtime", json!({"action": "set", "sleepTime": "22:30"}))["on"], json!(true));
    assert_eq!(
        data(&mut test, "manage_bedtime", json!({"action": "set", "sleepTime": "22:30"}))["changed"],
        json!(false)
    );
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("manage_alarm", json!({"action": "create"}), Code::BAD_ARGUMENT, "time"),
        ("manage_alarm", json!({"action": "create", "time": "6:45"}), Code::BAD_ARGUMENT, "HH:MM"),
        ("manage_alarm", json!({"action": "create", "time": "24:00"}), Code::BAD_ARGUMENT, "23:59"),
        (
            "manage_alarm",
            json!({"action": "create", "time": "06:00", "ringtone": "Techno"}),
            Code::BAD_ARGUMENT,
            "Marimba",
        ),
        ("manage_alarm", json!({"action": "delete"}), Code::BAD_ARGUMENT, "alarmId"),
        ("manage_alarm", json!({"action": "delete", "alarmId": "alarm-9999"}), Code::NOT_FOUND, "alarm-9999"),
        ("manage_alarm", json!({"action": "delete", "time": "05:00"}), Code::NOT_FOUND, "05:00"),
        ("manage_countdown", json!({"action": "start"}), Code::BAD_ARGUMENT, "durationSec"),
        ("manage_countdown", json!({"action": "start", "durationSec": 90_000}), Code::BAD_ARGUMENT, "86399"),
        ("manage_countdown", json!({"action": "pause"}), Code::NOT_FOUND, "timer"),
        ("query_current_time", json!({"timezone": "Mars"}), Code::BAD_ARGUMENT, "Asia/Tokyo"),
        ("manage_world_clock", json!({"action": "add", "city": "Atlantis"}), Code::NOT_FOUND, "Singapore"),
        ("manage_bedtime", json!({"action": "set"}), Code::BAD_ARGUMENT, "sleepTime"),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        assert!(failure.message().contains(part), "{tool} {arguments}: `{}` lacks `{part}`", failure.message());
    }
}
