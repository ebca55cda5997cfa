//! The writes of a settlement: deliveries, callbacks and second legs.

use super::context::{SecondLeg, SettleContext, Settled};
use super::decide::{Settlement, decide_all};
use super::message::MessageFacts;
use super::refund::{self, RefundDue};
use crate::batches::batch::Batch;
use crate::batches::batch_rows;
use crate::deliveries::pending::PendingSettlement;
use crate::deliveries::raw_receipts;
use crate::messages::recipient_texts;
use crate::outbox::{self, Callback, CallbackEvent, MessageReceipt};
use crate::rows::{id_bytes, number};
use database::{Result, Tx, bulk, value};
use domain::smpp_receipt::{RecipientEnd, destination, due_at_ms, user_of};
use domain::{DeliveryStatus, Gateway, Leg, MessageId, Recipient};
use std::collections::HashMap;
use std::sync::Arc;

/// Applies events to recipients and writes the results, except for refunds. The caller makes these
/// ([`refund::refund`]) in the same transaction. A recipient appears once.
pub(crate) async fn settle(
    tx: &mut Tx,
    context: &SettleContext,
    cases: Vec<PendingSettlement>,
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<(Settled, Vec<RefundDue>)> {
    let outcomes = decide_all(cases, messages)?;
    write_deliveries(tx, context.now_ms, &outcomes).await?;
    let cases = outcomes.iter().map(|outcome| &outcome.case);
    raw_receipts::insert(tx, context.now_ms, cases).await?;
    let owed = refund::owed(&outcomes, messages);
    let mut settled = call_back(tx, context, &outcomes, messages).await?;
    let legs = second_legs(context, &outcomes, messages);
    batch_rows::insert(tx, &legs.iter().collect::<Vec<_>>()).await?;
    settled.work = legs
        .into_iter()
        .map(|batch| (batch.carrier, batch.due_at_ms))
        .collect();
    settled.outcomes = ended(outcomes, messages);
    Ok((settled, owed))
}

/// Returns the recipients that ended.
pub(super) fn ended(
    outcomes: Vec<Settlement>,
    messages: &HashMap<MessageId, MessageFacts>,
) -> Vec<(Gateway, String, DeliveryStatus)> {
    let ended = outcomes.into_iter().filter(|outcome| outcome.callback);
    ended
        .filter_map(|outcome| {
            let gateway = messages.get(&outcome.case.message)?.gateway;
            Some((gateway, outcome.case.carrier, outcome.case.delivery.status))
        })
        .collect()
}

async fn write_deliveries(tx: &mut Tx, now_ms: i64, outcomes: &[Settlement]) -> Result<()> {
    let (stored, new): (Vec<&Settlement>, Vec<&Settlement>) =
        outcomes.iter().partition(|outcome| outcome.case.stored);
    insert_deliveries(tx, now_ms, new).await?;
    update_deliveries(tx, now_ms, &stored).await
}

/// Inserts new deliveries in the order of their keys, so that a server fills the pages of their
/// index.
pub(super) async fn insert_deliveries(
    tx: &mut Tx,
    now_ms: i64,
    mut new: Vec<&Settlement>,
) -> Result<()> {
    new.sort_unstable_by_key(|outcome| outcome.case.key());
    tx.execute_each(
        bulk(
            "insert into deliveries (bucket, message_id, recipient, status, leg,
             failed_legs, pages, suffixed, charge, reserve, carrier, submitted_at_s,
                 settled_at_s, error, doubts)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            "insert into deliveries (bucket, message_id, recipient, status, leg,
             failed_legs, pages, suffixed, charge, reserve, carrier, submitted_at_s,
                 settled_at_s, error, doubts)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::text[],
             $5::bigint[], $6::bigint[], $7::bigint[], $8::boolean[], $9::bigint[],
             $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::text[],
             $15::text[])",
        )
        .rows(&new, |outcome| {
            let case = &outcome.case;
            [
                value(case.bucket.0),
                value(id_bytes(&case.message)),
                value(number(case.recipient)),
                value(case.delivery.status.as_str()),
                value(case.delivery.leg.map_or(0, Leg::number)),
                value(unusual(case.delivery.failed_legs)),
                value(case.delivery.pages),
                value(case.suffixed.then_some(true)),
                value(case.charge.units()),
                value(unusual(case.reserve.units())),
                value(&case.carrier),
                value(seconds(now_ms)),
                value(case.delivery.status.is_final().then_some(seconds(now_ms))),
                value(&case.error),
                value(case.doubts.to_text(case.delivery.doubted_pages)),
            ]
        }),
    )
    .await?;
    Ok(())
}

async fn update_deliveries(tx: &mut Tx, now_ms: i64, outcomes: &[&Settlement]) -> Result<()> {
    tx.execute_each(
        bulk(
            "update deliveries set status = $4, leg = $5, failed_legs = $6,
             delivered_first = $7, delivered_second = $8, gave_up = $9,
             carrier = $10, doubts = $11,
             error = coalesce($12, deliveries.error),
             settled_at_s = case when $13 then $14 else settled_at_s end
         where deliveries.bucket = $1 and deliveries.message_id = $2
             and deliveries.recipient = $3",
            "with v (bucket, message_id, recipient, status, leg, failed_legs,
             first, second, gave_up, carrier, doubts, error, is_final) as (select *
                 from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::text[],
                 $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::boolean[],
                 $10::text[], $11::text[], $12::text[], $13::boolean[]))
         update deliveries set status = v.status, leg = v.leg, failed_legs = v.failed_legs,
             delivered_first = v.first, delivered_second = v.second, gave_up = v.gave_up,
             carrier = v.carrier, doubts = v.doubts,
             error = coalesce(v.error, deliveries.error),
             settled_at_s = case when v.is_final then $14 else settled_at_s end
         from v where deliveries.bucket = v.bucket and deliveries.message_id = v.message_id
             and deliveries.recipient = v.recipient",
        )
        .rows(outcomes, |outcome| {
            let (case, delivery) = (&outcome.case, &outcome.case.delivery);
            [
                value(case.bucket.0),
                value(id_bytes(&case.message)),
                value(number(case.recipient)),
                value(delivery.status.as_str()),
                value(delivery.leg.map_or(0, Leg::number)),
                value(unusual(delivery.failed_legs)),
                value(unusual(delivery.delivered_pages[0].to_stored())),
                value(unusual(delivery.delivered_pages[1].to_stored())),
                value(delivery.gave_up.then_some(true)),
                value(&case.carrier),
                value(case.doubts.to_text(delivery.doubted_pages)),
                value(&case.error),
                value(delivery.status.is_final()),
            ]
        })
        .bind(seconds(now_ms)),
    )
    .await?;
    Ok(())
}

