//! The calculator app: arithmetic, units and currencies. It keeps no state but a table of exchange rates with its date.

mod currency;
mod units;

use loopwright_sdk::{
    Collection, Failure, Identity, Phone, Reply, Requirement, Storage, Tool, ToolPlugin, arithmetic, identity,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "utilities_productivity";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CalculateExpression {
    /// Numbers with + - * / % ^ and parentheses, 1 to 200 characters, such as `(12.5 + 3) * 2`. `×`, `÷` and `−` are read too; `%` is the remainder.
    expression: String,
    /// Decimals of the result, 0 to 12; 10 when absent.
    #[schemars(range(min = 0, max = 12))]
    precision: Option<u8>,
}

struct Calc;

impl ToolPlugin for Calc {
    const IDENTITY: Identity = identity!("calc");

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("calculate_expression", calculate)
                .domain(DOMAIN)
                .en(
                    "Calculates an arithmetic expression.",
                    "calculate, compute, arithmetic, plus, minus, times, divided by, multiply, sum, math, how much is, percent of, total, add up, split the bill",
                )
                .zh("计算算术表达式。", "计算 算一下 加 减 乘 除 等于多少 总共 求和 数学 乘以 除以 算术 平均")
                .reads(),
            Tool::new("convert_unit", units::convert)
                .domain(DOMAIN)
                .en(
                    "Converts a value between units of length, mass, temperature, volume, area, speed, time or data.",
                    "convert units, kilometers to miles, kilograms to pounds, celsius to fahrenheit, inches to centimeters, liters, ounces, feet, meters, gigabytes, how many, unit conversion, in grams, in meters, expressed in, weigh, measure",
                )
                .zh("换算单位：长度、质量、温度、体积、面积、速度、时间或数据量。", "单位换算 公里换英里 公斤换磅 摄氏度 华氏度 英寸 厘米 升 盎司 英尺 米 斤 换算成 等于多少 克 千克 公里 毫升 表示 合多少 折合 转换单位 单位")
                .reads(),
            Tool::new("convert_currency", currency::convert)
                .domain(DOMAIN)
                .en(
                    "Converts an amount of money between currencies at the phone's rates.",
                    "convert currency, exchange rate, dollars to yuan, euros, yen, pounds, how much money in, usd to cny, forex, money conversion",
                )
                .zh("按手机上的汇率换算货币。", "汇率 货币换算 美元换人民币 欧元 日元 英镑 换多少钱 兑换 外币 人民币")
                .reads()
                .requires(Requirement::Network),
        ]
    }

    fn storage() -> Storage {
        // Fixed rates with their date: a world that asks a market for them could not be replayed.
        let rates = [
            ("CNY", 7_100_000),
            ("EUR", 920_000),
            ("GBP", 790_000),
            ("HKD", 7_800_000),
            ("JPY", 150_000_000),
            ("KRW", 1_350_000_000),
            ("SGD", 1_340_000),
            ("USD", 1_000_000),
        ];
        Storage::new().owns(rates.into_iter().fold(Collection::new("rates"), |rates, (code, per_usd_micros)| {
            rates.initial(code, json!({"code": code, "per_usd_micros": per_usd_micros, "dated": "2026-03-01"}))
        }))
    }
}

fn calculate(_: &mut Phone, arguments: CalculateExpression) -> Result<Reply, Failure> {
    let precision = arguments.precision.unwrap_or(10);
    if precision > 12 {
        return Err(Failure::bad_argument("precision", "0 to 12", precision));
    }
    let value = arithmetic::evaluate(&arguments.expression)
        .map_err(|problem| Failure::bad_argument("expression", problem.to_string(), arguments.expression.as_str()))?;
    let text = decimal(value, precision);
    Ok(Reply::new(format!("{} = {text}", arguments.expression), json!({"result": number(&text), "text": text})))
}

/// A number with at most so many decimals and no trailing zeros.
fn decimal(value: f64, precision: u8) -> String {
    let text = format!("{value:.*}", usize::from(precision));
    let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

/// The number that a decimal text stands for, whole where it is whole.
fn number(text: &str) -> serde_json::Value {
    match text.parse::<i64>() {
        Ok(whole) if whole.abs() < (1 << 53) => json!(whole),
        _ => json!(text.parse::<f64>().unwrap_or(0.0)),
    }
}

loopwright_sdk::export_tool!(Calc);

#[cfg(test)]
mod tests;
