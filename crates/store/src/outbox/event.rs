//! Events in the outbox.

use crate::rows::{holder, id_bytes, number};
use database::{Result, Tx, bulk, by_whole_keys, query, value};
use domain::inbound::InboundMessage;
use domain::smpp_receipt::{self, RecipientEnd};
use domain::{
    AccountId, Bucket, DeliveryStatus, Environment, EventId, MessageId, NodeId, Recipient,
    callback_url,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

domain::named_enum! {
    /// The kinds of events.
    pub enum EventKind {
        /// The final status of one recipient of a message.
        DeliveryStatus = "delivery_status",
        /// An inbound message.
        Inbound = "inbound",
        /// The receipt of a message by SMPP.
        Receipt = "receipt",
        /// A balance below the threshold of an alert.
        LowBalance = "low_balance",
    }
}

/// The content of a callback.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CallbackEvent {
    /// The final status of one recipient.
    Delivery {
        /// The status.
        status: DeliveryStatus,
        /// The caller's own reference.
        customer_reference: Option<Arc<str>>,
    },
    /// An inbound message.
    Inbound(Arc<InboundMessage>),
    /// The receipt of a message by SMPP.
    Receipt(Arc<MessageReceipt>),
    /// A balance below the threshold of an alert, as the body of the callback.
    LowBalance(Arc<str>),
}

/// The content of a receipt for an SMPP user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MessageReceipt {
    /// The end of the recipient.
    pub end: RecipientEnd,
    /// The sender of the message, once the receipt is claimed.
    pub sender: String,
    /// The begin of its text, once the receipt is claimed.
    pub quoted: String,
}

impl CallbackEvent {
    /// Returns the kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Delivery { .. } => EventKind::DeliveryStatus,
            Self::Inbound(_) => EventKind::Inbound,
            Self::Receipt(_) => EventKind::Receipt,
            Self::LowBalance(_) => EventKind::LowBalance,
        }
    }

    /// Returns the status as the customer sees it, if the event is one.
    pub fn status(&self) -> Option<&'static str> {
        match self {
            Self::Delivery { status, .. } => Some(status.outside()),
            Self::Receipt(receipt) => Some(receipt.end.status.outside()),
            Self::Inbound(_) | Self::LowBalance(_) => None,
        }
    }
}

/// An event, for delivery to its customer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Callback {
    /// The bucket of the account's rows.
    pub bucket: Bucket,
    /// The account.
    pub account: AccountId,
    /// The environment of its message: live or sandbox.
    pub environment: Environment,
    /// Scheme, host and port of the address.
    pub origin: String,
    /// Due time, Unix milliseconds.
    pub due_at_ms: i64,
    /// The message, or the inbound message.
    pub message: MessageId,
    /// The recipient, or the number of an inbound message.
    pub recipient: Recipient,
    /// The content.
    pub event: CallbackEvent,
    /// Attempts made.
    pub attempts: i64,
    /// The URL.
    pub url: Arc<str>,
}

impl Callback {
    /// Returns the first callback of an inbound message of an account.
    pub fn of_inbound(
        (bucket, account): (Bucket, AccountId),
        message: &InboundMessage,
        url: &str,
        now_ms: i64,
    ) -> Self {
        Self {
            bucket,
            account,
            environment: Environment::Live,
            origin: callback_url::origin(url),
            due_at_ms: now_ms,
            message: message.id,
            recipient: message.recipient(),
            event: CallbackEvent::Inbound(Arc::new(message.clone())),
            attempts: 0,
            url: url.into(),
        }
    }

    /// Returns the first callback of an alert of an account, with its URL and body.
    pub fn of_alert(
        (bucket, account): (Bucket, AccountId),
        id: MessageId,
        (url, body): (&str, String),
        now_ms: i64,
    ) -> Self {
        Self {
            bucket,
            account,
            environment: Environment::Live,
            origin: callback_url::origin(url),
            due_at_ms: now_ms,
            message: id,
            recipient: Recipient::from_digits(0),
            event: CallbackEvent::LowBalance(body.into()),
            attempts: 0,
            url: url.into(),
        }
    }