/// Returns `None` for zero, which takes no space when stored.
fn unusual(number: i64) -> Option<i64> {
    (number != 0).then_some(number)
}

/// Converts to seconds, the precision of deliveries.
pub(super) fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000)
}

/// Returns the customer's references of single recipients of personalised messages.
async fn own_references(
    tx: &mut Tx,
    outcomes: &[Settlement],
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<HashMap<(MessageId, Recipient), String>> {
    let personalised = outcomes.iter().filter(|outcome| {
        let message = messages.get(&outcome.case.message);
        outcome.callback && message.is_some_and(|message| message.personalised)
    });
    let keys: Vec<_> = personalised.map(|outcome| outcome.case.key()).collect();
    recipient_texts::references(tx, &keys).await
}

pub(super) async fn call_back(
    tx: &mut Tx,
    context: &SettleContext,
    outcomes: &[Settlement],
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<Settled> {
    let own_references = own_references(tx, outcomes, messages).await?;
    // Most customers use the same URL with each message.
    let mut origins: HashMap<Arc<str>, String> = HashMap::new();
    let fresh: Vec<Callback> = outcomes
        .iter()
        .filter(|outcome| outcome.callback)
        .filter_map(|outcome| {
            let message = messages.get(&outcome.case.message)?;
            let url = message.callback_url.clone()?;
            let origin = origins.entry(Arc::clone(&url));
            let origin = origin.or_insert_with_key(|url| domain::callback_url::origin(url));
            Some(Callback {
                bucket: outcome.case.bucket,
                account: message.account,
                environment: message.environment,
                origin: origin.clone(),
                due_at_ms: context.now_ms,
                message: message.message,
                recipient: outcome.case.recipient,
                event: CallbackEvent::Delivery {
                    status: outcome.case.delivery.status,
                    customer_reference: own_references
                        .get(&(outcome.case.message, outcome.case.recipient))
                        .map(|own| own.as_str().into())
                        .or_else(|| message.customer_reference.clone()),
                },
                attempts: 0,
                url,
            })
        })
        .collect();
    let mut room = context.callback_room;
    let has_room = |callback: &Callback| room.take(callback.environment);
    let (fresh, waiting): (Vec<_>, Vec<_>) = fresh.into_iter().partition(has_room);
    let claim = context.node.map(|node| (node, context.claimed_until_ms));
    outbox::insert(tx, &fresh, claim).await?;
    outbox::insert(tx, &waiting, None).await?;
    let receipts = receipts(context.now_ms, outcomes, messages);
    outbox::insert(tx, &receipts, None).await?;
    let users = receipts.iter().map(|receipt| user_of(&receipt.origin));
    Ok(Settled {
        receipts_to: users.flatten().map(str::to_owned).collect(),
        callbacks: fresh,
        more_callbacks: !waiting.is_empty(),
        ..Settled::default()
    })
}

/// Returns the receipts of recipients that ended, for the SMPP users that want them.
fn receipts(
    now_ms: i64,
    outcomes: &[Settlement],
    messages: &HashMap<MessageId, MessageFacts>,
) -> Vec<Callback> {
    let ended = outcomes.iter().filter(|outcome| outcome.callback);
    let receipts = ended.filter_map(|outcome| {
        let message = messages.get(&outcome.case.message)?;
        let status = outcome.case.delivery.status;
        let asked = message.receipts.as_ref()?;
        asked.wanted.has(status).then(|| Callback {
            bucket: outcome.case.bucket,
            account: message.account,
            environment: message.environment,
            origin: destination(&asked.system_id),
            due_at_ms: due_at_ms(message.message, now_ms),
            message: message.message,
            recipient: outcome.case.recipient,
            event: CallbackEvent::Receipt(Arc::new(MessageReceipt {
                end: RecipientEnd::new(status, now_ms, outcome.case.error.as_deref()),
                sender: String::new(),
                quoted: String::new(),
            })),
            attempts: 0,
            url: "".into(),
        })
    });
    receipts.collect()
}

fn second_legs(
    context: &SettleContext,
    outcomes: &[Settlement],
    messages: &HashMap<MessageId, MessageFacts>,
) -> Vec<Batch> {
    outcomes
        .iter()
        .filter(|outcome| outcome.second_leg)
        .filter_map(|outcome| {
            let case = &outcome.case;
            let message = messages.get(&case.message)?;
            (context.planner)(&SecondLeg {
                bucket: case.bucket,
                message: case.message,
                message_due_at_ms: message.due_at_ms,
                validity_s: message.validity_s,
                gateway: message.gateway,
                recipient: case.recipient,
                suffixed: case.suffixed,
                pages: case.delivery.pages,
                charge: case.charge,
                reserve: case.reserve,
            })
        })
        .collect()
}
