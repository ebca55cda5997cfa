//! Margins that parents lose when recipients of their sub-accounts are refunded.

use crate::rows::{id_bytes, message_id};
use crate::wallets::{EntryKind, LedgerEntry, MARGINS};
use database::{Error, Result, Tx, bulk, value};
use domain::resale::margin_of;
use domain::{AccountId, Bucket, MessageId, Recipient};
use std::collections::{BTreeSet, HashMap};

/// A refunded recipient of a sub-account.
pub(super) struct Refunded {
    pub(super) bucket: Bucket,
    pub(super) parent: AccountId,
    pub(super) message: MessageId,
    pub(super) recipient: Recipient,
}

/// Returns the entries that take the margins of these recipients back. Margins never change, so they
/// are read before the wallets are locked.
pub(super) async fn taken_back(
    tx: &mut Tx,
    refunded: &[Refunded],
    now_ms: i64,
) -> Result<Vec<LedgerEntry>> {
    let messages: BTreeSet<(Bucket, MessageId)> = refunded
        .iter()
        .map(|refunded| (refunded.bucket, refunded.message))
        .collect();
    let messages: Vec<(Bucket, MessageId)> = messages.into_iter().collect();
    let rows: Vec<(Vec<u8>, Vec<u8>)> = tx
        .fetch_each(
            bulk(
                "select message_id, margins from messages where bucket = $1 and message_id = $2",
                "select message_id, margins from messages where (bucket, message_id) in (select *
                     from unnest($1::bigint[], $2::bytea[]))",
            )
            .rows(&messages, |row| [value(row.0.0), value(id_bytes(&row.1))]),
        )
        .await?;
    let margins = rows
        .into_iter()
        .map(|(id, margins)| Ok((message_id(&id)?, margins)));
    let margins: HashMap<MessageId, Vec<u8>> = margins.collect::<Result<_>>()?;
    let mut entries = Vec::with_capacity(refunded.len());
    for one in refunded {
        let margin = margins
            .get(&one.message)
            .and_then(|packed| margin_of(packed, one.recipient))
            .ok_or_else(|| Error::Unreadable("the margins of a message".to_owned()))?;
        entries.extend(margin.is_positive().then(|| LedgerEntry {
            account: one.parent,
            subject: one.message,
            recipient: Some(one.recipient),
            kind: EntryKind::Margin,
            component: MARGINS,
            amount: -margin,
            created_at_ms: now_ms,
            reference: None,
        }));
    }
    Ok(entries)
}
