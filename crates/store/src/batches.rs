//! Batches: the work of dispatch. A batch holds recipients of one message, for one carrier, that
//! are not accounted for yet.
//!
//! A claim records the intent to send. A claimed recipient without a delivery may have been sent;
//! any other has not. So a claim takes little more than a carrier's in-flight windows can hold.

mod claim;
mod held;
mod queue;

pub use claim::Claim;
pub use held::HELD;

use crate::rows::{due_at_ms, environment, id_bytes, message_id, named};
use database::{Error, Result, Tx, bulk, by_whole_keys, value};
use domain::{
    AccountId, Bucket, DeliveryStatus, Environment, Gateway, Leg, MessageId, Money, Priority,
    Recipient, recipient_list,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Recipients of a batch at most.
pub const MAX_RECIPIENTS: usize = 500;
/// The value of `claimed_by` for a waiting batch or callback.
pub const WAITING: i64 = 0;

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
    /// The node that has claimed it, or [`WAITING`].
    pub claimed_by: i64,
    /// The end of the claim, Unix milliseconds.
    pub claimed_until_ms: i64,
    /// The priority, by which batches are claimed.
    pub priority: Priority,
    /// Time from which it may be sent, Unix milliseconds.
    pub due_at_ms: i64,
    /// The number of the batch.
    pub id: i64,
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
    pub body: String,
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
        }
    }

    /// Returns second legs that are put back unsent: they were claimed, but not sent.
    pub(crate) fn put_back(&self) -> impl Iterator<Item = &Batch> {
        let is_second = |kind| kind == BatchKind::Backup;
        let again = self.again.iter();
        again.filter(move |batch| is_second(self.batch.kind) && is_second(batch.kind))
    }
}

pub(crate) async fn insert(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    tx.execute_each(bulk("insert into batches (bucket, carrier, claimed_by, priority, due_at_ms, batch_id,
             claimed_until_ms, message_id, kind, leg, tries, suffixed, pages, charge, reserve,
             expires_at_ms, recipients)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)", "insert into batches (bucket, carrier, claimed_by, priority, due_at_ms, batch_id,
             claimed_until_ms, message_id, kind, leg, tries, suffixed, pages, charge, reserve,
             expires_at_ms, recipients)
         select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[], $9::text[], $10::bigint[], $11::bigint[], $12::boolean[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bytea[])").rows(batches, |batch| [value(batch.bucket.0), value(&*batch.carrier), value(batch.claimed_by), value(batch.priority.rank()), value(batch.due_at_ms), value(batch.id), value(batch.claimed_until_ms), value(id_bytes(&batch.message)), value(batch.kind.as_str()), value(batch.leg.number()), value(batch.tries), value(batch.suffixed), value(batch.pages), value(batch.charge.units()), value(batch.reserve.units()), value(batch.expires_at_ms), value(recipient_list::pack(&batch.recipients))])).await?;
    Ok(())
}

/// Deletes claimed batches. A missing batch is an error, because only its holder may delete it.
pub(crate) async fn delete(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    let gone = take(tx, batches).await?;
    if gone.len() == batches.len() {
        Ok(())
    } else {
        Err(Error::Impossible("a batch is gone"))
    }
}

/// Deletes batches, and returns the ids of the ones that existed.
pub(crate) async fn take(tx: &mut Tx, batches: &[&Batch]) -> Result<HashSet<i64>> {
    let taken = tx.changed_each(by_whole_keys("delete from batches
         where bucket = $1 and carrier = $2 and claimed_by = $3 and priority = $4 and due_at_ms = $5 and batch_id = $6", "delete from batches
         where ", &["bucket", "carrier", "claimed_by", "priority", "due_at_ms", "batch_id"], "
         returning batch_id").rows(batches, |batch| [value(batch.bucket.0), value(&*batch.carrier), value(batch.claimed_by), value(batch.priority.rank()), value(batch.due_at_ms), value(batch.id)]), batches.iter().map(|batch| { (batch.id,) })).await?;
    let taken = batches.iter().zip(taken).filter(|(_, is_taken)| *is_taken);
    Ok(taken.map(|(batch, _)| batch.id).collect())
}

/// Reduces claimed batches to the recipients that are not accounted for, and returns the ids of the
/// batches found. A batch with no other recipients was reduced before: its report is repeated.
pub(crate) async fn shrink(
    tx: &mut Tx,
    batches: &[(&Batch, &[Recipient])],
) -> Result<HashSet<i64>> {
    let changed = tx.changed_each(bulk("update batches set recipients = $7
         where batches.bucket = $1 and batches.carrier = $2
             and batches.claimed_by = $3 and batches.priority = $4
             and batches.due_at_ms = $5 and batches.batch_id = $6
             and batches.recipients <> $7", "with v (bucket, carrier, claimed_by, priority, due_at_ms, batch_id, recipients) as (select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[]))
         update batches set recipients = v.recipients
         from v where batches.bucket = v.bucket and batches.carrier = v.carrier
             and batches.claimed_by = v.claimed_by and batches.priority = v.priority
             and batches.due_at_ms = v.due_at_ms and batches.batch_id = v.batch_id
             and batches.recipients <> v.recipients
         returning batches.batch_id").rows(batches, |row| {
            let (batch, remaining) = row;
            [value(batch.bucket.0), value(&*batch.carrier), value(batch.claimed_by), value(batch.priority.rank()), value(batch.due_at_ms), value(batch.id), value(recipient_list::pack(remaining))]
        }), batches.iter().map(|row| { (row.0.id,) })).await?;
    let changed = batches.iter().zip(changed);
    let changed = changed.filter(|(_, is_changed)| *is_changed);
    Ok(changed.map(|((batch, _), _)| batch.id).collect())
}

