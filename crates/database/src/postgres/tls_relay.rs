//! TLS to a PostgreSQL server whose own certificate is in `sslrootcert`.
//!
//! libpq trusts such a certificate. sqlx allows no verifier but its own, and refuses one that may
//! sign others. Only then does sqlx connect to a socket of this process, in a directory that no
//! other user may enter. The relay forwards each connection to the server by TLS, with our
//! verifier. It costs one copy of the traffic.

use super::server::{CONNECT_TIMEOUT, Server};
use crate::certificate_trust::{Names, is_of_signer, trust_with};
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The packet by which a client requests TLS, and the byte by which a server agrees.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

const AGREED: u8 = b'S';

/// SQLSTATE `sqlclient_unable_to_establish_sqlconnection`, and the code used if TLS is the cause.
pub(super) const UNREACHABLE: &str = "08001";

pub(super) const NO_TLS: &str = "08004";

/// A running relay. It ends with the last connection that needs it, and its directory is removed
/// with it.
pub(super) struct Relay {
    directory: TempDir,
    task: AbortHandle,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns `true` if a connection failed because the server's own certificate is, or may be, in the
/// file.
pub(super) fn is_needed(server: &Server, error: &sqlx::Error) -> bool {
    let sqlx::Error::Io(error) = error else {
        return false;
    };
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    server.file("sslrootcert").is_some() && cause.is_some_and(is_of_signer)
}

impl Relay {
    /// Starts a relay to a server.
    pub(super) fn start(server: &Server) -> io::Result<Self> {
        let way = Arc::new(Way::to(server)?);
        let private = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new()
            .prefix("ogene-tls-")
            .permissions(private)
            .tempdir()?;
        let socket = format!(".s.PGSQL.{}", server.options.get_port());
        let listener = UnixListener::bind(directory.path().join(socket))?;
        let task = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((client, _)) => {
                        tokio::spawn(relay(client, Arc::clone(&way)));
                    }
                    // No file descriptor is left for the connection, so the client waits.
                    Err(_) => tokio::time::sleep(CONNECT_TIMEOUT / 10).await,
                }
            }
        });
        let task = task.abort_handle();
        Ok(Self { directory, task })
    }

    /// Returns the same options with the relay as the server.
    pub(super) fn through(&self, options: PgConnectOptions) -> PgConnectOptions {
        let socket = options.socket(self.directory.path());
        socket.ssl_mode(PgSslMode::Disable)
    }
}

/// The address and the TLS settings of the server.
struct Way {
    address: (String, u16),
    name: ServerName<'static>,
    connector: TlsConnector,
}

impl Way {
    fn to(server: &Server) -> io::Result<Self> {
        let options = &server.options;
        let host = options.get_host().trim_matches(['[', ']']).to_owned();
        let names = match options.get_ssl_mode() {
            PgSslMode::VerifyFull => Names::Checked,
            _ => Names::Any,
        };
        let pem = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let roots = match server.file("sslrootcert") {
            Some(file) => CertificateDer::pem_file_iter(file).and_then(Iterator::collect),
            None => Ok(Vec::new()),
        };
        let trust = trust_with(&roots.map_err(pem)?, names).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(trust);
        let config = match (server.file("sslcert"), server.file("sslkey")) {
            (Some(certificate), Some(key)) => {
                let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
                let key = PrivateKeyDer::from_pem_file(key).map_err(pem)?;
                let certified = builder.with_client_auth_cert(chain.map_err(pem)?, key);
                certified.map_err(io::Error::other)?
            }
            _ => builder.with_no_client_auth(),
        };
        Ok(Self {
            name: ServerName::try_from(host.clone()).map_err(io::Error::other)?,
            address: (host, options.get_port()),
            connector: TlsConnector::from(Arc::new(config)),
        })
    }

    async fn connect(&self) -> Result<TlsStream<TcpStream>, (&'static str, io::Error)> {
        let unreachable = |error| (UNREACHABLE, error);
        let (host, port) = &self.address;
        let connecting = TcpStream::connect((host.as_str(), *port)).await;
        let mut stream = connecting.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        stream.write_all(&SSL_REQUEST).await.map_err(unreachable)?;
        let answer = stream.read_u8().await.map_err(unreachable)?;
        if answer != AGREED {
            return Err((NO_TLS, io::Error::other("server does not support TLS")));
        }
        let secured = self.connector.connect(self.name.clone(), stream).await;
        secured.map_err(|error| (NO_TLS, error))
    }
}

/// Forwards one connection. If that fails, the client receives a refusal as from a server.
async fn relay(mut client: UnixStream, way: Arc<Way>) {
    let late = || (UNREACHABLE, io::Error::from(io::ErrorKind::TimedOut));
    let connected = timeout(CONNECT_TIMEOUT, way.connect()).await;
    match connected.unwrap_or_else(|_| Err(late())) {
        Ok(mut server) => {
            // Each end sees how the other one ended.
            let _ = copy_bidirectional(&mut client, &mut server).await;
        }
        Err((code, error)) => {
            let _ = client.write_all(&refusal(code, &error.to_string())).await;
            let _ = client.shutdown().await;
            // Unread input would discard the refusal, so it is read first.
            let mut rest = [0; 1_024];
            let drain = async { while matches!(client.read(&mut rest).await, Ok(1..)) {} };
            let _ = timeout(CONNECT_TIMEOUT, drain).await;
        }
    }
}

/// Returns an `ErrorResponse`.
fn refusal(code: &str, reason: &str) -> Vec<u8> {
    let reason = reason.replace('\0', "");
    let mut fields = Vec::new();
    for (kind, text) in [
        (b'S', "FATAL"),
        (b'V', "FATAL"),
        (b'C', code),
        (b'M', &reason),
    ] {
        fields.push(kind);
        fields.extend(text.as_bytes());
        fields.push(0);
    }
    fields.push(0);
    let length = u32::try_from(fields.len() + 4).unwrap_or(u32::MAX);
    let mut message = vec![b'E'];
    message.extend(length.to_be_bytes());
    message.extend(fields);
    message
}
