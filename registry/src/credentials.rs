//! Who this machine is to a registry: names and passwords from a file of the form that `docker login` writes. It does not look for the file, asks
//! no credential helper (that would be a program that a file names), and knows no network: it says what is meant for which server.

use std::{fmt, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use loopwright_contract::json::{JsonLimits, parse};
use serde_json::{Map, Value};

use crate::{
    RegistryError, file,
    reference::{Address, Server},
};

/// Most bytes of a credentials file.
pub const CREDENTIALS_BYTES_LIMIT: u64 = 1024 * 1024;
/// Most bytes of a name and a password together, with the colon between them.
pub const LOGIN_BYTES_LIMIT: usize = 8 * 1024;
const WHAT: &str = "credentials file";
/// Docker's file has settings of other programs beside the credentials; this is deeper than any of them.
const DEPTH_MAX: usize = 16;

/// A name and a password, as the header that carries them wants them. Nothing shows it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Base64 of `NAME:PASSWORD`.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// What is known for one server.
#[derive(Clone)]
pub struct Login {
    pub(crate) known: Result<Secret, String>,
    pub(crate) token_server: Option<Server>,
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.known.is_ok() { "Login(known)" } else { "Login(unknown)" })
    }
}

impl Default for Login {
    /// Nobody.
    fn default() -> Self {
        Self { known: Err("none were given".to_owned()), token_server: None }
    }
}

impl Login {
    /// Lets the same credentials, and requests for tokens, go to one more server, because the operator says that the registry's tokens come from
    /// there. Without it they go to the registry alone, whatever the registry says.
    #[must_use]
    pub fn with_token_server(mut self, server: Server) -> Self {
        self.token_server = Some(server);
        self
    }
}

/// The credentials of a file.
#[derive(Clone)]
pub struct Credentials {
    source: String,
    auths: Map<String, Value>,
    /// Servers of which the file says that a program keeps their credentials; `None`: all others too.
    helpers: Vec<Option<String>>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Credentials({} of `{}`)", self.auths.len(), self.source)
    }
}

impl Credentials {
    /// Reads a credentials file; none where there is no file.
    ///
    /// # Errors
    /// `BadFile` when it is not what it should be, `TooLarge` and `Io`. No message shows what stands in it.
    pub fn read(path: &Path) -> Result<Option<Self>, RegistryError> {
        let Some(text) = file::read_text(WHAT, path, CREDENTIALS_BYTES_LIMIT)? else { return Ok(None) };
        let bad = |reason| RegistryError::BadFile { what: WHAT, path: path.to_owned(), reason };
        Self::parse(&text, &path.display().to_string()).map(Some).map_err(bad)
    }

