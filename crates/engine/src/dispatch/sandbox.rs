//! The simulated carrier of the sandbox. It uses the same path as a real carrier, without a
//! network.
//!
//! A submit is answered after about a second, and its receipt follows at once. Its batch stays
//! claimed until then, so a crash loses nothing.

use super::transport::{LinkEvent, SandboxSession};
use crate::context::random::Random;
use domain::{Recipient, SandboxOutcome};
use smpp::{DeliverSm, Event, ReceiptState, Submit, SubmitOutcome, SubmitSm, Tlv, esm_class, tag};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Delay of the simulated responses.
const RESPONSE_DELAY: Duration = Duration::from_secs(1);
/// Starts the simulated carrier.
pub(crate) fn start(events: mpsc::Sender<LinkEvent>, random: Random) -> SandboxSession {
    // The budget of the carrier bounds this channel.
    let (orders, received) = mpsc::unbounded_channel();
    tokio::spawn(simulate(received, events, random));
    SandboxSession::new(orders)
}

async fn simulate(
    mut orders: mpsc::UnboundedReceiver<Vec<Submit>>,
    events: mpsc::Sender<LinkEvent>,
    random: Random,
) {
    let mut answers = JoinSet::new();
    while let Some(submits) = orders.recv().await {
        if submits.is_empty() {
            break;
        }
        while answers.try_join_next().is_some() {}
        let (events, random) = (events.clone(), random.clone());
        answers.spawn(async move {
            tokio::time::sleep(RESPONSE_DELAY).await;
            // The channel is closed when the engine has ended. The batch is claimed and will be
            // sent again.
            let _ = events
                .send(LinkEvent::Events {
                    link: 0,
                    events: outcomes(submits, &random),
                })
                .await;
        });
    }
    // These tasks are cancelled when the process ends. Their batches are sent again.
    while answers.join_next().await.is_some() {}
    let _ = events.send(LinkEvent::Down { link: 0 }).await;
}

fn outcomes(submits: Vec<Submit>, random: &Random) -> Vec<Event> {
    let mut receipts = Vec::new();
    let mut events: Vec<Event> = submits
        .into_iter()
        .map(|submit| {
            // Message ids must be unique, also for several messages to one number.
            let message_id = format!("{:016x}", random.number());
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

/// Returns the receipt of a number. Steering numbers choose its state, and all others are
/// delivered.
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
