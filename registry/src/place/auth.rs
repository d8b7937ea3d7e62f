//! How a registry asks who is there, and what is answered: a challenge read, a scope written, a token read. It sends nothing itself, and does not
//! know who is there.
//!
//! Why not `oci-client`: it sends name and password to whatever address the challenge names, follows redirects on the way, reads the answer whole
//! whatever its size, and asks for the rights that the caller names for the whole session. A challenge is a registry's word, so here it chooses
//! neither whom credentials go to nor what is asked for.

use std::fmt;

use reqwest::header::HeaderValue;
use serde_json::Value;

use crate::{oci, reference::Repository, refusal::Refusal};

/// Most bytes of all challenges of one answer together.
pub(super) const CHALLENGE_BYTES_LIMIT: usize = 4 * 1024;
/// Most bytes of a token service's answer.
pub(super) const TOKEN_ANSWER_BYTES_LIMIT: u64 = 64 * 1024;
/// Most bytes of a token.
const TOKEN_BYTES_LIMIT: usize = 16 * 1024;
const WHAT: &str = "challenge";

/// What a request needs to be allowed. The challenge names a scope too, which is not looked at: a token that can do more than the request would
/// be in the hands of whoever asked for more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) repository: Repository,
    /// Also to write.
    pub(super) push: bool,
}

impl Scope {
    /// Whether a token for this one serves another one too.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.repository == other.repository && (self.push || !other.push)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "repository:{}:{}", self.repository, if self.push { "pull,push" } else { "pull" })
    }
}

/// How a server wants to be told who is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// By name and password.
    Basic,
    /// By a token, which is to be had elsewhere.
    Bearer {
        /// Where, as the server says.
        realm: String,
        /// For whom.
        service: Option<String>,
    },
}

impl Challenge {
    /// Reads the challenges of an answer, and takes the one that shows a password to fewer: a token first.
    pub(super) fn read<'a>(headers: impl Iterator<Item = &'a HeaderValue>) -> Result<Self, Refusal> {
        let mut offers = Vec::new();
        let mut bytes = 0;
        for header in headers {
            bytes += header.len();
            if bytes > CHALLENGE_BYTES_LIMIT {
                return Err(Refusal::TooLarge { what: WHAT, limit: CHALLENGE_BYTES_LIMIT as u64, found: bytes as u64 });
            }
            let text = header.to_str().map_err(|_| wrong("it has other characters than those of a header"))?;
            offers.extend(Offer::read_all(text)?);
        }
        let named = |name: &str| offers.iter().find(|offer| offer.scheme.eq_ignore_ascii_case(name));
        if let Some(bearer) = named("bearer") {
            let realm = bearer.parameter("realm").ok_or_else(|| wrong("`Bearer` without `realm`"))?;
            return Ok(Self::Bearer { realm, service: bearer.parameter("service") });
        }
        named("basic").map(|_| Self::Basic).ok_or_else(|| wrong("expected `Basic` or `Bearer`"))
    }
}

fn wrong(reason: &str) -> Refusal {
    Refusal::Document { what: WHAT, reason: reason.to_owned() }
}

/// One scheme with its parameters.
struct Offer {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Offer {
    fn parameter(&self, name: &str) -> Option<String> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// RFC 9110, section 11.6.1, without the form that is a single blob (`Negotiate YWJj==`), which nobody here can answer.
    fn read_all(text: &str) -> Result<Vec<Self>, Refusal> {
        let mut offers: Vec<Self> = Vec::new();
        let mut rest = text.trim_start_matches([' ', '\t', ',']);
        while !rest.is_empty() {
            let (word, after) = token(rest)?;
            let after = after.trim_start_matches([' ', '\t']);
            match (after.strip_prefix('='), offers.last_mut()) {
                (Some(value), Some(offer)) => {
                    let name = word.to_ascii_lowercase();
                    if offer.parameter(&name).is_some() {
                        return Err(wrong("a parameter stands there twice"));
                    }
                    let (value, after) = quoted_or_token(value.trim_start_matches([' ', '\t']))?;
                    offer.parameters.push((name, value));
                    let after = after.trim_start_matches([' ', '\t']);
                    if !after.is_empty() && !after.starts_with(',') {
                        return Err(wrong("expected `,` after a parameter"));
                    }
                    rest = after;
                }
                (Some(_), None) => return Err(wrong("a parameter without a scheme")),
                (None, _) => {
                    offers.push(Self { scheme: word.to_owned(), parameters: Vec::new() });
                    rest = after;
                }
            }
            rest = rest.trim_start_matches([' ', '\t', ',']);
        }
        Ok(offers)
    }
}

/// A word, and what follows it.
fn token(text: &str) -> Result<(&str, &str), Refusal> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let end = text.find(|c| !is_of_word(c)).unwrap_or(text.len());
    if end == 0 {
        return Err(wrong("expected a word"));
    }
    text.split_at_checked(end).ok_or_else(|| wrong("expected a word"))
}

fn quoted_or_token(text: &str) -> Result<(String, &str), Refusal> {
    let Some(quoted) = text.strip_prefix('"') else {
        return token(text).map(|(word, after)| (word.to_owned(), after));
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next() {
            Some('"') => return Ok((value, characters.as_str())),
            Some('\\') => value.push(characters.next().ok_or_else(|| wrong("`\\` at the end"))?),
            Some(character) => value.push(character),
            None => return Err(wrong("a text without its closing quote")),
        }
    }
}

