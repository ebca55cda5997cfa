//! The server loop: it accepts connections, passes requests to the router, and ends in order.

mod bare_responses;
mod connections;

use super::extract::client::Peer;
use super::head::{MAX_HEAD_BYTES, MAX_HEADERS};
use super::respond::codes::Codes;
use axum::Router;
use axum::extract::Request;
use bare_responses::CompletedStream;
use connections::{Activity, ConnectionPermit, Connections, Seen};
use database::Outage;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, interval_at, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::Service;

/// The time that a TLS handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval of pings to an HTTP/2 client, and the time in which it must answer.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum concurrent requests on one HTTP/2 connection.
const MAX_STREAMS: u32 = 200;
/// The time that a connection has to end: to finish open requests, and to let the client read them.
const GRACE: Duration = Duration::from_secs(10);
/// The pause after the system had no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Maximum connections served at a time. At the limit, idle ones are closed and new ones wait.
    pub max: usize,
    /// The time that a connection may take to send the whole head of its next request.
    pub idle_timeout: Duration,
}

/// Serves until `shutdown`, then finishes open requests within `GRACE` and returns. With `tls`
/// every connection is TLS 1.2 or newer, and HTTP/2 or HTTP/1.1 as the client prefers. Without it
/// the first bytes of a connection tell the two versions apart.
pub async fn serve(
    listener: TcpListener,
    tls: Option<rustls::ServerConfig>,
    limits: ConnectionLimits,
    codes: Codes,
    router: Router,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let tls = tls.map(acceptor);
    let connections = Connections::new(limits.max);
    let (stop, stopping) = watch::channel(());
    let mut shutdown = pin!(shutdown);
    loop {
        let next = tokio::select! {
            next = accept(&listener, &connections) => next,
            () = &mut shutdown => break,
        };
        if let Some((stream, peer, permit)) = next {
            let connection = Connection {
                peer: Peer(peer),
                idle_timeout: limits.idle_timeout,
                tls: tls.clone(),
                codes: codes.clone(),
                router: router.clone(),
                stopping: stopping.clone(),
                permit,
            };
            tokio::spawn(connection.run(stream));
        }
    }
    drop((listener, stopping));
    stop.send_replace(());
    // Each connection holds a receiver and ends by itself, so the wait ends with the last one.
    stop.closed().await;
    Ok(())
}

fn acceptor(mut config: rustls::ServerConfig) -> TlsAcceptor {
    if config.alpn_protocols.is_empty() {
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    }
    TlsAcceptor::from(Arc::new(config))
}

/// Waits for a connection and then for its permit. Returns `None` after a fault that concerns only
/// this connection, or that passes.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
) -> Option<(TcpStream, IpAddr, ConnectionPermit)> {
    static ACCEPTING: Outage = Outage::of("connections cannot be accepted");
    match listener.accept().await {
        Ok((stream, peer)) => {
            ACCEPTING.worked();
            Some((stream, peer.ip(), connections.enter().await))
        }
        Err(fault) => {
            let of_the_peer = matches!(
                fault.kind(),
                io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::ConnectionReset
            );
            if !of_the_peer {
                ACCEPTING.failed(&fault);
                // Usually the process has no more file descriptors.
                connections.end_idle();
                sleep(ACCEPT_PAUSE).await;
            }
            None
        }
    }
}

/// One connection and what it needs.
struct Connection {
    peer: Peer,
    idle_timeout: Duration,
    tls: Option<TlsAcceptor>,
    codes: Codes,
    router: Router,
    stopping: watch::Receiver<()>,
    permit: ConnectionPermit,
}

