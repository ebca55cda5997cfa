//! Connects to the host of a URL. A customer's URL never leads to an address inside our network.
//!
//! The guard resolves the name, drops forbidden addresses, connects to one of the checked
//! addresses, and then starts TLS under the original name. So it covers every notation of an
//! address, names of internal hosts, DNS rebinding (there is no second lookup), and mapped
//! addresses.

use crate::context::network::{Network, Transport, dial_any};
use domain::public_address;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// The reason why an attempt got no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttemptError {
    /// The stored text is not a valid URL.
    #[error("the URL cannot be called")]
    Url,
    /// The name has no address.
    #[error("the name does not resolve")]
    Unresolved(#[source] io::Error),
    /// All addresses are forbidden.
    #[error("the host leads to an address that may not be called")]
    Forbidden,
    /// No address accepted a connection.
    #[error("no connection")]
    Unreachable(#[source] io::Error),
    /// The TLS handshake failed.
    #[error("no TLS session")]
    Tls(#[source] io::Error),
    /// The connection broke, or the answer was not HTTP.
    #[error("no answer")]
    Broken(#[source] hyper::Error),
    /// The attempt timed out.
    #[error("timed out")]
    TimedOut,
}

impl AttemptError {
    /// Returns the label of the error for metrics and logs.
    pub(crate) const fn class(&self) -> &'static str {
        match self {
            Self::Url => "bad_url",
            Self::Unresolved(_) => "unresolved",
            Self::Forbidden => "forbidden",
            Self::Unreachable(_) => "unreachable",
            Self::Tls(_) => "tls",
            Self::Broken(_) => "broken",
            Self::TimedOut => "timed_out",
        }
    }
}

/// Opens connections to permitted addresses.
pub(crate) struct Connector {
    network: Arc<dyn Network>,
    allow_private: bool,
    tls: Option<TlsConnector>,
}

impl Connector {
    /// Creates a connector with the trusted authorities of the network. `allow_private` switches
    /// the guard off.
    pub(crate) fn new(
        network: Arc<dyn Network>,
        allow_private: bool,
    ) -> Result<Self, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(network.roots())
            .with_no_client_auth();
        Ok(Self {
            network,
            allow_private,
            tls: Some(TlsConnector::from(Arc::new(tls))),
        })
    }

    /// Creates a connector for URLs of the configuration, which may lead to any address. Without
    /// `tls`, https fails.
    pub(crate) fn configured(network: Arc<dyn Network>, tls: Option<TlsConnector>) -> Self {
        Self {
            network,
            allow_private: true,
            tls,
        }
    }

    /// Connects to the host and port of `url`, with TLS for https, within `limit`.
    pub(crate) async fn connect(
        &self,
        url: &Url,
        limit: Duration,
    ) -> Result<Box<dyn Transport>, AttemptError> {
        let deadline = Instant::now() + limit;
        timeout_at(deadline, self.open(url, deadline))
            .await
            .map_err(|_| AttemptError::TimedOut)?
    }

    async fn open(&self, url: &Url, deadline: Instant) -> Result<Box<dyn Transport>, AttemptError> {
        let host = url.host().ok_or(AttemptError::Url)?;
        let port = url.port_or_known_default().ok_or(AttemptError::Url)?;
        let addresses = self.allowed(&host).await?;
        let addresses: Vec<_> = addresses
            .into_iter()
            .map(|address| SocketAddr::new(address, port))
            .collect();
        let dialled = dial_any(&*self.network, &addresses, deadline).await;
        let stream = dialled.map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => AttemptError::TimedOut,
            _ => AttemptError::Unreachable(error),
        })?;
        if url.scheme() != "https" {
            return Ok(stream);
        }
        let name = server_name(&host).ok_or(AttemptError::Url)?;
        let tls = self.tls.as_ref().ok_or(AttemptError::Url)?;
        let stream = tls.connect(name, stream).await.map_err(AttemptError::Tls)?;
        Ok(Box::new(stream))
    }

    /// Returns the permitted addresses of a host.
    async fn allowed(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, AttemptError> {
        let mut addresses = match *host {
            Host::Ipv4(address) => vec![address.into()],
            Host::Ipv6(address) => vec![address.into()],
            Host::Domain(name) => self
                .network
                .resolve(name)
                .await
                .map_err(AttemptError::Unresolved)?,
        };
        if addresses.is_empty() {
            return Err(AttemptError::Unresolved(io::ErrorKind::NotFound.into()));
        }
        addresses.retain(|&address| self.allow_private || public_address::is_public(address));
        if addresses.is_empty() {
            Err(AttemptError::Forbidden)
        } else {
            Ok(addresses)
        }
    }
}

/// Returns the name that the certificate of the receiver must have.
fn server_name(host: &Host<&str>) -> Option<ServerName<'static>> {
    match *host {
        Host::Ipv4(address) => Some(IpAddr::from(address).into()),
        Host::Ipv6(address) => Some(IpAddr::from(address).into()),
        // The trailing dot of an absolute name is not part of the name in a certificate.
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned()).ok(),
    }
}
