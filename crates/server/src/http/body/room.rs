//! How much of all bodies is in memory at once: a large one is no matter, a thousand of them are.

use domain::Refusal;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a body may take however many large ones there are: the sends of a few recipients are not refused for the
/// campaigns of others. As many bodies as there may be connections have it; with HTTP/2 there can be more.
const FREE: usize = 16 << 10;
/// Room is counted in pieces of so many octets.
const PIECE: usize = 16 << 10;
/// How soon there may be room again: a send is answered in a fraction of it.
const RETRY_AFTER_S: u64 = 1;

/// Room for bodies. Those of callers who are not known yet have a part of their own, so that strangers cannot take
/// that of customers.
#[derive(Clone, Debug)]
pub struct Rooms {
    /// Whose token was in the head.
    pub(in crate::http) known: Room,
    /// Whose token may be in the body.
    pub(in crate::http) unknown: Room,
}

impl Rooms {
    /// So many octets in all, a quarter of them for callers who are not known yet; and a beginning that is free for
    /// so many bodies.
    pub fn new(bytes: usize, bodies: usize) -> Self {
        let unknown = bytes / 4;
        let free = semaphore(bodies);
        Self {
            known: Room::new(bytes - unknown, &free),
            unknown: Room::new(unknown, &free),
        }
    }
}

/// Some of that room, which bodies share.
#[derive(Clone, Debug)]
pub(in crate::http) struct Room {
    pieces: Arc<Semaphore>,
    free: Arc<Semaphore>,
}

impl Room {
    fn new(bytes: usize, free: &Arc<Semaphore>) -> Self {
        Self {
            pieces: semaphore(bytes / PIECE),
            free: Arc::clone(free),
        }
    }

    /// A place for a body of which nothing has come yet.
    pub(in crate::http) fn place(&self) -> Place {
        Place {
            pieces: Arc::clone(&self.pieces),
            free: Arc::clone(&self.free).try_acquire_owned().ok(),
            taken: None,
        }
    }
}

fn semaphore(places: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)))
}

/// The room that one body takes, given back when it is dropped.
#[derive(Debug)]
pub(in crate::http) struct Place {
    pieces: Arc<Semaphore>,
    /// Its free beginning, where there was one left.
    free: Option<OwnedSemaphorePermit>,
    taken: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// Takes what a body of so many octets needs beyond what it has.
    ///
    /// # Errors
    /// There is no room now.
    pub(super) fn hold(&mut self, length: usize) -> Result<(), Refusal> {
        let free = if self.free.is_some() { FREE } else { 0 };
        let needed = length.saturating_sub(free).div_ceil(PIECE);
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
    fn small_bodies_always_have_room_and_large_ones_while_there_is_some() {
        let room = Room::new(4 * PIECE, &semaphore(3));
        let (mut one, mut other) = (room.place(), room.place());
        assert_eq!(one.hold(FREE), Ok(()));
        assert_eq!(room.pieces.available_permits(), 4);
        for (length, left) in [(FREE + 1, 3), (FREE + PIECE, 3), (FREE + 3 * PIECE, 1)] {
            assert_eq!(one.hold(length), Ok(()));
            assert_eq!(room.pieces.available_permits(), left);
        }
        assert_eq!(other.hold(FREE + PIECE), Ok(()));
        let full = Err(Refusal::Unavailable { retry_after_s: 1 });
        assert_eq!(other.hold(FREE + PIECE + 1), full);
        assert_eq!(room.place().hold(FREE), Ok(()));
        drop(one);
        assert_eq!(other.hold(FREE + 4 * PIECE), Ok(()));
        drop(other);
        let _three = [room.place(), room.place(), room.place()];
        let mut fourth = room.place();
        assert_eq!(fourth.hold(1), Ok(()), "as there are pieces");
        assert_eq!(room.pieces.available_permits(), 3);
        drop(fourth);
        assert_eq!(room.pieces.available_permits(), 4);
    }

    #[test]
    fn strangers_have_a_quarter() {
        let rooms = Rooms::new(8 * PIECE, 1);
        let pieces = |room: &Room| room.pieces.available_permits();
        assert_eq!((pieces(&rooms.known), pieces(&rooms.unknown)), (6, 2));
    }
}
