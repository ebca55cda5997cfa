//! The receipts and inbound messages for one client. Both are called receipts here. It claims as many
//! as its window takes, and commits the outcomes of the answers in groups. So the window bounds the
//! receipts in memory.

use super::done::Done;
use super::{inbound, receipt};
use domain::smpp_receipt::{MAX_ATTEMPTS, user_of};
use engine::{Error, HeldReceipts, Outage, SmppReceiver};
use smpp::CommandStatus;
use smpp::server::ServerSession;
use std::time::Duration;
use store::{AttemptOutcome, Callback, CallbackEvent, Finished};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Period of the claims without a hint.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Pause after the client has no room.
const FULL_PAUSE: Duration = Duration::from_secs(10);
/// Maximum number of receipts in one claim.
const CLAIM_BATCH_SIZE: usize = 500;
/// Answers of clients that have no room now. Any other is a receipt's end.
const FULL: [CommandStatus; 3] = [
    CommandStatus::RMSGQFUL,
    CommandStatus::RTHROTTLED,
    CommandStatus::RX_T_APPN,
];
/// Outage of the claims, over all connections.
static CLAIMS: Outage = Outage::of("receipts for SMPP users cannot be claimed");

/// The session of a client.
type Session = ServerSession<Box<Callback>>;

/// The receipts for one client.
pub(super) struct Receiving {
    receiver: SmppReceiver,
    /// Maximum number of receipts in hand.
    window: usize,
    /// Number of receipts whose outcome is not committed.
    in_hand: usize,
    /// `true` while a receipt is in hand that was not answered before. It is alone, so that one that
    /// the client cannot read does not take others with it.
    is_alone: bool,
    is_claiming: bool,
    is_committing: bool,
    outcomes: Vec<AttemptOutcome>,
    next_claim: Instant,
    /// The end of the pause of a client without room. No claim is made before it.
    full_until: Option<Instant>,
}

impl Receiving {
    pub(super) fn new(receiver: SmppReceiver, window: usize, now: Instant) -> Self {
        Self {
            receiver,
            window,
            in_hand: 0,
            is_alone: false,
            is_claiming: false,
            is_committing: false,
            outcomes: Vec::new(),
            next_claim: now,
            full_until: None,
        }
    }

    /// Waits for a hint that receipts wait.
    pub(super) async fn hinted(&mut self) {
        self.receiver.hinted().await;
    }

    /// Returns `true` if the next claim is not due.
    pub(super) fn waits(&self, now: Instant) -> bool {
        self.due() > now
    }

    /// Sets the time of the next claim.
    pub(super) const fn claim_at(&mut self, at: Instant) {
        self.next_claim = at;
    }

    /// Returns the time of the next claim, or `None` if there is no room for more receipts.
    pub(super) fn next_claim(&self, session: &Session) -> Option<Instant> {
        (self.room(session) > 0).then_some(self.due())
    }

    /// Begins a claim if one is due.
    pub(super) fn claim(&mut self, session: &Session, work: &mut JoinSet<Done>, now: Instant) {
        let limit = self.room(session);
        if limit == 0 || self.waits(now) {
            return;
        }
        self.is_claiming = true;
        let receiver = self.receiver.clone();
        work.spawn(async move { Done::Claimed(limit, receiver.claim(limit).await) });
    }

    /// Begins the commit of the outcomes that have come since the last one.
    pub(super) fn commit(&mut self, work: &mut JoinSet<Done>) {
        if self.is_committing || self.outcomes.is_empty() {
            return;
        }
        self.is_committing = true;
        let (receiver, outcomes) = (self.receiver.clone(), std::mem::take(&mut self.outcomes));
        let receipts = outcomes.len();
        // The commit goes on if the session ends meanwhile.
        let commit = tokio::spawn(async move { receiver.finish(outcomes).await });
        work.spawn(async move {
            let _ = commit.await;
            Done::Finished(receipts)
        });
    }

