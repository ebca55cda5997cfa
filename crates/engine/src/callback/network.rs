//! The outside world of callbacks: names, addresses and sockets.

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, TokioResolver};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// What a callback needs of the network, so that tests can write down who would have been connected to.
pub(super) trait Network: Send + Sync + 'static {
    /// An open connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// The addresses of a name, as they are now.
    fn resolve(&self, name: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;

    /// Connects to exactly this address.
    fn dial(&self, address: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// The real network: the system's name servers and hosts file, as they were at the start, and TCP.
pub(super) struct Internet {
    resolver: TokioResolver,
}

impl Internet {
    /// Reads the system's configuration. Without one, only the hosts file and `localhost` have addresses.
    pub(super) fn from_system() -> io::Result<Self> {
        let mut builder = Resolver::builder_tokio().unwrap_or_else(|error| {
            tracing::error!(
                error = %error,
                "no name servers known: callbacks to names outside the hosts file will fail and be retried",
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
    type Stream = TcpStream;

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = self
            .resolver
            .lookup_ip(name)
            .await
            .map_err(io::Error::other)?;
        Ok(found.iter().collect())
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
