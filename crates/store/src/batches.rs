//! Batches: the work of dispatch. A batch is some recipients of one message, for one carrier, that are not
//! accounted for yet.
//!
//! To claim is to record the intent to send: what is claimed and has no delivery may have been handed to the
//! wire, everything else has not. So no more is claimed than a carrier's windows can take.

use crate::db::{Change, Tx};
use crate::error::Result;
use crate::rows::{id_bytes, message_id, named, number, recipient};
use crate::sql::{execute_rows, fetch_rows, on};
use crate::{Error, Store};
use domain::{
    AccountId, Bucket, DeliveryStatus, Environment, Gateway, MessageId, Money, Priority, Recipient,
    SECOND_LEG, packed,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most recipients of a batch.
pub const MOST_RECIPIENTS: usize = 500;
/// `claimed_by` of a batch that waits.
pub const WAITING: i64 = 0;

/// Why a batch exists: which of its recipients are still to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BatchKind {
    /// None of them has a delivery yet.
    First,
    /// They were in doubt; those that still are go out once more.
    Resend,
    /// The second leg: those that have no outcome and no second leg yet.
    Backup,
    /// They have a delivery already; those without an outcome.
    Again,
}

impl BatchKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Resend => "resend",
            Self::Backup => "backup",
            Self::Again => "again",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::First, Self::Resend, Self::Backup, Self::Again]
            .into_iter()
            .find(|kind| kind.as_str() == name)
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
    /// Why it exists.
    pub kind: BatchKind,
    /// Which leg of the message.
    pub leg: i64,
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

/// Asks for due batches of a carrier.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Which carrier.
    pub carrier: Arc<str>,
    /// The node that asks.
    pub node: i64,
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// Until when they are its own.
    pub until_ms: i64,
    /// Most recipients to claim, all batches together.
    pub recipients: usize,
    /// The least urgent priority asked for.
    pub priority: Priority,
    /// A number from which ids for split batches are made.
    pub next_id: i64,
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
    /// Taken by the carrier, with its id of each page.
    pub submitted: Vec<(Recipient, Vec<String>)>,
    /// Handed to the wire, outcome unknown.
    pub doubted: Vec<Recipient>,
    /// Come to a bad end.
    pub ended: Vec<Ended>,
    /// Those not accounted for after this: still with the carrier.
    pub remaining: Vec<Recipient>,
    /// New batches: retries, other carriers, resends, second legs.
    pub again: Vec<Batch>,
}

pub(crate) async fn insert(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    execute_rows!(
        tx,
        batches,
        17,
        "insert into batches (bucket, carrier, claimed_by, priority, due_at_ms, batch_id,
             claimed_until_ms, message_id, kind, leg, tries, suffixed, pages, charge, reserve,
             expires_at_ms, recipients)
         values {rows}",
        |query, batch| query
            .bind(batch.bucket.0)
            .bind(&*batch.carrier)
            .bind(batch.claimed_by)
            .bind(batch.priority.rank())
            .bind(batch.due_at_ms)
            .bind(batch.id)
            .bind(batch.claimed_until_ms)
            .bind(id_bytes(&batch.message))
            .bind(batch.kind.as_str())
            .bind(batch.leg)
            .bind(batch.tries)
            .bind(batch.suffixed)
            .bind(batch.pages)
            .bind(batch.charge.units())
            .bind(batch.reserve.units())
            .bind(batch.expires_at_ms)
            .bind(packed::pack(&batch.recipients))
    );
    Ok(())
}

pub(crate) async fn delete(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    let deleted = execute_rows!(
        tx,
        batches,
        6,
        "delete from batches
         where (bucket, carrier, claimed_by, priority, due_at_ms, batch_id) in (values {rows})",
        |query, batch| query
            .bind(batch.bucket.0)
            .bind(&*batch.carrier)
            .bind(batch.claimed_by)
            .bind(batch.priority.rank())
            .bind(batch.due_at_ms)
            .bind(batch.id)
    );
    if deleted == batches.len() as u64 {
        Ok(())
    } else {
        Err(Error::Impossible("a batch is gone"))
    }
}

