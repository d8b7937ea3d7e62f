//! Attacks on credentials: what a registry can say to get a password or a token that is not for it, or to keep its client busy.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    Meets,
    cases::{Case, Outcome, case, is_tag, stage_error},
    server::{Answer, Payload, Request, Server},
    stage::{LOGIN, Stage},
};
use crate::{RegistryError, name::Release, publish};

/// The token that an honest token service gives.
const TOKEN: &str = "open-sesame-for-a-while";

/// Every attack on credentials.
pub(super) const LOGINS: &[Case] = &[
    case("a token service on another host", Meets::Redirect, |stage| {
        challenged(stage, |_| "Bearer realm=\"https://tokens.invalid/token\"".to_owned(), honest_tokens)
    }),
    case("a token service on another port of this host", Meets::Redirect, |stage| {
        robbed(stage, |thief| format!("Bearer realm=\"http://{thief}/token\",service=\"registry\""))
    }),
    case("a token service without TLS elsewhere", Meets::Redirect, |stage| {
        challenged(stage, |_| "Bearer realm=\"http://203.0.113.1/token\"".to_owned(), honest_tokens)
    }),
    case("a token service that looks like the registry", Meets::Redirect, |stage| {
        robbed(stage, |thief| format!("Bearer realm=\"http://127.0.0.1@{thief}/token\""))
    }),
    case("a token service by another scheme", Meets::Redirect, |stage| {
        challenged(stage, |_| "Bearer realm=\"file:///etc/passwd\"".to_owned(), honest_tokens)
    }),
    case("a challenge with a question of its own", Meets::Redirect, |stage| {
        let own = |host: &str| format!("Bearer realm=\"http://{host}/token?scope=registry:catalog:*\"");
        challenged(stage, own, honest_tokens)
    }),
    case("a challenge beyond the limit", Meets::TooLarge, |stage| {
        challenged(stage, |_| format!("Bearer realm=\"{}\"", "x".repeat(7_000)), honest_tokens)
    }),
    case("a challenge without an end", Meets::Document, |stage| {
        challenged(stage, |host| format!("Bearer realm=\"http://{host}/token"), honest_tokens)
    }),
    case("a challenge with two token services", Meets::Document, |stage| {
        let two = |host: &str| format!("Bearer realm=\"http://{host}/token\",realm=\"https://tokens.invalid/\"");
        challenged(stage, two, honest_tokens)
    }),
    case("a challenge that nobody can answer", Meets::Document, |stage| {
        challenged(stage, |_| "Negotiate".to_owned(), honest_tokens)
    }),
    case("a registry that is never content with a password", Meets::Denied, |stage| {
        challenged(stage, |_| "Basic realm=\"x\"".to_owned(), honest_tokens)
    }),
    case("a registry that is never content with a token", Meets::Denied, |stage| {
        challenged(stage, bearer, honest_tokens)
    }),
    case("a token service that wants to know more", Meets::Denied, |stage| {
        challenged(stage, bearer, |host| Answer::of(401, "").with("WWW-Authenticate", bearer(host)))
    }),
    case("a token service that redirects", Meets::Redirect, |stage| {
        challenged(stage, bearer, |_| Answer::of(307, "").with("Location", "https://tokens.invalid/token"))
    }),
    case("a token with a line break", Meets::Document, |stage| {
        challenged(stage, bearer, |_| Answer::of(200, "{\"token\":\"a\\r\\nX-Evil: 1\"}"))
    }),
    case("an endless token", Meets::PlaceTooLarge, |stage| {
        challenged(stage, bearer, |_| Answer { payload: Payload::Endless, ..Answer::of(200, "") })
    }),
    case("a token service that never answers", Meets::TimedOut, |stage| {
        challenged(stage, bearer, |_| Answer { payload: Payload::Silent, ..Answer::of(200, "") })
    }),
    case("a redirect of a blob, to get the password", Meets::Redirect, |stage| {
        stage.has_login = true;
        let (seen, thief) = thief()?;
        let to = format!("http://{}/x", thief.address());
        let outcome = stage.pull(move |request, answer| match request.authorization.as_deref() {
            None => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"x\""),
            Some(_) if request.path.contains("/blobs/") => Answer::of(307, "").with("Location", to.clone()),
            Some(_) => answer,
        });
        unless_robbed(&seen, outcome)
    }),
    case("an upload elsewhere, to get the password", Meets::Redirect, |stage| {
        stage.has_login = true;
        let (seen, thief) = thief()?;
        let to = format!("http://{}/upload", thief.address());
        let (_server, place) = stage.serve(move |request, answer| match request.method.as_str() {
            _ if request.authorization.is_none() => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"x\""),
            "POST" => Answer::of(202, "").with("Location", to.clone()),
            "HEAD" => Answer::of(404, ""),
            _ => answer,
        })?;
        let release = "acme:clock@1.0.0".parse::<Release>().map_err(|error| stage_error(&error))?;
        let pushed = publish::push(place.as_ref(), &release, &stage.component, stage.signer());
        unless_robbed(&seen, pushed.and_then(|_| stage.pull_locked()))
    }),
];