struct BatchRow {
    bucket: i16,
    carrier: String,
    claimed_by: i64,
    priority: i64,
    due_at_ms: i64,
    batch_id: i64,
    claimed_until_ms: i64,
    message_id: Vec<u8>,
    kind: String,
    leg: i64,
    tries: i64,
    suffixed: bool,
    pages: i64,
    charge: i64,
    reserve: i64,
    expires_at_ms: i64,
    recipients: Vec<u8>,
    account_id: i64,
    sandbox: bool,
    gateway: String,
    sender: String,
    body: String,
    message_due_at_ms: Option<i64>,
    /// `true` if the account may not send.
    is_held: bool,
}

database::from_row!(BatchRow {
    bucket,
    carrier,
    claimed_by,
    priority,
    due_at_ms,
    batch_id,
    claimed_until_ms,
    message_id,
    kind,
    leg,
    tries,
    suffixed,
    pages,
    charge,
    reserve,
    expires_at_ms,
    recipients,
    account_id,
    sandbox,
    gateway,
    sender,
    body,
    message_due_at_ms,
    is_held
});

/// A select of batches and the fields of their messages that a claim needs. The text continues with
/// the conditions.
macro_rules! select_batches {
    ($conditions:literal) => {
        concat!(
            "select b.*, m.account_id, m.sandbox, m.gateway, m.sender, m.body, m.due_at_ms as message_due_at_ms,
         not m.sandbox and exists (select 1 from holds h where h.account_id = m.account_id) as is_held
     from batches b
     join messages m on m.bucket = b.bucket and m.message_id = b.message_id ",
            $conditions
        )
    };
}
use select_batches;

impl BatchRow {
    fn claimed(self) -> Result<Claimed> {
        let message = message_id(&self.message_id)?;
        let batch = Batch {
            bucket: Bucket(self.bucket.into()),
            carrier: self.carrier.into(),
            claimed_by: self.claimed_by,
            claimed_until_ms: self.claimed_until_ms,
            priority: Priority::from_rank(self.priority)
                .ok_or_else(|| Error::Unreadable(format!("the priority {}", self.priority)))?,
            due_at_ms: self.due_at_ms,
            id: self.batch_id,
            message,
            message_due_at_ms: due_at_ms(message, self.message_due_at_ms),
            kind: named(BatchKind::from_name, &self.kind)?,
            leg: Leg::from_number(self.leg)
                .ok_or_else(|| Error::Unreadable(format!("the leg {}", self.leg)))?,
            tries: self.tries,
            suffixed: self.suffixed,
            pages: self.pages,
            charge: Money::from_units(self.charge),
            reserve: Money::from_units(self.reserve),
            expires_at_ms: self.expires_at_ms,
            recipients: recipient_list::unpack(&self.recipients),
        };
        let content = Content {
            account: AccountId(self.account_id),
            environment: environment(self.sandbox),
            gateway: named(Gateway::from_name, &self.gateway)?,
            sender: self.sender,
            body: self.body,
        };
        Ok(Claimed {
            batch,
            content: Arc::new(content),
        })
    }
}

/// Batches read in one claim at most.
const MAX_BATCHES: usize = 256;
/// Batches that a claim reads first. The batches of a campaign soon fill a window. Further rows are
/// read in vain, and on PostgreSQL they stay locked for other nodes.
const FIRST_BATCHES: usize = 8;
