//! Reaching a carrier: its name, an address of it, TLS and the bind; and what came in the way, in few words.

use crate::context::metrics::status_word;
use crate::context::network::{Network, Transport, dial_any};
use crate::settings::CarrierSettings;
use smpp::{BindError, BindKind, BindOptions, EventStream, Session, StatusClass};
use std::io;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long connecting may take, all addresses and TLS together, and how long the bind then.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a connection is not bound.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("its host name has no address: {0}")]
    Unresolved(io::Error),
    #[error("it takes no connection: {0}")]
    Unreachable(io::Error),
    #[error("no TLS session: {0}")]
    Tls(io::Error),
    #[error(transparent)]
    Bind(#[from] BindError),
}

impl ConnectError {
    /// The word for it on `/metrics`: for a bind that was answered, the status.
    pub(crate) fn word(&self) -> String {
        let word = match self {
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
        word.to_owned()
    }

    /// Returns `true` if the carrier does not know us, and locks out whoever asks too often.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Bind(BindError::Refused(status)) if status.class() == StatusClass::BindRefused)
    }
}

/// Connects to a carrier and binds.
pub(crate) async fn bind(
    network: &dyn Network,
    settings: &CarrierSettings,
    tls: Option<&TlsConnector>,
    kind: BindKind,
) -> Result<(Session, EventStream), ConnectError> {
    let options = BindOptions {
        kind,
        system_id: settings.system_id.clone(),
        password: settings.password.clone(),
        system_type: settings.system_type.clone(),
        window: settings.window,
        enquire_link: settings.enquire_link,
        response_timeout: settings.response_timeout,
        bind_timeout: TIMEOUT,
        ..BindOptions::default()
    };
    let stream = connect(network, settings, tls).await?;
    Ok(smpp::bind(stream, &options).await?)
}

async fn connect(
    network: &dyn Network,
    settings: &CarrierSettings,
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

/// The name that the carrier's certificate must be for.
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

    /// The event at the address of each port.
    #[derive(Clone, Copy)]
    enum Listening {
        Silent,
        Shut,
        /// Hangs up.
        Open,
    }

    /// A carrier with these addresses, or, without any, with none that is known.
    struct Doors(&'static [Listening]);

    impl Network for Doors {
        fn resolve(&self, _name: &str) -> NetworkFuture<'_, Vec<IpAddr>> {
            unreachable!("callbacks alone ask for this")
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
    fn settings() -> CarrierSettings {
        CarrierSettings {
            name: "mtn".to_owned(),
            address: "smsc.example.ng:2775".to_owned(),
            system_id: "ogene".to_owned(),
            password: "secret".to_owned(),
            system_type: String::new(),
            service_type: String::new(),
            binds: 1,
            window: 10,
            max_per_second: None,
            enquire_link: Duration::from_secs(30),
            response_timeout: Duration::from_mins(1),
            tls: false,
            tls_ca: Vec::new(),
            receipt_ids: ReceiptIds::Exact,
            unmarked_receipts: true,
            send_validity: true,
            bind_mode: BindMode::Transceiver,
        }
    }

    async fn through(
        servers: &'static [Listening],
        tls: Option<&TlsConnector>,
    ) -> Result<(), ConnectError> {
        connect(&Doors(servers), &settings(), tls).await.map(drop)
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
            through(servers, None).await.unwrap();
            assert!(start.elapsed() < TIMEOUT, "{:?}", start.elapsed());
        }
        let start = Instant::now();
        let silent = through(&[Silent, Silent], None).await.unwrap_err();
        assert_eq!(
            (silent.word().as_str(), start.elapsed()),
            ("timed_out", TIMEOUT)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn why_a_carrier_is_not_bound_is_told_in_few_words() {
        let config =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth();
        let tls = TlsConnector::from(Arc::new(config));
        let outcome = async |servers, tls| {
            let error = through(servers, tls).await.unwrap_err();
            (error.to_string(), error.word())
        };
        let bind = |error: BindError| {
            let error = ConnectError::from(error);
            (error.to_string(), error.word())
        };
        let refused = BindError::Refused(CommandStatus::RINVPASWD);
        assert!(ConnectError::from(refused).is_refusal());
        for ((text, word), outcome) in [
            (
                ("its host name has no address: no such name", "unresolved"),
                outcome(&[], None).await,
            ),
            (
                ("it takes no connection: connection refused", "refused"),
                outcome(&[Listening::Shut], None).await,
            ),
            (
                ("it takes no connection: timed out", "timed_out"),
                outcome(&[Listening::Silent], None).await,
            ),
            (
                ("no TLS session: broken pipe", "tls"),
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
            assert_eq!((outcome.0.as_str(), outcome.1.as_str()), (text, word));
        }
    }
}
