//! Planning of batches: the carrier and the due time of drafts and second legs.

use crate::context::random::Numbers;
use domain::{
    BatchId, Draft, Environment, Gateway, InDoubt, Leg, MessageId, Recipient, Rulebook, Terms,
};
use std::sync::Arc;
use store::{Batch, BatchKind, MAX_RECIPIENTS, QueueState, SecondLeg};

/// The name of the simulated carrier. No configured carrier may have it.
pub const SANDBOX: &str = "sandbox";

/// The rules, with the names of their carriers in a form that batches share.
pub(crate) struct Plan {
    pub(crate) rules: Rulebook,
    carriers: Vec<Arc<str>>,
    sandbox: Arc<str>,
    numbers: Arc<Numbers>,
}

impl Plan {
    pub(crate) fn new(rules: Rulebook, numbers: impl Into<Arc<Numbers>>) -> Self {
        let carriers = rules
            .carriers
            .iter()
            .map(|carrier| carrier.name.as_str().into())
            .collect();
        Self {
            rules,
            carriers,
            sandbox: SANDBOX.into(),
            numbers: numbers.into(),
        }
    }

    /// Returns a plan with other rules that continues the numbers of this one.
    pub(crate) fn with(&self, rules: Rulebook) -> Self {
        Self::new(rules, Arc::clone(&self.numbers))
    }

    /// Returns the first of `count` new numbers.
    pub(crate) fn numbers(&self, count: usize) -> i64 {
        self.numbers.next(count)
    }

    /// Returns the terms of a gateway that are stored with a message.
    pub(crate) fn terms(&self, gateway: Gateway) -> Terms {
        self.rules.gateway(gateway).map_or(
            Terms {
                refund_undelivered: false,
                two_legs: false,
            },
            |rules| Terms {
                refund_undelivered: rules.refund_undelivered,
                two_legs: rules.legs.is_some(),
            },
        )
    }

    /// Returns the batches of an accepted draft.
    pub(crate) fn batches(
        &self,
        draft: &Draft,
        bucket: domain::Bucket,
        message: MessageId,
        now_ms: i64,
    ) -> Vec<Batch> {
        let earliest_ms = draft.due_at_ms.unwrap_or(now_ms).max(now_ms);
        let due_at_ms = self.due(draft.gateway, Leg::First, draft.environment, earliest_ms);
        let timeout_ms = self
            .rules
            .gateway(draft.gateway)
            .map_or(0, |rules| rules.receipt_timeout_ms);
        let valid_ms = domain::schedule::validity_ms(draft.validity_s, timeout_ms);
        let mut batches = Vec::new();
        for class in &draft.classes {
            let carrier = match draft.environment {
                Environment::Sandbox => &self.sandbox,
                Environment::Live => match self.carriers.get(class.carrier) {
                    Some(carrier) => carrier,
                    // A live draft without a carrier was refused before.
                    None => continue,
                },
            };
            for recipients in class.recipients.chunks(MAX_RECIPIENTS) {
                let mut recipients = recipients.to_vec();
                // Deliveries are stored in this order, so the ones of a commit share database
                // pages.
                recipients.sort_unstable();
                batches.push(Batch {
                    bucket,
                    carrier: Arc::clone(carrier),
                    state: QueueState::Waiting,
                    claimed_until_ms: 0,
                    priority: draft.priority,
                    due_at_ms,
                    id: BatchId(self.numbers.next(1)),
                    message,
                    message_due_at_ms: draft.due_at_ms.unwrap_or(message.accepted_at_ms()),
                    kind: BatchKind::First,
                    leg: Leg::First,
                    tries: 0,
                    suffixed: class.suffixed,
                    pages: class.pages,
                    charge: class.charge,
                    reserve: class.reserve,
                    expires_at_ms: due_at_ms.saturating_add(valid_ms),
                    recipients,
                });
            }
        }
        batches
    }

    /// Returns the due time of a draft that is accepted now, after any quiet hours. Returns `None`
    /// if the draft is due at once.
    pub(crate) fn scheduled_for(&self, draft: &Draft, now_ms: i64) -> Option<i64> {
        let quiet = self
            .rules
            .quiet_hours(draft.gateway, Leg::First, draft.environment);
        domain::schedule::due(now_ms, draft.due_at_ms, quiet).scheduled_for_ms
    }

    /// Returns the end of the quiet hours that hold a draft which is accepted now, or `None` if
    /// it goes out at once or at its `send_at`.
    pub(crate) fn held_until(&self, draft: &Draft, now_ms: i64) -> Option<i64> {
        let wished_ms = draft.due_at_ms.unwrap_or(now_ms).max(now_ms);
        let due_ms = self.due(draft.gateway, Leg::First, draft.environment, wished_ms);
        (due_ms > wished_ms).then_some(due_ms)
    }

