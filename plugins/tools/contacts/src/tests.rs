use loopwright_sdk::Code;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Contacts;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Contacts>().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 8 * 3600)
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

fn names(test: &mut TestPhone, arguments: Value) -> Vec<String> {
    data(test, "search_contacts", arguments)["contacts"]
        .as_array()
        .expect("contacts")
        .iter()
        .map(|contact| contact["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Contacts>();
}

#[test]
fn a_new_contact_is_found_by_every_field() {
    let mut test = phone();
    let added = data(
        &mut test,
        "add_contact",
        json!({"name": " 李雷 ", "phoneNumber": "+86 138-0000-0000", "email": "li@example.com", "relation": "friend", "group": "school"}),
    );
    assert_eq!(added["contactId"], json!("contact-0001"));
    for arguments in [
        json!({"name": "李"}),
        json!({"phoneNumber": "13800000000"}),
        json!({"relation": "friend"}),
        json!({"group": "school"}),
    ] {
        assert_eq!(names(&mut test, arguments.clone()), ["李雷"], "{arguments}");
    }
    assert_eq!(names(&mut test, json!({"name": "alice"})), ["Alice Wang"]);
    assert_eq!(names(&mut test, json!({})).len(), 4);
    assert_eq!(
        test.call("add_contact", json!({"name": "李雷", "phoneNumber": "+8613800000000"}))
            .expect_err("a double")
            .code(),
        Some(Code::CONFLICT)
    );
}

#[test]
fn changes_are_idempotent_and_a_merge_keeps_every_number() {
    let mut test = phone();
    for arguments in [
        json!({"action": "favourite", "contactId": "contact-a"}),
        json!({"action": "update", "contactId": "contact-a", "fields": {"name": "Alice Chen", "phoneNumber": "139"}}),
    ] {
        assert_eq!(data(&mut test, "manage_contact", arguments.clone())["changed"], json!(true));
        assert_eq!(data(&mut test, "manage_contact", arguments)["changed"], json!(false));
    }
    let merged = data(
        &mut test,
        "manage_contact",
        json!({"action": "merge", "contactId": "contact-a", "otherContactId": "contact-b"}),
    );
    assert_eq!(merged["contact"]["phoneNumbers"], json!(["139", "13811110002"]));
    assert_eq!(test.document("contacts", "contact-b"), None);
    data(&mut test, "manage_contact", json!({"action": "delete", "contactId": "contact-a"}));
    assert_eq!(test.keys("contacts"), ["contact-c"]);
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("add_contact", json!({"name": "  "}), Code::BAD_ARGUMENT, "1 to 60"),
        ("add_contact", json!({"name": "A", "phoneNumber": "12ab"}), Code::BAD_ARGUMENT, "3 to 15 digits"),
        ("add_contact", json!({"name": "A", "email": "nowhere"}), Code::BAD_ARGUMENT, "mail address"),
        ("manage_contact", json!({"action": "update", "contactId": "contact-a"}), Code::BAD_ARGUMENT, "fields"),
        ("manage_contact", json!({"action": "merge", "contactId": "contact-a"}), Code::BAD_ARGUMENT, "otherContactId"),
        (
            "manage_contact",
            json!({"action": "merge", "contactId": "contact-a", "otherContactId": "contact-a"}),
            Code::BAD_ARGUMENT,
            "another contact",
        ),
        ("manage_contact", json!({"action": "delete", "contactId": "contact-z"}), Code::NOT_FOUND, "contact-z"),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        assert!(failure.message().contains(part), "{tool} {arguments}: `{}` lacks `{part}`", failure.message());
    }
}
