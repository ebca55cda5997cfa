//! The metrics of the engine. Handles are kept, since a lookup for each PDU would cost more than
//! the PDU.

pub(crate) mod payments;

use crate::context::outcome::Outcome;
use crate::context::plan::SANDBOX;
use domain::carrier_control::CarrierControl;
use domain::{DeliveryStatus, Draft, Environment, Gateway};
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use std::collections::{BTreeMap, HashMap};
use store::{Batch, Receipt, ReceiptStatus};

/// Returns the `environment` label of a carrier.
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
    /// Rejections by their label.
    rejected: HashMap<String, Counter>,
    receipts: HashMap<ReceiptStatus, Counter>,
    parked: Counter,
    in_doubt: Counter,
    unreadable: Option<Counter>,
    inbound: Counter,
    binds: Gauge,
    paused: Gauge,
    throttle: Gauge,
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
            paused: gauge!("ogene_carrier_paused", "carrier" => carrier.clone(), "environment" => environment),
            throttle: gauge!("ogene_carrier_throttle", "carrier" => carrier.clone(), "environment" => environment),
            window: gauge!("ogene_window_used", "carrier" => carrier.clone(), "environment" => environment),
            accepted_to_submitted: histogram!(
                "ogene_accepted_to_submitted_seconds", "carrier" => carrier.clone(), "environment" => environment
            ),
            carrier,
        }
    }

    /// Counts a submit. Only the first submit of a recipient is measured, since a repeated one was
    /// delayed on purpose.
    pub(crate) fn submitted(&self, batch: &Batch, now_ms: i64) {
        self.submits.increment(1);
        if batch.kind == store::BatchKind::First && batch.tries == 0 {
            self.accepted_to_submitted
                .record(seconds(now_ms - batch.message_due_at_ms));
        }
    }

    /// Counts a response. Returns `true` if it is the first rejection with its status.
    pub(crate) fn response(&mut self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Accepted { .. } => self.accepted.increment(1),
            Outcome::NotSent => self.not_sent.increment(1),
            Outcome::Unknown => self.unknown.increment(1),
            Outcome::RefusedTogether => {
                self.rejection("refused together".to_owned());
            }
            Outcome::Rejected(rejection) => return self.rejection(rejection.label()),
        }
        false
    }

    /// Counts a rejection. Returns `true` if it is the first one with its status.
    fn rejection(&mut self, status: String) -> bool {
        let (carrier, environment) = (&self.carrier, environment_of(&self.carrier));
        let known = self.rejected.len();
        self.rejected
            .entry(status)
            .or_insert_with_key(|status| {
                let status = status.clone();
                counter!("ogene_responses_total", "carrier" => carrier.clone(), "environment" => environment, "status" => status)
            })
            .increment(1);
        self.rejected.len() > known
    }

    pub(crate) fn receipt(&mut self, receipt: &Receipt) {
        let (carrier, environment) = (&self.carrier, environment_of(&self.carrier));
        self.receipts
            .entry(receipt.status)
            .or_insert_with(|| {
                counter!("ogene_receipts_total", "carrier" => carrier.clone(), "environment" => environment, "outcome" => outcome(receipt.status))
            })
            .increment(1);
    }

    pub(crate) fn parked(&self, receipts: usize) {
        self.parked.increment(receipts as u64);
    }

    pub(crate) fn in_doubt(&self) {
        self.in_doubt.increment(1);
    }

    /// Counts a receipt without a message id or state. Returns `true` for the first.
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

    /// Counts a message from a subscriber.
    pub(crate) fn inbound(&self) {
        self.inbound.increment(1);
    }

    /// Sets the control of the carrier by operators.
    pub(crate) fn control(&self, control: CarrierControl) {
        self.paused.set(f64::from(u8::from(!control.submits())));
        self.throttle
            .set(f64::from(control.max_per_second.unwrap_or(0)));
    }

    pub(crate) fn binds(&self, binds: usize) {
        self.binds.set(real(binds));
    }

    pub(crate) fn window(&self, outstanding: usize) {
        self.window.set(real(outstanding));
    }
}

