//! The rows of batches.

use super::batch::{Batch, BatchKind, Body, Claimed, Content, QueueState};
use crate::rows::{due_at_ms, environment, id_bytes, message_id, named};
use database::{Error, Result, Tx, bulk, by_whole_keys, value};
use domain::otp::{CodeKind, OtpId, OtpText};
use domain::{
    AccountId, BatchId, Bucket, Gateway, Leg, Money, Priority, RawPage, Recipient, recipient_list,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// Batches read in one claim at most.
pub(super) const MAX_BATCHES: usize = 256;

pub(crate) async fn insert(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    tx.execute_each(
        bulk(
            "insert into batches (bucket, carrier, claimed_by, priority, due_at_ms, batch_id,
             claimed_until_ms, message_id, kind, leg, tries, suffixed, pages, charge, reserve,
             expires_at_ms, recipients)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
            "insert into batches (bucket, carrier, claimed_by, priority, due_at_ms,
             batch_id, claimed_until_ms, message_id, kind, leg, tries, suffixed, pages,
                 charge, reserve, expires_at_ms, recipients)
         select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[],
             $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[], $9::text[],
             $10::bigint[], $11::bigint[], $12::boolean[], $13::bigint[], $14::bigint[],
             $15::bigint[], $16::bigint[], $17::bytea[])",
        )
        .rows(batches, |batch| {
            [
                value(batch.bucket.0),
                value(&*batch.carrier),
                value(batch.state.stored()),
                value(batch.priority.rank()),
                value(batch.due_at_ms),
                value(batch.id.0),
                value(batch.claimed_until_ms),
                value(id_bytes(&batch.message)),
                value(batch.kind.as_str()),
                value(batch.leg.number()),
                value(batch.tries),
                value(batch.suffixed),
                value(batch.pages),
                value(batch.charge.units()),
                value(batch.reserve.units()),
                value(batch.expires_at_ms),
                value(recipient_list::pack(&batch.recipients)),
            ]
        }),
    )
    .await?;
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
pub(crate) async fn take(tx: &mut Tx, batches: &[&Batch]) -> Result<HashSet<BatchId>> {
    let taken = tx
        .changed_each(
            by_whole_keys(
                "delete from batches
         where bucket = $1 and carrier = $2 and claimed_by = $3 and priority = $4
             and due_at_ms = $5 and batch_id = $6",
                "delete from batches
         where ",
                &[
                    "bucket",
                    "carrier",
                    "claimed_by",
                    "priority",
                    "due_at_ms",
                    "batch_id",
                ],
                "
         returning batch_id",
            )
            .rows(batches, |batch| {
                [
                    value(batch.bucket.0),
                    value(&*batch.carrier),
                    value(batch.state.stored()),
                    value(batch.priority.rank()),
                    value(batch.due_at_ms),
                    value(batch.id.0),
                ]
            }),
            batches.iter().map(|batch| (batch.id.0,)),
        )
        .await?;
    let taken = batches.iter().zip(taken).filter(|(_, is_taken)| *is_taken);
    Ok(taken.map(|(batch, _)| batch.id).collect())
}

/// Reduces claimed batches to the recipients that are not accounted for, and returns the ids of the
/// batches found. A batch with no other recipients was reduced before: its report is repeated.
pub(crate) async fn shrink(
    tx: &mut Tx,
    batches: &[(&Batch, &[Recipient])],
) -> Result<HashSet<BatchId>> {
    let changed = tx
        .changed_each(
            bulk(
                "update batches set recipients = $7
         where batches.bucket = $1 and batches.carrier = $2
             and batches.claimed_by = $3 and batches.priority = $4
             and batches.due_at_ms = $5 and batches.batch_id = $6
             and batches.recipients <> $7",
                "with v (bucket, carrier, claimed_by, priority, due_at_ms,
         batch_id, recipients) as (select * from unnest($1::bigint[], $2::text[],
         $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[]))
         update batches set recipients = v.recipients
         from v where batches.bucket = v.bucket and batches.carrier = v.carrier
             and batches.claimed_by = v.claimed_by and batches.priority = v.priority
             and batches.due_at_ms = v.due_at_ms and batches.batch_id = v.batch_id
             and batches.recipients <> v.recipients
         returning batches.batch_id",
            )
            .rows(batches, |row| {
                let (batch, remaining) = row;
                [
                    value(batch.bucket.0),
                    value(&*batch.carrier),
                    value(batch.state.stored()),
                    value(batch.priority.rank()),
                    value(batch.due_at_ms),
                    value(batch.id.0),
                    value(recipient_list::pack(remaining)),
                ]
            }),
            batches.iter().map(|row| (row.0.id.0,)),
        )
        .await?;
    let changed = batches.iter().zip(changed);
    let changed = changed.filter(|(_, is_changed)| *is_changed);
    Ok(changed.map(|((batch, _), _)| batch.id).collect())
}

