//! A bad component is refused with what is wrong, and never runs in an episode.

use std::sync::Arc;

use loopwright_contract::{
    episode::{EpisodeHost as _, PluginKind},
    fault::chain,
    tool::{AccessRule, ArgumentMatch, Effect},
};
use loopwright_engine::{Candidate, GrantPolicy, InstallError, NoWorlds, PluginHost, Refusal, Says, inspect};
use serde_json::json;

use crate::support::{
    candidate, config, engines, environment,
    guest::{ToolGuest, VerifierGuest, collection, component, idle_tool, spec},
    tool,
};

fn refuse(candidates: &[Candidate]) -> InstallError {
    let installed = PluginHost::install(engines(), config(), &GrantPolicy::trusting(), Arc::new(NoWorlds), candidates);
    installed.err().expect("the component was installed")
}

/// A component without our interfaces.
fn foreign(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).unwrap()
}

#[test]
fn what_is_no_component_is_refused() {
    let whole = idle_tool("notes").build();
    let core_module = foreign("(module)");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    for (bytes, part) in [
        (Vec::new(), "found 0 bytes"),
        (b"#!/bin/sh\nexit 0\n".to_vec(), "found 17 bytes that begin with"),
        (whole[..4].to_vec(), "found 4 bytes"),
        (whole[..whole.len() - 9].to_vec(), ""),
        (whole[..whole.len() / 2].to_vec(), ""),
        (damaged, ""),
        (core_module, "core module"),
    ] {
        let error = refuse(&[candidate("notes", bytes)]);
        assert!(matches!(error.reason, Refusal::NotAComponent { .. }), "{error:?}");
        let text = chain(&error);
        assert!(text.contains("`notes`") && text.contains(part) && !text.contains("panick"), "{text}");
    }
}

