//! Orders and the items in them.

use loopwright_sdk::{Failure, Phone};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::money::{Payment, User};

/// Fields that an order has only after something was done to it. Results show them as `null` before.
const LATER_FIELDS: [&str; 7] = [
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
];

/// An item of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) product_id: String,
    pub(crate) item_id: String,
    pub(crate) price: f64,
    pub(crate) options: Map<String, Value>,
}

/// An order. Fields that no rule needs are kept as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) order_id: String,
    pub(crate) user_id: String,
    pub(crate) items: Vec<Item>,
    pub(crate) status: String,
    pub(crate) payment_history: Vec<Payment>,
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

/// A variant of a product.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Variant {
    pub(crate) options: Map<String, Value>,
    pub(crate) available: bool,
    pub(crate) price: f64,
}

#[derive(Debug, Deserialize)]
struct Product {
    variants: std::collections::BTreeMap<String, Variant>,
}

impl Order {
    /// The order of this id.
    pub(crate) fn read(phone: &Phone, id: &str) -> Result<Self, Failure> {
        phone.get("orders", id)?.ok_or_else(|| Failure::not_found("order", id))
    }

    /// Writes the order.
    pub(crate) fn keep(&self, phone: &mut Phone) -> Result<(), Failure> {
        Ok(phone.put("orders", &self.order_id, self)?)
    }

    /// The order's user.
    pub(crate) fn user(&self, phone: &Phone) -> Result<User, Failure> {
        Ok(phone.require("users", &self.user_id)?)
    }

    /// The order as results show it.
    pub(crate) fn shown(&self) -> Result<Value, Failure> {
        let mut value = serde_json::to_value(self).map_err(|error| Failure::fault(error.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            for field in LATER_FIELDS {
                fields.entry(field).or_insert(Value::Null);
            }
        }
        Ok(value)
    }

    /// Checks the status.
    pub(crate) fn must_be(&self, status: &str) -> Result<(), Failure> {
        if self.status == status {
            Ok(())
        } else {
            Err(Failure::conflict(
                &format!("order `{}` is `{}`", self.order_id, self.status),
                &format!("only an order that is `{status}` can be changed so"),
            ))
        }
    }

    /// Checks that the order holds these items, each as often as it is named.
    pub(crate) fn must_hold(&self, items: &[String]) -> Result<(), Failure> {
        for item in items {
            let named = items.iter().filter(|other| *other == item).count();
            let held = self.items.iter().filter(|held| held.item_id == *item).count();
            if named > held {
                return Err(Failure::not_found("item of the order", item.as_str())
                    .with_allowed(self.items.iter().map(|item| item.item_id.clone()).collect::<Vec<_>>()));
            }
        }
        Ok(())
    }

    /// The held item of this id.
    fn item(&self, id: &str) -> Result<&Item, Failure> {
        self.items.iter().find(|item| item.item_id == id).ok_or_else(|| Failure::not_found("item of the order", id))
    }

    /// For each pair of old and new item the available variant that replaces it; with the sum of the price differences, in order.
    pub(crate) fn replacements(
        &self,
        phone: &Phone,
        old: &[String],
        new: &[String],
    ) -> Result<(Vec<Variant>, f64), Failure> {
        self.must_hold(old)?;
        if old.len() != new.len() {
            return Err(Failure::bad_argument(
                "new_item_ids",
                format!("as many as item_ids: {}", old.len()),
                new.len(),
            ));
        }
        let mut variants = Vec::with_capacity(new.len());
        let mut difference = 0.0;
        for (old, new) in old.iter().zip(new) {
            let item = self.item(old)?;
            let product: Product = phone
                .get("products", &item.product_id)?
                .ok_or_else(|| Failure::not_found("product", item.product_id.as_str()))?;
            let variant = product.variants.get(new).filter(|variant| variant.available).cloned().ok_or_else(|| {
                let available: Vec<String> = product
                    .variants
                    .iter()
                    .filter(|(_, variant)| variant.available)
                    .map(|(id, _)| id.clone())
                    .collect();
                Failure::not_found("available item of the same product", new.as_str()).with_allowed(available)
            })?;
            difference += variant.price - item.price;
            variants.push(variant);
        }
        Ok((variants, difference))
    }

    /// Keeps a fact of what was done.
    pub(crate) fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.rest.insert(field.to_owned(), value.into());
    }
}

/// Ids in the order in which results list them.
pub(crate) fn sorted(ids: &[String]) -> Vec<String> {
    let mut ids = ids.to_vec();
    ids.sort();
    ids
}
