//! Which crate may name which: our own crates by a table, heavy dependencies by their owners.

use cargo_metadata::{DependencyKind, Metadata};

use super::Problem;

/// What a crate may name, of ours.
enum May {
    /// These.
    Name(&'static [&'static str]),
    /// Everything: it joins the parts.
    All,
}

/// The table of the architecture. A crate that is not in it is refused: an edge is decided before it is written.
const TABLE: [(&str, May); 20] = [
    ("loopwright", May::All),
    ("loopwright-bindings", May::Name(&["loopwright-contract"])),
    ("loopwright-contract", May::Name(&[])),
    ("loopwright-e2e", May::All),
    (
        "loopwright-engine",
        May::Name(&["loopwright-bindings", "loopwright-contract", "loopwright-registry", "loopwright-world"]),
    ),
    ("loopwright-examples", May::All),
    ("loopwright-flywheel", May::Name(&["loopwright-contract"])),
    ("loopwright-harness", May::Name(&["loopwright-contract", "loopwright-text"])),
    ("loopwright-kit", May::Name(&["loopwright-contract"])),
    ("loopwright-learn", May::Name(&["loopwright-contract", "loopwright-text"])),
    ("loopwright-mcp", May::Name(&["loopwright-contract"])),
    ("loopwright-memory", May::Name(&["loopwright-contract", "loopwright-text"])),
    ("loopwright-models", May::Name(&["loopwright-contract"])),
    ("loopwright-packs", May::Name(&["loopwright-contract"])),
    ("loopwright-registry", May::Name(&["loopwright-contract"])),
    ("loopwright-sdk", May::Name(&[])),
    ("loopwright-testkit", May::Name(&["loopwright-contract"])),
    ("loopwright-text", May::Name(&[])),
    ("loopwright-world", May::Name(&["loopwright-contract"])),
    // The task runner builds our guests as the kit builds an author's.
    ("xtask", May::Name(&["loopwright-kit"])),
];

/// Crates that write guests name the SDK and nothing else.
const GUESTS_MAY: May = May::Name(&["loopwright-sdk"]);

/// Fakes of every port, for all crates' own tests.
const TESTKIT: &str = "loopwright-testkit";

/// A dependency that is kept to few crates.
struct Heavy {
    /// The package, or the start of the names of its family when it ends in `-`.
    names: &'static [&'static str],
    /// Crates that may name it.
    owners: &'static [&'static str],
    /// Crates whose tests and benchmarks may.
    owners_in_tests: &'static [&'static str],
}

const HEAVY: [Heavy; 7] = [
    Heavy {
        names: &["wasmtime", "wasmtime-", "cranelift-"],
        owners: &["loopwright-bindings", "loopwright-engine"],
        owners_in_tests: &["loopwright"],
    },
    Heavy { names: &["candle-"], owners: &["loopwright-models", "loopwright-learn"], owners_in_tests: &[] },
    Heavy { names: &["tantivy", "tantivy-"], owners: &["loopwright-memory"], owners_in_tests: &[] },
    Heavy {
        names: &["rmcp"],
        owners: &["loopwright-mcp"],
        // The library's client drives the command and the whole pack.
        owners_in_tests: &["loopwright", "loopwright-e2e"],
    },
    Heavy { names: &["clap", "clap_complete"], owners: &["loopwright", "xtask"], owners_in_tests: &[] },
    Heavy { names: &["tracing-subscriber"], owners: &["loopwright"], owners_in_tests: &["loopwright-e2e"] },
    Heavy {
        names: &["anyhow"],
        owners: &["loopwright", "loopwright-e2e", "loopwright-examples", "loopwright-testkit", "xtask"],
        owners_in_tests: &[],
    },
];

/// One line of a manifest.
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    /// Only the tests and benchmarks of `from` need it.
    in_tests: bool,
    /// `from` is a guest.
    guest: bool,
}

