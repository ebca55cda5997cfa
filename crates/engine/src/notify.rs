//! The fifth stage: callbacks post the outcome of each recipient to the URL of its message.
//!
//! A callback is a database row first. The worker claims due callbacks and queues them in lanes,
//! one for each account and origin (`lanes`, without effects). Live and sandbox have separate lanes
//! (`partitions`). Each attempt in flight is a task: it posts over a guarded connection (`client`,
//! `connect`, `pool`), signs if the account has secrets (`signing`), and takes the next callback.
//! Outcomes are committed in groups (`worker`, `tasks`).
//!
//! A crash leaves claimed callbacks in the database. They are posted again, which the interface
//! allows (section 6, rule 4).

mod attempt;
mod client;
#[cfg(test)]
mod guard_tests;
mod health;
mod lane;
mod lanes;
mod limits;
mod observe;
mod partitions;
mod signing;
mod target;
mod tasks;
#[cfg(test)]
mod tests;
mod waiting;
mod worker;

use crate::context::CallbackSink;
use crate::context::http_client::connect::Connector;
use crate::context::system::System;
use crate::error::CallbackStartError;
use crate::settings::CallbackSettings;
use client::{Client, Timeouts};
use domain::NodeId;
use parking_lot::Mutex;
use signing::Secrets;
use std::sync::Arc;
use std::time::Duration;
use store::{Callback, CallbackRoom, Revision, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use worker::WebhookWorker;

/// Maximum number of uncommitted outcomes before attempts have to wait for a commit.
const OUTCOME_QUEUE: usize = 1024;
/// Longest wait of a shutdown for attempts in flight.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The running notify stage. A clone shares its state.
#[derive(Clone)]
pub(crate) struct Callbacks {
    worker: Arc<WebhookWorker>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Callbacks {
    /// Starts the stage. The signing secrets are read again at each new `revision`.
    pub(crate) async fn start(
        store: Store,
        node: NodeId,
        settings: &CallbackSettings,
        system: System,
        revision: watch::Receiver<Revision>,
    ) -> Result<Self, CallbackStartError> {
        let timeouts = Timeouts::default();
        Self::start_with(store, node, settings, system, revision, timeouts).await
    }

    async fn start_with(
        store: Store,
        node: NodeId,
        settings: &CallbackSettings,
        system: System,
        revision: watch::Receiver<Revision>,
        timeouts: Timeouts,
    ) -> Result<Self, CallbackStartError> {
        let network = Arc::clone(&system.network);
        let connector = Connector::new(network, settings.allow_private_targets);
        let connector = connector.map_err(CallbackStartError::Tls)?;
        let client = Client::new(connector, timeouts, settings.concurrency);
        let (outcomes, finished) = mpsc::channel(OUTCOME_QUEUE);
        let secrets = Secrets::load(&store).await?;
        let worker = Arc::new(WebhookWorker::new(
            store, node, client, secrets, system, settings, outcomes,
        ));
        let tasks = vec![
            tokio::spawn(tasks::claim(Arc::clone(&worker), timeouts.poll)),
            tokio::spawn(tasks::start_after_pauses(Arc::clone(&worker))),
            tokio::spawn(tasks::follow(Arc::clone(&worker), revision)),
            tokio::spawn(tasks::commit(Arc::clone(&worker), finished)),
        ];
        Ok(Self {
            worker,
            tasks: Arc::new(Mutex::new(tasks)),
        })
    }

    /// Stops claims, waits for attempts in flight, and releases the remaining callbacks.
    pub(crate) async fn shutdown(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        self.worker.close(SHUTDOWN_TIMEOUT, tasks).await;
    }
}

impl CallbackSink for Callbacks {
    fn capacity(&self) -> CallbackRoom {
        self.worker.capacity()
    }

    fn offer(&self, callbacks: Vec<Callback>) {
        // Callbacks above the capacity are released to the database and claimed later.
        let rest = self.worker.take(callbacks);
        if !rest.is_empty() {
            let worker = Arc::clone(&self.worker);
            tokio::spawn(async move { worker.release(rest).await });
        }
    }

    fn wake(&self) {
        self.worker.wake();
    }
}