impl Connection {
    async fn run(mut self, stream: TcpStream) {
        if let Err(fault) = stream.set_nodelay(true) {
            tracing::debug!(error = %fault, "connection: TCP_NODELAY not set");
        }
        let Some(tls) = self.tls.take() else {
            return self.serve(stream).await;
        };
        let handshake = tokio::select! {
            handshake = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)) => handshake,
            _ = self.stopping.changed() => return,
            () = self.permit.activity.ending() => return,
        };
        match handshake {
            // The future is boxed, as connections without TLS would have room for its state as
            // well.
            Ok(Ok(stream)) => Box::pin(self.serve(stream)).await,
            Ok(Err(fault)) => tracing::debug!(error = %fault, "connection: TLS handshake failed"),
            Err(_) => tracing::debug!("connection: TLS handshake timed out"),
        }
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Self {
            peer,
            idle_timeout,
            codes,
            router,
            mut stopping,
            permit,
            ..
        } = self;
        let activity = Arc::clone(&permit.activity);
        let service = service_fn(|mut request: Request<Incoming>| {
            let open = Activity::begin(&activity);
            request.extensions_mut().insert(peer);
            let answer = router.clone().call(request);
            async move {
                let answer = answer.await;
                drop(open);
                answer
            }
        });
        let stream = CompletedStream::new(stream, codes);
        let builder = builder(idle_timeout);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        // hyper's limits do not cover three clients: one that has not chosen a version of HTTP, one
        // that keeps HTTP/2 open by answering pings, and one that does not read its answers.
        let mut looks = interval_at(Instant::now() + idle_timeout, idle_timeout);
        let is_asked_to_stop = loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(fault) = ended {
                        tracing::debug!(error = fault, "connection: broken");
                    }
                    return;
                }
                _ = stopping.changed() => break true,
                () = activity.ending() => {}
                _ = looks.tick() => match activity.look() {
                    Seen::Busy => continue,
                    Seen::Idle => {}
                }
            }
            // The connection is idle, or its permit is needed.
            if activity.is_used() {
                break false;
            }
            return;
        };
        connection.as_mut().graceful_shutdown();
        if timeout(GRACE, connection).await.is_err() && is_asked_to_stop {
            tracing::warn!("connection: closed, its request did not finish in time");
        }
    }
}

fn builder(idle_timeout: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .max_buf_size(MAX_HEAD_BYTES as usize)
        .max_headers(MAX_HEADERS)
        .header_read_timeout(idle_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_header_list_size(MAX_HEAD_BYTES)
        .max_concurrent_streams(MAX_STREAMS);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::net::SocketAddr;
    use std::sync::LazyLock;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::{Notify, oneshot};
    use tokio::task::JoinHandle;

    const REQUEST: &[u8] = b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n";

    struct Running {
        address: SocketAddr,
        stop: oneshot::Sender<()>,
        server: JoinHandle<io::Result<()>>,
    }

    async fn start(router: Router) -> Running {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
        };
        let limits = ConnectionLimits {
            max: 10,
            idle_timeout: Duration::from_mins(1),
        };
        let server = tokio::spawn(serve(
            listener,
            None,
            limits,
            Codes::default(),
            router,
            shutdown,
        ));
        Running {
            address,
            stop,
            server,
        }
    }

    #[tokio::test]
    async fn an_open_request_is_finished_before_the_server_ends() {
        static BEGUN: LazyLock<Notify> = LazyLock::new(Notify::new);
        static GO: LazyLock<Notify> = LazyLock::new(Notify::new);
        let slow = get(|| async {
            BEGUN.notify_one();
            GO.notified().await;
            "done"
        });
        let running = start(Router::new().route("/slow", slow)).await;
        let mut idle = TcpStream::connect(running.address).await.unwrap();
        let mut busy = TcpStream::connect(running.address).await.unwrap();
        busy.write_all(REQUEST).await.unwrap();
        BEGUN.notified().await;

        running.stop.send(()).unwrap();
        assert_eq!(
            idle.read(&mut [0]).await.unwrap(),
            0,
            "an idle connection is closed at once"
        );
        assert!(!running.server.is_finished());
        GO.notify_one();
        let mut answer = String::new();
        busy.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("done"), "{answer}");
        running.server.await.unwrap().unwrap();
        assert!(TcpStream::connect(running.address).await.is_err());
    }

    #[tokio::test]
    async fn a_connection_serves_one_request_after_another() {
        let running = start(Router::new().route("/slow", get(|| async { "done" }))).await;
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        for _ in 0..3 {
            stream.write_all(REQUEST).await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"done") {
                answer.push(stream.read_u8().await.unwrap());
            }
        }
        running.stop.send(()).unwrap();
        running.server.await.unwrap().unwrap();
    }
}