    /// Returns the first event of an inbound message that goes to an SMPP user.
    pub fn of_inbound_by_smpp(
        owner: (Bucket, AccountId),
        message: &InboundMessage,
        system_id: &str,
        now_ms: i64,
    ) -> Self {
        Self {
            origin: smpp_receipt::destination(system_id),
            ..Self::of_inbound(owner, message, "", now_ms)
        }
    }

    /// Returns the stored form of its content, which the rows of its message complete.
    fn payload(&self) -> Cow<'_, str> {
        match &self.event {
            CallbackEvent::Delivery { status, .. } => status.as_str().into(),
            CallbackEvent::Inbound(_) => (&*self.url).into(),
            CallbackEvent::Receipt(receipt) => receipt.end.to_text().into(),
            CallbackEvent::LowBalance(body) => format!("{}\n{body}", self.url).into(),
        }
    }

    /// Returns the event id, which all attempts share.
    pub fn event_id(&self) -> EventId {
        EventId::of_delivery(self.message, self.recipient)
    }

    /// Returns `true` if its message belongs to the sandbox.
    pub(super) fn is_sandbox(&self) -> bool {
        self.environment == Environment::Sandbox
    }
}

/// The result of a claimed callback.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finished {
    /// It is delivered and removed.
    Done,
    /// It is tried again.
    Retry {
        /// Time of the next attempt, Unix milliseconds.
        at_ms: i64,
    },
    /// It is dead: kept, but not tried again.
    Dead,
    /// It is dead, and so are all others of its message.
    EndMessage,
    /// It is dead without an attempt.
    GivenUp,
    /// It was not tried, and returns unchanged.
    Untouched,
}

/// The result of an attempt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempted {
    /// Start of the attempt, Unix milliseconds.
    pub made_at_ms: i64,
    /// The HTTP status, or the reason why there was none.
    pub result: String,
    /// Duration, milliseconds.
    pub took_ms: i64,
    /// The start of the response, in one line.
    pub answer: String,
}

/// A claimed callback with its result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttemptOutcome {
    /// The callback.
    pub callback: Callback,
    /// The result.
    pub finished: Finished,
    /// The attempt, if it is to be logged.
    pub attempted: Option<Attempted>,
}

impl AttemptOutcome {
    /// Returns an outcome without an attempt to log.
    pub fn new(callback: Callback, finished: Finished) -> Self {
        Self {
            callback,
            finished,
            attempted: None,
        }
    }
}

/// Returns the lowest and the highest id of a message, or of all.
pub(super) fn messages(message: Option<MessageId>) -> [Vec<u8>; 2] {
    match message {
        Some(message) => [id_bytes(&message).to_vec(), id_bytes(&message).to_vec()],
        None => [vec![0; 16], vec![0xFF; 16]],
    }
}

pub(super) const DUE: &str = "due";

pub(super) const CLAIMED: &str = "claimed";

pub(super) const DEAD: &str = "dead";

/// The states of callbacks in the outbox.
pub const CALLBACK_STATES: [&str; 3] = [DUE, CLAIMED, DEAD];

/// Inserts callbacks. `claimed` names the node that claims them, and the end of its claim.
pub(crate) async fn insert(
    tx: &mut Tx,
    callbacks: &[Callback],
    claimed: Option<(NodeId, i64)>,
) -> Result<()> {
    let state = if claimed.is_some() { CLAIMED } else { DUE };
    insert_as(tx, &callbacks.iter().collect::<Vec<_>>(), state, claimed).await
}

