//! `cargo xtask kit`: an author's way from nothing to a tested plugin, for every kind and language, with the command itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use loopwright_kit::{Kind, Lang};

use crate::setup::{self, Toolchain};
use crate::tree::Tree;
use crate::{guests, process, readme};

/// Which of them.
#[derive(Args, Clone, Default)]
pub(crate) struct Options {
    /// These kinds alone.
    #[arg(long)]
    kind: Vec<Kind>,
    /// These languages alone.
    #[arg(long)]
    lang: Vec<Lang>,
    /// Writes the golden cases of the templates anew.
    #[arg(long)]
    bless: bool,
}

/// Runs `cargo xtask kit`.
pub(crate) fn command(options: &Options) -> Result<()> {
    let tree = Tree::find()?;
    let toolchain = setup::guest_toolchain(&tree, None)?;
    setup::guest_scripts(&tree)?;
    guests::make(&tree, &toolchain, &[])?;
    check(&tree, &toolchain, options)
}

/// Makes, builds, tests and checks a plugin of each kind and language.
pub(crate) fn check(tree: &Tree, toolchain: &Toolchain, options: &Options) -> Result<()> {
    sdk_tests(tree)?;
    let program = tree.debug_program()?;
    let within = tree.products().join("kit");
    if within.exists() {
        fs::remove_dir_all(&within)?;
    }
    let round = Round { tree, toolchain, program, within };
    let langs: Vec<Lang> =
        Lang::ALL.into_iter().filter(|lang| options.lang.is_empty() || options.lang.contains(lang)).collect();
    if options.kind.is_empty() {
        readme::check(tree, &round.program, &round.target(), &langs)?;
    }
    for lang in langs {
        for kind in Kind::ALL.into_iter().filter(|kind| options.kind.is_empty() || options.kind.contains(kind)) {
            let start = Instant::now();
            round.one(kind, lang, options.bless).with_context(|| format!("the template of a {kind} in {lang}"))?;
            eprintln!("kit: {lang} {kind}: made, built, tested and checked in {} s", start.elapsed().as_secs());
        }
    }
    Ok(())
}

/// The tests of the SDKs that cargo does not know.
fn sdk_tests(tree: &Tree) -> Result<()> {
    let mut python = Command::new("python3");
    // Without byte code: nothing is written into the tree.
    python.args(["-B", "-m", "unittest", "--quiet"]).current_dir(tree.root().join("sdk/python"));
    process::run(&mut python)?;
    let mut node = Command::new("node");
    process::run(node.args(["--test", "--test-reporter", "dot"]).current_dir(tree.root().join("sdk/js")))
}

struct Round<'a> {
    tree: &'a Tree,
    toolchain: &'a Toolchain,
    program: PathBuf,
    within: PathBuf,
}

impl Round<'_> {
    fn one(&self, kind: Kind, lang: Lang, bless: bool) -> Result<()> {
        let name = format!("demo-{lang}-{kind}");
        let folder = self.within.join(&name);
        let mut new = self.loopwright(&["new", &name, "--kind", kind.as_str(), "--lang", lang.as_str(), "--within"]);
        process::run(new.arg(&self.within))?;
        process::run(&mut self.native_tests(lang, &folder))?;
        process::run(self.loopwright(&["build"]).arg(&folder))?;
        if bless {
            process::run(self.loopwright(&["test", "--bless"]).arg(&folder))?;
            self.keep(kind, lang, &folder, &name)?;
        }
        process::run(self.loopwright(&["test"]).arg(&folder))?;
        process::run(self.loopwright(&["check"]).arg(&folder))
    }

    fn loopwright(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.tree.root()).arg("plugin").args(arguments);
        // One folder for all plugins in Rust, so that the SDK and a standard library from source are built once.
        command.env("CARGO_TARGET_DIR", self.target());
        command
    }

    fn target(&self) -> PathBuf {
        self.tree.build_folder().join("kit").join(self.toolchain.way.name())
    }

    fn native_tests(&self, lang: Lang, folder: &Path) -> Command {
        let mut command = match lang {
            Lang::Rust => {
                let mut command = self.tree.cargo();
                command.args(["test", "--quiet"]);
                command
            }
            Lang::Python => {
                let mut command = Command::new("python3");
                command.args(["-m", "unittest", "--quiet"]);
                command
            }
            Lang::Js => {
                let mut command = Command::new("node");
                command.args(["--test", "--test-reporter", "dot"]);
                command
            }
        };
        command.current_dir(folder).env("CARGO_TARGET_DIR", self.target());
        command
    }

    /// Puts what was blessed into the template.
    fn keep(&self, kind: Kind, lang: Lang, folder: &Path, name: &str) -> Result<()> {
        let text = fs::read_to_string(folder.join("golden/cases.json"))?;
        let text = text.replace(name, "plugin-name").replace(&name.replace('-', "_"), "plugin_name");
        let template = self.tree.root().join(format!("host/crates/kit/templates/{lang}/{kind}.golden.json"));
        Ok(fs::write(template, text)?)
    }
}
