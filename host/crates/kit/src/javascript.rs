//! JavaScript plugins: the module that joins the author's to the contract.

use std::path::Path;

use crate::tools::Tools;
use crate::{KitError, Manifest, file, script::Script};

/// Where it is written, anew at each build.
const ENTRY: &str = "build/entry/entry.js";

/// A component of the plugin in a folder, and what made it.
pub(crate) fn build(folder: &Path, manifest: &Manifest, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
    let (kind, class) = (manifest.kind.as_str(), manifest.kind.class());
    let entry = format!(
        "// Written by `loopwright plugin build`.\nimport plugin from \"../../plugin.js\";\n\
         import {{ export{class} }} from \"../../loopwright/glue/{kind}.js\";\n\nexport const {kind} = export{class}(plugin);\n"
    );
    file::write(&folder.join(ENTRY), entry.as_bytes())?;
    Script {
        folder,
        wit: Path::new("loopwright/wit"),
        world: &format!("{kind}-plugin"),
        entry: Path::new(ENTRY),
        output: Path::new("build/entry/component.wasm"),
    }
    .javascript(tools)
}
