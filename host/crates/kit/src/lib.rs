//! The author kit: templates of plugins in Rust, Python and JavaScript, and the way from their sources to a component. It knows compilers and
//! files, and deliberately no engine: whether a component is a good plugin is the host's to say. It reads no configuration: where tools are
//! looked for comes in as [`Tools`].
//!
//! The task runner builds this repository's own guests with it, so that an author's plugin and ours go the same way.

mod component;
mod entry;
mod error;
mod file;
mod manifest;
mod process;
mod request;
pub mod rust;
mod script;
mod template;
mod tools;

pub use component::{component, is_component};
pub use error::KitError;
pub use manifest::{Kind, Lang, MANIFEST, Manifest};
pub use request::{REQUEST, embed, read_request, request_in};
pub use script::Script;
pub use template::{NewPlugin, Sdk, create};
pub use tools::{COMPONENTIZE_JS, COMPONENTIZE_PY, Tools};

use std::path::{Path, PathBuf};

use entry::Wanted;

/// What a build made.
#[derive(Debug)]
pub struct Built {
    /// The component's file: `build/NAME.wasm` in the plugin's folder.
    pub path: PathBuf,
    /// The component, request included.
    pub bytes: Vec<u8>,
    /// What made it, in words.
    pub with: String,
}

/// Builds the plugin in a folder.
///
/// # Errors
/// [`KitError`] with what is missing or wrong; a compiler's own messages go to standard error.
pub fn build(folder: &Path, tools: &Tools) -> Result<Built, KitError> {
    let manifest = Manifest::read(folder)?;
    let request = read_request(folder)?;
    let interfaces = request::interfaces(request.as_deref(), manifest.kind)
        .map_err(|what| KitError::plugin(folder.join(REQUEST), what))?;
    let wanted = Wanted { folder, kind: manifest.kind, interfaces: &interfaces };
    let (made, with) = match manifest.lang {
        // The SDK has bindings for everything, and a component imports what its code reaches.
        Lang::Rust => rust::build(folder, tools)?,
        Lang::Python => wanted.python(tools)?,
        Lang::Js => wanted.javascript(tools)?,
    };
    let bytes = match &request {
        Some(text) => embed(&made, text)?,
        None => made,
    };
    let path = folder.join(BUILD_FOLDER).join(format!("{}.wasm", manifest.name));
    file::write(&path, &bytes)?;
    Ok(Built { path, bytes, with })
}

/// Where a plugin's folder keeps what is built.
pub const BUILD_FOLDER: &str = "build";