    /// Reads a credentials file's text; `source` is how messages call it. Keys that are not about credentials are let be: they are other programs'.
    ///
    /// # Errors
    /// What is wrong, without what stands there.
    pub fn parse(text: &str, source: &str) -> Result<Self, String> {
        let bytes_max = usize::try_from(CREDENTIALS_BYTES_LIMIT).unwrap_or(usize::MAX);
        // The parser's own words may quote what it stumbled over.
        let value = parse(text, &JsonLimits { bytes_max, depth_max: DEPTH_MAX })
            .map_err(|_| format!("expected JSON of at most {bytes_max} bytes, without a key twice"))?;
        let part = |name: &str| match value.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(part)) => Ok(part.clone()),
            Some(_) => Err(format!("`{name}`: expected an object")),
        };
        if !value.is_object() {
            return Err("expected an object".to_owned());
        }
        let mut helpers: Vec<Option<String>> = part("credHelpers")?.keys().cloned().map(Some).collect();
        helpers.extend(value.get("credsStore").map(|_| None));
        Ok(Self { source: source.to_owned(), auths: part("auths")?, helpers })
    }

    /// What the file has for a server, and for no other: name and port have to be the same, and the scheme where the file says one.
    ///
    /// # Errors
    /// `Malformed` words when the entry is not what it should be, or two entries for the server differ.
    pub fn login(&self, server: &Server) -> Result<Login, String> {
        let about = |reason: String| format!("`{}`: the entry for {server}: {reason}", self.source);
        let mut found: Option<Result<Secret, String>> = None;
        for (_, entry) in self.auths.iter().filter(|(key, _)| is_for(key, server)) {
            let known = self.secret(entry, server).map_err(about)?;
            if found.as_ref().is_some_and(|other| *other != known) {
                return Err(about("it stands there twice, and differs".to_owned()));
            }
            found = Some(known);
        }
        let known = found.unwrap_or_else(|| Err(self.lacks(server)));
        Ok(Login { known, token_server: None })
    }

    /// Inside: the reason why an entry has no password that could be sent. Outside: what is wrong with it.
    fn secret(&self, entry: &Value, server: &Server) -> Result<Result<Secret, String>, String> {
        let Value::Object(entry) = entry else { return Err("expected an object".to_owned()) };
        let text = match entry.get("auth") {
            Some(Value::String(text)) if !text.is_empty() => text,
            None | Some(Value::String(_)) if entry.contains_key("identitytoken") => {
                return Ok(Err(format!(
                    "`{}` has an identity token for it, which is not supported; put a password or an access token there",
                    self.source
                )));
            }
            None | Some(Value::String(_)) => return Ok(Err(self.lacks(server))),
            Some(_) => return Err("`auth`: expected a text".to_owned()),
        };
        let wrong = || "`auth`: expected base64 of `NAME:PASSWORD`, without control characters".to_owned();
        if text.len() > LOGIN_BYTES_LIMIT * 2 {
            return Err(format!("`auth`: at most {LOGIN_BYTES_LIMIT} bytes are allowed"));
        }
        let plain = BASE64_STANDARD.decode(text).map_err(|_| wrong())?;
        if plain.len() > LOGIN_BYTES_LIMIT {
            return Err(format!("`auth`: at most {LOGIN_BYTES_LIMIT} bytes are allowed"));
        }
        let plain = String::from_utf8(plain).map_err(|_| wrong())?;
        let has_name = plain.split_once(':').is_some_and(|(name, _)| !name.is_empty());
        if !has_name || plain.chars().any(char::is_control) {
            return Err(wrong());
        }
        Ok(Ok(Secret(BASE64_STANDARD.encode(plain))))
    }

    fn lacks(&self, server: &Server) -> String {
        let helped = |helper: &Option<String>| helper.as_ref().is_none_or(|key| is_for(key, server));
        if self.helpers.iter().any(helped) {
            return format!(
                "`{}` leaves them to a credential helper, and none is asked; put `auth` there for {server}",
                self.source
            );
        }
        format!("`{}` has none for {server}", self.source)
    }
}

