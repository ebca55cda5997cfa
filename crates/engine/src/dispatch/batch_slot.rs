//! A claimed batch in memory, with its outcomes that are not committed yet.

use super::pages::Pages;
use super::retry::Requeue;
use domain::Recipient;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Batch, Content, Ended};

/// A batch in memory.
pub(super) struct Slot {
    pub(super) batch: Arc<Batch>,
    pub(super) content: Arc<Content>,
    pub(super) pages: Arc<Pages>,
    /// Number of recipients without an outcome.
    pub(super) unaccounted: usize,
    /// `true` for each recipient with an outcome, by index in the batch.
    pub(super) accounted_for: Vec<bool>,
    pub(super) updates: Updates,
    pub(super) stopped: Stopped,
}

/// The state of a batch whose message may be stopped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Stopped {
    /// The message is not stopped.
    #[default]
    No,
    /// No unsent recipient is in memory. The database does not know it yet.
    Unreported,
    /// The database knows it.
    Reported,
}

#[derive(Default)]
pub(super) struct Updates {
    pub(super) submitted: Vec<(Recipient, Vec<String>)>,
    pub(super) doubted: Vec<Recipient>,
    pub(super) ended: Vec<Ended>,
    pub(super) requeue: BTreeMap<Requeue, Vec<Recipient>>,
    pub(super) count: usize,
}
