//! The listener: it accepts connections up to a limit, and ends them in order.

use super::connection;
use super::conversation::Conversation;
use super::proxied;
use crate::config::SmppServer;
use engine::{Outage, SmppEntrance};
use rustls::ServerConfig;
use smpp::server::ServerOptions;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// The time that clients have to answer the `unbind` of a shutdown.
const GRACE: Duration = Duration::from_secs(2);
/// The time in which the header of a proxy and a TLS handshake must arrive.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after the system had no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The running SMPP server.
pub(crate) struct SmppListener {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl SmppListener {
    /// Accepts no more connections, unbinds all clients, and waits for their answers for a short
    /// time.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        // Each connection holds a receiver until it has ended, at the latest when the time is over.
        if timeout(GRACE, self.stop.closed()).await.is_err() {
            tracing::warn!("SMPP server: connections closed, clients do not answer unbind");
            self.stop.closed().await;
        }
        for task in self.tasks {
            task.abort();
        }
    }
}

/// The function that returns `true` for an address of a trusted proxy.
type TrustsProxy = Box<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// The clients of all addresses, which share one limit.
pub(crate) struct Clients {
    free: Arc<Semaphore>,
    options: ServerOptions,
    entrance: SmppEntrance,
    trusts: TrustsProxy,
}

impl Clients {
    pub(crate) fn new(server: &SmppServer, entrance: SmppEntrance, trusts: TrustsProxy) -> Self {
        let max = server.max_connections.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(max)),
            options: ServerOptions {
                enquire_link: server.enquire_link,
                response_timeout: server.response_timeout,
                ..ServerOptions::default()
            },
            entrance,
            trusts,
        }
    }
}

/// An address.
pub(crate) struct Address {
    pub(crate) listener: TcpListener,
    pub(crate) bound: SocketAddr,
    /// Its settings, if it has TLS.
    pub(crate) tls: Option<ServerConfig>,
}

/// Accepts the clients of some addresses.
pub(crate) fn start(addresses: Vec<Address>, clients: Clients) -> SmppListener {
    let (stop, stopping) = watch::channel(false);
    let clients = Arc::new(clients);
    let accepting = addresses.into_iter().map(|address| {
        let tls = address.tls.is_some();
        tracing::info!(smpp.address = %address.bound, smpp.tls = tls, "serving SMPP");
        let door = Door {
            listener: address.listener,
            tls: address
                .tls
                .map(|config| TlsAcceptor::from(Arc::new(config))),
            clients: Arc::clone(&clients),
        };
        tokio::spawn(door.accept(stopping.clone()))
    });
    SmppListener {
        tasks: accepting.collect(),
        stop,
    }
}

/// An address with what its clients need.
struct Door {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    clients: Arc<Clients>,
}

impl Door {
    async fn accept(self, mut stopping: watch::Receiver<bool>) {
        static ACCEPTING: Outage = Outage::of("SMPP connections cannot be accepted");
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = stopping.wait_for(|stop| *stop) => return,
            };
            let (stream, client) = match accepted {
                Ok(accepted) => accepted,
                Err(fault) => {
                    ACCEPTING.failed(&fault);
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            ACCEPTING.worked();
            let Ok(permit) = Arc::clone(&self.clients.free).try_acquire_owned() else {
                tracing::warn!(
                    client.address = %client.ip(),
                    "SMPP connection: closed, `smpp_server.max_connections` is reached"
                );
                continue;
            };
            if stream.set_nodelay(true).is_err() {
                continue;
            }
            let connection = Connection {
                peer: client.ip().to_canonical(),
                tls: self.tls.clone(),
                clients: Arc::clone(&self.clients),
                permit,
            };
            tokio::spawn(connection.run(stream, stopping.clone()));
        }
    }
}

/// One connection.
struct Connection {
    peer: IpAddr,
    tls: Option<TlsAcceptor>,
    clients: Arc<Clients>,
    permit: OwnedSemaphorePermit,
}

impl Connection {
    async fn run(self, stream: TcpStream, stopping: watch::Receiver<bool>) {
        tokio::select! {
            () = self.serve(stream, stopping.clone()) => {}
            () = grace_is_over(stopping) => {}
        }
        drop(self.permit);
    }

    async fn serve(&self, mut stream: TcpStream, stopping: watch::Receiver<bool>) {
        let client = match self.client(&mut stream).await {
            Ok(client) => client,
            Err(fault) => {
                tracing::warn!(
                    client.address = %self.peer,
                    error = %fault,
                    "SMPP connection: closed, the header of the proxy cannot be read"
                );
                return;
            }
        };
        let clients = &self.clients;
        let conversation = |options| Conversation::new(clients.entrance.clone(), client, options);
        let Some(tls) = &self.tls else {
            let conversation = conversation(clients.options.clone());
            return connection::run(stream, conversation, stopping).await;
        };
        match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                // The timeout of a bind begins after the handshake.
                let conversation = conversation(clients.options.clone());
                Box::pin(connection::run(stream, conversation, stopping)).await;
            }
            Ok(Err(fault)) => {
                tracing::debug!(error = %fault, "SMPP connection: TLS handshake failed");
            }
            Err(_) => tracing::debug!("SMPP connection: TLS handshake timed out"),
        }
    }

    /// Returns the address of the client, which a trusted proxy may name.
    async fn client(&self, stream: &mut TcpStream) -> io::Result<IpAddr> {
        if !(self.clients.trusts)(self.peer) {
            return Ok(self.peer);
        }
        let named = timeout(HANDSHAKE_TIMEOUT, proxied::client_of(stream));
        let named = named.await.map_err(|_| io::ErrorKind::TimedOut)??;
        Ok(named.unwrap_or(self.peer))
    }
}

/// Waits for a shutdown, and then until clients have no more time to answer `unbind`.
async fn grace_is_over(mut stopping: watch::Receiver<bool>) {
    // A dropped sender is a shutdown as well.
    let _ = stopping.wait_for(|stop| *stop).await;
    sleep(GRACE).await;
}
