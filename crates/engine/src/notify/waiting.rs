//! The callbacks of a lane that wait for their turn: first attempts and retries apart, so that what failed before
//! does not stand in the way of what is new.

use domain::{AccountId, Environment};
use std::collections::VecDeque;

/// The values that choose the lane of a callback.
pub(crate) trait InLane {
    /// The account of the callback.
    fn account(&self) -> AccountId;
    /// Which world its message belongs to.
    fn environment(&self) -> Environment;
    /// Scheme, host and port of its URL.
    fn origin(&self) -> &str;
    /// Returns `true` if it failed before.
    fn is_retry(&self) -> bool;
}

/// Each kind in the order in which it came.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    /// First attempts, then retries.
    queues: [VecDeque<T>; 2],
    /// From which of them the next one comes, where both have one.
    next_queue: usize,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self {
            queues: [VecDeque::new(), VecDeque::new()],
            next_queue: 0,
        }
    }
}

impl<T: InLane> Waiting<T> {
    /// How many wait in all.
    pub(crate) fn len(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if one waits, or where no retry may fly a first attempt does.
    pub(crate) fn has(&self, retry_may_fly: bool) -> bool {
        let [first, retries] = &self.queues;
        !first.is_empty() || (retry_may_fly && !retries.is_empty())
    }

    /// How many wait of the kind of which there are more.
    pub(crate) fn most_of_a_kind(&self) -> usize {
        self.queues.iter().map(VecDeque::len).max().unwrap_or(0)
    }

    /// The next one: both kinds by turns, but first attempts where no retry may fly.
    pub(crate) fn pop(&mut self, retry_may_fly: bool) -> Option<T> {
        let next_queue = if retry_may_fly { self.next_queue } else { 0 };
        let kind = if self.queues[next_queue].is_empty() {
            1 - next_queue
        } else {
            next_queue
        };
        let next = self.queues[kind].pop_front()?;
        self.next_queue = 1 - kind;
        Some(next)
    }

    /// Takes out those that are unwanted.
    pub(crate) fn withdraw(&mut self, mut unwanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut withdrawn = Vec::new();
        for queue in &mut self.queues {
            let (out, kept): (Vec<T>, Vec<T>) = queue.drain(..).partition(&mut unwanted);
            withdrawn.extend(out);
            queue.extend(kept);
        }
        withdrawn
    }

    /// How many wait that are of the kind of this one.
    pub(crate) fn like(&self, callback: &T) -> usize {
        self.queues[usize::from(callback.is_retry())].len()
    }

    pub(crate) fn push(&mut self, callback: T) {
        self.queues[usize::from(callback.is_retry())].push_back(callback);
    }
}
