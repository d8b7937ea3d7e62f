//! Where a release is: an address, a repository there, and a tag or a digest in it.

use std::{fmt, net::IpAddr, path::PathBuf, str::FromStr};

use loopwright_contract::digest::ManifestDigest;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::name::{NameError, Package, as_text};

/// Most characters of a repository.
pub const REPOSITORY_CHARACTERS_LIMIT: usize = 255;
/// Most characters of a tag.
pub const TAG_CHARACTERS_LIMIT: usize = 128;
/// Most characters of a host's name.
pub const HOST_CHARACTERS_LIMIT: usize = 253;
/// What an address of a folder starts with.
const FOLDER: &str = "oci:";

/// A server, and whether it is spoken to in plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// HTTPS; otherwise plain HTTP.
    pub secure: bool,
    /// Name or number, an IPv6 one in brackets.
    pub host: String,
    /// The port; none: the scheme's own.
    pub port: Option<u16>,
}

impl Server {
    /// Whether requests stay on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let number = self.host.trim_start_matches('[').trim_end_matches(']');
        self.host == "localhost" || number.parse::<IpAddr>().is_ok_and(|number| number.is_loopback())
    }

    /// The start of every address on it, such as `https://registry.example`.
    #[must_use]
    pub fn base(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        match self.port {
            Some(port) => format!("{scheme}://{}:{port}", self.host),
            None => format!("{scheme}://{}", self.host),
        }
    }

    /// Without a scheme: plain HTTP on this machine, HTTPS elsewhere.
    fn parse(text: &str) -> Option<Self> {
        let (secure, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (Some(false), rest),
            (_, Some(rest)) => (Some(true), rest),
            _ => (None, text),
        };
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (rest, None),
        };
        let port = match port {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0') => {
                Some(digits.parse().ok()?)
            }
            Some(_) => return None,
            None => None,
        };
        if !is_host(host) {
            return None;
        }
        let mut server = Self { secure: true, host: host.to_owned(), port };
        server.secure = secure.unwrap_or(!server.is_loopback());
        Some(server)
    }
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base();
        let bare = base.split_once("://").map_or(base.as_str(), |(_, bare)| bare);
        // What other tools read too, where it means the same.
        formatter.write_str(if self.secure != self.is_loopback() { bare } else { &base })
    }
}

fn is_host(host: &str) -> bool {
    if let Some(number) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return number.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    host.len() <= HOST_CHARACTERS_LIMIT && host.split('.').all(label)
}

/// Where releases are kept: a server, perhaps with a prefix for repositories, or a folder of OCI image layouts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A server.
    Server {
        /// Which.
        server: Server,
        /// What repositories start with there.
        prefix: Option<Repository>,
    },
    /// A folder with one image layout for each package.
    Folder(PathBuf),
}

impl Address {
    /// The repository of a package.
    ///
    /// # Errors
    /// [`NameError`] when the prefix leaves too little room.
    pub fn repository(&self, package: &Package) -> Result<Repository, NameError> {
        match self {
            Self::Server { prefix: Some(prefix), .. } => {
                format!("{prefix}/{}/{}", package.namespace, package.name).parse()
            }
            _ => format!("{}/{}", package.namespace, package.name).parse(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { server, prefix: None } => server.fmt(formatter),
            Self::Server { server, prefix: Some(prefix) } => write!(formatter, "{server}/{prefix}"),
            Self::Folder(folder) => write!(formatter, "{FOLDER}{}", folder.display()),
        }
    }
}

impl FromStr for Address {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let expected = "`[https://]HOST[:PORT][/PREFIX]`, or `oci:FOLDER`";
        let wrong = || NameError::new("registry's address", text, expected);
        if let Some(folder) = text.strip_prefix(FOLDER) {
            return if folder.is_empty() { Err(wrong()) } else { Ok(Self::Folder(folder.into())) };
        }
        let after_scheme = text.find("://").map_or(0, |at| at + 3);
        let (server, prefix) = match text.get(after_scheme..).and_then(|rest| rest.find('/')) {
            Some(slash) => (text.get(..after_scheme + slash), text.get(after_scheme + slash + 1..)),
            None => (Some(text), None),
        };
        let server = server.and_then(Server::parse).ok_or_else(wrong)?;
        let prefix = prefix.filter(|prefix| !prefix.is_empty()).map(str::parse).transpose()?;
        Ok(Self::Server { server, prefix })
    }
}

/// A repository of a registry: what a package becomes there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository(String);

impl Repository {
    /// The repository.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Repository {
    type Err = NameError;

    /// Narrower than the distribution specification allows: no `__` and no `--`.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if text.len() <= REPOSITORY_CHARACTERS_LIMIT && text.split(['/', '.', '_', '-']).all(word) {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError::new(
            "repository",
            text,
            "words of a-z and 0-9 joined by `/`, `.`, `_` or `-`, at most 255 characters",
        ))
    }
}

/// A name in a repository that its owner can move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

impl Tag {
    /// The tag of a version, which is the version.
    ///
    /// # Errors
    /// [`NameError`] for a version that is too long or has build metadata.
    pub fn of(version: &Version) -> Result<Self, NameError> {
        version.to_string().parse()
    }