/// Sets the state of batches, and the end of a claim. It returns how many batches were found as
/// given.
pub(crate) async fn mark(
    tx: &mut Tx,
    batches: &[Batch],
    state: QueueState,
    until_ms: i64,
) -> Result<usize> {
    let marked = tx
        .changed_each(
            bulk(
                "update batches set claimed_by = $7, claimed_until_ms = $8
         where batches.bucket = $1 and batches.carrier = $2
             and batches.claimed_by = $3 and batches.priority = $4
             and batches.due_at_ms = $5 and batches.batch_id = $6",
                "with v (bucket, carrier, claimed_by, priority, due_at_ms,
         batch_id) as (select * from unnest($1::bigint[], $2::text[], $3::bigint[],
         $4::bigint[], $5::bigint[], $6::bigint[]))
         update batches set claimed_by = $7, claimed_until_ms = $8
         from v where batches.bucket = v.bucket and batches.carrier = v.carrier
             and batches.claimed_by = v.claimed_by and batches.priority = v.priority
             and batches.due_at_ms = v.due_at_ms and batches.batch_id = v.batch_id
         returning batches.batch_id",
            )
            .rows(batches, |batch| {
                [
                    value(batch.bucket.0),
                    value(&*batch.carrier),
                    value(batch.state.stored()),
                    value(batch.priority.rank()),
                    value(batch.due_at_ms),
                    value(batch.id.0),
                ]
            })
            .bind(state.stored())
            .bind(until_ms),
            batches.iter().map(|batch| (batch.id.0,)),
        )
        .await?;
    Ok(marked.into_iter().filter(|is_marked| *is_marked).count())
}

/// Records that the node which holds these batches has no unsent recipient of them.
pub(crate) async fn set_stopped(tx: &mut Tx, batches: &[&Batch]) -> Result<()> {
    tx.execute_each(
        by_whole_keys(
            "update batches set stopped = true
         where bucket = $1 and carrier = $2 and claimed_by = $3 and priority = $4
             and due_at_ms = $5 and batch_id = $6",
            "update batches set stopped = true
         where ",
            &[
                "bucket",
                "carrier",
                "claimed_by",
                "priority",
                "due_at_ms",
                "batch_id",
            ],
            "",
        )
        .rows(batches, |batch| {
            [
                value(batch.bucket.0),
                value(&*batch.carrier),
                value(batch.state.stored()),
                value(batch.priority.rank()),
                value(batch.due_at_ms),
                value(batch.id.0),
            ]
        }),
    )
    .await?;
    Ok(())
}

