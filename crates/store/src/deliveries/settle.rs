//! Settlement of recipients: the one place that refunds money and makes callbacks.
//!
//! `domain::transition` decides. This module applies the decision in the transaction of the caller:
//! delivery, refund with its ledger entry, callback and second leg.

mod fast_path;
mod message;
mod put_back;
mod refund;

pub(crate) use fast_path::{assumed, begin, deliver};
pub use message::MessageFacts;
pub(crate) use message::messages;
pub(crate) use put_back::put_back;
pub(crate) use refund::{RefundDue, refund};

use crate::batches::{self, Batch};
use crate::deliveries::doubts::Doubts;
use crate::outbox::{self, Callback};
use crate::rows::{id_bytes, number};
use database::{Error, Result, Tx, bulk, value};
use domain::{
    Bucket, Delivery, DeliveryEvent, DeliveryStatus, Environment, Gateway, Leg, MessageId, Money,
    Recipient, Refund, Terms, transition,
};
use std::collections::HashMap;
use std::sync::Arc;

/// A recipient whose second leg is due.
#[derive(Clone, Debug)]
pub struct SecondLeg {
    /// The bucket of its rows.
    pub bucket: Bucket,
    /// The message.
    pub message: MessageId,
    /// Time from which the message may be sent, Unix milliseconds.
    pub message_due_at_ms: i64,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The recipient.
    pub recipient: Recipient,
    /// `true` if the sender ID is added to the text.
    pub suffixed: bool,
    /// Pages of the text.
    pub pages: i64,
    /// The charge.
    pub charge: Money,
    /// The part of the charge for the second leg.
    pub reserve: Money,
}

/// The function that makes the batch of a second leg. It knows the carriers, which the store does
/// not.
pub type Planner = Arc<dyn Fn(&SecondLeg) -> Option<Batch> + Send + Sync>;

/// Fresh callbacks for which a node has room.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CallbackRoom {
    /// Room for live messages.
    pub live: usize,
    /// Room for the sandbox.
    pub sandbox: usize,
}

impl CallbackRoom {
    /// Takes a place. It returns `true` if there was one.
    fn take(&mut self, environment: Environment) -> bool {
        let room = match environment {
            Environment::Live => &mut self.live,
            Environment::Sandbox => &mut self.sandbox,
        };
        let left = room.checked_sub(1);
        *room = left.unwrap_or_default();
        left.is_some()
    }
}

/// The context that settling needs.
#[derive(Clone)]
pub(crate) struct SettleContext {
    pub(crate) now_ms: i64,
    pub(crate) planner: Planner,
    /// The node that claims fresh callbacks, the end of its claim, and its room for them.
    pub(crate) node: i64,
    pub(crate) claimed_until_ms: i64,
    pub(crate) callback_room: CallbackRoom,
}

/// The results of settling.
#[derive(Debug, Default)]
pub struct Settled {
    /// Callbacks that are already claimed.
    pub callbacks: Vec<Callback>,
    /// `true` if further callbacks wait in the database.
    pub more_callbacks: bool,
    /// Recipients that ended, with their last carrier.
    pub outcomes: Vec<(Gateway, String, DeliveryStatus)>,
    /// Carriers with new work, and its due time.
    pub work: Vec<(Arc<str>, i64)>,
    /// The carriers of receipts whose id has more pages than can be distinguished. Such a receipt
    /// settles no recipient. Each receipt counts.
    pub unclear: Vec<Arc<str>>,
}

impl Settled {
    /// Adds the results of another change.
    pub(crate) fn join(&mut self, other: Self) {
        self.callbacks.extend(other.callbacks);
        self.more_callbacks |= other.more_callbacks;
        self.outcomes.extend(other.outcomes);
        self.work.extend(other.work);
        self.unclear.extend(other.unclear);
    }
}

