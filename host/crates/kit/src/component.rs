//! From core module to component.

use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use crate::KitError;

/// What the macro of the SDK leaves in a module: the world that the module was compiled for.
const WORLD_SECTION: &str = "component-type";

/// Encodes and validates a component. The same module gives the same bytes.
///
/// # Errors
/// [`KitError::Component`] when the module carries no world, or does not fit the one that it carries.
pub fn component(module: &[u8]) -> Result<Vec<u8>, KitError> {
    if !carries_world(module)? {
        return Err(KitError::Component(
            "no export macro\nhint: call the SDK's export macro of the plugin's kind, behind `cfg(target_family = \"wasm\")`"
                .into(),
        ));
    }
    let encoded = ComponentEncoder::default().validate(true).module(module).and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| {
        KitError::Component(format!("the module does not fit the world that it was compiled for: {error:#}"))
    })
}

fn carries_world(module: &[u8]) -> Result<bool, KitError> {
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.map_err(|error| KitError::Component(format!("not a Wasm module: {error}")))?;
        if let Payload::CustomSection(section) = payload
            && section.name().starts_with(WORLD_SECTION)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether bytes begin as a component does.
#[must_use]
pub fn is_component(bytes: &[u8]) -> bool {
    Parser::is_component(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core module for a world, as a compiler would leave it.
    fn module(world: &str, functions: &str) -> Vec<u8> {
        let mut resolve = wit_parser::Resolve::default();
        let package = resolve.push_str("test.wit", world).unwrap();
        let world = resolve.select_world(&[package], None).unwrap();
        let mut module = wat::parse_str(functions).unwrap();
        let encoding = wit_component::StringEncoding::UTF8;
        wit_component::embed_component_metadata(&mut module, &resolve, world, encoding).unwrap();
        module
    }

    const WORLD: &str = "package test:t; world w { export f: func() -> u32; }";
    const FITS: &str = r#"(module (func (export "f") (result i32) (i32.const 7)))"#;

    #[test]
    fn the_same_module_gives_the_same_component() {
        let module = module(WORLD, FITS);
        let bytes = component(&module).unwrap();
        assert_eq!(bytes, component(&module).unwrap());
        assert!(is_component(&bytes) && !is_component(&module));
    }

    #[test]
    fn a_module_without_a_world_is_named_as_such() {
        let error = component(&wat::parse_str(FITS).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("not a component: no export macro"), "{error}");
    }

    #[test]
    fn a_module_that_lacks_an_export_of_its_world_is_refused() {
        let message = component(&module(WORLD, "(module)")).unwrap_err().to_string();
        assert!(message.contains("does not fit") && message.contains('f'), "{message}");
    }

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        for bytes in [b"".as_slice(), b"\0asm", b"not wasm at all"] {
            assert!(component(bytes).is_err(), "{bytes:?}");
        }
    }
}