#[expect(clippy::struct_excessive_bools, reason = "they are columns")]
pub(crate) struct BatchRow {
    pub(crate) bucket: i16,
    pub(crate) carrier: String,
    pub(crate) claimed_by: i64,
    pub(crate) priority: i64,
    pub(crate) due_at_ms: i64,
    pub(crate) batch_id: i64,
    pub(crate) claimed_until_ms: i64,
    pub(crate) message_id: Vec<u8>,
    pub(crate) kind: String,
    pub(crate) leg: i64,
    pub(crate) tries: i64,
    pub(crate) suffixed: bool,
    pub(crate) pages: i64,
    pub(crate) charge: i64,
    pub(crate) reserve: i64,
    pub(crate) expires_at_ms: i64,
    pub(crate) recipients: Vec<u8>,
    pub(crate) account_id: i64,
    pub(crate) sandbox: bool,
    pub(crate) gateway: String,
    pub(crate) sender: String,
    pub(crate) body: Option<String>,
    pub(crate) raw_page: Option<Vec<u8>>,
    pub(crate) otp_id: Option<Vec<u8>>,
    pub(crate) otp_kind: Option<String>,
    pub(crate) otp_length: Option<i64>,
    pub(crate) message_due_at_ms: Option<i64>,
    /// `true` if the node that holds it has no unsent recipient of it.
    pub(crate) stopped: bool,
    /// `true` if the account may not send.
    pub(crate) is_held: bool,
    /// `true` if the message is paused and no carrier has the recipients.
    pub(crate) is_paused: bool,
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
    stopped,
    account_id,
    sandbox,
    gateway,
    sender,
    body,
    raw_page,
    otp_id,
    otp_kind,
    otp_length,
    message_due_at_ms,
    is_held,
    is_paused
});

/// A select of batches and the fields of their messages that a claim needs. The text continues with
/// the conditions.
macro_rules! select_batches {
    ($conditions:literal) => {
        concat!(
            "select b.*, m.account_id, m.sandbox, m.gateway, m.sender, m.body, m.raw_page, m.otp_id,
         p.kind as otp_kind, p.length as otp_length, m.due_at_ms as message_due_at_ms,
         not m.sandbox and exists (select 1 from holds h
             where h.account_id = m.account_id) as is_held,
         b.kind = 'first' and m.paused_at_ms is not null as is_paused
     from batches b
     join messages m on m.bucket = b.bucket and m.message_id = b.message_id
     left join otps p on p.bucket = m.bucket and p.otp_id = m.otp_id ",
            $conditions
        )
    };
}

pub(crate) use select_batches;

impl BatchRow {
    pub(crate) fn claimed(mut self) -> Result<Claimed> {
        let message = message_id(&self.message_id)?;
        let otp = match (&self.otp_id, &self.otp_kind, self.otp_length) {
            (Some(id), Some(kind), Some(length)) => Some(otp_text(id, kind, length)?),
            // Retention removed the one-time password, so no text can be made: it is not sent.
            (Some(_), _, _) => {
                self.body = None;
                None
            }
            (None, _, _) => None,
        };
        let batch = Batch {
            bucket: Bucket(self.bucket.into()),
            carrier: self.carrier.into(),
            state: QueueState::read(self.claimed_by),
            claimed_until_ms: self.claimed_until_ms,
            priority: Priority::from_rank(self.priority)
                .ok_or_else(|| Error::Unreadable(format!("the priority {}", self.priority)))?,
            due_at_ms: self.due_at_ms,
            id: BatchId(self.batch_id),
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
            body: match self.raw_page {
                Some(page) => Body::Page(raw_page(&page)?),
                None => body(self.body, self.otp_id.is_some(), otp),
            },
        };
        Ok(Claimed {
            batch,
            content: Arc::new(content),
        })
    }
}

/// Returns the text of a message. A personalised one has none, and a claim reads its texts. Neither
/// has one whose one-time password was removed: it must not go out without its code.
fn body(body: Option<String>, is_otp: bool, otp: Option<OtpText>) -> Body {
    match (body, otp) {
        (Some(template), Some(otp)) => Body::OneTimePassword(template, otp),
        (Some(text), None) if !is_otp => Body::Shared(text),
        _ => Body::Personalised(HashMap::new()),
    }
}

fn raw_page(stored: &[u8]) -> Result<RawPage> {
    let page = RawPage::from_bytes(stored);
    page.ok_or_else(|| Error::Unreadable("a page that goes out as it came".to_owned()))
}

fn otp_text(id: &[u8], kind: &str, length: i64) -> Result<OtpText> {
    let id = Uuid::from_slice(id)
        .map_err(|_| Error::Unreadable("the id of a one-time password".to_owned()))?;
    Ok(OtpText {
        id: OtpId(id),
        kind: named(CodeKind::from_name, kind)?,
        length: u32::try_from(length).unwrap_or(u32::MAX),
    })
}