/// Edges of the workspace that the tables do not have.
pub(super) fn problems(metadata: &Metadata) -> Vec<Problem> {
    let members: Vec<_> = metadata.workspace_packages();
    let ours: Vec<&str> = members.iter().map(|package| package.name.as_str()).collect();
    let mut problems = Vec::new();
    for package in &members {
        let folder = package.manifest_path.strip_prefix(&metadata.workspace_root);
        let guest = folder.is_ok_and(|path| path.starts_with("plugins") || path.starts_with("tests/guests"));
        if !guest && !TABLE.iter().any(|(name, _)| *name == package.name.as_str()) {
            problems.push(Problem::new(package.name.as_str(), "not in the dependency table; decide its edges first"));
        }
        for dependency in &package.dependencies {
            let edge = Edge {
                from: &package.name,
                to: &dependency.name,
                in_tests: dependency.kind == DependencyKind::Development,
                guest,
            };
            let refused = if ours.contains(&edge.to) { refuse_edge(&edge) } else { refuse_heavy(&edge) };
            problems.extend(refused);
        }
    }
    problems
}

fn refuse_edge(edge: &Edge<'_>) -> Option<Problem> {
    let row = TABLE.iter().find(|(name, _)| *name == edge.from).map(|(_, may)| may);
    let may = if edge.guest { Some(&GUESTS_MAY) } else { row };
    let allowed = match may {
        Some(May::All) => true,
        Some(May::Name(names)) => names.contains(&edge.to),
        None => false,
    };
    if allowed || (edge.in_tests && edge.to == TESTKIT && !edge.guest) {
        return None;
    }
    Some(Problem::new(
        edge.from,
        format!(
            "may not name {}: the edge is not in the dependency table (a port in the contract joins siblings)",
            edge.to
        ),
    ))
}

fn refuse_heavy(edge: &Edge<'_>) -> Option<Problem> {
    let matches = |name: &&str| edge.to == *name || (name.ends_with('-') && edge.to.starts_with(*name));
    let heavy = HEAVY.iter().find(|heavy| heavy.names.iter().any(&matches))?;
    if heavy.owners.contains(&edge.from) || (edge.in_tests && heavy.owners_in_tests.contains(&edge.from)) {
        return None;
    }
    Some(Problem::new(edge.from, format!("may not name {}: it belongs to {}", edge.to, heavy.owners.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge<'a>(from: &'a str, to: &'a str) -> Edge<'a> {
        Edge { from, to, in_tests: false, guest: false }
    }

    #[test]
    fn edges_outside_the_table_are_found() {
        for (from, to, fine) in [
            ("loopwright-engine", "loopwright-world", true),
            ("loopwright", "loopwright-engine", true),
            ("loopwright-harness", "loopwright-engine", false),
            ("loopwright-contract", "loopwright-world", false),
            ("loopwright-newcomer", "loopwright-contract", false),
            ("xtask", "loopwright", false),
        ] {
            assert_eq!(refuse_edge(&edge(from, to)).is_none(), fine, "{from} -> {to}");
        }
    }

    #[test]
    fn guests_name_the_sdk_alone() {
        for (to, in_tests, fine) in [
            ("loopwright-sdk", false, true),
            ("loopwright-contract", false, false),
            ("loopwright-tool-net", false, false),
            ("loopwright-testkit", true, false),
        ] {
            let edge = Edge { guest: true, in_tests, ..edge("loopwright-tool-sms", to) };
            assert_eq!(refuse_edge(&edge).is_none(), fine, "{to}");
        }
    }

    #[test]
    fn fakes_are_for_tests() {
        let mut edge = edge("loopwright-harness", TESTKIT);
        assert!(refuse_edge(&edge).is_some());
        edge.in_tests = true;
        assert!(refuse_edge(&edge).is_none());
    }

    #[test]
    fn heavy_dependencies_have_owners() {
        for (from, to, in_tests, fine) in [
            ("loopwright-engine", "wasmtime", false, true),
            ("loopwright-harness", "wasmtime", false, false),
            ("loopwright-world", "wasmtime-environ", false, false),
            ("loopwright", "wasmtime", true, true),
            ("loopwright", "wasmtime", false, false),
            ("loopwright-models", "candle-nn", false, true),
            ("loopwright-packs", "candle-core", true, false),
            ("loopwright-text", "tantivy", false, false),
            ("loopwright-engine", "clap", false, false),
            ("loopwright-world", "anyhow", true, false),
            ("loopwright-world", "serde", false, true),
        ] {
            let edge = Edge { in_tests, ..edge(from, to) };
            assert_eq!(refuse_heavy(&edge).is_none(), fine, "{from} -> {to}");
        }
    }
}