#[test]
fn foreign_imports_are_listed() {
    let wasi = foreign(
        r#"(component
            (import "wasi:filesystem/types@0.2.0" (instance))
            (import "wasi:clocks/monotonic-clock@0.2.0" (instance))
            (type $word u32) (instance $tool (export "x" (type $word)))
            (export "loopwright:afv/tool@0.1.0" (instance $tool)))"#,
    );
    match refuse(&[candidate("spy", wasi)]).reason {
        Refusal::ForeignImports { kind, imports } => {
            assert_eq!(kind, PluginKind::Tool);
            assert_eq!(imports, ["wasi:clocks/monotonic-clock@0.2.0", "wasi:filesystem/types@0.2.0"]);
        }
        other => panic!("{other}"),
    }
    // Also ours, where the kind does not have it: a verifier that would call tools, a tool that would read evidence.
    for (export, import, kind) in [
        ("verifier", "tools", PluginKind::Verifier),
        ("tool", "evidence", PluginKind::Tool),
        ("skill", "state-write", PluginKind::Skill),
        ("tool", "clock-control", PluginKind::Tool),
    ] {
        let bytes = foreign(&format!(
            r#"(component
                (import "loopwright:afv/{import}@0.1.0" (instance))
                (type $word u32) (instance $own (export "x" (type $word)))
                (export "loopwright:afv/{export}@0.1.0" (instance $own)))"#
        ));
        match refuse(&[candidate("spy", bytes)]).reason {
            Refusal::ForeignImports { kind: found, imports } => {
                assert_eq!((found, imports), (kind, vec![format!("loopwright:afv/{import}@0.1.0")]))
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn another_world_or_other_types_are_refused() {
    let empty = foreign("(component)");
    assert!(matches!(refuse(&[candidate("empty", empty)]).reason, Refusal::WrongWorld { .. }));
    let later = foreign(
        r#"(component (type $word u32) (instance $own (export "x" (type $word))) (export "loopwright:afv/tool@0.2.0" (instance $own)))"#,
    );
    assert!(matches!(refuse(&[candidate("later", later)]).reason, Refusal::WrongWorld { .. }));
    let other_types = foreign(
        r#"(component (type $word u32) (instance $own (export "x" (type $word))) (export "loopwright:afv/tool@0.1.0" (instance $own)))"#,
    );
    assert!(matches!(refuse(&[candidate("other", other_types)]).reason, Refusal::Types { .. }));
    // The index says tool, the component is a verifier.
    let verifier =
        Candidate { kind: Some(PluginKind::Tool), ..candidate("judge", VerifierGuest::new("judge", "").build()) };
    assert!(matches!(refuse(&[verifier]).reason, Refusal::WrongWorld { .. }));
}

#[test]
fn a_component_is_who_its_index_says() {
    let error = refuse(&[candidate("other", idle_tool("notes").build())]);
    assert!(matches!(error.reason, Refusal::Identity { field: "name", .. }), "{error:?}");
    let error = refuse(&[Candidate { version: Some("0.2.0".into()), ..tool(&idle_tool("notes")) }]);
    assert!(chain(&error).contains("the index says `0.2.0`, the component says `0.1.0`"), "{}", chain(&error));
}

fn changed(change: impl FnOnce(&mut ToolGuest)) -> ToolGuest {
    let mut guest = idle_tool("notes");
    change(&mut guest);
    guest
}

#[test]
fn bad_specs_are_refused_with_their_place() {
    let rule = |argument: Option<&str>| AccessRule {
        when: argument.map(|argument| ArgumentMatch { argument: argument.into(), one_of: vec![json!(1)] }),
        effect: Effect::Read,
        requires: vec![],
    };
    for (guest, part) in [
        (changed(|guest| guest.catalogue.tools.clear()), "tools: expected 1 to 64"),
        (
            changed(|guest| guest.catalogue.tools[0].arguments_schema = json!({"type": "object"})),
            "tool `notes`.arguments-schema",
        ),
        (changed(|guest| guest.catalogue.tools[0].arguments_schema = json!(5)), "tool `notes`.arguments-schema"),
        (
            changed(
                |guest| guest.catalogue.tools[0].arguments_schema = json!({"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "https://x.y/z"}}}),
            ),
            "inlined",
        ),
        (
            changed(|guest| guest.catalogue.tools[0].result_schema = json!({"type": "nothing"})),
            "tool `notes`.result-schema",
        ),
        (changed(|guest| guest.catalogue.tools[0].description.clear()), "description: expected at least one"),
        (changed(|guest| guest.catalogue.tools[0].description[0].lang = "zh".parse().unwrap()), "expected English"),
        (changed(|guest| guest.catalogue.tools[0].access.clear()), "access: expected at least one rule"),
        (changed(|guest| guest.catalogue.tools[0].access = vec![rule(Some("mode"))]), "last rule"),
        (changed(|guest| guest.catalogue.tools[0].access = vec![rule(None), rule(None)]), "access[0]"),
        (changed(|guest| guest.catalogue.tools[0].access = vec![rule(Some("speed")), rule(None)]), "argument `speed`"),
        (changed(|guest| guest.catalogue.tools = vec![spec("a"), spec("a")]), "`a` stands there twice"),
        (
            changed(|guest| guest.catalogue.collections = vec![collection("a"), collection("a")]),
            "`a` stands there twice",
        ),
        (changed(|guest| guest.catalogue.collections[0].bookkeeping = vec!["no-pointer".into()]), "collection `notes`"),
        (
            changed(|guest| guest.catalogue.collections[0].initial = vec![(String::new(), json!(1))]),
            "collection `notes`",
        ),
        (changed(|guest| guest.catalogue.tools[0].domain = "x".repeat(65)), "domain"),
    ] {
        let error = refuse(&[tool(&guest)]);
        assert!(
            matches!(error.reason, Refusal::Contract { function: "specs", .. }) && chain(&error).contains(part),
            "expected {part}: {}",
            chain(&error)
        );
    }
}

#[test]
fn names_are_taken_once_and_never_reserved() {
    for name in ["ask_user", "finish", "refuse", "delegate", "search_user_memory", "add_user_memory", "skill__careful"]
    {
        let error = refuse(&[tool(&changed(|guest| guest.catalogue.tools = vec![spec(name)]))]);
        assert!(
            matches!(&error.reason, Refusal::Taken { what: "tool", name: taken, .. } if taken == name),
            "{error:?}"
        );
    }
    let error = refuse(&[tool(&changed(|guest| guest.catalogue.collections = vec![collection("environment")]))]);
    assert!(chain(&error).contains("collection `environment` is taken"), "{}", chain(&error));
    let first = changed(|guest| guest.name = "first".into());
    for (second, what) in [
        (changed(|guest| guest.catalogue.collections.clear()), "tool `notes`"),
        (changed(|guest| guest.catalogue.tools = vec![spec("other")]), "collection `notes`"),
    ] {
        let error = refuse(&[tool(&second), tool(&first)]);
        assert!(
            error.plugin == *"notes" && chain(&error).contains(&format!("{what} is taken by plugin `first`")),
            "{}",
            chain(&error)
        );
    }
    assert!(matches!(refuse(&[tool(&first), tool(&first)]).reason, Refusal::Taken { what: "plugin", .. }));
}

#[test]
fn a_plugin_has_no_world_while_it_is_asked_who_it_is() {
    // `describe` reads state: denied, so that it goes on; randomness is not to be had at all.
    let mut guest = idle_tool("notes");
    guest.parts = r#"(data (i32.const 512) "notes")"#.into();
    guest.describe = "(call $get (i32.const 512) (i32.const 5) (i32.const 512) (i32.const 5) (i32.const 600))
        (if (i32.ne (i32.load8_u (i32.const 600)) (i32.const 1)) (then unreachable))
        (if (i64.ne (call $now) (i64.const 0)) (then unreachable))"
        .into();
    let found = inspect(&engines(), &config(), &tool(&guest));
    assert!(found.is_ok(), "{}", chain(&found.err().unwrap()));
    guest.describe = "(drop (call $random))".into();
    let error = refuse(&[tool(&guest)]);
    assert!(chain(&error).contains("`context.random-bits` needs an episode"), "{}", chain(&error));
}

#[test]
fn a_plugin_that_fails_when_it_is_asked_is_refused() {
    let mut guest = idle_tool("notes");
    guest.parts = "(func $start unreachable) (start $start)".into();
    assert!(chain(&refuse(&[tool(&guest)])).contains("instantiation failed: trapped"));
    let config = loopwright_engine::EngineConfig {
        limits: loopwright_contract::limits::PluginLimits { instantiate_fuel: 100_000, ..Default::default() },
        ..config()
    };
    guest.parts = "(func $start (loop $again (br $again))) (start $start)".into();
    let error = inspect(&engines(), &config, &tool(&guest)).err().unwrap();
    assert!(chain(&error).contains("spent its fuel budget of 100000"), "{}", chain(&error));
}

#[test]
fn a_component_tells_its_kind_by_itself() {
    let tool = inspect(&engines(), &config(), &tool(&idle_tool("notes"))).unwrap();
    assert!(
        tool.record().kind == PluginKind::Tool
            && matches!(&tool.says, Says::Tool(catalogue) if catalogue.tools.len() == 1)
    );
    let verifier =
        inspect(&engines(), &config(), &candidate("judge", VerifierGuest::new("judge", "").build())).unwrap();
    assert_eq!((verifier.record().kind, verifier.record().version.as_str()), (PluginKind::Verifier, "0.1.0"));
    assert_eq!(inspect(&engines(), &config(), &environment()).unwrap().record().kind, PluginKind::Environment);
}

#[test]
fn all_that_is_installed_is_listed_in_order() {
    let host = crate::support::host(&[
        environment(),
        tool(&idle_tool("zebra")),
        candidate("judge", VerifierGuest::new("judge", "").build()),
        tool(&idle_tool("ape")),
    ]);
    let records: Vec<(PluginKind, &str)> =
        host.plugins().iter().map(|record| (record.kind, record.name.as_str())).collect();
    assert_eq!(
        records,
        [
            (PluginKind::Tool, "ape"),
            (PluginKind::Tool, "zebra"),
            (PluginKind::Environment, "world"),
            (PluginKind::Verifier, "judge")
        ]
    );
    let tools: Vec<&str> = host.tools().iter().map(|tool| tool.spec.name.as_str()).collect();
    assert_eq!(tools, ["ape", "zebra"]);
    // It asked for nothing, so that it has its own, whoever trusts it.
    let grant = &host.plugins()[2].grant;
    let names: Vec<&str> = grant.write.iter().map(|name| name.as_str()).collect();
    assert_eq!((names, &grant.read), (vec!["environment"], &grant.write));
    assert!(host.fingerprint().starts_with("wasmtime-48.") && host.fingerprint().contains("loopwright:afv@0.1.0"));
}

#[test]
fn a_module_that_is_no_guest_does_not_become_one() {
    // The world's metadata without its exports cannot even be made; one with a wrong import is caught here.
    let bytes = std::panic::catch_unwind(|| component("tool-plugin", "(module)"));
    assert!(bytes.is_err());
}
