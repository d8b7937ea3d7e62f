//! One request and one response over the network.

use std::future::Future;
use std::pin::Pin;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::config::HttpConfig;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The header `Retry-After`.
    pub(crate) retry_after: Option<String>,
    /// The header `Date`.
    pub(crate) date: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendFault {
    /// Connecting, sending or reading failed.
    #[error("{0}")]
    Broken(String),
    /// The body is longer than allowed; trying again would not help.
    #[error("response longer than {limit} bytes")]
    TooLarge {
        /// Bytes allowed.
        limit: usize,
    },
}

/// Something that answers requests, so that retries are tested without a network.
pub(crate) trait Transport: Send + Sync + 'static {
    fn post(&self, body: String) -> Pin<Box<dyn Future<Output = Result<Reply, SendFault>> + Send + '_>>;
}

/// Why a planner could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum HttpSetupError {
    /// The address is none.
    #[error("`{url}` is not an address: expected something like `http://127.0.0.1:8000/v1`")]
    Address {
        /// What stood there.
        url: String,
    },
    /// The key cannot stand in a header.
    #[error("the API key holds characters that a header cannot carry")]
    Key,
    /// The client could not be built.
    #[error("setting up the HTTP client")]
    Client(#[source] reqwest::Error),
    /// The thread that asks the server could not be started.
    #[error("starting the thread that asks the server")]
    Thread(#[source] std::io::Error),
}

/// The real network.
pub(crate) struct Network {
    client: reqwest::Client,
    url: reqwest::Url,
    headers: HeaderMap,
    body_bytes_max: usize,
}

impl Network {
    pub(crate) fn new(config: &HttpConfig) -> Result<Self, HttpSetupError> {
        let address = || HttpSetupError::Address { url: config.base_url.clone() };
        reqwest::Url::parse(&config.base_url).map_err(|_| address())?;
        let url = reqwest::Url::parse(&format!("{}/chat/completions", config.base_url.trim_end_matches('/')))
            .map_err(|_| address())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(address());
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &config.api_key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", key.secret())).map_err(|_| HttpSetupError::Key)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // Whoever installed a provider before keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A redirect would carry the request to a server that the operator did not name.
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(config.timeout);
        if url.scheme() == "http" {
            // A machine without certificates can still ask a local server.
            builder = builder.tls_certs_only(Vec::new());
        }
        let client = builder.build().map_err(HttpSetupError::Client)?;
        Ok(Self { client, url, headers, body_bytes_max: config.body_bytes_max })
    }

    async fn exchange(&self, body: String) -> Result<Reply, SendFault> {
        let broken = |error: reqwest::Error| SendFault::Broken(loopwright_contract::fault::chain(&error.without_url()));
        let mut response =
            self.client.post(self.url.clone()).headers(self.headers.clone()).body(body).send().await.map_err(broken)?;
        let header =
            |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut reply = Reply {
            status: response.status().as_u16(),
            retry_after: header(RETRY_AFTER),
            date: header(DATE),
            body: Vec::new(),
        };
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if reply.body.len().saturating_add(chunk.len()) > self.body_bytes_max {
                return Err(SendFault::TooLarge { limit: self.body_bytes_max });
            }
            reply.body.extend_from_slice(&chunk);
        }
        Ok(reply)
    }
}

impl Transport for Network {
    fn post(&self, body: String) -> Pin<Box<dyn Future<Output = Result<Reply, SendFault>> + Send + '_>> {
        Box::pin(self.exchange(body))
    }
}