/// A recipient and its events.
#[derive(Clone, Debug)]
pub(crate) struct PendingSettlement {
    pub(crate) bucket: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    /// `true` if a delivery row exists.
    pub(crate) stored: bool,
    /// `true` if the batch was lost before. Without a delivery row, no event applies then.
    pub(crate) late: bool,
    pub(crate) delivery: Delivery,
    pub(crate) suffixed: bool,
    pub(crate) charge: Money,
    pub(crate) reserve: Money,
    pub(crate) carrier: String,
    /// The carriers with which it is in doubt.
    pub(crate) doubts: Doubts,
    pub(crate) error: Option<String>,
    pub(crate) events: Vec<DeliveryEvent>,
}

impl PendingSettlement {
    /// Returns the key of its delivery.
    pub(crate) fn key(&self) -> (Bucket, MessageId, Recipient) {
        (self.bucket, self.message, self.recipient)
    }

    /// Returns the stored case with the new events.
    pub(crate) fn with_events_of(mut self, joined: Self) -> Self {
        self.doubts.join(joined.doubts);
        Self {
            carrier: joined.carrier,
            error: joined.error,
            events: joined.events,
            ..self
        }
    }
}

/// A case after its events.
struct Settlement {
    case: PendingSettlement,
    refund: Option<Refund>,
    callback: bool,
    second_leg: bool,
}

/// Applies events to recipients and writes the results, except for refunds. The caller makes these
/// ([`refund()`]) in the same transaction. A recipient appears once.
pub(crate) async fn settle(
    tx: &mut Tx,
    context: &SettleContext,
    cases: Vec<PendingSettlement>,
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<(Settled, Vec<RefundDue>)> {
    let outcomes = decide_all(cases, messages)?;
    write_deliveries(tx, context.now_ms, &outcomes).await?;
    let owed = refund::owed(&outcomes, messages);
    let mut settled = call_back(tx, context, &outcomes, messages).await?;
    let legs = second_legs(context, &outcomes, messages);
    batches::insert(tx, &legs.iter().collect::<Vec<_>>()).await?;
    settled.work = legs
        .into_iter()
        .map(|batch| (batch.carrier, batch.due_at_ms))
        .collect();
    settled.outcomes = ended(outcomes, messages);
    Ok((settled, owed))
}

/// Returns the recipients that ended.
fn ended(
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

/// Decides the outcomes of cases that change.
fn decide_all(
    cases: Vec<PendingSettlement>,
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<Vec<Settlement>> {
    let mut outcomes = Vec::with_capacity(cases.len());
    for case in cases {
        let message = messages
            .get(&case.message)
            .ok_or(Error::Impossible("a message is missing"))?;
        outcomes.extend(decide(case, message.terms));
    }
    Ok(outcomes)
}

fn decide(mut case: PendingSettlement, terms: Terms) -> Option<Settlement> {
    let (mut refund, mut callback, mut second_leg) = (None, false, false);
    // The carriers of a doubt may be new, even if nothing else is.
    let is_doubt = |event: &DeliveryEvent| matches!(event, DeliveryEvent::Doubted { .. });
    let mut changed = !case.delivery.status.is_final() && case.events.iter().any(is_doubt);
    for event in std::mem::take(&mut case.events) {
        if let Some(change) = transition(&case.delivery, terms, event) {
            case.delivery = change.delivery;
            refund = refund.or(change.refund);
            callback |= change.callback;
            second_leg |= change.second_leg;
            changed = true;
        }
    }
    changed.then_some(Settlement {
        case,
        refund,
        callback,
        second_leg,
    })
}

async fn write_deliveries(tx: &mut Tx, now_ms: i64, outcomes: &[Settlement]) -> Result<()> {
    let (stored, new): (Vec<&Settlement>, Vec<&Settlement>) =
        outcomes.iter().partition(|outcome| outcome.case.stored);
    insert_deliveries(tx, now_ms, new).await?;
    update_deliveries(tx, now_ms, &stored).await
}

/// Inserts new deliveries in the order of their keys, so that a server fills the pages of their
/// index.
async fn insert_deliveries(tx: &mut Tx, now_ms: i64, mut new: Vec<&Settlement>) -> Result<()> {
    new.sort_unstable_by_key(|outcome| outcome.case.key());
    tx.execute_each(bulk("insert into deliveries (bucket, message_id, recipient, status, leg, failed_legs, pages,
             suffixed, charge, reserve, carrier, submitted_at_s, settled_at_s, error, doubts)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)", "insert into deliveries (bucket, message_id, recipient, status, leg, failed_legs, pages,
             suffixed, charge, reserve, carrier, submitted_at_s, settled_at_s, error, doubts)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::boolean[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::text[])").rows(&new, |outcome| {
            let case = &outcome.case;
            [value(case.bucket.0), value(id_bytes(&case.message)), value(number(case.recipient)), value(case.delivery.status.as_str()), value(case.delivery.leg.map_or(0, Leg::number)), value(unusual(case.delivery.failed_legs)), value(case.delivery.pages), value(case.suffixed.then_some(true)), value(case.charge.units()), value(unusual(case.reserve.units())), value(&case.carrier), value(seconds(now_ms)), value(case.delivery.status.is_final().then_some(seconds(now_ms))), value(&case.error), value(case.doubts.to_text(case.delivery.doubted_pages))]
        })).await?;
    Ok(())
}

