//! What a client can reach, and what it is told.

use std::sync::Arc;

use loopwright_contract::plain::is_unsafe;
use loopwright_mcp::Settings;
use loopwright_testkit::tool::{NOTE, TORCH, WIPE};
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{FakeWorlds, HOSTILE, Told, User, connect, envelope, server, talk};

/// Sends lines as they are, and reads as many answers.
async fn raw(lines: &[Value], answers: usize) -> Vec<Value> {
    let worlds = Arc::new(FakeWorlds::default());
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let server = server(&worlds, Settings::default());
    let served = tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        let _ = server.serve_pipe(read, write, std::future::pending()).await;
    });
    let (read, mut write) = tokio::io::split(ours);
    for line in lines {
        write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    let mut read = BufReader::new(read).lines();
    let mut found = Vec::new();
    while found.len() < answers {
        found.push(serde_json::from_str(&read.next_line().await.unwrap().unwrap()).unwrap());
    }
    drop((read, write));
    served.await.unwrap();
    found
}

fn hello(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}})
}

fn ask(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn a_client_sees_the_exposed_tools_and_nothing_else() {
    let talk = talk(&Arc::default(), User::Absent).await;
    let tools = talk.client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, [NOTE, TORCH]);
    let info = talk.client.peer_info().unwrap();
    assert_eq!(info.protocol_version, ProtocolVersion::V_2025_11_25);
    let capabilities = serde_json::to_value(&info.capabilities).unwrap();
    assert_eq!(capabilities, json!({"tools": {"listChanged": true}}));
    for tool in tools {
        assert_eq!(tool.annotations.as_ref().and_then(|hints| hints.read_only_hint), Some(false), "{}", tool.name);
        assert_eq!(tool.input_schema.get("additionalProperties"), Some(&json!(false)));
        assert!(tool.output_schema.is_some() && tool.title.is_some() && tool.description.is_some());
    }
}

#[tokio::test]
async fn instructions_show_what_the_phone_shows_and_hide_nothing() {
    let talk = talk(&Arc::default(), User::Absent).await;
    let instructions = talk.client.peer_info().unwrap().instructions.clone().unwrap();
    assert!(instructions.contains("2026-03-02T09:00"), "{instructions}");
    assert!(instructions.contains("The phone shows: {\"kind\":\"alarm\""), "{instructions}");
    assert!(!instructions.chars().any(|character| character != '\n' && is_unsafe(character)), "{instructions:?}");
}

#[tokio::test]
async fn nothing_beside_tools_can_be_reached() {
    let worlds = Arc::new(FakeWorlds::default());
    let client = talk(&worlds, User::Absent).await;
    // `reset` is even the name of an installed tool, and the wiper is installed and not exposed.
    for tool in
        ["reset", "step", "judge", "verify", "state", "confirm", "grant", "finish", "ask_user", WIPE, "", "../x"]
    {
        let (code, message) = client.error(tool, json!({})).await;
        assert_eq!(code, -32602, "{tool}: {message}");
        assert!(!message.contains("../x"), "{message}");
    }
    assert!(worlds.seen().is_empty());
    let methods = [
        "reset",
        "step",
        "judge",
        "state/get",
        "grants/list",
        "prompts/get",
        "resources/read",
        "tasks/get",
        "skills/list",
        "completion/complete",
        "sampling/createMessage",
        "elicitation/create",
        "environment/reset",
    ];
    let asked =
        methods.iter().zip(1..).map(|(method, id)| ask(id, method, json!({"name": "x", "uri": "file:///etc/passwd"})));
    let lines: Vec<Value> = std::iter::once(hello("2025-11-25")).chain(asked).collect();
    let answers = raw(&lines, lines.len()).await;
    for answer in &answers[1..] {
        assert!(answer.get("error").is_some() && answer.get("result").is_none(), "{answer}");
    }
}

