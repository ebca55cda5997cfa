//! Settling recipients: the one place where money goes back and callbacks are made.
//!
//! `domain::transition` decides; this applies the decision: delivery, refund with its ledger entry, callback
//! and second leg, in the transaction of the caller.

mod fast_path;
mod message;
mod put_back;
mod refund;

pub(crate) use fast_path::{assumed, begin, deliver};
pub use message::Settling;
pub(crate) use message::messages;
pub(crate) use put_back::put_back;
pub(crate) use refund::{Owed, refund};

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

/// A recipient whose second leg is to go out.
#[derive(Clone, Debug)]
pub struct SecondLeg {
    /// Where its rows live.
    pub bucket: Bucket,
    /// Which message.
    pub message: MessageId,
    /// From when on that may be sent, Unix milliseconds.
    pub message_due_at_ms: i64,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// Who.
    pub recipient: Recipient,
    /// Whether the sender ID is added to the text.
    pub suffixed: bool,
    /// Pages of the text.
    pub pages: i64,
    /// What was charged.
    pub charge: Money,
    /// What of it is for the second leg.
    pub reserve: Money,
}

/// Makes the batch of a second leg; knows the carriers, which the store does not.
pub type Planner = Arc<dyn Fn(&SecondLeg) -> Option<Batch> + Send + Sync>;

/// How many fresh callbacks a node has room for: of real messages, and of the sandbox.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CallbackRoom {
    /// Of real messages.
    pub live: usize,
    /// Of the sandbox.
    pub sandbox: usize,
}

impl CallbackRoom {
    /// Takes a place; whether there was one.
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

/// What settling needs from outside.
#[derive(Clone)]
pub(crate) struct Terrain {
    pub(crate) now_ms: i64,
    pub(crate) planner: Planner,
    /// The node that takes fresh callbacks in hand, until when, and how many it has room for.
    pub(crate) node: i64,
    pub(crate) claimed_until_ms: i64,
    pub(crate) callback_room: CallbackRoom,
}

/// What settling did.
#[derive(Debug, Default)]
pub struct Settled {
    /// Callbacks in hand now: already claimed.
    pub callbacks: Vec<Callback>,
    /// Whether further callbacks wait in the database.
    pub more_callbacks: bool,
    /// Recipients that came to an end, with the carrier that had them last.
    pub outcomes: Vec<(Gateway, String, DeliveryStatus)>,
    /// Carriers that have new work, with when it is due.
    pub work: Vec<(Arc<str>, i64)>,
    /// The carriers of receipts whose id more pages have than can be told apart: they settle nobody. Each receipt counts.
    pub unclear: Vec<Arc<str>>,
}

impl Settled {
    /// Adds what another change did.
    pub(crate) fn join(&mut self, other: Self) {
        self.callbacks.extend(other.callbacks);
        self.more_callbacks |= other.more_callbacks;
        self.outcomes.extend(other.outcomes);
        self.work.extend(other.work);
        self.unclear.extend(other.unclear);
    }
}

/// One recipient and what happened to it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) bucket: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    /// Whether a delivery row exists.
    pub(crate) stored: bool,
    /// Whether the batch was lost before: without a delivery row there is nothing to tell then.
    pub(crate) late: bool,
    pub(crate) delivery: Delivery,
    pub(crate) suffixed: bool,
    pub(crate) charge: Money,
    pub(crate) reserve: Money,
    pub(crate) carrier: String,
    /// With whom it is in doubt.
    pub(crate) doubts: Doubts,
    pub(crate) error: Option<String>,
    pub(crate) events: Vec<DeliveryEvent>,
}

impl Case {
    /// The key of its delivery.
    pub(crate) fn key(&self) -> (Bucket, MessageId, Recipient) {
        (self.bucket, self.message, self.recipient)
    }

    /// What is stored, with what is told of it now.
    pub(crate) fn told(mut self, news: Self) -> Self {
        self.doubts.join(news.doubts);
        Self {
            carrier: news.carrier,
            error: news.error,
            events: news.events,
            ..self
        }
    }
}

/// A case after its events.
struct Outcome {
    case: Case,
    refund: Option<Refund>,
    callback: bool,
    second_leg: bool,
}

