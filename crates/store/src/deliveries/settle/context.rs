//! The surroundings of a settlement, and its results.

use crate::batches::batch::Batch;
use crate::outbox::Callback;
use domain::{Bucket, DeliveryStatus, Environment, Gateway, MessageId, Money, NodeId, Recipient};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A recipient whose second leg is due.
#[derive(Clone, Debug)]
pub struct SecondLeg {
    /// The bucket of its rows.
    pub bucket: Bucket,
    /// The message.
    pub message: MessageId,
    /// Time from which the message may be sent, Unix milliseconds.
    pub message_due_at_ms: i64,
    /// The validity of the request after that time, seconds. Both legs share it.
    pub validity_s: Option<i64>,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The recipient.
    pub recipient: Recipient,
    /// `true` if the sender ID is added to the text.
    pub suffixed: bool,
    /// Pages of the text.
    pub pages: i64,
    /// The charge.
    pub charge: Money,
    /// The part of the charge for the second leg.
    pub reserve: Money,
}

/// The function that makes the batch of a second leg. It knows the carriers, which the store does
/// not.
pub type Planner = Arc<dyn Fn(&SecondLeg) -> Option<Batch> + Send + Sync>;

/// Fresh callbacks for which a node has room.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CallbackRoom {
    /// Room for live messages.
    pub live: usize,
    /// Room for the sandbox.
    pub sandbox: usize,
}

impl CallbackRoom {
    /// Takes a place. It returns `true` if there was one.
    pub(super) fn take(&mut self, environment: Environment) -> bool {
        let room = match environment {
            Environment::Live => &mut self.live,
            Environment::Sandbox => &mut self.sandbox,
        };
        let left = room.checked_sub(1);
        *room = left.unwrap_or_default();
        left.is_some()
    }
}

/// The context that settling needs.
#[derive(Clone)]
pub(crate) struct SettleContext {
    pub(crate) now_ms: i64,
    pub(crate) planner: Planner,
    /// The node that claims fresh callbacks, if any does, the end of its claim, and its room for
    /// them.
    pub(crate) node: Option<NodeId>,
    pub(crate) claimed_until_ms: i64,
    pub(crate) callback_room: CallbackRoom,
}

/// The results of settling.
#[derive(Debug, Default)]
pub struct Settled {
    /// Callbacks that are already claimed.
    pub callbacks: Vec<Callback>,
    /// `true` if further callbacks wait in the database.
    pub more_callbacks: bool,
    /// The SMPP users with new receipts in the database.
    pub receipts_to: BTreeSet<String>,
    /// Recipients that ended, with their last carrier.
    pub outcomes: Vec<(Gateway, String, DeliveryStatus)>,
    /// Carriers with new work, and its due time.
    pub work: Vec<(Arc<str>, i64)>,
    /// The carriers of receipts whose id has more pages than can be distinguished. Such a receipt
    /// settles no recipient. Each receipt counts.
    pub unclear: Vec<Arc<str>>,
}

impl Settled {
    /// Adds the results of another change.
    pub(crate) fn join(&mut self, other: Self) {
        self.callbacks.extend(other.callbacks);
        self.more_callbacks |= other.more_callbacks;
        self.receipts_to.extend(other.receipts_to);
        self.outcomes.extend(other.outcomes);
        self.work.extend(other.work);
        self.unclear.extend(other.unclear);
    }
}
