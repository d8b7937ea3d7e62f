//! Keeps bytes and calls other plugins' tools. It knows no plugin: the tests say which tool it calls.

use loopwright_sdk::{
    CallError, Failure, Identity, NoArguments, Phone, Reply, Storage, Tool, ToolPlugin, export_tool, identity,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Something to keep.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keep {
    /// Under which key.
    key: String,
    /// The bytes.
    bytes: Vec<u8>,
}

/// What was kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Key {
    /// Under which key.
    key: String,
}

/// A call to make.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Call {
    /// The tool.
    tool: String,
    /// Its arguments.
    arguments: Value,
}

fn keep(phone: &mut Phone, asked: Keep) -> Result<Reply, Failure> {
    phone.scratch().put(&asked.key, &asked.bytes)?;
    Ok(Reply::new("kept", json!({"keys": phone.scratch().keys()})))
}

fn lose(phone: &mut Phone, asked: Keep) -> Result<Reply, Failure> {
    phone.scratch().put(&asked.key, &asked.bytes)?;
    Err(Failure::conflict("lost", "keep it"))
}

fn recall(phone: &mut Phone, asked: Key) -> Result<Reply, Failure> {
    Ok(Reply::new("recalled", json!({"bytes": phone.scratch().get(&asked.key)})))
}

fn forget(phone: &mut Phone, asked: Key) -> Result<Reply, Failure> {
    Ok(Reply::new("forgotten", json!({"there": phone.scratch().delete(&asked.key)})))
}

fn count(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    let count = phone.scratch().get_json::<u32>("count")?.unwrap_or_default() + 1;
    phone.scratch().put_json("count", &count)?;
    Ok(Reply::new("counted", json!({"count": count})))
}

/// Says what a call came to.
fn try_call(phone: &mut Phone, asked: Call) -> Result<Reply, Failure> {
    let came = match phone.call_tool::<Value>(&asked.tool, &asked.arguments) {
        Ok(reply) => json!({"came": "done", "message": reply.message, "data": reply.data}),
        Err(CallError::Failed(failure)) => json!({
            "came": "failed", "code": failure.code().map(|code| code.get()), "message": failure.message(), "data": failure.data(),
        }),
        Err(CallError::Denied(what)) => json!({"came": "denied", "what": what}),
        Err(CallError::Faulted(what)) => json!({"came": "faulted", "what": what}),
        Err(error @ CallError::Shape(_)) => return Err(error.into()),
    };
    Ok(Reply::new("called", came))
}

/// Lets what a call came to pass as its own.
fn pass_call(phone: &mut Phone, asked: Call) -> Result<Reply, Failure> {
    Ok(phone.call_tool(&asked.tool, &asked.arguments)?)
}

/// The plugin.
#[derive(Debug)]
pub struct Caller;

impl ToolPlugin for Caller {
    const IDENTITY: Identity = identity!("caller");

    fn tools() -> Vec<Tool> {
        let tools = [
            Tool::new("keep", keep).domain("test").en("Keeps bytes.", "keep").writes(),
            Tool::new("lose", lose).domain("test").en("Keeps bytes and fails.", "lose").writes(),
            Tool::new("recall", recall).domain("test").en("Says what is kept.", "recall").writes(),
            Tool::new("forget", forget).domain("test").en("Keeps no longer.", "forget").writes(),
            Tool::new("count", count).domain("test").en("Counts its calls.", "count").writes(),
            Tool::new("try_call", try_call).domain("test").en("Says what a call came to.", "try").writes(),
            Tool::new("pass_call", pass_call).domain("test").en("Calls another tool.", "pass").writes(),
        ];
        tools.into()
    }

    fn storage() -> Storage {
        Storage::new()
    }
}

export_tool!(Caller);
