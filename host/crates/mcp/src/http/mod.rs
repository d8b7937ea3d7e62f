//! Streamable HTTP: one path, behind checks that no request gets around.
//!
//! A page in a browser can reach a server on this machine, under a name that its owner points here (DNS rebinding) or across origins. So the
//! `Host` must be one that the operator serves under, and an `Origin` must be absent or one that the operator named.

mod body;
mod rules;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::limits::{BODY_WAIT, CONNECTIONS_MAX, HEAD_WAIT, MESSAGE_BYTES_MAX, SHUTDOWN_WAIT};
use crate::server::{Handler, Server};

use body::Held;
pub use rules::{HttpRules, HttpRulesError, Token, TokenError};

/// The path that is served.
pub const PATH: &str = "/mcp";

/// How long a server that cannot accept waits before it tries again, as when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

type Body = BoxBody<Bytes, Infallible>;

/// What all connections share.
struct Site {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    token: Option<Token>,
    /// One for each post until its answer is written. HTTP/1 has one request at a time on a connection.
    posts: Arc<Semaphore>,
}

pub(crate) async fn serve(server: &Server, listener: TcpListener, rules: HttpRules, stop: impl Future<Output = ()>) {
    let site = Arc::new(site(server, rules));
    let ended = site.service.config.cancellation_token.clone();
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut tasks = JoinSet::new();
    let (stopping, stopped) = tokio::sync::watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Some((stream, place)) => {
                let mut stopped = stopped.clone();
                let told = async move {
                    let _ = stopped.wait_for(|stopped| *stopped).await;
                };
                tasks.spawn(connection(Arc::clone(&site), stream, place, told));
            }
            None => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
        while tasks.try_join_next().is_some() {}
    }
    drop(listener);
    let _ = stopping.send(true);
    // Answers to calls end by themselves; streams that wait for messages do not, and hold no place.
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(SHUTDOWN_WAIT, site.posts.acquire_many(all)).await;
    ended.cancel();
    let _ = tokio::time::timeout(SHUTDOWN_WAIT, async { while tasks.join_next().await.is_some() {} }).await;
}

fn site(server: &Server, rules: HttpRules) -> Site {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(server.settings().session_idle);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(rules.hosts)
        .with_allowed_origins(rules.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX);
    let server = server.clone();
    let service = StreamableHttpService::new(move || Ok(server.handler()), Arc::new(sessions), config);
    Site { service, token: rules.token, posts: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
}

/// The next connection, when there is a place for one; none when the listener failed.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            tracing::warn!(%error, "a connection was not accepted");
            None
        }
    }
}

async fn connection(
    site: Arc<Site>,
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
    stopped: impl Future<Output = ()>,
) {
    // Answers are small and each is waited for.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_WAIT);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut stopped = pin!(stopped);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = &mut stopped => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

impl Site {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "Not Found: MCP is served at /mcp");
        }
        if let Err(response) = self.admit(request.headers()) {
            return *response;
        }
        if request.method() != Method::POST {
            let delete = request.method() == Method::DELETE;
            let mut response = self.service.handle(request).await;
            // The session is gone when this is said, and some clients take "accepted" for a failure.
            if delete && response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            return response;
        }
        let Ok(place) = Arc::clone(&self.posts).try_acquire_owned() else {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: the server is about to stop");
        };
        let (parts, body) = request.into_parts();
        let body = match whole(body).await {
            Ok(body) => body,
            Err(response) => return *response,
        };
        let response = self.service.handle(Request::from_parts(parts, Full::new(body))).await;
        // The place is given back when the answer is written or nobody reads it any more.
        response.map(|body| Held::new(body, place).boxed())
    }

    /// What is checked before the library looks at hosts and origins: that there is one of each at most, since a check of the first would not
    /// see a second, and the token.
    fn admit(&self, headers: &HeaderMap) -> Result<(), Box<Response<Body>>> {
        if headers.get_all(HOST).iter().count() > 1 || headers.get_all(ORIGIN).iter().count() > 1 {
            return Err(Box::new(refusal(StatusCode::BAD_REQUEST, "Bad Request: a header is there twice")));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if given.is_some_and(|given| token.admits(given)) {
            return Ok(());
        }
        let mut response = refusal(StatusCode::UNAUTHORIZED, "Unauthorized: a bearer token is needed");
        response.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        Err(Box::new(response))
    }
}

/// A request's body, within the limit of bytes and of time.
async fn whole(body: Incoming) -> Result<Bytes, Box<Response<Body>>> {
    let read = Limited::new(body, MESSAGE_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_WAIT, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            let text = format!("Payload Too Large: a message has at most {MESSAGE_BYTES_MAX} bytes");
            Err(Box::new(refusal(StatusCode::PAYLOAD_TOO_LARGE, text)))
        }
        Ok(Err(_)) => Err(Box::new(refusal(StatusCode::BAD_REQUEST, "Bad Request: the body ended early"))),
        Err(_) => Err(Box::new(refusal(StatusCode::REQUEST_TIMEOUT, "Request Timeout: the body took too long"))),
    }
}

fn refusal(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(text.into()).boxed());
    *response.status_mut() = status;
    response
}
