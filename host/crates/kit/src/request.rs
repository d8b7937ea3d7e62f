//! `request.json`: what the author asks for. It becomes a custom section of the component, so that the component's digest covers it.
//!
//! Here it is a JSON object and no more; what its keys mean is the engine's to say.

use std::fs;
use std::path::Path;

use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmparser::{Parser, Payload};

use crate::KitError;

/// The file beside the sources.
pub const REQUEST: &str = "request.json";

/// The custom section's name.
pub const SECTION: &str = "loopwright:request";

/// Bytes of a request.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// The request of a plugin's folder, as it stands in its file; none where there is no file.
///
/// # Errors
/// [`KitError`] when it is too large or no JSON object.
pub fn read_request(folder: &Path) -> Result<Option<String>, KitError> {
    let path = folder.join(REQUEST);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(KitError::io("read", &path))?;
    check(&text).map_err(|what| KitError::plugin(path, what))?;
    Ok(Some(text))
}

fn check(text: &str) -> Result<(), String> {
    if text.len() > REQUEST_BYTES_MAX {
        return Err(format!("expected at most {REQUEST_BYTES_MAX} bytes, found {}", text.len()));
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if value.is_object() => Ok(()),
        Ok(value) => {
            Err(format!("expected a JSON object, found `{}`", value.to_string().chars().take(40).collect::<String>()))
        }
        Err(error) => Err(format!("expected a JSON object: {error}")),
    }
}

/// A component with a request in it, byte for byte.
///
/// # Errors
/// [`KitError`] when it is no component, or has a request already.
pub fn embed(component: &[u8], request: &str) -> Result<Vec<u8>, KitError> {
    check(request).map_err(KitError::Component)?;
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

    #[test]
    fn what_is_embedded_is_read_back_byte_for_byte() {
        let component = wat::parse_str("(component (core module (func)))").unwrap();
        let request = "{ \"collections\": {\"read\": [\"名\"]} }\n";
        assert_eq!(request_in(&component).unwrap(), None);
        let bytes = embed(&component, request).unwrap();
        assert_eq!(request_in(&bytes).unwrap().as_deref(), Some(request));
        assert!(bytes.starts_with(&component));
        assert!(wasmparser::Validator::new().validate_all(&bytes).is_ok());
        assert!(embed(&bytes, "{}").unwrap_err().to_string().contains("already"));
    }

    #[test]
    fn a_request_of_an_inner_module_is_not_the_components() {
        let component = wat::parse_str("(component (core module (@custom \"loopwright:request\" \"{}\")))").unwrap();
        assert_eq!(request_in(&component).unwrap(), None);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let component = wat::parse_str("(component)").unwrap();
        for text in ["", "[]", "1", "{", &format!("{{}}{}", " ".repeat(REQUEST_BYTES_MAX))] {
            assert!(embed(&component, text).is_err(), "{:.20}", text);
        }
        assert!(embed(b"not wasm", "{}").is_err());
    }
}
