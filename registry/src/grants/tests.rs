use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn request(capabilities: &Value) -> Request {
    Request::parse(json!({"format": "loopwright-request/1", "capabilities": capabilities}).to_string().as_bytes())
        .unwrap()
}

fn read(name: &str) -> Value {
    json!({"capability": "collection", "name": name, "access": "read"})
}

fn scratch(bytes: u64) -> Value {
    json!({"capability": "scratch", "bytes": bytes})
}

fn grant(versions: &str, request: &Request, capabilities: &Value) -> Granted {
    Granted {
        publisher: Some("acme".parse().unwrap()),
        name: "notes".parse().unwrap(),
        versions: versions.parse().unwrap(),
        request: request.digest,
        capabilities: Capabilities::parse(capabilities, "").unwrap(),
    }
}

fn subject(version: &str) -> Subject {
    Subject {
        publisher: Some("acme".parse().unwrap()),
        name: "notes".parse().unwrap(),
        version: version.parse().unwrap(),
        first_party: false,
    }
}

fn effective(decision: &Decision) -> Value {
    decision.effective.to_list().into()
}

#[test]
fn what_no_grant_matches_gets_nothing() {
    let first = request(&json!([read("power"), scratch(100)]));
    let grants = Grants(vec![grant("^1", &first, &json!([read("power"), scratch(100)]))]);
    let nothing = |subject: &Subject, standing: Standing| {
        let decision = grants.decide(subject, &first);
        assert_eq!((effective(&decision), &decision.standing), (json!([]), &standing), "{subject:?}");
        assert_eq!(decision.denied, ["read collection `power`", "100 bytes of scratch"], "{subject:?}");
    };
    nothing(&Subject { publisher: Some("other".parse().unwrap()), ..subject("1.0.0") }, Standing::NoGrant);
    nothing(&Subject { publisher: None, ..subject("1.0.0") }, Standing::NoGrant);
    nothing(&Subject { name: "note".parse().unwrap(), ..subject("1.0.0") }, Standing::NoGrant);
    nothing(&subject("2.0.0"), Standing::OtherVersions { granted: vec!["^1".into()] });
    let decision = Grants::default().decide(&subject("1.0.0"), &first);
    assert_eq!((effective(&decision), decision.standing), (json!([]), Standing::NoGrant));
    let all = grants.decide(&subject("1.0.0"), &first);
    assert_eq!((effective(&all), all.denied), (json!([read("power"), scratch(100)]), vec![]));
}

#[test]
fn what_is_got_is_what_both_documents_say() {
    let asked = request(&json!([read("power"), scratch(100)]));
    let grants = Grants(vec![grant("1", &asked, &json!([read("sms"), scratch(9_000)]))]);
    let decision = grants.decide(&subject("1.4.2"), &asked);
    assert_eq!(effective(&decision), json!([scratch(100)]));
    assert_eq!(decision.denied, ["read collection `power`"]);
    assert_eq!(decision.standing, Standing::Granted { versions: "^1".into() });
    let nothing = request(&json!([]));
    assert_eq!(grants.decide(&subject("1.4.2"), &nothing).standing, Standing::AsksNothing);
    assert!(grants.decide(&subject("1.4.2"), &nothing).effective.is_empty());
}

#[test]
fn an_update_that_asks_for_more_keeps_the_old_grant_and_says_so() {
    let old = request(&json!([read("power")]));
    let new = request(&json!([read("power"), read("sms")]));
    let mut grants = Grants(vec![grant("^1", &old, &json!([read("power")]))]);
    let decision = grants.decide(&subject("1.1.0"), &new);
    assert_eq!(effective(&decision), json!([read("power")]));
    let said = decision.standing.to_string();
    assert!(said.contains("stays what it was") && said.ends_with("asks for more: read collection `sms`"), "{said}");
    // Consent to the new request is a grant of its own, and the old version keeps the old one.
    grants.add(grant("^1", &new, &json!([read("power"), read("sms")])));
    assert_eq!(effective(&grants.decide(&subject("1.1.0"), &new)), json!([read("power"), read("sms")]));
    assert_eq!(effective(&grants.decide(&subject("1.0.0"), &old)), json!([read("power")]));
    let less = request(&json!([read("sms")]));
    let said = grants.decide(&subject("1.2.0"), &less).standing.to_string();
    assert!(said.contains("asks for no more"), "{said}");
}

#[test]
fn of_two_grants_for_one_request_the_last_counts() {
    let asked = request(&json!([read("power"), scratch(100)]));
    let grants = Grants(vec![
        grant("^1", &asked, &json!([read("power"), scratch(100)])),
        grant(">=1.0.0", &asked, &json!([scratch(50)])),
    ]);
    assert_eq!(effective(&grants.decide(&subject("1.0.0"), &asked)), json!([scratch(50)]));
}

