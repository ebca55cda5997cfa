//! The hashing of passwords: on blocking threads, a bounded number at once. Each takes 19 MiB and
//! tens of milliseconds of a processor.

use super::error::{Result, SessionError};
use domain::user::password::{self, SALT_BYTES};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Maximum number of passwords that are hashed at once.
const MAX_HASHING: usize = 2;
/// Maximum number of passwords that are hashed or wait for it.
const MAX_WAITING: usize = 64;

/// The hashing of passwords.
pub(crate) struct Hashing {
    places: Arc<Semaphore>,
    permits: Arc<Semaphore>,
}

impl Hashing {
    pub(crate) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(MAX_WAITING)),
            permits: Arc::new(Semaphore::new(MAX_HASHING)),
        }
    }

    /// Returns the hash of a new password.
    pub(crate) async fn hash(&self, password: String, salt: [u8; SALT_BYTES]) -> Result<String> {
        let hashed = self.run(move || password::hash(&password, &salt)).await?;
        hashed.ok_or(SessionError::Busy)
    }

    /// Returns `true` if a password has the stored hash.
    pub(crate) async fn verify(&self, password: String, stored: Option<String>) -> Result<bool> {
        let verify = move || password::verify(&password, stored.as_deref());
        self.run(verify).await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| SessionError::Busy)?;
        // The semaphores are never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        // The work goes on when its caller leaves, so it holds the place and the permit itself.
        let held = move || {
            let done = work();
            drop((place, permit));
            done
        };
        spawn_blocking(held).await.map_err(|_| SessionError::Busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    #[tokio::test]
    async fn two_are_hashed_at_once_and_a_crowd_is_refused() {
        let (hashing, running) = (Arc::new(Hashing::new()), Arc::new(AtomicUsize::new(0)));
        let mut ends = Vec::new();
        let mut tasks = Vec::new();
        for _ in 0..MAX_WAITING {
            let (end, ended) = channel::<()>();
            ends.push(end);
            let (hashing, running) = (Arc::clone(&hashing), Arc::clone(&running));
            tasks.push(tokio::spawn(async move {
                let work = move || {
                    let most = running.fetch_add(1, Ordering::SeqCst) + 1;
                    // The end of the sender ends the work.
                    let _ = ended.recv();
                    running.fetch_sub(1, Ordering::SeqCst);
                    most
                };
                hashing.run(work).await.unwrap()
            }));
        }
        while hashing.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = hashing.run(|| ()).await;
        assert!(matches!(refused, Err(SessionError::Busy)));
        drop(ends);
        for task in tasks {
            assert!(task.await.unwrap() <= MAX_HASHING);
        }
        assert!(hashing.run(|| ()).await.is_ok());
    }

    #[tokio::test]
    async fn work_keeps_its_place_when_its_caller_leaves() {
        let hashing = Arc::new(Hashing::new());
        let (end, ended) = channel::<()>();
        let caller = Arc::clone(&hashing);
        let work = move || ended.recv().is_ok();
        let task = tokio::spawn(async move { caller.run(work).await.is_ok() });
        let (places, permits) = (&hashing.places, &hashing.permits);
        let free = || (places.available_permits(), permits.available_permits());
        while free() == (MAX_WAITING, MAX_HASHING) {
            tokio::task::yield_now().await;
        }
        task.abort();
        assert!(task.await.is_err(), "the caller has left");
        assert_eq!(free(), (MAX_WAITING - 1, MAX_HASHING - 1));
        drop(end);
        while free() != (MAX_WAITING, MAX_HASHING) {
            tokio::task::yield_now().await;
        }
    }
}
