//! Every limit of a session, passed.

use std::sync::Arc;

use loopwright_mcp::limits::{
    CALLS_PER_SESSION_MAX, CALLS_WAITING_MAX, EVIDENCE_BYTES_MAX, MESSAGE_BYTES_MAX, SESSIONS_MAX,
};
use loopwright_mcp::{Server, Settings};
use loopwright_testkit::tool::{NOTE, TORCH};
use rmcp::ServiceError;
use serde_json::{Value, json};

use crate::support::{FakeWorlds, User, connect, server, talk};

async fn fill(server: &Server, sessions: usize) {
    let mut open = Vec::new();
    for _ in 0..sessions {
        open.push(connect(server, User::Absent).await.unwrap());
    }
    let refused = connect(server, User::Absent).await.err().unwrap();
    assert!(refused.contains(&format!("all {sessions} sessions are taken")), "{refused}");
    drop(open.pop());
    for talk in open {
        talk.client.cancel().await.unwrap();
        talk.served.await.unwrap();
    }
    server.emptied().await;
    connect(server, User::Absent).await.unwrap();
}

#[tokio::test]
async fn sessions_are_counted_and_their_places_come_back() {
    for (asked, sessions) in [(0, 1), (2, 2), (SESSIONS_MAX + 1, SESSIONS_MAX)] {
        let settings = Settings { sessions: asked, ..Settings::default() };
        fill(&server(&Arc::default(), settings), sessions).await;
    }
}

#[tokio::test]
async fn calls_that_wait_are_counted() {
    let worlds = Arc::new(FakeWorlds::default());
    let talk = Arc::new(talk(&worlds, User::Absent).await);
    let call = |talk: &Arc<crate::support::Talk>, key: &'static str| {
        let talk = Arc::clone(talk);
        tokio::spawn(async move { talk.call(NOTE, json!({"action": "put", "key": key})).await })
    };
    let mut waiting = vec![call(&talk, "slow")];
    worlds.gate.reached(1).await;
    waiting.extend((1..CALLS_WAITING_MAX).map(|_| call(&talk, "a")));
    // One thread: they are sent in this order. Those before it are answered only when the gate opens.
    let refused = call(&talk, "a").await.unwrap();
    assert_eq!((&refused["kind"], &refused["code"]), (&json!("limit"), &json!(429)), "{refused}");
    worlds.gate.open();
    for call in waiting {
        assert_eq!(call.await.unwrap()["success"], json!(true));
    }
}

#[tokio::test]
async fn calls_of_a_session_are_counted() {
    let worlds = Arc::new(FakeWorlds::default());
    let talk = talk(&worlds, User::Absent).await;
    for _ in 0..CALLS_PER_SESSION_MAX {
        assert_eq!(talk.call(TORCH, json!({"on": true})).await["success"], json!(true));
    }
    let refused = talk.call(TORCH, json!({"on": true})).await;
    assert_eq!(refused["kind"], json!("limit"));
    assert!(refused["error"].as_str().unwrap().contains("connect anew"), "{refused}");
    assert_eq!(worlds.seen().len(), CALLS_PER_SESSION_MAX as usize);
}

#[tokio::test]
async fn answers_of_a_session_are_weighed() {
    let talk = talk(&Arc::default(), User::Absent).await;
    let mut bytes = 0;
    loop {
        let result = talk.try_call(NOTE, json!({"action": "put", "key": "large"})).await.unwrap();
        let envelope: Value = result.structured_content.unwrap();
        if envelope["kind"] == json!("limit") {
            break;
        }
        assert!(bytes < EVIDENCE_BYTES_MAX, "{bytes}");
        bytes += envelope.to_string().len() + r#"{"action":"put","key":"large"}"#.len();
    }
    assert!(bytes >= EVIDENCE_BYTES_MAX, "{bytes}");
}

#[tokio::test]
async fn a_message_that_is_too_long_is_dropped_and_the_session_goes_on() {
    let talk = talk(&Arc::default(), User::Absent).await;
    let text = |bytes| json!({"action": "put", "key": "a", "text": "x".repeat(bytes)});
    assert_eq!(talk.call(NOTE, text(MESSAGE_BYTES_MAX - 1024)).await["success"], json!(true));
    let dropped = talk.try_call(NOTE, text(MESSAGE_BYTES_MAX));
    let after = async {
        while talk.call(NOTE, json!({"action": "query", "key": "a"})).await["success"] != json!(true) {}
        talk.client.cancellation_token().cancel();
    };
    let (dropped, ()) = tokio::join!(dropped, after);
    assert!(!matches!(dropped, Ok(_) | Err(ServiceError::McpError(_))), "{dropped:?}");
}
