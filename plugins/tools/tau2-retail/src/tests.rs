use std::path::PathBuf;

use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use serde_json::{Value, json};

use super::Retail;

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Retail>();
}

/// A shop small enough to read.
fn shop() -> TestPhone {
    TestPhone::new().plugin::<Retail>().state(json!({
        "products": {"p1": {"name": "Lamp", "product_id": "p1", "variants": {
            "i1": {"item_id": "i1", "options": {"color": "red"}, "available": true, "price": 10.1},
            "i2": {"item_id": "i2", "options": {"color": "blue"}, "available": true, "price": 12.3},
            "i3": {"item_id": "i3", "options": {"color": "green"}, "available": false, "price": 9.0},
        }}},
        "users": {"ann_1": {
            "user_id": "ann_1", "name": {"first_name": "Ann", "last_name": "Lee"}, "email": "Ann@example.com", "address": {"zip": "123"},
            "payment_methods": {"card": {"source": "credit_card", "id": "card"}, "gift": {"source": "gift_card", "id": "gift", "balance": 2.0}}, "orders": ["#1", "#2"],
        }},
        "orders": {
            "#1": {"order_id": "#1", "user_id": "ann_1", "address": {}, "status": "pending", "fulfillments": [], "items": [{"name": "Lamp", "product_id": "p1", "item_id": "i1", "price": 10.1, "options": {"color": "red"}}], "payment_history": [{"transaction_type": "payment", "amount": 10.1, "payment_method_id": "card"}]},
            "#2": {"order_id": "#2", "user_id": "ann_1", "address": {}, "status": "delivered", "fulfillments": [], "items": [{"name": "Lamp", "product_id": "p1", "item_id": "i1", "price": 10.1, "options": {"color": "red"}}], "payment_history": [{"transaction_type": "payment", "amount": 10.1, "payment_method_id": "card"}]},
        },
    }))
}

#[test]
fn the_policy_refuses_what_it_forbids() {
    for (tool, arguments, part) in [
        ("cancel_pending_order", json!({"order_id": "#1", "reason": "bored"}), "no longer needed"),
        ("cancel_pending_order", json!({"order_id": "#2", "reason": "no longer needed"}), "delivered"),
        (
            "return_delivered_order_items",
            json!({"order_id": "#1", "item_ids": ["i1"], "payment_method_id": "card"}),
            "pending",
        ),
        (
            "return_delivered_order_items",
            json!({"order_id": "#2", "item_ids": ["i1", "i1"], "payment_method_id": "card"}),
            "i1",
        ),
        (
            "return_delivered_order_items",
            json!({"order_id": "#2", "item_ids": ["i1"], "payment_method_id": "paypal"}),
            "gift",
        ),
        (
            "exchange_delivered_order_items",
            json!({"order_id": "#2", "item_ids": ["i1"], "new_item_ids": ["i3"], "payment_method_id": "card"}),
            "i2",
        ),
        (
            "exchange_delivered_order_items",
            json!({"order_id": "#2", "item_ids": ["i1"], "new_item_ids": ["i2"], "payment_method_id": "gift"}),
            "holds 2",
        ),
        (
            "modify_pending_order_items",
            json!({"order_id": "#1", "item_ids": ["i1"], "new_item_ids": [], "payment_method_id": "card"}),
            "as many",
        ),
        (
            "modify_pending_order_payment",
            json!({"order_id": "#1", "payment_method_id": "card"}),
            "another payment method",
        ),
        ("modify_pending_order_payment", json!({"order_id": "#1", "payment_method_id": "gift"}), "holds 2"),
        ("find_user_id_by_email", json!({"email": "nobody@example.com"}), "nobody"),
        ("calculate", json!({"expression": "1 + import"}), "character 5"),
    ] {
        let failure = shop().call(tool, arguments.clone()).expect_err("a refusal");
        let told = format!("{} {}", failure.message(), failure.data().map(ToString::to_string).unwrap_or_default());
        assert!(failure.code().is_some() && told.contains(part), "{tool} {arguments}: `{told}` lacks `{part}`");
    }
}

#[test]
fn items_are_modified_once_and_a_gift_card_pays_the_difference() {
    let mut test = shop().state(json!({"users": {"ann_1": {"user_id": "ann_1", "payment_methods": {"gift": {"source": "gift_card", "id": "gift", "balance": 5.0}}}}}));
    let arguments = json!({"order_id": "#1", "item_ids": ["i1"], "new_item_ids": ["i2"], "payment_method_id": "gift"});
    let order = test.call("modify_pending_order_items", arguments.clone()).expect("modified").data;
    assert_eq!(order["status"], json!("pending (item modified)"));
    assert_eq!(test.document("users", "ann_1").expect("the user")["payment_methods"]["gift"]["balance"], json!(2.8));
    assert!(test.call("modify_pending_order_items", arguments).is_err());
    assert!(test.call("cancel_pending_order", json!({"order_id": "#1", "reason": "no longer needed"})).is_err());
}

/// Equal values, numbers by value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Recorded calls of the reference implementation give the recorded results, natively and for every fifth task; all of them through the
/// sandbox are an end-to-end test.
#[test]
fn recorded_calls_give_the_recorded_results() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/packs/tau2-retail");
    let (Ok(db), Ok(replays)) =
        (std::fs::read_to_string(folder.join("db.json")), std::fs::read_to_string(folder.join("replays.jsonl")))
    else {
        println!("skipped: no recorded calls at {}", folder.display());
        return;
    };
    let db: Value = serde_json::from_str(&db).expect("the database");
    let mut different = Vec::new();
    for line in replays.lines().step_by(5) {
        let task: Value = serde_json::from_str(line).expect("a record");
        let mut test = TestPhone::new().plugin::<Retail>().state(db.clone());
        for call in task["calls"].as_array().expect("calls") {
            let name = call["name"].as_str().expect("a name");
            let result = test.call(name, call["arguments"].clone()).map(|reply| reply.data);
            let equal = match (&result, call["ok"] == json!(true)) {
                (Ok(data), true) => same(data, &call["result"]),
                (Err(failure), false) => failure.code().is_some(),
                _ => false,
            };
            if !equal {
                different.push(format!(
                    "{} {name} {}: {} expected {}",
                    task["task_id"],
                    call["arguments"],
                    result.map_or_else(|failure| failure.message().to_owned(), |data| data.to_string()),
                    call["result"]
                ));
            }
        }
    }
    assert!(
        different.is_empty(),
        "{} calls differ, first: {}",
        different.len(),
        different.first().map_or("", String::as_str)
    );
}
