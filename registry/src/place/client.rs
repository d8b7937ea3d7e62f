//! One request and one answer, within limits. No redirect is followed, no proxy of the environment is asked, and a body is read only as far
//! as it is allowed to go.

use std::time::Duration;

use reqwest::{
    Method, Url,
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
    redirect::Policy,
};
use tokio::runtime::Runtime;

use super::{PlaceError, Sink};
use crate::{RegistryError, reference::Server};

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
#[derive(Debug, Clone, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// Bytes of a media type.
    Bytes(&'static str, Vec<u8>),
}

/// A question.
pub(super) struct Question {
    pub(super) what: &'static str,
    pub(super) method: Method,
    pub(super) url: Url,
    /// Media types that are understood.
    pub(super) accept: &'static [&'static str],
    pub(super) body: Body,
    /// From the question to the last byte of the answer.
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

/// A client of one server.
pub(super) struct Client {
    client: reqwest::Client,
    runtime: Runtime,
    base: Url,
    address: String,
}

impl Client {
    pub(super) fn new(server: &Server, limits: HttpLimits, plain: Plain) -> Result<Self, PlaceError> {
        if !server.secure && !server.is_loopback() && plain == Plain::Loopback {
            return Err(PlaceError::PlainText { address: server.base() });
        }
        let set_up = |reason: String| PlaceError::SetUp { reason };
        // Whoever installed a provider before keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(limits.connect)
            .user_agent(concat!("loopwright/", env!("CARGO_PKG_VERSION")));
        if !server.secure {
            // A machine without certificates can still ask a local server.
            builder = builder.tls_certs_only(Vec::new());
        }
        let client = builder.build().map_err(|error| set_up(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| set_up(error.to_string()))?;
        let base = Url::parse(&server.base()).map_err(|error| set_up(error.to_string()))?;
        Ok(Self { client, runtime, base, address: server.to_string() })
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

    /// Asks, and hands the answer's body to the sink when the status is one of success.
    pub(super) fn ask(&self, question: Question, limit: u64, sink: Sink<'_>) -> Result<Answer, RegistryError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            let reason = "called from an asynchronous task; call it from a thread of its own".to_owned();
            return Err(PlaceError::SetUp { reason }.into());
        }
        let (what, within) = (question.what, question.within);
        let asked = async { tokio::time::timeout(within, self.exchange(question, limit, sink)).await };
        let late = || PlaceError::TimedOut { what, address: self.address(), limit_ms: within.as_millis() };
        self.runtime.block_on(asked).unwrap_or_else(|_| Err(late().into()))
    }

    async fn exchange(&self, question: Question, limit: u64, sink: Sink<'_>) -> Result<Answer, RegistryError> {
        let what = question.what;
        let broken = |error: reqwest::Error| PlaceError::Unreachable {
            what,
            address: self.address(),
            reason: loopwright_contract::fault::chain(&error.without_url()),
        };
        let mut request = self.client.request(question.method.clone(), question.url);
        for media_type in question.accept {
            request = request.header(ACCEPT, HeaderValue::from_static(media_type));
        }
        request = match question.body {
            Body::Bytes(media_type, bytes) => request.header(CONTENT_TYPE, media_type).body(bytes),
            Body::None if question.method == Method::POST => request.header(CONTENT_LENGTH, 0),
            Body::None => request,
        };
        let mut response = request.send().await.map_err(broken)?;
        let answer = Answer { status: response.status().as_u16(), headers: response.headers().clone() };
        if (300..400).contains(&answer.status) {
            let to = shown(answer.location().unwrap_or("somewhere unnamed"));
            return Err(PlaceError::Redirect { what, address: self.address(), to }.into());
        }
        // What a refusal says is not read: it is the server's, and it has no limit of its own.
        if !(200..300).contains(&answer.status) || question.method == Method::HEAD {
            return Ok(answer);
        }
        let mut left = limit;
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            left = left.checked_sub(chunk.len() as u64).ok_or(PlaceError::TooLarge {
                what,
                address: self.address(),
                limit,
            })?;
            sink(&chunk)?;
        }
        Ok(answer)
    }
}

/// A server's text as a message may show it.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(120).collect()
}
