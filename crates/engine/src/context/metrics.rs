//! The metrics of the engine, for `/metrics`. Handles are made once: a look-up per PDU would cost more than
//! the PDU.

use crate::context::plan::SANDBOX;
use domain::{DeliveryStatus, Draft, Environment, Gateway};
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use smpp::{CommandStatus, SubmitOutcome};
use std::collections::{BTreeMap, HashMap};
use store::{Batch, Receipt, ReceiptStatus};

/// The label that tells the simulated carrier of the sandbox from real ones.
fn environment_of(carrier: &str) -> &'static str {
    let environment = if carrier == SANDBOX {
        Environment::Sandbox
    } else {
        Environment::Live
    };
    environment.as_str()
}

/// The metrics of one carrier.
pub(crate) struct CarrierMeasures {
    carrier: String,
    submits: Counter,
    accepted: Counter,
    not_sent: Counter,
    unknown: Counter,
    /// By the code, those together that are neither of the protocol nor of its range for vendors.
    rejected: HashMap<Option<u32>, Counter>,
    receipts: HashMap<ReceiptStatus, Counter>,
    parked: Counter,
    in_doubt: Counter,
    unreadable: Option<Counter>,
    inbound: Counter,
    binds: Gauge,
    window: Gauge,
    accepted_to_submitted: Histogram,
}

impl CarrierMeasures {
    pub(crate) fn new(carrier: &str) -> Self {
        let (carrier, environment) = (carrier.to_owned(), environment_of(carrier));
        let response = |status: &'static str| counter!("ogene_responses_total", "carrier" => carrier.clone(), "environment" => environment, "status" => status);
        Self {
            submits: counter!("ogene_submits_total", "carrier" => carrier.clone(), "environment" => environment),
            accepted: response("ESME_ROK"),
            not_sent: response("not_sent"),
            unknown: response("unknown"),
            rejected: HashMap::new(),
            receipts: HashMap::new(),
            parked: counter!("ogene_receipts_parked_total", "carrier" => carrier.clone(), "environment" => environment),
            in_doubt: counter!("ogene_in_doubt_total", "carrier" => carrier.clone(), "environment" => environment),
            unreadable: None,
            inbound: counter!("ogene_inbound_total", "carrier" => carrier.clone(), "environment" => environment),
            binds: gauge!("ogene_binds", "carrier" => carrier.clone(), "environment" => environment),
            window: gauge!("ogene_window_used", "carrier" => carrier.clone(), "environment" => environment),
            accepted_to_submitted: histogram!(
                "ogene_accepted_to_submitted_seconds", "carrier" => carrier.clone(), "environment" => environment
            ),
            carrier,
        }
    }

    /// A recipient goes out. Only first sends tell how fast we are: what is sent again has waited.
    pub(crate) fn submitted(&self, batch: &Batch, now_ms: i64) {
        self.submits.increment(1);
        if batch.kind == store::BatchKind::First && batch.tries == 0 {
            self.accepted_to_submitted
                .record(seconds(now_ms - batch.message_due_at_ms));
        }
    }

    /// Counts a response; gives whether it is the first with its status, where it is a refusal.
    pub(crate) fn response(&mut self, outcome: &SubmitOutcome) -> bool {
        match outcome {
            SubmitOutcome::Accepted { .. } => self.accepted.increment(1),
            SubmitOutcome::NotSent => self.not_sent.increment(1),
            SubmitOutcome::Unknown => self.unknown.increment(1),
            SubmitOutcome::Rejected(status) => {
                let (carrier, environment) = (&self.carrier, environment_of(&self.carrier));
                let known = self.rejected.len();
                let is_told_apart = status.is_known() || status.is_vendor();
                self.rejected
                    .entry(is_told_apart.then_some(status.0))
                    .or_insert_with(|| {
                        let status = status_word(*status);
                        counter!("ogene_responses_total", "carrier" => carrier.clone(), "environment" => environment, "status" => status)
                    })
                    .increment(1);
                return self.rejected.len() > known;
            }
        }
        false
    }

    pub(crate) fn receipt(&mut self, receipt: &Receipt) {
        let (carrier, environment) = (&self.carrier, environment_of(&self.carrier));
        self.receipts
            .entry(receipt.status)
            .or_insert_with(|| {
                let outcome = match receipt.status {
                    ReceiptStatus::Pending => "pending",
                    ReceiptStatus::Final(status) => status.as_str(),
                };
                counter!("ogene_receipts_total", "carrier" => carrier.clone(), "environment" => environment, "outcome" => outcome)
            })
            .increment(1);
    }

    pub(crate) fn parked(&self, receipts: usize) {
        self.parked.increment(receipts as u64);
    }

    pub(crate) fn in_doubt(&self) {
        self.in_doubt.increment(1);
    }

    /// A receipt that names no message or no state, which is answered and dropped; whether it is the first.
    pub(crate) fn unreadable(&mut self) -> bool {
        let is_first = self.unreadable.is_none();
        let (carrier, environment) = (&self.carrier, environment_of(&self.carrier));
        self.unreadable
            .get_or_insert_with(
                || counter!("ogene_receipts_unreadable_total", "carrier" => carrier.clone(), "environment" => environment),
            )
            .increment(1);
        is_first
    }

    /// A message from a subscriber, which is answered and dropped.
    pub(crate) fn inbound(&self) {
        self.inbound.increment(1);
    }

    pub(crate) fn binds(&self, binds: usize) {
        self.binds.set(real(binds));
    }

    pub(crate) fn window(&self, outstanding: usize) {
        self.window.set(real(outstanding));
    }
}