/// Counts a failed bind by its reason.
pub(crate) fn bind_failed(carrier: &str, reason: String) {
    counter!("ogene_bind_failures_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier), "reason" => reason)
        .increment(1);
}

/// Counts a receipt that a carrier posted.
pub(crate) fn receipt_received(receipt: &Receipt) {
    let carrier = receipt.carrier.to_string();
    let environment = environment_of(&carrier);
    counter!("ogene_receipts_total", "carrier" => carrier, "environment" => environment, "outcome" => outcome(receipt.status))
        .increment(1);
}

/// Counts a request of a carrier from which no receipt was read.
pub(crate) fn receipt_unreadable(carrier: &str) {
    counter!("ogene_receipts_unreadable_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier))
        .increment(1);
}

/// The end of a request for the state of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PollOutcome {
    /// The state is final.
    Final,
    /// The message is under way.
    Pending,
    /// The answer has no state.
    WithoutState,
    /// There is no answer.
    Unanswered,
}

/// Counts a request for the state of a message.
pub(crate) fn receipt_polled(carrier: &str, outcome: PollOutcome) {
    let outcome = match outcome {
        PollOutcome::Final => "final",
        PollOutcome::Pending => "pending",
        PollOutcome::WithoutState => "no_state",
        PollOutcome::Unanswered => "no_answer",
    };
    counter!("ogene_receipt_polls_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier), "outcome" => outcome)
        .increment(1);
}

/// Sets the delay of the message that waits longest for the request for its state.
pub(crate) fn receipt_poll_delay(carrier: &str, delay_ms: i64) {
    gauge!("ogene_receipt_poll_delay_seconds", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier))
        .set(seconds(delay_ms));
}

const fn outcome(status: ReceiptStatus) -> &'static str {
    match status {
        ReceiptStatus::Pending => "pending",
        ReceiptStatus::Final(status) => status.as_str(),
    }
}

/// Counts an ambiguous receipt, whose id belongs to too many pages.
pub(crate) fn unclear(carrier: &str) {
    counter!("ogene_receipts_unclear_total", "carrier" => carrier.to_owned(), "environment" => environment_of(carrier)).increment(1);
}

/// Counts settled recipients.
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

/// Counts the messages and recipients of an accept commit, and measures its time.
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

/// Measures the number of sends in an accept commit.
pub(crate) fn accept_group(sends: usize) {
    histogram!("ogene_accept_group_sends").record(real(sends));
}

/// Counts messages removed by retention.
pub(crate) fn removed(messages: u64) {
    counter!("ogene_messages_removed_total").increment(messages);
}

/// Converts a count for a metric.
#[expect(
    clippy::cast_precision_loss,
    reason = "a metric need not be exact beyond 2^53"
)]
fn real(count: usize) -> f64 {
    count as f64
}

/// The lengths of the queues in the database: recipients by carrier, callbacks by state, receipts by
/// SMPP user.
#[derive(Default)]
pub(crate) struct Depths {
    pub(crate) queued: BTreeMap<String, i64>,
    /// Queued recipients that wait for the end of quiet hours.
    pub(crate) held: BTreeMap<String, i64>,
    pub(crate) in_doubt: BTreeMap<String, i64>,
    pub(crate) callbacks: BTreeMap<String, i64>,
    /// Receipts that wait for SMPP users.
    pub(crate) smpp_waiting: BTreeMap<String, i64>,
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
        ("ogene_smpp_waiting", "system_id", depths.smpp_waiting),
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

/// Counts a block of numbers that was paused.
pub(crate) fn block_paused() {
    counter!("ogene_velocity_pauses_total").increment(1);
}

/// Sets the number of paused blocks.
pub(crate) fn blocks_paused(count: usize) {
    gauge!("ogene_velocity_paused_blocks").set(real(count));
}

/// Sets the number of callback receivers with an open circuit breaker.
pub(crate) fn broken_receivers(count: usize) {
    gauge!("ogene_callback_receivers_broken").set(real(count));
}

/// Counts recipients in doubt that a removed node had claimed.
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
    use crate::context::outcome::{Rejection, status_word};
    use smpp::CommandStatus;

    #[test]
    fn undefined_codes_of_a_carrier_are_counted_together() {
        let mut measures = CarrierMeasures::new("mtn");
        let known = [CommandStatus::RTHROTTLED, CommandStatus::RINVDSTADR];
        let made_up = (0x400..0x800).chain(0xFFFF_0000..0xFFFF_1000);
        for status in known.into_iter().chain(made_up.map(CommandStatus)) {
            measures.response(&Outcome::Rejected(Rejection::Smpp(status)));
        }
        let vendors = 0x100;
        assert_eq!(measures.rejected.len(), known.len() + vendors + 1);
        assert_eq!(status_word(known[0]), "ESME_RTHROTTLED (0x58)");
        assert_eq!(status_word(CommandStatus(0x401)), "vendor (0x401)");
        assert_eq!(status_word(CommandStatus(0x500)), "other");
    }
}
