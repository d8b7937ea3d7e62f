//! Calls of other plugins' tools, and bytes that a plugin keeps.

use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{
    Actor, CallError, Code, Collection, Effect, Failure, Identity, NoArguments, Phone, Reply, ScratchError, Storage,
    Tool, ToolFault, ToolPlugin, identity,
};
use serde_json::{Value, json};

struct Diary;

/// Keeps a line, has the clock say the time, and writes both down.
fn note(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    phone.scratch().put("last", b"note")?;
    let said: Reply = phone.call_tool("tell_time", &json!({}))?;
    phone.put("diary", "last", &said.data)?;
    Ok(Reply::new("noted", said.data))
}

fn give_up(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    phone.scratch().put("last", b"gone")?;
    let _: Reply = phone.call_tool("tell_time", &json!({}))?;
    Err(Failure::conflict("nothing to note", "do something first"))
}

fn call_itself(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    Ok(phone.call_tool("note", &json!({}))?)
}

impl ToolPlugin for Diary {
    const IDENTITY: Identity = identity!("diary");

    fn tools() -> Vec<Tool> {
        let declare = |name, handler: fn(&mut Phone, NoArguments) -> Result<Reply, Failure>| {
            Tool::new(name, handler).domain("home").en("A diary.", "diary").writes()
        };
        vec![declare("note", note), declare("give_up", give_up), declare("call_itself", call_itself)]
    }

    fn storage() -> Storage {
        Storage::new().owns(Collection::new("diary"))
    }
}

struct Watch;

fn tell(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    phone.scratch().put("last", b"told")?;
    phone.put("watch", "told", &true)?;
    Ok(Reply::new("the time", json!({"at": phone.now().to_rfc3339(0)})))
}

impl ToolPlugin for Watch {
    const IDENTITY: Identity = identity!("watch");

    fn tools() -> Vec<Tool> {
        vec![Tool::new("tell_time", tell).domain("home").en("Tells the time.", "time").writes()]
    }

    fn storage() -> Storage {
        Storage::new().owns(Collection::new("watch"))
    }
}

fn both() -> TestPhone {
    TestPhone::new().plugin::<Diary>().plugin::<Watch>().scratch_bytes(1_000)
}

#[test]
fn an_inner_call_is_part_of_the_outer_one() {
    let mut test = both();
    let reply = test.call("note", json!({})).unwrap();
    assert_eq!(reply.data, json!({"at": "2026-01-01T00:00:00Z"}));
    assert_eq!(test.document("diary", "last"), Some(reply.data));
    assert_eq!(test.document("watch", "told"), Some(json!(true)));
    // Each plugin has its own scratch.
    let kept = ["diary", "watch", "other"].map(|plugin| test.kept(plugin, "last"));
    assert_eq!(kept, [Some(b"note".to_vec()), Some(b"told".to_vec()), None]);
    let invoked = test.invoked();
    let invoked: Vec<_> = invoked.iter().map(|(actor, call)| (*actor, call.tool.as_str())).collect();
    assert_eq!(invoked, [(Actor::Agent, "note")], "the outer call is the step");
    assert_eq!(test.called().iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["tell_time"]);
}

#[test]
fn when_the_outer_call_fails_everything_is_as_before() {
    let mut test = both();
    assert_eq!(test.call("give_up", json!({})).unwrap_err().code(), Some(Code::CONFLICT));
    assert_eq!((test.document("watch", "told"), test.kept("watch", "last")), (None, None));
    assert_eq!(test.kept("diary", "last"), None);
    test.call("note", json!({})).unwrap();
    assert_eq!(test.call("give_up", json!({})).unwrap_err().code(), Some(Code::CONFLICT));
    assert_eq!(test.kept("diary", "last"), Some(b"note".to_vec()), "what an earlier call kept stays");
}

#[test]
fn a_plugin_that_runs_is_busy() {
    let denied = both().call("call_itself", json!({})).unwrap_err();
    assert_eq!((denied.code(), denied.message()), (Some(Code::DENIED), "the call is denied: busy"));
}

