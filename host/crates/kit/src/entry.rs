//! Plugins in Python and JavaScript: the module that joins the author's to the contract, and the world that it is made for. A plugin that
//! asks for interfaces beyond its kind's gets a world of its own with exactly them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::template::camel as pascal;
use crate::tools::Tools;
use crate::{Kind, KitError, file, script::Script};

/// Where both are written, anew at each build.
const FOLDER: &str = "build/entry";
/// The contract in a plugin's folder.
const CONTRACT: &str = "loopwright/wit";
/// The version of its package.
const CONTRACT_VERSION: &str = "0.1.0";
/// The world of a plugin that asks for more, in a package of its own.
const ASKING: &str = "asking-plugin";

/// What a component is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The plugin's folder.
    pub(crate) folder: &'a Path,
    /// What it is.
    pub(crate) kind: Kind,
    /// The interfaces of the capabilities that it asks for, by their names in the contract.
    pub(crate) interfaces: &'a [&'static str],
}

impl Wanted<'_> {
    /// A component of `plugin.py`, and what made it.
    pub(crate) fn python(self, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
        self.script("loopwright_entry.py", &python(self.kind, self.interfaces), |script| script.python(tools))
    }

    /// A component of `plugin.js`, and what made it.
    pub(crate) fn javascript(self, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
        self.script("entry.js", &javascript(self.kind, self.interfaces), |script| script.javascript(tools))
    }

    fn script<T>(
        self,
        name: &str,
        text: &str,
        make: impl FnOnce(Script<'_>) -> Result<T, KitError>,
    ) -> Result<T, KitError> {
        let within = Path::new(FOLDER);
        let entry = within.join(name);
        file::write(&self.folder.join(&entry), text.as_bytes())?;
        let (wit, world) = self.world()?;
        make(Script {
            folder: self.folder,
            wit: &wit,
            world: &world,
            entry: &entry,
            output: &within.join("component.wasm"),
        })
    }

    /// The folder of the world's package, in the plugin's, and the world in it.
    fn world(self) -> Result<(PathBuf, String), KitError> {
        if self.interfaces.is_empty() {
            return Ok((CONTRACT.into(), format!("{}-plugin", self.kind)));
        }
        let wit = Path::new(FOLDER).join("wit");
        let place = self.folder.join(&wit);
        match fs::remove_dir_all(&place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(KitError::io("empty", &place)(error));
            }
            _ => {}
        }
        let contract = self.folder.join(CONTRACT);
        let read = |error| KitError::io("read", &contract)(error);
        for item in fs::read_dir(&contract).map_err(read)? {
            let path = item.map_err(read)?.path();
            if path.extension().is_some_and(|end| end == "wit") {
                let bytes = fs::read(&path).map_err(KitError::io("read", &path))?;
                file::write(&place.join("deps/afv").join(path.file_name().unwrap_or_default()), &bytes)?;
            }
        }
        file::write(&place.join("asking.wit"), asking(self.kind, self.interfaces).as_bytes())?;
        Ok((wit, ASKING.to_owned()))
    }
}

fn asking(kind: Kind, interfaces: &[&str]) -> String {
    let imports: String =
        interfaces.iter().map(|name| format!("  import loopwright:afv/{name}@{CONTRACT_VERSION};\n")).collect();
    format!(
        "// Written by `loopwright plugin build`.\npackage loopwright:asking;\n\n\
         world {ASKING} {{\n  include loopwright:afv/{kind}-plugin@{CONTRACT_VERSION};\n{imports}}}\n"
    )
}

/// `tool-caller` as a word of each language: `tool_caller`, `toolCaller`, `ToolCaller`.
fn snake(name: &str) -> String {
    name.replace('-', "_")
}

