use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Sms;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Sms>().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 8 * 3600).state(
        json!({"contacts": {
            "contact-a": {"id": "contact-a", "name": "Alice Wang", "phones": ["13811110001"]},
            "contact-b": {"id": "contact-b", "name": "Bob Li", "phones": ["13811110002"]},
            "contact-c": {"id": "contact-c", "name": "妈妈", "phones": ["13811110003"]},
            "contact-d": {"id": "contact-d", "name": "Bob Zhao", "phones": ["13811110004", "13811110005"]},
            "contact-e": {"id": "contact-e", "name": "Carl", "phones": []},
        }}),
    )
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

fn found(test: &mut TestPhone, arguments: Value) -> Vec<String> {
    data(test, "search_messages", arguments)["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| message["messageId"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Sms>();
}

#[test]
fn a_message_goes_to_a_name_or_a_number() {
    let mut test = phone();
    assert_eq!(
        data(&mut test, "send_message", json!({"contact": "妈妈", "content": "好的"}))["to"],
        json!("13811110003")
    );
    assert_eq!(
        data(&mut test, "send_message", json!({"contact": "alice", "content": "hi"}))["name"],
        json!("Alice Wang")
    );
    assert_eq!(
        data(&mut test, "send_message", json!({"phoneNumber": "+86 138-1111-0002", "content": "hi"}))["to"],
        json!("+8613811110002")
    );
    assert_eq!(test.document("messages", "msg-0001").expect("the message")["body"], json!("好的"));
}

#[test]
fn search_combines_its_filters_and_puts_the_newest_first() {
    let mut test = phone();
    for (arguments, expected) in [
        (json!({}), vec!["msg-d", "msg-b", "msg-c", "msg-a"]),
        (json!({"keyword": "CODE"}), vec!["msg-d"]),
        (json!({"contact": "妈妈"}), vec!["msg-b"]),
        (json!({"contact": "1069"}), vec!["msg-d"]),
        (json!({"unreadOnly": true}), vec!["msg-d", "msg-b"]),
        (json!({"dateRange": {"from": "2026-03-01", "to": "2026-03-01"}}), vec!["msg-b", "msg-c"]),
        (json!({"contact": "nobody"}), vec![]),
    ] {
        assert_eq!(found(&mut test, arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn a_deleted_contact_leaves_its_messages_under_the_number_and_a_new_name_shows() {
    let renamed = phone().state(
        json!({"contacts": {"contact-a": {"id": "contact-a", "name": "Alice Chen", "phones": ["13811110001"]}}}),
    );
    let gone =
        phone().state(json!({"contacts": {"contact-a": {"id": "contact-a", "name": "Alice Wang", "phones": []}}}));
    for (mut test, name) in [(renamed, "Alice Chen"), (gone, "13811110001")] {
        let messages = data(&mut test, "search_messages", json!({"keyword": "report"}));
        assert_eq!(messages["messages"][0]["name"], json!(name));
    }
}

#[test]
fn a_message_is_kept_marked_forwarded_and_deleted() {
    let mut test = phone();
    for (action, field) in [("mark_read", "read"), ("pin", "pinned")] {
        let arguments = json!({"action": action, "messageId": "msg-d"});
        assert_eq!(data(&mut test, "manage_message", arguments.clone())["changed"], json!(true));
        assert_eq!(data(&mut test, "manage_message", arguments)["changed"], json!(false));
        assert_eq!(test.document("messages", "msg-d").expect("the message")[field], json!(true));
    }
    assert_eq!(
        data(&mut test, "manage_message", json!({"action": "forward", "messageId": "msg-d", "target": "妈妈"}))["to"],
        json!("13811110003")
    );
    data(&mut test, "manage_message", json!({"action": "delete", "messageId": "msg-d"}));
    assert_eq!(test.document("messages", "msg-d"), None);
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("send_message", json!({"content": "hi"}), Code::BAD_ARGUMENT, "contact"),
        (
            "send_message",
            json!({"contact": "Alice", "phoneNumber": "123", "content": "hi"}),
            Code::BAD_ARGUMENT,
            "not both",
        ),
        ("send_message", json!({"contact": "Nobody", "content": "hi"}), Code::NOT_FOUND, "Nobody"),
        ("send_message", json!({"contact": "Carl", "content": "hi"}), Code::NOT_FOUND, "Carl"),
        ("send_message", json!({"contact": "bob", "content": "hi"}), Code::AMBIGUOUS, "bob"),
        ("send_message", json!({"contact": "Bob Zhao", "content": "hi"}), Code::AMBIGUOUS, "13811110005"),
        ("send_message", json!({"phoneNumber": "mum", "content": "hi"}), Code::BAD_ARGUMENT, "3 to 15 digits"),
        ("send_message", json!({"contact": "Alice", "content": ""}), Code::BAD_ARGUMENT, "1 to 1000"),
        (
            "search_messages",
            json!({"dateRange": {"from": "2026-02-30", "to": "2026-03-01"}}),
            Code::BAD_ARGUMENT,
            "dateRange.from",
        ),
        ("manage_message", json!({"action": "delete", "messageId": "msg-z"}), Code::NOT_FOUND, "msg-z"),
        ("manage_message", json!({"action": "forward", "messageId": "msg-a"}), Code::BAD_ARGUMENT, "target"),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        let told = format!("{} {}", failure.message(), failure.data().map(ToString::to_string).unwrap_or_default());
        assert!(told.contains(part), "{tool} {arguments}: `{told}` lacks `{part}`");
    }
}
