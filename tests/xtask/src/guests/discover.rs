//! Which members of the workspace are guests.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use cargo_metadata::{CrateType, Metadata, Package, PackageId};

/// A member that becomes a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guest {
    /// The name of its folder; unique, since it names the component's file.
    pub(super) name: String,
    /// `tool`, `environment`, `verifier`, `skill`, or `guest` for the guests of tests.
    pub(super) kind: &'static str,
    /// Where it lies.
    pub(super) folder: PathBuf,
    /// Cargo's id of the package.
    pub(super) package: PackageId,
    /// The package's name.
    pub(super) package_name: String,
    /// The package's version.
    pub(super) version: String,
}

/// All guests, in the order of their names.
///
/// # Errors
/// When two share a name, or one lies in a folder that says no kind.
pub(super) fn guests(metadata: &Metadata) -> Result<Vec<Guest>> {
    let mut guests = Vec::new();
    for package in metadata.workspace_packages() {
        if !has_guest_library(package) {
            continue;
        }
        let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
        let within = folder.strip_prefix(&metadata.workspace_root).unwrap_or(folder).as_str();
        let Some((kind, name)) = kind_and_name(within) else {
            bail!(
                "`{within}` builds a cdylib, but guests live in plugins/{{tools,environments,verifiers,skills}}/NAME \
                 or tests/guests/NAME"
            );
        };
        guests.push(Guest {
            name: name.to_owned(),
            kind,
            folder: folder.as_std_path().to_owned(),
            package: package.id.clone(),
            package_name: package.name.to_string(),
            version: package.version.to_string(),
        });
    }
    guests.sort_by(|a, b| a.name.cmp(&b.name));
    refuse_twins(&guests)?;
    Ok(guests)
}

fn has_guest_library(package: &Package) -> bool {
    package.targets.iter().any(|target| target.crate_types.contains(&CrateType::CDyLib))
}

/// The kind and the name that a folder says, such as `plugins/tools/net`.
fn kind_and_name(folder: &str) -> Option<(&'static str, &str)> {
    let (group, name) = folder.rsplit_once('/')?;
    let kind = match group {
        "plugins/tools" => "tool",
        "plugins/environments" => "environment",
        "plugins/verifiers" => "verifier",
        "plugins/skills" => "skill",
        "tests/guests" => "guest",
        _ => return None,
    };
    Some((kind, name))
}

fn refuse_twins(guests: &[Guest]) -> Result<()> {
    for pair in guests.windows(2) {
        if let [a, b] = pair
            && a.name == b.name
        {
            bail!("two guests are called `{}`: packages {} and {}", a.name, a.package_name, b.package_name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_say_the_kind() {
        for (folder, expected) in [
            ("plugins/tools/net", Some(("tool", "net"))),
            ("plugins/environments/sandbox", Some(("environment", "sandbox"))),
            ("plugins/verifiers/tool-calls", Some(("verifier", "tool-calls"))),
            ("plugins/skills/x", Some(("skill", "x"))),
            ("tests/guests/spin", Some(("guest", "spin"))),
            ("plugins/gadgets/x", None),
            ("plugins/tools/deep/x", None),
            ("host", None),
        ] {
            assert_eq!(kind_and_name(folder), expected, "{folder}");
        }
    }

    #[test]
    fn two_guests_of_one_name_are_refused() {
        let guest = |name: &str, kind| Guest {
            folder: PathBuf::new(),
            name: name.into(),
            kind,
            package: PackageId { repr: format!("{name}-{kind}") },
            package_name: format!("{kind}-{name}"),
            version: "0.1.0".into(),
        };
        assert!(refuse_twins(&[guest("a", "tool"), guest("b", "tool")]).is_ok());
        let error = refuse_twins(&[guest("a", "skill"), guest("a", "tool")]).unwrap_err();
        assert_eq!(error.to_string(), "two guests are called `a`: packages skill-a and tool-a");
    }
}