    /// Writes claimed receipts.
    pub(super) fn on_claimed(
        &mut self,
        limit: usize,
        claimed: Result<HeldReceipts, Error>,
        session: &mut Session,
        now: Instant,
    ) {
        self.is_claiming = false;
        self.next_claim = now + POLL_INTERVAL;
        let Some(held) = CLAIMS.note(claimed) else {
            return;
        };
        // A session that has ended meanwhile takes none, and the claim is released.
        if session.available(usize::MAX) == 0 {
            return;
        }
        let receipts = held.take();
        if receipts.len() == limit || receipts.iter().any(|one| one.attempts > 0) {
            self.next_claim = now;
        }
        for receipt in receipts {
            self.write(receipt, session, now);
        }
    }

    /// Notes that outcomes are committed.
    pub(super) const fn on_committed(&mut self, receipts: usize) {
        self.is_committing = false;
        self.in_hand = self.in_hand.saturating_sub(receipts);
        if self.in_hand == 0 {
            self.is_alone = false;
        }
    }

    /// Notes the answer to a receipt. An answer of any kind ends it, unless the client has no room.
    pub(super) fn answered(&mut self, receipt: Callback, status: CommandStatus, now: Instant) {
        let is_full = FULL.contains(&status);
        let finished = if is_full {
            Finished::Untouched
        } else {
            Finished::Done
        };
        if is_full {
            self.full_until = Some(now + FULL_PAUSE);
        }
        self.outcomes.push(AttemptOutcome::new(receipt, finished));
    }

    /// Notes receipts that the client did not answer in time.
    pub(super) fn unanswered(&mut self, receipts: impl IntoIterator<Item = Box<Callback>>) {
        let outcomes = receipts.into_iter().map(|receipt| unanswered(*receipt));
        self.outcomes.extend(outcomes);
    }

    /// Puts back the receipts without an answer, and commits all outcomes. If this side ended the
    /// session, the client has not failed.
    pub(super) fn leave(
        mut self,
        receipts: impl IntoIterator<Item = Box<Callback>>,
        is_unbinding: bool,
    ) {
        if is_unbinding {
            let untouched = receipts.into_iter();
            let untouched = untouched.map(|one| AttemptOutcome::new(*one, Finished::Untouched));
            self.outcomes.extend(untouched);
        } else {
            self.unanswered(receipts);
        }
        tokio::spawn(async move { self.receiver.finish(self.outcomes).await });
    }

    /// Returns the time of the next claim. Neither a hint nor an earlier claim shortens the pause of a
    /// client without room.
    fn due(&self) -> Instant {
        let pause = self.full_until.unwrap_or(self.next_claim);
        self.next_claim.max(pause)
    }

    /// Returns how many receipts may be claimed now.
    fn room(&self, session: &Session) -> usize {
        if self.is_claiming || self.is_alone {
            return 0;
        }
        let free = self.window.saturating_sub(self.in_hand);
        let room = free.min(session.available(self.window));
        room.min(CLAIM_BATCH_SIZE)
    }

    fn write(&mut self, receipt: Callback, session: &mut Session, now: Instant) {
        self.in_hand += 1;
        self.is_alone |= receipt.attempts > 0;
        let written = match &receipt.event {
            CallbackEvent::Receipt(content) => receipt::write(&receipt, content, |message| {
                session.deliver(Box::new(receipt.clone()), message, now)
            }),
            CallbackEvent::Inbound(message) => inbound::write(message, |message| {
                session.deliver(Box::new(receipt.clone()), message, now)
            }),
            CallbackEvent::Delivery { .. } | CallbackEvent::LowBalance(_) => {
                Err(CommandStatus::RSYSERR)
            }
        };
        if written.is_err() {
            let dead = AttemptOutcome::new(receipt, Finished::GivenUp);
            self.outcomes.push(dead);
        }
    }
}

/// Returns the outcome of a receipt without an answer.
fn unanswered(receipt: Callback) -> AttemptOutcome {
    let is_last = receipt.attempts + 1 >= MAX_ATTEMPTS;
    if is_last {
        tracing::warn!(
            smpp.system_id = user_of(&receipt.origin),
            message = %receipt.message,
            attempts = MAX_ATTEMPTS,
            "SMPP receipt: dead, the client does not answer it"
        );
    }
    let finished = if is_last {
        Finished::Dead
    } else {
        Finished::Retry {
            at_ms: receipt.due_at_ms,
        }
    };
    AttemptOutcome::new(receipt, finished)
}
