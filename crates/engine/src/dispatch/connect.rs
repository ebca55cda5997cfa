//! Connecting to a carrier: name resolution, TCP, TLS and bind, with their errors.

use crate::context::network::{Network, Transport, dial_any};
use crate::context::outcome::status_word;
use crate::settings::{CarrierSettings, SmppSettings};
use smpp::{BindError, BindKind, BindOptions, EventStream, PduLog, Session, StatusClass};
use std::io;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// Timeout of the connection over all addresses including TLS, and again of the bind.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a connection is not bound.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("host name not resolved: {0}")]
    Unresolved(io::Error),
    #[error("connection failed: {0}")]
    Unreachable(io::Error),
    #[error("TLS handshake failed: {0}")]
    Tls(io::Error),
    #[error(transparent)]
    Bind(#[from] BindError),
}

impl ConnectError {
    /// Returns the label of the error on `/metrics`. A rejected bind has the name of its status.
    pub(crate) fn label(&self) -> String {
        let label = match self {
            Self::Unresolved(_) => "unresolved",
            Self::Unreachable(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => "refused",
                io::ErrorKind::TimedOut => "timed_out",
                _ => "unreachable",
            },
            Self::Tls(_) => "tls",
            Self::Bind(BindError::Refused(status)) => return status_word(*status),
            Self::Bind(BindError::Closed) => "closed",
            Self::Bind(BindError::TimedOut) => "bind_timed_out",
            Self::Bind(BindError::Io(_)) => "broken",
            Self::Bind(BindError::Protocol(_)) => "protocol",
        };
        label.to_owned()
    }

    /// Returns `true` if the carrier rejects our credentials. It may lock out clients that retry
    /// too often.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Bind(BindError::Refused(status)) if status.class() == StatusClass::BindRefused)
    }
}

/// Connects to a carrier and binds.
pub(crate) async fn bind(
    network: &dyn Network,
    (settings, smpp): (&CarrierSettings, &SmppSettings),
    tls: Option<&TlsConnector>,
    kind: BindKind,
    pdus: &PduLog,
) -> Result<(Session, EventStream), ConnectError> {
    let options = BindOptions {
        kind,
        system_id: smpp.system_id.clone(),
        password: smpp.password.clone(),
        system_type: smpp.system_type.clone(),
        window: settings.window,
        enquire_link: smpp.enquire_link,
        response_timeout: settings.response_timeout,
        bind_timeout: TIMEOUT,
        pdus: pdus.clone(),
        ..BindOptions::default()
    };
    let stream = connect(network, smpp, tls).await?;
    Ok(::smpp::bind(stream, &options).await?)
}

async fn connect(
    network: &dyn Network,
    settings: &SmppSettings,
    tls: Option<&TlsConnector>,
) -> Result<Box<dyn Transport>, ConnectError> {
    let deadline = Instant::now() + TIMEOUT;
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let resolved = timeout_at(deadline, network.resolve_carrier(&settings.address)).await;
    let resolved = resolved.map_err(late).flatten();
    let addresses = resolved.map_err(ConnectError::Unresolved)?;
    let dialled = dial_any(network, &addresses, deadline).await;
    let stream = dialled.map_err(ConnectError::Unreachable)?;
    let Some(tls) = tls else {
        return Ok(stream);
    };
    let name = server_name(&settings.address).map_err(ConnectError::Tls)?;
    let secured = timeout_at(deadline, tls.connect(name, stream)).await;
    let secured = secured.map_err(late).flatten();
    Ok(Box::new(secured.map_err(ConnectError::Tls)?))
}

