//! The limits of accepting.

use std::time::Duration;

/// Most sends in one commit.
pub(crate) const MAX_SENDS: usize = 512;
/// Recipients of a commit after which no further send joins it: nearly as many as a report of a carrier settles, which
/// takes its turn with it. With more, campaigns that are accepted take the time of those that are sent.
pub(crate) const MANY_RECIPIENTS: usize = 3_000;
/// How long it waits until that begins. A send that is accepted later is likely to be answered too late, and is sent again by
/// those who were told that it was not.
pub(crate) const TURN_TIMEOUT: Duration = Duration::from_secs(5);
/// Recipients that may wait for their commit, all sends together: some 8 MB, and some seconds where carriers are busy.
pub(crate) const MAX_WAITING: usize = 500_000;
/// A send to no more than so many waits whatever campaigns do, and joins the next commit; how many of these there are is
/// limited anyway.
pub(crate) const FEW_RECIPIENTS: usize = 10;
