//! Rate limits. A lone process counts in memory; a node reserves permits from the database.

use super::reservations::Reservations;
use crate::context::clock::Clock;
use crate::error::Error;
use domain::rate::{Rate, RateKey, Window};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::Store;

/// Number of windows at which expired ones are removed. Later sweeps run when the number has
/// doubled, so few requests pay for one.
const SWEEP_SIZE: usize = 10_000;
/// Assumed number of nodes on one database until the real one is known.
const DEFAULT_NODES: usize = 3;

/// The use of every rate limit.
pub(crate) struct Rates {
    /// Number of nodes that share the database.
    pub(crate) nodes: AtomicUsize,
    /// The windows of a process without other nodes.
    windows: Mutex<Windows>,
    /// The reservations of a node; `None` for a process without other nodes.
    reservations: Option<Arc<Reservations>>,
}

impl Rates {
    pub(crate) fn new(store: &Store) -> Self {
        Self {
            nodes: AtomicUsize::new(DEFAULT_NODES),
            windows: Mutex::default(),
            reservations: store
                .is_shared()
                .then(|| Arc::new(Reservations::new(store.clone()))),
        }
    }

    /// Counts a request, or refuses it. Nodes use the wall clock, since they share no other. A lone
    /// process uses the steady clock, which nobody can set.
    pub(crate) async fn count(
        &self,
        key: RateKey,
        limit: u32,
        clock: &Clock,
    ) -> Result<Rate, Error> {
        let Some(reservations) = &self.reservations else {
            return Ok(self.count_alone(key, limit, clock.steady_ms()));
        };
        let nodes = self.nodes.load(Ordering::Relaxed);
        reservations.count(key, limit, nodes, clock.now_ms()).await
    }

    /// Counts `many` requests together, or refuses all of them. A node asks the database each time,
    /// so this is only for rare calls.
    pub(crate) async fn count_many(
        &self,
        key: RateKey,
        limit: u32,
        many: u32,
        clock: &Clock,
    ) -> Result<Rate, Error> {
        let Some(reservations) = &self.reservations else {
            return Ok(self
                .windows()
                .count_many(key, limit, many, clock.steady_ms()));
        };
        reservations
            .count_many(key, limit, many, clock.now_ms())
            .await
    }

    /// Returns unused permits to the database until the engine ends. A lone process has none.
    pub(crate) async fn follow(self: Arc<Self>, clock: Clock) {
        if let Some(reservations) = &self.reservations {
            reservations.follow(&clock).await;
        }
    }

    fn count_alone(&self, key: RateKey, limit: u32, steady_ms: i64) -> Rate {
        self.windows().count_many(key, limit, 1, steady_ms)
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock()
    }
}

/// The windows of a process without other nodes, one for each key that was used lately. Callers are
/// authenticated before they are counted, so accounts bound the number of windows.
struct Windows {
    of: HashMap<RateKey, Window>,
    /// Number of windows at which the next sweep runs.
    sweep_at: usize,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            of: HashMap::new(),
            sweep_at: SWEEP_SIZE,
        }
    }
}

impl Windows {
    fn count_many(&mut self, key: RateKey, limit: u32, many: u32, steady_ms: i64) -> Rate {
        if self.of.len() >= self.sweep_at {
            self.of.retain(|_, window| !window.is_over(steady_ms));
            self.sweep_at = SWEEP_SIZE.max(2 * self.of.len());
        }
        let window = self.of.entry(key);
        let window = window.or_insert_with(|| Window::new(steady_ms));
        window.count_many(limit, many, steady_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use database::Target;
    use domain::rate::RateKind;
    use domain::{AccountId, Environment};

    const KEY: RateKey = RateKey {
        account: AccountId(1),
        environment: Environment::Live,
        kind: RateKind::Send,
        token: None,
    };

    /// Returns the limits of a lone process whose database is closed.
    async fn alone() -> Rates {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::Directory(directory.path().to_owned());
        let store = Store::open(&target).await.unwrap();
        let rates = Rates::new(&store);
        store.close().await;
        rates
    }

    async fn is_allowed(rates: &Rates, key: RateKey) -> bool {
        let rate = rates.count(key, 1, &Clock::manual(0)).await.unwrap();
        rate.refused.is_none()
    }

    #[tokio::test]
    async fn a_process_that_is_alone_counts_without_the_database() {
        let rates = alone().await;
        assert!(is_allowed(&rates, KEY).await);
        assert!(!is_allowed(&rates, KEY).await);
    }

    #[test]
    fn a_sweep_removes_expired_windows_and_no_other() {
        let mut windows = Windows::default();
        let (mut accounts, minute_ms) = (1.., 61_000);
        for minute in 0..3 {
            let first = accounts.start;
            for account in accounts.by_ref().take(3 * SWEEP_SIZE) {
                let key = RateKey {
                    account: AccountId(account),
                    ..KEY
                };
                assert!(
                    windows
                        .count_many(key, 1, 1, minute * minute_ms)
                        .refused
                        .is_none()
                );
            }
            let again = RateKey {
                account: AccountId(first),
                ..KEY
            };
            let again = windows.count_many(again, 1, 1, minute * minute_ms);
            assert!(again.refused.is_some(), "its window is not over");
            assert!(windows.of.len() < 4 * SWEEP_SIZE, "{}", windows.of.len());
        }
    }

    #[tokio::test]
    async fn environments_and_kinds_are_counted_apart() {
        let rates = alone().await;
        let sandbox = RateKey {
            environment: Environment::Sandbox,
            ..KEY
        };
        let read = RateKey {
            kind: RateKind::Read,
            ..KEY
        };
        for key in [KEY, sandbox, read] {
            assert!(is_allowed(&rates, key).await);
            assert!(!is_allowed(&rates, key).await);
        }
    }
}
