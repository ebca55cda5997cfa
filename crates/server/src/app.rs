//! Where the parts are joined: database, engine, HTTP. `serve` and the tests run the same function.

mod certificate;
mod files;
pub(crate) mod lock;
mod metrics;
mod reload;

pub use reload::Source;

use crate::config::{Config, Metrics};
use crate::http;
use arc_swap::ArcSwap;
use certificate::Certificate;
use database::Target;
use engine::{Clock, Engine, System};
use reload::Reloading;
use std::fs::File;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store::{Standing, Store};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long open requests may take once an end is asked for.
const HTTP_GRACE: Duration = Duration::from_secs(2);
/// How long the engine may take after that: what is in flight on the carriers' connections, and unbinding.
/// Together they stay below the 10 s after which service supervisors lose patience.
const ENGINE_GRACE: Duration = Duration::from_millis(7_500);

/// Connections for scrapes of the metrics, where these have an address of their own.
const MAX_SCRAPES: usize = 16;

/// Why the service cannot start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data directory cannot be used.
    #[error("the data directory {path} cannot be used: {source}")]
    DataDir {
        /// Its path.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another process serves from the same directory.
    #[error(
        "another ogene serves from {0} already: stop it, or give this one a `data_dir` of its own"
    )]
    Locked(String),
    /// The embedded database was moved to PostgreSQL.
    #[error(
        "what is in {0} was moved to PostgreSQL: set `database_url` to work with it there. To work with {0} \
         again, without all that has happened since: sqlite3 {0}/ogene.db \"delete from marks where name = \
         'moved'\""
    )]
    Moved(String),
    /// The PostgreSQL database is half filled.
    #[error(
        "an import into the PostgreSQL database is not complete: run `ogene import-sqlite` again, with the \
         same directory"
    )]
    Importing,
    /// The database.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] engine::StartError),
    /// The database changes nothing any more.
    #[error(
        "the disk failed to keep what was written: see to it, and start again; what was answered is there"
    )]
    Disk,
    /// TLS.
    #[error("HTTPS cannot be served: {0}")]
    Tls(#[from] rustls::Error),
    /// The address of the metrics is taken.
    #[error("cannot listen on {address}: {source}; choose another `http.metrics_listen`")]
    Metrics {
        /// Where.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The HTTP server.
    #[error("the HTTP server stopped: {0}")]
    Http(#[source] io::Error),
}

/// Runs the service on `listener`, by that clock, until `shutdown` ends: then takes no more requests, finishes what
/// is in flight, unbinds from the carriers, and returns. What is read from `source` again takes the place of `config`.
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
    // Held until the end: the embedded database has one serving process.
    let _lock = lock(&config)?;
    let store = open(&config).await?;
    let system = System {
        clock,
        ..System::system()?
    };
    let engine = Engine::start(store.clone(), config.settings(), system).await?;
    let settings = Arc::new(ArcSwap::from_pointee(config.http_settings()));
    let state = http::State {
        engine: engine.clone(),
        metrics: Arc::new(move || metrics.render()),
        settings: Arc::clone(&settings),
        rooms: http::Rooms::new(
            config.limits.body_memory_bytes,
            config.http.places.connections,
        ),
        codes: config.http.code_prefix.clone(),
    };
    let scraped = serve_metrics(&config, &state).await?;
    let router = http::router(state, config.http.metrics == Metrics::Shared);
    let certificate = config.http.tls.clone().map(Certificate::new).map(Arc::new);
    let tls = certificate.as_ref().map(Certificate::server).transpose()?;

    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = listener.local_addr().map_err(Error::Http)?;
    tracing::info!(http.address = %format_args!("{scheme}://{address}"), "serving");

    let (stop, stopped) = oneshot::channel::<()>();
    let codes = config.http.code_prefix.clone();
    let server = http::serve(listener, tls, config.http.places, codes, router, async {
        // A sender that is gone asks for the end just as one that speaks.
        let _ = stopped.await;
    });
    let reloading = Reloading {
        running: configured,
        engine: engine.clone(),
        settings,
        certificate,
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
        ended
    } else {
        tracing::info!("service stopping: new requests are refused");
        let _ = stop.send(());
        timeout(HTTP_GRACE, server).await.unwrap_or(Ok(()))
    };
    if timeout(ENGINE_GRACE, engine.shutdown()).await.is_err() {
        tracing::warn!(
            "carriers did not answer in time: recipients in doubt are settled at the next start"
        );
    }
    upkeep.abort();
    ended.map_err(Error::Http)
}

/// Serves the metrics at an address of their own, where they have one.
async fn serve_metrics(config: &Config, state: &http::State) -> Result<JoinHandle<()>, Error> {
    let Metrics::At(address) = config.http.metrics else {
        return Ok(tokio::spawn(async {}));
    };
    let listening = TcpListener::bind(address).await;
    let listener = listening.map_err(|source| Error::Metrics { address, source })?;
    let address = listener.local_addr().map_err(Error::Http)?;
    tracing::info!(metrics.address = %address, "serving metrics");
    let places = http::Places {
        connections: MAX_SCRAPES,
        ..config.http.places
    };
    let router = http::metrics_router(state.clone());
    let serving = http::serve(
        listener,
        None,
        places,
        state.codes.clone(),
        router,
        pending(),
    );
    Ok(tokio::spawn(async {
        if let Err(error) = serving.await {
            tracing::error!(%error, "metrics listener ended");
        }
    }))
}

/// Takes the place of the one process that serves from an embedded database. Before it is opened: a newer release that is
/// started beside an older one must not change its tables.
pub fn lock(config: &Config) -> Result<Option<File>, Error> {
    match config.target() {
        Target::Directory(directory) => lock::serve(&directory).map(Some),
        Target::Postgres(_) => Ok(None),
    }
}

/// Opens the database that `config` names, and makes or migrates it where needed. One that was moved elsewhere,
/// or is not filled yet, is not to be worked with.
pub async fn open(config: &Config) -> Result<Store, Error> {
    let store = Store::open(&config.target()).await?;
    match store.standing().await? {
        Standing::Open => Ok(store),
        Standing::Importing => Err(Error::Importing),
        Standing::Moved => Err(Error::Moved(config.data_dir.display().to_string())),
    }
}
