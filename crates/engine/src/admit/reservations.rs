//! Rate-limit permits that this node reserved from limits shared by all nodes.
//!
//! A node may allow a few requests of each key without a permit, and it holds spare permits for a
//! busy key. A request that finds neither waits for a reservation. All keys with waiting requests
//! share one transaction, and requests that arrive meanwhile share the next one. So the cost of a
//! request does not grow with the number of accounts.

#[cfg(test)]
mod tests;

use crate::context::clock::Clock;
use crate::error::Error;
use database::Outage;
use domain::rate::{IDLE_MS, Permits, Rate, RateKey, Reservation, Reserved};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::sync::oneshot;

/// Period of the search for unused permits.
const GIVE_BACK_INTERVAL: Duration = Duration::from_millis(250);
/// Period of the search for unused keys.
const FORGET_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of keys in one transaction.
const MAX_KEYS: usize = 512;

/// The permits of this node, by key.
pub(crate) struct Reservations {
    store: Store,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Every key with a request in the last minute or so.
    entries: HashMap<RateKey, Entry>,
    /// Keys with unused permits and the time of their reservation, oldest first.
    held: VecDeque<(i64, RateKey)>,
    /// Keys with waiting requests that no reservation asks for yet, each once.
    wanted: VecDeque<Wanted>,
    /// `true` while a task reserves permits.
    reserving: bool,
}

#[derive(Default)]
struct Entry {
    permits: Permits,
    /// Requests that wait for a permit. While there are any, the key is queued in `wanted` or part
    /// of the running transaction.
    waiting: Vec<Waiting>,
}

/// A key with waiting requests.
#[derive(Clone, Copy)]
struct Wanted {
    key: RateKey,
    limit: u32,
    /// Number of nodes that share the limit.
    nodes: usize,
}

/// The reservation of one key in a transaction.
struct KeyReservation {
    wanted: Wanted,
    asked: Reservation,
}

/// A request that waits for a permit.
struct Waiting {
    now_ms: i64,
    answer: oneshot::Sender<Result<Rate, Error>>,
}