/// Leaves in claimed batches only those recipients that are not accounted for.
pub(crate) async fn shrink(tx: &mut Tx, batches: &[(&Batch, &[Recipient])]) -> Result<()> {
    let changed = execute_rows!(
        tx,
        batches,
        7,
        "with v (bucket, carrier, claimed_by, priority, due_at_ms, batch_id, recipients) as (values {rows})
         update batches set recipients = v.recipients from v
         where batches.bucket = v.bucket and batches.carrier = v.carrier
             and batches.claimed_by = v.claimed_by and batches.priority = v.priority
             and batches.due_at_ms = v.due_at_ms and batches.batch_id = v.batch_id",
        |query, row| {
            let (batch, remaining) = row;
            query
                .bind(batch.bucket.0)
                .bind(&*batch.carrier)
                .bind(batch.claimed_by)
                .bind(batch.priority.rank())
                .bind(batch.due_at_ms)
                .bind(batch.id)
                .bind(packed::pack(remaining))
        }
    );
    if changed == batches.len() as u64 {
        Ok(())
    } else {
        Err(Error::Impossible("a batch is gone"))
    }
}

#[derive(sqlx::FromRow)]
struct BatchRow {
    bucket: i64,
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
}

/// The columns of [`BatchRow`]; the query names the tables `b` and `m`.
const COLUMNS: &str = "b.*, m.account_id, m.sandbox, m.gateway, m.sender, m.body from batches b
     join messages m on m.bucket = b.bucket and m.message_id = b.message_id";

