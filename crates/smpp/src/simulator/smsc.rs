//! The listener of a simulator, and its handle.

use super::connection::Connection;
use super::receipt_writer::Outgoing;
use super::script::Script;
use super::shared::{Received, Shared, Stats, lock};
use crate::pdu::DeliverSm;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// Maximum number of connections. Further ones are closed at once.
const MAX_CONNECTIONS: usize = 1_024;
/// Delay before another accept after the system returned an error.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Runs a simulator until `shutdown` is ready. Returns its statistics.
pub async fn serve(
    listener: TcpListener,
    script: Script,
    shutdown: impl Future<Output = ()>,
) -> io::Result<Stats> {
    let smsc = Smsc::listen(listener, script)?;
    shutdown.await;
    Ok(smsc.stop().await)
}

/// A running simulator. It ends when it is dropped.
#[derive(Debug)]
pub struct Smsc {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Requests to close all connections. The channel is notified when they are closed.
    drops: mpsc::Sender<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Smsc {
    /// Starts a simulator on a free port of the loopback interface.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, script)
    }

    /// Starts a simulator on this listener, within a tokio runtime.
    pub fn listen(listener: TcpListener, script: Script) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script));
        let (drops, asked) = mpsc::channel(1);
        let task = tokio::spawn(run(listener, Arc::clone(&shared), asked));
        Ok(Self {
            address,
            shared,
            drops,
            task,
        })
    }

    /// Returns the address of the listener.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the received messages, oldest first, as far as [`Script::record`] keeps them.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.shared.received).iter().cloned().collect()
    }

    /// Returns the statistics.
    pub fn stats(&self) -> Stats {
        *lock(&self.shared.stats)
    }

    /// Returns the number of binds of a system id.
    pub fn bound(&self, system_id: &str) -> usize {
        self.shared.account(system_id).binds()
    }

    /// Returns the number of unwritten receipts and messages.
    pub fn waiting(&self) -> usize {
        let accounts = lock(&self.shared.accounts);
        accounts.values().map(|account| account.waiting()).sum()
    }

    /// Closes all connections without `unbind`, and waits until they are closed.
    pub async fn drop_connections(&self) {
        let (done, gone) = oneshot::channel();
        if self.drops.send(done).await.is_ok() {
            let _ = gone.await;
        }
    }

    /// Replaces the script, also of open connections.
    pub fn set_script(&self, script: Script) {
        let mut current = self
            .shared
            .script
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(script);
    }

    /// Delivers a message to a system id, at once or when it binds to receive.
    pub fn send(&self, system_id: &str, message: DeliverSm) {
        let message = Outgoing::Message(Box::new(message));
        let mut outgoing = vec![(Instant::now(), message)];
        let lost = self.shared.account(system_id).schedule(&mut outgoing);
        lock(&self.shared.stats).lost += lost;
    }

    /// Closes the listener and all connections.
    pub async fn stop(mut self) -> Stats {
        self.drop_connections().await;
        self.task.abort();
        let _ = (&mut self.task).await;
        self.stats()
    }
}

impl Drop for Smsc {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut drops: mpsc::Receiver<oneshot::Sender<()>>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => serve_connection(&shared, &mut connections, stream),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(done) = drops.recv() => {
                connections.shutdown().await;
                let _ = done.send(());
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

fn serve_connection(shared: &Arc<Shared>, connections: &mut JoinSet<()>, stream: TcpStream) {
    if connections.len() >= MAX_CONNECTIONS || stream.set_nodelay(true).is_err() {
        return;
    }
    lock(&shared.stats).connections += 1;
    let number = shared.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
    let mut connection = Connection::new(stream, Arc::clone(shared), number);
    connections.spawn(async move { poll_fn(|cx| connection.poll(cx)).await });
}
