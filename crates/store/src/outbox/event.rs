//! Events in the outbox, and their rows.

use crate::inbound::row;
use crate::rows::{environment, holder, id_bytes, message_id, named, number, recipient};
use database::{Result, Tx, bulk, by_whole_keys, query, value};
use domain::inbound::InboundMessage;
use domain::{
    AccountId, Bucket, DeliveryStatus, Environment, EventId, MessageId, NodeId, Recipient,
    callback_url,
};
use std::collections::HashSet;
use std::sync::Arc;

domain::named_enum! {
    /// The kinds of events.
    pub enum EventKind {
        /// The final status of one recipient of a message.
        DeliveryStatus = "delivery_status",
        /// An inbound message.
        Inbound = "inbound",
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
}

impl CallbackEvent {
    /// Returns the kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Delivery { .. } => EventKind::DeliveryStatus,
            Self::Inbound(_) => EventKind::Inbound,
        }
    }

    /// Returns the status as the customer sees it, if the event is one.
    pub fn status(&self) -> Option<&'static str> {
        match self {
            Self::Delivery { status, .. } => Some(status.outside()),
            Self::Inbound(_) => None,
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

    /// Returns the stored form of its content, which the rows of its message complete.
    fn payload(&self) -> &str {
        match &self.event {
            CallbackEvent::Delivery { status, .. } => status.as_str(),
            CallbackEvent::Inbound(_) => &self.url,
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
                value(callback.payload()),
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

pub(super) struct CallbackRow {
    bucket: i16,
    account_id: i64,
    sandbox: bool,
    destination: String,
    due_at_ms: i64,
    kind: String,
    subject: Vec<u8>,
    recipient: i64,
    payload: String,
    attempts: i64,
    callback_url: Option<String>,
    customer_reference: Option<String>,
}

database::from_row!(CallbackRow {
    bucket,
    account_id,
    sandbox,
    destination,
    due_at_ms,
    kind,
    subject,
    recipient,
    payload,
    attempts,
    callback_url,
    customer_reference
});

impl CallbackRow {
    /// Returns the due time and the event id, which complete the key of an origin.
    pub(super) fn key(&self) -> Result<(i64, EventId)> {
        let message = message_id(&self.subject)?;
        let event = EventId::of_delivery(message, recipient(self.recipient));
        Ok((self.due_at_ms, event))
    }

    /// Returns the callback, or `None` if retention has removed its inbound message.
    pub(super) async fn callback(self, tx: &mut Tx) -> Result<Option<Callback>> {
        let message = message_id(&self.subject)?;
        let (event, url) = match named(EventKind::from_name, &self.kind)? {
            EventKind::DeliveryStatus => {
                let event = CallbackEvent::Delivery {
                    status: named(DeliveryStatus::from_name, &self.payload)?,
                    customer_reference: self.customer_reference.map(Into::into),
                };
                (event, self.callback_url.unwrap_or_default())
            }
            EventKind::Inbound => match row::find(tx, message).await? {
                Some(inbound) => (CallbackEvent::Inbound(Arc::new(inbound)), self.payload),
                None => return Ok(None),
            },
        };
        Ok(Some(Callback {
            bucket: Bucket(self.bucket.into()),
            account: AccountId(self.account_id),
            environment: environment(self.sandbox),
            origin: self.destination,
            due_at_ms: self.due_at_ms,
            message,
            recipient: recipient(self.recipient),
            event,
            attempts: self.attempts,
            url: url.into(),
        }))
    }
}
