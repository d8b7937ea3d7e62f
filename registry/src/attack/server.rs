//! A server on the loopback that answers whatever it is told to: one request a connection, HTTP/1.1, plain.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crate::COMPONENT_BYTES_LIMIT;

/// Most bytes of a request's line, and of each of its headers.
const LINE_BYTES_LIMIT: u64 = 8 * 1024;
/// Most headers of a request.
const HEADERS_LIMIT: usize = 64;
/// The longest that a connection is held open for somebody who neither reads nor leaves.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD`, `POST` or `PUT`.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// Who it says is asking.
    pub authorization: Option<String>,
}

/// What is sent after the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Bytes and their number.
    Whole(Vec<u8>),
    /// Bytes, and a number that says something else.
    Claimed(u64, Vec<u8>),
    /// Zeros until the other side has enough.
    Endless,
    /// Some bytes of many, and then nothing until the other side leaves.
    Stalled(Vec<u8>),
    /// Not even a head.
    Silent,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers beside the ones about length and connection.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub payload: Payload,
}

impl Answer {
    /// An answer with a body.
    #[must_use]
    pub fn of(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), payload: Payload::Whole(body.into()) }
    }

    /// The same with a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} .\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match &self.payload {
            Payload::Whole(body) => head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len())),
            Payload::Claimed(bytes, _) => head.push_str(&format!("Content-Length: {bytes}\r\n\r\n")),
            Payload::Stalled(body) => head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len() + 1)),
            Payload::Endless | Payload::Silent => head.push_str("\r\n"),
        }
        head
    }
}

/// What turns a request into an answer.
pub type Script = Arc<dyn Fn(&Request) -> Answer + Send + Sync>;

/// The server. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts it on a free port of this machine.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(script: Script) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let serve = move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let script = Arc::clone(&script);
                // Whoever asks while another is kept waiting gets an answer too.
                std::thread::spawn(move || stream.and_then(|stream| answer(stream, &script)));
            }
        };
        Ok(Self { address, stop, listener: Some(std::thread::spawn(serve)) })
    }

    /// `127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it should end.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// One request, one answer. What goes wrong here is the other side's to notice.
fn answer(mut stream: TcpStream, script: &Script) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(request) = read_request(&mut reader)? else { return Ok(()) };
    let answer = script(&request);
    if answer.payload == Payload::Silent {
        return wait_for_leaving(&mut stream);
    }
    stream.write_all(answer.head().as_bytes())?;
    if request.method == "HEAD" {
        return Ok(());
    }
    match answer.payload {
        Payload::Whole(body) | Payload::Claimed(_, body) => stream.write_all(&body),
        Payload::Stalled(body) => {
            stream.write_all(&body)?;
            wait_for_leaving(&mut stream)
        }
        Payload::Endless => loop {
            stream.write_all(&[0; 64 * 1024])?;
        },
        Payload::Silent => Ok(()),
    }
}

/// Returns when the other side closes the connection.
fn wait_for_leaving(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(|_| ())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    reader.by_ref().take(LINE_BYTES_LIMIT).read_line(&mut line)?;
    let mut words = line.split_ascii_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut request = Request { method: method.to_owned(), path: path.to_owned(), authorization: None };
    let mut length = 0;
    for _ in 0..HEADERS_LIMIT {
        let mut header = String::new();
        reader.by_ref().take(LINE_BYTES_LIMIT).read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        } else if name.eq_ignore_ascii_case("authorization") {
            request.authorization = Some(value.trim().to_owned());
        }
    }
    std::io::copy(&mut reader.by_ref().take(length.min(COMPONENT_BYTES_LIMIT)), &mut std::io::sink())?;
    Ok(Some(request))
}
