//! What waits for the receiving connections of one system id.

use super::letter::Letter;
use super::lock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;
use std::task::{Context, Waker};
use tokio::time::Instant;

/// Letters that wait for one system id; more are lost, and counted.
const MAX_WAITING: usize = 2_000_000;

#[derive(Debug, Default)]
pub(super) struct Account {
    post: Mutex<Post>,
}

#[derive(Debug, Default)]
struct Post {
    waiting: BinaryHeap<Reverse<Parcel>>,
    /// Connections that may receive, and how to wake them.
    receivers: Vec<(u64, Waker)>,
    binds: usize,
    /// Keeps letters in order that are due at the same instant.
    last: u64,
}

/// A letter and when it is due.
#[derive(Debug)]
struct Parcel {
    at: Instant,
    number: u64,
    letter: Letter,
}

impl Account {
    /// One more bind; refused when there are `max` already.
    pub(super) fn bind(&self, max: Option<usize>) -> bool {
        let mut post = lock(&self.post);
        let granted = max.is_none_or(|max| post.binds < max);
        post.binds += usize::from(granted);
        granted
    }

    pub(super) fn unbind(&self, connection: u64) {
        let mut post = lock(&self.post);
        post.binds -= 1;
        post.receivers.retain(|(number, _)| *number != connection);
    }

    pub(super) fn binds(&self) -> usize {
        lock(&self.post).binds
    }

    pub(super) fn waiting(&self) -> usize {
        lock(&self.post).waiting.len()
    }

    /// Takes letters in; gives back how many found no room.
    pub(super) fn post(&self, letters: &mut Vec<(Instant, Letter)>) -> u64 {
        let mut lost = 0;
        let wakers = {
            let mut post = lock(&self.post);
            for (at, letter) in letters.drain(..) {
                if post.waiting.len() >= MAX_WAITING {
                    lost += 1;
                    continue;
                }
                post.last += 1;
                let number = post.last;
                post.waiting.push(Reverse(Parcel { at, number, letter }));
            }
            std::mem::take(&mut post.receivers)
        };
        for (_, waker) in wakers {
            waker.wake();
        }
        lost
    }

    /// Hands out at most `room` letters that are due, and tells when the next one will be. The
    /// connection is woken when more are posted.
    pub(super) fn collect(
        &self,
        connection: u64,
        now: Instant,
        room: usize,
        out: &mut Vec<Letter>,
        cx: &Context<'_>,
    ) -> Option<Instant> {
        let mut post = lock(&self.post);
        while out.len() < room
            && post
                .waiting
                .peek()
                .is_some_and(|Reverse(next)| next.at <= now)
            && let Some(Reverse(parcel)) = post.waiting.pop()
        {
            out.push(parcel.letter);
        }
        match post
            .receivers
            .iter_mut()
            .find(|(number, _)| *number == connection)
        {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => post.receivers.push((connection, cx.waker().clone())),
        }
        post.waiting.peek().map(|Reverse(next)| next.at)
    }
}

impl Ord for Parcel {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Parcel {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Parcel {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Parcel {}