#[test]
fn what_a_call_came_to_is_told_apart() {
    let failed = Failure::conflict("it rings already", "wait");
    let told = [
        (Err(CallError::Failed(failed.clone())), CallError::Failed(failed.clone())),
        (Err(CallError::Denied("busy".to_owned())), CallError::Denied("busy".to_owned())),
        (Err(CallError::Faulted("fuel".to_owned())), CallError::Faulted("fuel".to_owned())),
    ];
    let (answers, expected): (Vec<Result<Value, CallError>>, Vec<CallError>) = told.into_iter().unzip();
    let test = TestPhone::new().answers("ring", answers);
    for expected in expected {
        assert_eq!(test.phone().call_tool::<Value>("ring", &json!({})), Err(expected));
    }
    let test = TestPhone::new().faulty_tool("ring", Effect::Read, ToolFault::Trapped);
    let error = test.phone().call_tool::<Value>("ring", &json!({})).unwrap_err();
    assert_eq!(error, CallError::Faulted("trapped".to_owned()));
    assert_eq!(Failure::from(error).code(), Some(Code::UNAVAILABLE));
    let error = test.phone().call_tool::<Value>("other", &json!({})).unwrap_err();
    assert_eq!(error, CallError::Denied("tool `other` is not granted".to_owned()));
    assert_eq!(Failure::from(CallError::Failed(failed.clone())), failed, "a refusal is handed on as it is");
}

#[test]
fn an_answer_that_is_something_else_is_a_fault_of_the_caller() {
    let test = TestPhone::new().answers("count", [Ok(json!({"count": "three"})), Ok(json!({"count": 3}))]);
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Count {
        count: u8,
    }
    let error = test.phone().call_tool::<Count>("count", &json!({})).unwrap_err();
    assert!(matches!(&error, CallError::Shape(error) if error.pointer == "/count"), "{error}");
    assert!(Failure::from(error).as_fault().is_some());
    let reply = test.phone().call_tool::<Count>("count", &json!({})).unwrap();
    assert_eq!(reply, Reply::new("done", Count { count: 3 }));
}

#[test]
fn bytes_are_kept_as_they_are_within_the_quota() {
    let every: Vec<u8> = (0..=u8::MAX).collect();
    let test = TestPhone::new().scratch_bytes(64 + 5 + every.len());
    let mut phone = test.phone();
    let mut scratch = phone.scratch();
    scratch.put("bytes", &every).unwrap();
    assert_eq!(scratch.get("bytes"), Some(every.clone()));
    // What is replaced counts no more.
    scratch.put("bytes", &every).unwrap();
    let full = "at most 325 bytes allowed, found 389";
    assert_eq!(scratch.put("", &[]), Err(ScratchError::Invalid("key: expected 1 to 256 bytes, found 0".to_owned())));
    assert_eq!(scratch.put(&"k".repeat(257), &[]).unwrap_err().to_string().matches("found 257").count(), 1);
    let error = scratch.put("bytes", &[every.as_slice(), &[0; 64]].concat()).unwrap_err();
    assert_eq!(error, ScratchError::Quota(full.to_owned()));
    assert_eq!(scratch.get("bytes"), Some(every));
    assert_eq!(Failure::from(error).code(), Some(Code::LIMIT));
    assert_eq!(scratch.keys(), ["bytes"]);
    assert!(scratch.delete("bytes") && !scratch.delete("bytes"));
    assert_eq!(scratch.keys(), [""; 0]);
}

#[test]
fn nothing_is_kept_without_a_quota() {
    let error = TestPhone::new().phone().scratch().put("k", &[]).unwrap_err();
    assert_eq!(error.to_string(), "scratch is full: at most 0 bytes allowed, found 65");
}

#[test]
fn values_are_kept_as_json() {
    let test = TestPhone::new().scratch_bytes(1_000);
    let mut phone = test.phone();
    let mut scratch = phone.scratch();
    assert_eq!(scratch.get_json::<u8>("n"), Ok(None));
    scratch.put_json("n", &json!({"n": 1})).unwrap();
    assert_eq!(scratch.get("n"), Some(br#"{"n":1}"#.to_vec()));
    assert_eq!(scratch.get_json("n"), Ok(Some(json!({"n": 1}))));
    for bytes in [b"{".as_slice(), &[0xff]] {
        scratch.put("n", bytes).unwrap();
        let error = scratch.get_json::<Value>("n").unwrap_err();
        assert!(matches!(&error, ScratchError::Shape { key, .. } if key == "n"), "{error}");
        assert!(Failure::from(error).as_fault().is_some());
    }
}
