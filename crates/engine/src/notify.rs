//! Callbacks: every recipient's outcome is posted to the URL that came with its message.
//!
//! A callback is a row before it is in hand. Claimed callbacks stand in lanes, one per account and origin
//! (`lanes`, pure), those of the sandbox apart from others (`partitions`); a task per callback in flight posts it (`client`) over a guarded connection (`connect`,
//! `network`, `pool`), takes the next one from the lanes, and hands the outcome to a task that commits
//! outcomes in groups (`desk`). Where an account has secrets (`secrets`), posts are signed. A callback that is not in
//! hand is claimed from the database when it is due.
//!
//! A process that dies leaves its claimed callbacks claimed; they are posted again, which the interface
//! allows (section 6, rule 4).

mod attempt;
mod client;
mod connect;
#[cfg(test)]
mod guard_tests;
mod health;
mod lane;
mod lanes;
mod limits;
mod observe;
mod partitions;
mod pool;
mod signing;
mod target;
mod tasks;
#[cfg(test)]
mod tests;
mod waiting;
mod worker;

use crate::context::CallbackSink;
use crate::context::system::System;
use crate::error::CallbackStartError;
use crate::settings::CallbackSettings;
use client::{Client, Timeouts};
use connect::Connector;
use parking_lot::Mutex;
use signing::Secrets;
use std::sync::Arc;
use std::time::Duration;
use store::{Callback, CallbackRoom, Revision, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use worker::WebhookWorker;

/// How many outcomes wait for their commit before attempts have to wait for it too.
const OUTCOME_QUEUE: usize = 1024;
/// How long a shutdown waits for what is in flight.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The running callbacks; a clone is the same ones.
#[derive(Clone)]
pub(crate) struct Callbacks {
    worker: Arc<WebhookWorker>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Callbacks {
    /// Starts to make callbacks, those first that the database holds. `revision` tells when the secrets may have
    /// changed that they are signed with.
    pub(crate) async fn start(
        store: Store,
        node: i64,
        settings: &CallbackSettings,
        system: System,
        revision: watch::Receiver<Revision>,
    ) -> Result<Self, CallbackStartError> {
        let timeouts = Timeouts::default();
        Self::start_with(store, node, settings, system, revision, timeouts).await
    }

    async fn start_with(
        store: Store,
        node: i64,
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
            tokio::spawn(tasks::claim(Arc::clone(&worker), timeouts.look)),
            tokio::spawn(tasks::begin(Arc::clone(&worker))),
            tokio::spawn(tasks::follow(Arc::clone(&worker), revision)),
            tokio::spawn(tasks::commit(Arc::clone(&worker), finished)),
        ];
        Ok(Self {
            worker,
            tasks: Arc::new(Mutex::new(tasks)),
        })
    }

    /// Takes nothing new, waits some seconds for what is in flight, and gives back the rest.
    pub(crate) async fn shutdown(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        self.worker.close(SHUTDOWN_TIMEOUT, tasks).await;
    }
}

impl CallbackSink for Callbacks {
    fn capacity(&self) -> CallbackRoom {
        self.worker.room()
    }

    fn offer(&self, callbacks: Vec<Callback>) {
        // Callbacks without room go back to the database, and are claimed when there is room.
        let rest = self.worker.take(callbacks);
        if !rest.is_empty() {
            let worker = Arc::clone(&self.worker);
            tokio::spawn(async move { worker.give_back(rest).await });
        }
    }

    fn wake(&self) {
        self.worker.wake();
    }
}
