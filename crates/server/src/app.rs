//! The application: it joins database, engine and HTTP. `serve` and the tests run the same
//! function.

mod certificate;
mod console;
mod error;
mod files;
mod http_settings;
pub(crate) mod lock;
mod metrics;
mod reload;

pub use error::Error;
#[cfg(test)]
pub(crate) use http_settings::installation;
pub use reload::Source;

use crate::config::{Config, Metrics};
use crate::http;
use crate::smpp_server::{self, SmppListener};
use arc_swap::ArcSwap;
use certificate::{Certificate, Certificates};
use database::Target;
use engine::{Clock, Engine, System};
use http_settings::http_settings;
use reload::Reloading;
use std::fs::File;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use store::{ImportState, Store};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The time that open requests have to finish after a shutdown was requested.
const HTTP_GRACE: Duration = Duration::from_secs(2);
/// The time that the engine then has to finish the pages in flight and unbind. Together with
/// [`HTTP_GRACE`] it stays below 10 s, after which service supervisors kill a process.
const ENGINE_GRACE: Duration = Duration::from_millis(7_500);

/// Maximum connections to the address of the metrics.
const MAX_SCRAPES: usize = 16;

/// Runs the service on `listener`, by that clock, until `shutdown` completes. Then it accepts no
/// more requests, finishes the requests and pages in flight, unbinds from the carriers, and
/// returns. A configuration from `source` replaces `config`.
pub async fn serve(
    mut config: Config,
    source: Source,
    clock: Clock,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let configured = config.clone();
    files::fit(&mut config);
    let metrics = metrics::install();
    let upkeep = tokio::spawn(metrics.clone().keep_up());
    // The lock is held until the end: one process serves from the embedded database.
    let _lock = lock(&config)?;
    let store = open(&config).await?;
    let system = System {
        clock,
        ..System::from_os()?
    };
    let engine = Engine::start(store.clone(), config.settings(), system).await?;
    let settings = Arc::new(ArcSwap::from_pointee(http_settings(&config)));
    let state = http::State {
        engine: engine.clone(),
        metrics: Arc::new(move || metrics.render()),
        settings: Arc::clone(&settings),
        memory: http::BodyMemory::new(config.limits.body_memory_bytes, config.http.connections.max),
        codes: config.http.code_prefix.clone(),
    };
    let scraped = serve_metrics(&config, &state).await?;
    let certificates = Certificates::new(&config);
    let smpp = serve_smpp(&config, &state, &certificates).await?;
    let router = console::router(&config, state);
    let tls = certificates.http.as_ref();
    let tls = tls.map(Certificate::server).transpose()?;

    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = listener.local_addr().map_err(Error::Http)?;
    tracing::info!(http.address = %format_args!("{scheme}://{address}"), "serving");
    tokio::spawn(console::set_up(config.clone(), engine.clone(), address));

    let (stop, stopped) = oneshot::channel::<()>();
    let codes = config.http.code_prefix.clone();
    let server = http::serve(
        listener,
        tls,
        config.http.connections,
        codes,
        router,
        async {
            // A dropped sender requests the shutdown as well.
            let _ = stopped.await;
        },
    );
    let reloading = Reloading {
        running: configured,
        engine: engine.clone(),
        settings,
        certificates,
    };
    let reloading = tokio::spawn(reloading.run(source));
    tokio::pin!(server, shutdown);
    let ended = tokio::select! {
        ended = &mut server => Some(ended),
        () = &mut shutdown => None,
        () = store.ended() => return Err(Error::Disk),
    };
    reloading.abort();
    scraped.abort();
    let ended = if let Some(ended) = ended {
        stop_smpp(smpp).await;
        ended
    } else {
        tracing::info!("service: stopping, new requests are refused");
        let _ = stop.send(());
        let (ended, ()) = tokio::join!(timeout(HTTP_GRACE, server), stop_smpp(smpp));
        ended.unwrap_or(Ok(()))
    };
    stop_engine(&engine).await;
    upkeep.abort();
    ended.map_err(Error::Http)
}

/// Serves customers by SMPP, if that is configured.
async fn serve_smpp(
    config: &Config,
    state: &http::State,
    certificates: &Certificates,
) -> Result<Option<SmppListener>, Error> {
    let server = &config.smpp_server;
    if !server.listens() {
        return Ok(None);
    }
    let tls = certificates.of_smpp();
    let mut addresses = Vec::new();
    for (address, is_secured) in [(server.listen, false), (server.tls_listen, true)] {
        let Some(address) = address else { continue };
        let unusable = |source| Error::Smpp { address, source };
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let tls = tls.filter(|_| is_secured).map(Certificate::server);
        addresses.push(smpp_server::Address {
            bound: listener.local_addr().map_err(unusable)?,
            listener,
            tls: tls.transpose()?,
        });
    }
    let settings = Arc::clone(&state.settings);
    let trusts = move |address| {
        let settings = settings.load();
        let mut proxies = settings.trusted_proxies.iter();
        proxies.any(|range| range.holds(address))
    };
    let clients = smpp_server::Clients::new(server, state.engine.smpp(), Box::new(trusts));
    Ok(Some(smpp_server::start(addresses, clients)))
}

async fn stop_engine(engine: &Engine) {
    if timeout(ENGINE_GRACE, engine.shutdown()).await.is_err() {
        tracing::warn!(
            "carriers: no response in time, recipients in doubt are settled at the next start"
        );
    }
}

async fn stop_smpp(smpp: Option<SmppListener>) {
    if let Some(smpp) = smpp {
        smpp.stop().await;
    }
}

/// Serves the metrics at their own address, if they have one.
async fn serve_metrics(config: &Config, state: &http::State) -> Result<JoinHandle<()>, Error> {
    let Metrics::At(address) = config.http.metrics else {
        return Ok(tokio::spawn(async {}));
    };
    let listening = TcpListener::bind(address).await;
    let listener = listening.map_err(|source| Error::Metrics { address, source })?;
    let address = listener.local_addr().map_err(Error::Http)?;
    tracing::info!(metrics.address = %address, "serving metrics");
    let limits = http::ConnectionLimits {
        max: MAX_SCRAPES,
        ..config.http.connections
    };
    let router = http::metrics_router(state.clone());
    let serving = http::serve(
        listener,
        None,
        limits,
        state.codes.clone(),
        router,
        pending(),
    );
    Ok(tokio::spawn(async {
        if let Err(error) = serving.await {
            tracing::error!(%error, "metrics listener: ended");
        }
    }))
}

/// Takes the lock of the one process that serves from an embedded database. It is taken before the
/// database is opened: a newer release that starts beside an older one must not change its tables.
pub fn lock(config: &Config) -> Result<Option<File>, Error> {
    match config.target() {
        Target::Directory(directory) => lock::serve(&directory).map(Some),
        Target::Postgres(_) => Ok(None),
    }
}

/// Opens the database that `config` names, and creates or migrates it. A database that was moved,
/// or that an import has not filled yet, is refused.
pub async fn open(config: &Config) -> Result<Store, Error> {
    let store = Store::open(&config.target()).await?;
    match store.import_state().await? {
        ImportState::Open => Ok(store),
        ImportState::Importing => Err(Error::Importing),
        ImportState::Moved => Err(Error::Moved(config.data_dir.display().to_string())),
    }
}