/// Whether a key of the file means a server. `docker login` writes `HOST[:PORT]`, and wrote `https://HOST/v1/`; a key with any other path is for a part
/// of a registry, so it is not taken for the whole.
fn is_for(key: &str, server: &Server) -> bool {
    let key = key.strip_suffix('/').unwrap_or(key);
    let key = key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key);
    let Ok(Address::Server { server: meant, prefix: None }) = key.parse() else { return false };
    let has_scheme = key.contains("://");
    let secure = if has_scheme { meant.secure } else { server.secure };
    let port = |port: Option<u16>| port.unwrap_or(if secure { 443 } else { 80 });
    secure == server.secure && meant.host == server.host && port(meant.port) == port(server.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> Server {
        match text.parse() {
            Ok(Address::Server { server, .. }) => server,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn login(file: &str, at: &str) -> Result<Login, String> {
        Credentials::parse(file, "config.json").unwrap().login(&server(at))
    }

    fn known(file: &str, at: &str) -> Option<String> {
        login(file, at).unwrap().known.ok().map(|secret| secret.expose().to_owned())
    }

    fn entry(key: &str) -> String {
        format!(r#"{{"auths":{{"{key}":{{"auth":"YWxpY2U6b3BlbiBzZXNhbWU="}}}},"HttpHeaders":{{"User-Agent":"x"}}}}"#)
    }

    #[test]
    fn credentials_are_for_one_server() {
        for (key, at, is_its) in [
            ("registry.example", "registry.example", true),
            ("registry.example", "registry.example/team", true),
            ("registry.example:443", "registry.example", true),
            ("https://registry.example", "registry.example", true),
            ("https://registry.example/v1/", "registry.example", true),
            ("registry.example/v2/", "registry.example", true),
            ("127.0.0.1:5000", "127.0.0.1:5000", true),
            ("127.0.0.1", "127.0.0.1:80", true),
            // Nearly.
            ("registry.example", "other.registry.example", false),
            ("other.registry.example", "registry.example", false),
            ("registry.example", "registry.example.org", false),
            ("registry.example", "registry.example:5000", false),
            ("registry.example:5000", "registry.example", false),
            ("registry.example/team", "registry.example", false),
            ("http://registry.example", "registry.example", false),
            ("https://127.0.0.1:5000", "127.0.0.1:5000", false),
            ("user@registry.example", "registry.example", false),
            ("*.example", "registry.example", false),
            ("REGISTRY.example", "registry.example", false),
            ("", "registry.example", false),
        ] {
            assert_eq!(known(&entry(key), at).is_some(), is_its, "{key} at {at}");
        }
    }

    #[test]
    fn what_cannot_be_sent_says_why() {
        let at = "registry.example";
        for (file, part) in [
            ("{}", "has none for registry.example"),
            (r#"{"auths":{"registry.example":{}}}"#, "has none"),
            (r#"{"auths":{"registry.example":{}},"credsStore":"desktop"}"#, "credential helper"),
            (r#"{"credHelpers":{"registry.example":"gcloud"}}"#, "credential helper"),
            (r#"{"credHelpers":{"other.example":"gcloud"}}"#, "has none"),
            (r#"{"auths":{"registry.example":{"auth":"","identitytoken":"abc"}}}"#, "identity token"),
        ] {
            let why = login(file, at).unwrap().known.err().unwrap();
            assert!(why.contains(part) && why.contains("config.json"), "{file}: {why}");
        }
    }

    #[test]
    fn a_bad_file_is_refused_and_not_shown() {
        let secret = "b3BlbiBzZXNhbWU";
        for file in [
            format!("\"{secret}\""),
            format!(r#"{{"auths":"{secret}"}}"#),
            format!(r#"{{"credHelpers":["{secret}"]}}"#),
            format!(r#"{{"auths":{{"a":{{"auth":"{secret}","auth":"{secret}"}}}}}}"#),
            format!(r#"{{"auths":{{"a":{{"auth":"{secret}"}}"#),
            "[".repeat(DEPTH_MAX + 1),
        ] {
            let error = Credentials::parse(&file, "config.json").unwrap_err();
            assert!(error.contains("expected") && !error.contains(secret), "{file}: {error}");
        }
        for auth in ["\"!!\"", "\"b3BlbiBzZXNhbWU=\"", "\"OmI=\"", "\"YTpiCg==\"", "\"//8=\"", "7", "[\"YTpi\"]"] {
            let file = format!(r#"{{"auths":{{"registry.example":{{"auth":{auth}}}}}}}"#);
            let error = login(&file, "registry.example").unwrap_err();
            assert!(error.contains("`auth`") && error.contains("registry.example"), "{auth}: {error}");
            assert!(!error.contains(auth.trim_matches('"')) || auth == "7", "{error}");
            // Whom it is not for, it does not concern.
            assert!(login(&file, "other.example").is_ok());
        }
        assert!(login(r#"{"auths":{"registry.example":"x"}}"#, "registry.example").is_err());
    }

    #[test]
    fn two_entries_for_a_server_have_to_agree() {
        let two = |other: &str| {
            format!(
                r#"{{"auths":{{"registry.example":{{"auth":"YTpi"}},"https://registry.example/v1/":{{"auth":"{other}"}}}}}}"#
            )
        };
        assert_eq!(known(&two("YTpi"), "registry.example").as_deref(), Some("YTpi"));
        assert!(login(&two("YTpj"), "registry.example").unwrap_err().contains("twice"));
    }

    #[test]
    fn nothing_shows_a_secret() {
        let credentials = Credentials::parse(&entry("registry.example"), "config.json").unwrap();
        let shown = format!("{credentials:?} {:?}", credentials.login(&server("registry.example")).unwrap());
        assert!(!shown.contains("YWxp") && !shown.contains("sesame") && shown.contains("Login(known)"), "{shown}");
    }

    #[test]
    fn each_limit_is_held() {
        let of = |bytes: usize| {
            let auth = BASE64_STANDARD.encode(format!("a:{}", "b".repeat(bytes - 2)));
            login(&format!(r#"{{"auths":{{"registry.example":{{"auth":"{auth}"}}}}}}"#), "registry.example")
        };
        assert!(of(LOGIN_BYTES_LIMIT).unwrap().known.is_ok());
        assert!(of(LOGIN_BYTES_LIMIT + 1).unwrap_err().contains("at most"));
        assert!(of(LOGIN_BYTES_LIMIT * 3).unwrap_err().contains("at most"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        assert!(Credentials::read(&path).unwrap().is_none());
        let padded = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
        std::fs::write(&path, padded(CREDENTIALS_BYTES_LIMIT as usize)).unwrap();
        assert!(Credentials::read(&path).unwrap().is_some());
        std::fs::write(&path, padded(CREDENTIALS_BYTES_LIMIT as usize + 1)).unwrap();
        assert!(matches!(Credentials::read(&path), Err(RegistryError::TooLarge { .. })));
    }
}
