//! Python plugins: the module that joins the author's to the contract.

use std::path::Path;

use crate::tools::Tools;
use crate::{KitError, Manifest, file, script::Script};

/// Where it is written, anew at each build.
const ENTRY: &str = "build/entry/loopwright_entry.py";

/// A component of the plugin in a folder, and what made it.
pub(crate) fn build(folder: &Path, manifest: &Manifest, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
    let (kind, class) = (manifest.kind.as_str(), manifest.kind.class());
    let entry = format!(
        "\"\"\"Written by `loopwright plugin build`.\"\"\"\n\n\
         import plugin\nfrom loopwright.glue import {kind}\n\n{class} = {kind}.export(plugin.plugin)\n"
    );
    file::write(&folder.join(ENTRY), entry.as_bytes())?;
    Script {
        folder,
        wit: Path::new("loopwright/wit"),
        world: &format!("{kind}-plugin"),
        entry: Path::new(ENTRY),
        output: Path::new("build/entry/component.wasm"),
    }
    .python(tools)
}
