//! Currencies at the rates of the world.

use loopwright_sdk::{Failure, Phone, Query, Reply};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{decimal, number};

/// A rate: millionths of the currency for one US dollar.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Rate {
    per_usd_micros: u64,
    dated: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ConvertCurrency {
    /// The amount, 0 or more.
    #[schemars(range(min = 0))]
    amount: f64,
    /// The amount's currency, three letters (ISO 4217).
    from_currency: String,
    /// The currency of the result.
    to_currency: String,
}

pub(crate) fn convert(phone: &mut Phone, arguments: ConvertCurrency) -> Result<Reply, Failure> {
    if !arguments.amount.is_finite() || arguments.amount < 0.0 {
        return Err(Failure::bad_argument("amount", "0 or more", arguments.amount));
    }
    let from = rate(phone, "fromCurrency", &arguments.from_currency)?;
    let to = rate(phone, "toCurrency", &arguments.to_currency)?;
    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
    let value = arguments.amount * (to.per_usd_micros as f64) / (from.per_usd_micros as f64);
    let text = decimal(value, 2);
    let currency = arguments.to_currency.to_uppercase();
    Ok(Reply::new(
        format!("{} {} = {text} {currency}", arguments.amount, arguments.from_currency.to_uppercase()),
        json!({"amount": number(&text), "currency": currency, "dated": to.dated}),
    ))
}

fn rate(phone: &Phone, argument: &str, code: &str) -> Result<Rate, Failure> {
    match phone.get("rates", &code.to_uppercase())? {
        Some(rate) => Ok(rate),
        None => {
            let known: Vec<String> =
                phone.find_all::<serde_json::Value>("rates", &Query::new())?.into_iter().map(|doc| doc.key).collect();
            Err(Failure::bad_argument(argument, known, code))
        }
    }
}
