//! A batch, its content, and its progress.

use crate::rows::{holder, node};
use domain::otp::OtpText;
use domain::{
    AccountId, BatchId, Bucket, DeliveryStatus, Environment, Gateway, Leg, MessageId, Money,
    NodeId, Priority, RawPage, Recipient,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Recipients of a batch at most.
pub const MAX_RECIPIENTS: usize = 500;

/// The state of a batch in the queue of its carrier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueState {
    /// The batch waits for a claim.
    Waiting,
    /// The batch waits until its account may send.
    Held,
    /// The batch waits until its message is resumed.
    Paused,
    /// The node has claimed the batch.
    Claimed(NodeId),
}

/// The stored holder of a held batch.
const HELD: i64 = -1;
/// The stored holder of a batch of a paused message.
const PAUSED: i64 = -2;

impl QueueState {
    /// Returns the state of a stored `claimed_by`.
    pub(crate) fn read(stored: i64) -> Self {
        match node(stored) {
            Some(node) => Self::Claimed(node),
            None if stored == HELD => Self::Held,
            None if stored == PAUSED => Self::Paused,
            None => Self::Waiting,
        }
    }

    /// Returns the value that is stored as `claimed_by`.
    pub(crate) fn stored(self) -> i64 {
        match self {
            Self::Waiting => holder(None),
            Self::Held => HELD,
            Self::Paused => PAUSED,
            Self::Claimed(node) => holder(Some(node)),
        }
    }
}

domain::named_enum! {
    /// The reason for a batch, which decides the recipients that are still sent.
    pub enum BatchKind {
        /// The recipients have no delivery yet. Recipients that have one (of a backup leg that
        /// overtook this batch) are left out.
        First = "first",
        /// The recipients are in doubt. The ones still in doubt are sent once more. If that copy is
        /// rejected, the doubt remains.
        Resend = "resend",
        /// The second leg: recipients without an outcome and without a second leg.
        Backup = "backup",
        /// The recipients have a delivery already. The ones without an outcome are sent.
        Again = "again",
    }
}

/// Some recipients of one message, for one carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Batch {
    /// The bucket of the account's rows.
    pub bucket: Bucket,
    /// The carrier that sends it.
    pub carrier: Arc<str>,
    /// The state in the queue of the carrier.
    pub state: QueueState,
    /// The end of the claim, Unix milliseconds.
    pub claimed_until_ms: i64,
    /// The priority, by which batches are claimed.
    pub priority: Priority,
    /// Time from which it may be sent, Unix milliseconds.
    pub due_at_ms: i64,
    /// The number of the batch.
    pub id: BatchId,
    /// The message.
    pub message: MessageId,
    /// Time from which the message may be sent, Unix milliseconds. The message stores it, not the
    /// batch.
    pub message_due_at_ms: i64,
    /// The reason for the batch.
    pub kind: BatchKind,
    /// The leg of the message.
    pub leg: Leg,
    /// Faults so far on this carrier.
    pub tries: i64,
    /// `true` if the sender ID is added to the text.
    pub suffixed: bool,
    /// Pages of the text.
    pub pages: i64,
    /// The charge for each recipient.
    pub charge: Money,
    /// The part of the charge that is refunded if a second leg is never submitted.
    pub reserve: Money,
    /// Time after which it is not sent any more, Unix milliseconds.
    pub expires_at_ms: i64,
    /// The recipients.
    pub recipients: Vec<Recipient>,
}

/// The content of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Content {
    /// The account.
    pub account: AccountId,
    /// The environment: live or sandbox.
    pub environment: Environment,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The sender ID.
    pub sender: String,
    /// The prepared text, without suffix.
    pub body: Body,
}

/// The prepared text of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// One text for all recipients.
    Shared(String),
    /// The texts of a personalised message, by recipient. A claim reads those of its batch.
    Personalised(HashMap<Recipient, String>),
    /// The text of a one-time password, with a place for its code.
    OneTimePassword(String, OtpText),
    /// A page that goes out as it came.
    Page(RawPage),
}

/// A claimed batch with its content.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The batch.
    pub batch: Batch,
    /// The content.
    pub content: Arc<Content>,
}

impl Batch {
    /// Returns `true` if some recipients may have a delivery before the batch is sent. The first
    /// leg of two usually creates the delivery, but its backup leg may overtake it.
    pub(crate) fn may_have_deliveries(&self, gateway: Gateway) -> bool {
        self.kind != BatchKind::First || gateway == Gateway::DualBackup
    }

    /// Returns `true` if no carrier has the recipients. A pause or a cancel concerns them alone.
    pub fn is_unsent(&self) -> bool {
        self.kind == BatchKind::First
    }

    /// Returns the keys of these recipients' deliveries.
    pub(crate) fn keys(&self, recipients: &[Recipient]) -> Vec<(Bucket, MessageId, Recipient)> {
        let recipients = recipients.iter();
        recipients
            .map(|&recipient| (self.bucket, self.message, recipient))
            .collect()
    }
}

/// A failed end of a recipient that its carrier did not accept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ended {
    /// The recipient.
    pub recipient: Recipient,
    /// The final status.
    pub status: DeliveryStatus,
    /// The error code of the carrier, or our own.
    pub error: String,
}

/// The results for some recipients of a claimed batch.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The batch as it was claimed.
    pub batch: Arc<Batch>,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// Recipients accepted by the carrier, with the carrier's id of each page.
    pub submitted: Vec<(Recipient, Vec<String>)>,
    /// Recipients that were sent, with an unknown result.
    pub doubted: Vec<Recipient>,
    /// Recipients that failed. In a resend they stay in doubt.
    pub ended: Vec<Ended>,
    /// Recipients not accounted for after this, which the carrier still has.
    pub remaining: Vec<Recipient>,
    /// New batches: retries, other carriers, resends, second legs.
    pub again: Vec<Batch>,
    /// `true` if the message is stopped and the node holds no unsent recipient of the batch.
    pub stopped: bool,
}

impl Progress {
    /// Returns the progress of a batch that left its carrier, with no result for any recipient.
    pub fn of(claimed: Claimed) -> Self {
        Self {
            batch: Arc::new(claimed.batch),
            gateway: claimed.content.gateway,
            submitted: Vec::new(),
            doubted: Vec::new(),
            ended: Vec::new(),
            remaining: Vec::new(),
            again: Vec::new(),
            stopped: false,
        }
    }

    /// Returns second legs that are put back unsent: they were claimed, but not sent.
    pub(crate) fn put_back(&self) -> impl Iterator<Item = &Batch> {
        let is_second = |kind| kind == BatchKind::Backup;
        let again = self.again.iter();
        again.filter(move |batch| is_second(self.batch.kind) && is_second(batch.kind))
    }
}