    /// The tag under which registries without a referrers API keep the list of what refers to a manifest.
    #[must_use]
    pub fn of_referrers(subject: &ManifestDigest) -> Self {
        Self(subject.to_string().replace(':', "-"))
    }

    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Tag {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let accepts = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        let starts = text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
        if text.len() <= TAG_CHARACTERS_LIMIT && starts && text.bytes().all(accepts) {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError::new(
            "tag",
            text,
            "a-z, A-Z, 0-9, `_`, `.` and `-`, at most 128 characters, starting with none of `.` and `-`",
        ))
    }
}

/// A tag or a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// What a tag names now.
    Tag(Tag),
    /// Always the same.
    Digest(ManifestDigest),
}

/// A release on a server, in the form that other OCI tools read: `registry.example/acme/notes:1.0.0` or `…@sha256:…`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Reference {
    /// Where.
    pub server: Server,
    /// In which repository.
    pub repository: Repository,
    /// Which of its manifests.
    pub selector: Selector,
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.selector {
            Selector::Tag(tag) => write!(formatter, "{}/{}:{tag}", self.server, self.repository),
            Selector::Digest(digest) => write!(formatter, "{}/{}@{digest}", self.server, self.repository),
        }
    }
}

impl FromStr for Reference {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let wrong = || NameError::new("reference", text, "`[https://]HOST[:PORT]/REPOSITORY:TAG` or `…@sha256:…`");
        let after_scheme = text.find("://").map_or(0, |at| at + 3);
        let slash = text.get(after_scheme..).and_then(|rest| rest.find('/')).ok_or_else(wrong)?;
        let server = text.get(..after_scheme + slash).and_then(Server::parse).ok_or_else(wrong)?;
        let rest = text.get(after_scheme + slash + 1..).ok_or_else(wrong)?;
        let (repository, selector) = match rest.split_once('@') {
            Some((repository, digest)) => (repository, Selector::Digest(digest.parse().map_err(|_| wrong())?)),
            None => {
                let (repository, tag) = rest.split_once(':').ok_or_else(wrong)?;
                (repository, Selector::Tag(tag.parse()?))
            }
        };
        Ok(Self { server, repository: repository.parse()?, selector })
    }
}

as_text!(Reference, NameError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_for_this_machine() {
        for (text, base, loopback) in [
            ("127.0.0.1:5000", "http://127.0.0.1:5000", true),
            ("localhost:5000", "http://localhost:5000", true),
            ("[::1]:5000", "http://[::1]:5000", true),
            ("registry.example", "https://registry.example", false),
            ("http://registry.example:80", "http://registry.example:80", false),
            ("https://127.0.0.1", "https://127.0.0.1", true),
        ] {
            let server = Server::parse(text).unwrap();
            assert_eq!((server.base().as_str(), server.is_loopback()), (base, loopback));
            assert_eq!(Server::parse(&server.to_string()), Some(server));
        }
    }

    #[test]
    fn addresses_carry_a_prefix_or_a_folder() {
        let package = "acme:notes".parse().unwrap();
        for (text, repository) in [
            ("127.0.0.1:5000", "acme/notes"),
            ("https://registry.example/team/plugins", "team/plugins/acme/notes"),
            ("oci:/var/mirror", "acme/notes"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.repository(&package).unwrap().as_str(), repository);
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "oci:",
            "ftp://host",
            "http://",
            "host:",
            "host:0",
            "host:99999",
            "user@host",
            "host/../x",
            "host/A",
            "-a.example",
            "a..b",
            "http://host?x",
            "[::1",
            "HOST",
            "host:80:80",
            "1.2.3.4/a//b",
        ] {
            assert!(text.parse::<Address>().is_err(), "`{text}` was read");
        }
    }

    #[test]
    fn what_is_no_reference_is_refused() {
        let digest = ManifestDigest::of(b"");
        assert!(format!("host.example/a/b@{digest}").parse::<Reference>().is_ok());
        for text in
            ["host", "host/a", "host/a@sha256:..", "host/a:..", "host/../a:1", "/a:1", "host/a:1@sha256:00", "host/:1"]
        {
            assert!(text.parse::<Reference>().is_err(), "`{text}` was read");
        }
    }

    #[test]
    fn each_limit_is_held() {
        assert!("t".repeat(TAG_CHARACTERS_LIMIT).parse::<Tag>().is_ok());
        assert!("t".repeat(TAG_CHARACTERS_LIMIT + 1).parse::<Tag>().is_err());
        assert!("r".repeat(REPOSITORY_CHARACTERS_LIMIT).parse::<Repository>().is_ok());
        assert!("r".repeat(REPOSITORY_CHARACTERS_LIMIT + 1).parse::<Repository>().is_err());
        assert!(is_host(&"h".repeat(HOST_CHARACTERS_LIMIT)));
        assert!(!is_host(&"h".repeat(HOST_CHARACTERS_LIMIT + 1)));
        assert!(Tag::of_referrers(&ManifestDigest::of(b"")).as_str().parse::<Tag>().is_ok());
    }
}
