//! Amounts and payment methods.

use loopwright_sdk::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An amount rounded to cents, ties to the even digit of the exact value.
pub(crate) fn cents(amount: f64) -> f64 {
    format!("{amount:.2}").parse().unwrap_or(amount)
}

/// A payment or refund of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) transaction_type: String,
    pub(crate) amount: f64,
    pub(crate) payment_method_id: String,
}

impl Payment {
    pub(crate) fn new(kind: &str, amount: f64, method: &str) -> Self {
        Self { transaction_type: kind.to_owned(), amount, payment_method_id: method.to_owned() }
    }
}

/// A user of the shop. Fields that no rule needs are kept as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) user_id: String,
    pub(crate) payment_methods: Map<String, Value>,
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

impl User {
    /// Checks that the user has this payment method.
    pub(crate) fn has(&self, method: &str) -> Result<(), Failure> {
        if self.payment_methods.contains_key(method) {
            Ok(())
        } else {
            Err(Failure::not_found("payment method", method)
                .with_allowed(self.payment_methods.keys().cloned().collect::<Vec<_>>()))
        }
    }

    /// The balance of a gift card; none for other methods.
    pub(crate) fn balance(&self, method: &str) -> Option<f64> {
        self.payment_methods
            .get(method)
            .filter(|method| method.get("source") == Some(&Value::from("gift_card")))?
            .get("balance")?
            .as_f64()
    }

    /// Checks that a gift card holds an amount; other methods always do.
    pub(crate) fn can_pay(&self, method: &str, amount: f64) -> Result<(), Failure> {
        match self.balance(method) {
            Some(balance) if balance < amount => Err(Failure::conflict(
                &format!("gift card `{method}` holds {balance}, {amount} is needed"),
                "choose another payment method",
            )),
            _ => Ok(()),
        }
    }

    /// Adds to a gift card (takes, when negative); says whether the method is one.
    pub(crate) fn add_to_balance(&mut self, method: &str, amount: f64) -> bool {
        let Some(balance) = self.balance(method) else { return false };
        if let Some(card) = self.payment_methods.get_mut(method).and_then(Value::as_object_mut) {
            card.insert("balance".to_owned(), Value::from(cents(balance + amount)));
        }
        true
    }
}
