//! The memory budget of all bodies together.

use domain::Refusal;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes of each body that are outside of the budget, so that campaigns of others do not cause
/// the refusal of small sends. As many bodies as there may be connections have them. HTTP/2 can
/// have more bodies than that.
const FREE_BYTES: usize = 16 << 10;
/// The budget is counted in pieces of this size, in bytes.
const PIECE_BYTES: usize = 16 << 10;
/// The wait until a retry, in seconds. A send is answered in a fraction of it.
const RETRY_AFTER_S: u64 = 1;

/// The memory budget of bodies. Callers who are not known yet have a part of their own, so that
/// strangers cannot take the part of customers.
#[derive(Clone, Debug)]
pub struct BodyMemory {
    /// The part for callers with a token in the head.
    pub(crate) known: MemoryPool,
    /// The part for callers who may have a token in the body.
    pub(crate) unknown: MemoryPool,
}

impl BodyMemory {
    /// Makes a budget of `bytes`. A quarter is for callers who are not known yet. Each of `bodies`
    /// also has free bytes.
    pub fn new(bytes: usize, bodies: usize) -> Self {
        let unknown = bytes / 4;
        let free = semaphore(bodies);
        Self {
            known: MemoryPool::new(bytes - unknown, &free),
            unknown: MemoryPool::new(unknown, &free),
        }
    }
}

/// A part of the budget, which bodies share.
#[derive(Clone, Debug)]
pub(crate) struct MemoryPool {
    pieces: Arc<Semaphore>,
    free: Arc<Semaphore>,
}

impl MemoryPool {
    fn new(bytes: usize, free: &Arc<Semaphore>) -> Self {
        Self {
            pieces: semaphore(bytes / PIECE_BYTES),
            free: Arc::clone(free),
        }
    }

    /// Returns a permit for a body that has not begun to arrive.
    pub(crate) fn permit(&self) -> BodyPermit {
        BodyPermit {
            pieces: Arc::clone(&self.pieces),
            free: Arc::clone(&self.free).try_acquire_owned().ok(),
            taken: None,
        }
    }
}

fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)))
}

/// The memory of one body. Dropping it returns the memory.
#[derive(Debug)]
pub(crate) struct BodyPermit {
    pieces: Arc<Semaphore>,
    /// The permit of its free bytes, if one was left.
    free: Option<OwnedSemaphorePermit>,
    taken: Option<OwnedSemaphorePermit>,
}

impl BodyPermit {
    /// Takes the memory that a body of this length needs beyond its own.
    ///
    /// # Errors
    /// The budget is used up.
    pub(crate) fn hold(&mut self, length: usize) -> Result<(), Refusal> {
        let free = if self.free.is_some() { FREE_BYTES } else { 0 };
        let needed = length.saturating_sub(free).div_ceil(PIECE_BYTES);
        let taken = self
            .taken
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(needed.saturating_sub(taken)).unwrap_or(u32::MAX);
        if more == 0 {
            return Ok(());
        }
        let Ok(more) = Arc::clone(&self.pieces).try_acquire_many_owned(more) else {
            return Err(Refusal::Unavailable {
                retry_after_s: RETRY_AFTER_S,
            });
        };
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_bodies_always_fit_and_large_ones_within_the_budget() {
        let pool = MemoryPool::new(4 * PIECE_BYTES, &semaphore(3));
        let (mut one, mut other) = (pool.permit(), pool.permit());
        assert_eq!(one.hold(FREE_BYTES), Ok(()));
        assert_eq!(pool.pieces.available_permits(), 4);
        for (length, left) in [
            (FREE_BYTES + 1, 3),
            (FREE_BYTES + PIECE_BYTES, 3),
            (FREE_BYTES + 3 * PIECE_BYTES, 1),
        ] {
            assert_eq!(one.hold(length), Ok(()));
            assert_eq!(pool.pieces.available_permits(), left);
        }
        assert_eq!(other.hold(FREE_BYTES + PIECE_BYTES), Ok(()));
        let full = Err(Refusal::Unavailable { retry_after_s: 1 });
        assert_eq!(other.hold(FREE_BYTES + PIECE_BYTES + 1), full);
        assert_eq!(pool.permit().hold(FREE_BYTES), Ok(()));
        drop(one);
        assert_eq!(other.hold(FREE_BYTES + 4 * PIECE_BYTES), Ok(()));
        drop(other);
        let _three = [pool.permit(), pool.permit(), pool.permit()];
        let mut fourth = pool.permit();
        assert_eq!(fourth.hold(1), Ok(()), "as there are pieces");
        assert_eq!(pool.pieces.available_permits(), 3);
        drop(fourth);
        assert_eq!(pool.pieces.available_permits(), 4);
    }

    #[test]
    fn strangers_have_a_quarter() {
        let memory = BodyMemory::new(8 * PIECE_BYTES, 1);
        let pieces = |pool: &MemoryPool| pool.pieces.available_permits();
        assert_eq!((pieces(&memory.known), pieces(&memory.unknown)), (6, 2));
    }
}
