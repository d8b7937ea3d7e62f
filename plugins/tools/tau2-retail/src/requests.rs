//! What can be asked for once an order was delivered: returns and exchanges.

use loopwright_sdk::{Failure, Phone, Reply, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::money::cents;
use crate::order::{Order, sorted};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Return {
    /// The order's id, with its leading `#`.
    order_id: String,
    /// The items that go back.
    item_ids: Vec<String>,
    /// What takes the refund: the method that paid, or a gift card.
    payment_method_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Exchange {
    /// The order's id, with its leading `#`.
    order_id: String,
    /// The items that go back.
    item_ids: Vec<String>,
    /// Their replacements, in the same order: available items of the same products.
    new_item_ids: Vec<String>,
    /// What pays, or takes, the difference.
    payment_method_id: String,
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("return_delivered_order_items", give_back)
            .domain(crate::DOMAIN)
            .en("Requests the return of items of a delivered order.", "return items, send back, refund")
            .zh("申请退回已送达订单的商品。", "退货 退款 寄回")
            .writes(),
        Tool::new("exchange_delivered_order_items", exchange)
            .domain(crate::DOMAIN)
            .en(
                "Requests the exchange of items of a delivered order for other variants of the same products.",
                "exchange items, swap, other size, other colour",
            )
            .zh("申请更换已送达订单的商品款式。", "换货 换尺码 换颜色")
            .writes(),
    ]
}

fn give_back(phone: &mut Phone, arguments: Return) -> Result<Reply, Failure> {
    let mut order = Order::read(phone, &arguments.order_id)?;
    order.must_be("delivered")?;
    let user = order.user(phone)?;
    let method = arguments.payment_method_id;
    user.has(&method)?;
    let paid_with = order.payment_history.first().map(|payment| payment.payment_method_id.clone());
    if user.balance(&method).is_none() && paid_with.as_ref() != Some(&method) {
        return Err(Failure::bad_argument("payment_method_id", "the method that paid, or a gift card", method));
    }
    order.must_hold(&arguments.item_ids)?;
    "return requested".clone_into(&mut order.status);
    order.set("return_items", sorted(&arguments.item_ids));
    order.set("return_payment_method_id", method);
    order.keep(phone)?;
    Ok(Reply::new("return requested", order.shown()?))
}

fn exchange(phone: &mut Phone, arguments: Exchange) -> Result<Reply, Failure> {
    let mut order = Order::read(phone, &arguments.order_id)?;
    order.must_be("delivered")?;
    let (_, difference) = order.replacements(phone, &arguments.item_ids, &arguments.new_item_ids)?;
    let difference = cents(difference);
    let user = order.user(phone)?;
    let method = arguments.payment_method_id;
    user.has(&method)?;
    user.can_pay(&method, difference)?;
    "exchange requested".clone_into(&mut order.status);
    order.set("exchange_items", sorted(&arguments.item_ids));
    order.set("exchange_new_items", sorted(&arguments.new_item_ids));
    order.set("exchange_payment_method_id", method);
    order.set("exchange_price_difference", difference);
    order.keep(phone)?;
    Ok(Reply::new("exchange requested", order.shown()?))
}
