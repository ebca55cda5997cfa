//! What this node has reserved of the limits that it shares with others.
//!
//! Requests of one key that find no permit wait for one reservation together; those that come while it is under
//! way wait for the next.

#[cfg(test)]
mod tests;

use crate::{Clock, Error};
use domain::rate::{Permits, Rate, RateKey, Reservation};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;
use tokio::sync::oneshot;

/// How often permits are looked for that nobody uses.
const GIVE_BACK_EVERY: Duration = Duration::from_millis(250);

/// The permits of this node. It keeps those keys only that had a request in the last seconds.
pub(super) struct Reservations {
    store: Store,
    entries: Mutex<HashMap<RateKey, Entry>>,
}

#[derive(Default)]
struct Entry {
    permits: Permits,
    waiting: Vec<Waiting>,
    /// Whether a task reserves for those that wait.
    reserving: bool,
}

/// A request that found no permit.
struct Waiting {
    now_ms: i64,
    tell: oneshot::Sender<Result<Rate, Error>>,
}

impl Reservations {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            entries: Mutex::default(),
        }
    }

    /// Counts a request of an account that uses so many nodes, or refuses it.
    pub(super) async fn count(
        self: &Arc<Self>,
        key: RateKey,
        limit: u32,
        nodes: usize,
        now_ms: i64,
    ) -> Result<Rate, Error> {
        let told = {
            let mut entries = self.entries();
            let entry = entries.entry(key).or_default();
            if let Some(rate) = entry.permits.answer(limit, now_ms) {
                return Ok(rate);
            }
            let (tell, told) = oneshot::channel();
            entry.waiting.push(Waiting { now_ms, tell });
            if !entry.reserving {
                entry.reserving = true;
                // In a task of its own: a caller who hangs up must not end a transaction half way.
                tokio::spawn(Arc::clone(self).reserve(key, limit, nodes));
            }
            told
        };
        told.await
            .unwrap_or_else(|_| Err(store::Error::Closed.into()))
    }

    /// Reserves until nobody waits.
    async fn reserve(self: Arc<Self>, key: RateKey, limit: u32, nodes: usize) {
        while let Some(asked) = self.next(key, limit, nodes) {
            let reserved = self.store.reserve(key, asked).await;
            let mut entries = self.entries();
            let entry = entries.entry(key).or_default();
            match reserved {
                Ok(reserved) => {
                    entry.permits.take(reserved, asked.now_ms);
                    entry.tell(limit, asked.now_ms);
                }
                Err(error) => entry.fail(&error.into()),
            }
        }
    }

    /// What to ask for on behalf of those that wait.
    fn next(&self, key: RateKey, limit: u32, nodes: usize) -> Option<Reservation> {
        let mut entries = self.entries();
        let entry = entries.entry(key).or_default();
        let now_ms = entry.waiting.iter().map(|waiting| waiting.now_ms).max();
        entry.reserving = now_ms.is_some();
        Some(
            entry
                .permits
                .ask(entry.waiting.len(), limit, nodes, now_ms?),
        )
    }

    /// Gives back what is not used. Runs until the engine ends.
    pub(super) async fn follow(&self, clock: &Clock) {
        let mut looks = tokio::time::interval(GIVE_BACK_EVERY);
        loop {
            looks.tick().await;
            if let Err(error) = self.give_back(clock.now_ms()).await {
                tracing::warn!(%error, "permits could not be given back; in a minute they are past");
            }
        }
    }

    /// Gives back the permits of keys without a recent request, and forgets those keys.
    async fn give_back(&self, now_ms: i64) -> store::Result<()> {
        for (key, unused) in self.idle(now_ms) {
            self.store.reserve(key, unused).await?;
        }
        Ok(())
    }

    fn idle(&self, now_ms: i64) -> Vec<(RateKey, Reservation)> {
        let mut entries = self.entries();
        let idle = entries.extract_if(|_, entry| !entry.reserving && entry.permits.is_idle(now_ms));
        idle.filter(|(_, entry)| entry.permits.unused() > 0)
            .map(|(key, mut entry)| (key, entry.permits.give_back(now_ms)))
            .collect()
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<RateKey, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Tells all that can be answered now, those first that came first.
    fn tell(&mut self, limit: u32, now_ms: i64) {
        for waiting in std::mem::take(&mut self.waiting) {
            match self.permits.answer(limit, now_ms) {
                // Who has hung up is counted all the same: the request was made.
                Some(rate) => drop(waiting.tell.send(Ok(rate))),
                None => self.waiting.push(waiting),
            }
        }
    }

    /// Tells all that the database did not answer. What was to be given back with the question may be: it is
    /// not given back again.
    fn fail(&mut self, error: &Error) {
        self.permits = Permits::default();
        for waiting in self.waiting.drain(..) {
            drop(waiting.tell.send(Err(error.clone())));
        }
    }
}