    /// Returns when a batch may be sent that is ready at `now_ms`, by the quiet hours of its leg.
    pub(crate) fn due(
        &self,
        gateway: Gateway,
        leg: Leg,
        environment: Environment,
        now_ms: i64,
    ) -> i64 {
        let quiet = self.rules.quiet_hours(gateway, leg, environment);
        quiet.map_or(now_ms, |quiet| quiet.due(now_ms))
    }

    /// Returns the end of the quiet hours that end next, if any are in effect.
    pub(crate) fn quiet_until(&self, now_ms: i64) -> Option<i64> {
        let quiet = self.rules.gateways.iter();
        let ends = quiet.filter_map(|rules| Some(rules.quiet_hours?.due(now_ms)));
        ends.filter(|&end_ms| end_ms > now_ms).min()
    }

    /// Returns the batch of a second leg, for the preferred carrier of the second gateway.
    pub(crate) fn second_leg(&self, wanted: &SecondLeg, now_ms: i64) -> Option<Batch> {
        let rules = self.rules.gateway(wanted.gateway)?;
        let second = self.rules.leg(wanted.gateway, Leg::Second)?;
        let network = self.rules.network_of(wanted.recipient);
        let carrier = *second.preference.carriers(network).first()?;
        Some(Batch {
            bucket: wanted.bucket,
            carrier: Arc::clone(self.carriers.get(carrier)?),
            state: QueueState::Waiting,
            claimed_until_ms: 0,
            priority: domain::Priority::Normal,
            due_at_ms: self.due(wanted.gateway, Leg::Second, Environment::Live, now_ms),
            id: BatchId(self.numbers.next(1)),
            message: wanted.message,
            message_due_at_ms: wanted.message_due_at_ms,
            kind: BatchKind::Backup,
            leg: Leg::Second,
            tries: 0,
            suffixed: wanted.suffixed,
            pages: wanted.pages,
            charge: wanted.charge,
            reserve: wanted.reserve,
            expires_at_ms: self
                .due(
                    wanted.gateway,
                    Leg::First,
                    Environment::Live,
                    wanted.message_due_at_ms,
                )
                .saturating_add(domain::schedule::validity_ms(
                    wanted.validity_s,
                    rules.receipt_timeout_ms,
                )),
            recipients: vec![wanted.recipient],
        })
    }

    /// Returns the batch that sends the second leg if the first leg gets no receipt in time.
    pub(crate) fn second_leg_timer(
        &self,
        first: &Batch,
        gateway: Gateway,
        awaited: impl Iterator<Item = Recipient>,
        now_ms: i64,
    ) -> Option<Batch> {
        if first.leg != Leg::First {
            return None;
        }
        let timeout_ms = self.rules.gateway(gateway)?.legs?.timeout_ms;
        let awaited: Vec<Recipient> = awaited.collect();
        let wanted = SecondLeg {
            bucket: first.bucket,
            message: first.message,
            message_due_at_ms: first.message_due_at_ms,
            // The batch below has the end of the first leg.
            validity_s: None,
            gateway,
            recipient: *awaited.first()?,
            suffixed: first.suffixed,
            pages: first.pages,
            charge: first.charge,
            reserve: first.reserve,
        };
        Some(Batch {
            recipients: awaited,
            expires_at_ms: first.expires_at_ms,
            ..self.second_leg(&wanted, now_ms + timeout_ms)?
        })
    }

    /// Returns the next carrier of a number after this one, or the first if the present one is
    /// no longer configured.
    pub(crate) fn carrier_after(
        &self,
        gateway: Gateway,
        leg: Leg,
        recipient: Recipient,
        carrier: &str,
    ) -> Option<Arc<str>> {
        let preference = &self.rules.leg(gateway, leg)?.preference;
        let network = self.rules.network_of(recipient);
        let after = match self.rules.carrier(carrier) {
            Some(carrier) => preference.after(network, carrier)?,
            None => *preference.carriers(network).first()?,
        };
        self.carriers.get(after).cloned()
    }

    /// Returns all other carriers of a number in order of preference.
    pub(crate) fn other_carriers(
        &self,
        gateway: Gateway,
        leg: Leg,
        recipient: Recipient,
        carrier: &str,
    ) -> Vec<Arc<str>> {
        let Some(rules) = self.rules.leg(gateway, leg) else {
            return Vec::new();
        };
        let carriers = rules
            .preference
            .carriers(self.rules.network_of(recipient))
            .iter();
        carriers
            .filter_map(|&index| self.carriers.get(index))
            .filter(|name| &***name != carrier)
            .cloned()
            .collect()
    }

    /// Returns when recipients in doubt are sent once more, if their gateway allows it. A resend is
    /// never repeated.
    pub(crate) fn resend_at(&self, gateway: Gateway, batch: &Batch, now_ms: i64) -> Option<i64> {
        match self.rules.leg(gateway, batch.leg)?.in_doubt {
            InDoubt::Resend { hold_ms } if batch.kind != BatchKind::Resend => {
                Some(now_ms + hold_ms)
            }
            InDoubt::Resend { .. } | InDoubt::Hold => None,
        }
    }
}

#[cfg(test)]
mod tests;
