//! A carrier by HTTP. It accepts each message at once, and posts one receipt for it 200 ms later.

use crate::callbacks::value_of;
use crate::http::{Connection, message};
use anyhow::{Context, Result};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex as Turns, mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

/// Requests that the service has at the carrier at once.
const WINDOW: u32 = 64;
/// Connections over which receipts are posted, each with one request at a time.
const RECEIPT_CONNECTIONS: usize = 64;
/// Time between an answer and its receipt, as of the SMSC.
const RECEIPT_DELAY: Duration = Duration::from_millis(200);
/// Time until a receipt that was not stored is posted again.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// The part of the URL for receipts that nobody can guess.
const SECRET: &str = "bench-receipts-0123456789";
/// The carrier's ids have ten digits, as those of the SMSC.
const FIRST_ID: u64 = 1_000_000_000;

/// Returns the sections of a carrier whose requests go to a sink at this address.
pub(crate) fn configuration(name: &str, sink: SocketAddr) -> String {
    format!(
        r#"[http]
public_url = "http://sms.example.ng"
[carriers.{name}]
kind = "http"
window = {WINDOW}
[carriers.{name}.submit]
url = "http://{sink}/send"
json = {{ to = "{{to}}", sender = "{{from}}", text = "{{body}}", ref = "{{id}}", dlr = "{{receipt_url}}" }}
id = "/data/id"
error = "/code"
accepted = ["ok"]
[carriers.{name}.receipts]
secret = "{SECRET}"
id = "/id"
state = "/status"
states = {{ DELIVRD = ["Delivered"] }}
"#
    )
}

/// The requests and receipts so far.
#[derive(Default)]
struct Counts {
    requests: u64,
    /// Our ids in requests.
    messages: HashSet<u128>,
    receipts: u64,
}

/// A sink in a thread of its own, which ends when it is dropped.
pub(crate) struct HttpSink {
    counts: Arc<Mutex<Counts>>,
    _stop: oneshot::Sender<()>,
}

/// An id of the carrier, and the time at which its receipt is due.
type Accepted = (Instant, u64);

impl HttpSink {
    /// Listens at the address of the carrier. The receipts go to the nodes of the service by turns.
    pub(crate) fn start(name: &str, carrier: SocketAddr, nodes: &[SocketAddr]) -> Result<Self> {
        let listener = std::net::TcpListener::bind(carrier)?;
        listener.set_nonblocking(true)?;
        let (stop, stopped) = oneshot::channel();
        let counts = Arc::<Mutex<Counts>>::default();
        let receipts = Receipts {
            path: format!("/hooks/carriers/{name}/{SECRET}").into(),
            nodes: nodes.to_vec(),
            counts: Arc::clone(&counts),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // Without a listener no message is accepted, and the scenario fails.
                    _ = serve(listener, receipts) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            counts,
            _stop: stop,
        })
    }

    /// Returns the number of requests, of different messages in them, and of receipts.
    pub(crate) fn counts(&self) -> [u64; 3] {
        let counts = lock(&self.counts);
        let messages = counts.messages.len() as u64;
        [counts.requests, messages, counts.receipts]
    }
}

async fn serve(listener: std::net::TcpListener, receipts: Receipts) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let counts = Arc::clone(&receipts.counts);
    let (accepted, due) = mpsc::unbounded_channel();
    tokio::spawn(receipts.post(due));
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream, accepted.clone(), Arc::clone(&counts)));
    }
}

async fn answer(
    mut stream: TcpStream,
    accepted: mpsc::UnboundedSender<Accepted>,
    counts: Arc<Mutex<Counts>>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4 * 1024);
    while stream.read_buf(&mut buffer).await? > 0 {
        while let Some(request) = message(&buffer)? {
            let id = lock(&counts).take(&buffer[..request.length])?;
            buffer.drain(..request.length);
            let body = format!(r#"{{"code":"ok","data":{{"id":"{id}"}}}}"#);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await?;
            accepted.send((Instant::now() + RECEIPT_DELAY, id))?;
        }
    }
    Ok(())
}

impl Counts {
    /// Takes a request. Returns the carrier's id of the message.
    fn take(&mut self, request: &[u8]) -> Result<u64> {
        let ours = value_of(request, br#""ref":""#).and_then(|hex| std::str::from_utf8(hex).ok());
        let ours = u128::from_str_radix(ours.context("a request without our id")?, 16)?;
        self.messages.insert(ours);
        self.requests += 1;
        Ok(FIRST_ID + self.requests)
    }
}

/// The way of receipts to the service.
struct Receipts {
    path: Arc<str>,
    nodes: Vec<SocketAddr>,
    counts: Arc<Mutex<Counts>>,
}

impl Receipts {
    /// Posts each receipt when it is due, over as many connections as are permitted.
    async fn post(self, mut accepted: mpsc::UnboundedReceiver<Accepted>) {
        let (due, posts) = mpsc::unbounded_channel();
        let posts = Arc::new(Turns::new(posts));
        for &node in self.nodes.iter().cycle().take(RECEIPT_CONNECTIONS) {
            let poster = Poster {
                node,
                path: Arc::clone(&self.path),
                connection: None,
            };
            tokio::spawn(poster.run(Arc::clone(&posts), Arc::clone(&self.counts)));
        }
        while let Some((at, id)) = accepted.recv().await {
            sleep_until(at).await;
            if due.send(id).is_err() {
                return;
            }
        }
    }
}

/// A connection for receipts, which is opened with the first one.
struct Poster {
    node: SocketAddr,
    path: Arc<str>,
    connection: Option<Connection>,
}

impl Poster {
    async fn run(
        mut self,
        posts: Arc<Turns<mpsc::UnboundedReceiver<u64>>>,
        counts: Arc<Mutex<Counts>>,
    ) {
        loop {
            let next = posts.lock().await.recv().await;
            let Some(id) = next else {
                return;
            };
            while !self.is_stored(id).await.unwrap_or(false) {
                self.connection = None;
                sleep(RETRY_INTERVAL).await;
            }
            lock(&counts).receipts += 1;
        }
    }

    /// Posts a receipt. Returns `true` if the service stored it.
    async fn is_stored(&mut self, id: u64) -> Result<bool> {
        let body = format!(r#"{{"id":"{id}","status":"Delivered"}}"#);
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            body.len()
        );
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(self.node).await?),
        };
        Ok(connection.ask(request.as_bytes()).await?.status == 200)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_submitted_twice_counts_once() {
        let request = br#"{"to":"2348031234567","ref":"01a1ee565e007707870707070707070f"}"#;
        let mut counts = Counts::default();
        let ids = [0, 1].map(|_| counts.take(request).expect("our id"));
        assert_eq!(ids, [1_000_000_001, 1_000_000_002]);
        assert_eq!((counts.requests, counts.messages.len()), (2, 1));
        assert!(counts.take(b"{}").is_err());
    }
}
