//! The retail shop of the tau2 task pack, written from its policy, schemas and recorded results. It knows that world and no other.
//!
//! Amounts are doubles here, because that world's records hold them: sums are taken in the order of the records and balances are rounded to
//! cents, so that results are equal to the last digit.

mod find;
mod money;
mod order;
mod pending;
mod requests;

use loopwright_sdk::{Collection, Failure, Identity, Phone, Reply, Storage, Tool, ToolPlugin, arithmetic, identity};
use schemars::JsonSchema;
use serde::Deserialize;

/// The domain of every tool here.
const DOMAIN: &str = "ext.aftersale";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Calculate {
    /// Numbers with + - * / and parentheses.
    expression: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TransferToHumanAgents {
    /// What the user needs and why it cannot be done here.
    #[expect(dead_code, reason = "the summary is for the human agent, who is not part of this world")]
    summary: String,
}

struct Retail;

impl ToolPlugin for Retail {
    const IDENTITY: Identity = identity!("tau2-retail").world("tau2-retail");

    fn tools() -> Vec<Tool> {
        let mut tools = find::tools();
        tools.extend(pending::tools());
        tools.extend(requests::tools());
        tools.push(
            Tool::new("calculate", calculate)
                .domain(DOMAIN)
                .en("Calculates an expression, rounded to cents.", "calculate, sum, total, price difference")
                .zh("计算表达式，保留两位小数。", "计算 总价 差价")
                .reads(),
        );
        tools.push(
            Tool::new("transfer_to_human_agents", transfer)
                .domain(DOMAIN)
                .en("Hands the user over to a human agent.", "human agent, transfer, escalate, cannot help")
                .zh("转接人工客服。", "人工 转接 客服")
                .writes(),
        );
        tools
    }

    fn storage() -> Storage {
        Storage::new()
            .owns(Collection::new("products"))
            .owns(Collection::new("users").index("/email").index("/name/last_name"))
            .owns(Collection::new("orders"))
    }
}

fn calculate(_: &mut Phone, arguments: Calculate) -> Result<Reply<f64>, Failure> {
    let value = arithmetic::evaluate(&arguments.expression)
        .map_err(|problem| Failure::bad_argument("expression", problem.to_string(), arguments.expression.as_str()))?;
    Ok(Reply::new("calculated", money::cents(value)))
}

fn transfer(_: &mut Phone, _: TransferToHumanAgents) -> Result<Reply<String>, Failure> {
    Ok(Reply::new("transferred", "Transfer successful".to_owned()))
}

loopwright_sdk::export_tool!(Retail);

#[cfg(test)]
mod tests;
