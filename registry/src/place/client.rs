//! One request and one answer, within limits. No redirect is followed, no proxy of the environment is asked, and a body is read only as far
//! as it is allowed to go. Credentials go to the named server alone, and to the token server that the operator names; over TLS, or within this
//! machine.

use std::{sync::Mutex, time::Duration};

use reqwest::{
    Method, Response, Url,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
        WWW_AUTHENTICATE,
    },
    redirect::Policy,
};
use tokio::runtime::Runtime;

use super::{
    PlaceError, Sink,
    auth::{self, Challenge, Scope, TOKEN_ANSWER_BYTES_LIMIT},
};
use crate::{RegistryError, credentials::Login, reference::Server};

/// Most tokens that are kept for later requests; the oldest goes.
const TOKENS_LIMIT: usize = 64;

/// How long a server may take.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// To be reached.
    pub connect: Duration,
    /// For a document, from the question to the last byte of the answer.
    pub document: Duration,
    /// For a blob, up or down, from the question to the last byte of the answer.
    pub blob: Duration,
}

impl Default for HttpLimits {
    /// Ten seconds to connect, thirty for a document, five minutes for a component of 64 MiB.
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), document: Duration::from_secs(30), blob: Duration::from_secs(300) }
    }
}

/// Whom plain HTTP is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Plain {
    /// Servers on this machine.
    #[default]
    Loopback,
    /// Any, because the operator says so.
    Anywhere,
}

/// What is sent along.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Body<'a> {
    /// Nothing.
    #[default]
    None,
    /// Bytes of a media type.
    Bytes(&'static str, &'a [u8]),
}

/// A question.
pub(super) struct Question<'a> {
    pub(super) what: &'static str,
    pub(super) method: Method,
    pub(super) url: Url,
    /// Media types that are understood.
    pub(super) accept: &'static [&'static str],
    pub(super) body: Body<'a>,
    /// What it takes to be allowed.
    pub(super) scope: Scope,
    /// From the question to the last byte of the answer, with all that is asked in between.
    pub(super) within: Duration,
}

/// The head of an answer.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(HeaderName::try_from(name).ok()?)?.to_str().ok()
    }

    /// Where an upload goes on.
    pub(super) fn location(&self) -> Option<&str> {
        self.headers.get(LOCATION)?.to_str().ok()
    }
}

/// What a server wanted to be told before; the next request says it at once.
#[derive(Default)]
struct Session {
    basic: Option<HeaderValue>,
    tokens: Vec<(Scope, HeaderValue)>,
}

impl Session {
    fn authorization(&self, scope: &Scope) -> Option<HeaderValue> {
        let token = self.tokens.iter().rev().find(|(known, _)| known.covers(scope)).map(|(_, token)| token);
        token.or(self.basic.as_ref()).cloned()
    }

    fn keep(&mut self, scope: &Scope, token: HeaderValue) {
        self.tokens.retain(|(known, _)| known != scope);
        if self.tokens.len() >= TOKENS_LIMIT {
            self.tokens.remove(0);
        }
        self.tokens.push((scope.clone(), token));
    }
}

/// What is asked of a token service.
const TOKEN: &str = "token";

/// A client of one server.
pub(super) struct Client {
    client: reqwest::Client,
    runtime: Runtime,
    base: Url,
    address: String,
    limits: HttpLimits,
    login: Login,
    /// Whether a password would stay unread on the way.
    is_private: bool,
    session: Mutex<Session>,
}

fn is_private(server: &Server) -> bool {
    server.secure || server.is_loopback()
}

