//! One plugin in Rust, Python and JavaScript that keeps bytes and calls other plugins' tools: all three come to the same. The guests are
//! `tests/guests/caller`.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use loopwright_contract::{
    capability::{CAPABILITY_INTERFACES, Capabilities},
    environment::Reply,
    episode::Episode,
    fault::chain,
};
use loopwright_engine::{Candidate, Given, GrantPolicy, NoWorlds, PluginHost};
use serde_json::{Value, json};

use crate::{
    episode::notes,
    support::{call, candidate, config, engines, environment, open, step, task, tool},
};

/// What `cargo xtask` built.
const PLUGINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/plugins");

fn component(name: &str) -> Candidate {
    let path = Path::new(PLUGINS).join(format!("{name}.wasm"));
    let bytes = std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}\nhint: build it with `cargo xtask test`", path.display()));
    candidate(name, bytes)
}

/// A host with the plugin, the `notes` that it calls, and an operator who grants all but one tool that it asks for.
fn host(name: &str) -> PluginHost {
    let given = json!([
        {"capability": "tool.call", "tools": ["put", "fail", "trap"]},
        {"capability": "scratch", "bytes": 500},
    ]);
    let given = Given::Only(Capabilities::parse(&given, "").unwrap());
    let policy = GrantPolicy { given: BTreeMap::from([(name.parse().unwrap(), given)]), otherwise: Given::Nothing };
    let candidates = [component(name), tool(&notes()), environment()];
    let host = PluginHost::install(engines(), config(), &policy, Arc::new(NoWorlds), &candidates)
        .unwrap_or_else(|error| panic!("{name}: {}", chain(&error)));
    assert!(host.waiting().is_empty(), "{name}: {:?}", host.waiting());
    host
}

/// What a call came to: the data of a success, or the code and the message of a failure.
fn come(episode: &mut dyn Episode, tool: &str, arguments: Value) -> Value {
    match &step(episode, call("k", tool, arguments)).unwrap().feedback[0].reply {
        Reply::Done(success) => success.data.clone(),
        Reply::Failed(failure) | Reply::NeedsConfirmation(failure) => json!([failure.code, failure.message]),
    }
}

fn check(name: &str) {
    let host = host(name);
    let mut episode = open(&host, &task("world"));
    let mut come = |tool: &str, arguments: Value| come(&mut *episode, tool, arguments);
    let bytes: Vec<u8> = (0..=u8::MAX).collect();

    assert_eq!(come("recall", json!({"key": "b"})), json!({"bytes": null}), "{name}");
    assert_eq!(come("keep", json!({"key": "b", "bytes": bytes})), json!({"keys": ["b"]}), "{name}");
    assert_eq!(come("keep", json!({"key": "a", "bytes": []})), json!({"keys": ["a", "b"]}), "{name}");
    assert_eq!(come("recall", json!({"key": "b"})), json!({"bytes": bytes}), "{name}: bytes that are no UTF-8");
    assert_eq!(come("recall", json!({"key": "a"})), json!({"bytes": []}), "{name}");
    assert_eq!(come("lose", json!({"key": "b", "bytes": [1]})), json!([409, "lost: keep it"]), "{name}");
    assert_eq!(come("recall", json!({"key": "b"})), json!({"bytes": bytes}), "{name}: a failure keeps nothing");
    // 64 for each entry, its key and its value; the operator granted half of what was asked for.
    let full = json!([429, "scratch is full: at most 500 bytes allowed, found 501"]);
    let value = |length: usize| json!({"key": "c", "bytes": vec![0xff; length]});
    assert_eq!(come("keep", value(500 - 321 - 65 - 65 + 1)), full, "{name}");
    assert_eq!(come("keep", value(500 - 321 - 65 - 65)), json!({"keys": ["a", "b", "c"]}), "{name}");
    for there in [true, false] {
        assert_eq!(come("forget", json!({"key": "c"})), json!({"there": there}), "{name}");
    }
    assert_eq!(
        (come("count", json!({})), come("count", json!({}))),
        (json!({"count": 1}), json!({"count": 2})),
        "{name}"
    );
    // A key that cannot be is the plugin's own mistake: a fault, which the environment answers with 503.
    assert_eq!(come("keep", json!({"key": "", "bytes": []}))[0], 503, "{name}");

    let arguments = json!({"value": 1});
    let mut called = |way: &str, tool: &str| come(way, json!({"tool": tool, "arguments": arguments}));
    let refused = json!({"came": "failed", "code": 409, "message": "no", "data": {"allowed": [1]}});
    for (tool, tried, passed) in [
        ("put", json!({"came": "done", "message": "done", "data": {"ok": true}}), json!({"ok": true})),
        ("fail", refused, json!([409, "no"])),
        ("trap", json!({"came": "faulted", "what": "trapped"}), json!([503, "the called tool failed: trapped"])),
        // Asked for, and not granted.
        (
            "nothing",
            json!({"came": "denied", "what": "tool `nothing` is not granted"}),
            json!([403, "the call is denied: tool `nothing` is not granted"]),
        ),
    ] {
        assert_eq!((called("try_call", tool), called("pass_call", tool)), (tried, passed), "{name} {tool}");
    }
    come("try_call", json!({"tool": "put", "arguments": {"value": 2}}));
    let changes = episode.changes();
    let values = (&changes[0].before, &changes[0].after);
    assert_eq!((changes.len(), values), (1, (&Some(json!({"value": 1})), &Some(json!({"value": 2})))), "{name}");
}

#[test]
fn a_plugin_in_rust_keeps_bytes_and_calls_tools() {
    check("caller");
}

#[test]
fn a_plugin_in_python_keeps_bytes_and_calls_tools() {
    check("caller-python");
}

#[test]
fn a_plugin_in_javascript_keeps_bytes_and_calls_tools() {
    check("caller-js");
}

#[test]
fn what_does_not_use_a_capability_does_not_import_its_interface() {
    let mut asking = Vec::new();
    for item in std::fs::read_dir(PLUGINS).expect("`cargo xtask test` builds them") {
        let path = item.unwrap().path();
        if path.extension().is_none_or(|end| end != "wasm") {
            continue;
        }
        let found = loopwright_registry::component::inspect(&std::fs::read(&path).unwrap()).unwrap();
        let of_capability = |import: &&str| CAPABILITY_INTERFACES.contains(import);
        let names = found.imports.iter().filter_map(|name| name.strip_prefix("loopwright:afv/")?.split('@').next());
        let mut imported: Vec<&str> = names.filter(of_capability).collect();
        let mut asked = found.request.capabilities.interfaces();
        imported.sort_unstable();
        asked.sort_unstable();
        assert_eq!(imported, asked, "{}", path.display());
        if !asked.is_empty() {
            asking.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    asking.sort();
    assert_eq!(asking, ["caller", "caller-js", "caller-python"]);
}
