//! The permits that this node has reserved of the limits that it shares with others.
//!
//! Most requests of who sends now and then are let in without asking, and what asks holds permits for a moment. Requests
//! that find none wait for one transaction together, whatever their keys; those that come
//! while it is under way wait for the next. So what a request costs does not grow with the accounts that send by turns.

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

/// How often permits are looked for that nobody uses.
const GIVE_BACK_INTERVAL: Duration = Duration::from_millis(250);
/// How often keys are looked for that nobody uses, all of them.
const FORGET_INTERVAL: Duration = Duration::from_secs(10);
/// Most keys in one transaction.
const MAX_KEYS: usize = 512;

/// The permits of this node.
pub(crate) struct Reservations {
    store: Store,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Only keys that had a request in the last minutes.
    entries: HashMap<RateKey, Entry>,
    /// Keys for which more was reserved than used at once, with the time, in the order of that.
    held: VecDeque<(i64, RateKey)>,
    /// Keys for which somebody waits, each once, and not asked for yet.
    wanted: VecDeque<Wanted>,
    /// `true` if a task reserves for those that wait.
    reserving: bool,
}

#[derive(Default)]
struct Entry {
    permits: Permits,
    /// Where somebody waits, the key is wanted, or asked for at this moment.
    waiting: Vec<Waiting>,
}

/// A key for which somebody waits.
#[derive(Clone, Copy)]
struct Wanted {
    key: RateKey,
    limit: u32,
    /// How many share the limit.
    nodes: usize,
}

/// The permits asked for on behalf of those who wait for a key.
struct NetworkFuture {
    wanted: Wanted,
    asked: Reservation,
}

/// A request that found no permit.
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

    /// Counts a request of an account that uses so many nodes, or refuses it.
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
            // Who comes while others wait does not overtake them, nor is let in while the window is being told who was.
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
                // In a task of its own: a caller who hangs up must not end a transaction half way.
                tokio::spawn(Arc::clone(self).reserve());
            }
            answered
        };
        answered
            .await
            .unwrap_or_else(|_| Err(database::Error::Closed.into()))
    }

    /// Counts so many at once, or refuses them all: the window itself is asked, and what it grants in part goes back.
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
        let reserved = self.store.reserve(vec![(key, asked)]).await?;
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
            self.store.reserve(vec![(key, back)]).await?;
        }
        Ok(rate)
    }

    /// Reserves until nobody waits: what comes while one transaction runs is the next.
    async fn reserve(self: Arc<Self>) {
        while let Some(asked) = self.next() {
            let reservations = asked.iter().map(NetworkFuture::reservation).collect();
            match self.store.reserve(reservations).await {
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

    /// Reserves for one key, after some together failed: that one window cannot be read is no fault of the others.
    async fn reserve_alone(&self, asked: &NetworkFuture) {
        let reserved = self.store.reserve(vec![asked.reservation()]).await;
        let reserved = reserved.and_then(|all| all.first().copied().ok_or(database::Error::Closed));
        self.state().answer(asked, reserved.map_err(Error::from));
    }

    /// The permits to ask for on behalf of those that wait.
    fn next(&self) -> Option<Vec<NetworkFuture>> {
        let mut state = self.state();
        let many = state.wanted.len().min(MAX_KEYS);
        let wanted: Vec<Wanted> = state.wanted.drain(..many).collect();
        state.reserving = !wanted.is_empty();
        let asked = wanted.into_iter().filter_map(|wanted| {
            let entry = state.entries.get_mut(&wanted.key)?;
            let Wanted { limit, nodes, .. } = wanted;
            let now_ms = entry.waiting.iter().map(|waiting| waiting.now_ms).max()?;
            let asked = entry.permits.ask(entry.waiting.len(), limit, nodes, now_ms);
            Some(NetworkFuture { wanted, asked })
        });
        let asked: Vec<NetworkFuture> = asked.collect();
        (!asked.is_empty()).then_some(asked)
    }

    /// Gives back what is not used, and forgets who is gone. Runs until the engine ends.
    pub(crate) async fn follow(&self, clock: &Clock) {
        let mut looks = tokio::time::interval(GIVE_BACK_INTERVAL);
        let mut forgets = tokio::time::interval(FORGET_INTERVAL);
        let outage = Outage::of("permits cannot be given back, and are past in a minute");
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

    /// Gives back the permits of keys without a recent request.
    async fn give_back(&self, now_ms: i64) -> database::Result<()> {
        let idle = self.state().idle(now_ms);
        for some in idle.chunks(MAX_KEYS) {
            self.store.reserve(some.to_vec()).await?;
        }
        Ok(())
    }

    /// Forgets the keys of which nothing is known that counts.
    fn forget(&self, now_ms: i64) {
        let is_used =
            |entry: &mut Entry| !entry.waiting.is_empty() || !entry.permits.is_over(now_ms);
        self.state().entries.retain(|_, entry| is_used(entry));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl NetworkFuture {
    fn reservation(&self) -> (RateKey, Reservation) {
        (self.wanted.key, self.asked)
    }
}

impl State {
    /// Answers those who wait for a key; for whom it is not enough, it is wanted again.
    fn answer(&mut self, asked: &NetworkFuture, reserved: Result<Reserved, Error>) {
        let &NetworkFuture { wanted, asked } = asked;
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

    /// The part that is to be given back of keys without a recent request.
    fn idle(&mut self, now_ms: i64) -> Vec<(RateKey, Reservation)> {
        let mut idle = Vec::new();
        while let Some((_, key)) = self
            .held
            .pop_front_if(|(made_ms, _)| (now_ms - *made_ms).abs() >= IDLE_MS)
        {
            // Another reservation may have followed, which gave back what was left, or is about to.
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
    /// Tells all that can be answered now, those first that came first.
    fn answer(&mut self, Wanted { limit, nodes, .. }: Wanted, now_ms: i64) {
        for waiting in std::mem::take(&mut self.waiting) {
            match self.permits.answer(limit, nodes, now_ms) {
                // Who has hung up is counted all the same: the request was made.
                Some(rate) => drop(waiting.answer.send(Ok(rate))),
                None => self.waiting.push(waiting),
            }
        }
    }

    /// Tells all that the database did not answer. A permit that was to be given back is not given back again; who was let in before
    /// is told again, as nothing was kept of the question.
    fn fail(&mut self, error: &Error) {
        self.permits.fail();
        for waiting in self.waiting.drain(..) {
            drop(waiting.answer.send(Err(error.clone())));
        }
    }
}
