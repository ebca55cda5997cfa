//! What usually becomes of a recipient: a carrier takes it at once, and it is delivered.
//!
//! The beginning needs nothing of its message. The usual end is that of a recipient that was sent one page, once. Its
//! delivery is not read before. It is taken to be as most are, decided on as such, and written where it is
//! so; all others are read, locked and decided on by what they are.

use super::{
    Case, Outcome, Settled, Settling, Terrain, call_back, decide, ended, insert_deliveries, seconds,
};
use crate::deliveries::carrier_ids::Part;
use crate::deliveries::doubts::Doubts;
use crate::rows::{id_bytes, number};
use database::{Result, Tx, bulk, value};
use domain::{Delivery, DeliveryEvent, Leg, MessageId, Money, Recipient, Terms};
use std::collections::{HashMap, HashSet};

/// How most deliveries stand when their receipt comes.
const SENT: Delivery = Delivery {
    leg: Some(Leg::First),
    ..Delivery::unsent(1)
};

/// Writes the deliveries of cases without one that a carrier has taken. What their gateways promise has no part in it.
pub(crate) async fn begin(tx: &mut Tx, now_ms: i64, cases: Vec<Case>) -> Result<()> {
    let terms = Terms {
        refund_undelivered: false,
        two_legs: false,
    };
    let taken = cases.into_iter().filter_map(|case| decide(case, terms));
    let taken: Vec<Outcome> = taken.collect();
    insert_deliveries(tx, now_ms, taken.iter().collect()).await
}

/// The case of a recipient whose delivery is taken to be [`SENT`]. What it was charged is not known, and not
/// needed where no money moves.
pub(crate) fn assumed(carrier: &str, part: &Part, event: DeliveryEvent) -> Case {
    Case {
        bucket: part.home,
        message: part.message,
        recipient: part.recipient,
        stored: true,
        late: false,
        delivery: SENT,
        suffixed: false,
        charge: Money::ZERO,
        reserve: Money::ZERO,
        carrier: carrier.to_owned(),
        doubts: Doubts::default(),
        error: None,
        events: vec![event],
    }
}

/// Ends those of the [`assumed`] cases whose delivery is as they assume, and whose end moves no
/// money. Gives which they were; the others are as they were. That the only page is delivered goes without saying.
pub(crate) async fn deliver(
    tx: &mut Tx,
    terrain: &Terrain,
    cases: Vec<Case>,
    messages: &HashMap<MessageId, Settling>,
) -> Result<(Settled, HashSet<(MessageId, Recipient)>)> {
    let assumed = cases.into_iter().filter_map(|case| {
        let terms = messages.get(&case.message)?.terms;
        decide(case, terms).filter(|outcome| outcome.refund.is_none())
    });
    let mut outcomes: Vec<Outcome> = assumed.collect();
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
        .map(|Outcome { case, .. }| (id_bytes(&case.message).to_vec(), number(case.recipient)));
    let ended_now = tx.changed_each(end.bind(seconds(terrain.now_ms)), keys);
    let stood: Vec<bool> = ended_now.await?;
    let mut stands = stood.into_iter();
    outcomes.retain(|_| stands.next().unwrap_or(false));
    let stood = outcomes
        .iter()
        .map(|outcome| (outcome.case.message, outcome.case.recipient));
    let stood = stood.collect();
    let mut settled = call_back(tx, terrain, &outcomes, messages).await?;
    settled.outcomes = ended(outcomes, messages);
    Ok((settled, stood))
}
