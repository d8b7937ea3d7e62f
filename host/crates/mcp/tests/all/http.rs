//! Streamable HTTP as those meet it who speak it badly: raw requests over sockets. Time stands still and jumps to the next time-out when
//! everything waits.

use std::net::SocketAddr;
use std::sync::Arc;

use loopwright_mcp::limits::{BODY_WAIT, CONNECTIONS_MAX, HEAD_WAIT, MESSAGE_BYTES_MAX, SESSION_IDLE};
use loopwright_mcp::{HttpRules, Server, Settings, Token};
use loopwright_testkit::tool::NOTE;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::support::{FakeWorlds, server};

/// A server on a port of this machine.
struct Site {
    address: SocketAddr,
    server: Server,
    worlds: Arc<FakeWorlds>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

async fn site(rules: impl FnOnce(HttpRules) -> HttpRules) -> Site {
    let worlds = Arc::new(FakeWorlds::default());
    let server = server(&worlds, Settings { sessions: 2, ..Settings::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let rules = rules(HttpRules::loopback(address));
    let (stop, stopped) = oneshot::channel();
    let serving = server.clone();
    let served = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        serving.serve_http(listener, rules, stopped).await;
    });
    Site { address, server, worlds, stop: Some(stop), served }
}

/// An answer: status, head in lower case, and body.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    /// The messages of an event stream.
    fn messages(&self) -> Vec<Value> {
        self.body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }
}

const JSON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

impl Site {
    fn host(&self) -> String {
        format!("Host: localhost:{}\r\n", self.address.port())
    }

    async fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that has heard enough may close before all was said.
        let _ = stream.write_all(request).await;
        read(&mut stream).await
    }

    async fn post(&self, headers: &str, body: &str) -> Answer {
        self.send(posted(headers, body).as_bytes()).await
    }

    /// Begins a session and says its id.
    async fn begin(&self) -> String {
        let answer = self.post(&(self.host() + JSON), &hello().to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("mcp-session-id").unwrap().to_owned()
    }

    async fn call(&self, session: &str, key: &str) -> Answer {
        let headers = format!("{}{JSON}Mcp-Session-Id: {session}\r\n", self.host());
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": NOTE, "arguments": {"action": "put", "key": key}}});
        self.post(&headers, &body.to_string()).await
    }
}

async fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

fn posted(headers: &str, body: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}})
}

fn nothing(rules: HttpRules) -> HttpRules {
    rules
}

#[tokio::test]
async fn only_names_and_origins_that_the_operator_gave_are_served() {
    let site = site(|rules| {
        let rules = rules.allow_host("phone.example").unwrap().allow_host("other.example:99").unwrap();
        rules.allow_origin("https://app.example").unwrap()
    })
    .await;
    let port = site.address.port();
    let wrong = port.wrapping_add(1);
    for (headers, status) in [
        (format!("Host: localhost:{port}"), 200),
        (format!("Host: 127.0.0.1:{port}"), 200),
        (format!("Host: [::1]:{port}"), 200),
        (format!("Host: LOCALHOST:{port}"), 200),
        ("Host: phone.example:4".to_owned(), 200),
        ("Host: other.example:99".to_owned(), 200),
        // A name of an attacker that leads to this machine.
        (format!("Host: attacker.example:{port}"), 403),
        (format!("Host: localhost.attacker.example:{port}"), 403),
        (format!("Host: localhost:{port}@attacker.example"), 403),
        (format!("Host: 127.0.0.1.attacker.example:{port}"), 403),
        (format!("Host: localhost:{wrong}"), 403),
        ("Host: localhost".to_owned(), 403),
        (format!("Host: 0.0.0.0:{port}"), 403),
        ("Host: other.example".to_owned(), 403),
        ("Host: ".to_owned(), 400),
        ("X-None: 1".to_owned(), 400),
        (format!("Host: localhost:{port}\r\nHost: attacker.example"), 400),
        // Pages.
        (format!("Host: localhost:{port}\r\nOrigin: https://app.example"), 200),
        (format!("Host: localhost:{port}\r\nOrigin: https://app.example:443"), 200),
        (format!("Host: localhost:{port}\r\nOrigin: http://app.example"), 403),
        (format!("Host: localhost:{port}\r\nOrigin: https://app.example:444"), 403),
        (format!("Host: localhost:{port}\r\nOrigin: https://app.example.attacker.example"), 403),
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}"), 403),
        (format!("Host: localhost:{port}\r\nOrigin: null"), 403),
        (format!("Host: localhost:{port}\r\nOrigin: "), 403),
        (format!("Host: localhost:{port}\r\nOrigin: https://app.example\r\nOrigin: https://attacker.example"), 400),
    ] {
        let answer = site.post(&format!("{headers}\r\n{JSON}"), &hello().to_string()).await;
        assert_eq!(answer.status, status, "{headers}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "no page is invited");
        if let Some(session) = answer.header("mcp-session-id") {
            let headers = format!("{}Mcp-Session-Id: {session}\r\nConnection: close\r\n", site.host());
            let ended = site.send(format!("DELETE /mcp HTTP/1.1\r\n{headers}\r\n").as_bytes()).await;
            assert_eq!(ended.status, 204, "{ended:?}");
            site.server.emptied().await;
        }
    }
}

