//! Fast path: the carrier accepts a recipient at once, and delivers it.
//!
//! [`begin`] records an acceptance, which needs no field of the message. [`deliver`] ends a
//! recipient of one page that was submitted once: it assumes the state `sent`, and updates the row
//! on that condition without a read. Rows that do not match take the slow path: they are read,
//! locked and settled.

use super::apply::{call_back, ended, insert_deliveries, seconds};
use super::context::{SettleContext, Settled};
use super::decide::{Settlement, decide};
use super::message::MessageFacts;
use crate::deliveries::carrier_ids::page::PageRef;
use crate::deliveries::doubts::Doubts;
use crate::deliveries::pending::PendingSettlement;
use crate::deliveries::raw_receipts;
use crate::rows::{id_bytes, number};
use database::{Result, Tx, bulk, value};
use domain::{Delivery, DeliveryEvent, Leg, MessageId, Money, Recipient, Terms};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The state of most deliveries when their receipt arrives.
const SENT: Delivery = Delivery {
    leg: Some(Leg::First),
    ..Delivery::unsent(1)
};

/// Inserts the deliveries of new cases that a carrier accepted. The terms of their gateways are not
/// needed.
pub(crate) async fn begin(tx: &mut Tx, now_ms: i64, cases: Vec<PendingSettlement>) -> Result<()> {
    let terms = Terms {
        refund_undelivered: false,
        two_legs: false,
    };
    let taken = cases.into_iter().filter_map(|case| decide(case, terms));
    let taken: Vec<Settlement> = taken.collect();
    insert_deliveries(tx, now_ms, taken.iter().collect()).await
}

/// Returns the case of a recipient whose delivery is assumed to be [`SENT`]. The charge is unknown,
/// and not needed as no money moves.
pub(crate) fn assumed(
    carrier: &Arc<str>,
    part: &PageRef,
    event: DeliveryEvent,
    raw: Option<&[u8]>,
) -> PendingSettlement {
    let raw = raw.into_iter();
    PendingSettlement {
        bucket: part.home,
        message: part.message,
        recipient: part.recipient,
        stored: true,
        late: false,
        delivery: SENT,
        suffixed: false,
        charge: Money::ZERO,
        reserve: Money::ZERO,
        carrier: carrier.to_string(),
        doubts: Doubts::default(),
        error: None,
        events: vec![event],
        receipts: raw.map(|raw| (Arc::clone(carrier), raw.to_vec())).collect(),
    }
}

/// Ends the [`assumed`] cases whose delivery matches the assumption, and whose end moves no money.
/// Returns these cases, and leaves the others unchanged. The page is not recorded, because it is
/// the only one.
pub(crate) async fn deliver(
    tx: &mut Tx,
    context: &SettleContext,
    cases: Vec<PendingSettlement>,
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<(Settled, HashSet<(MessageId, Recipient)>)> {
    let assumed = cases.into_iter().filter_map(|case| {
        let terms = messages.get(&case.message)?.terms;
        decide(case, terms).filter(|outcome| outcome.refund.is_none())
    });
    let mut outcomes: Vec<Settlement> = assumed.collect();
    let end = bulk(
        "update deliveries set status = 'delivrd', settled_at_s = $4
         where bucket = $1 and message_id = $2 and recipient = $3
             and status = 'sent' and pages = 1 and leg = 1 and failed_legs is null",
        "update deliveries set status = 'delivrd', settled_at_s = $4
         where (bucket, message_id, recipient) in (
                 select * from unnest($1::bigint[], $2::bytea[], $3::bigint[]))
             and status = 'sent' and pages = 1 and leg = 1 and failed_legs is null
         returning message_id, recipient",
    );
    let end = end.rows(&outcomes, |outcome| {
        [
            value(outcome.case.bucket.0),
            value(id_bytes(&outcome.case.message)),
            value(number(outcome.case.recipient)),
        ]
    });
    let keys = outcomes
        .iter()
        .map(|Settlement { case, .. }| (id_bytes(&case.message).to_vec(), number(case.recipient)));
    let ended_now = tx.changed_each(end.bind(seconds(context.now_ms)), keys);
    let stood: Vec<bool> = ended_now.await?;
    let mut stands = stood.into_iter();
    outcomes.retain(|_| stands.next().unwrap_or(false));
    let stood = outcomes
        .iter()
        .map(|outcome| (outcome.case.message, outcome.case.recipient));
    let stood = stood.collect();
    let cases = outcomes.iter().map(|outcome| &outcome.case);
    raw_receipts::insert(tx, context.now_ms, cases).await?;
    let mut settled = call_back(tx, context, &outcomes, messages).await?;
    settled.outcomes = ended(outcomes, messages);
    Ok((settled, stood))
}
