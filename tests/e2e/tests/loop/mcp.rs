//! The gold of the whole pack, driven by an MCP client: every answer is the one that an episode gives, and has the form that was promised.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::Validator;
use loopwright::commands::serve::worlds::PhoneWorlds;
use loopwright_contract::action::Action;
use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::EpisodeHost as _;
use loopwright_contract::task::Task;
use loopwright_contract::tool::{Effect, ToolCall};
use loopwright_engine::PluginHost;
use loopwright_mcp::{Confirm, Server, Settings};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use crate::{host, tasks};

async fn connect(host: &PluginHost, task: &Task) -> RunningService<RoleClient, ()> {
    let worlds = PhoneWorlds::prepare(Arc::new(host.clone()), task.clone()).expect("a world");
    // Nobody is asked: what waits for the user is refused here as in an episode.
    let server = Server::new(Arc::new(worlds), Settings { confirm: Confirm::Deny, ..Settings::default() });
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve_pipe(read, write, std::future::pending()).await
    });
    ().serve(ours).await.expect("a session")
}

fn gold(task: &Task) -> Vec<ToolCall> {
    let calls = task.gold.iter().flatten().filter_map(|action| match action {
        Action::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// The answers of an episode without MCP, and whether each waits for the user.
fn without(host: &PluginHost, task: &Task) -> Vec<Value> {
    let mut bare = task.clone();
    bare.gold.clear();
    bare.checks.clear();
    let mut episode = host.prepare(&bare).expect("a world").open().expect("an episode");
    episode.reset().expect("a reset");
    let mut answers = Vec::new();
    for call in gold(task) {
        let turn = Turn { actor: Actor::Agent, calls: vec![call] };
        answers.push(episode.step(&turn).expect("a turn").feedback.remove(0).reply.envelope());
        episode.end_turn();
    }
    answers
}

#[tokio::test]
async fn the_gold_of_the_pack_is_answered_as_in_an_episode() {
    let (host, tasks) = (host(), tasks());
    let (mut calls, mut waiting) = (0, 0);
    for task in &tasks {
        let client = connect(&host, task).await;
        let tools = client.list_all_tools().await.expect("tools");
        let schemas: BTreeMap<String, Validator> = tools
            .into_iter()
            .map(|tool| {
                let schema = Value::Object(tool.output_schema.expect("a schema").as_ref().clone());
                (tool.name.into_owned(), jsonschema::draft202012::new(&schema).expect("a schema"))
            })
            .collect();
        for (call, expected) in gold(task).into_iter().zip(without(&host, task)) {
            let Value::Object(arguments) = call.arguments else { panic!("no object") };
            let request = CallToolRequestParams::new(call.tool.to_string()).with_arguments(arguments);
            let result = client.call_tool(request).await.expect("a result");
            let mut found = result.structured_content.expect("an envelope");
            assert!(schemas[call.tool.as_str()].is_valid(&found), "{} of {}: {found}", call.tool, task.id);
            calls += 1;
            if found["kind"] == json!("needs-confirmation") {
                waiting += 1;
                assert_eq!((&expected["success"], &expected["code"]), (&json!(false), &found["code"]), "{}", task.id);
                continue;
            }
            let map = found.as_object_mut().expect("an object");
            for added in ["kind", "effects", "notices"] {
                map.remove(added);
            }
            assert_eq!(found, expected, "{} of {}", call.tool, task.id);
        }
        client.cancel().await.expect("an end");
    }
    assert!(calls > 500 && waiting > 10, "{calls} calls, {waiting} of them waited for the user");
}

#[tokio::test]
async fn a_phone_shows_its_tools_in_both_languages_with_hints_of_their_strongest_rule() {
    let (host, task) = (host(), tasks().remove(0));
    let client = connect(&host, &task).await;
    let tools = client.list_all_tools().await.expect("tools");
    let specs: BTreeMap<&str, _> = host.tools().iter().map(|tool| (tool.spec.name.as_str(), &tool.spec)).collect();
    let mut episode = host.prepare(&task).expect("a world").open().expect("an episode");
    let exposed = episode.reset().expect("a reset").exposed.expect("tools");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        exposed.iter().map(|name| name.as_str()).collect::<Vec<_>>(),
        "the exposed tools and nothing else"
    );
    for tool in &tools {
        let spec = specs[tool.name.as_ref()];
        let hints = tool.annotations.as_ref().expect("hints");
        let strongest = spec.strongest_effect();
        assert_eq!(hints.read_only_hint, Some(strongest == Effect::Read), "{}", tool.name);
        assert_eq!(hints.destructive_hint, Some(strongest == Effect::Destructive), "{}", tool.name);
        assert_eq!(tool.description.as_deref(), Some(spec.description[0].text.as_str()));
        assert_eq!(tool.input_schema.get("type"), Some(&json!("object")), "{}", tool.name);
    }
    assert!(tools.len() > 40, "{} tools", tools.len());
}
