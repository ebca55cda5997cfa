//! The rows of accepted messages.

use super::new_message::NewMessage;
use crate::rows::{id_bytes, paid_from};
use database::{Result, Tx, bulk, value};
use domain::resale::pack_margins;
use domain::{Bucket, Draft, Environment, Money, Purse, RawPage, Recipient, recipient_list};

/// An accepted message, with the amounts that paid for it.
pub(super) struct MessageRow<'a> {
    pub(super) bucket: Bucket,
    pub(super) message: &'a NewMessage,
    pub(super) drawn: &'a Purse,
}

/// Returns the packed margins of the recipients.
fn margins(draft: &Draft) -> Vec<u8> {
    let classes = draft.classes.iter();
    let classes: Vec<(Money, &[Recipient])> = classes
        .map(|class| (class.margin, &class.recipients[..]))
        .collect();
    pack_margins(&classes)
}

/// Inserts the rows.
pub(super) async fn insert(tx: &mut Tx, rows: &[MessageRow<'_>]) -> Result<()> {
    tx.execute_each(
        bulk(
            "insert into messages (bucket, message_id, account_id, due_at_ms,
             sandbox, gateway, refund_undelivered, two_legs, sender, body, callback_url,
                 customer_reference, cost, page_count, paid_from, recipients, otp_id,
                 pages_total, validity_s, receipts_to, receipts_wanted, parent_id,
                 parent_cost, margins, raw_page)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
             $17, $18, $19, $20, $21, $22, $23, $24, $25)",
            "insert into messages (bucket, message_id, account_id, due_at_ms,
             sandbox, gateway, refund_undelivered, two_legs, sender, body, callback_url,
                 customer_reference, cost, page_count, paid_from, recipients, otp_id,
                 pages_total, validity_s, receipts_to, receipts_wanted, parent_id,
                 parent_cost, margins, raw_page)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[],
             $5::boolean[], $6::text[], $7::boolean[], $8::boolean[], $9::text[],
             $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[],
             $15::text[], $16::bytea[], $17::bytea[], $18::bigint[], $19::bigint[],
             $20::text[], $21::text[], $22::bigint[], $23::bigint[], $24::bytea[],
             $25::bytea[])",
        )
        .rows(rows, |row| {
            let MessageRow {
                bucket,
                message,
                drawn,
            } = row;
            let draft = &message.draft;
            let is_live = draft.environment == Environment::Live;
            let parent = draft.parent.filter(|_| is_live);
            [
                value(bucket.0),
                value(id_bytes(&message.id)),
                value(draft.account.0),
                value(draft.due_at_ms),
                value(!is_live),
                value(draft.gateway.as_str()),
                value(message.terms.refund_undelivered),
                value(message.terms.two_legs),
                value(&draft.sender),
                value(draft.texts.is_none().then_some(draft.text.as_str())),
                value(&draft.callback_url),
                value(&draft.customer_reference),
                value(draft.cost.units()),
                value(draft.page_count),
                value(paid_from(drawn)),
                value(recipient_list::pack(&draft.recipients)),
                value(draft.otp.map(|otp| otp.text.id.0.as_bytes().to_vec())),
                value(draft.pages_total()),
                value(draft.validity_s),
                value(draft.receipts.as_ref().map(|asked| &*asked.system_id)),
                value(draft.receipts.as_ref().map(|asked| asked.wanted.as_str())),
                value(parent.map(|parent| parent.0)),
                value(parent.map(|_| (draft.cost - draft.margin()).units())),
                value(parent.map(|_| margins(draft))),
                value(draft.text.raw_page().map(RawPage::to_bytes)),
            ]
        }),
    )
    .await?;
    Ok(())
}
