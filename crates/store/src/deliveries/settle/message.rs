//! The message fields that settling needs.

use crate::deliveries::pending::PendingSettlement;
use crate::rows::{due_at_ms, environment, id_bytes, message_id, named, purse};
use database::{Result, Tx, bulk, value};
use domain::smpp_receipt::{ReceiptRequest, WantedReceipts};
use domain::{AccountId, Bucket, Environment, Gateway, MessageId, Money, Purse, Terms};
use std::collections::HashMap;
use std::sync::Arc;

/// The fields of a message that settling its recipients needs.
#[derive(Clone, Debug)]
pub struct MessageFacts {
    /// The id.
    pub message: MessageId,
    /// The account.
    pub account: AccountId,
    /// The environment: live or sandbox.
    pub environment: Environment,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// Time from which it may be sent, Unix milliseconds.
    pub due_at_ms: i64,
    /// The validity of the request after that time, seconds.
    pub validity_s: Option<i64>,
    /// The terms of the gateway.
    pub terms: Terms,
    /// The URL to which outcomes are POSTed.
    pub callback_url: Option<Arc<str>>,
    /// The caller's own reference.
    pub customer_reference: Option<Arc<str>>,
    /// The receipts that an SMPP user gets.
    pub receipts: Option<ReceiptRequest>,
    /// `true` if its recipients have texts, and maybe references, of their own.
    pub personalised: bool,
    /// The amount that each wallet component paid.
    pub paid_from: Purse,
    /// The account that got a part of the charge, if the account is a sub-account.
    pub parent: Option<AccountId>,
}

#[expect(clippy::struct_excessive_bools, reason = "they are columns")]
struct MessageFactsRow {
    message_id: Vec<u8>,
    account_id: i64,
    sandbox: bool,
    gateway: String,
    refund_undelivered: bool,
    two_legs: bool,
    callback_url: Option<String>,
    customer_reference: Option<String>,
    receipts_to: Option<String>,
    receipts_wanted: Option<String>,
    due_at_ms: Option<i64>,
    validity_s: Option<i64>,
    personalised: bool,
    cost: i64,
    paid_from: String,
    parent_id: Option<i64>,
}

database::from_row!(MessageFactsRow {
    message_id,
    account_id,
    sandbox,
    gateway,
    refund_undelivered,
    two_legs,
    callback_url,
    customer_reference,
    receipts_to,
    receipts_wanted,
    due_at_ms,
    validity_s,
    personalised,
    cost,
    paid_from,
    parent_id
});

fn receipt_request(to: Option<String>, wanted: Option<&str>) -> Result<Option<ReceiptRequest>> {
    let (Some(system_id), Some(wanted)) = (to, wanted) else {
        return Ok(None);
    };
    let wanted = named(WantedReceipts::from_name, wanted)?;
    Ok(Some(ReceiptRequest { system_id, wanted }))
}

/// Reads the fields of these cases' messages.
pub(crate) async fn messages(
    tx: &mut Tx,
    cases: &[PendingSettlement],
) -> Result<HashMap<MessageId, MessageFacts>> {
    let mut ids: Vec<(Bucket, MessageId)> = cases
        .iter()
        .map(|case| (case.bucket, case.message))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let rows: Vec<MessageFactsRow> = tx
        .fetch_each(
            bulk(
                "select message_id, account_id, sandbox, gateway, refund_undelivered, two_legs,
             case when callbacks_ended then null else callback_url end as callback_url,
             customer_reference, due_at_ms, cast(validity_s as bigint) as validity_s,
                 body is null as personalised, cost, paid_from, receipts_to,
                 receipts_wanted, parent_id
         from messages where bucket = $1 and message_id = $2",
                "select message_id, account_id, sandbox, gateway, refund_undelivered,
             two_legs, case when callbacks_ended then null else callback_url end as callback_url,
             customer_reference, due_at_ms, cast(validity_s as bigint) as validity_s,
                 body is null as personalised, cost, paid_from, receipts_to,
                 receipts_wanted, parent_id
         from messages where (bucket, message_id) in (select *
             from unnest($1::bigint[], $2::bytea[]))",
            )
            .rows(&ids, |row| [value(row.0.0), value(id_bytes(&row.1))]),
        )
        .await?;
    rows.into_iter()
        .map(|row| {
            let message = message_id(&row.message_id)?;
            let settling = MessageFacts {
                message,
                account: AccountId(row.account_id),
                environment: environment(row.sandbox),
                gateway: named(Gateway::from_name, &row.gateway)?,
                due_at_ms: due_at_ms(message, row.due_at_ms),
                validity_s: row.validity_s,
                terms: Terms {
                    refund_undelivered: row.refund_undelivered,
                    two_legs: row.two_legs,
                },
                callback_url: row.callback_url.map(Into::into),
                customer_reference: row.customer_reference.map(Into::into),
                receipts: receipt_request(row.receipts_to, row.receipts_wanted.as_deref())?,
                personalised: row.personalised,
                paid_from: purse(&row.paid_from, Money::from_units(row.cost))?,
                parent: row.parent_id.map(AccountId),
            };
            Ok((message, settling))
        })
        .collect()
}
