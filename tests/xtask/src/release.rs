//! The release build of the command, for the processor that it will run on.
//!
//! Inference reads a prompt several times faster with these features, and a binary built with them crashes on a
//! processor without them: so they are asked of the processor, and the build folder is named after the answer.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;

use crate::process;
use crate::tree::Tree;

/// Builds `loopwright` and returns where it is.
pub(crate) fn build(tree: &Tree) -> Result<PathBuf> {
    let features = features();
    let folder = tree.build_folder().join(folder_name(&features));
    eprintln!(
        "build: loopwright, release, processor features: {} (minutes when cold)",
        if features.is_empty() { "none beyond the baseline".to_owned() } else { features.join(" ") }
    );
    let mut command = tree.cargo();
    command.args(["build", "--release", "--package", "loopwright", "--bin", "loopwright"]);
    command.arg("--target-dir").arg(&folder);
    if !features.is_empty() {
        command.env("RUSTFLAGS", flags(std::env::var_os("RUSTFLAGS"), &features));
    }
    process::run(&mut command)?;
    Ok(folder.join("release").join("loopwright"))
}

/// The features of this machine's processor that inference has code for.
#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    let mut features = Vec::new();
    for (name, here) in [
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("f16c", std::arch::is_x86_feature_detected!("f16c")),
    ] {
        if here {
            features.push(name);
        }
    }
    features
}

/// Elsewhere the compiler's baseline has what inference uses (NEON on 64-bit Arm).
#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<&'static str> {
    Vec::new()
}

fn folder_name(features: &[&str]) -> String {
    let name = if features.is_empty() { "baseline".to_owned() } else { features.join("-") };
    format!("for-{name}")
}

/// The person's own flags stay; the features come last.
fn flags(own: Option<OsString>, features: &[&str]) -> OsString {
    let mut flags = own.unwrap_or_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    let enabled: Vec<_> = features.iter().map(|feature| format!("+{feature}")).collect();
    flags.push(format!("-Ctarget-feature={}", enabled.join(",")));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_processor_gets_another_folder() {
        assert_eq!(folder_name(&[]), "for-baseline");
        assert_eq!(folder_name(&["avx2", "fma"]), "for-avx2-fma");
    }

    #[test]
    fn flags_of_the_person_stay() {
        assert_eq!(flags(None, &["avx2", "fma"]), "-Ctarget-feature=+avx2,+fma");
        assert_eq!(flags(Some("-Cx=y".into()), &["avx2"]), "-Cx=y -Ctarget-feature=+avx2");
    }
}