/// A connection that could not be bound, by why.
pub(crate) fn bind_failed(carrier: &str, reason: String) {
    counter!("ogene_bind_failures_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier), "reason" => reason)
        .increment(1);
}

/// A receipt whose id more pages have than can be told apart.
pub(crate) fn unclear(carrier: &str) {
    counter!("ogene_receipts_unclear_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier)).increment(1);
}

/// The label of a refusal. A carrier may make up four thousand million codes, and each would be kept for ever: those
/// that the protocol neither names nor leaves to vendors go together.
pub(crate) fn status_word(status: CommandStatus) -> String {
    if status.is_known() || status.is_vendor() {
        format!("{} (0x{:X})", status.name(), status.0)
    } else {
        "other".to_owned()
    }
}

/// Recipients that came to an end.
pub(crate) fn settled(outcomes: &[(Gateway, String, DeliveryStatus)]) {
    let mut counts: HashMap<(Gateway, &str, DeliveryStatus), u64> = HashMap::new();
    for (gateway, carrier, status) in outcomes {
        *counts.entry((*gateway, carrier, *status)).or_default() += 1;
    }
    for ((gateway, carrier, status), count) in counts {
        counter!("ogene_settled_total", "gateway" => gateway.as_str(), "carrier" => carrier.to_owned(), "environment" => environment_of(carrier),
            "outcome" => status.as_str())
        .increment(count);
    }
}

/// Messages that were accepted in one commit, with their recipients, and the time that it took.
pub(crate) fn accepted<'a>(drafts: impl Iterator<Item = &'a Draft>, took_ms: i64) {
    let mut counts: HashMap<(Gateway, Environment), (u64, usize)> = HashMap::new();
    for draft in drafts {
        let (messages, recipients) = counts
            .entry((draft.gateway, draft.environment))
            .or_default();
        *messages += 1;
        *recipients += draft.recipients.len();
    }
    for ((gateway, environment), (messages, recipients)) in counts {
        let (gateway, environment) = (gateway.as_str(), environment.as_str());
        counter!("ogene_messages_accepted_total", "gateway" => gateway, "environment" => environment)
            .increment(messages);
        counter!("ogene_recipients_accepted_total", "gateway" => gateway, "environment" => environment)
            .increment(recipients as u64);
        let each = usize::try_from(messages).unwrap_or(usize::MAX);
        histogram!("ogene_accept_seconds").record_many(seconds(took_ms), each);
    }
}

/// How many sends shared a commit.
pub(crate) fn accept_group(sends: usize) {
    histogram!("ogene_accept_group_sends").record(real(sends));
}

/// Old messages that were removed.
pub(crate) fn removed(messages: u64) {
    counter!("ogene_messages_removed_total").increment(messages);
}

/// A count as metrics take it.
#[expect(
    clippy::cast_precision_loss,
    reason = "a metric need not be exact beyond 2^53"
)]
fn real(count: usize) -> f64 {
    count as f64
}

/// The queues in the database: recipients by carrier, and callbacks by state.
pub(crate) struct Depths {
    pub(crate) queued: BTreeMap<String, i64>,
    /// The queued recipients that quiet hours hold back.
    pub(crate) held: BTreeMap<String, i64>,
    pub(crate) in_doubt: BTreeMap<String, i64>,
    pub(crate) callbacks: BTreeMap<String, i64>,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a gauge need not be exact beyond 2^53"
)]
pub(crate) fn depths(depths: Depths) {
    for (name, label, counts) in [
        ("ogene_queued_recipients", "carrier", depths.queued),
        ("ogene_held_recipients", "carrier", depths.held),
        ("ogene_in_doubt", "carrier", depths.in_doubt),
        ("ogene_callbacks", "state", depths.callbacks),
    ] {
        for (of, count) in counts {
            let gauge = if label == "carrier" {
                let environment = environment_of(&of);
                gauge!(name, label => of, "environment" => environment)
            } else {
                gauge!(name, label => of)
            };
            gauge.set(count as f64);
        }
    }
    counter!("ogene_unreadable_deliveries_total").absolute(store::unreadable_deliveries());
}

/// A block of numbers that was paused for an account.
pub(crate) fn block_paused() {
    counter!("ogene_velocity_pauses_total").increment(1);
}

/// How many are paused, as each node knows them.
pub(crate) fn blocks_paused(count: usize) {
    gauge!("ogene_velocity_paused_blocks").set(real(count));
}

/// Receivers of callbacks that fail, and so are only tried.
pub(crate) fn broken_receivers(count: usize) {
    gauge!("ogene_callback_receivers_broken").set(real(count));
}

/// Recipients that a node which is gone had in hand.
pub(crate) fn doubted(carrier: &str, recipients: usize) {
    counter!("ogene_in_doubt_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier))
        .increment(u64::try_from(recipients).unwrap_or(0));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of a latency are few"
)]
fn seconds(ms: i64) -> f64 {
    ms.max(0) as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_a_carrier_makes_up_are_counted_together() {
        let mut measures = CarrierMeasures::new("mtn");
        let known = [CommandStatus::RTHROTTLED, CommandStatus::RINVDSTADR];
        let made_up = (0x400..0x800).chain(0xFFFF_0000..0xFFFF_1000);
        for status in known.into_iter().chain(made_up.map(CommandStatus)) {
            measures.response(&SubmitOutcome::Rejected(status));
        }
        let vendors = 0x100;
        assert_eq!(measures.rejected.len(), known.len() + vendors + 1);
        assert_eq!(status_word(known[0]), "ESME_RTHROTTLED (0x58)");
        assert_eq!(status_word(CommandStatus(0x401)), "vendor (0x401)");
        assert_eq!(status_word(CommandStatus(0x500)), "other");
    }
}