/// Returns the name that the certificate of the carrier must have.
fn server_name(address: &str) -> io::Result<ServerName<'static>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_matches(['[', ']']).to_owned();
    ServerName::try_from(host).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::network::NetworkFuture;
    use crate::settings::BindMode;
    use rustls::{ClientConfig, RootCertStore};
    use smpp::{CommandStatus, ReceiptIds};
    use std::future::{pending, ready};
    use std::net::{IpAddr, SocketAddr};
    use std::sync::Arc;
    use tokio::io::duplex;

    /// The behaviour of the address with each port.
    #[derive(Clone, Copy)]
    enum Listening {
        Silent,
        Shut,
        /// The server accepts the connection and closes it.
        Open,
    }

    /// A network with these addresses. Without any, the name does not resolve.
    struct Servers(&'static [Listening]);

    impl Network for Servers {
        fn resolve(&self, _name: &str) -> NetworkFuture<'_, Vec<IpAddr>> {
            unreachable!("only callbacks resolve names by this")
        }

        fn resolve_carrier<'a>(&'a self, _address: &'a str) -> NetworkFuture<'a, Vec<SocketAddr>> {
            let ports = 0..u16::try_from(self.0.len()).unwrap();
            let addresses: Vec<_> = ports.map(|port| ([192, 0, 2, 1], port).into()).collect();
            Box::pin(ready(if addresses.is_empty() {
                Err(io::Error::other("no such name"))
            } else {
                Ok(addresses)
            }))
        }

        fn dial(&self, address: SocketAddr) -> NetworkFuture<'_, Box<dyn Transport>> {
            match self.0[usize::from(address.port())] {
                Listening::Silent => Box::pin(pending()),
                Listening::Shut => Box::pin(ready(Err(io::ErrorKind::ConnectionRefused.into()))),
                Listening::Open => {
                    let (ours, _) = duplex(1_024);
                    Box::pin(ready(Ok(Box::new(ours) as Box<dyn Transport>)))
                }
            }
        }

        fn roots(&self) -> RootCertStore {
            RootCertStore::empty()
        }
    }
    fn settings() -> SmppSettings {
        SmppSettings {
            address: "smsc.example.ng:2775".to_owned(),
            system_id: "ogene".to_owned(),
            password: "secret".to_owned(),
            system_type: String::new(),
            service_type: String::new(),
            enquire_link: Duration::from_secs(30),
            tls: false,
            receipt_ids: ReceiptIds::Exact,
            unmarked_receipts: true,
            send_validity: true,
            bind_mode: BindMode::Transceiver,
        }
    }

    async fn connect_to(
        servers: &'static [Listening],
        tls: Option<&TlsConnector>,
    ) -> Result<(), ConnectError> {
        connect(&Servers(servers), &settings(), tls).await.map(drop)
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_address_leaves_time_for_the_next_one() {
        use Listening::{Open, Shut, Silent};
        for servers in [
            &[Silent, Open][..],
            &[Silent, Shut, Open],
            &[Silent, Silent, Silent, Open],
        ] {
            let start = Instant::now();
            connect_to(servers, None).await.unwrap();
            assert!(start.elapsed() < TIMEOUT, "{:?}", start.elapsed());
        }
        let start = Instant::now();
        let silent = connect_to(&[Silent, Silent], None).await.unwrap_err();
        assert_eq!(
            (silent.label().as_str(), start.elapsed()),
            ("timed_out", TIMEOUT)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn each_connect_error_has_a_text_and_a_label() {
        let config =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth();
        let tls = TlsConnector::from(Arc::new(config));
        let outcome = async |servers, tls| {
            let error = connect_to(servers, tls).await.unwrap_err();
            (error.to_string(), error.label())
        };
        let bind = |error: BindError| {
            let error = ConnectError::from(error);
            (error.to_string(), error.label())
        };
        let refused = BindError::Refused(CommandStatus::RINVPASWD);
        assert!(ConnectError::from(refused).is_refusal());
        for ((text, label), outcome) in [
            (
                ("host name not resolved: no such name", "unresolved"),
                outcome(&[], None).await,
            ),
            (
                ("connection failed: connection refused", "refused"),
                outcome(&[Listening::Shut], None).await,
            ),
            (
                ("connection failed: timed out", "timed_out"),
                outcome(&[Listening::Silent], None).await,
            ),
            (
                ("TLS handshake failed: broken pipe", "tls"),
                outcome(&[Listening::Open], Some(&tls)).await,
            ),
            (
                (
                    "the bind was refused with ESME_RINVPASWD (0x0000000e)",
                    "ESME_RINVPASWD (0xE)",
                ),
                bind(BindError::Refused(CommandStatus::RINVPASWD)),
            ),
            (
                ("the bind was not answered in time", "bind_timed_out"),
                bind(BindError::TimedOut),
            ),
            (
                (
                    "the connection was closed before the bind was answered",
                    "closed",
                ),
                bind(BindError::Closed),
            ),
            (
                ("the connection failed: connection reset", "broken"),
                bind(io::Error::from(io::ErrorKind::ConnectionReset).into()),
            ),
        ] {
            assert_eq!((outcome.0.as_str(), outcome.1.as_str()), (text, label));
        }
    }
}