/// The token of a token service's answer, as a header. No message shows what the answer was.
pub(super) fn read_token(bytes: &[u8]) -> Result<HeaderValue, Refusal> {
    let document = |reason: &str| Refusal::Document { what: "token", reason: reason.to_owned() };
    let answer: Value = oci::read("token", bytes, TOKEN_ANSWER_BYTES_LIMIT)
        .map_err(|_| document("expected a JSON object without a key twice"))?;
    // Older services say `token`, OAuth says `access_token`; who says both says the same.
    let token = answer.get("token").or_else(|| answer.get("access_token")).and_then(Value::as_str);
    let token = token.ok_or_else(|| document("expected `token` or `access_token`"))?;
    if token.len() > TOKEN_BYTES_LIMIT {
        return Err(Refusal::TooLarge { what: "token", limit: TOKEN_BYTES_LIMIT as u64, found: token.len() as u64 });
    }
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(document("expected visible ASCII characters without spaces"));
    }
    header("Bearer", token)
}

/// A header that says who is there, and is not shown by the libraries below.
pub(super) fn header(scheme: &str, secret: &str) -> Result<HeaderValue, Refusal> {
    let mut value = HeaderValue::try_from(format!("{scheme} {secret}"))
        .map_err(|_| Refusal::Document { what: "credentials", reason: "no header can carry them".to_owned() })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[&str]) -> Result<Challenge, Refusal> {
        let headers: Vec<HeaderValue> = headers.iter().map(|text| HeaderValue::try_from(*text).unwrap()).collect();
        Challenge::read(headers.iter())
    }

    fn bearer(realm: &str, service: Option<&str>) -> Result<Challenge, Refusal> {
        Ok(Challenge::Bearer { realm: realm.to_owned(), service: service.map(str::to_owned) })
    }

    #[test]
    fn a_token_is_taken_before_a_password() {
        assert_eq!(read(&["Basic realm=\"x\""]), Ok(Challenge::Basic));
        assert_eq!(read(&["basic"]), Ok(Challenge::Basic));
        let both = "Basic realm=\"a, b\", charset=\"UTF-8\", Bearer realm=\"https://t.example/token\",service=\"s\"";
        assert_eq!(read(&[both]), bearer("https://t.example/token", Some("s")));
        assert_eq!(read(&["Basic realm=x", "bearer REALM = r , scope=\"repository:a:pull,push\""]), bearer("r", None));
        assert_eq!(read(&["Digest nonce=\"\", Bearer realm=\"a\\\"b\""]), bearer("a\"b", None));
    }

    #[test]
    fn what_is_no_challenge_is_refused() {
        for headers in [
            &[][..],
            &[""],
            &["Digest realm=\"x\""],
            &["Bearer"],
            &["Bearer service=\"x\""],
            &["Bearer realm=\"x"],
            &["Bearer realm=\"x\\"],
            &["Bearer realm="],
            &["Bearer realm=\"a\" realm=\"b\""],
            &["Bearer realm=\"a\",realm=\"b\""],
            &["Bearer realm=\"a\",Realm=\"b\""],
            &["realm=\"a\""],
            &["Bearer realm=\"a\"; service=\"b\""],
            &["Negotiate YWJj=="],
            &["\"Bearer\" realm=\"a\""],
        ] {
            assert!(matches!(read(headers), Err(Refusal::Document { .. })), "{headers:?}: {:?}", read(headers));
        }
        let other = HeaderValue::from_bytes(b"Bearer realm=\"\xff\"").unwrap();
        assert!(Challenge::read([&other].into_iter()).is_err());
    }

    #[test]
    fn a_token_that_is_none_is_refused_and_not_shown() {
        for (answer, is_one) in [
            ("{\"token\":\"abc\",\"expires_in\":300}", true),
            ("{\"access_token\":\"abc\"}", true),
            ("{}", false),
            ("\"hush\"", false),
            ("{\"token\":[\"hush\"]}", false),
            ("{\"token\":\"\"}", false),
            ("{\"token\":\"hush hush\"}", false),
            ("{\"token\":\"hush\\r\\nX-Evil: 1\"}", false),
            ("{\"token\":\"a\",\"token\":\"hush\"}", false),
            ("hush", false),
        ] {
            match read_token(answer.as_bytes()) {
                Ok(header) => assert!(is_one && header.is_sensitive() && header == "Bearer abc", "{answer}"),
                Err(error) => assert!(!is_one && !error.to_string().contains("hush"), "{answer}: {error}"),
            }
        }
    }

    #[test]
    fn each_limit_is_held() {
        let padded = |bytes: usize| format!("Basic realm=\"{}\"", "x".repeat(bytes - 14));
        assert_eq!(read(&[&padded(CHALLENGE_BYTES_LIMIT)]), Ok(Challenge::Basic));
        assert!(matches!(read(&[&padded(CHALLENGE_BYTES_LIMIT + 1)]), Err(Refusal::TooLarge { .. })));
        let half = padded(CHALLENGE_BYTES_LIMIT / 2 + 1);
        assert!(matches!(read(&[&half, &half]), Err(Refusal::TooLarge { .. })));
        let token = |bytes: usize| read_token(format!("{{\"token\":\"{}\"}}", "t".repeat(bytes)).as_bytes());
        assert!(token(TOKEN_BYTES_LIMIT).is_ok());
        assert!(matches!(token(TOKEN_BYTES_LIMIT + 1), Err(Refusal::TooLarge { .. })));
    }

    #[test]
    fn a_token_to_push_also_pulls_and_no_other_repository() {
        let scope = |repository: &str, push| Scope { repository: repository.parse().unwrap(), push };
        assert_eq!(scope("acme/notes", true).to_string(), "repository:acme/notes:pull,push");
        assert_eq!(scope("acme/notes", false).to_string(), "repository:acme/notes:pull");
        assert!(scope("a", true).covers(&scope("a", false)) && scope("a", false).covers(&scope("a", false)));
        assert!(!scope("a", false).covers(&scope("a", true)) && !scope("b", true).covers(&scope("a", false)));
    }
}
