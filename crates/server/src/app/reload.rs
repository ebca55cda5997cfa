//! The reload of the configuration. It happens on SIGHUP, or when `ogene config reload` asks all
//! nodes. The certificate of HTTPS is also reloaded when its file has changed.

use super::certificate::{Certificate, Certificates, Look};
use super::files;
use super::http_settings::http_settings;
use crate::config::{Config, ConfigFault, restart};
use crate::http;
use arc_swap::ArcSwap;
use engine::{Engine, Reloaded};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

/// The interval of the checks for a renewed certificate.
const CERTIFICATE_INTERVAL: Duration = Duration::from_secs(2);

/// A function that reads a configuration.
type Read = dyn Fn() -> Result<Config, Vec<ConfigFault>> + Send + Sync;

/// The source of a service's configuration.
pub struct Source {
    read: Arc<Read>,
    asked: mpsc::Receiver<()>,
}

impl Source {
    /// A source that reads again after a message from `asked`, or when all nodes are asked.
    pub fn new(
        read: impl Fn() -> Result<Config, Vec<ConfigFault>> + Send + Sync + 'static,
        asked: mpsc::Receiver<()>,
    ) -> Self {
        let read = Arc::new(read);
        Self { read, asked }
    }

    /// A source of this one configuration, which never changes.
    pub fn fixed(config: Config) -> Self {
        let (_, asked) = mpsc::channel(1);
        Self::new(move || Ok(config.clone()), asked)
    }
}

/// The state that a reload changes, and the configuration that it compares with.
pub(super) struct Reloading {
    pub(super) running: Config,
    pub(super) engine: Engine,
    pub(super) settings: Arc<ArcSwap<http::Settings>>,
    pub(super) certificates: Certificates,
}

impl Reloading {
    /// Reloads until it is aborted.
    pub(super) async fn run(mut self, source: Source) {
        let Source { read, mut asked } = source;
        let mut everywhere = self.engine.reloads();
        let mut looks = interval(CERTIFICATE_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = next(&mut asked) => self.reload(&read, "SIGHUP").await,
                // The sender belongs to the engine, which lives as long as this task.
                _ = everywhere.changed() => self.reload(&read, "ogene config reload").await,
                _ = looks.tick() => self.look().await,
            }
        }
    }

    /// Reads the configuration again and applies it. After a fault everything stays as it is.
    async fn reload(&mut self, read: &Arc<Read>, asked_by: &str) {
        let read = Arc::clone(read);
        let read = tokio::task::spawn_blocking(move || read()).await;
        let mut config = match read {
            Ok(Ok(config)) => config,
            Ok(Err(faults)) => {
                for fault in faults {
                    tracing::error!(%fault, "configuration: not reloaded, it has a fault");
                }
                return;
            }
            Err(error) => {
                tracing::error!(%error, "configuration: not reloaded, it is not readable");
                return;
            }
        };
        let kept = restart::keep(&mut config, &self.running);
        let mut fitting = config.clone();
        files::fit(&mut fitting);
        let reloaded = match self.engine.reload(fitting.settings()).await {
            Ok(reloaded) => reloaded,
            Err(error) => {
                tracing::error!(%error, "configuration: not reloaded, the running one stays");
                return;
            }
        };
        self.settings.store(Arc::new(http_settings(&config)));
        self.certificates.replace(&config);
        for key in kept {
            tracing::warn!(
                config.key = key,
                "configuration: key needs a restart, the running value stays"
            );
        }
        for note in &config.notes {
            tracing::warn!("{note}");
        }
        log(asked_by, &config, &reloaded);
        self.running = config;
    }

    /// Serves the certificates that their files now hold.
    async fn look(&self) {
        for certificate in self.certificates.all() {
            look_at(certificate).await;
        }
    }
}

async fn look_at(certificate: Arc<Certificate>) {
    match tokio::task::spawn_blocking(move || certificate.look()).await {
        Ok(Look::Renewed) => tracing::info!("certificate: renewed"),
        Ok(Look::Refused(reason)) => {
            tracing::error!(%reason, "certificate: not renewed, the one before stays");
        }
        Ok(Look::Same) => {}
        Err(error) => tracing::error!(%error, "certificate: check failed"),
    }
}

/// Waits for a request to reload. Waits for ever once no sender is left.
async fn next(asked: &mut mpsc::Receiver<()>) {
    if asked.recv().await.is_none() {
        pending::<()>().await;
    }
}

fn log(asked_by: &str, config: &Config, reloaded: &Reloaded) {
    let file = config.file.as_ref().map(|file| file.display().to_string());
    tracing::info!(
        config.file = file.unwrap_or_default(),
        config.asked_by = asked_by,
        carriers.added = reloaded.added.join(","),
        carriers.changed = reloaded.changed.join(","),
        carriers.removed = reloaded.removed.join(","),
        "configuration: reloaded"
    );
}
