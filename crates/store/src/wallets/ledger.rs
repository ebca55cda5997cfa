//! The ledger: each movement of money, with its reason.

use super::balances::Owner;
use crate::lists::ListRow;
use crate::rows::{id_bytes, message_id, named};
use database::{Result, Tx, bulk, value};
use domain::{AccountId, Bucket, Component, MessageId, Money, Purse, Recipient};
use std::collections::BTreeMap;

domain::named_enum! {
    /// The reason of a ledger entry.
    pub enum EntryKind {
        /// Money was added from outside.
        Credit = "credit",
        /// A send was accepted.
        Charge = "charge",
        /// A recipient was not delivered.
        Refund = "refund",
        /// A second leg was never submitted.
        UnusedLeg = "unused_leg",
        /// Money moved between an account and its sub-account.
        Transfer = "transfer",
        /// A parent got its part of a charge, or lost it with the refund of a recipient.
        Margin = "margin",
    }
}

/// The component of a parent's margins. It may be below zero after refunds.
pub(crate) const MARGINS: Component = Component::UniversalWallet;

/// One movement of money on one component of a wallet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LedgerEntry {
    /// The account.
    pub account: AccountId,
    /// The message concerned, or the id of a credit or transfer.
    pub subject: MessageId,
    /// The recipient that was refunded, or whose margin was taken back.
    pub recipient: Option<Recipient>,
    /// The reason.
    pub kind: EntryKind,
    /// The component.
    pub component: Component,
    /// The amount, negative for a charge.
    pub amount: Money,
    /// Time, Unix milliseconds.
    pub created_at_ms: i64,
    /// The reference of a credit or transfer.
    pub reference: Option<String>,
}

/// The key of a ledger entry in a statement: subject, recipient, kind and component.
pub type LedgerKey = (u128, i64, String, String);

impl ListRow for LedgerEntry {
    type Key = LedgerKey;

    fn key(&self) -> LedgerKey {
        let (kind, component) = (self.kind.as_str(), self.component.as_str());
        (
            self.subject.0.as_u128(),
            self.number(),
            kind.to_owned(),
            component.to_owned(),
        )
    }
}

impl LedgerEntry {
    fn number(&self) -> i64 {
        self.recipient.map_or(0, crate::rows::number)
    }
}

/// Inserts ledger entries and skips existing ones. Returns the new ones.
pub(crate) async fn enter<'e>(
    tx: &mut Tx,
    bucket_of: impl Fn(AccountId) -> Bucket,
    entries: &'e [LedgerEntry],
) -> Result<Vec<&'e LedgerEntry>> {
    let new = tx
        .changed_each(
            bulk(
                "insert into ledger (bucket, account_id, subject, recipient, kind,
             component, amount, created_at_ms, reference)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing",
                "insert into ledger (bucket, account_id, subject, recipient, kind,
             component, amount, created_at_ms, reference)
         select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[],
             $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[])
             on conflict do nothing
         returning account_id, subject, recipient, kind, component",
            )
            .rows(entries, |entry| {
                [
                    value(bucket_of(entry.account).0),
                    value(entry.account.0),
                    value(id_bytes(&entry.subject)),
                    value(entry.number()),
                    value(entry.kind.as_str()),
                    value(entry.component.as_str()),
                    value(entry.amount.units()),
                    value(entry.created_at_ms),
                    value(&entry.reference),
                ]
            }),
            entries.iter().map(|entry| {
                let subject = id_bytes(&entry.subject).to_vec();
                let (kind, component) = (entry.kind.as_str(), entry.component.as_str());
                (
                    entry.account.0,
                    subject,
                    entry.number(),
                    kind.to_owned(),
                    component.to_owned(),
                )
            }),
        )
        .await?;
    let both = entries.iter().zip(new);
    Ok(both
        .filter_map(|(entry, is_new)| is_new.then_some(entry))
        .collect())
}

/// Returns the amounts refunded for these messages so far.
pub(crate) async fn refunded(
    tx: &mut Tx,
    messages: &[(Owner, MessageId)],
) -> Result<BTreeMap<MessageId, Purse>> {
    let rows: Vec<(Vec<u8>, String, i64)> = tx
        .fetch_each(
            bulk(
                "select subject, component, cast(sum(amount) as bigint) from ledger
         where bucket = $1 and account_id = $2 and subject = $3
             and kind in ('refund', 'unused_leg')
         group by subject, component",
                "select subject, component, cast(sum(amount) as bigint) from ledger
         where (bucket, account_id, subject) in (select *
             from unnest($1::bigint[], $2::bigint[], $3::bytea[]))
             and kind in ('refund', 'unused_leg')
         group by subject, component",
            )
            .rows(messages, |row| {
                [value(row.0.0.0), value(row.0.1.0), value(id_bytes(&row.1))]
            }),
        )
        .await?;
    let mut refunded: BTreeMap<MessageId, Purse> = BTreeMap::new();
    for (subject, component, amount) in rows {
        let component = named(Component::from_name, &component)?;
        refunded
            .entry(message_id(&subject)?)
            .or_default()
            .add(component, Money::from_units(amount));
    }
    Ok(refunded)
}

pub(super) struct LedgerRow {
    account_id: i64,
    subject: Vec<u8>,
    recipient: i64,
    kind: String,
    component: String,
    amount: i64,
    created_at_ms: i64,
    reference: Option<String>,
}

database::from_row!(LedgerRow {
    account_id,
    subject,
    recipient,
    kind,
    component,
    amount,
    created_at_ms,
    reference
});

impl LedgerRow {
    pub(super) fn entry(self) -> Result<LedgerEntry> {
        Ok(LedgerEntry {
            account: AccountId(self.account_id),
            subject: message_id(&self.subject)?,
            recipient: (self.recipient != 0).then(|| crate::rows::recipient(self.recipient)),
            kind: named(EntryKind::from_name, &self.kind)?,
            component: named(Component::from_name, &self.component)?,
            amount: Money::from_units(self.amount),
            created_at_ms: self.created_at_ms,
            reference: self.reference,
        })
    }
}