#[tokio::test]
async fn a_token_is_asked_for_on_every_request() {
    let site = site(|rules| rules.with_token(Token::new("0123456789abcdef").unwrap())).await;
    for (header, status) in [
        ("", 401),
        ("Authorization: Bearer 0123456789abcdeX\r\n", 401),
        ("Authorization: Basic 0123456789abcdef\r\n", 401),
        ("Authorization: Bearer 0123456789abcdef\r\n", 200),
    ] {
        let answer = site.post(&format!("{}{JSON}{header}", site.host()), &hello().to_string()).await;
        assert_eq!(answer.status, status, "{header}");
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
        for method in ["GET", "DELETE"] {
            let head = format!(
                "{method} /mcp HTTP/1.1\r\n{}{header}Mcp-Session-Id: x\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n",
                site.host()
            );
            assert_eq!(site.send(head.as_bytes()).await.status == 401, status == 401, "{method}");
        }
    }
}

#[tokio::test]
async fn what_is_no_message_of_a_session_is_refused() {
    let site = site(nothing).await;
    let host = site.host();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let hello = hello().to_string();
    let session = site.begin().await;
    let with = |more: &str| format!("{host}{JSON}{more}\r\n");
    for (headers, body, status) in [
        (with("X: 1"), list.clone(), 400),
        (with("Mcp-Session-Id: 00000000-0000-4000-8000-000000000000"), list.clone(), 404),
        (with("Mcp-Session-Id: ../../etc/passwd"), list.clone(), 404),
        (with(&format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 1999-01-01")), list.clone(), 400),
        // A revision without sessions would get a world that is forgotten at once.
        (with("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list"), list.clone(), 400),
        (with("MCP-Protocol-Version: 2025-06-18"), hello.clone(), 400),
        (with(&format!("Mcp-Session-Id: {session}")), "{".to_owned(), 415),
        (with(&format!("Mcp-Session-Id: {session}")), "[".repeat(100_000), 415),
        (
            format!("{host}Accept: application/json, text/event-stream\r\nContent-Type: text/plain\r\n"),
            hello.clone(),
            415,
        ),
        (format!("{host}Content-Type: application/json\r\nAccept: application/json\r\n"), hello.clone(), 406),
        (with(&format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25")), list.clone(), 200),
    ] {
        let answer = site.post(&headers, &body).await;
        assert_eq!(answer.status, status, "{headers}{}: {answer:?}", &body[..body.len().min(80)]);
    }
    for request in ["GET /", "POST /reset", "POST /mcp/../step", "GET /state", "POST /judge"] {
        let answer = site
            .send(format!("{request} HTTP/1.1\r\n{host}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
            .await;
        assert_eq!(answer.status, 404, "{request}");
    }
    for method in ["PUT", "OPTIONS", "PATCH", "TRACE"] {
        let answer = site
            .send(format!("{method} /mcp HTTP/1.1\r\n{host}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
            .await;
        assert_eq!(answer.status, 405, "{method}");
    }
}

#[tokio::test]
async fn a_stateless_revision_reaches_no_world() {
    let site = site(nothing).await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}});
    let arguments = json!({"action": "put", "key": "a"});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": NOTE, "arguments": arguments, "_meta": meta}});
    let headers = format!(
        "{}{JSON}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {NOTE}\r\n",
        site.host()
    );
    let answer = site.post(&headers, &body.to_string()).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let error: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(error["error"]["code"], json!(-32022), "unsupported protocol version: {error}");
    assert!(site.worlds.seen().is_empty());
}

#[tokio::test]
async fn bodies_have_their_size_whether_they_say_so_or_not() {
    let site = site(nothing).await;
    let session = site.begin().await;
    let text = |bytes: usize| {
        let empty =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"x": ""}}}).to_string();
        let (before, after) = empty.split_once("\"x\":\"").unwrap();
        format!("{before}\"x\":\"{}{after}", "x".repeat(bytes - empty.len()))
    };
    let headers = format!("{}{JSON}Mcp-Session-Id: {session}\r\n", site.host());
    for (bytes, status) in [(MESSAGE_BYTES_MAX, 200), (MESSAGE_BYTES_MAX + 1, 413)] {
        assert_eq!(text(bytes).len(), bytes);
        assert_eq!(site.post(&headers, &text(bytes)).await.status, status, "{bytes}");
        let chunked = format!(
            "POST /mcp HTTP/1.1\r\n{headers}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{bytes:x}\r\n{}\r\n0\r\n\r\n",
            text(bytes)
        );
        assert_eq!(site.send(chunked.as_bytes()).await.status, status, "{bytes} in a chunk");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let site = site(nothing).await;
    let began = Instant::now();
    let head = posted(&(site.host() + JSON), "").replace("Content-Length: 0", "Content-Length: 10");
    assert_eq!(site.send(head.as_bytes()).await.status, 408);
    assert!(began.elapsed() >= BODY_WAIT && began.elapsed() < HEAD_WAIT, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn connections_are_counted_and_quiet_ones_end() {
    let site = site(nothing).await;
    let began = Instant::now();
    let mut quiet = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        quiet.push(TcpStream::connect(site.address).await.unwrap());
    }
    // One more is served when the first of them was quiet for too long.
    let answer = site.post(&(site.host() + JSON), &hello().to_string()).await;
    assert_eq!(answer.status, 200);
    assert!(began.elapsed() >= HEAD_WAIT, "{:?}", began.elapsed());
    for mut stream in quiet {
        assert_eq!(read(&mut stream).await.body, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_session_ends() {
    let site = site(nothing).await;
    let session = site.begin().await;
    assert_eq!(site.call(&session, "a").await.status, 200);
    let began = Instant::now();
    site.server.emptied().await;
    assert!(began.elapsed() >= SESSION_IDLE, "{:?}", began.elapsed());
    assert_eq!(site.call(&session, "a").await.status, 404);
}

#[tokio::test]
async fn sessions_are_counted_over_http_too() {
    let site = site(nothing).await;
    let (one, two) = (site.begin().await, site.begin().await);
    assert_ne!(one, two);
    let answer = site.post(&(site.host() + JSON), &hello().to_string()).await;
    let refused = answer.messages().remove(0);
    assert!(refused["error"]["message"].as_str().unwrap().contains("all 2 sessions are taken"), "{refused}");
    let first = site.call(&one, "a").await.messages().remove(0);
    assert_eq!(first["result"]["structuredContent"]["success"], json!(true), "{first}");
    assert_eq!(site.call(&two, "a").await.messages().remove(0), first, "the same on a world of its own");
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_finishes_what_it_began() {
    let mut site = site(nothing).await;
    let session = site.begin().await;
    let (address, gate) = (site.address, Arc::clone(&site.worlds.gate));
    let stop = site.stop.take().unwrap();
    let call = site.call(&session, "slow");
    let meanwhile = async {
        gate.reached(1).await;
        stop.send(()).unwrap();
        // Nobody is let in any more; then the call is let through.
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        gate.open();
    };
    let (answer, ()) = tokio::join!(call, meanwhile);
    assert_eq!(answer.messages().remove(0)["result"]["structuredContent"]["success"], json!(true));
    site.served.await.unwrap();
    site.server.emptied().await;
}
