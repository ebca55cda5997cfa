//! The simulated carrier of the sandbox: the same path as a real one, without the world behind it.
//!
//! A message is answered about a second after it came, and its receipt follows at once. Until then its batch
//! is in hand, so a process that dies in between loses nothing.

use super::bind::LinkEvent;
use crate::context::random::Chance;
use domain::{Component, Money, Purse, Recipient, SandboxOutcome};
use smpp::{DeliverSm, Event, ReceiptState, Submit, SubmitOutcome, SubmitSm, Tlv, esm_class, tag};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long the simulated carrier takes.
const TAKES: Duration = Duration::from_secs(1);
/// Recipients that the simulated carrier may have in hand.
pub(crate) const WINDOW: usize = 10_000;

/// The way to the simulated carrier.
#[derive(Clone)]
pub(crate) struct Wire {
    orders: mpsc::UnboundedSender<Vec<Submit>>,
}

impl Wire {
    /// Starts the simulated carrier.
    pub(crate) fn start(events: mpsc::Sender<LinkEvent>, chance: Chance) -> Self {
        // No more comes in than the carrier's budget lets out.
        let (orders, received) = mpsc::unbounded_channel();
        tokio::spawn(simulate(received, events, chance));
        Self { orders }
    }

    pub(crate) fn submit(&self, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        self.orders.send(submits).map_err(|error| error.0)
    }

    /// An empty order ends the simulation once all before it are done.
    pub(crate) fn unbind(&self) {
        let _ = self.orders.send(Vec::new());
    }
}

async fn simulate(
    mut orders: mpsc::UnboundedReceiver<Vec<Submit>>,
    events: mpsc::Sender<LinkEvent>,
    chance: Chance,
) {
    let mut answers = JoinSet::new();
    while let Some(submits) = orders.recv().await {
        if submits.is_empty() {
            break;
        }
        while answers.try_join_next().is_some() {}
        let (events, chance) = (events.clone(), chance.clone());
        answers.spawn(async move {
            tokio::time::sleep(TAKES).await;
            // An error means that the engine has closed: the batch is in hand and comes again.
            let _ = events
                .send(LinkEvent::Events {
                    link: 0,
                    events: outcomes(submits, &chance),
                })
                .await;
        });
    }
    // Where the process ends they are cancelled: what is in hand comes again.
    while answers.join_next().await.is_some() {}
    let _ = events.send(LinkEvent::Down { link: 0 }).await;
}

fn outcomes(submits: Vec<Submit>, chance: &Chance) -> Vec<Event> {
    let mut receipts = Vec::new();
    let mut events: Vec<Event> = submits
        .into_iter()
        .map(|submit| {
            // Carrier ids must differ between messages that the same number gets.
            let message_id = format!("{:016x}", chance.number());
            receipts.extend(
                receipt(&submit.pdu, &message_id).map(|deliver| Event::Deliver {
                    sequence: 0,
                    deliver: Box::new(deliver),
                }),
            );
            Event::Submitted {
                tag: submit.tag,
                outcome: SubmitOutcome::Accepted { message_id },
            }
        })
        .collect();
    events.append(&mut receipts);
    events
}

/// The receipt for a number: as the steering numbers say, delivered for all others.
fn receipt(submit: &SubmitSm, message_id: &str) -> Option<DeliverSm> {
    let recipient = Recipient::from_digits(submit.destination.digits.parse().ok()?);
    let state = match recipient.sandbox_outcome() {
        None | Some(SandboxOutcome::Delivered) => ReceiptState::Delivered,
        Some(SandboxOutcome::Undelivered) => ReceiptState::Undeliverable,
        Some(SandboxOutcome::Expired) => ReceiptState::Expired,
        Some(SandboxOutcome::Rejected) => ReceiptState::Rejected,
        Some(SandboxOutcome::Failed) => ReceiptState::Deleted,
        Some(
            SandboxOutcome::Pending
            | SandboxOutcome::RefuseFunds
            | SandboxOutcome::RefuseUnavailable
            | SandboxOutcome::RefuseRate,
        ) => return None,
    };
    Some(DeliverSm {
        source: submit.destination.clone(),
        destination: submit.source.clone(),
        esm_class: esm_class::RECEIPT,
        tlvs: vec![
            Tlv::new(tag::RECEIPTED_MESSAGE_ID, message_id.to_owned()),
            Tlv::new(tag::MESSAGE_STATE, vec![state.number()]),
        ],
        ..DeliverSm::default()
    })
}

/// What the sandbox says the wallet holds. It never changes: the sandbox has no wallet.
pub(crate) fn purse() -> Purse {
    Purse::from_iter([(Component::SmsWallet, Money::from_naira(10_000))])
}
