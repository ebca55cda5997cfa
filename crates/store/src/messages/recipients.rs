//! The recipients of a message, with what is stored about each.

use crate::buckets::Buckets;
use crate::deliveries::raw_receipts::{self, ReceiptInfo};
use crate::messages::recipient_rows::{DeliveryInfo, DeliveryRow, RecipientInfo};
use crate::messages::{recipient_texts, small_messages};
use crate::rows::{id_bytes, message_id, named, number, recipient};
use database::{Db, Result, Tx, bulk, query, value};
use domain::{AccountId, Bucket, Component, MessageId, Money, Recipient, recipient_list};
use std::collections::{HashMap, HashSet};

/// A refund of a recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefundInfo {
    /// The amount.
    pub amount: Money,
    /// The component of the wallet.
    pub component: Component,
    /// Time, Unix milliseconds.
    pub at_ms: i64,
}

/// The recipients of messages.
#[derive(Clone, Copy)]
pub struct Recipients<'s> {
    pub(crate) db: &'s Db,
}

impl Recipients<'_> {
    /// Returns those of some messages that have a recipient.
    pub async fn messages_with(
        self,
        messages: &[(AccountId, MessageId)],
        recipient: Recipient,
    ) -> Result<HashSet<MessageId>> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let owners: HashMap<MessageId, AccountId> = messages
                .iter()
                .map(|(account, id)| (*id, *account))
                .collect();
            let submitted: Vec<Vec<u8>> = tx
                .fetch_each(
                    bulk(
                        "select message_id from deliveries where bucket = $1
                             and message_id = $2 and recipient = $3",
                        "with v (bucket, message_id) as (select *
                         from unnest($1::bigint[], $2::bytea[]))
                         select d.message_id from v join deliveries d
                             on d.bucket = v.bucket and d.message_id = v.message_id
                                 and d.recipient = $3",
                    )
                    .rows(messages, |(account, id)| {
                        [
                            value(Buckets::of(self.db).account(*account).0),
                            value(id_bytes(id)),
                        ]
                    })
                    .bind(number(recipient)),
                )
                .await?;
            let submitted = submitted.iter().map(|id| message_id(id));
            let mut found: HashSet<MessageId> = submitted.collect::<Result<_>>()?;
            for (id, account) in owners {
                if found.contains(&id) {
                    continue;
                }
                // A recipient that no carrier answered yet is in the list alone.
                let list: Option<Vec<u8>> = tx
                    .fetch_optional(
                        query(
                            "select recipients from messages where bucket = $1
                             and message_id = $2",
                        )
                        .bind(Buckets::of(self.db).account(account).0)
                        .bind(id_bytes(&id)),
                    )
                    .await?;
                if list.is_some_and(|list| recipient_list::position(&list, recipient).is_some()) {
                    found.insert(id);
                }
            }
            Ok(found)
        })
        .await
    }

    /// Returns the recipients `from..until` of an account's message in the order of the request. It
    /// returns `None` if there is no such message.
    pub async fn list(
        self,
        account: AccountId,
        message: MessageId,
        from: usize,
        until: usize,
    ) -> Result<Option<Vec<RecipientInfo>>> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let bucket = Buckets::of(self.db).account(account);
            let Some(list) = list(&mut tx, (bucket, account, message)).await? else {
                return Ok(None);
            };
            let recipients = recipient_list::unpack(recipient_list::slice(&list, from, until));
            let of = (bucket, account, message);
            Ok(Some(described(&mut tx, of, from, recipients).await?))
        })
        .await
    }

    /// Returns all recipients of some messages. The messages have few recipients.
    pub async fn of_messages(
        self,
        messages: &[(AccountId, MessageId)],
    ) -> Result<HashMap<MessageId, Vec<RecipientInfo>>> {
        let buckets = Buckets::of(self.db);
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            small_messages::read(&mut tx, buckets, messages).await
        })
        .await
    }

    /// Returns one recipient of an account's message, or `None` if the message has no such.
    pub async fn find(
        self,
        account: AccountId,
        message: MessageId,
        wanted: Recipient,
    ) -> Result<Option<RecipientInfo>> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let of = (Buckets::of(self.db).account(account), account, message);
            let list = list(&mut tx, of).await?.unwrap_or_default();
            let Some(place) = recipient_list::position(&list, wanted) else {
                return Ok(None);
            };
            let found = described(&mut tx, of, place, vec![wanted]).await?;
            Ok(found.into_iter().next())
        })
        .await
    }

    /// Returns the texts of some recipients of an account's personalised message. A recipient
    /// without a text is left out.
    pub async fn texts(
        self,
        account: AccountId,
        message: MessageId,
        recipients: &[Recipient],
    ) -> Result<HashMap<Recipient, String>> {
        let of = (Buckets::of(self.db).account(account), message);
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            recipient_texts::read(&mut tx, of, recipients).await
        })
        .await
    }

    /// Returns the receipts of a recipient that are still kept, oldest first.
    pub async fn receipts(
        self,
        account: AccountId,
        message: MessageId,
        recipient: Recipient,
    ) -> Result<Vec<ReceiptInfo>> {
        let of = (Buckets::of(self.db).account(account), message);
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            raw_receipts::read(&mut tx, of, recipient).await
        })
        .await
    }

    /// Returns the references of their own that some recipients of an account's message have.
    pub async fn references(
        self,
        account: AccountId,
        message: MessageId,
        recipients: &[Recipient],
    ) -> Result<HashMap<Recipient, String>> {
        let bucket = Buckets::of(self.db).account(account);
        let keys: Vec<_> = recipients.iter().map(|&to| (bucket, message, to)).collect();
        let found = Db::in_time(async {
            let mut tx = self.db.read().await?;
            recipient_texts::references(&mut tx, &keys).await
        });
        let found = found.await?.into_iter();
        Ok(found.map(|((_, to), own)| (to, own)).collect())
    }

    /// Returns the refunds of a recipient, oldest first.
    pub async fn refunds(
        self,
        account: AccountId,
        message: MessageId,
        recipient: Recipient,
    ) -> Result<Vec<RefundInfo>> {
        let rows: Vec<(i64, String, i64)> = self
            .db
            .fetch_all(
                query(
                    "select amount, component, created_at_ms from ledger
                     where bucket = $1 and account_id = $2 and subject = $3 and recipient = $4
                         and kind in ('refund', 'unused_leg')
                     order by created_at_ms, component",
                )
                .bind(Buckets::of(self.db).account(account).0)
                .bind(account.0)
                .bind(id_bytes(&message))
                .bind(number(recipient)),
            )
            .await?;
        rows.into_iter()
            .map(|(amount, component, at_ms)| {
                Ok(RefundInfo {
                    amount: Money::from_units(amount),
                    component: named(Component::from_name, &component)?,
                    at_ms,
                })
            })
            .collect()
    }
}

