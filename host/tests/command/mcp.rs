//! `serve mcp` as clients start it and connect to it, driven by the client of the MCP library.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    Implementation, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService, ServiceExt as _};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::binary;

/// A client whose user agrees to whatever is asked, and what was asked.
#[derive(Clone, Default)]
struct Agreeing(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Agreeing {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("no form") };
        self.0.lock().unwrap().push(message);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"confirm": true})))
    }
}

type Client = RunningService<RoleClient, Agreeing>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(["serve", "mcp"]).args(arguments);
    command.arg("--plugins").arg(root().join("target/plugins")).arg("--cache").arg(root().join("target/cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// A server over its standard input and output.
async fn piped(arguments: &[&str]) -> (Child, Client) {
    let mut child = command(arguments).spawn().unwrap();
    let (read, write) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = Agreeing::default().serve((read, write)).await.expect("installed plugins: run `cargo xtask guests`");
    (child, client)
}

/// A server over HTTP, and its address.
async fn listening(arguments: &[&str]) -> (Child, String) {
    let mut child = command(&[&["--listen", "127.0.0.1:0", "--json"], arguments].concat()).spawn().unwrap();
    let line = BufReader::new(child.stdout.take().unwrap()).lines().next_line().await.unwrap();
    let line: Value = serde_json::from_str(&line.expect("installed plugins: run `cargo xtask guests`")).unwrap();
    (child, line["listening"].as_str().unwrap().to_owned())
}

async fn over_http(url: &str) -> Client {
    // The library's HTTP client is built with a TLS that names no provider, for the models' sake.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Agreeing::default().serve(StreamableHttpClientTransport::from_uri(url.to_owned())).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("no object") };
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    let structured = result.structured_content.unwrap();
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
    structured
}

async fn interrupt(mut child: Child) {
    let pid = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().await.unwrap().success());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(0), "{told}");
}

/// What a client does with a phone: every answer, in order.
async fn walk(client: &Client) -> Vec<Value> {
    let mut answers = Vec::new();
    for (tool, arguments) in [
        ("manage_wifi", json!({"action": "disable"})),
        ("manage_wifi", json!({"action": "explode"})),
        ("manage_note", json!({"action": "create", "title": "a", "content": "b"})),
        ("add_contact", json!({"name": "Carol"})),
    ] {
        answers.push(call(client, tool, arguments).await);
    }
    let contact = answers[3]["data"]["contactId"].clone();
    answers.push(call(client, "manage_contact", json!({"action": "delete", "contactId": contact})).await);
    // A rule of the world and of no tool: super saving runs few apps.
    answers.push(call(client, "manage_battery", json!({"action": "set", "mode": "super_saving"})).await);
    answers.push(call(client, "manage_note", json!({"action": "create", "title": "c", "content": "d"})).await);
    answers
}

fn check(answers: &[Value], asked: &[String]) {
    let seen: Vec<(bool, Option<&str>)> =
        answers.iter().map(|answer| (answer["success"] == json!(true), answer["kind"].as_str())).collect();
    let done = (true, None);
    assert_eq!(seen[1], (false, Some("malformed")), "{}", answers[1]);
    assert_eq!(seen[6], (false, Some("refused")), "{}", answers[6]);
    for position in [0, 2, 3, 4, 5] {
        assert_eq!(seen[position], done, "{position}: {}", answers[position]);
    }
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains("manage_contact {\"action\":\"delete\""), "{asked:?}");
}

#[tokio::test]
async fn both_transports_and_any_client_get_the_same_phone() {
    let (child, client) = piped(&["--seed", "7"]).await;
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    let first = walk(&client).await;
    check(&first, &client.service().0.lock().unwrap());
    client.cancel().await.unwrap();
    let ended = child.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(0), "it ends when its input does: {}", String::from_utf8_lossy(&ended.stderr));

    let (child, url) = listening(&["--seed", "7"]).await;
    let (one, two) = (over_http(&url).await, over_http(&url).await);
    assert_eq!(walk(&one).await, first, "over HTTP");
    check(&first, &one.service().0.lock().unwrap());
    assert_eq!(
        call(&two, "manage_wifi", json!({"action": "query"})).await["data"]["on"],
        json!(true),
        "a phone of its own"
    );
    interrupt(child).await;
}