/// Pulls with a password, and with a token, from a registry that wants them and is honest.
pub(super) fn honest() -> Result<(), RegistryError> {
    let mut stage = Stage::published()?;
    stage.has_login = true;
    stage.pull(|request, answer| {
        match request.authorization.as_deref().and_then(|who| who.strip_prefix("Basic ")) {
            Some(LOGIN) => answer,
            _ => Answer::of(401, "").with("WWW-Authenticate", "Basic realm=\"x\""),
        }
    })?;
    // The store has the component by now; manifest and signatures are asked for again.
    with_host(&stage, |host, request, answer| match request.authorization.as_deref() {
        Some(who) if is_token(request) && who.strip_prefix("Basic ") == Some(LOGIN) => honest_tokens(host),
        Some(who) if !is_token(request) && who.strip_prefix("Bearer ") == Some(TOKEN) => answer,
        _ => Answer::of(401, "").with("WWW-Authenticate", bearer(host)),
    })
    .map(|_| ())
}

fn bearer(host: &str) -> String {
    format!("Bearer realm=\"http://{host}/token\",service=\"registry\"")
}

fn honest_tokens(_: &str) -> Answer {
    Answer::of(200, format!("{{\"token\":\"{TOKEN}\"}}"))
}

fn is_token(request: &Request) -> bool {
    request.path.starts_with("/token")
}

/// Pulls from a server that knows its own address.
fn with_host(stage: &Stage, twist: impl Fn(&str, &Request, Answer) -> Answer + Send + Sync + 'static) -> Outcome {
    let host = Arc::new(Mutex::new(String::new()));
    let known = Arc::clone(&host);
    let name = move || known.lock().map(|name| name.clone()).unwrap_or_default();
    let (server, place) = stage.serve(move |request, answer| twist(&name(), request, answer))?;
    if let Ok(mut host) = host.lock() {
        *host = server.address();
    }
    stage.pull_from(place.as_ref())
}

/// A registry that answers every question with a challenge, and a token service that answers as told. A client that asks for more than one token,
/// or more than twice for the tag, goes round in circles.
fn challenged(
    stage: &mut Stage,
    challenge: impl Fn(&str) -> String + Send + Sync + 'static,
    tokens: impl Fn(&str) -> Answer + Send + Sync + 'static,
) -> Outcome {
    stage.has_login = true;
    let asked = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let counted = Arc::clone(&asked);
    let outcome = with_host(stage, move |host, request, _| {
        if is_token(request) {
            counted.0.fetch_add(1, Ordering::SeqCst);
            return tokens(host);
        }
        if is_tag(request) {
            counted.1.fetch_add(1, Ordering::SeqCst);
        }
        Answer::of(401, "").with("WWW-Authenticate", challenge(host))
    });
    match (asked.0.load(Ordering::SeqCst), asked.1.load(Ordering::SeqCst)) {
        (0 | 1, 1 | 2) => outcome,
        (tokens, tags) => {
            Err(stage_error(&std::io::Error::other(format!("{tokens} tokens and {tags} tags were asked for"))))
        }
    }
}

/// Somebody who waits for passwords, and how many requests came.
fn thief() -> Result<(Arc<AtomicUsize>, Server), RegistryError> {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let thief = Server::start(Arc::new(move |_: &Request| {
        counted.fetch_add(1, Ordering::SeqCst);
        honest_tokens("")
    }));
    Ok((seen, thief.map_err(RegistryError::io("127.0.0.1"))?))
}

/// A challenge that names the thief.
fn robbed(stage: &mut Stage, challenge: fn(&str) -> String) -> Outcome {
    let (seen, thief) = thief()?;
    let named = challenge(&thief.address());
    let outcome = challenged(stage, move |_| named.clone(), honest_tokens);
    unless_robbed(&seen, outcome)
}

fn unless_robbed(seen: &AtomicUsize, outcome: Outcome) -> Outcome {
    match seen.load(Ordering::SeqCst) {
        0 => outcome,
        _ => Err(stage_error(&std::io::Error::other("somebody else was asked"))),
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::fault::chain;

    use super::*;
    use crate::attack::run;

    #[test]
    fn the_password_is_in_no_message() {
        for case in LOGINS {
            let mut stage = Stage::published().unwrap();
            let error = (case.run)(&mut stage).unwrap_err();
            let shown = format!("{} {error:?}", chain(&error));
            for secret in [LOGIN, "sesame", "alice"] {
                assert!(!shown.contains(secret), "{}: {shown}", case.attack);
            }
        }
    }

    #[test]
    fn a_robbery_is_seen() {
        let lame = Case {
            attack: "a client that asks the thief",
            expected: Meets::Redirect,
            run: |_| {
                let (seen, thief) = thief()?;
                let mut stream = std::net::TcpStream::connect(thief.address()).map_err(RegistryError::io("thief"))?;
                std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n")
                    .map_err(RegistryError::io("thief"))?;
                let mut answer = Vec::new();
                std::io::Read::read_to_end(&mut stream, &mut answer).map_err(RegistryError::io("thief"))?;
                unless_robbed(&seen, Err(crate::place::PlaceError::SetUp { reason: String::new() }.into()))
            },
        };
        let row = run(&lame).unwrap();
        assert!(!row.refused && row.message.contains("somebody else"), "{row:?}");
    }
}