#[tokio::test]
async fn a_call_is_answered_with_data_and_the_same_as_text() {
    let worlds = Arc::new(FakeWorlds::default());
    let talk = talk(&worlds, User::Absent).await;
    let schema = talk.client.list_all_tools().await.unwrap()[0].output_schema.clone().unwrap();
    let validator = jsonschema::draft202012::new(&Value::Object(schema.as_ref().clone())).unwrap();
    for (arguments, expected) in [
        (
            json!({"action": "put", "key": "a", "text": "b"}),
            json!({"success": true, "message": "note written", "data": {"key": "a"}}),
        ),
        (
            json!({"action": "query", "key": "b"}),
            json!({"success": false, "error": "no note `b`", "code": 404, "kind": "refused"}),
        ),
        (
            json!({"action": "query", "key": "trap"}),
            json!({"success": false, "error": "it failed", "code": 503, "kind": "trapped"}),
        ),
    ] {
        let found = talk.call(NOTE, arguments).await;
        assert_eq!(found, expected);
        assert!(validator.is_valid(&found), "{found}");
    }
    assert_eq!(worlds.seen().len(), 3);
}

#[tokio::test]
async fn arguments_that_break_the_schema_reach_no_world() {
    let worlds = Arc::new(FakeWorlds::default());
    let talk = talk(&worlds, User::Absent).await;
    for arguments in [
        json!({"action": "burn", "key": "a"}),
        json!({"key": "a"}),
        json!({"action": "put", "key": "a", "reset": true}),
        Value::Null,
    ] {
        let found = talk.call(NOTE, arguments).await;
        assert_eq!((&found["kind"], &found["code"]), (&json!("malformed"), &json!(400)), "{found}");
    }
    assert!(worlds.seen().is_empty());
}

#[tokio::test]
async fn a_hostile_result_is_data_in_which_nothing_acts() {
    let talk = talk(&Arc::default(), User::Absent).await;
    let result = talk.try_call(NOTE, json!({"action": "put", "key": "hostile"})).await.unwrap();
    assert_eq!(result.content.len(), 1);
    let text = &result.content[0].as_text().unwrap().text;
    assert!(!text.chars().any(is_unsafe), "{text:?}");
    assert_eq!(envelope(&result)["data"]["text"], json!(HOSTILE));
}

#[tokio::test]
async fn faults_of_the_host_are_protocol_errors_without_its_inside() {
    let talk = talk(&Arc::default(), User::Absent).await;
    for key in ["host", "late", "panic"] {
        let (code, message) = talk.error(NOTE, json!({"action": "put", "key": key})).await;
        assert_eq!(code, -32603, "{key}");
        assert!(!message.contains("secret") && !message.contains("/srv") && !message.contains("defect"), "{message}");
        assert_eq!(message.contains("2000 ms"), key == "late", "{message}");
    }
    assert_eq!(
        talk.call(NOTE, json!({"action": "put", "key": "a"})).await["success"],
        json!(true),
        "the session goes on"
    );
}

#[tokio::test]
async fn other_tools_are_announced_once() {
    let mut talk = talk(&Arc::default(), User::Absent).await;
    talk.call(NOTE, json!({"action": "put", "key": "a"})).await;
    talk.call(NOTE, json!({"action": "put", "key": "install"})).await;
    assert_eq!(talk.told.recv().await, Some(Told::ToolsChanged));
    assert_eq!(talk.tools().await, [NOTE, TORCH, WIPE]);
    talk.call(NOTE, json!({"action": "put", "key": "install"})).await;
    talk.client.cancel().await.unwrap();
    assert_eq!(talk.told.recv().await, None);
}

#[tokio::test]
async fn sessions_do_not_see_each_other_and_the_same_calls_give_the_same() {
    let worlds = Arc::new(FakeWorlds::default());
    let server = server(&worlds, Settings::default());
    let (one, two) = (connect(&server, User::Absent).await.unwrap(), connect(&server, User::Absent).await.unwrap());
    let put = json!({"action": "put", "key": "a", "text": "b"});
    let query = json!({"action": "query", "key": "a"});
    let first = (one.call(NOTE, put.clone()).await, one.call(NOTE, query.clone()).await);
    assert_eq!(two.call(NOTE, query.clone()).await["code"], json!(404));
    assert_eq!((two.call(NOTE, put).await, two.call(NOTE, query).await), first);
}

