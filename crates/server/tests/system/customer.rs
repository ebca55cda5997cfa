//! A customer and its requests over HTTP.

use crate::installation::Installation;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// Timeout of an answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of a condition.
const LONG: Duration = Duration::from_mins(1);

/// Waits until a condition holds.
pub(super) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// An account with a token, a sender ID and credit.
pub(super) struct Customer {
    pub(super) account: String,
    pub(super) token: String,
}

impl Customer {
    /// Makes a customer by the commands of an operator.
    pub(super) fn new(ogene: &Installation, naira: &str) -> Self {
        let run = |line: &str, more: &[&str]| {
            let words: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
            ogene.json(&words)
        };
        let account = run("account create --name Ada --email ada@example.ng", &[]);
        let account = account["user_id"].as_str().expect("an id").to_owned();
        let of = ["--account", &account];
        let token = run("token create --name shop", &of);
        let token = token["token"].as_str().expect("the token").to_owned();
        run(
            "sender-id register --sender-id AdaFoods --purpose Orders",
            &of,
        );
        run("sender-id approve --sender-id AdaFoods", &of);
        run(
            "wallet credit --reference bank-1 --amount",
            &[&[naira], &of[..]].concat(),
        );
        Self { account, token }
    }
}

/// An answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// `true` if the answer has `Retry-After`.
    pub(super) retry_after: bool,
    /// `true` if the answer was replayed for its key.
    pub(super) replayed: bool,
    pub(super) body: Value,
}

impl Answer {
    pub(super) fn message_id(&self) -> String {
        let id = &self.body["data"]["message_id"];
        id.as_str().expect("an id").to_owned()
    }
}

/// A keep-alive connection, which is opened again if it was lost.
pub(super) struct Client {
    address: String,
    token: String,
    patience: Duration,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    pub(super) fn new(address: &str, token: &str) -> Self {
        Self {
            address: address.to_owned(),
            token: token.to_owned(),
            patience: TIMEOUT,
            connection: None,
        }
    }

    /// Sets the timeout of an answer.
    pub(super) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Sends one text to some numbers.
    pub(super) fn send(
        &mut self,
        numbers: &[u64],
        callback_url: Option<&str>,
    ) -> io::Result<Answer> {
        let to: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let mut fields = json!({"from": "AdaFoods", "to": to, "body": "Your order is on its way"});
        if let Some(url) = callback_url {
            fields["callback_url"] = url.into();
        }
        self.request("POST /api/v2/sms", &fields.to_string())
    }

    /// The counts of a message's delivery report.
    pub(super) fn summary(&mut self, message: &str) -> io::Result<Value> {
        let line = format!("GET /api/v2/delivery-reports?message_id={message}&per_page=1");
        let answer = self.request(&line, "")?;
        Ok(answer.body["data"]["summary"].clone())
    }

    /// Sends one request. An error means that it has no answer.
    pub(super) fn request(&mut self, line: &str, body: &str) -> io::Result<Answer> {
        self.request_with(line, "", body)
    }

    /// Sends one request with an idempotency key.
    pub(super) fn keyed(&mut self, line: &str, key: &str, body: &str) -> io::Result<Answer> {
        self.request_with(line, &format!("Idempotency-Key: {key}\r\n"), body)
    }

    /// Sends one request with more headers, each of which ends with CRLF.
    pub(super) fn request_with(
        &mut self,
        line: &str,
        header: &str,
        body: &str,
    ) -> io::Result<Answer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let head = format!(
            "{line} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {}\r\n\
             {header}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        connection.get_mut().write_all((head + body).as_bytes())?;
        let answer = read(&mut connection)?;
        self.connection = Some(connection);
        Ok(answer)
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.patience))?;
        Ok(BufReader::new(stream))
    }
}

fn read(connection: &mut BufReader<TcpStream>) -> io::Result<Answer> {
    let (mut status, mut length) = (0, 0);
    let (mut retry_after, mut replayed) = (false, false);
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest[..3].parse().expect("a status");
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        retry_after |= line.starts_with("retry-after:");
        replayed |= line == "idempotent-replayed: true";
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok(Answer {
        status,
        retry_after,
        replayed,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}
