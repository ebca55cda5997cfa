//! A proxy between one node and PostgreSQL, with the faults of networks.

use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// The state of the connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// Octets are passed on.
    Open,
    /// Connections are closed, and new ones too.
    Cut,
    /// Octets are dropped silently. A connection that lost octets stays dead when the proxy passes
    /// octets again.
    Hole,
    /// Connections are closed, and new ones after a first read. So does a proxy that accepts
    /// connections while none of its servers runs.
    NoServer,
}

pub(crate) struct Proxy {
    port: u16,
    line: watch::Sender<Line>,
}

impl Proxy {
    /// Passes connections on to the server whose socket is in a directory.
    pub(crate) async fn start(directory: &Path) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let socket = directory.join(".s.PGSQL.5432");
        let (line, watched) = watch::channel(Line::Open);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, socket.clone(), watched.clone()));
            }
        });
        Self { port, line }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}?sslmode=disable", self.url_with_tls())
    }

    /// Returns the same URL without a mention of TLS, so that the client asks the server for it.
    pub(crate) fn url_with_tls(&self) -> String {
        format!("postgres://ogene@127.0.0.1:{}/postgres", self.port)
    }

    pub(crate) fn set(&self, line: Line) {
        self.line.send_replace(line);
    }
}

async fn carry(mut client: TcpStream, socket: PathBuf, mut line: watch::Receiver<Line>) {
    let Ok(mut server) = UnixStream::connect(socket).await else {
        return;
    };
    let (mut from_client, mut from_server) = (vec![0; 65_536], vec![0; 65_536]);
    if *line.borrow_and_update() == Line::NoServer {
        // Unread octets would reset the client's connection.
        let _ = client.read(&mut from_client).await;
        return;
    }
    let mut lost = false;
    loop {
        match *line.borrow_and_update() {
            Line::Open => {}
            Line::Cut | Line::NoServer => return,
            Line::Hole => lost = true,
        }
        tokio::select! {
            changed = line.changed() => if changed.is_err() { return },
            read = client.read(&mut from_client) => {
                let Ok(count @ 1..) = read else { return };
                if !lost && server.write_all(&from_client[..count]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut from_server), if !lost => {
                let Ok(count @ 1..) = read else { return };
                if client.write_all(&from_server[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