#[tokio::test]
async fn a_slow_call_holds_up_nobody_else() {
    let worlds = Arc::new(FakeWorlds::default());
    let server = server(&worlds, Settings::default());
    let (one, two) = (connect(&server, User::Absent).await.unwrap(), connect(&server, User::Absent).await.unwrap());
    let slow = one.call(NOTE, json!({"action": "put", "key": "slow"}));
    let meanwhile = async {
        worlds.gate.reached(1).await;
        assert_eq!(two.call(NOTE, json!({"action": "put", "key": "a"})).await["success"], json!(true));
        assert_eq!(one.tools().await, [NOTE, TORCH], "the list of a busy session");
        worlds.gate.open();
    };
    assert_eq!(tokio::join!(slow, meanwhile).0["success"], json!(true));
}

#[tokio::test]
async fn a_cancelled_call_is_not_waited_for() {
    let worlds = Arc::new(FakeWorlds::default());
    let talk = talk(&worlds, User::Absent).await;
    tokio::select! {
        // Dropping the call sends `notifications/cancelled`.
        _ = talk.call(NOTE, json!({"action": "put", "key": "slow"})) => panic!("it stands before the gate"),
        () = worlds.gate.reached(1) => {}
    }
    // One that is cancelled while it waits for the first never runs.
    tokio::select! {
        biased;
        _ = talk.call(NOTE, json!({"action": "put", "key": "never"})) => panic!("it waits for the first"),
        tools = talk.tools() => assert_eq!(tools.len(), 2),
    }
    assert_eq!(talk.tools().await.len(), 2, "both cancellations were read");
    worlds.gate.open();
    talk.call(NOTE, json!({"action": "put", "key": "after"})).await;
    let keys: Vec<Value> = worlds.seen().into_iter().map(|(_, arguments, _)| arguments["key"].clone()).collect();
    assert_eq!(keys, ["slow", "after"]);
}

#[tokio::test]
async fn a_session_begins_once() {
    let put = ask(1, "tools/call", json!({"name": NOTE, "arguments": {"action": "put", "key": "a"}}));
    let query = ask(3, "tools/call", json!({"name": NOTE, "arguments": {"action": "query", "key": "a"}}));
    let again = json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": hello("2025-11-25")["params"]});
    let mut answers = raw(&[hello("2025-11-25"), put, again, query], 4).await;
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert!(answers[2]["error"]["message"].as_str().unwrap().contains("initialized already"), "{}", answers[2]);
    assert_eq!(answers[3]["result"]["structuredContent"]["success"], json!(true), "the world is the same");
}

#[tokio::test]
async fn revisions_are_negotiated_down_to_one_with_sessions() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let answers = raw(&[hello(asked)], 1).await;
        assert_eq!(answers[0]["result"]["protocolVersion"], json!(answered), "{asked}");
    }
}

#[tokio::test]
async fn without_a_handshake_nothing_is_answered_with_a_result() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2025-11-25", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}});
    for params in
        [json!({"name": NOTE, "arguments": {"action": "put", "key": "a"}, "_meta": meta}), json!({"name": NOTE})]
    {
        let answers = raw(&[ask(1, "tools/call", params)], 1).await;
        assert!(answers[0].get("error").is_some(), "{}", answers[0]);
    }
}

#[tokio::test]
async fn a_world_that_cannot_be_opened_is_told_without_its_inside() {
    let worlds = Arc::new(FakeWorlds { broken: true, ..FakeWorlds::default() });
    let error = connect(&server(&worlds, Settings::default()), User::Absent).await.err().unwrap();
    assert!(error.contains("host's side") && !error.contains("secret") && !error.contains("/srv"), "{error}");
}
