//! The user's word: asked for through the client, for one run of exactly one call, and never given by the agent.

use std::sync::Arc;

use loopwright_mcp::{Confirm, Settings};
use loopwright_testkit::task::call;
use loopwright_testkit::tool::{NOTE, WIPE};
use serde_json::{Value, json};

use crate::support::{FakeWorlds, Talk, Told, User, connect, server};

async fn wiping(worlds: &Arc<FakeWorlds>, confirm: Confirm, user: User) -> Talk {
    let settings = Settings { confirm, ..Settings::default() };
    let mut talk = connect(&server(worlds, settings), user).await.unwrap();
    talk.call(NOTE, json!({"action": "put", "key": "install"})).await;
    assert_eq!(talk.told.recv().await, Some(Told::ToolsChanged));
    talk
}

/// The calls of the wiper that reached the world, as whether they were confirmed.
fn wiped(worlds: &FakeWorlds) -> Vec<bool> {
    worlds.seen().into_iter().filter(|(tool, ..)| tool == WIPE).map(|(.., confirmed)| confirmed).collect()
}

fn asked(talk: &mut Talk) -> Option<String> {
    match talk.told.try_recv() {
        Ok(Told::Asked(message)) => Some(message),
        _ => None,
    }
}

#[tokio::test]
async fn the_user_is_asked_each_time_and_the_call_runs_on_their_word() {
    let worlds = Arc::new(FakeWorlds::default());
    let mut talk = wiping(&worlds, Confirm::Ask, User::Agrees).await;
    for round in 1..=2 {
        assert_eq!(talk.call(WIPE, json!({})).await["message"], json!("all notes removed"));
        let question = asked(&mut talk).unwrap();
        let digest = call("any", WIPE, json!({})).digest().to_string();
        assert!(question.contains(&format!("{WIPE} {{}}")) && question.contains(&digest), "{question}");
        assert_eq!(asked(&mut talk), None, "once a call");
        assert_eq!(wiped(&worlds).iter().filter(|confirmed| **confirmed).count(), round);
    }
}

#[tokio::test]
async fn without_the_users_word_the_call_does_not_run() {
    for (confirm, user, kind, part, questions) in [
        (Confirm::Ask, User::Declines, "declined", "declined", 1),
        (Confirm::Ask, User::Closes, "needs-confirmation", "closed the question", 1),
        (Confirm::Ask, User::Absent, "needs-confirmation", "no elicitation; connect with a client that does", 0),
        (Confirm::Deny, User::Agrees, "needs-confirmation", "asks nobody", 0),
    ] {
        let worlds = Arc::new(FakeWorlds::default());
        let mut talk = wiping(&worlds, confirm, user).await;
        let found = talk.call(WIPE, json!({})).await;
        assert_eq!(found["kind"], json!(kind), "{user:?}: {found}");
        assert!(found["error"].as_str().unwrap().contains(part), "{user:?}: {found}");
        assert_eq!(wiped(&worlds), [false], "{user:?}");
        assert_eq!(std::iter::from_fn(|| asked(&mut talk)).count(), questions, "{user:?}");
        if kind == "needs-confirmation" {
            assert_eq!(found["data"]["call"], json!(call("any", WIPE, json!({})).digest().to_string()));
        }
    }
}

#[tokio::test]
async fn an_agent_finds_no_way_to_confirm() {
    let worlds = Arc::new(FakeWorlds::default());
    let talk = wiping(&worlds, Confirm::Ask, User::Absent).await;
    let names = talk.tools().await;
    assert!(!names.iter().any(|name| name.contains("confirm") || name.contains("consent")), "{names:?}");
    for arguments in [json!({"confirm": true}), json!({"confirmed": true}), json!({"_meta": {"confirm": true}})] {
        assert_eq!(talk.call(WIPE, arguments).await["kind"], json!("malformed"));
    }
    let digest = talk.call(WIPE, json!({})).await["data"]["call"].clone();
    for arguments in [json!({"call": digest}), json!({"confirm": digest})] {
        assert_eq!(talk.call(WIPE, arguments).await["kind"], json!("malformed"));
    }
    assert_eq!(
        talk.call(WIPE, Value::Null).await["kind"],
        json!("needs-confirmation"),
        "asking twice confirms nothing"
    );
    assert_eq!(wiped(&worlds), [false, false]);
}