impl BatchRow {
    fn claimed(self) -> Result<Claimed> {
        let batch = Batch {
            bucket: Bucket(self.bucket),
            carrier: self.carrier.into(),
            claimed_by: self.claimed_by,
            claimed_until_ms: self.claimed_until_ms,
            priority: Priority::from_rank(self.priority)
                .ok_or_else(|| Error::Unreadable(format!("the priority {}", self.priority)))?,
            due_at_ms: self.due_at_ms,
            id: self.batch_id,
            message: message_id(&self.message_id)?,
            kind: named(BatchKind::from_name, &self.kind)?,
            leg: self.leg,
            tries: self.tries,
            suffixed: self.suffixed,
            pages: self.pages,
            charge: Money::from_units(self.charge),
            reserve: Money::from_units(self.reserve),
            expires_at_ms: self.expires_at_ms,
            recipients: packed::unpack(&self.recipients),
        };
        let content = Content {
            account: AccountId(self.account_id),
            environment: if self.sandbox {
                Environment::Sandbox
            } else {
                Environment::Live
            },
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
const MOST_BATCHES: i64 = 256;

struct ClaimBatches {
    claim: Claim,
    buckets: Vec<Bucket>,
}

impl Change for ClaimBatches {
    type Output = Vec<Claimed>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<Claimed>> {
        let mut claimed = Vec::new();
        let mut room = self.claim.recipients;
        for priority in Priority::ALL
            .into_iter()
            .filter(|&priority| priority <= self.claim.priority)
        {
            for &bucket in &self.buckets {
                if room > 0 {
                    let found = self.due(tx, bucket, priority, room).await?;
                    let taken = self.take(tx, found, &mut room, claimed.len()).await?;
                    claimed.extend(taken);
                }
            }
        }
        still_to_send(tx, claimed).await
    }
}

impl ClaimBatches {
    async fn due(
        &self,
        tx: &mut Tx,
        bucket: Bucket,
        priority: Priority,
        room: usize,
    ) -> Result<Vec<Claimed>> {
        let sql = format!(
            "select {COLUMNS} where b.bucket = $1 and b.carrier = $2 and b.claimed_by = 0
                 and b.priority = $3 and b.due_at_ms <= $4
             order by b.due_at_ms, b.batch_id limit $5{}",
            tx.skip_locked("b")
        );
        let limit = i64::try_from(room)
            .unwrap_or(MOST_BATCHES)
            .min(MOST_BATCHES);
        let rows: Vec<BatchRow> = on!(tx, |connection| sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(bucket.0)
            .bind(&*self.claim.carrier)
            .bind(priority.rank())
            .bind(self.claim.now_ms)
            .bind(limit)
            .fetch_all(connection)
            .await?);
        rows.into_iter().map(BatchRow::claimed).collect()
    }

    /// Claims what there is room for; the last batch is split where it is too large.
    async fn take(
        &self,
        tx: &mut Tx,
        found: Vec<Claimed>,
        room: &mut usize,
        before: usize,
    ) -> Result<Vec<Claimed>> {
        let (mut whole, mut taken) = (Vec::new(), Vec::new());
        for mut claimed in found {
            let count = claimed.batch.recipients.len();
            if *room == 0 {
                break;
            }
            if count > *room {
                let rest = claimed.batch.recipients.split_off(*room);
                shrink(tx, &[(&claimed.batch, &rest)]).await?;
                let offset = i64::try_from(before + taken.len()).unwrap_or_default();
                claimed.batch.id = self.claim.next_id + offset;
                self.mark(&mut claimed.batch);
                insert(tx, &[&claimed.batch]).await?;
                *room = 0;
            } else {
                *room -= count;
                whole.push(claimed.batch.clone());
                self.mark(&mut claimed.batch);
            }
            taken.push(claimed);
        }
        self.claim_whole(tx, &whole).await?;
        Ok(taken)
    }

    fn mark(&self, batch: &mut Batch) {
        batch.claimed_by = self.claim.node;
        batch.claimed_until_ms = self.claim.until_ms;
    }

    async fn claim_whole(&self, tx: &mut Tx, batches: &[Batch]) -> Result<()> {
        execute_rows!(
            tx,
            batches,
            4,
            "with v (bucket, priority, due_at_ms, batch_id) as (values {rows})
             update batches set claimed_by = {1}, claimed_until_ms = {2} from v
             where batches.bucket = v.bucket and batches.carrier = {3} and batches.claimed_by = 0
                 and batches.priority = v.priority and batches.due_at_ms = v.due_at_ms
                 and batches.batch_id = v.batch_id",
            |query, batch| query
                .bind(batch.bucket.0)
                .bind(batch.priority.rank())
                .bind(batch.due_at_ms)
                .bind(batch.id),
            after
                | query
                | query
                    .bind(self.claim.node)
                    .bind(self.claim.until_ms)
                    .bind(&*self.claim.carrier)
        );
        Ok(())
    }
}

/// Leaves out those recipients that need not be sent any more. A second leg is recorded as submitted here:
/// from now on it may be on the wire.
async fn still_to_send(tx: &mut Tx, claimed: Vec<Claimed>) -> Result<Vec<Claimed>> {
    let (mut kept, mut checked) = (Vec::with_capacity(claimed.len()), Vec::new());
    for claimed in claimed {
        match claimed.batch.kind {
            BatchKind::First => kept.push(claimed),
            BatchKind::Resend | BatchKind::Backup | BatchKind::Again => checked.push(claimed),
        }
    }
    for mut claimed in checked {
        let batch = &claimed.batch;
        let states = delivery_states(tx, batch).await?;
        let wanted = |recipient: &Recipient| {
            states
                .get(recipient)
                .is_none_or(|&(status, leg)| match batch.kind {
                    BatchKind::First => true,
                    BatchKind::Resend => status == DeliveryStatus::InDoubt,
                    BatchKind::Backup => !status.is_final() && leg < SECOND_LEG,
                    BatchKind::Again => !status.is_final(),
                })
        };
        let left: Vec<Recipient> = batch.recipients.iter().copied().filter(wanted).collect();
        if left.is_empty() {
            delete(tx, &[batch]).await?;
            continue;
        }
        if left.len() < batch.recipients.len() {
            shrink(tx, &[(batch, &left)]).await?;
        }
        if batch.kind == BatchKind::Backup {
            begin_second_leg(tx, batch, &left).await?;
        }
        claimed.batch.recipients = left;
        kept.push(claimed);
    }
    Ok(kept)
}

async fn delivery_states(
    tx: &mut Tx,
    batch: &Batch,
) -> Result<HashMap<Recipient, (DeliveryStatus, i64)>> {
    let rows: Vec<(i64, String, i64)> = fetch_rows!(
        tx,
        &batch.recipients,
        1,
        "select recipient, status, leg from deliveries
         where bucket = {1} and message_id = {2} and recipient in (values {rows})",
        |query, recipient| query.bind(number(*recipient)),
        after | query | query.bind(batch.bucket.0).bind(id_bytes(&batch.message))
    );
    rows.into_iter()
        .map(|(digits, status, leg)| {
            Ok((
                recipient(digits),
                (named(DeliveryStatus::from_name, &status)?, leg),
            ))
        })
        .collect()
}

async fn begin_second_leg(tx: &mut Tx, batch: &Batch, recipients: &[Recipient]) -> Result<()> {
    execute_rows!(
        tx,
        recipients,
        1,
        "update deliveries set leg = {3}
         where bucket = {1} and message_id = {2} and recipient in (values {rows})",
        |query, recipient| query.bind(number(*recipient)),
        after
            | query
            | query
                .bind(batch.bucket.0)
                .bind(id_bytes(&batch.message))
                .bind(SECOND_LEG)
    );
    Ok(())
}

struct Release {
    claimed: Vec<Batch>,
    due_at_ms: i64,
    carrier: Option<Arc<str>>,
}

impl Change for Release {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        delete(tx, &self.claimed.iter().collect::<Vec<_>>()).await?;
        let waiting: Vec<Batch> = self
            .claimed
            .iter()
            .map(|batch| Batch {
                claimed_by: WAITING,
                claimed_until_ms: 0,
                due_at_ms: self.due_at_ms,
                carrier: self
                    .carrier
                    .clone()
                    .unwrap_or_else(|| batch.carrier.clone()),
                ..batch.clone()
            })
            .collect();
        insert(tx, &waiting.iter().collect::<Vec<_>>()).await
    }
}

impl Store {
    /// Claims due batches of a carrier, the most urgent first.
    pub async fn claim(&self, claim: Claim) -> Result<Vec<Claimed>> {
        let buckets = crate::rows::buckets(self.db.is_embedded()).collect();
        self.db.change(ClaimBatches { claim, buckets }).await
    }

    /// Gives claimed batches back unsent: due at `due_at_ms`, for another carrier if one is named.
    pub async fn release(
        &self,
        claimed: Vec<Batch>,
        due_at_ms: i64,
        carrier: Option<Arc<str>>,
    ) -> Result<()> {
        self.db
            .change(Release {
                claimed,
                due_at_ms,
                carrier,
            })
            .await
    }

    /// The batches that other nodes than `node` have in hand: on SQLite, those of a process that died.
    pub async fn claimed_by_others(
        &self,
        carriers: &[Arc<str>],
        node: i64,
    ) -> Result<Vec<Claimed>> {
        let mut tx = self.db.read().await?;
        let mut found = Vec::new();
        let carriers: HashSet<&Arc<str>> = carriers.iter().collect();
        for bucket in crate::rows::buckets(self.db.is_embedded()) {
            for carrier in &carriers {
                let sql = format!(
                    "select {COLUMNS} where b.bucket = $1 and b.carrier = $2 and b.claimed_by > 0
                         and b.claimed_by <> $3"
                );
                let rows: Vec<BatchRow> = on!(&mut tx, |connection| sqlx::query_as(
                    sqlx::AssertSqlSafe(sql)
                )
                .bind(bucket.0)
                .bind(&***carrier)
                .bind(node)
                .fetch_all(connection)
                .await?);
                for row in rows {
                    found.push(row.claimed()?);
                }
            }
        }
        Ok(found)
    }

    /// Batches that wait and whose time to be sent is over, some at a time.
    pub async fn late_batches(&self, now_ms: i64) -> Result<Vec<Claimed>> {
        let sql =
            format!("select {COLUMNS} where b.claimed_by = 0 and b.expires_at_ms <= $1 limit $2");
        let rows: Vec<BatchRow> = on!(&mut self.db.read().await?, |connection| {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(now_ms)
                .bind(MOST_BATCHES)
                .fetch_all(connection)
                .await?
        });
        rows.into_iter().map(BatchRow::claimed).collect()
    }

    /// When the next batch of a carrier is due, if one waits.
    pub async fn next_due(&self, carrier: &str) -> Result<Option<i64>> {
        let mut tx = self.db.read().await?;
        let mut next = None;
        for bucket in crate::rows::buckets(self.db.is_embedded()) {
            for priority in Priority::ALL {
                let due: Option<i64> = on!(&mut tx, |connection| sqlx::query_scalar(
                    "select due_at_ms from batches where bucket = $1 and carrier = $2
                         and claimed_by = 0 and priority = $3 order by due_at_ms limit 1",
                )
                .bind(bucket.0)
                .bind(carrier)
                .bind(priority.rank())
                .fetch_optional(connection)
                .await?);
                next = next.into_iter().chain(due).min();
            }
        }
        Ok(next)
    }

    /// Recipients that wait, by carrier.
    pub async fn queue_depths(&self) -> Result<Vec<(String, i64)>> {
        // Seven octets a number, see `domain::packed`.
        let rows: Vec<(String, i64)> = on!(&mut self.db.read().await?, |connection| {
            sqlx::query_as(
                "select carrier, cast(sum(length(recipients) / 7) as bigint) from batches
                 group by carrier",
            )
            .fetch_all(connection)
            .await?
        });
        Ok(rows)
    }
}
