//! What a plugin asks for and what the operator grants it: `plugin explain`, `plugin grant`, `plugin revoke`.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::capability::{CAPABILITY_INTERFACES, Capabilities, LOG_BYTES_FREE, Request};
use loopwright_contract::digest::{ContentDigest, RequestDigest};
use loopwright_contract::episode::PluginKind;
use loopwright_contract::fault::chain;
use loopwright_contract::plain::Plain;
use loopwright_engine::{Candidate, Engines, Says, inspect};
use loopwright_registry::component::{self, Inspection};
use loopwright_registry::fetch::Fetched;
use loopwright_registry::grants::{Decision, Granted, Grants, Standing, Subject};
use loopwright_registry::{Entry, Index};
use semver::{Version, VersionReq};
use serde::Serialize;
use serde_json::json;

use super::plugin::kind as kind_text;
use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine};

/// Bytes of a component that is explained without being installed.
const COMPONENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One thing that was asked for.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Asked {
    /// In words.
    what: String,
    /// Whether it has all of it.
    granted: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Everything that can be said of a plugin's capabilities.
#[derive(Debug, Serialize)]
struct Explanation {
    plugin: String,
    version: String,
    kind: Option<PluginKind>,
    package: Option<String>,
    digest: ContentDigest,
    request: RequestDigest,
    /// What it has without asking.
    has: Vec<String>,
    asks: Vec<Asked>,
    #[serde(flatten)]
    standing: Standing,
    /// The interfaces that it imports and was not granted: it is left out.
    lacks: Vec<String>,
    /// Why it cannot be installed at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// A component with whom it belongs to.
struct Case {
    subject: Subject,
    package: Option<String>,
    candidate: Candidate,
    inspection: Inspection,
}

impl Case {
    fn installed(index: &Index, entry: &Entry) -> anyhow::Result<Self> {
        let package = index.load(entry)?;
        let inspection = component::inspect(&package.bytes)?;
        let named = entry.package.as_ref().map(ToString::to_string);
        Ok(Self { subject: Subject::from(entry), package: named, candidate: package.into(), inspection })
    }

    fn file(path: &Path) -> anyhow::Result<Self> {
        let size = fs::metadata(path).with_context(|| format!("`{}` cannot be read", path.display()))?.len();
        anyhow::ensure!(
            size <= COMPONENT_BYTES_MAX,
            "`{}` has {size} bytes, expected at most {COMPONENT_BYTES_MAX}",
            path.display()
        );
        let bytes = fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let name: loopwright_contract::name::PluginName = stem.parse()?;
        let inspection = component::inspect(&bytes)?;
        let subject =
            Subject { publisher: None, name: name.clone(), version: Version::new(0, 0, 0), first_party: false };
        Ok(Self { subject, package: None, candidate: Candidate::new(name, bytes), inspection })
    }
}

/// `plugin explain`.
///
/// # Errors
/// When there is no such plugin, or it cannot be read.
pub(super) fn explain(shared: &Shared, plugin: &str) -> anyhow::Result<Exit> {
    let path = Path::new(plugin);
    let case = if path.extension().is_some_and(|extension| extension == "wasm") {
        Case::file(path)?
    } else {
        let index = wire::index(shared)?;
        Case::installed(&index, index.find(plugin)?)?
    };
    let explained = explanation(shared, case)?;
    let good = explained.lacks.is_empty() && explained.refused.is_none();
    if shared.json {
        output::json(&explained);
    } else {
        output::line(&explained);
    }
    Ok(if good { Exit::Good } else { Exit::Differs })
}

fn explanation(shared: &Shared, case: Case) -> anyhow::Result<Explanation> {
    let Case { mut subject, package, candidate, inspection } = case;
    let request = &inspection.request;
    let config = wire::config(shared, Engine::default());
    let engines = Arc::new(Engines::new(&config)?);
    let said = inspect(&engines, &config, &candidate);
    let kind = said.as_ref().map(|said| said.record().kind).ok().or(inspection.kind);
    if package.is_none()
        && let Ok(said) = &said
        && let Ok(version) = said.identity.version.parse()
    {
        subject.version = version;
    }
    let decision = wire::grants(shared)?.decide(&subject, request);
    let own = match said.as_ref().map(|said| &said.says) {
        Ok(Says::Tool(catalogue)) => catalogue
            .collections
            .iter()
            .map(|spec| format!("read and write its own collection `{}`", spec.name))
            .collect(),
        Ok(Says::Environment) => vec!["read and write the host's collection `environment`".to_owned()],
        _ => Vec::new(),
    };
    let log = format!("{LOG_BYTES_FREE} bytes of log a call");
    Ok(Explanation {
        plugin: subject.name.to_string(),
        version: subject.version.to_string(),
        kind,
        package,
        digest: candidate.digest,
        request: request.digest,
        has: own.into_iter().chain([log]).collect(),
        asks: asks(request, kind, &decision),
        lacks: lacking(&inspection, kind, &decision),
        standing: decision.standing,
        refused: said.err().map(|error| chain(&error)),
    })
}

fn asks(request: &Request, kind: Option<PluginKind>, decision: &Decision) -> Vec<Asked> {
    let asked = &request.capabilities;
    let may = kind.map_or_else(|| asked.clone(), |kind| asked.for_kind(kind));
    let effective = may.intersection(&decision.given);
    let one = |single: Capabilities| {
        let (what, denied) = (single.lines().join(", "), single.beyond(&effective));
        let why = if denied.is_empty() {
            None
        } else if !single.unknown.is_empty() {
            Some("this host does not know it, and gives it to nobody".to_owned())
        } else if let Some(kind) = kind.filter(|_| !single.beyond(&may).is_empty()) {
            Some(format!("no plugin of kind {} may have it", kind_text(kind)))
        } else {
            Some(decision.standing.to_string())
        };
        Asked { what, granted: denied.is_empty(), why }
    };
    asked.singles().into_iter().map(one).collect()
}

/// The interfaces of capabilities that a component imports and was not granted.
fn lacking(inspection: &Inspection, kind: Option<PluginKind>, decision: &Decision) -> Vec<String> {
    let may = kind.map_or_else(Capabilities::default, |kind| inspection.request.capabilities.for_kind(kind));
    let given = may.intersection(&decision.given).interfaces();
    let imported =
        |interface: &&str| inspection.imports.iter().any(|name| name.split(['/', '@']).nth(1) == Some(*interface));
    let lacks = CAPABILITY_INTERFACES.iter().filter(|interface| imported(interface) && !given.contains(interface));
    lacks.map(ToString::to_string).collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.map_or("plugin", kind_text);
        let from = self.package.as_ref().map_or_else(String::new, |package| format!(", pulled as {package}"));
        writeln!(
            formatter,
            "{kind} {} {}{from}\n{}\nrequest {}",
            self.plugin, self.version, self.digest, self.request
        )?;
        writeln!(formatter, "\nhas without asking")?;
        self.has.iter().try_for_each(|line| writeln!(formatter, "       {line}"))?;
        if self.asks.is_empty() {
            write!(formatter, "\nasks for nothing else")?;
        } else {
            writeln!(formatter, "\nasks for")?;
            let decided = self.standing.to_string();
            for Asked { what, granted, why } in &self.asks {
                writeln!(formatter, "  {}  {}", if *granted { "yes" } else { "no " }, Plain(what))?;
                // What the decision is stands once, below.
                if let Some(why) = why.as_ref().filter(|why| **why != decided) {
                    writeln!(formatter, "       because {}", Plain(why))?;
                }
            }
            write!(formatter, "\ndecided by: {}", self.standing)?;
        }
        if !self.lacks.is_empty() {
            write!(formatter, "\nleft out: it imports `{}`, which it was not granted", self.lacks.join("`, `"))?;
        }
        if let Some(refused) = &self.refused {
            write!(formatter, "\nnot installed: {}", Plain(refused))?;
        }
        if self.asks.iter().any(|asked| !asked.granted && asked.why.as_deref() == Some(&self.standing.to_string())) {
            write!(formatter, "\nhint: `loopwright plugin grant {}` grants what it asks for", self.plugin)?;
        }
        Ok(())
    }
}

/// `plugin grant`.
///
/// # Errors
/// When there is no such plugin, it needs no grant, or the file cannot be written.
pub(super) fn grant(
    shared: &Shared,
    name: &str,
    versions: Option<&VersionReq>,
    except: &[String],
) -> anyhow::Result<Exit> {
    let index = wire::index(shared)?;
    let case = Case::installed(&index, index.find(name)?)?;
    anyhow::ensure!(!case.subject.first_party, "plugin `{name}` was built on this machine and gets what it asks for");
    let granted = consent(&case.subject, &case.inspection.request, versions, except)?;
    write_grant(shared, granted.clone())?;
    told(shared, &granted);
    Ok(Exit::Good)
}

/// A grant of what a request asks for, but for `except`.
fn consent(
    subject: &Subject,
    request: &Request,
    versions: Option<&VersionReq>,
    except: &[String],
) -> anyhow::Result<Granted> {
    let asked = &request.capabilities;
    anyhow::ensure!(!asked.is_empty(), "plugin `{}` asks for nothing, so that there is nothing to grant", subject.name);
    // With itself: what this host does not know is granted to nobody.
    let mut capabilities = asked.intersection(asked);
    for word in except {
        anyhow::ensure!(
            capabilities.remove(word),
            "`--except {word}`: plugin `{}` asks for no such capability, collection or tool; it asks for: {}",
            subject.name,
            asked.lines().join(", ")
        );
    }
    let versions = match versions {
        Some(versions) => versions.clone(),
        None => format!("^{}", subject.version).parse()?,
    };
    anyhow::ensure!(
        versions.matches(&subject.version),
        "`--versions {versions}` leaves out the installed version {}",
        subject.version
    );
    let Subject { publisher, name, .. } = subject.clone();
    Ok(Granted { publisher, name, versions, request: request.digest, capabilities })
}

fn write_grant(shared: &Shared, granted: Granted) -> anyhow::Result<()> {
    let path = wire::grants_file(shared);
    let _guard = Grants::guard(&path)?;
    let mut grants = Grants::read(&path)?;
    grants.add(granted);
    Ok(grants.write(&path)?)
}

fn told(shared: &Shared, granted: &Granted) {
    let (path, list) = (wire::grants_file(shared), granted.capabilities.to_list());
    if shared.json {
        output::json(
            &json!({"plugin": granted.name, "publisher": granted.publisher, "versions": granted.versions, "request": granted.request, "capabilities": list, "file": path}),
        );
        return;
    }
    output::line(format_args!("granted to {} {} in {}", granted.name, granted.versions, path.display()));
    granted.capabilities.lines().iter().for_each(|line| output::line(format_args!("  {}", Plain(line))));
}

/// `plugin revoke`.
///
/// # Errors
/// When there is no such plugin, or the file cannot be written.
pub(super) fn revoke(shared: &Shared, name: &str) -> anyhow::Result<Exit> {
    let index = wire::index(shared)?;
    let subject = Subject::from(index.find(name)?);
    let path = wire::grants_file(shared);
    let _guard = Grants::guard(&path)?;
    let mut grants = Grants::read(&path)?;
    let gone = grants.remove(subject.publisher.as_ref(), &subject.name);
    if gone > 0 {
        grants.write(&path)?;
    }
    if shared.json {
        output::json(&json!({"plugin": subject.name, "revoked": gone, "file": path}));
    } else {
        output::line(format_args!("{gone} grants of {name} taken back"));
    }
    Ok(Exit::Good)
}

/// What the operator decided about a release that was pulled.
pub(super) struct Arrival {
    /// What it asks for, with what it gets.
    pub(super) decision: Decision,
    /// The interfaces that it would be left out for.
    pub(super) lacks: Vec<String>,
}

/// Decides about a release before it is installed; with `grant`, the operator consents to all that it asks for.
pub(super) fn arrival(shared: &Shared, fetched: &Fetched, grant: bool) -> anyhow::Result<Arrival> {
    let release = &fetched.locked.release;
    let subject = Subject {
        publisher: Some(release.package.namespace.clone()),
        name: release.package.name.clone(),
        version: release.version.clone(),
        first_party: false,
    };
    let request = &fetched.inspection.request;
    if grant && !request.capabilities.is_empty() {
        write_grant(shared, consent(&subject, request, None, &[])?)?;
    }
    let decision = wire::grants(shared)?.decide(&subject, request);
    let lacks = lacking(&fetched.inspection, fetched.inspection.kind, &decision);
    Ok(Arrival { decision, lacks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(capabilities: &serde_json::Value) -> Request {
        let text = json!({"format": "loopwright-request/1", "capabilities": capabilities}).to_string();
        Request::parse(text.as_bytes()).unwrap()
    }

    fn subject() -> Subject {
        Subject {
            publisher: Some("acme".parse().unwrap()),
            name: "notes".parse().unwrap(),
            version: Version::new(1, 2, 3),
            first_party: false,
        }
    }

    #[test]
    fn each_thing_that_is_denied_has_its_own_reason() {
        let asked = request(&json!([
            {"capability": "collection", "name": "power", "access": "read"},
            {"capability": "tool.call", "tools": ["set_alarm"]},
            {"capability": "scratch", "bytes": 500},
            {"capability": "http", "hosts": ["example.org"]},
        ]));
        let mut grants = Grants::default();
        let range: VersionReq = "^1".parse().unwrap();
        grants.add(consent(&subject(), &asked, Some(&range), &["scratch".into()]).unwrap());
        let why = |kind| -> Vec<(String, Option<String>)> {
            let decision = grants.decide(&subject(), &asked);
            asks(&asked, Some(kind), &decision).into_iter().map(|asked| (asked.what, asked.why)).collect()
        };
        let unknown = Some("this host does not know it, and gives it to nobody".to_owned());
        let tool = why(PluginKind::Tool);
        assert_eq!(tool[0], ("read collection `power`".to_owned(), None));
        assert_eq!(tool[1], ("call tool `set_alarm`".to_owned(), None));
        assert_eq!(tool[2].1.as_deref(), Some("a grant for versions ^1 answers this request"));
        assert_eq!(tool[3].1, unknown);
        let skill = why(PluginKind::Skill);
        assert_eq!(skill[0].1, None);
        assert_eq!(skill[1].1.as_deref(), Some("no plugin of kind skill may have it"));
    }

    #[test]
    fn a_grant_leaves_out_what_it_is_told_to_and_nothing_that_was_not_asked_for() {
        let asked = request(&json!([
            {"capability": "collection", "name": "power", "access": "read"},
            {"capability": "tool.call", "tools": ["a", "b"]},
        ]));
        let granted = |except: &[&str]| {
            let except: Vec<String> = except.iter().map(ToString::to_string).collect();
            consent(&subject(), &asked, None, &except).map(|granted| granted.capabilities.lines())
        };
        assert_eq!(granted(&["b"]).unwrap(), ["read collection `power`", "call tool `a`"]);
        assert_eq!(granted(&["tool.call"]).unwrap(), ["read collection `power`"]);
        assert_eq!(granted(&["power", "a", "b"]).unwrap(), Vec::<String>::new());
        let error = granted(&["sms"]).unwrap_err().to_string();
        assert!(error.contains("asks for no such") && error.contains("read collection `power`"), "{error}");
        assert!(consent(&subject(), &request(&json!([])), None, &[]).is_err());
        let outside: VersionReq = "^2".parse().unwrap();
        assert!(consent(&subject(), &asked, Some(&outside), &[]).unwrap_err().to_string().contains("leaves out"));
        assert_eq!(consent(&subject(), &asked, None, &[]).unwrap().versions, "^1.2.3".parse().unwrap());
    }
}
