//! Accepting sends: those that arrive together are committed together.
//!
//! There is no linger: whatever arrived while the last commit ran is the next group.

use crate::refusals::Refusals;
use crate::shared::CLAIM_MS;
use crate::{Error, Shared, measure};
use domain::{
    Bucket, Draft, Environment, Fingerprint, Gateway, MessageId, Money, Refusal, SandboxOutcome,
};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::{Accepted, Batch, Claimed, Content, NewMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Most sends in one commit.
const MOST_SENDS: usize = 512;
/// Recipients of a commit after which no further send joins it: nearly as many as a report of a carrier settles, which
/// takes its turn with it. With more, campaigns that are accepted take the time of those that are sent.
const MANY_RECIPIENTS: usize = 3_000;
/// Recipients that may wait for their commit, all sends together: some 8 MB, and some seconds where carriers are busy.
const MOST_WAITING: usize = 500_000;
/// A send to no more than so many waits whatever campaigns do, and joins the next commit; how many of these there are is
/// limited anyway.
const FEW_RECIPIENTS: usize = 10;
/// How long a send waits for its commit.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it waits until that begins. What is accepted later is likely to be answered too late, and is sent again by
/// those who were told that it was not.
const TURN_PATIENCE: Duration = Duration::from_secs(5);
/// While one that was left by the last commit has waited longer, campaigns find no room: the machine is slower than that
/// many recipients, and to understand what will be refused would make it slower still.
const MOST_BEHIND: Duration = Duration::from_millis(2_500);
/// The refusal for want of room, or time.
const UNAVAILABLE: Refusal = Refusal::Unavailable { retry_after_s: 1 };

/// The answer to an accepted send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// Its id.
    pub message_id: MessageId,
    /// What was charged; in the sandbox, what would have been.
    pub cost: Money,
    /// What the wallet holds now; in the sandbox, the simulated wallet.
    pub balance: Money,
    /// Recipients.
    pub recipients_count: usize,
    /// The gateway used.
    pub gateway: Gateway,
    /// Whether it is sent as Unicode.
    pub unicode: bool,
    /// Pages billed per recipient, the largest number.
    pub page_count: i64,
    /// What was in the list and is no recipient.
    pub invalid_recipients: Vec<String>,
}

/// A draft that waits for its commit.
pub(crate) struct Waiting {
    draft: Draft,
    since: Instant,
    _room: OwnedSemaphorePermit,
    answer: oneshot::Sender<Result<Sent, Error>>,
}

/// The door for messages.
#[derive(Clone)]
pub(crate) struct Door {
    queue: mpsc::Sender<Waiting>,
    /// For recipients.
    room: Arc<Semaphore>,
    is_behind: Arc<AtomicBool>,
    refusals: Refusals,
}

impl Door {
    pub(crate) fn open(
        shared: Arc<Shared>,
        capacity: usize,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (queue, waiting) = mpsc::channel(capacity.max(1));
        let door = Self::new(queue);
        let is_behind = Arc::clone(&door.is_behind);
        (door, tokio::spawn(run(shared, waiting, is_behind)))
    }

    fn new(queue: mpsc::Sender<Waiting>) -> Self {
        Self {
            queue,
            room: Arc::new(Semaphore::new(MOST_WAITING)),
            is_behind: Arc::default(),
            refusals: Refusals::default(),
        }
    }

    /// Has refusals for want of room be given at once.
    pub(crate) fn refuse_at_once(&self) {
        self.refusals.end();
    }

    /// Recipients that one more send may have now: a few whatever campaigns do, where the queue has room at all.
    /// Whoever knows that a send has more may spare itself the work of drafting it.
    pub(crate) fn room(&self) -> usize {
        let room = if self.queue.capacity() == 0 || self.is_behind.load(Ordering::Relaxed) {
            0
        } else {
            self.room.available_permits()
        };
        room.max(FEW_RECIPIENTS)
    }

    /// The refusal for want of room, when it is its turn.
    pub(crate) async fn refuse(&self) -> Refusal {
        self.refusals.wait().await;
        UNAVAILABLE
    }

