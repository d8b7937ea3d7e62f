//! Finding users, orders, products and items.

use loopwright_sdk::{Failure, Phone, Query, Reply, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::order::Order;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ByNameZip {
    /// First name.
    first_name: String,
    /// Last name.
    last_name: String,
    /// Zip code.
    zip: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ByEmail {
    /// The customer's mail address.
    email: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OrderId {
    /// The order's id, with its leading `#`.
    order_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProductId {
    /// The product's id; not an item's.
    product_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ItemId {
    /// The item's id; not a product's.
    item_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserId {
    /// The user's id.
    user_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What identifies a user.
#[derive(Debug, Deserialize)]
struct Identity {
    name: Name,
    email: String,
    address: Address,
}

#[derive(Debug, Deserialize)]
struct Name {
    first_name: String,
    last_name: String,
}

#[derive(Debug, Deserialize)]
struct Address {
    zip: String,
}

pub(crate) fn tools() -> Vec<Tool> {
    let mut tools = people();
    tools.extend(things());
    tools
}

fn people() -> Vec<Tool> {
    vec![
        Tool::new("find_user_id_by_name_zip", by_name_zip)
            .domain(crate::DOMAIN)
            .en(
                "Finds a user's id by first name, last name and zip code.",
                "find user, authenticate, name and zip code",
            )
            .zh("按姓名和邮编查找用户编号。", "查找用户 姓名 邮编 身份")
            .reads(),
        Tool::new("find_user_id_by_email", by_email)
            .domain(crate::DOMAIN)
            .en("Finds a user's id by mail address.", "find user, authenticate, email address")
            .zh("按邮箱查找用户编号。", "查找用户 邮箱 身份")
            .reads(),
        Tool::new("get_user_details", user_details)
            .domain(crate::DOMAIN)
            .en(
                "Tells a user's profile, payment methods and orders.",
                "user profile, payment methods, orders of a user",
            )
            .zh("查询用户资料、支付方式和订单。", "用户资料 支付方式 用户订单")
            .reads(),
    ]
}

fn things() -> Vec<Tool> {
    vec![
        Tool::new("get_order_details", order_details)
            .domain(crate::DOMAIN)
            .en("Tells an order's items, status and payments.", "order status, order details, what was ordered")
            .zh("查询订单的商品、状态和付款。", "订单状态 订单详情")
            .reads(),
        Tool::new("get_product_details", product_details)
            .domain(crate::DOMAIN)
            .en(
                "Tells a product's variants with options, availability and price.",
                "product, variants, options, in stock",
            )
            .zh("查询商品的款式、库存和价格。", "商品 款式 库存 价格")
            .reads(),
        Tool::new("get_item_details", item_details)
            .domain(crate::DOMAIN)
            .en("Tells one item's options, availability and price.", "item, variant, option, price")
            .zh("查询单个款式的选项、库存和价格。", "款式 选项 价格")
            .reads(),
        Tool::new("list_all_product_types", product_types)
            .domain(crate::DOMAIN)
            .en("Lists all products with their ids.", "all products, catalogue, product types")
            .zh("列出所有商品及编号。", "所有商品 商品种类")
            .reads(),
    ]
}

/// The first user, by id, who fits. An exact field narrows the search; records whose case differs are found by looking at all.
fn user_id(
    phone: &Phone,
    field: &str,
    exact: &str,
    fits: impl Fn(&Identity) -> bool,
) -> Result<Option<String>, Failure> {
    for query in [Query::new().eq(field, exact), Query::new()] {
        if let Some(found) = phone.find_all::<Identity>("users", &query)?.into_iter().find(|user| fits(&user.value)) {
            return Ok(Some(found.key));
        }
    }
    Ok(None)
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn by_name_zip(phone: &mut Phone, arguments: ByNameZip) -> Result<Reply<String>, Failure> {
    let fits = |user: &Identity| {
        same(&user.name.first_name, &arguments.first_name)
            && same(&user.name.last_name, &arguments.last_name)
            && user.address.zip == arguments.zip
    };
    match user_id(phone, "/name/last_name", &arguments.last_name, fits)? {
        Some(id) => Ok(Reply::new("user found", id)),
        None => Err(Failure::not_found(
            "user of this name and zip code",
            format!("{} {}, {}", arguments.first_name, arguments.last_name, arguments.zip),
        )),
    }
}

fn by_email(phone: &mut Phone, arguments: ByEmail) -> Result<Reply<String>, Failure> {
    match user_id(phone, "/email", &arguments.email, |user| same(&user.email, &arguments.email))? {
        Some(id) => Ok(Reply::new("user found", id)),
        None => Err(Failure::not_found("user of this mail address", arguments.email)),
    }
}

fn document(phone: &Phone, collection: &str, what: &str, id: &str) -> Result<Value, Failure> {
    phone.get(collection, id)?.ok_or_else(|| Failure::not_found(what, id))
}

fn user_details(phone: &mut Phone, arguments: UserId) -> Result<Reply, Failure> {
    Ok(Reply::new("user", document(phone, "users", "user", &arguments.user_id)?))
}

fn order_details(phone: &mut Phone, arguments: OrderId) -> Result<Reply, Failure> {
    Ok(Reply::new("order", Order::read(phone, &arguments.order_id)?.shown()?))
}

fn product_details(phone: &mut Phone, arguments: ProductId) -> Result<Reply, Failure> {
    Ok(Reply::new("product", document(phone, "products", "product", &arguments.product_id)?))
}

fn item_details(phone: &mut Phone, arguments: ItemId) -> Result<Reply, Failure> {
    let products = phone.find_all::<Value>("products", &Query::new())?;
    let found = products.iter().find_map(|product| product.value.get("variants")?.get(&arguments.item_id));
    match found {
        Some(item) => Ok(Reply::new("item", item.clone())),
        None => Err(Failure::not_found("item", arguments.item_id)),
    }
}

fn product_types(phone: &mut Phone, _: Nothing) -> Result<Reply, Failure> {
    let mut types: Vec<(String, Value)> = phone
        .find_all::<Value>("products", &Query::new())?
        .into_iter()
        .filter_map(|product| Some((product.value.get("name")?.as_str()?.to_owned(), Value::from(product.key))))
        .collect();
    types.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Reply::new("products", Value::Object(types.into_iter().collect::<Map<String, Value>>())))
}
