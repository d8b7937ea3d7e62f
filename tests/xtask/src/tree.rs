//! Where things are: the workspace, its members, and the folders that the task runner writes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::process;

/// The workspace that the task runner was started in.
pub(crate) struct Tree {
    /// What cargo says about the members; dependencies from registries are left out.
    pub(crate) metadata: Metadata,
}

impl Tree {
    /// Asks cargo about the workspace around the current folder.
    pub(crate) fn find() -> Result<Self> {
        let metadata = MetadataCommand::new()
            .cargo_path(cargo())
            .no_deps()
            .exec()
            .context("cargo metadata failed; run this inside the repository")?;
        Ok(Self { metadata })
    }

    /// The repository's top folder.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Cargo's build folder; `CARGO_TARGET_DIR` moves it.
    pub(crate) fn build_folder(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// What other programs look up by path stays in `target/` at the top, wherever cargo builds.
    pub(crate) fn products(&self) -> PathBuf {
        self.root().join("target")
    }

    /// Components and their index.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.products().join("plugins")
    }

    /// The default model.
    pub(crate) fn models(&self) -> PathBuf {
        self.products().join("models")
    }

    /// Builds the command for development, and returns its path.
    ///
    /// # Errors
    /// When it does not compile.
    pub(crate) fn debug_program(&self) -> Result<PathBuf> {
        // By way of its own tests, which have it built: a plain build has other features of our dependencies, and compiles them once more.
        process::run(self.cargo().args(["test", "--workspace", "--test", "command", "--no-run", "--quiet"]))?;
        Ok(self.build_folder().join("debug/loopwright"))
    }

    /// Puts a link to the command where the README's `PATH` finds it, and returns it.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn link_program(&self, program: &Path) -> Result<PathBuf> {
        let folder = self.products().join("bin");
        fs::create_dir_all(&folder)?;
        let (link, fresh) = (folder.join("loopwright"), folder.join(".loopwright.new"));
        if fs::symlink_metadata(&fresh).is_ok() {
            fs::remove_file(&fresh)?;
        }
        symlink(program, &fresh).with_context(|| format!("cannot link `{}`", program.display()))?;
        // The old link is replaced at once: somebody may be running it.
        fs::rename(&fresh, &link)?;
        Ok(link)
    }

    /// A command that runs cargo at the top of the tree.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(cargo());
        command.current_dir(self.root());
        command
    }
}

/// The cargo that started the task runner, so that the whole build uses one version.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