#[test]
fn what_was_built_here_gets_what_it_asks_for_but_nothing_that_is_not_known() {
    let asked = request(&json!([read("power"), {"capability": "http", "hosts": ["example.org"]}]));
    let own = Subject { publisher: None, first_party: true, ..subject("1.0.0") };
    let decision = Grants::default().decide(&own, &asked);
    assert_eq!((effective(&decision), decision.standing), (json!([read("power")]), Standing::FirstParty));
    assert_eq!(decision.denied.len(), 1, "{:?}", decision.denied);
}

#[test]
fn a_file_is_written_and_read_back_and_grants_are_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(GRANTS_FILE);
    assert_eq!(Grants::read(&path).unwrap(), Grants::default());
    let asked = request(&json!([read("power"), {"capability": "tool.call", "tools": ["manage_wifi"]}, scratch(100)]));
    let mut grants = Grants::default();
    let one = grant(">=1.2.0, <2.0.0", &asked, &Value::from(asked.capabilities.to_list()));
    grants.add(one.clone());
    grants.add(one.clone());
    grants.add(Granted { publisher: None, ..one });
    grants.write(&path).unwrap();
    let read_back = Grants::read(&path).unwrap();
    assert_eq!(read_back, grants);
    assert_eq!(read_back.iter().count(), 2, "{}", fs::read_to_string(&path).unwrap());
    assert_eq!(grants.remove(None, &"notes".parse().unwrap()), 1);
    assert_eq!(grants.remove(None, &"notes".parse().unwrap()), 0);
    assert_eq!(grants.remove(Some(&"acme".parse().unwrap()), &"notes".parse().unwrap()), 1);
}

#[test]
fn a_file_that_is_not_what_it_should_be_says_where() {
    let good = r#"
        [[grant]]
        publisher = "acme"
        name = "notes"
        versions = "^1"
        request = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        capabilities = [{ capability = "scratch", bytes = 100 }]
    "#;
    let file = |body: &str| Grants::parse(&format!("version = 1\n{body}"));
    assert!(file(good).is_ok());
    for (from, to, part) in [
        ("\"^1\"", "\"one\"", "versions"),
        ("sha256:e3", "sha256:..", "digest"),
        ("\"notes\"", "\"../notes\"", "plugin name"),
        ("\"acme\"", "\"Acme\"", "namespace"),
        ("bytes = 100", "bytes = 0", "grant 1 of `notes`: /capabilities/0: `bytes`"),
        ("\"scratch\"", "\"Scratch\"", "a-z"),
        ("name =", "anme =", "anme"),
        ("versions = \"^1\"", "", "versions"),
    ] {
        assert!(good.contains(from));
        let error = file(&good.replace(from, to)).unwrap_err();
        assert!(error.contains(part), "{to}: {error}");
    }
    assert!(Grants::parse("").unwrap_err().contains("version"));
    assert!(Grants::parse("version = 2").unwrap_err().contains("expected version 1, found 2"));
    let many = |count: usize| file(&good.repeat(count));
    assert!(many(GRANTS_LIMIT).is_ok());
    assert!(many(GRANTS_LIMIT + 1).unwrap_err().contains("at most 4096 grants, found 4097"));
}

#[test]
fn more_than_the_limit_is_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(GRANTS_FILE);
    let one = grant("^1", &request(&json!([])), &json!([]));
    assert!(Grants(vec![one; GRANTS_LIMIT + 1]).write(&path).is_err());
    assert!(!path.exists());
    // So long a range that few grants make the file too large.
    let wide = grant(&[">=1.0.0"; 30].join(", "), &request(&json!([])), &json!([]));
    assert!(matches!(Grants(vec![wide; GRANTS_LIMIT]).write(&path), Err(RegistryError::TooLarge { .. })));
    assert!(!path.exists());
    let comment = |bytes: u64| format!("version = 1\n{}", "#".repeat(usize::try_from(bytes).unwrap() - 12));
    fs::write(&path, comment(GRANTS_BYTES_LIMIT)).unwrap();
    assert!(Grants::read(&path).is_ok());
    fs::write(&path, comment(GRANTS_BYTES_LIMIT + 1)).unwrap();
    assert!(Grants::read(&path).is_err());
}

proptest! {
    #[test]
    fn no_text_ends_the_reader(text in "\\PC{0,200}") {
        let _ = Grants::parse(&text);
        let _ = Grants::parse(&format!("version = 1\n[[grant]]\n{text}"));
    }
}
