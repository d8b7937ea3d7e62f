use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Travel;

const TOOL: &str = "manage_flight_watch";

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Travel>().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 8 * 3600)
}

fn data(test: &mut TestPhone, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(TOOL, arguments).unwrap_or_else(|failure| panic!("{shown}: {}", failure.message())).data
}

fn listed(test: &mut TestPhone, arguments: Value) -> Vec<String> {
    let text = |watch: &Value| {
        let part = |name: &str| watch[name].as_str().unwrap_or_default().to_owned();
        format!("{}{}>{} {}", part("flightNo"), part("from"), part("to"), part("date")).trim().to_owned()
    };
    data(test, arguments)["watches"].as_array().expect("watches").iter().map(text).collect()
}

fn route(from: &str, to: &str) -> Value {
    json!({"from": from, "to": to})
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Travel>();
}

#[test]
fn monitors_are_added_and_listed_in_order() {
    let mut test = phone();
    let added = data(&mut test, json!({"action": "add", "route": route("Shanghai", "Chengdu")}));
    assert_eq!((&added["changed"], &added["watches"][0]["watchId"]), (&json!(true), &json!("watch-0001")));
    // As with alarms, who adds what is there has it twice: it is the planner's to look first.
    let again = data(&mut test, json!({"action": "add", "route": route(" Shanghai ", "Chengdu")}));
    assert_eq!((&again["changed"], &again["watches"][0]["watchId"]), (&json!(true), &json!("watch-0002")));
    assert_eq!(data(&mut test, json!({"action": "add", "flightNo": "mu 5101", "date": "2026-03-09"}))["changed"], true);
    assert_eq!(data(&mut test, json!({"action": "add", "flightNo": "MU5101"}))["changed"], true);
    data(&mut test, json!({"action": "add", "route": route("上海", "昆明")}));
    assert_eq!(
        listed(&mut test, json!({"action": "query"})),
        ["CA1831>", "MU5101>", "MU5101> 2026-03-09", "Shanghai>Chengdu", "Shanghai>Chengdu", "上海>昆明"]
    );
    assert_eq!(listed(&mut test, json!({"action": "query", "route": route("上海", "昆明")})), ["上海>昆明"]);
    assert_eq!(listed(&mut test, json!({"action": "query", "date": "2026-03-09"})), ["MU5101> 2026-03-09"]);
    assert_eq!(listed(&mut test, json!({"action": "query", "flightNo": "CZ1"})), Vec::<String>::new());
}

#[test]
fn removing_takes_what_is_named_and_nothing_else() {
    let mut test = phone();
    for to in ["Chengdu", "Kunming"] {
        data(&mut test, json!({"action": "add", "route": route("Shanghai", to)}));
    }
    assert_eq!(
        listed(&mut test, json!({"action": "remove", "route": route("shanghai", "chengdu")})),
        ["Shanghai>Chengdu"]
    );
    assert_eq!(test.keys("flight_watches"), ["watch-0002", "watch-a"]);
    let gone =
        test.call(TOOL, json!({"action": "remove", "route": route("Shanghai", "Chengdu")})).expect_err("it is gone");
    assert_eq!(gone.code().map(|code| code.get()), Some(404));
    assert_eq!(test.keys("flight_watches").len(), 2);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let mut test = phone();
    for arguments in [
        json!({"action": "add"}),
        json!({"action": "remove", "date": "2026-03-09"}),
        json!({"action": "add", "flightNo": "CA1831", "route": route("a", "b")}),
        json!({"action": "add", "flightNo": "1831"}),
        json!({"action": "add", "flightNo": "中1"}),
        json!({"action": "add", "flightNo": "CA12345"}),
        json!({"action": "add", "route": route("Shanghai", "shanghai")}),
        json!({"action": "add", "route": route("", "Chengdu")}),
        json!({"action": "add", "route": route(&"x".repeat(61), "Chengdu")}),
        json!({"action": "add", "route": route("a", "b"), "date": "2026-02-31"}),
    ] {
        let failure = test.call(TOOL, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code().map(|code| code.get()), Some(400), "{arguments}");
    }
    for number in 0..49 {
        data(&mut test, json!({"action": "add", "flightNo": format!("CZ{number}")}));
    }
    let full = test.call(TOOL, json!({"action": "add", "flightNo": "CZ99"})).expect_err("fifty there are");
    assert_eq!(full.code().map(|code| code.get()), Some(429));
}
