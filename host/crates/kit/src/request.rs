//! `request.json`: what the author asks for. It becomes a custom section of the component, so that the component's digest covers it.
//!
//! What its capabilities mean is in `loopwright_contract::capability`; whether they are granted is an operator's to say.

use std::fs;
use std::path::Path;

use loopwright_contract::capability::{REQUEST_SECTION as SECTION, Request};
use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmparser::{Parser, Payload};

use crate::{Kind, KitError};

/// The file beside the sources.
pub const REQUEST: &str = "request.json";

/// The request of a plugin's folder, as it stands in its file; none where there is no file.
///
/// # Errors
/// [`KitError`] when it is not a request.
pub fn read_request(folder: &Path) -> Result<Option<String>, KitError> {
    let path = folder.join(REQUEST);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(KitError::io("read", &path))?;
    parse(&text).map_err(|what| KitError::plugin(path, what))?;
    Ok(Some(text))
}

pub(crate) fn parse(text: &str) -> Result<Request, String> {
    // To the contract no bytes are no section; a file without any is one that somebody forgot to write.
    if text.is_empty() {
        return Err(
            "expected a request, found nothing\nhint: one that asks for nothing has an empty list of `capabilities`"
                .to_owned(),
        );
    }
    Request::parse(text.as_bytes()).map_err(|error| error.to_string())
}

/// The interfaces that a plugin of a kind imports because its request asks for their capabilities.
///
/// # Errors
/// What is wrong with the request: it is none, or it asks for what no plugin of the kind may have.
pub(crate) fn interfaces(request: Option<&str>, kind: Kind) -> Result<Vec<&'static str>, String> {
    let asked = request.map(parse).transpose()?.unwrap_or_default().capabilities;
    let never = asked.beyond(&asked.for_kind(kind.of_contract()));
    if !never.is_empty() {
        return Err(format!("no plugin of kind {kind} may have this: {}\nhint: take it out", never.join(", ")));
    }
    Ok(asked.interfaces())
}

/// A component with a request in it, byte for byte.
///
/// # Errors
/// [`KitError`] when it is no component, or has a request already.
pub fn embed(component: &[u8], request: &str) -> Result<Vec<u8>, KitError> {
    parse(request).map_err(KitError::Component)?;
    if request_in(component)?.is_some() {
        return Err(KitError::Component(format!("it has a section `{SECTION}` already")));
    }
    let mut bytes = component.to_vec();
    CustomSection { name: SECTION.into(), data: request.as_bytes().into() }.append_to_component(&mut bytes);
    Ok(bytes)
}

/// The request in a component.
///
/// # Errors
/// [`KitError`] when it is no component, has two requests, or one that is no UTF-8.
pub fn request_in(component: &[u8]) -> Result<Option<String>, KitError> {
    let mut found = None;
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(|error| KitError::Component(error.to_string()))? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            // What an inner module says is that module's.
            Payload::CustomSection(section) if depth == 0 && section.name() == SECTION => {
                let text = std::str::from_utf8(section.data())
                    .map_err(|error| KitError::Component(format!("section `{SECTION}`: {error}")))?;
                if found.replace(text.to_owned()).is_some() {
                    return Err(KitError::Component(format!("it has two sections `{SECTION}`")));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: &str = r#"{"format": "loopwright-request/1", "capabilities": []}"#;

    #[test]
    fn what_is_embedded_is_read_back_byte_for_byte() {
        let component = wat::parse_str("(component (core module (func)))").unwrap();
        let request = format!("{NOTHING}\n");
        assert_eq!(request_in(&component).unwrap(), None);
        let bytes = embed(&component, &request).unwrap();
        assert_eq!(request_in(&bytes).unwrap(), Some(request));
        assert!(bytes.starts_with(&component));
        assert!(wasmparser::Validator::new().validate_all(&bytes).is_ok());
        assert!(embed(&bytes, NOTHING).unwrap_err().to_string().contains("already"));
    }

    #[test]
    fn a_request_of_an_inner_module_is_not_the_components() {
        let component = wat::parse_str("(component (core module (@custom \"loopwright:request\" \"{}\")))").unwrap();
        assert_eq!(request_in(&component).unwrap(), None);
    }

    #[test]
    fn only_a_tool_asks_for_other_tools_and_scratch() {
        let request =
            |capability: &str| format!(r#"{{"format": "loopwright-request/1", "capabilities": [{capability}]}}"#);
        let call = request(r#"{"capability": "tool.call", "tools": ["set_alarm"]}"#);
        let scratch = request(r#"{"capability": "scratch", "bytes": 100}"#);
        for (text, interface, said) in
            [(&call, "tool-caller", "call tool `set_alarm`"), (&scratch, "scratch", "100 bytes of scratch")]
        {
            assert_eq!(interfaces(Some(text), Kind::Tool).unwrap(), [interface]);
            for kind in [Kind::Environment, Kind::Verifier, Kind::Skill] {
                let error = interfaces(Some(text), kind).unwrap_err();
                let expected = format!("no plugin of kind {kind} may have this: {said}\nhint: take it out");
                assert_eq!(error, expected);
            }
        }
        let log = request(r#"{"capability": "log", "bytes": 65536}"#);
        for (kind, text) in Kind::ALL.into_iter().flat_map(|kind| [(kind, None), (kind, Some(log.as_str()))]) {
            assert_eq!(interfaces(text, kind).unwrap(), [""; 0], "{kind}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let component = wat::parse_str("(component)").unwrap();
        for text in
            ["", "[]", "{}", "{", r#"{"format": "loopwright-request/1", "capabilities": [{"capability": "log"}]}"#]
        {
            assert!(embed(&component, text).is_err(), "{text}");
        }
        assert!(embed(b"not wasm", NOTHING).is_err());
    }
}
