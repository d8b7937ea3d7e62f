//! What a plugin from elsewhere asks for, and what an operator grants it: from the command that pulls it to the call that is denied.

use std::path::Path;
use std::process::Command;

use loopwright_contract::tool::{AccessRule, Catalogue, CollectionSpec, Effect, Localized, ToolSpec};
use loopwright_testkit::guests::image::Image;
use loopwright_testkit::guests::{component, with_request};
use serde_json::{Value, json};

/// A plugin with one tool that runs `calculate_expression` for its caller, and in some versions keeps something too.
fn relay(version: &str, keeps: bool, asks: &Value) -> Vec<u8> {
    let spec = ToolSpec {
        name: "relay".parse().unwrap(),
        domain: "tests".into(),
        description: vec![Localized { lang: "en".parse().unwrap(), text: "Calculates, through another tool.".into() }],
        keywords: vec![],
        arguments_schema: json!({"type": "object", "properties": {"expression": {"type": "string"}}, "additionalProperties": false}),
        result_schema: json!({}),
        access: vec![AccessRule { when: None, effect: Effect::Write, requires: vec![] }],
        ext: vec![],
    };
    let own = CollectionSpec {
        name: "relay".parse().unwrap(),
        schema: None,
        bookkeeping: vec![],
        indexes: vec![],
        initial: vec![],
    };
    let mut image = Image::default();
    let identity = image.identity("relay", version, &[]);
    let catalogue = image.catalogue(&Catalogue { tools: vec![spec], collections: vec![own], uses: vec![] });
    let (inner, inner_length) = image.text("calculate_expression");
    let failed = image.failure(409, "the inner call came to nothing", None);
    let (segment, end) = (image.segment(), image.end());
    let (import, keep) = if keeps {
        let import = r#"(import "loopwright:afv/scratch@0.1.0" "put" (func $keep (param i32 i32 i32 i32 i32)))"#;
        (
            import,
            "(call $keep (local.get $id) (local.get $id_len) (local.get $args) (local.get $args_len) (i32.const 64))",
        )
    } else {
        ("", "")
    };
    let wat = format!(
        r#"(module
        (import "loopwright:afv/tool-caller@0.1.0" "call" (func $call_tool (param i32 i32 i32 i32 i32)))
        {import}
        (memory (export "memory") 2)
        {segment}
        (global $heap (mut i32) (i32.const {end}))
        (func (export "cabi_realloc") (param i32 i32 i32) (param $size i32) (result i32)
            (global.set $heap (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
            (global.get $heap)
            (global.set $heap (i32.add (global.get $heap) (local.get $size))))
        (func (export "loopwright:afv/tool@0.1.0#describe") (result i32) (i32.const {identity}))
        (func (export "loopwright:afv/tool@0.1.0#specs") (result i32) (i32.const {catalogue}))
        (func (export "loopwright:afv/tool@0.1.0#call")
            (param $id i32) (param $id_len i32) (param $tool i32) (param $tool_len i32) (param $args i32) (param $args_len i32) (result i32)
            {keep}
            (call $call_tool (i32.const {inner}) (i32.const {inner_length}) (local.get $args) (local.get $args_len) (i32.const 0))
            (select (i32.const {failed}) (i32.const 0) (i32.load8_u (i32.const 0)))))"#
    );
    with_request(component("relay", "capable-tool-plugin", &wat).unwrap(), asks)
}

/// A publisher's and a customer's folder.
struct Desk(tempfile::TempDir);

/// How a command ended.
struct Ended {
    code: i32,
    out: Value,
    notes: String,
}

impl Desk {
    /// Runs the command, with `~` for the folder.
    fn run(&self, line: &str) -> Ended {
        let folder = self.0.path().display().to_string();
        let mut command = Command::new(crate::binary());
        command.args(["--json", "--plugins", &format!("{folder}/plugins"), "--cache", &format!("{folder}/cache")]);
        command.args(line.split(' ').map(|word| word.replace('~', &format!("{folder}/"))));
        let output = command.output().expect("the command runs");
        Ended {
            code: output.status.code().expect("it ends by itself"),
            out: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            notes: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn publish(&self, release: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join("component.wasm"), bytes).expect("a component is written");
        let pushed = self.run(&format!("registry push ~component.wasm {release} --key ~acme.key --at oci:~mirror"));
        assert_eq!(pushed.code, 0, "{}", pushed.notes);
    }

    fn pull(&self, release: &str, more: &str) -> Ended {
        self.run(&format!("registry pull {release} --trust ~trust.toml --store ~store --at oci:~mirror{more}"))
    }

    fn relay(&self) -> Ended {
        self.run(r#"plugin call relay {"expression":"2+3"}"#)
    }

    fn explain(&self) -> Ended {
        self.run("plugin explain relay")
    }

    fn reads(&self) -> Value {
        self.run("plugin describe relay").out["plugin"]["grant"]["read"].clone()
    }
}

fn desk() -> Desk {
    let desk = Desk(tempfile::tempdir().expect("a folder"));
    let key = desk.run("registry keygen ~acme.key").out["key"].as_str().expect("a key").to_owned();
    let policy = format!("version = 1\n[[namespace]]\nname = \"acme\"\n[[namespace.key]]\nid = \"{key}\"\n");
    std::fs::write(desk.0.path().join("trust.toml"), policy).expect("a policy is written");
    let calc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/plugins/calc.wasm");
    desk.publish("acme:calc@0.1.0", &std::fs::read(calc).expect("built plugins: run `cargo xtask guests`"));
    assert_eq!(desk.pull("acme:calc@0.1.0", "").code, 0);
    desk
}

#[test]
fn nothing_is_linked_before_it_is_granted_and_an_update_keeps_the_old_grant() {
    let desk = desk();
    let calls = json!({"capability": "tool.call", "tools": ["calculate_expression"]});
    let power = json!({"capability": "collection", "name": "rates", "access": "read"});
    desk.publish("acme:relay@1.0.0", &relay("1.0.0", false, &json!([calls])));
    let pulled = desk.pull("acme:relay@1.0.0", "");
    assert_eq!((pulled.code, &pulled.out["lacks"]), (0, &json!(["tool-caller"])), "{}", pulled.notes);

    // It is left out, the rest runs, and why is said.
    let list = desk.run("plugin list");
    assert_eq!((list.code, list.out.as_array().map(Vec::len)), (0, Some(1)), "{}", list.notes);
    assert!(list.notes.contains("plugin `relay` 1.0.0 is left out"), "{}", list.notes);
    let explained = desk.explain();
    assert_eq!((explained.code, &explained.out["standing"]), (1, &json!("no_grant")), "{}", explained.notes);
    assert_eq!(explained.out["asks"][0]["why"], "no grant is about it");

    // A grant links it.
    let granted = desk.run("plugin grant relay");
    assert_eq!((granted.code, &granted.out["capabilities"]), (0, &json!([calls])), "{}", granted.notes);
    assert_eq!(desk.explain().code, 0);
    let called = desk.relay();
    assert_eq!(
        (called.code, &called.out["result"]["data"]["result"]),
        (0, &json!(5)),
        "{} {}",
        called.out,
        called.notes
    );

    // An update that asks for more goes on with the old grant.
    desk.publish("acme:relay@1.1.0", &relay("1.1.0", false, &json!([calls, power])));
    let pulled = desk.pull("acme:relay@1.1.0", "");
    assert_eq!(
        (pulled.code, &pulled.out["decided"]["more"]),
        (0, &json!(["read collection `rates`"])),
        "{}",
        pulled.notes
    );
    let called = desk.relay();
    assert_eq!(called.code, 0, "{}", called.notes);
    assert!(
        called.notes.contains("stays what it was; this one asks for more: read collection `rates`"),
        "{}",
        called.notes
    );
    assert_eq!(desk.reads(), json!(["relay"]));
    let explained = desk.explain();
    let granted: Vec<&Value> =
        explained.out["asks"].as_array().unwrap().iter().map(|asked| &asked["granted"]).collect();
    assert_eq!((explained.code, granted), (0, vec![&json!(false), &json!(true)]), "{}", explained.out);
    assert_eq!(desk.run("plugin grant relay --except tool.call").code, 0);
    assert_eq!(desk.explain().code, 1, "the grant of this very request counts, and it has no tools");
    assert_eq!(desk.run("plugin grant relay").code, 0);
    assert_eq!(desk.reads(), json!(["rates", "relay"]));
    assert!(desk.relay().notes.is_empty());

    // One that could not run without a grant does not take the place of one that does.
    let scratch = json!({"capability": "scratch", "bytes": 1_000});
    desk.publish("acme:relay@2.0.0", &relay("2.0.0", true, &json!([calls, scratch])));
    let pulled = desk.pull("acme:relay@2.0.0", "");
    assert_eq!(pulled.code, 1);
    assert!(
        pulled.notes.contains("version 1.1.0 serves on") || pulled.out.to_string().contains("version 1.1.0 serves on")
    );
    assert_eq!(desk.explain().out["version"], "1.1.0");
    assert_eq!(desk.pull("acme:relay@2.0.0", " --grant").code, 0);
    assert_eq!((desk.explain().out["version"].clone(), desk.relay().code), (json!("2.0.0"), 0));

    assert_eq!(desk.run("plugin revoke relay").out["revoked"], 3);
    assert_eq!(desk.explain().out["lacks"], json!(["tool-caller", "scratch"]));
}

#[test]
fn a_release_that_would_not_run_takes_no_place() {
    let desk = desk();
    let calls = json!([{"capability": "tool.call", "tools": ["calculate_expression"]}]);
    desk.publish("acme:relay@1.0.0", &relay("1.0.0", false, &calls));
    assert_eq!(desk.pull("acme:relay@1.0.0", " --grant").code, 0);
    // It says another version of itself than its release, and a plugin of another name brings a tool that is taken.
    desk.publish("acme:relay@1.0.1", &relay("1.0.9", false, &calls));
    let refused = desk.pull("acme:relay@1.0.1", "");
    assert_eq!(refused.code, 1, "{} {}", refused.out, refused.notes);
    assert!(
        format!("{}{}", refused.out, refused.notes).contains("version: the index says `1.0.1`"),
        "{}",
        refused.notes
    );
    desk.publish("acme:other@1.0.0", &relay("1.0.0", false, &calls));
    assert_eq!(desk.pull("acme:other@1.0.0", "").code, 1, "it calls itself `relay`");
    assert_eq!(
        (desk.explain().out["version"].clone(), desk.relay().code),
        (json!("1.0.0"), 0),
        "what was there serves on"
    );
}

#[test]
fn a_grant_file_that_is_wrong_grants_nothing_and_says_where() {
    let desk = desk();
    std::fs::write(desk.0.path().join("plugins/grants.toml"), "version = 1\n[[grant]]\nname = \"relay\"\n").unwrap();
    let list = desk.run("plugin list");
    assert_ne!(list.code, 0);
    let said = format!("{}{}", list.notes, list.out);
    assert!(said.contains("grant file") && said.contains("grants.toml") && said.contains("versions"), "{said}");
    assert_ne!(desk.run("plugin grant calc").code, 0);
}