/// Applies events to recipients and writes all that follows, but for the money that is owed then: it is to be given back
/// ([`refund()`]) in the same transaction. A recipient appears once.
pub(crate) async fn settle(
    tx: &mut Tx,
    terrain: &Terrain,
    cases: Vec<Case>,
    messages: &HashMap<MessageId, Settling>,
) -> Result<(Settled, Vec<Owed>)> {
    let outcomes = decide_all(cases, messages)?;
    write_deliveries(tx, terrain.now_ms, &outcomes).await?;
    let owed = refund::owed(&outcomes, messages);
    let mut settled = call_back(tx, terrain, &outcomes, messages).await?;
    let legs = second_legs(terrain, &outcomes, messages);
    batches::insert(tx, &legs.iter().collect::<Vec<_>>()).await?;
    settled.work = legs
        .into_iter()
        .map(|batch| (batch.carrier, batch.due_at_ms))
        .collect();
    settled.outcomes = ended(outcomes, messages);
    Ok((settled, owed))
}

/// The recipients that came to an end.
fn ended(
    outcomes: Vec<Outcome>,
    messages: &HashMap<MessageId, Settling>,
) -> Vec<(Gateway, String, DeliveryStatus)> {
    let ended = outcomes.into_iter().filter(|outcome| outcome.callback);
    ended
        .filter_map(|outcome| {
            let gateway = messages.get(&outcome.case.message)?.gateway;
            Some((gateway, outcome.case.carrier, outcome.case.delivery.status))
        })
        .collect()
}

/// What becomes of cases that change.
fn decide_all(cases: Vec<Case>, messages: &HashMap<MessageId, Settling>) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::with_capacity(cases.len());
    for case in cases {
        let message = messages
            .get(&case.message)
            .ok_or(Error::Impossible("a message is missing"))?;
        outcomes.extend(decide(case, message.terms));
    }
    Ok(outcomes)
}

fn decide(mut case: Case, terms: Terms) -> Option<Outcome> {
    let (mut refund, mut callback, mut second_leg) = (None, false, false);
    // With whom it is in doubt may be news, though nothing else is.
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
    changed.then_some(Outcome {
        case,
        refund,
        callback,
        second_leg,
    })
}

async fn write_deliveries(tx: &mut Tx, now_ms: i64, outcomes: &[Outcome]) -> Result<()> {
    let (stored, new): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.iter().partition(|outcome| outcome.case.stored);
    insert_deliveries(tx, now_ms, new).await?;
    update_deliveries(tx, now_ms, &stored).await
}

/// Writes new deliveries, in the order of their keys: so a server splits the pages of their index where they are full.
async fn insert_deliveries(tx: &mut Tx, now_ms: i64, mut new: Vec<&Outcome>) -> Result<()> {
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

async fn update_deliveries(tx: &mut Tx, now_ms: i64, outcomes: &[&Outcome]) -> Result<()> {
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

/// Null is nothing, and takes no room.
fn unusual(number: i64) -> Option<i64> {
    (number != 0).then_some(number)
}

/// Deliveries tell seconds.
fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000)
}

async fn call_back(
    tx: &mut Tx,
    terrain: &Terrain,
    outcomes: &[Outcome],
    messages: &HashMap<MessageId, Settling>,
) -> Result<Settled> {
    // Most customers give the same URL with each message.
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
                due_at_ms: terrain.now_ms,
                message: message.message,
                recipient: outcome.case.recipient,
                status: outcome.case.delivery.status,
                attempts: 0,
                url,
                customer_reference: message.customer_reference.clone(),
            })
        })
        .collect();
    let mut room = terrain.callback_room;
    let has_room = |callback: &Callback| room.take(callback.environment);
    let (fresh, waiting): (Vec<_>, Vec<_>) = fresh.into_iter().partition(has_room);
    outbox::insert(tx, &fresh, Some((terrain.node, terrain.claimed_until_ms))).await?;
    outbox::insert(tx, &waiting, None).await?;
    Ok(Settled {
        callbacks: fresh,
        more_callbacks: !waiting.is_empty(),
        ..Settled::default()
    })
}

fn second_legs(
    terrain: &Terrain,
    outcomes: &[Outcome],
    messages: &HashMap<MessageId, Settling>,
) -> Vec<Batch> {
    outcomes
        .iter()
        .filter(|outcome| outcome.second_leg)
        .filter_map(|outcome| {
            let case = &outcome.case;
            let message = messages.get(&case.message)?;
            (terrain.planner)(&SecondLeg {
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
