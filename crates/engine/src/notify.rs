//! Callbacks: every recipient's outcome is posted to the URL that came with its message.
//!
//! A callback is a row before it is in hand. Those in hand stand in lanes, one per account and origin
//! (`lanes`, pure), those of the sandbox apart from others (`partitions`); a task per callback in flight posts it (`client`) over a guarded connection (`connect`,
//! `network`, `pool`), takes the next one from the lanes, and hands the outcome to a task that commits
//! outcomes in groups (`desk`). Where an account has secrets (`secrets`), what is posted is signed. What is not in
//! hand is claimed from the database when it is due.
//!
//! A process that dies leaves its claimed callbacks claimed; they are posted again, which the interface
//! allows (section 6, rule 4).

mod attempt;
mod client;
mod connect;
mod delivery;
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
#[cfg(test)]
mod tests;
mod waiting;
mod worker;

use crate::context::system::World;
use crate::error::CallbackStartError;
use crate::settings::CallbackSettings;
use client::{Client, Patience};
use connect::Connector;
use signing::Secrets;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::{Callback, CallbackRoom, Revision, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use worker::Desk;

/// How many outcomes wait for their commit before attempts have to wait for it too.
const OUTCOME_QUEUE: usize = 1024;
/// How long a shutdown waits for what is in flight.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(5);

/// The running callbacks; a clone is the same ones.
#[derive(Clone)]
pub(crate) struct Callbacks {
    desk: Arc<Desk>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Callbacks {
    /// Starts to make callbacks, those first that the database holds. `revision` tells when the secrets may have
    /// changed that they are signed with.
    pub(crate) async fn start(
        store: Store,
        node: i64,
        settings: &CallbackSettings,
        world: World,
        revision: watch::Receiver<Revision>,
    ) -> Result<Self, CallbackStartError> {
        let patience = Patience::default();
        Self::start_with(store, node, settings, world, revision, patience).await
    }

    async fn start_with(
        store: Store,
        node: i64,
        settings: &CallbackSettings,
        world: World,
        revision: watch::Receiver<Revision>,
        patience: Patience,
    ) -> Result<Self, CallbackStartError> {
        let network = Arc::clone(&world.network);
        let connector = Connector::new(network, settings.allow_private_targets);
        let connector = connector.map_err(CallbackStartError::Tls)?;
        let client = Client::new(connector, patience, settings.concurrency);
        let (outcomes, finished) = mpsc::channel(OUTCOME_QUEUE);
        let secrets = Secrets::load(&store).await?;
        let desk = Arc::new(Desk::new(
            store, node, client, secrets, world, settings, outcomes,
        ));
        let tasks = vec![
            tokio::spawn(worker::claim(Arc::clone(&desk), patience.look)),
            tokio::spawn(delivery::begin(Arc::clone(&desk))),
            tokio::spawn(worker::follow(Arc::clone(&desk), revision)),
            tokio::spawn(worker::commit(Arc::clone(&desk), finished)),
        ];
        Ok(Self {
            desk,
            tasks: Arc::new(Mutex::new(tasks)),
        })
    }

    /// Takes callbacks that are claimed in the database already. Those there is no room for are given back to
    /// the database, and claimed when there is.
    pub(crate) fn offer(&self, callbacks: Vec<Callback>) {
        let rest = self.desk.take(callbacks);
        if !rest.is_empty() {
            let desk = Arc::clone(&self.desk);
            tokio::spawn(async move { desk.give_back(rest).await });
        }
    }

    /// How many callbacks can be offered at most; fewer for a lane that is long already.
    pub(crate) fn room(&self) -> CallbackRoom {
        self.desk.room()
    }

    /// A hint that callbacks have become due in the database.
    pub(crate) fn wake(&self) {
        self.desk.wake();
    }

    /// Takes nothing new, waits some seconds for what is in flight, and gives back the rest.
    pub(crate) async fn shutdown(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        self.desk.close(SHUTDOWN_PATIENCE, tasks).await;
    }
}
