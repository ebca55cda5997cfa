//! An HTTP client that sends exactly the octets of a test, including invalid requests.

use serde_json::Value;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_mins(1);

/// A request in all its octets.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    chunked: bool,
    /// The value of `Connection`.
    connection: &'static str,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            chunked: false,
            connection: "close",
        }
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn post(target: &str) -> Self {
        Self::new("POST", target)
    }

    /// Returns `POST /api/v2/sms` with JSON and the recommended header.
    pub(crate) fn send(token: &str, fields: &Value) -> Self {
        Self::post("/api/v2/sms").bearer(token).json(fields)
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    pub(crate) fn json(self, fields: &Value) -> Self {
        self.body("application/json", fields.to_string())
    }

    pub(crate) fn form(self, fields: &[(&str, &str)]) -> Self {
        self.body("application/x-www-form-urlencoded", encoded(fields))
    }

    pub(crate) fn multipart(self, fields: &[(&str, &str)]) -> Self {
        let mut body = String::new();
        for (name, value) in fields {
            let _ = write!(
                body,
                "--cut\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
        }
        body.push_str("--cut--\r\n");
        self.body("multipart/form-data; boundary=cut", body)
    }

    /// Leaves out `Content-Length`.
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Keeps the connection open for the next request.
    fn kept_alive(&self) -> Self {
        Self {
            connection: "keep-alive",
            ..self.clone()
        }
    }

    fn head(&self) -> String {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: {}\r\n",
            self.method, self.target, self.connection
        );
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if self.chunked {
            head.push_str("Transfer-Encoding: chunked\r\n");
        } else if self.method != "GET" || !self.body.is_empty() {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        head.push_str("\r\n");
        head
    }

    fn octets(&self) -> Vec<u8> {
        const CHUNK: usize = 60_000;
        let mut octets = self.head().into_bytes();
        if !self.chunked {
            octets.extend_from_slice(&self.body);
            return octets;
        }
        for chunk in self.body.chunks(CHUNK) {
            octets.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            octets.extend_from_slice(chunk);
            octets.extend_from_slice(b"\r\n");
        }
        octets.extend_from_slice(b"0\r\n\r\n");
        octets
    }
}

/// Returns fields in the syntax of a form or query string.
pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns all values of a header.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let is_named = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        let found = self.headers.iter().filter(is_named);
        found.map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// Returns headers and body, for tests of their content.
    pub(crate) fn whole(&self) -> String {
        format!(
            "{:?}\n{}",
            self.headers,
            String::from_utf8_lossy(&self.body)
        )
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Returns `error.code`, or the code of a success.
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns status and body in one line, with every UUID replaced, for snapshots.
    pub(crate) fn redacted(&self) -> String {
        format!("{} {}", self.status, without_uuids(self.text()))
    }

    fn read(octets: &[u8]) -> Option<Self> {
        let end = octets.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&octets[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let body = octets[end + 4..].to_vec();
        Some(Self {
            status,
            headers,
            body,
        })
    }
}

fn without_uuids(text: &str) -> String {
    const UUID: usize = 36;
    let is_uuid = |octets: &[u8]| {
        octets.iter().enumerate().all(|(at, octet)| match at {
            8 | 13 | 18 | 23 => *octet == b'-',
            _ => octet.is_ascii_hexdigit(),
        })
    };
    let mut redacted = text.to_owned();
    let mut at = 0;
    while at + UUID <= redacted.len() {
        if is_uuid(&redacted.as_bytes()[at..at + UUID]) {
            redacted.replace_range(at..at + UUID, "[uuid]");
        }
        at += 1;
    }
    redacted
}

/// Sends a request on a connection of its own.
pub(crate) async fn try_ask(address: SocketAddr, request: &Request) -> io::Result<Answer> {
    ask_on(TcpStream::connect(address).await?, request).await
}

/// Sends a request on a connection that is closed after it. The answer is read while the request is
/// written, since a refusal may arrive before the end of the request.
pub(crate) async fn ask_on(
    stream: impl AsyncRead + AsyncWrite,
    request: &Request,
) -> io::Result<Answer> {
    let (mut reading, mut writing) = split(stream);
    let octets = request.octets();
    let write = async {
        // A server that refuses may close before it has read the whole request.
        let _ = writing.write_all(&octets).await;
        let _ = writing.flush().await;
    };
    let mut answer = Vec::new();
    let both = async { tokio::join!(write, reading.read_to_end(&mut answer)).1 };
    let read = timeout(TIMEOUT, both).await?;
    // Some servers close without an alert of TLS.
    match Answer::read(&answer) {
        Some(answer) => Ok(answer),
        None => Err(read
            .err()
            .unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Sends a request on a connection that stays open.
pub(crate) async fn ask_and_stay(stream: &mut TcpStream, request: &Request) -> Answer {
    let octets = request.kept_alive().octets();
    stream.write_all(&octets).await.expect("it is read");
    let mut answer = Vec::new();
    let read = async {
        loop {
            stream.read_buf(&mut answer).await.expect("an answer");
            if let Some(answer) = Answer::read(&answer)
                && answer.header("content-length") == Some(&*answer.body.len().to_string())
            {
                return answer;
            }
        }
    };
    timeout(TIMEOUT, read).await.expect("a whole answer")
}