impl Reservations {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            state: Mutex::default(),
        }
    }

    /// Counts a request against a limit that `nodes` nodes share, or refuses it.
    pub(crate) async fn count(
        self: &Arc<Self>,
        key: RateKey,
        limit: u32,
        nodes: usize,
        now_ms: i64,
    ) -> Result<Rate, Error> {
        let answered = {
            let mut state = self.state();
            let entry = state.entries.entry(key).or_default();
            // Requests of one key are answered in order: a new one waits behind those that wait,
            // and until a running reservation is stored.
            if entry.waiting.is_empty()
                && let Some(rate) = entry.permits.answer(limit, nodes, now_ms)
            {
                return Ok(rate);
            }
            let (answer, answered) = oneshot::channel();
            let is_first = entry.waiting.is_empty();
            entry.waiting.push(Waiting { now_ms, answer });
            if is_first {
                state.wanted.push_back(Wanted { key, limit, nodes });
            }
            if !std::mem::replace(&mut state.reserving, true) {
                // A task of its own reserves, so that a client that hangs up cannot cancel the
                // transaction.
                tokio::spawn(Arc::clone(self).reserve());
            }
            answered
        };
        answered
            .await
            .unwrap_or_else(|_| Err(database::Error::Closed.into()))
    }

    /// Counts `many` requests together, or refuses all of them. A partial grant is returned to the
    /// window.
    pub(crate) async fn count_many(
        &self,
        key: RateKey,
        limit: u32,
        many: u32,
        now_ms: i64,
    ) -> Result<Rate, Error> {
        let asked = Reservation {
            limit,
            wanted: many,
            now_ms,
            ..Reservation::default()
        };
        let reserved = self.store.rates().reserve(vec![(key, asked)]).await?;
        let reserved = reserved.first().ok_or(database::Error::Closed)?;
        let rate = reserved.rate(&asked);
        if rate.refused.is_some() && reserved.granted > 0 {
            let back = Reservation {
                limit,
                unused: reserved.granted,
                counted_ms: reserved.counted_ms,
                now_ms,
                ..Reservation::default()
            };
            self.store.rates().reserve(vec![(key, back)]).await?;
        }
        Ok(rate)
    }

    /// Reserves permits until no request waits. Requests that arrive during a transaction are part
    /// of the next one.
    async fn reserve(self: Arc<Self>) {
        while let Some(asked) = self.next() {
            let reservations = asked.iter().map(KeyReservation::reservation).collect();
            match self.store.rates().reserve(reservations).await {
                Ok(reserved) => {
                    for (asked, reserved) in asked.iter().zip(reserved) {
                        self.state().answer(asked, Ok(reserved));
                    }
                }
                Err(error) if asked.len() > 1 && !error.is_unavailable() => {
                    for asked in &asked {
                        self.reserve_alone(asked).await;
                    }
                }
                Err(error) => {
                    let error = Error::from(error);
                    for asked in &asked {
                        self.state().answer(asked, Err(error.clone()));
                    }
                }
            }
        }
    }

    /// Reserves for one key after a shared transaction failed, so that one bad window does not fail
    /// the others.
    async fn reserve_alone(&self, asked: &KeyReservation) {
        let reserved = self.store.rates().reserve(vec![asked.reservation()]).await;
        let reserved = reserved.and_then(|all| all.first().copied().ok_or(database::Error::Closed));
        self.state().answer(asked, reserved.map_err(Error::from));
    }

    /// Takes the next queued keys and returns their reservations, or `None` if no request waits.
    fn next(&self) -> Option<Vec<KeyReservation>> {
        let mut state = self.state();
        let many = state.wanted.len().min(MAX_KEYS);
        let wanted: Vec<Wanted> = state.wanted.drain(..many).collect();
        state.reserving = !wanted.is_empty();
        let asked = wanted.into_iter().filter_map(|wanted| {
            let entry = state.entries.get_mut(&wanted.key)?;
            let Wanted { limit, nodes, .. } = wanted;
            let now_ms = entry.waiting.iter().map(|waiting| waiting.now_ms).max()?;
            let asked = entry.permits.ask(entry.waiting.len(), limit, nodes, now_ms);
            Some(KeyReservation { wanted, asked })
        });
        let asked: Vec<KeyReservation> = asked.collect();
        (!asked.is_empty()).then_some(asked)
    }

    /// Returns unused permits and drops unused keys, until the engine ends.
    pub(crate) async fn follow(&self, clock: &Clock) {
        let mut looks = tokio::time::interval(GIVE_BACK_INTERVAL);
        let mut forgets = tokio::time::interval(FORGET_INTERVAL);
        let outage = Outage::of("unused permits cannot be returned, they expire within a minute");
        loop {
            tokio::select! {
                biased;
                _ = forgets.tick() => self.forget(clock.now_ms()),
                _ = looks.tick() => {
                    outage.note(self.give_back(clock.now_ms()).await);
                }
            }
        }
    }

    /// Returns the permits of keys without a recent request.
    async fn give_back(&self, now_ms: i64) -> database::Result<()> {
        let idle = self.state().idle(now_ms);
        for some in idle.chunks(MAX_KEYS) {
            self.store.rates().reserve(some.to_vec()).await?;
        }
        Ok(())
    }

    /// Drops the keys without waiting requests, permits or recent counts.
    fn forget(&self, now_ms: i64) {
        let is_used =
            |entry: &mut Entry| !entry.waiting.is_empty() || !entry.permits.is_over(now_ms);
        self.state().entries.retain(|_, entry| is_used(entry));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl KeyReservation {
    fn reservation(&self) -> (RateKey, Reservation) {
        (self.wanted.key, self.asked)
    }
}

impl State {
    /// Answers the requests that wait for a key. The key is queued again if the permits did not
    /// suffice for all.
    fn answer(&mut self, asked: &KeyReservation, reserved: Result<Reserved, Error>) {
        let &KeyReservation { wanted, asked } = asked;
        let entry = self.entries.entry(wanted.key).or_default();
        match reserved {
            Ok(reserved) => {
                entry.permits.take(reserved, asked.now_ms);
                entry.answer(wanted, asked.now_ms);
                if entry.permits.unused() > 0 {
                    self.held.push_back((asked.now_ms, wanted.key));
                }
            }
            Err(error) => entry.fail(&error),
        }
        if !entry.waiting.is_empty() {
            self.wanted.push_back(wanted);
        }
    }

    /// Takes the permits of keys without a recent request, as reservations that return them.
    fn idle(&mut self, now_ms: i64) -> Vec<(RateKey, Reservation)> {
        let mut idle = Vec::new();
        while let Some((_, key)) = self
            .held
            .pop_front_if(|(made_ms, _)| (now_ms - *made_ms).abs() >= IDLE_MS)
        {
            // A later reservation may have returned the rest already, or may be about to.
            if let Some(entry) = self.entries.get_mut(&key)
                && entry.waiting.is_empty()
                && entry.permits.is_idle(now_ms)
                && entry.permits.unused() > 0
            {
                idle.push((key, entry.permits.give_back(now_ms)));
            }
        }
        idle
    }
}

impl Entry {
    /// Answers waiting requests in order, as far as the permits allow.
    fn answer(&mut self, Wanted { limit, nodes, .. }: Wanted, now_ms: i64) {
        for waiting in std::mem::take(&mut self.waiting) {
            match self.permits.answer(limit, nodes, now_ms) {
                // A request whose client hung up is counted as well.
                Some(rate) => drop(waiting.answer.send(Ok(rate))),
                None => self.waiting.push(waiting),
            }
        }
    }

    /// Fails all waiting requests. Permits that the failed transaction was to return are lost.
    /// The next reservation reports the requests that were allowed without a permit.
    fn fail(&mut self, error: &Error) {
        self.permits.fail();
        for waiting in self.waiting.drain(..) {
            drop(waiting.answer.send(Err(error.clone())));
        }
    }
}
