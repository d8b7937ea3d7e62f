//! Who may talk to the server: the names it is served under, the origins of pages, and the bearer token.

use std::fmt;
use std::net::SocketAddr;

use hyper::Uri;
use hyper::http::uri::Authority;
use sha2::{Digest as _, Sha256};

use crate::limits::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};

/// Why a text is no bearer token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a bearer token has {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} printable ASCII characters without white space, found {found}"
)]
pub struct TokenError {
    /// What is wrong with it, without showing it.
    pub found: String,
}

/// A bearer token, of which only the digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

impl Token {
    /// Checks and keeps a token; white space around it, such as a file's last line end, does not count.
    ///
    /// # Errors
    /// [`TokenError`] when it is too short, too long, or has characters that a header cannot carry.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&text.len()) {
            return Err(TokenError { found: format!("{} bytes", text.len()) });
        }
        if !text.chars().all(|character| character.is_ascii_graphic()) {
            return Err(TokenError { found: "other characters".to_owned() });
        }
        Ok(Self(digest(text)))
    }

    /// Whether an `Authorization` header carries it. Digests are compared, so the time that it takes says nothing of the token.
    pub(super) fn admits(&self, header: &str) -> bool {
        let Some((scheme, given)) = header.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && digest(given.trim()) == self.0
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Why the rules cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpRulesError {
    /// Something that is no host.
    #[error("`{0}` is no host: expected `HOST` or `HOST:PORT`, such as `phone.example:8080`")]
    Host(String),
    /// Something that is no origin.
    #[error("`{0}` is no origin: expected `SCHEME://HOST` or `SCHEME://HOST:PORT`, such as `https://app.example`")]
    Origin(String),
    /// An address that others reach, without what that takes.
    #[error("`{0}` can be reached from other machines, and there is no bearer token")]
    Open(SocketAddr),
}

/// Who may talk to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRules {
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) token: Option<Token>,
}

impl HttpRules {
    /// For a server that listens at `address`: `localhost`, `127.0.0.1` and `[::1]` with its port, no origin, and whoever can reach it.
    #[must_use]
    pub fn loopback(address: SocketAddr) -> Self {
        let port = address.port();
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts: hosts.to_vec(), origins: Vec::new(), token: None }
    }

    /// Also a host that requests name; without a port, any port.
    ///
    /// # Errors
    /// [`HttpRulesError::Host`].
    pub fn allow_host(mut self, host: &str) -> Result<Self, HttpRulesError> {
        let bad = || HttpRulesError::Host(host.to_owned());
        let authority: Authority = host.parse().map_err(|_| bad())?;
        if authority.host().is_empty() || host.contains(['@', '*']) {
            return Err(bad());
        }
        self.hosts.push(host.to_owned());
        Ok(self)
    }

    /// Also pages of an origin; without a port, the port that its scheme implies.
    ///
    /// # Errors
    /// [`HttpRulesError::Origin`].
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, HttpRulesError> {
        let bad = || HttpRulesError::Origin(origin.to_owned());
        let uri: Uri = origin.parse().map_err(|_| bad())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(bad()) };
        let implied = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return Err(bad()),
        };
        let (host, port) = (authority.host(), authority.port_u16().unwrap_or(implied));
        let bare = uri.path() == "/" && uri.query().is_none() && !origin.ends_with('/');
        if host.is_empty() || !bare || authority.as_str().contains(['@', '*']) {
            return Err(bad());
        }
        self.origins.push(format!("{scheme}://{host}:{port}"));
        Ok(self)
    }

    /// Only requests with this bearer token.
    #[must_use]
    pub fn with_token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// The same, once it is sure that an address which other machines reach has a token.
    ///
    /// # Errors
    /// [`HttpRulesError::Open`].
    pub fn for_address(self, address: SocketAddr) -> Result<Self, HttpRulesError> {
        if address.ip().is_loopback() || self.token.is_some() { Ok(self) } else { Err(HttpRulesError::Open(address)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> HttpRules {
        HttpRules::loopback(([127, 0, 0, 1], 8080).into())
    }

    #[test]
    fn tokens_have_their_length_and_are_not_shown() {
        for (bytes, good) in [
            (TOKEN_BYTES_MIN - 1, false),
            (TOKEN_BYTES_MIN, true),
            (TOKEN_BYTES_MAX, true),
            (TOKEN_BYTES_MAX + 1, false),
        ] {
            assert_eq!(Token::new(&"x".repeat(bytes)).is_ok(), good, "{bytes}");
        }
        assert!(Token::new("0123456789 0123456789").is_err());
        let token = Token::new("0123456789abcdef\n").expect("a token");
        assert_eq!(format!("{token:?}"), "Token(..)");
        for (header, admitted) in [
            ("Bearer 0123456789abcdef", true),
            ("bearer  0123456789abcdef", true),
            ("Bearer 0123456789abcdeF", false),
            ("Bearer 0123456789abcde", false),
            ("Bearer", false),
            ("Basic 0123456789abcdef", false),
            ("0123456789abcdef", false),
        ] {
            assert_eq!(token.admits(header), admitted, "{header}");
        }
    }

    #[test]
    fn hosts_and_origins_are_what_they_say() {
        assert_eq!(rules().hosts, ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"]);
        for (host, good) in [
            ("phone.example", true),
            ("phone.example:8080", true),
            ("[::1]:80", true),
            ("", false),
            ("a b", false),
            ("user@phone.example", false),
            ("*.example", false),
            ("http://phone.example", false),
        ] {
            assert_eq!(rules().allow_host(host).is_ok(), good, "{host}");
        }
        for (origin, kept) in [
            ("https://app.example", Some("https://app.example:443")),
            ("http://app.example", Some("http://app.example:80")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://localhost:*", None),
            ("null", None),
            ("app.example", None),
            ("https://app.example/", None),
            ("https://app.example/page", None),
            ("ftp://app.example", None),
            ("https://user@app.example", None),
        ] {
            let found = rules().allow_origin(origin).ok().map(|rules| rules.origins);
            assert_eq!(found, kept.map(|kept| vec![kept.to_owned()]), "{origin}");
        }
    }

    #[test]
    fn an_address_that_others_reach_takes_a_token() {
        let token = Token::new("0123456789abcdef").expect("a token");
        for (address, open, closed) in [
            ("127.0.0.1:1", true, true),
            ("[::1]:1", true, true),
            ("0.0.0.0:1", false, true),
            ("[::]:1", false, true),
            ("192.0.2.1:1", false, true),
        ] {
            let address: SocketAddr = address.parse().expect("an address");
            assert_eq!(rules().for_address(address).is_ok(), open, "{address}");
            assert_eq!(rules().with_token(token.clone()).for_address(address).is_ok(), closed, "{address}");
        }
    }
}