#[tokio::test]
async fn a_phone_of_a_task_in_chinese() {
    let (child, client) = piped(&["--task", "phone.contact-delete.en.0", "--lang", "zh", "--confirm", "deny"]).await;
    let tools = client.list_all_tools().await.unwrap();
    let wifi = tools.iter().find(|tool| tool.name == "manage_wifi").unwrap();
    assert!(!wifi.description.as_ref().unwrap().is_ascii(), "{:?}", wifi.description);
    let found = call(&client, "search_contacts", json!({"name": "Carol Zhang"})).await;
    let contact = found["data"]["contacts"][0]["contactId"].clone();
    let refused = call(&client, "manage_contact", json!({"action": "delete", "contactId": contact})).await;
    assert_eq!(refused["kind"], json!("needs-confirmation"), "{refused}");
    assert!(client.service().0.lock().unwrap().is_empty(), "nobody is asked");
    for tool in ["reset", "step", "judge", "finish", "state-assertions"] {
        let refused = client.call_tool(CallToolRequestParams::new(tool)).await;
        assert!(matches!(refused, Err(ServiceError::McpError(error)) if error.code.0 == -32602), "{tool}");
    }
    interrupt(child).await;
}

#[tokio::test]
async fn standard_output_carries_the_protocol_alone_and_input_that_ends_is_answered_first() {
    let mut child = command(&["--log", "debug"]).spawn().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}});
    let wifi = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "manage_wifi", "arguments": {"action": "query"}}});
    let mut write = child.stdin.take().unwrap();
    write.write_all(format!("{hello}\nno JSON at all\n{wifi}\n").as_bytes()).await.unwrap();
    drop(write);
    let ended = child.wait_with_output().await.unwrap();
    let (out, told) = (String::from_utf8(ended.stdout).unwrap(), String::from_utf8_lossy(&ended.stderr).into_owned());
    assert_eq!(ended.status.code(), Some(0), "{told}");
    let messages: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("`{line}`"))).collect();
    assert!(messages.iter().all(|message| message["jsonrpc"] == json!("2.0")), "{out}");
    let answer = messages.iter().find(|message| message["id"] == json!(1)).unwrap_or_else(|| panic!("{out}"));
    assert_eq!(answer["result"]["structuredContent"]["data"]["on"], json!(true));
    assert!(told.contains("DEBUG"), "diagnostics go to standard error");
}

#[tokio::test]
async fn a_token_file_is_asked_for_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "0123456789abcdef\n").unwrap();
    let (child, url) = listening(&["--token-file", file.to_str().unwrap()]).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig::with_uri(url.clone());
    let refused = Agreeing::default().serve(StreamableHttpClientTransport::from_config(config.clone())).await;
    assert!(refused.is_err(), "without the token");
    let client = Agreeing::default()
        .serve(StreamableHttpClientTransport::from_config(config.auth_header("0123456789abcdef")))
        .await
        .unwrap();
    assert!(client.list_all_tools().await.unwrap().len() > 40);
    interrupt(child).await;
}

#[tokio::test]
async fn arguments_that_would_open_the_server_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "short\n").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, part) in [
        (vec!["--listen", "0.0.0.0:0"], "can be reached from other machines"),
        (vec!["--listen", "[::]:0"], "can be reached from other machines"),
        (vec!["--listen", "0.0.0.0:0", "--allow-remote"], "--token-file"),
        (vec!["--listen", "0.0.0.0:0", "--allow-remote", "--token-file", file], "16 to 4096"),
        (vec!["--listen", "127.0.0.1:0", "--token-file", "/nowhere"], "cannot be read"),
        (vec!["--listen", "127.0.0.1:0", "--allow-origin", "*"], "is no origin"),
        (vec!["--listen", "127.0.0.1:0", "--allow-host", "a b"], "is no host"),
        (vec!["--allow-host", "phone.example"], "--listen"),
        (vec!["--sessions", "65"], "65"),
        (vec!["--task", "phone.none"], "is not in the pack"),
        (vec!["--task", "phone.none", "--seed", "3"], "--seed"),
    ] {
        let ended = command(&arguments).spawn().unwrap().wait_with_output().await.unwrap();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
}
