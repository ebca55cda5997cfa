//! The bounded queue of sends that wait for their accept commit.

use super::campaign_limit::CampaignLimit;
use super::keyed::{Answered, PendingKey};
use super::limits::{MAX_QUEUED_RECIPIENTS, SMALL_SEND_RECIPIENTS};
use super::queued_send::{CommitRace, QueuedSend, UNAVAILABLE};
use crate::admit::velocity::Counted;
use crate::context::live::Live;
use crate::error::Error;
use domain::{Draft, Refusal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

/// Longest wait of a client for its commit.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The sender half of the accept queue.
#[derive(Clone)]
pub(crate) struct AcceptQueue {
    queue: mpsc::Sender<QueuedSend>,
    /// One permit for each recipient that may be queued.
    capacity: Arc<Semaphore>,
    campaign_limit: CampaignLimit,
}

impl AcceptQueue {
    /// Opens a queue for `capacity` sends. Returns both halves.
    pub(crate) fn open(capacity: usize) -> (Self, mpsc::Receiver<QueuedSend>) {
        let (queue, queued) = mpsc::channel(capacity.max(1));
        (Self::new(queue), queued)
    }

    /// Returns the limit of queued recipients of campaigns.
    pub(crate) fn campaign_limit(&self) -> CampaignLimit {
        self.campaign_limit.clone()
    }

    fn new(queue: mpsc::Sender<QueuedSend>) -> Self {
        Self {
            queue,
            capacity: Arc::new(Semaphore::new(MAX_QUEUED_RECIPIENTS)),
            campaign_limit: CampaignLimit::default(),
        }
    }

    /// Load shedding: refuses a send that is not parsed yet while the queue is full.
    pub(crate) fn check_capacity(&self) -> Result<(), Refusal> {
        if self.queue.capacity() == 0 {
            return Err(UNAVAILABLE);
        }
        Ok(())
    }

    /// Returns `true` if the queue is too long for one more campaign.
    fn is_full_for_campaigns(&self) -> bool {
        let queued = MAX_QUEUED_RECIPIENTS - self.capacity.available_permits();
        self.campaign_limit.is_exceeded_by(queued)
    }

    /// Waits until the draft is a durable message, or is refused. A full queue refuses it at once.
    /// After [`SEND_TIMEOUT`] it is refused if its commit has not begun, and is then never
    /// accepted. If the commit has begun, the outcome is unknown, which the refusal states.
    pub(crate) async fn send(
        &self,
        draft: Draft,
        live: Arc<Live>,
        counted: Option<Counted>,
        key: Option<PendingKey>,
    ) -> Result<Answered, Error> {
        let (answer, result) = oneshot::channel();
        let Some(race) = self.admit(draft, live, counted, key, answer) else {
            return Err(UNAVAILABLE.into());
        };
        in_time(result, &race).await
    }

    /// Queues a draft, or drops it and returns `None` if the queue is full.
    fn admit(
        &self,
        draft: Draft,
        live: Arc<Live>,
        counted: Option<Counted>,
        key: Option<PendingKey>,
        answer: oneshot::Sender<Result<Answered, Error>>,
    ) -> Option<CommitRace> {
        let recipients = match draft.recipients.len() {
            ..=SMALL_SEND_RECIPIENTS => 0,
            _ if self.is_full_for_campaigns() => return None,
            many => u32::try_from(many).unwrap_or(u32::MAX),
        };
        let capacity = Arc::clone(&self.capacity)
            .try_acquire_many_owned(recipients)
            .ok()?;
        let race = CommitRace::default();
        let send = QueuedSend {
            draft,
            live,
            counted,
            queued_at: Instant::now(),
            race: race.clone(),
            key,
            answer,
            _capacity: capacity,
        };
        self.queue.try_send(send).ok()?;
        Some(race)
    }
}

/// Returns the answer to a send, or a refusal at its timeout. A closed channel means that the
/// process is about to end. The send may have been accepted, so it is not refused.
async fn in_time<T>(
    result: oneshot::Receiver<Result<T, Error>>,
    race: &CommitRace,
) -> Result<T, Error> {
    let answer = async {
        match result.await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::time::timeout(SEND_TIMEOUT, answer)
        .await
        .unwrap_or_else(|_| Err(race.time_out().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::campaign_limit::RateSample;
    use crate::accept::group::take_group;
    use crate::accept::limits::{FULL_COMMIT_RECIPIENTS, QUEUE_TIMEOUT};
    use crate::accept::queued_send::RETRY_AFTER_S;
    use crate::admit::velocity::tests::without_database;
    use crate::context::payments::Payments;
    use crate::context::plan::Plan;
    use crate::context::random::Numbers;
    use crate::context::random::Random;
    use crate::settings::{InboundSettings, Limits, PaymentSettings, Retention};
    use domain::Fingerprint;
    use domain::MessageId;
    use domain::{
        AccountId, CodeWords, Environment, Gateway, Money, NumberPlan, Priority, Recipient,
        Rulebook, Text,
    };
    use std::collections::VecDeque;
    use tokio::time::{advance, timeout};

    fn message() -> MessageId {
        MessageId::new(0, [7; 10])
    }

    fn outcome_unknown() -> Refusal {
        Refusal::OutcomeUnknown {
            message: message(),
            retry_after_s: RETRY_AFTER_S,
        }
    }

    fn refusal<T>(answer: Result<T, Error>) -> Refusal {
        match answer {
            Err(Error::Refused(refusal)) => refusal,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it was accepted"),
        }
    }

    fn live() -> Arc<Live> {
        let rules = Rulebook {
            plan: NumberPlan::nigeria(),
            carriers: Vec::new(),
            gateways: Vec::new(),
            code_words: CodeWords::standard(),
            max_recipients: 1,
            private_callbacks: false,
        };
        Arc::new(Live {
            plan: Plan::new(rules, Numbers::new(0, &Random::seeded(1))),
            carriers: Vec::new(),
            limits: Limits::default(),
            retention: Retention::default(),
            inbound: InboundSettings::default(),
            payments: Arc::new(Payments {
                settings: PaymentSettings::default(),
                providers: Vec::new(),
            }),
            mail: None,
            sessions: domain::user::session::SessionLimits::default(),
        })
    }

    /// Returns a draft with so many recipients.
    fn draft(recipients: usize) -> Draft {
        Draft {
            account: AccountId(1),
            environment: Environment::Live,
            gateway: Gateway::Otp,
            sender: "Ada".to_owned(),
            text: Text::from_stored("Hello".to_owned()),
            recipients: vec![Recipient::from_digits(2_348_031_234_567); recipients],
            invalid: Vec::new(),
            invalid_count: 0,
            left_out: domain::opt_out::LeftOut::default(),
            adjustments: domain::Adjustments::default(),
            classes: Vec::new(),
            page_count: 1,
            cost: Money::ZERO,
            parent: None,
            priority: Priority::Otp,
            due_at_ms: None,
            texts: None,
            validity_s: None,
            otp: None,
            callback_url: None,
            customer_reference: None,
            receipts: None,
            fingerprint: Fingerprint::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sends_are_queued_up_to_the_limit_of_recipients() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let admitted = |recipients| {
            accepting
                .admit(draft(recipients), live(), None, None, oneshot::channel().0)
                .is_some()
        };
        for _ in 0..10 {
            assert!(admitted(MAX_QUEUED_RECIPIENTS / 10));
        }
        assert!(!admitted(SMALL_SEND_RECIPIENTS + 1));
        assert!(admitted(SMALL_SEND_RECIPIENTS));
        let refused = accepting.send(draft(100), live(), None, None).await;
        assert!(matches!(refused, Err(Error::Refused(UNAVAILABLE))));
        drop(waiting.recv().await);
        assert!(admitted(MAX_QUEUED_RECIPIENTS / 10));
        assert!(!admitted(100));
    }

    #[test]
    fn a_send_above_the_free_capacity_is_refused() {
        let (queue, _waiting) = mpsc::channel(3);
        let accepting = AcceptQueue::new(queue);
        let admitted = |recipients| {
            accepting
                .admit(draft(recipients), live(), None, None, oneshot::channel().0)
                .is_some()
        };
        assert!(admitted(MAX_QUEUED_RECIPIENTS - 100));
        assert!(!admitted(101));
        assert!(admitted(100));
        assert!(!admitted(SMALL_SEND_RECIPIENTS + 1));
        assert!(admitted(SMALL_SEND_RECIPIENTS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_at_once() {
        let (queue, _waiting) = mpsc::channel(1);
        let accepting = AcceptQueue::new(queue);
        assert_eq!(accepting.check_capacity(), Ok(()));
        let first = accepting.admit(draft(1), live(), None, None, oneshot::channel().0);
        assert!(first.is_some());
        assert_eq!(accepting.check_capacity(), Err(UNAVAILABLE));
        let began = Instant::now();
        let refused = refusal(accepting.send(draft(1), live(), None, None).await);
        assert_eq!((refused, began.elapsed()), (UNAVAILABLE, Duration::ZERO));
    }

    #[test]
    fn campaigns_are_refused_behind_a_queue_that_is_too_long() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let admitted = |recipients| {
            accepting
                .admit(draft(recipients), live(), None, None, oneshot::channel().0)
                .is_some()
        };
        // At 30,000 recipients a second the limit is 75,000. A campaign that begins below it may
        // exceed it.
        let now = Instant::now();
        let sample = RateSample::with(None, now, FULL_COMMIT_RECIPIENTS);
        for _ in 0..20 {
            accepting
                .campaign_limit
                .record(sample, now + Duration::from_millis(100));
        }
        assert!(admitted(70_000));
        assert!(admitted(100_000));
        assert!(!admitted(SMALL_SEND_RECIPIENTS + 1));
        assert!(admitted(SMALL_SEND_RECIPIENTS));
        drop((waiting.try_recv(), waiting.try_recv()));
        assert!(admitted(SMALL_SEND_RECIPIENTS + 1));
    }

    #[tokio::test]
    async fn small_sends_overtake_campaigns() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let mut answers = Vec::new();
        for (number, recipients) in [2_000, 2_000, 2_000, 10, 11, 1].into_iter().enumerate() {
            let (answer, asked) = oneshot::channel();
            let mut draft = draft(recipients);
            draft.fingerprint[0] = u8::try_from(number).unwrap();
            assert!(accepting.admit(draft, live(), None, None, answer).is_some());
            answers.push(asked);
        }
        let mut left = VecDeque::new();
        while let Ok(next) = waiting.try_recv() {
            left.push_back(next);
        }
        let mut next = |with_campaigns| {
            let group = take_group(&mut left, Instant::now(), with_campaigns);
            group.iter().map(QueuedSend::recipients).collect::<Vec<_>>()
        };
        assert_eq!(next(false), [10, 1], "campaigns wait");
        assert!(next(false).is_empty());
        assert_eq!(next(true), [2_000, 2_000]);
        assert_eq!(next(true), [2_000, 11]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_send_that_waited_too_long_is_refused() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let (late, mut refused) = oneshot::channel();
        assert!(
            accepting
                .admit(draft(1), live(), None, None, late)
                .is_some()
        );
        advance(QUEUE_TIMEOUT).await;
        let (soon, mut begun) = oneshot::channel();
        let mut other = draft(2);
        other.fingerprint[0] = 1;
        assert!(accepting.admit(other, live(), None, None, soon).is_some());
        let mut left: VecDeque<_> =
            [waiting.try_recv().unwrap(), waiting.try_recv().unwrap()].into();
        let now = Instant::now() + Duration::from_millis(1);
        let group = take_group(&mut left, now, true);
        assert_eq!(group.len(), 1);
        assert_eq!(group[0].draft.recipients.len(), 2);
        assert!(left.is_empty());
        assert!(matches!(
            refused.try_recv(),
            Ok(Err(Error::Refused(UNAVAILABLE)))
        ));
        assert!(begun.try_recv().is_err(), "it has no answer yet");
    }

    #[tokio::test]
    async fn a_send_that_is_not_committed_is_not_counted() {
        let velocity = without_database().await;
        let three: Vec<_> = (0..3)
            .map(|last| Recipient::from_digits(2_348_031_234_000 + last))
            .collect();
        let count = async || {
            velocity
                .check(AccountId(1), &three, Fingerprint::default())
                .await
        };
        let (queue, mut waiting) = mpsc::channel(1);
        let accepting = AcceptQueue::new(queue);
        let (answer, client) = oneshot::channel();
        let counted = Some(count().await.unwrap());
        assert!(
            accepting
                .admit(draft(1), live(), counted, None, answer)
                .is_some()
        );
        assert!(count().await.is_err(), "it may still be accepted");
        drop(client);
        let mut left: VecDeque<_> = [waiting.try_recv().unwrap()].into();
        assert!(take_group(&mut left, Instant::now(), true).is_empty());

        let (answer, _client) = oneshot::channel();
        assert!(
            accepting
                .admit(draft(1), live(), None, None, answer)
                .is_some()
        );
        let counted = Some(count().await.unwrap());
        let (answer, _client) = oneshot::channel();
        assert!(
            accepting
                .admit(draft(1), live(), counted, None, answer)
                .is_none()
        );
        assert!(count().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_send_with_unknown_outcome_is_not_refused_at_shutdown() {
        let (answer, result) = oneshot::channel::<Result<(), Error>>();
        let race = CommitRace::default();
        assert!(race.begin(message()));
        drop(answer);
        let began = Instant::now();
        let answer_of_send = timeout(2 * SEND_TIMEOUT, in_time(result, &race)).await;
        assert_eq!(refusal(answer_of_send.unwrap()), outcome_unknown());
        assert_eq!(began.elapsed(), SEND_TIMEOUT, "not before its timeout");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_send_is_refused_unless_its_commit_began() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let committing = async {
            let slow = waiting.recv().await.unwrap();
            assert!(slow.race.begin(message()));
            advance(SEND_TIMEOUT + Duration::from_secs(1)).await;
            slow
        };
        let (answer_of_send, _slow) =
            tokio::join!(accepting.send(draft(1), live(), None, None), committing);
        assert_eq!(refusal(answer_of_send), outcome_unknown());

        let answer_of_late = refusal(accepting.send(draft(1), live(), None, None).await);
        assert_eq!(answer_of_late, UNAVAILABLE, "no commit began");
        let late = waiting.recv().await.unwrap();
        assert!(!late.race.begin(message()), "no commit can begin later");
    }
}
