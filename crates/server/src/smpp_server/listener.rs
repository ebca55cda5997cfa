//! The listener: it accepts connections up to a limit, and ends them in order.

use super::connection;
use super::conversation::Conversation;
use crate::config::SmppServer;
use engine::{Outage, SmppEntrance};
use smpp::server::ServerOptions;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The time that clients have to answer the `unbind` of a shutdown.
const GRACE: Duration = Duration::from_secs(2);
/// The pause after the system had no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The running SMPP server.
pub(crate) struct SmppListener {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
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
        self.task.abort();
    }
}

/// Listens on `address`.
pub(crate) async fn start(
    address: SocketAddr,
    settings: SmppServer,
    entrance: SmppEntrance,
) -> io::Result<SmppListener> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    tracing::info!(smpp.address = %address, "serving SMPP");
    let (stop, stopping) = watch::channel(false);
    let task = tokio::spawn(accept(listener, settings, entrance, stopping));
    Ok(SmppListener { stop, task })
}

async fn accept(
    listener: TcpListener,
    settings: SmppServer,
    entrance: SmppEntrance,
    mut stopping: watch::Receiver<bool>,
) {
    static ACCEPTING: Outage = Outage::of("SMPP connections cannot be accepted");
    let max = settings.max_connections.min(Semaphore::MAX_PERMITS);
    let free = Arc::new(Semaphore::new(max));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
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
        let Ok(permit) = Arc::clone(&free).try_acquire_owned() else {
            tracing::warn!(
                client.address = %client.ip(),
                "SMPP connection: closed, `smpp_server.max_connections` is reached"
            );
            continue;
        };
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        let conversation = Conversation::new(entrance.clone(), client.ip(), options(&settings));
        let stopping = stopping.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = connection::run(stream, conversation, stopping.clone()) => {}
                () = grace_is_over(stopping) => {}
            }
            drop(permit);
        });
    }
}

fn options(settings: &SmppServer) -> ServerOptions {
    ServerOptions {
        enquire_link: settings.enquire_link,
        response_timeout: settings.response_timeout,
        ..ServerOptions::default()
    }
}

/// Waits for a shutdown, and then until clients have no more time to answer `unbind`.
async fn grace_is_over(mut stopping: watch::Receiver<bool>) {
    // A dropped sender is a shutdown as well.
    let _ = stopping.wait_for(|stop| *stop).await;
    sleep(GRACE).await;
}