async fn update_deliveries(tx: &mut Tx, now_ms: i64, outcomes: &[&Settlement]) -> Result<()> {
    tx.execute_each(bulk("update deliveries set status = $4, leg = $5, failed_legs = $6,
             delivered_first = $7, delivered_second = $8, gave_up = $9,
             carrier = $10, doubts = $11,
             error = coalesce($12, deliveries.error),
             settled_at_s = case when $13 then $14 else settled_at_s end
         where deliveries.bucket = $1 and deliveries.message_id = $2
             and deliveries.recipient = $3", "with v (bucket, message_id, recipient, status, leg, failed_legs, first, second, gave_up, carrier,
             doubts, error, is_final) as (select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::boolean[], $10::text[], $11::text[], $12::text[], $13::boolean[]))
         update deliveries set status = v.status, leg = v.leg, failed_legs = v.failed_legs,
             delivered_first = v.first, delivered_second = v.second, gave_up = v.gave_up,
             carrier = v.carrier, doubts = v.doubts,
             error = coalesce(v.error, deliveries.error),
             settled_at_s = case when v.is_final then $14 else settled_at_s end
         from v where deliveries.bucket = v.bucket and deliveries.message_id = v.message_id
             and deliveries.recipient = v.recipient").rows(outcomes, |outcome| {
            let (case, delivery) = (&outcome.case, &outcome.case.delivery);
            [value(case.bucket.0), value(id_bytes(&case.message)), value(number(case.recipient)), value(delivery.status.as_str()), value(delivery.leg.map_or(0, Leg::number)), value(unusual(delivery.failed_legs)), value(unusual(delivery.delivered_pages[0].to_stored())), value(unusual(delivery.delivered_pages[1].to_stored())), value(delivery.gave_up.then_some(true)), value(&case.carrier), value(case.doubts.to_text(delivery.doubted_pages)), value(&case.error), value(delivery.status.is_final())]
        }).bind(seconds(now_ms))).await?;
    Ok(())
}

/// Returns `None` for zero, which takes no space when stored.
fn unusual(number: i64) -> Option<i64> {
    (number != 0).then_some(number)
}

/// Converts to seconds, the precision of deliveries.
fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000)
}

async fn call_back(
    tx: &mut Tx,
    context: &SettleContext,
    outcomes: &[Settlement],
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<Settled> {
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
                status: outcome.case.delivery.status,
                attempts: 0,
                url,
                customer_reference: message.customer_reference.clone(),
            })
        })
        .collect();
    let mut room = context.callback_room;
    let has_room = |callback: &Callback| room.take(callback.environment);
    let (fresh, waiting): (Vec<_>, Vec<_>) = fresh.into_iter().partition(has_room);
    outbox::insert(tx, &fresh, Some((context.node, context.claimed_until_ms))).await?;
    outbox::insert(tx, &waiting, None).await?;
    Ok(Settled {
        callbacks: fresh,
        more_callbacks: !waiting.is_empty(),
        ..Settled::default()
    })
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
