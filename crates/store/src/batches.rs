//! Batches: the work of dispatch. A batch is some recipients of one message, for one carrier, that are not
//! accounted for yet.
//!
//! To claim is to record the intent to send: what is claimed and has no delivery may have been handed to the
//! wire, everything else has not. So little more is claimed than a carrier's windows can take.

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

/// Most recipients of a batch.
pub const MOST_RECIPIENTS: usize = 500;
/// `claimed_by` of a batch, or a callback, that waits.
pub const WAITING: i64 = 0;

domain::named_enum! {
    /// Why a batch exists: which of its recipients are still to be sent.
    BatchKind {
        /// None of them has a delivery yet; those that have one (of a backup that overtook it) are left out.
        First = "first",
        /// They are in doubt; those that still are go out once more. Where that copy is not taken either, the
        /// doubt stays.
        Resend = "resend",
        /// The second leg: those that have no outcome and no second leg yet.
        Backup = "backup",
        /// They have a delivery already; those without an outcome.
        Again = "again",
    }
}

/// Some recipients of one message, for one carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Batch {
    /// Where its account's rows live.
    pub bucket: Bucket,
    /// Who is to carry it.
    pub carrier: Arc<str>,
    /// The node that has it in hand, or [`WAITING`].
    pub claimed_by: i64,
    /// Until when that holds, Unix milliseconds.
    pub claimed_until_ms: i64,
    /// When it is served.
    pub priority: Priority,
    /// From when on, Unix milliseconds.
    pub due_at_ms: i64,
    /// Its number.
    pub id: i64,
    /// Which message.
    pub message: MessageId,
    /// From when on that may be sent, Unix milliseconds. It is the message's field and not stored with the batch.
    pub message_due_at_ms: i64,
    /// Why it exists.
    pub kind: BatchKind,
    /// Which leg of the message.
    pub leg: Leg,
    /// Faults so far on this carrier.
    pub tries: i64,
    /// Whether the sender ID is added to the text.
    pub suffixed: bool,
    /// Pages of the text.
    pub pages: i64,
    /// What each recipient was charged.
    pub charge: Money,
    /// The part of it that goes back when a second leg is never submitted.
    pub reserve: Money,
    /// After this it is not sent any more, Unix milliseconds.
    pub expires_at_ms: i64,
    /// To whom.
    pub recipients: Vec<Recipient>,
}

/// What a batch says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Content {
    /// Whose message.
    pub account: AccountId,
    /// Which world.
    pub environment: Environment,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The sender ID.
    pub sender: String,
    /// The prepared text, without suffix.
    pub body: String,
}

/// A batch in hand, with what it says.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The batch.
    pub batch: Batch,
    /// What it says.
    pub content: Arc<Content>,
}

impl Batch {
    /// Whether some of its recipients may have a delivery before it is sent. The first leg of two is usually
    /// the first that is heard of, but its backup may overtake it.
    pub(crate) fn may_have_deliveries(&self, gateway: Gateway) -> bool {
        self.kind != BatchKind::First || gateway == Gateway::DualBackup
    }

    /// The keys of the deliveries of these of its recipients.
    pub(crate) fn keys(&self, recipients: &[Recipient]) -> Vec<(Bucket, MessageId, Recipient)> {
        let recipients = recipients.iter();
        recipients
            .map(|&recipient| (self.bucket, self.message, recipient))
            .collect()
    }
}

/// A bad end of a recipient that was not accepted by its carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ended {
    /// Who.
    pub recipient: Recipient,
    /// Which end.
    pub status: DeliveryStatus,
    /// The carrier's or our word for it.
    pub error: String,
}

/// What came back for some recipients of a claimed batch.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The batch as it was claimed.
    pub batch: Arc<Batch>,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// Taken by the carrier, with its id of each page.
    pub submitted: Vec<(Recipient, Vec<String>)>,
    /// Handed to the wire, outcome unknown.
    pub doubted: Vec<Recipient>,
    /// Come to a bad end, unless it was a resend: then they are in doubt as before.
    pub ended: Vec<Ended>,
    /// Those not accounted for after this: still with the carrier.
    pub remaining: Vec<Recipient>,
    /// New batches: retries, other carriers, resends, second legs.
    pub again: Vec<Batch>,
}

impl Progress {
    /// A batch that is gone from its carrier, with nothing told of its recipients yet.
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

    /// Second legs that go back unsent: they were claimed, and were not on the wire.
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

/// Takes batches out that are in hand. One that is gone is an error: only its holder may.
pub(crate) async fn delete(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    let gone = take(tx, batches).await?;
    if gone.len() == batches.len() {
        Ok(())
    } else {
        Err(Error::Impossible("a batch is gone"))
    }
}

/// Takes batches out; gives the ids of those that were there.
pub(crate) async fn take(tx: &mut Tx, batches: &[&Batch]) -> Result<HashSet<i64>> {
    let taken = tx.changed_each(by_whole_keys("delete from batches
         where bucket = $1 and carrier = $2 and claimed_by = $3 and priority = $4 and due_at_ms = $5 and batch_id = $6", "delete from batches
         where ", &["bucket", "carrier", "claimed_by", "priority", "due_at_ms", "batch_id"], "
         returning batch_id").rows(batches, |batch| [value(batch.bucket.0), value(&*batch.carrier), value(batch.claimed_by), value(batch.priority.rank()), value(batch.due_at_ms), value(batch.id)]), batches.iter().map(|batch| { (batch.id,) })).await?;
    let taken = batches.iter().zip(taken).filter(|(_, is_taken)| *is_taken);
    Ok(taken.map(|(batch, _)| batch.id).collect())
}

/// Leaves in claimed batches only those recipients that are not accounted for; gives the ids of those that
/// were there. One that holds no more than those has been through this before: its report is made again.
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
    /// Whether its account may not send.
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

/// A select of batches with what a claim needs of their messages; the text goes on with the conditions.
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

/// Most batches looked at in one claim.
const MOST_BATCHES: usize = 256;
/// Batches that a claim reads first: those of a campaign fill a window soon, and what is read beyond it is read for
/// nothing, and on PostgreSQL kept from other nodes meanwhile.
const FIRST_BATCHES: usize = 8;
