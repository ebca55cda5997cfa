//! The queued callbacks of a lane. First attempts and retries have separate queues, so that retries
//! do not delay first attempts.

use domain::{AccountId, Environment};
use std::collections::VecDeque;

/// The properties of a callback that choose its lane.
pub(crate) trait InLane {
    /// Returns the account.
    fn account(&self) -> AccountId;
    /// Returns the environment of the message.
    fn environment(&self) -> Environment;
    /// Returns scheme, host and port of the URL.
    fn origin(&self) -> &str;
    /// Returns `true` if an earlier attempt failed.
    fn is_retry(&self) -> bool;
}

/// The queues of a lane, each in the order of arrival.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    /// First attempts, then retries.
    queues: [VecDeque<T>; 2],
    /// The queue of the next callback, if both have one.
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
    /// Returns the number of queued callbacks.
    pub(crate) fn len(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if a callback is queued that may start.
    pub(crate) fn has(&self, retry_may_start: bool) -> bool {
        let [first, retries] = &self.queues;
        !first.is_empty() || (retry_may_start && !retries.is_empty())
    }

    /// Returns the length of the longer queue.
    pub(crate) fn longest(&self) -> usize {
        self.queues.iter().map(VecDeque::len).max().unwrap_or(0)
    }

    /// Takes the next callback, alternating between the queues. Without `retry_may_start` it is a
    /// first attempt.
    pub(crate) fn pop(&mut self, retry_may_start: bool) -> Option<T> {
        let next_queue = if retry_may_start { self.next_queue } else { 0 };
        let kind = if self.queues[next_queue].is_empty() {
            1 - next_queue
        } else {
            next_queue
        };
        let next = self.queues[kind].pop_front()?;
        self.next_queue = 1 - kind;
        Some(next)
    }

    /// Removes the callbacks that `unwanted` selects.
    pub(crate) fn withdraw(&mut self, mut unwanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut withdrawn = Vec::new();
        for queue in &mut self.queues {
            let (out, kept): (Vec<T>, Vec<T>) = queue.drain(..).partition(&mut unwanted);
            withdrawn.extend(out);
            queue.extend(kept);
        }
        withdrawn
    }

    /// Returns the length of the queue that this callback belongs to.
    pub(crate) fn len_of_same_kind(&self, callback: &T) -> usize {
        self.queues[usize::from(callback.is_retry())].len()
    }

    pub(crate) fn push(&mut self, callback: T) {
        self.queues[usize::from(callback.is_retry())].push_back(callback);
    }
}
