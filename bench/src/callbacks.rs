//! The customer's callback receiver. It answers every request alike, and counts the recipients.

use crate::http::{digits, message};
use anyhow::{Context, Result};
use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
/// Interval at which the count is read while the benchmark waits for callbacks.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// The callbacks that were received.
#[derive(Default)]
struct Received {
    requests: u64,
    recipients: HashSet<u64>,
    delivered: u64,
    last: Option<Instant>,
}

/// A receiver in a thread of its own, so that it and the sender do not wait for each other. It ends
/// when it is dropped.
pub(crate) struct Callbacks {
    received: Arc<Mutex<Received>>,
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

/// The numbers of callbacks, of their recipients and of deliveries among them, and the time of the
/// last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) requests: u64,
    pub(crate) recipients: u64,
    pub(crate) delivered: u64,
    pub(crate) last: Option<Instant>,
}

impl Callbacks {
    pub(crate) fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let received = Arc::new(Mutex::new(Received::default()));
        let shared = Arc::clone(&received);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // Without a listener no callback arrives, and the scenario fails.
                    _ = serve(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            received,
            address,
            _stop: stop,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/delivery", self.address)
    }

    pub(crate) fn count(&self) -> Count {
        let received = lock(&self.received);
        Count {
            requests: received.requests,
            recipients: received.recipients.len() as u64,
            delivered: received.delivered,
            last: received.last,
        }
    }

    /// Waits for callbacks of so many recipients. Returns the time of the last one.
    pub(crate) async fn wait_for(&self, recipients: u64, timeout: Duration) -> Result<Instant> {
        let began = Instant::now();
        loop {
            let count = self.count();
            if count.recipients >= recipients {
                return count.last.context("no callback came");
            }
            if began.elapsed() > timeout {
                anyhow::bail!(
                    "{} callbacks of {recipients} in {timeout:?}",
                    count.recipients
                );
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

async fn serve(listener: std::net::TcpListener, received: Arc<Mutex<Received>>) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream, Arc::clone(&received)));
    }
}

async fn answer(mut stream: TcpStream, received: Arc<Mutex<Received>>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4 * 1024);
    while stream.read_buf(&mut buffer).await? > 0 {
        while let Some(request) = message(&buffer)? {
            lock(&received).take(&buffer[..request.length]);
            buffer.drain(..request.length);
            stream.write_all(ANSWER).await?;
        }
    }
    Ok(())
}

impl Received {
    /// Parses a request of Ogene, which has JSON, or of Kannel, which has a query.
    fn take(&mut self, request: &[u8]) {
        self.requests += 1;
        let either = |json: &[u8], query: &[u8]| {
            value_of(request, json).or_else(|| value_of(request, query))
        };
        let recipient = either(br#""recipient":""#, b"recipient=").and_then(digits);
        if recipient.is_some_and(|recipient| self.recipients.insert(recipient)) {
            let status = either(br#""delivery_status":""#, b"status=");
            self.delivered += u64::from(matches!(status, Some(b"delivrd" | b"1")));
            self.last = Some(Instant::now());
        }
    }
}

/// Returns the value behind a name in a request, up to the quote, `&` or space at its end.
pub(crate) fn value_of<'a>(request: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let at = request.windows(name.len()).position(|part| part == name)?;
    let ends = |octet: &u8| matches!(octet, b'"' | b'&' | b' ');
    request[at + name.len()..].split(ends).next()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_that_comes_twice_counts_once() {
        let body = br#"{"message_id":"x","recipient":"2348031234567","delivery_status":"delivrd"}"#;
        let mut received = Received::default();
        received.take(body);
        received.take(body);
        assert_eq!(received.requests, 2);
        assert_eq!(received.recipients.len(), 1);
        assert_eq!(received.delivered, 1);
    }

    #[test]
    fn kannel_tells_in_the_query() {
        let mut received = Received::default();
        received.take(b"GET /delivery?status=1&recipient=2348031234567 HTTP/1.1\r\n\r\n");
        received.take(b"GET /delivery?status=2&recipient=2348031234568 HTTP/1.1\r\n\r\n");
        assert_eq!((received.recipients.len(), received.delivered), (2, 1));
    }
}
