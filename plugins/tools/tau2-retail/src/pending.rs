//! What can be done to an order that is not sent yet, and the user's address.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::money::{Payment, User};
use crate::order::Order;

/// The reasons for which an order is cancelled.
const REASONS: [&str; 2] = ["no longer needed", "ordered by mistake"];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cancel {
    /// The order's id, with its leading `#`.
    order_id: String,
    /// `no longer needed` or `ordered by mistake`.
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OrderAddress {
    /// The order's id, with its leading `#`.
    order_id: String,
    /// First address line.
    address1: String,
    /// Second address line, or empty.
    address2: String,
    /// City.
    city: String,
    /// State.
    state: String,
    /// Country.
    country: String,
    /// Zip code.
    zip: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserAddress {
    /// The user's id.
    user_id: String,
    /// First address line.
    address1: String,
    /// Second address line, or empty.
    address2: String,
    /// City.
    city: String,
    /// State.
    state: String,
    /// Country.
    country: String,
    /// Zip code.
    zip: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModifyItems {
    /// The order's id, with its leading `#`.
    order_id: String,
    /// The items that are replaced.
    item_ids: Vec<String>,
    /// Their replacements, in the same order: available items of the same products.
    new_item_ids: Vec<String>,
    /// What pays, or takes, the difference.
    payment_method_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModifyPayment {
    /// The order's id, with its leading `#`.
    order_id: String,
    /// The new payment method; another than before.
    payment_method_id: String,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("cancel_pending_order", cancel)
            .domain(crate::DOMAIN)
            .en("Cancels a pending order and refunds it.", "cancel order, refund, no longer needed, ordered by mistake")
            .zh("取消待处理订单并退款。", "取消订单 退款")
            .writes(),
        Tool::new("modify_pending_order_address", order_address)
            .domain(crate::DOMAIN)
            .en("Changes the address of a pending order.", "change shipping address, deliver to another address")
            .zh("修改待处理订单的收货地址。", "改收货地址 改地址")
            .writes(),
        Tool::new("modify_pending_order_items", items)
            .domain(crate::DOMAIN)
            .en(
                "Replaces items of a pending order by other variants of the same products; once for an order.",
                "change items, other size, other colour, modify order",
            )
            .zh("更换待处理订单中的商品款式，每单一次。", "换款式 换颜色 修改订单")
            .writes(),
        Tool::new("modify_pending_order_payment", payment)
            .domain(crate::DOMAIN)
            .en("Changes the payment method of a pending order.", "change payment method, pay with another card")
            .zh("修改待处理订单的支付方式。", "改支付方式 换卡支付")
            .writes(),
        Tool::new("modify_user_address", user_address)
            .domain(crate::DOMAIN)
            .en("Changes a user's default address.", "default address, user moved, change my address")
            .zh("修改用户默认地址。", "默认地址 搬家 改地址")
            .writes(),
    ]
}

fn cancel(phone: &mut Phone, arguments: Cancel) -> Result<Reply, Failure> {
    let mut order = Order::read(phone, &arguments.order_id)?;
    order.must_be("pending")?;
    if !REASONS.contains(&arguments.reason.as_str()) {
        return Err(Failure::bad_argument("reason", REASONS, arguments.reason));
    }
    let mut user = order.user(phone)?;
    let refunds: Vec<Payment> = order
        .payment_history
        .iter()
        .map(|payment| Payment::new("refund", payment.amount, &payment.payment_method_id))
        .collect();
    let mut credited = false;
    for refund in &refunds {
        credited |= user.add_to_balance(&refund.payment_method_id, refund.amount);
    }
    if credited {
        phone.put("users", &user.user_id, &user)?;
    }
    order.payment_history.extend(refunds);
    "cancelled".clone_into(&mut order.status);
    order.set("cancel_reason", arguments.reason);
    order.keep(phone)?;
    Ok(Reply::new("order cancelled", order.shown()?))
}

/// Whether the order is pending, its items changed or not.
fn must_be_pending(order: &Order) -> Result<(), Failure> {
    if order.status.contains("pending") { Ok(()) } else { order.must_be("pending") }
}

fn order_address(phone: &mut Phone, arguments: OrderAddress) -> Result<Reply, Failure> {
    let mut order = Order::read(phone, &arguments.order_id)?;
    must_be_pending(&order)?;
    let OrderAddress { address1, address2, city, state, country, zip, .. } = arguments;
    order.set("address", json!({"address1": address1, "address2": address2, "city": city, "state": state, "country": country, "zip": zip}));
    order.keep(phone)?;
    Ok(Reply::new("order address changed", order.shown()?))
}

fn user_address(phone: &mut Phone, arguments: UserAddress) -> Result<Reply, Failure> {
    let mut user: User = phone
        .get("users", &arguments.user_id)?
        .ok_or_else(|| Failure::not_found("user", arguments.user_id.as_str()))?;
    let UserAddress { address1, address2, city, state, country, zip, .. } = arguments;
    user.rest.insert("address".to_owned(), json!({"address1": address1, "address2": address2, "city": city, "state": state, "country": country, "zip": zip}));
    phone.put("users", &user.user_id, &user)?;
    Ok(Reply::new("user address changed", serde_json::to_value(&user).unwrap_or(Value::Null)))
}

fn items(phone: &mut Phone, arguments: ModifyItems) -> Result<Reply, Failure> {
    let mut order = Order::read(phone, &arguments.order_id)?;
    order.must_be("pending")?;
    let (variants, difference) = order.replacements(phone, &arguments.item_ids, &arguments.new_item_ids)?;
    let mut user = order.user(phone)?;
    let method = arguments.payment_method_id;
    user.has(&method)?;
    user.can_pay(&method, difference)?;
    let kind = if difference > 0.0 { "payment" } else { "refund" };
    order.payment_history.push(Payment::new(kind, difference.abs(), &method));
    if user.add_to_balance(&method, -difference) {
        phone.put("users", &user.user_id, &user)?;
    }
    // The records show that every replaced item takes price and options of the last replacement, while the sum is right. It is a defect of
    // the world that we reproduce, not one to mend: equal records are the point.
    if let Some(last) = variants.last() {
        for (old, new) in arguments.item_ids.iter().zip(&arguments.new_item_ids) {
            if let Some(item) = order.items.iter_mut().find(|item| item.item_id == *old) {
                item.item_id.clone_from(new);
                item.price = last.price;
                item.options.clone_from(&last.options);
            }
        }
    }
    "pending (item modified)".clone_into(&mut order.status);
    order.keep(phone)?;
    Ok(Reply::new("order items changed", order.shown()?))
}

fn payment(phone: &mut Phone, arguments: ModifyPayment) -> Result<Reply, Failure> {
    let mut order = Order::read(phone, &arguments.order_id)?;
    must_be_pending(&order)?;
    let method = arguments.payment_method_id;
    let mut user = order.user(phone)?;
    user.has(&method)?;
    let [paid] = order.payment_history.as_slice() else {
        return Err(Failure::conflict("the order was not paid in one payment", "its payment method cannot be changed"));
    };
    let paid = paid.clone();
    if paid.transaction_type != "payment" {
        return Err(Failure::conflict("the order was not paid in one payment", "its payment method cannot be changed"));
    }
    if paid.payment_method_id == method {
        return Err(Failure::bad_argument("payment_method_id", "another payment method than before", method));
    }
    user.can_pay(&method, paid.amount)?;
    order.payment_history.push(Payment::new("payment", paid.amount, &method));
    order.payment_history.push(Payment::new("refund", paid.amount, &paid.payment_method_id));
    let took = user.add_to_balance(&method, -paid.amount);
    let gave = user.add_to_balance(&paid.payment_method_id, paid.amount);
    if took || gave {
        phone.put("users", &user.user_id, &user)?;
    }
    order.keep(phone)?;
    Ok(Reply::new("order payment changed", order.shown()?))
}
