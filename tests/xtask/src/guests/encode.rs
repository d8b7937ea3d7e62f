//! From core module to component.

use anyhow::{Context, Result, bail};
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use crate::file;

/// Goes up when this file makes other bytes from the same module.
const REVISION: u32 = 1;

/// What the macro of the SDK leaves in a module: the world that the module was compiled for.
const WORLD_SECTION: &str = "component-type";

/// Names a module together with the way in which it is encoded: equal keys give equal components.
pub(super) fn key(module: &[u8]) -> String {
    format!("{REVISION}-{}", file::sha256(module))
}

/// Encodes and validates a component.
///
/// # Errors
/// When the module carries no world, or does not fit the one that it carries.
pub(super) fn component(module: &[u8]) -> Result<Vec<u8>> {
    if !carries_world(module)? {
        bail!(
            "not a component: no export macro\n\
             hint: call the SDK's export macro of the guest's world, behind `cfg(target_family = \"wasm\")`"
        );
    }
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|mut encoder| encoder.encode())
        .context("the module does not fit the world that it was compiled for")
}

fn carries_world(module: &[u8]) -> Result<bool> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload.context("not a Wasm module")?
            && section.name().starts_with(WORLD_SECTION)
        {
            return Ok(true);
        }
    }
    Ok(false)
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
        assert!(Parser::is_component(&bytes));
    }

    #[test]
    fn a_module_without_a_world_is_named_as_such() {
        let error = component(&wat::parse_str(FITS).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("not a component: no export macro"), "{error}");
    }

    #[test]
    fn a_module_that_lacks_an_export_of_its_world_is_refused() {
        let error = component(&module(WORLD, "(module)")).unwrap_err();
        let message = format!("{error:#}");
        assert!(message.contains("does not fit") && message.contains('f'), "{message}");
    }

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        for bytes in [b"".as_slice(), b"\0asm", b"not wasm at all"] {
            assert!(component(bytes).is_err(), "{bytes:?}");
        }
    }
}