fn camel(name: &str) -> String {
    let word = pascal(name);
    let mut letters = word.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn python(kind: Kind, interfaces: &[&str]) -> String {
    let modules: String = interfaces.iter().map(|name| format!(", {}", snake(name))).collect();
    let ports: String = interfaces.iter().map(|name| format!(", {}.{}Port", snake(name), pascal(name))).collect();
    format!(
        "\"\"\"Written by `loopwright plugin build`.\"\"\"\n\n\
         import plugin\nfrom loopwright.glue import {kind}{modules}\n\n{class} = {kind}.export(plugin.plugin{ports})\n",
        class = kind.class(),
    )
}

fn javascript(kind: Kind, interfaces: &[&str]) -> String {
    let imports: String = interfaces
        .iter()
        .map(|name| format!("import {{ {}Port }} from \"../../loopwright/glue/{name}.js\";\n", camel(name)))
        .collect();
    let ports: String = interfaces.iter().map(|name| format!(", {}Port", camel(name))).collect();
    format!(
        "// Written by `loopwright plugin build`.\nimport plugin from \"../../plugin.js\";\n\
         import {{ export{class} }} from \"../../loopwright/glue/{kind}.js\";\n{imports}\n\
         export const {kind} = export{class}(plugin{ports});\n",
        class = kind.class(),
    )
}

#[cfg(test)]
mod tests {
    use loopwright_contract::capability::CAPABILITY_INTERFACES;

    use super::*;

    /// A folder with the contract, as `plugin new` makes it.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let new =
            crate::NewPlugin { name: "lamp".into(), kind: Kind::Tool, lang: crate::Lang::Js, sdk: crate::Sdk::Copied };
        crate::create(folder.path(), &new).unwrap();
        folder
    }

    fn imports(folder: &Path, interfaces: &[&'static str]) -> Vec<String> {
        let wanted = Wanted { folder, kind: Kind::Tool, interfaces };
        let (wit, world) = wanted.world().unwrap();
        let mut resolve = wit_parser::Resolve::default();
        let (package, _) = resolve.push_dir(folder.join(wit)).unwrap();
        let world = resolve.select_world(&[package], Some(&world)).unwrap();
        let world = &resolve.worlds[world];
        assert_eq!(world.exports.len(), 1, "the tool");
        let mut names: Vec<String> = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
        names.sort();
        names.retain(|name| !["types", "plugin"].iter().any(|each| name.contains(&format!("/{each}@"))));
        names
    }

    #[test]
    fn the_world_imports_exactly_what_is_asked_for() {
        let folder = folder();
        let folder = folder.path().join("lamp");
        let plain = imports(&folder, &[]);
        assert_eq!(plain.len(), 4, "{plain:?}");
        let [both, call, scratch] =
            [&CAPABILITY_INTERFACES[..], &["tool-caller"], &["scratch"]].map(|asked| imports(&folder, asked));
        let more =
            |all: &[String]| -> Vec<String> { all.iter().filter(|name| !plain.contains(name)).cloned().collect() };
        assert_eq!(more(&call), ["loopwright:afv/tool-caller@0.1.0"]);
        assert_eq!(more(&scratch), ["loopwright:afv/scratch@0.1.0"]);
        assert_eq!(more(&both), ["loopwright:afv/scratch@0.1.0", "loopwright:afv/tool-caller@0.1.0"]);
        assert!(plain.iter().all(|name| both.contains(name)));
    }

    #[test]
    fn the_entry_names_the_glue_of_what_is_asked_for() {
        let asked = CAPABILITY_INTERFACES;
        assert!(
            python(Kind::Skill, &[])
                .ends_with("from loopwright.glue import skill\n\nSkill = skill.export(plugin.plugin)\n")
        );
        let text = python(Kind::Tool, &asked);
        assert!(text.contains("import tool, tool_caller, scratch\n"), "{text}");
        assert!(
            text.ends_with("Tool = tool.export(plugin.plugin, tool_caller.ToolCallerPort, scratch.ScratchPort)\n"),
            "{text}"
        );
        let text = javascript(Kind::Tool, &asked);
        assert!(text.contains("import { toolCallerPort } from \"../../loopwright/glue/tool-caller.js\";"), "{text}");
        assert!(text.ends_with("export const tool = exportTool(plugin, toolCallerPort, scratchPort);\n"), "{text}");
        assert!(javascript(Kind::Skill, &[]).ends_with("\nexport const skill = exportSkill(plugin);\n"));
    }

    #[test]
    fn there_is_glue_for_every_interface_that_can_be_asked_for() {
        for (name, python) in CAPABILITY_INTERFACES.map(|name| (name, snake(name))) {
            for path in [format!("sdk/js/glue/{name}.js"), format!("sdk/python/glue/{python}.py")] {
                assert!(crate::template::has(&path), "{path}");
            }
        }
    }
}
