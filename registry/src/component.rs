//! What can be told from a component without running or compiling it: what it imports and exports, its kind, and what its author asks for.

use loopwright_contract::{
    capability::{REQUEST_BYTES_MAX, REQUEST_SECTION, Request},
    episode::PluginKind,
};
use wasmparser::{Encoding, Parser, Payload};

use crate::refusal::Refusal;

/// Most imports and exports of a component, together.
pub const EXTERNS_LIMIT: usize = 1_024;
/// The package whose interfaces make a component a plugin.
const CONTRACT: &str = "loopwright:afv/";

/// A component's face.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// What it is by what it exports; none when it exports no plugin interface, or several.
    pub kind: Option<PluginKind>,
    /// The names that it imports, in its order.
    pub imports: Vec<String>,
    /// The names that it exports, in its order.
    pub exports: Vec<String>,
    /// What its author asks for; nothing where there is no request section.
    pub request: Request,
}

/// Reads a component's outermost level. Code inside is skipped, not checked: whoever compiles it does.
///
/// # Errors
/// [`Refusal::Component`] for bytes that are no component, a request that is malformed or stands there twice, or a limit that is passed.
pub fn inspect(bytes: &[u8]) -> Result<Inspection, Refusal> {
    let mut face = Face::default();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| refused(format!("cannot be read: {error}")))?;
        match &payload {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                return Err(refused("expected a component, found a core module".to_owned()));
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => face.take(&payload)?,
            _ => {}
        }
    }
    face.finish()
}

fn refused(reason: String) -> Refusal {
    Refusal::Component { reason }
}

#[derive(Default)]
struct Face<'a> {
    imports: Vec<String>,
    exports: Vec<String>,
    request: Option<&'a [u8]>,
}

impl<'a> Face<'a> {
    fn take(&mut self, payload: &Payload<'a>) -> Result<(), Refusal> {
        let unreadable = |error: wasmparser::BinaryReaderError| refused(format!("cannot be read: {error}"));
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    self.imports.push(import.map_err(unreadable)?.name.name.to_owned());
                    self.count()?;
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    self.exports.push(export.map_err(unreadable)?.name.name.to_owned());
                    self.count()?;
                }
            }
            Payload::CustomSection(section) if section.name() == REQUEST_SECTION => {
                let data = section.data();
                if data.len() > REQUEST_BYTES_MAX {
                    let found = data.len();
                    return Err(refused(format!(
                        "section `{REQUEST_SECTION}` has {found} bytes, at most {REQUEST_BYTES_MAX} are allowed"
                    )));
                }
                if self.request.replace(data).is_some() {
                    return Err(refused(format!("section `{REQUEST_SECTION}` stands there twice")));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&self) -> Result<(), Refusal> {
        if self.imports.len() + self.exports.len() > EXTERNS_LIMIT {
            return Err(refused(format!("more than {EXTERNS_LIMIT} imports and exports")));
        }
        Ok(())
    }

    fn finish(self) -> Result<Inspection, Refusal> {
        let mut kinds = self.exports.iter().filter_map(|export| kind(export));
        let kind = match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Some(kind),
            _ => None,
        };
        let request = Request::parse(self.request.unwrap_or_default())
            .map_err(|error| refused(format!("section `{REQUEST_SECTION}`: {error}")))?;
        Ok(Inspection { kind, imports: self.imports, exports: self.exports, request })
    }
}

fn kind(export: &str) -> Option<PluginKind> {
    let interface = export.strip_prefix(CONTRACT)?;
    let interface = interface.split_once('@').map_or(interface, |(interface, _)| interface);
    match interface {
        "tool" => Some(PluginKind::Tool),
        "environment" => Some(PluginKind::Environment),
        "verifier" => Some(PluginKind::Verifier),
        "skill" => Some(PluginKind::Skill),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::digest::RequestDigest;
    use proptest::prelude::*;

    use super::*;

    fn component(inside: &str) -> Vec<u8> {
        wat::parse_str(format!("(component {inside})")).unwrap()
    }

    const TOOL: &str = r#"(instance $i) (export "loopwright:afv/tool@0.1.0" (instance $i))"#;
    const SKILL: &str = r#"(instance $j) (export "loopwright:afv/skill@0.1.0" (instance $j))"#;

    #[test]
    fn a_component_tells_what_it_is() {
        let found = inspect(&component(&format!(r#"(import "loopwright:afv/log@0.1.0" (instance)) {TOOL}"#))).unwrap();
        assert_eq!(found.kind, Some(PluginKind::Tool));
        assert_eq!(found.imports, ["loopwright:afv/log@0.1.0"]);
        assert_eq!(found.exports, ["loopwright:afv/tool@0.1.0"]);
        assert_eq!(found.request, Request::default());
        // The SHA-256 of no bytes.
        assert_eq!(
            found.request.digest.to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(inspect(&component("")).unwrap().kind, None);
        assert_eq!(inspect(&component(&format!("{TOOL}{SKILL}"))).unwrap().kind, None);
    }

    #[test]
    fn the_request_is_the_outermost_section_and_only_one() {
        let asks = |log: u32| {
            format!(r#"{{"format":"loopwright-request/1","capabilities":[{{"capability":"log","bytes":{log}}}]}}"#)
        };
        let section = |text: &str| {
            let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
            format!(r#"(@custom "loopwright:request" "{escaped}")"#)
        };
        let request = inspect(&component(&section(&asks(9)))).unwrap().request;
        assert_eq!((request.digest, request.capabilities.log_bytes), (RequestDigest::of(asks(9).as_bytes()), 9));
        let inner = format!("(component {}) (core module {})", section(&asks(1)), section(&asks(2)));
        assert_eq!(inspect(&component(&inner)).unwrap().request, Request::default());
        let twice = inspect(&component(&section(&asks(1)).repeat(2)));
        assert!(twice.unwrap_err().to_string().contains("twice"));
        let padded = |bytes: usize| format!("{}{}", asks(1), " ".repeat(bytes - asks(1).len()));
        assert!(inspect(&component(&section(&padded(REQUEST_BYTES_MAX)))).is_ok());
        assert!(inspect(&component(&section(&padded(REQUEST_BYTES_MAX + 1)))).is_err());
        let malformed = inspect(&component(&section("{}"))).unwrap_err().to_string();
        assert!(malformed.contains("section `loopwright:request`: request: expected `format`"), "{malformed}");
    }

    #[test]
    fn too_many_names_are_refused() {
        let imports = |count: usize| (0..count).map(|n| format!(r#"(import "n{n}" (instance))"#)).collect::<String>();
        assert!(inspect(&component(&imports(EXTERNS_LIMIT))).is_ok());
        assert!(inspect(&component(&imports(EXTERNS_LIMIT + 1))).is_err());
    }

    #[test]
    fn what_is_no_component_is_refused() {
        for bytes in [b"".to_vec(), b"\0asm".to_vec(), b"#!/bin/sh".to_vec(), wat::parse_str("(module)").unwrap()] {
            assert!(inspect(&bytes).is_err(), "{bytes:?}");
        }
        let whole = component(TOOL);
        for length in 0..whole.len() {
            // A cut-off one may end between two sections and is then a smaller component; it never ends the reader.
            let _ = inspect(&whole[..length]);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_end_the_reader(mut bytes in proptest::collection::vec(any::<u8>(), 0..256), head: bool) {
            if head {
                bytes.splice(0..0, *b"\0asm\x0d\0\x01\0");
            }
            let _ = inspect(&bytes);
        }
    }
}