pub(super) async fn insert_as(
    tx: &mut Tx,
    callbacks: &[&Callback],
    state: &str,
    claimed: Option<(NodeId, i64)>,
) -> Result<()> {
    let node = holder(claimed.map(|(node, _)| node));
    let until_ms = claimed.map_or(0, |(_, until_ms)| until_ms);
    tx.execute_each(
        bulk(
            "insert into outbox (bucket, state, account_id, sandbox, destination,
             due_at_ms, event_id, kind, subject, recipient, payload, attempts, claimed_by,
                 claimed_until_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
             on conflict do nothing",
            "insert into outbox (bucket, state, account_id, sandbox, destination,
             due_at_ms, event_id, kind, subject, recipient, payload, attempts, claimed_by,
                 claimed_until_ms)
         select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[],
             $5::text[], $6::bigint[], $7::bytea[], $8::text[], $9::bytea[], $10::bigint[],
             $11::text[], $12::bigint[], $13::bigint[], $14::bigint[])
             on conflict do nothing",
        )
        .rows(callbacks, |callback| {
            [
                value(callback.bucket.0),
                value(state),
                value(callback.account.0),
                value(callback.is_sandbox()),
                value(&callback.origin),
                value(callback.due_at_ms),
                value(callback.event_id().as_bytes().to_vec()),
                value(callback.event.kind().as_str()),
                value(id_bytes(&callback.message)),
                value(number(callback.recipient)),
                value(callback.payload().into_owned()),
                value(callback.attempts),
                value(node),
                value(until_ms),
            ]
        }),
    )
    .await?;
    Ok(())
}

/// Returns `true` if callbacks that were claimed together are still claimed by that node, and
/// `false` if there are none.
pub(crate) async fn are_claimed(tx: &mut Tx, callbacks: &[Callback], node: NodeId) -> Result<bool> {
    let Some(first) = callbacks.first() else {
        return Ok(false);
    };
    let found: Option<i64> = tx
        .fetch_optional(
            query(
                "select attempts from outbox where bucket = $1 and state = $2 and account_id = $3
             and sandbox = $4 and destination = $5 and due_at_ms = $6 and event_id = $7
             and claimed_by = $8",
            )
            .bind(first.bucket.0)
            .bind(CLAIMED)
            .bind(first.account.0)
            .bind(first.is_sandbox())
            .bind(&first.origin)
            .bind(first.due_at_ms)
            .bind(first.event_id().as_bytes())
            .bind(node.0),
        )
        .await?;
    Ok(found.is_some())
}

/// Deletes callbacks that are in this state and claimed by that node, or by nobody. Returns the deleted ones.
pub(super) async fn take(
    tx: &mut Tx,
    callbacks: &[&Callback],
    state: &str,
    node: Option<NodeId>,
) -> Result<HashSet<EventId>> {
    let taken = tx
        .changed_each(
            by_whole_keys(
                "delete from outbox
         where bucket = $1 and state = $2 and account_id = $3 and sandbox = $4
             and destination = $5 and due_at_ms = $6 and event_id = $7
             and claimed_by = $8",
                "delete from outbox
         where ",
                &[
                    "bucket",
                    "state",
                    "account_id",
                    "sandbox",
                    "destination",
                    "due_at_ms",
                    "event_id",
                    "claimed_by",
                ],
                "
         returning event_id",
            )
            .rows(callbacks, |callback| {
                [
                    value(callback.bucket.0),
                    value(state),
                    value(callback.account.0),
                    value(callback.is_sandbox()),
                    value(&callback.origin),
                    value(callback.due_at_ms),
                    value(callback.event_id().as_bytes().to_vec()),
                    value(holder(node)),
                ]
            }),
            callbacks
                .iter()
                .map(|callback| (callback.event_id().as_bytes().to_vec(),)),
        )
        .await?;
    let taken = callbacks
        .iter()
        .zip(taken)
        .filter(|(_, is_taken)| *is_taken);
    Ok(taken.map(|(callback, _)| callback.event_id()).collect())
}
