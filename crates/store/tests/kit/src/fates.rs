//! Messages of every kind, for rules about all of them.

use crate::keys::keyed;
use crate::kit::{
    Kit, NOW, Sending, delivered, doubted, fresh, refused, report, sending, taken, two_legs,
    undelivered,
};
use domain::{AccountId, Environment, NodeId};
use store::{AttemptOutcome, Attempted, CarrierReport, Finished, NewMessage, Receipt};

pub const DAY: i64 = 86_400_000;
pub const URL: &str = "https://shop.example.ng/sms";
/// A receiver that refuses every callback.
const DEAD_URL: &str = "https://gone.example.ng/sms";
const DEAD_ORIGIN: &str = "https://gone.example.ng:443";

/// The state that a message has reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Waiting,
    Claimed,
    Sent,
    Doubted,
    HalfDelivered,
    SecondLegWaits,
    SecondLegInHand,
    CallbackDue,
    CallbackClaimed,
    CallbackDead,
    Delivered,
    Refused,
    Refunded,
    Sandbox,
}

impl Fate {
    pub const ALL: [Self; 14] = [
        Self::Waiting,
        Self::Claimed,
        Self::Sent,
        Self::Doubted,
        Self::HalfDelivered,
        Self::SecondLegWaits,
        Self::SecondLegInHand,
        Self::CallbackDue,
        Self::CallbackClaimed,
        Self::CallbackDead,
        Self::Delivered,
        Self::Refused,
        Self::Refunded,
        Self::Sandbox,
    ];

    pub fn is_settled(self) -> bool {
        matches!(
            self,
            Self::CallbackDead | Self::Delivered | Self::Refused | Self::Refunded | Self::Sandbox
        )
    }

    pub fn sending(self, account: AccountId, accepted_at_ms: i64) -> Sending {
        let base = match self {
            Self::SecondLegWaits | Self::SecondLegInHand => two_legs(account),
            _ => Sending {
                recipients: 2,
                ..sending(account)
            },
        };
        Sending {
            accepted_at_ms,
            // Each message has its own numbers, because a receipt finds its recipient by them.
            first_number: usize::try_from(fresh()).unwrap() * 10,
            callback_url: match self {
                Self::CallbackDue | Self::CallbackClaimed => Some(URL),
                Self::CallbackDead => Some(DEAD_URL),
                _ => None,
            },
            environment: match self {
                Self::Sandbox => Environment::Sandbox,
                _ => Environment::Live,
            },
            due_at_ms: match self {
                Self::Waiting => NOW + DAY,
                _ => NOW,
            },
            ..base
        }
    }

    /// Brings a message into this state.
    pub async fn of(self, kit: &Kit, account: AccountId, accepted_at_ms: i64) -> NewMessage {
        let message = self.sending(account, accepted_at_ms).message(&kit.store);
        let name = message.id.to_string();
        let message = keyed(message, &name, 1);
        let claimed = kit.accept_and_claim(&message).await;
        if matches!(self, Self::Waiting | Self::Claimed) {
            return message;
        }
        let progress = match self {
            Self::Doubted => doubted(&claimed[0]),
            Self::Refused => refused(&claimed[0]),
            _ => taken(&claimed[0]),
        };
        let heard = |receipts: Vec<Receipt>| CarrierReport {
            now_ms: accepted_at_ms + 1,
            callback_room: store::CallbackRoom {
                live: usize::from(self == Self::CallbackClaimed) * 10,
                sandbox: 0,
            },
            ..report(vec![], receipts)
        };
        kit.report(report(vec![progress], vec![])).await;
        let to = &message.draft.recipients;
        let receipts = match self {
            Self::HalfDelivered => vec![delivered(to[0])],
            Self::Waiting | Self::Claimed | Self::Sent | Self::Doubted | Self::Refused => vec![],
            Self::SecondLegWaits | Self::SecondLegInHand => vec![undelivered(to[0])],
            Self::Refunded => to.iter().map(|&to| undelivered(to)).collect(),
            _ => to.iter().map(|&to| delivered(to)).collect(),
        };
        kit.report(heard(receipts)).await;
        match self {
            Self::SecondLegInHand => drop(kit.claim(10).await),
            Self::SecondLegWaits => hide_batches(kit).await,
            Self::CallbackDead => kill_callbacks(kit, account).await,
            _ => {}
        }
        message
    }
}

/// Keeps later claims of the test from taking queued batches.
async fn hide_batches(kit: &Kit) {
    kit.run(&format!(
        "update batches set due_at_ms = {} where claimed_by = 0",
        NOW + DAY
    ))
    .await
    .unwrap();
}

/// The receiver has refused for the last time.
async fn kill_callbacks(kit: &Kit, account: AccountId) {
    let of = (
        kit.store.bucket_of(account),
        account,
        domain::Environment::Live,
        DEAD_ORIGIN.to_owned(),
    );
    let due = kit.store.outbox().claim(of, NOW, 10_000, NodeId(1), NOW);
    let dead = due.await.unwrap().into_iter();
    let dead = dead.map(|callback| AttemptOutcome {
        attempted: Some(Attempted {
            made_at_ms: NOW,
            result: "404".to_owned(),
            took_ms: 12,
            answer: "Nobody here".to_owned(),
        }),
        ..AttemptOutcome::new(callback, Finished::Dead)
    });
    kit.store
        .outbox()
        .finish(NodeId(1), dead.collect())
        .await
        .unwrap();
}
