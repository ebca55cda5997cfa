//! Limits of the accept stage.

use std::time::Duration;

/// Maximum number of sends in one commit.
pub(crate) const MAX_SENDS: usize = 512;
/// Number of recipients at which an accept commit is full. It is close to the size of a settle
/// commit, so that accepting campaigns does not slow down the sending of others.
pub(crate) const FULL_COMMIT_RECIPIENTS: usize = 3_000;
/// Longest time in the queue. A later answer would miss the client's own timeout, and the client
/// would send again.
pub(crate) const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of recipients in the queue, about 8 MB.
pub(crate) const MAX_QUEUED_RECIPIENTS: usize = 500_000;
/// Maximum number of recipients of a small send. Small sends join the next commit whatever
/// campaigns wait. The rate limits bound their number.
pub(crate) const SMALL_SEND_RECIPIENTS: usize = 10;