    /// Waits until the draft is a durable message, or is refused. A full queue refuses when it is its turn
    /// ([`Refusals`]), and nothing is kept of the draft until then; a database that does not answer refuses after a
    /// while: what has not begun by then is not accepted any more, and what has is found by its fingerprint when it
    /// is sent again.
    pub(crate) async fn send(&self, draft: Draft) -> Result<Sent, Error> {
        let (answer, result) = oneshot::channel();
        if !self.admit(draft, answer) {
            return Err(self.refuse().await.into());
        }
        in_time(result).await
    }

    /// Queues a draft where there is room, or drops it.
    fn admit(&self, draft: Draft, answer: oneshot::Sender<Result<Sent, Error>>) -> bool {
        let recipients = match draft.recipients.len() {
            ..=FEW_RECIPIENTS => 0,
            _ if self.is_behind.load(Ordering::Relaxed) => return false,
            many => u32::try_from(many).unwrap_or(u32::MAX),
        };
        let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(recipients) else {
            return false;
        };
        let waiting = Waiting {
            draft,
            since: Instant::now(),
            answer,
            _room: room,
        };
        let admitted = self.queue.try_send(waiting).is_ok();
        if admitted {
            self.refusals.admitted();
        }
        admitted
    }
}

/// What is answered of a send within its time. Where nobody is left to answer, the process is about to end and the
/// send may stand: to refuse it would not be true.
async fn in_time<T>(result: oneshot::Receiver<Result<T, Error>>) -> Result<T, Error> {
    let answer = async {
        match result.await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::time::timeout(PATIENCE, answer)
        .await
        .unwrap_or_else(|_| Err(UNAVAILABLE.into()))
}

/// The steering numbers of the sandbox that refuse a send; `limit` is the rate that such a refusal names.
pub(crate) fn steer(draft: &Draft, limit: u32) -> Result<(), Refusal> {
    if draft.environment == Environment::Live {
        return Ok(());
    }
    let refused =
        draft
            .recipients
            .iter()
            .find_map(|recipient| match recipient.sandbox_outcome()? {
                SandboxOutcome::RefuseFunds => Some(Refusal::InsufficientFunds {
                    needed: draft.cost,
                    available: Money::ZERO,
                }),
                SandboxOutcome::RefuseUnavailable => Some(UNAVAILABLE),
                SandboxOutcome::RefuseRate => Some(Refusal::RateLimited {
                    limit,
                    retry_after_s: 60,
                }),
                SandboxOutcome::Delivered
                | SandboxOutcome::Undelivered
                | SandboxOutcome::Expired
                | SandboxOutcome::Rejected
                | SandboxOutcome::Pending
                | SandboxOutcome::Failed => None,
            });
    refused.map_or(Ok(()), Err)
}

async fn run(shared: Arc<Shared>, mut queue: mpsc::Receiver<Waiting>, is_behind: Arc<AtomicBool>) {
    let mut received = Vec::with_capacity(MOST_SENDS);
    let mut left: VecDeque<Waiting> = VecDeque::new();
    loop {
        if left.is_empty() && queue.recv_many(&mut received, MOST_SENDS).await == 0 {
            return;
        }
        while received.len() < MOST_SENDS
            && let Ok(waiting) = queue.try_recv()
        {
            received.push(waiting);
        }
        left.extend(received.drain(..));
        let now = Instant::now();
        let group = group(&mut left, now);
        is_behind.store(waited(&left, now) > MOST_BEHIND, Ordering::Relaxed);
        accept(&shared, group).await;
    }
}

/// How long the first of those that are left has waited.
fn waited(left: &VecDeque<Waiting>, now: Instant) -> Duration {
    let first = left.front();
    first.map_or(Duration::ZERO, |first| {
        now.saturating_duration_since(first.since)
    })
}

/// Takes out the next group: no two sends with the same fingerprint, since only the outcome of the first
/// tells whether the second is a duplicate. Sends to a few overtake campaigns. What has waited too long is refused.
fn group(left: &mut VecDeque<Waiting>, now: Instant) -> Vec<Waiting> {
    let mut group: Vec<Waiting> = Vec::with_capacity(left.len().min(MOST_SENDS));
    let mut fingerprints: HashSet<Fingerprint> = HashSet::new();
    let mut recipients = 0;
    let mut later = VecDeque::new();
    while let Some(waiting) = left.pop_front() {
        if waiting.answer.is_closed() {
            // Nobody waits for it: it was answered that it was not accepted.
            continue;
        }
        if now.saturating_duration_since(waiting.since) > TURN_PATIENCE {
            let _ = waiting.answer.send(Err(UNAVAILABLE.into()));
            continue;
        }
        let is_campaign = waiting.draft.recipients.len() > FEW_RECIPIENTS;
        let full = group.len() >= MOST_SENDS || (is_campaign && recipients >= MANY_RECIPIENTS);
        if full || !fingerprints.insert(waiting.draft.fingerprint) {
            later.push_back(waiting);
        } else {
            recipients += waiting.draft.recipients.len();
            group.push(waiting);
        }
    }
    *left = later;
    group
}

/// A send on its way through the commit.
struct Entering {
    draft: Arc<Draft>,
    id: MessageId,
    batches: Vec<Batch>,
    answer: oneshot::Sender<Result<Sent, Error>>,
}

/// Accepts a group: those of one bucket in one commit.
async fn accept(shared: &Arc<Shared>, group: Vec<Waiting>) {
    let now_ms = match shared.followed_ms().await {
        Ok(now_ms) => now_ms,
        Err(error) => {
            tracing::error!(%error, "duplicate windows are not where the clock is yet");
            shared.clock.now_ms()
        }
    };
    let mut buckets: BTreeMap<Bucket, Vec<Entering>> = BTreeMap::new();
    let is_few = |waiting: &Waiting| waiting.draft.recipients.len() <= FEW_RECIPIENTS;
    let few = group.iter().filter(|&waiting| is_few(waiting)).count();
    if few > 0 {
        shared.turns.hurry(shared.clock.now_ms(), few);
    }
    for waiting in group {
        let bucket = shared.store.bucket_of(waiting.draft.account);
        let entering = enter(shared, waiting, bucket, now_ms);
        buckets.entry(bucket).or_default().push(entering);
    }
    if buckets.len() == 1 {
        for entering in buckets.into_values() {
            accept_together(shared, entering, now_ms).await;
        }
        return;
    }
    let mut commits = JoinSet::new();
    for entering in buckets.into_values() {
        let shared = Arc::clone(shared);
        commits.spawn(async move { accept_together(&shared, entering, now_ms).await });
    }
    commits.join_all().await;
}

async fn accept_together(shared: &Arc<Shared>, entering: Vec<Entering>, now_ms: i64) {
    let messages = entering
        .iter()
        .map(|entering| NewMessage {
            id: entering.id,
            draft: Arc::clone(&entering.draft),
            terms: shared.plan.terms(entering.draft.gateway),
            batches: entering.batches.clone(),
        })
        .collect();
    measure::accept_group(entering.len());
    match shared.store.accept(now_ms, messages).await {
        Ok(answers) => {
            let both = entering.iter().zip(&answers);
            let accepted = both.filter(|(_, answer)| matches!(answer, Accepted::Yes { .. }));
            measure::accepted(
                accepted.map(|(entering, _)| &*entering.draft),
                shared.clock.now_ms() - now_ms,
            );
            for (entering, answer) in entering.into_iter().zip(answers) {
                answered(shared, entering, answer);
            }
        }
        // The process is about to end, and the next one will know: no answer is the true one.
        Err(error) if error.is_unknown() => std::future::pending().await,
        Err(error) => {
            let error = Arc::new(error);
            for entering in entering {
                give_back(shared, &entering.batches);
                let _ = entering.answer.send(Err(Error::Store(Arc::clone(&error))));
            }
        }
    }
}

/// Makes the batches of a send. Those for which their carrier has room now are claimed with the commit
/// itself, and go out as soon as it is durable.
fn enter(shared: &Shared, waiting: Waiting, bucket: Bucket, now_ms: i64) -> Entering {
    let draft = waiting.draft;
    let id = shared.message_ids.next(now_ms);
    let mut batches = shared.plan.batches(&draft, bucket, id, now_ms);
    for batch in &mut batches {
        let carrier = shared.carrier(&batch.carrier);
        let able = batch.due_at_ms <= now_ms && shared.nodes.holds();
        if able && carrier.is_some_and(|carrier| carrier.try_take(batch)) {
            batch.claimed_by = shared.node;
            batch.claimed_until_ms = now_ms + CLAIM_MS;
        }
    }
    Entering {
        draft: Arc::new(draft),
        id,
        batches,
        answer: waiting.answer,
    }
}

fn answered(shared: &Shared, entering: Entering, answer: Accepted) {
    let Entering {
        draft,
        id,
        batches,
        answer: sender,
    } = entering;
    let balance = match answer {
        Accepted::No(refusal) => {
            give_back(shared, &batches);
            let _ = sender.send(Err(refusal.into()));
            return;
        }
        Accepted::Yes { balance } => balance,
    };
    dispatch(shared, &draft, batches);
    let sandbox = draft.environment == Environment::Sandbox;
    let sent = Sent {
        message_id: id,
        cost: draft.cost,
        balance: if sandbox {
            crate::sandbox::purse().total()
        } else {
            balance
        },
        recipients_count: draft.recipients.len(),
        gateway: draft.gateway,
        unicode: draft.text.alphabet() == domain::Alphabet::Ucs2,
        page_count: draft.page_count,
        invalid_recipients: draft.invalid.clone(),
    };
    // Whoever asked may have gone; the message stands all the same.
    let _ = sender.send(Ok(sent));
}

fn dispatch(shared: &Shared, draft: &Draft, batches: Vec<Batch>) {
    let content = Arc::new(Content {
        account: draft.account,
        environment: draft.environment,
        gateway: draft.gateway,
        sender: draft.sender.clone(),
        body: draft.text.as_str().to_owned(),
    });
    for batch in batches {
        let Some(carrier) = shared.carrier(&batch.carrier) else {
            continue;
        };
        if batch.claimed_by == shared.node {
            carrier.hand(Claimed {
                batch,
                content: Arc::clone(&content),
            });
        } else {
            shared.arrived(carrier);
        }
    }
}

fn give_back(shared: &Shared, batches: &[Batch]) {
    for batch in batches
        .iter()
        .filter(|batch| batch.claimed_by == shared.node)
    {
        if let Some(carrier) = shared.carrier(&batch.carrier) {
            carrier.budget.give(batch.recipients.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{AccountId, Priority, Recipient, Text};
    use tokio::time::{advance, timeout};

    /// A send to so many.
    fn draft(recipients: usize) -> Draft {
        Draft {
            account: AccountId(1),
            environment: Environment::Live,
            gateway: Gateway::Otp,
            sender: "Ada".to_owned(),
            text: Text::from_stored("Hello".to_owned()),
            recipients: vec![Recipient::from_digits(2_348_031_234_567); recipients],
            invalid: Vec::new(),
            classes: Vec::new(),
            page_count: 1,
            cost: Money::ZERO,
            priority: Priority::Otp,
            callback_url: None,
            customer_reference: None,
            fingerprint: Fingerprint::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sends_wait_as_long_as_there_is_room_for_their_recipients() {
        let (queue, mut waiting) = mpsc::channel(100);
        let door = Door::new(queue);
        let admitted = |recipients| door.admit(draft(recipients), oneshot::channel().0);
        for _ in 0..10 {
            assert!(admitted(MOST_WAITING / 10));
        }
        assert!(!admitted(FEW_RECIPIENTS + 1));
        assert!(admitted(FEW_RECIPIENTS));
        let refused = door.send(draft(100)).await;
        assert!(matches!(refused, Err(Error::Refused(UNAVAILABLE))));
        drop(waiting.recv().await);
        assert!(admitted(MOST_WAITING / 10));
        assert!(!admitted(100));
    }

    #[test]
    fn what_has_more_recipients_than_there_is_room_for_is_not_admitted() {
        let (queue, _waiting) = mpsc::channel(3);
        let door = Door::new(queue);
        let admitted = |recipients| door.admit(draft(recipients), oneshot::channel().0);
        assert_eq!(door.room(), MOST_WAITING);
        assert!(admitted(MOST_WAITING - 100));
        assert_eq!(door.room(), 100);
        assert!(!admitted(101));
        assert!(admitted(100));
        assert_eq!(door.room(), FEW_RECIPIENTS);
        assert!(!admitted(FEW_RECIPIENTS + 1));
        assert!(admitted(FEW_RECIPIENTS));

        let (queue, _waiting) = mpsc::channel(1);
        let door = Door::new(queue);
        assert!(door.admit(draft(1), oneshot::channel().0));
        assert_eq!(door.room(), FEW_RECIPIENTS, "the queue has no room");
    }

    #[test]
    fn campaigns_find_no_room_while_others_wait_long() {
        let (queue, _waiting) = mpsc::channel(100);
        let door = Door::new(queue);
        let admitted = |recipients| door.admit(draft(recipients), oneshot::channel().0);
        door.is_behind.store(true, Ordering::Relaxed);
        assert_eq!(door.room(), FEW_RECIPIENTS);
        assert!(!admitted(FEW_RECIPIENTS + 1));
        assert!(admitted(FEW_RECIPIENTS));
        door.is_behind.store(false, Ordering::Relaxed);
        assert!(admitted(FEW_RECIPIENTS + 1));
    }

    #[tokio::test]
    async fn a_few_do_not_wait_for_the_campaigns_before_them() {
        let (queue, mut waiting) = mpsc::channel(100);
        let door = Door::new(queue);
        let mut answers = Vec::new();
        for (number, recipients) in [2_000, 2_000, 2_000, 10, 11, 1].into_iter().enumerate() {
            let (answer, asked) = oneshot::channel();
            let mut draft = draft(recipients);
            draft.fingerprint[0] = u8::try_from(number).unwrap();
            assert!(door.admit(draft, answer));
            answers.push(asked);
        }
        let mut left = VecDeque::new();
        while let Ok(next) = waiting.try_recv() {
            left.push_back(next);
        }
        let mut next = || {
            let group = group(&mut left, Instant::now());
            let sizes = group.iter().map(|one| one.draft.recipients.len());
            sizes.collect::<Vec<_>>()
        };
        assert_eq!(next(), [2_000, 2_000, 10, 1]);
        assert_eq!(next(), [2_000, 11]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_waited_too_long_is_refused_and_not_begun() {
        let (queue, mut waiting) = mpsc::channel(100);
        let door = Door::new(queue);
        let (late, mut refused) = oneshot::channel();
        assert!(door.admit(draft(1), late));
        advance(TURN_PATIENCE).await;
        let (soon, mut begun) = oneshot::channel();
        let mut other = draft(2);
        other.fingerprint[0] = 1;
        assert!(door.admit(other, soon));
        let mut left: VecDeque<_> =
            [waiting.try_recv().unwrap(), waiting.try_recv().unwrap()].into();
        let group = group(&mut left, Instant::now() + Duration::from_millis(1));
        assert_eq!(group.len(), 1);
        assert_eq!(group[0].draft.recipients.len(), 2);
        assert_eq!(
            waited(&left, Instant::now()),
            Duration::ZERO,
            "nothing is left"
        );
        assert!(matches!(
            refused.try_recv(),
            Ok(Err(Error::Refused(UNAVAILABLE)))
        ));
        assert!(begun.try_recv().is_err(), "it has no answer yet");
    }

    #[tokio::test(start_paused = true)]
    async fn a_send_that_may_stand_is_not_refused_when_the_process_ends() {
        let (answer, result) = oneshot::channel::<Result<(), Error>>();
        drop(answer);
        let began = Instant::now();
        let refused = timeout(2 * PATIENCE, in_time(result)).await.unwrap();
        assert!(matches!(
            refused,
            Err(Error::Refused(Refusal::Unavailable { .. }))
        ));
        assert_eq!(began.elapsed(), PATIENCE, "not before its time is over");
    }
}