impl Client {
    pub(super) fn new(server: &Server, limits: HttpLimits, plain: Plain, login: Login) -> Result<Self, PlaceError> {
        if !is_private(server) && plain == Plain::Loopback {
            return Err(PlaceError::PlainText { address: server.base() });
        }
        if let Some(tokens) = login.token_server.as_ref().filter(|tokens| !is_private(tokens)) {
            return Err(PlaceError::PlainTokens { address: tokens.base() });
        }
        let set_up = |reason: String| PlaceError::SetUp { reason };
        // Whoever installed a provider before keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(limits.connect)
            .user_agent(concat!("loopwright/", env!("CARGO_PKG_VERSION")));
        if !server.secure && !login.token_server.as_ref().is_some_and(|tokens| tokens.secure) {
            // A machine without certificates can still ask a local server.
            builder = builder.tls_certs_only(Vec::new());
        }
        let client = builder.build().map_err(|error| set_up(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| set_up(error.to_string()))?;
        let base = Url::parse(&server.base()).map_err(|error| set_up(error.to_string()))?;
        let session = Mutex::default();
        let is_private = is_private(server);
        Ok(Self { client, runtime, base, address: server.to_string(), limits, login, is_private, session })
    }

    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    /// An address on this server.
    pub(super) fn url(&self, path: &str) -> Result<Url, PlaceError> {
        self.base.join(path).map_err(|error| PlaceError::SetUp { reason: format!("`{path}`: {error}") })
    }

    /// An address that the server named; refused when it is on another one.
    pub(super) fn own(&self, what: &'static str, location: &str) -> Result<Url, PlaceError> {
        let elsewhere = |to: String| PlaceError::Redirect { what, address: self.address(), to };
        let url = self.base.join(location).map_err(|_| elsewhere(shown(location)))?;
        if url.origin() != self.base.origin() || !url.username().is_empty() || url.password().is_some() {
            return Err(elsewhere(shown(location)));
        }
        Ok(url)
    }

    /// Asks, and hands the answer's body to the sink when the status is one of success. A server that wants to know who asks is told once.
    pub(super) fn ask(&self, question: &Question<'_>, limit: u64, sink: Sink<'_>) -> Result<Answer, RegistryError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            let reason = "called from an asynchronous task; call it from a thread of its own".to_owned();
            return Err(PlaceError::SetUp { reason }.into());
        }
        let (what, within) = (question.what, question.within);
        let asked = async { tokio::time::timeout(within, self.exchange(question, limit, sink)).await };
        self.runtime.block_on(asked).unwrap_or_else(|_| Err(self.late(what, within).into()))
    }

    fn late(&self, what: &'static str, within: Duration) -> PlaceError {
        PlaceError::TimedOut { what, address: self.address(), limit_ms: within.as_millis() }
    }

    fn broken(&self, what: &'static str, error: reqwest::Error) -> PlaceError {
        let reason = loopwright_contract::fault::chain(&error.without_url());
        PlaceError::Unreachable { what, address: self.address(), reason }
    }

    fn denied(&self, what: &'static str, reason: impl Into<String>) -> PlaceError {
        PlaceError::Denied { what, address: self.address(), reason: reason.into() }
    }

    async fn exchange(&self, question: &Question<'_>, limit: u64, sink: Sink<'_>) -> Result<Answer, RegistryError> {
        let what = question.what;
        let known = self.session().authorization(&question.scope);
        let mut response = self.send(question, known.as_ref()).await?;
        if response.status().as_u16() == 401 {
            let who = self.answer(question, response.headers()).await?;
            // Saying the same once more changes nothing.
            if known.as_ref() == Some(&who) {
                return Err(self.refused(what).into());
            }
            response = self.send(question, Some(&who)).await?;
            if response.status().as_u16() == 401 {
                return Err(self.refused(what).into());
            }
        }
        let answer = Answer { status: response.status().as_u16(), headers: response.headers().clone() };
        if (300..400).contains(&answer.status) {
            let to = shown(answer.location().unwrap_or("somewhere unnamed"));
            return Err(PlaceError::Redirect { what, address: self.address(), to }.into());
        }
        // What a refusal says is not read: it is the server's, and it has no limit of its own.
        if (200..300).contains(&answer.status) && question.method != Method::HEAD {
            self.body(what, response, limit, sink).await?;
        }
        Ok(answer)
    }

    async fn send(&self, question: &Question<'_>, who: Option<&HeaderValue>) -> Result<Response, RegistryError> {
        let mut request = self.client.request(question.method.clone(), question.url.clone());
        for media_type in question.accept {
            request = request.header(ACCEPT, HeaderValue::from_static(media_type));
        }
        if let Some(who) = who {
            request = request.header(AUTHORIZATION, who);
        }
        request = match question.body {
            Body::Bytes(media_type, bytes) => request.header(CONTENT_TYPE, media_type).body(bytes.to_vec()),
            Body::None if question.method == Method::POST => request.header(CONTENT_LENGTH, 0),
            Body::None => request,
        };
        Ok(request.send().await.map_err(|error| self.broken(question.what, error))?)
    }

    async fn body(
        &self,
        what: &'static str,
        mut response: Response,
        limit: u64,
        sink: Sink<'_>,
    ) -> Result<(), RegistryError> {
        let mut left = limit;
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(what, error))? {
            let too_large = || PlaceError::TooLarge { what, address: self.address(), limit };
            left = left.checked_sub(chunk.len() as u64).ok_or_else(too_large)?;
            sink(&chunk)?;
        }
        Ok(())
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        // Whoever panicked while holding it left a list of headers that are each whole.
        self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn refused(&self, what: &'static str) -> PlaceError {
        match &self.login.known {
            Ok(_) => self.denied(what, "those that were given are not accepted"),
            Err(why) => self.denied(what, why),
        }
    }

    /// What answers a challenge.
    async fn answer(&self, question: &Question<'_>, headers: &HeaderMap) -> Result<HeaderValue, RegistryError> {
        let what = question.what;
        if !self.is_private {
            return Err(self.denied(what, "they are never sent in plain text; use https").into());
        }
        match Challenge::read(headers.get_all(WWW_AUTHENTICATE).iter())? {
            Challenge::Basic => {
                let secret = self.login.known.as_ref().map_err(|why| self.denied(what, why))?;
                let who = auth::header("Basic", secret.expose())?;
                self.session().basic = Some(who.clone());
                Ok(who)
            }
            Challenge::Bearer { realm, service } => {
                let url = self.token_url(&realm, service.as_deref(), &question.scope)?;
                let within = self.limits.document;
                let token = tokio::time::timeout(within, self.token(url)).await;
                let token = token.map_err(|_| self.late(TOKEN, within))??;
                self.session().keep(&question.scope, token.clone());
                Ok(token)
            }
        }
    }

    /// Where a token is asked for, when the server that the challenge names is one that credentials may go to.
    fn token_url(&self, realm: &str, service: Option<&str>, scope: &Scope) -> Result<Url, PlaceError> {
        let elsewhere = || PlaceError::TokensElsewhere { address: self.address(), to: shown(realm) };
        let mut url = Url::parse(realm).map_err(|_| elsewhere())?;
        let tokens = self.login.token_server.as_ref().and_then(|server| Url::parse(&server.base()).ok());
        let is_known = url.origin() == self.base.origin() || tokens.is_some_and(|base| url.origin() == base.origin());
        let is_bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        if !is_known || !is_bare || url.fragment().is_some() {
            return Err(elsewhere());
        }
        url.query_pairs_mut().extend_pairs(service.map(|service| ("service", service)));
        url.query_pairs_mut().append_pair("scope", &scope.to_string());
        Ok(url)
    }

    /// A token, by name and password where they are known, and as nobody otherwise.
    async fn token(&self, url: Url) -> Result<HeaderValue, RegistryError> {
        let mut request = self.client.get(url);
        if let Ok(secret) = &self.login.known {
            request = request.header(AUTHORIZATION, auth::header("Basic", secret.expose())?);
        }
        let response = request.send().await.map_err(|error| self.broken(TOKEN, error))?;
        match response.status().as_u16() {
            200 => {}
            401 | 403 => return Err(self.refused(TOKEN).into()),
            300..=399 => {
                let to =
                    response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("somewhere unnamed");
                return Err(PlaceError::Redirect { what: TOKEN, address: self.address(), to: shown(to) }.into());
            }
            status => return Err(PlaceError::Status { what: TOKEN, address: self.address(), status, hint: "" }.into()),
        }
        let mut bytes = Vec::new();
        let mut sink = |chunk: &[u8]| {
            bytes.extend_from_slice(chunk);
            Ok(())
        };
        self.body(TOKEN, response, TOKEN_ANSWER_BYTES_LIMIT, &mut sink).await?;
        Ok(auth::read_token(&bytes)?)
    }
}

/// A server's text as a message may show it.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(120).collect()
}
