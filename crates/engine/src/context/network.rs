//! The network, passed as an argument: name resolution and connections.

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, TokioResolver};
use rustls::RootCertStore;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout};

/// Maximum number of addresses of a name that are tried.
const MAX_ADDRESSES: u32 = 4;

/// An open connection.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// The future of a network operation.
pub type NetworkFuture<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// The network operations of carriers and callbacks. Tests replace them.
pub trait Network: Send + Sync + 'static {
    /// Resolves the host name of a callback.
    fn resolve<'a>(&'a self, name: &'a str) -> NetworkFuture<'a, Vec<IpAddr>>;

    /// Connects to this address.
    fn dial(&self, address: SocketAddr) -> NetworkFuture<'_, Box<dyn Transport>>;

    /// Resolves the host and port of a carrier.
    fn resolve_carrier<'a>(&'a self, address: &'a str) -> NetworkFuture<'a, Vec<SocketAddr>>;

    /// Returns the trusted certificate authorities for callbacks.
    fn roots(&self) -> RootCertStore;
}

/// The real network. Callbacks use the name servers and hosts file that the system had at the
/// start. Carriers use the resolver of the system.
pub(crate) struct Internet {
    resolver: TokioResolver,
}

impl Internet {
    /// Reads the resolver configuration of the system. Without one, only the hosts file and
    /// `localhost` resolve.
    pub(crate) fn from_system() -> io::Result<Self> {
        let mut builder = Resolver::builder_tokio().unwrap_or_else(|error| {
            tracing::error!(
                error = %error,
                "callbacks: no name servers known, names outside the hosts file fail",
            );
            let nowhere = ResolverConfig::from_parts(None, Vec::new(), Vec::new());
            Resolver::builder_with_config(nowhere, TokioRuntimeProvider::default())
        });
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Always;
        let resolver = builder.build().map_err(io::Error::other)?;
        Ok(Self { resolver })
    }
}

impl Network for Internet {
    fn resolve<'a>(&'a self, name: &'a str) -> NetworkFuture<'a, Vec<IpAddr>> {
        Box::pin(async move {
            let found = self.resolver.lookup_ip(name).await;
            Ok(found.map_err(io::Error::other)?.iter().collect())
        })
    }

    fn dial(&self, address: SocketAddr) -> NetworkFuture<'_, Box<dyn Transport>> {
        Box::pin(connect(address))
    }

    fn resolve_carrier<'a>(&'a self, address: &'a str) -> NetworkFuture<'a, Vec<SocketAddr>> {
        Box::pin(async move { Ok(lookup_host(address).await?.collect()) })
    }

    /// Returns the certificate authorities of the system. Logs an error if there are none.
    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        let (added, _unreadable) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            tracing::error!("callbacks: no trusted certificates on this system, https fails");
        }
        roots
    }
}

/// Tries the addresses in order. Each gets an equal share of the time that is left, so that a
/// silent address cannot use up all of it.
pub(crate) async fn dial_any(
    network: &dyn Network,
    addresses: &[SocketAddr],
    deadline: Instant,
) -> io::Result<Box<dyn Transport>> {
    let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for (&address, left) in addresses.iter().zip((1..=count.min(MAX_ADDRESSES)).rev()) {
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        match timeout(share, network.dial(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

/// Connects over TCP, without Nagle's delay.
async fn connect(address: SocketAddr) -> io::Result<Box<dyn Transport>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}
