//! Who is told what about who asks.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use loopwright_registry::{
    RegistryError,
    attack::{Answer, Request, Server},
    credentials::{Credentials, Login},
    place::{self, HttpLimits, Place, PlaceError, Plain},
    reference::{Address, Repository, Server as At},
};

/// Base64 of `alice:open sesame`.
const LOGIN: &str = "YWxpY2U6b3BlbiBzZXNhbWU=";

/// A server that keeps what it was asked.
struct Heard {
    server: Server,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Heard {
    fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let script = move |request: &Request| {
            kept.lock().unwrap().push(request.clone());
            answer(request)
        };
        Self { server: Server::start(Arc::new(script)).unwrap(), requests }
    }

    fn at(&self) -> At {
        at(&self.server.address())
    }

    /// Path and header of every request.
    fn heard(&self) -> Vec<(String, Option<String>)> {
        self.requests.lock().unwrap().iter().map(|one| (one.path.clone(), one.authorization.clone())).collect()
    }
}

fn at(address: &str) -> At {
    match address.parse() {
        Ok(Address::Server { server, .. }) => server,
        other => panic!("{other:?}"),
    }
}

fn login(server: &At) -> Login {
    let key = server.base().replace("http://", "");
    let file = format!(r#"{{"auths":{{"{key}":{{"auth":"{LOGIN}"}}}}}}"#);
    Credentials::parse(&file, "config.json").unwrap().login(server).unwrap()
}

fn open(server: &At, login: Login) -> Result<Box<dyn Place>, RegistryError> {
    let address = Address::Server { server: server.clone(), prefix: None };
    place::open_as(&address, HttpLimits::default(), Plain::Anywhere, login)
}

fn repository() -> Repository {
    "acme/notes".parse().unwrap()
}

fn wants(challenge: &str) -> Answer {
    Answer::of(401, "").with("WWW-Authenticate", challenge)
}

/// A registry that takes tokens from elsewhere, with a challenge that asks for more than there is to do.
fn registry(tokens: &str, takes: impl Fn(&str) -> bool + Send + Sync + 'static) -> Heard {
    let challenge = format!(r#"Bearer realm="{tokens}/token",service="r",scope="registry:catalog:*""#);
    Heard::start(move |request| match request.authorization.as_deref().and_then(|who| who.strip_prefix("Bearer ")) {
        Some(token) if takes(token) => match request.method.as_str() {
            "GET" => Answer::of(200, "{\"tags\":[]}"),
            "POST" => Answer::of(202, "").with("Location", "/v2/acme/notes/blobs/uploads/1"),
            "PUT" => Answer::of(201, ""),
            _ => Answer::of(404, ""),
        },
        _ => wants(&challenge),
    })
}

/// A token service that numbers its tokens.
fn tokens() -> Heard {
    let given = AtomicUsize::new(0);
    Heard::start(move |_| {
        let number = given.fetch_add(1, Ordering::SeqCst) + 1;
        Answer::of(200, format!("{{\"access_token\":\"t{number}\"}}"))
    })
}

#[test]
fn the_token_server_that_the_operator_names_hears_the_password_and_the_registry_never() {
    let tokens = tokens();
    let registry = registry(&tokens.at().base(), |_| true);
    let place = open(&registry.at(), login(&registry.at()).with_token_server(tokens.at())).unwrap();
    place.tags(&repository()).unwrap();
    place.put_blob(&repository(), b"blob").unwrap();
    place.tags(&repository()).unwrap();

    let asked = |rights: &str| {
        let path = format!("/token?service=r&scope=repository%3Aacme%2Fnotes%3A{rights}");
        (path, Some(format!("Basic {LOGIN}")))
    };
    // What the request needs and no more, and no token for what another one serves.
    assert_eq!(tokens.heard(), [asked("pull"), asked("pull%2Cpush")]);
    let said: Vec<Option<String>> = registry.heard().into_iter().map(|(_, who)| who).collect();
    let token = |number: &str| Some(format!("Bearer {number}"));
    assert_eq!(
        said,
        // The list, twice; HEAD, POST twice, because it takes another token, PUT; the list.
        [None, token("t1"), token("t1"), None, token("t2"), token("t2"), token("t2")]
    );
}

#[test]
fn the_token_server_that_a_registry_names_hears_nothing() {
    let tokens = tokens();
    let registry = registry(&tokens.at().base(), |_| true);
    for login in [login(&registry.at()), Login::default()] {
        let error = open(&registry.at(), login).unwrap().tags(&repository()).unwrap_err();
        assert!(matches!(error, RegistryError::Place(PlaceError::TokensElsewhere { .. })), "{error}");
        assert!(error.to_string().contains("--token-server"), "{error}");
    }
    assert!(tokens.heard().is_empty());
}

#[test]
fn a_token_that_no_longer_counts_is_replaced_once() {
    let tokens = tokens();
    let newest = Arc::new(AtomicUsize::new(1));
    let counts = Arc::clone(&newest);
    let registry = registry(&tokens.at().base(), move |token| token == format!("t{}", counts.load(Ordering::SeqCst)));
    let place = open(&registry.at(), login(&registry.at()).with_token_server(tokens.at())).unwrap();
    place.tags(&repository()).unwrap();
    newest.store(2, Ordering::SeqCst);
    place.tags(&repository()).unwrap();
    newest.store(9, Ordering::SeqCst);
    let error = place.tags(&repository()).unwrap_err();
    assert!(matches!(error, RegistryError::Place(PlaceError::Denied { .. })), "{error}");
    assert_eq!(tokens.heard().len(), 3);
}

#[test]
fn nobody_in_particular_gets_a_token_too() {
    let host = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&host);
    let registry = Heard::start(move |request| match request.authorization.as_deref() {
        _ if request.path.starts_with("/token") => Answer::of(200, "{\"token\":\"t\"}"),
        Some("Bearer t") => Answer::of(200, "{\"tags\":[\"1.0.0\"]}"),
        _ => wants(&format!(r#"Bearer realm="http://{}/token""#, own.lock().unwrap())),
    });
    *host.lock().unwrap() = registry.server.address();
    let place = open(&registry.at(), Login::default()).unwrap();
    assert_eq!(place.tags(&repository()).unwrap().len(), 1);
    let to_tokens = registry.heard().into_iter().find(|(path, _)| path.starts_with("/token")).unwrap();
    assert_eq!(to_tokens, ("/token?scope=repository%3Aacme%2Fnotes%3Apull".to_owned(), None));
}

#[test]
fn a_password_is_said_only_to_whoever_asks_for_it() {
    let public = Heard::start(|_| Answer::of(200, "{\"tags\":[]}"));
    open(&public.at(), login(&public.at())).unwrap().tags(&repository()).unwrap();
    let private = Heard::start(|request| match request.authorization {
        None => wants("Basic realm=\"r\""),
        Some(_) => Answer::of(200, "{\"tags\":[]}"),
    });
    let place = open(&private.at(), login(&private.at())).unwrap();
    place.tags(&repository()).unwrap();
    place.tags(&repository()).unwrap();
    let said = |heard: &Heard| heard.heard().into_iter().map(|(_, who)| who).collect::<Vec<_>>();
    let basic = Some(format!("Basic {LOGIN}"));
    assert_eq!(said(&public), [None]);
    assert_eq!(said(&private), [None, basic.clone(), basic]);
}

/// The address of no machine in particular is this one, and not one of its loopback: what is said to it could be heard.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_said_in_plain_text_but_within_this_machine() {
    for challenge in ["Basic realm=\"r\"", "Bearer realm=\"https://tokens.invalid/\""] {
        let registry = Heard::start(move |_| wants(challenge));
        let elsewhere = at(&format!("http://{}", registry.server.address().replace("127.0.0.1", "0.0.0.0")));
        assert!(!elsewhere.is_loopback());
        let error = open(&elsewhere, login(&elsewhere)).unwrap().tags(&repository()).unwrap_err();
        assert!(error.to_string().contains("never sent in plain text"), "{error}");
        assert_eq!(registry.heard().into_iter().map(|(_, who)| who).collect::<Vec<_>>(), [None]);
    }
    let registry = at("https://registry.invalid");
    let tokens = Login::default().with_token_server(at("http://tokens.invalid"));
    assert!(matches!(open(&registry, tokens), Err(RegistryError::Place(PlaceError::PlainTokens { .. }))));
}

#[test]
fn a_server_that_lets_nobody_in_says_whose_credentials_are_missing() {
    let registry = Heard::start(|_| wants("Basic realm=\"r\""));
    let others = Credentials::parse(r#"{"auths":{"registry.example":{"auth":"YTpi"}}}"#, "config.json").unwrap();
    for (login, part) in [
        (Login::default(), "none were given"),
        (others.login(&registry.at()).unwrap(), "`config.json` has none for 127.0.0.1"),
        (login(&registry.at()), "not accepted"),
    ] {
        let error = open(&registry.at(), login).unwrap().tags(&repository()).unwrap_err().to_string();
        assert!(error.contains("wants credentials") && error.contains(part), "{part}: {error}");
        assert!(!error.contains(LOGIN) && !error.contains("sesame"), "{error}");
    }
    assert!(registry.heard().iter().all(|(_, who)| who.as_deref().is_none_or(|who| who.ends_with(LOGIN))));
}