/// The bucket and account of a message, and the message.
type Of = (Bucket, AccountId, MessageId);

/// Returns the packed list of a message, unless it is under removal.
async fn list(tx: &mut Tx, (bucket, account, message): Of) -> Result<Option<Vec<u8>>> {
    tx.fetch_optional(
        query(
            "select recipients from messages
             where bucket = $1 and message_id = $2 and account_id = $3 and length(recipients) > 0",
        )
        .bind(bucket.0)
        .bind(id_bytes(&message))
        .bind(account.0),
    )
    .await
}

async fn described(
    tx: &mut Tx,
    of: Of,
    from: usize,
    recipients: Vec<Recipient>,
) -> Result<Vec<RecipientInfo>> {
    let mut deliveries = deliveries(tx, of, &recipients).await?;
    let ended = deliveries.iter().filter(|(_, one)| one.status.is_final());
    let ended: Vec<Recipient> = ended.map(|(recipient, _)| *recipient).collect();
    let refunds = refunds(tx, of, &ended).await?;
    let described = recipients
        .into_iter()
        .enumerate()
        .map(|(at, recipient)| RecipientInfo {
            place: from + at,
            recipient,
            delivery: deliveries.remove(&recipient),
            refunded: refunds.get(&recipient).copied().unwrap_or_default(),
        });
    Ok(described.collect())
}

/// Reads deliveries by their whole keys. The fence keeps a planner from reading all of a message.
async fn deliveries(
    tx: &mut Tx,
    (bucket, _, message): Of,
    recipients: &[Recipient],
) -> Result<HashMap<Recipient, DeliveryInfo>> {
    let rows: Vec<DeliveryRow> = tx
        .fetch_each(
            bulk(
                "select message_id, recipient, status, cast(leg as bigint) as leg,
                     cast(pages as bigint) as pages, charge, carrier, error,
                         cast(submitted_at_s as bigint) as submitted_at_s,
                         cast(settled_at_s as bigint) as settled_at_s
                 from deliveries where recipient = $1 and bucket = $2 and message_id = $3",
                "with v (recipient) as (select * from unnest($1::bigint[]))
                 select found.* from v cross join lateral (
                     select message_id, recipient, status, cast(leg as bigint) as leg,
                         cast(pages as bigint) as pages, charge, carrier, error,
                             cast(submitted_at_s as bigint) as submitted_at_s,
                                 cast(settled_at_s as bigint) as settled_at_s
                     from deliveries where recipient = v.recipient and bucket = $2
                         and message_id = $3 offset 0) found",
            )
            .rows(recipients, |recipient| [value(number(*recipient))])
            .bind(bucket.0)
            .bind(id_bytes(&message)),
        )
        .await?;
    let rows = rows.into_iter().map(|row| {
        let (_, recipient, delivery) = row.read()?;
        Ok((recipient, delivery))
    });
    rows.collect()
}

async fn refunds(
    tx: &mut Tx,
    (bucket, account, message): Of,
    recipients: &[Recipient],
) -> Result<HashMap<Recipient, Money>> {
    let rows: Vec<(i64, i64)> = tx
        .fetch_each(
            bulk(
                "select recipient, amount from ledger
                 where recipient = $1 and bucket = $2 and account_id = $3 and subject = $4
                     and kind in ('refund', 'unused_leg')",
                "with v (recipient) as (select * from unnest($1::bigint[]))
                 select found.* from v cross join lateral (
                     select recipient, amount from ledger
                     where recipient = v.recipient and bucket = $2 and account_id = $3
                         and subject = $4
                         and kind in ('refund', 'unused_leg') offset 0) found",
            )
            .rows(recipients, |recipient| [value(number(*recipient))])
            .bind(bucket.0)
            .bind(account.0)
            .bind(id_bytes(&message)),
        )
        .await?;
    let mut refunds: HashMap<Recipient, Money> = HashMap::with_capacity(rows.len());
    for (digits, amount) in rows {
        let sum = refunds.entry(recipient(digits)).or_default();
        *sum += Money::from_units(amount);
    }
    Ok(refunds)
}
