//! Where sends wait for the commit that accepts them: who finds room, and who is next.

use super::limits::{FEW_RECIPIENTS, MAX_WAITING};
use super::load::AcceptRate;
use super::sent::Sent;
use super::waiting::{CommitRace, UNAVAILABLE, Waiting};
use crate::admit::velocity::Counted;
use crate::context::live::Live;
use crate::error::Error;
use domain::{Draft, Refusal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

/// How long a send waits for its commit.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The door for messages.
#[derive(Clone)]
pub(crate) struct AcceptQueue {
    queue: mpsc::Sender<Waiting>,
    /// For recipients.
    room: Arc<Semaphore>,
    pace: AcceptRate,
}

impl AcceptQueue {
    /// A queue of so many sends, and its other end.
    pub(crate) fn open(capacity: usize) -> (Self, mpsc::Receiver<Waiting>) {
        let (queue, waiting) = mpsc::channel(capacity.max(1));
        (Self::new(queue), waiting)
    }

    /// The rate at which sends were accepted lately.
    pub(crate) fn rate(&self) -> AcceptRate {
        self.pace.clone()
    }

    fn new(queue: mpsc::Sender<Waiting>) -> Self {
        Self {
            queue,
            room: Arc::new(Semaphore::new(MAX_WAITING)),
            pace: AcceptRate::default(),
        }
    }

    /// Load shedding: refuses a send that is not parsed yet while the queue is full.
    pub(crate) fn check_room(&self) -> Result<(), Refusal> {
        if self.queue.capacity() == 0 {
            return Err(UNAVAILABLE);
        }
        Ok(())
    }

    /// Returns `true` if those who wait are too many for one more campaign.
    fn is_behind(&self) -> bool {
        let waiting = MAX_WAITING - self.room.available_permits();
        self.pace.is_behind(waiting)
    }

    /// Waits until the draft is a durable message, or is refused. A full queue refuses at once. A database that does not
    /// answer refuses after [`SEND_TIMEOUT`]. A send whose commit did not begin by then is not accepted any more. A send whose
    /// commit began is answered that its outcome is unknown.
    pub(crate) async fn send(
        &self,
        draft: Draft,
        live: Arc<Live>,
        counted: Option<Counted>,
    ) -> Result<Sent, Error> {
        let (answer, result) = oneshot::channel();
        let Some(race) = self.admit(draft, live, counted, answer) else {
            return Err(UNAVAILABLE.into());
        };
        in_time(result, &race).await
    }

    /// Queues a draft where there is room, or drops it.
    fn admit(
        &self,
        draft: Draft,
        live: Arc<Live>,
        counted: Option<Counted>,
        answer: oneshot::Sender<Result<Sent, Error>>,
    ) -> Option<CommitRace> {
        let recipients = match draft.recipients.len() {
            ..=FEW_RECIPIENTS => 0,
            _ if self.is_behind() => return None,
            many => u32::try_from(many).unwrap_or(u32::MAX),
        };
        let room = Arc::clone(&self.room)
            .try_acquire_many_owned(recipients)
            .ok()?;
        let race = CommitRace::default();
        let waiting = Waiting {
            draft,
            live,
            counted,
            since: Instant::now(),
            race: race.clone(),
            answer,
            _room: room,
        };
        self.queue.try_send(waiting).ok()?;
        Some(race)
    }
}

/// The answer to a send within its time. Where nobody is left to answer, the process is about to end and the
/// send may stand: to refuse it would not be true.
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
        .unwrap_or_else(|_| Err(race.over().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::group::group;
    use crate::accept::limits::{MANY_RECIPIENTS, TURN_TIMEOUT};
    use crate::accept::load::Lap;
    use crate::accept::waiting::ASK_AGAIN_S;
    use crate::admit::velocity::tests::without_database;
    use crate::context::plan::Plan;
    use crate::context::random::Numbers;
    use crate::context::random::Random;
    use crate::settings::Limits;
    use crate::settings::Retention;
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

    fn may_stand() -> Refusal {
        Refusal::OutcomeUnknown {
            message: message(),
            retry_after_s: ASK_AGAIN_S,
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
        })
    }

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
            invalid_count: 0,
            adjustments: domain::Adjustments::default(),
            classes: Vec::new(),
            page_count: 1,
            cost: Money::ZERO,
            priority: Priority::Otp,
            due_at_ms: None,
            callback_url: None,
            customer_reference: None,
            fingerprint: Fingerprint::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sends_wait_as_long_as_there_is_room_for_their_recipients() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let admitted = |recipients| {
            accepting
                .admit(draft(recipients), live(), None, oneshot::channel().0)
                .is_some()
        };
        for _ in 0..10 {
            assert!(admitted(MAX_WAITING / 10));
        }
        assert!(!admitted(FEW_RECIPIENTS + 1));
        assert!(admitted(FEW_RECIPIENTS));
        let refused = accepting.send(draft(100), live(), None).await;
        assert!(matches!(refused, Err(Error::Refused(UNAVAILABLE))));
        drop(waiting.recv().await);
        assert!(admitted(MAX_WAITING / 10));
        assert!(!admitted(100));
    }

    #[test]
    fn a_send_with_more_recipients_than_room_is_not_admitted() {
        let (queue, _waiting) = mpsc::channel(3);
        let accepting = AcceptQueue::new(queue);
        let admitted = |recipients| {
            accepting
                .admit(draft(recipients), live(), None, oneshot::channel().0)
                .is_some()
        };
        assert!(admitted(MAX_WAITING - 100));
        assert!(!admitted(101));
        assert!(admitted(100));
        assert!(!admitted(FEW_RECIPIENTS + 1));
        assert!(admitted(FEW_RECIPIENTS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_at_once_before_it_moves() {
        let (queue, _waiting) = mpsc::channel(1);
        let accepting = AcceptQueue::new(queue);
        assert_eq!(accepting.check_room(), Ok(()));
        let first = accepting.admit(draft(1), live(), None, oneshot::channel().0);
        assert!(first.is_some());
        assert_eq!(accepting.check_room(), Err(UNAVAILABLE));
        let began = Instant::now();
        let refused = refusal(accepting.send(draft(1), live(), None).await);
        assert_eq!((refused, began.elapsed()), (UNAVAILABLE, Duration::ZERO));
    }

    #[test]
    fn campaigns_find_no_room_behind_more_than_are_accepted_in_time() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let admitted = |recipients| {
            accepting
                .admit(draft(recipients), live(), None, oneshot::channel().0)
                .is_some()
        };
        // 30,000 recipients a second, of which 75,000 may wait, and whoever comes next before them.
        let now = Instant::now();
        let lap = Lap::with(None, now, MANY_RECIPIENTS);
        for _ in 0..20 {
            accepting.pace.learn(lap, now + Duration::from_millis(100));
        }
        assert!(admitted(70_000));
        assert!(admitted(100_000));
        assert!(!admitted(FEW_RECIPIENTS + 1));
        assert!(admitted(FEW_RECIPIENTS));
        drop((waiting.try_recv(), waiting.try_recv()));
        assert!(admitted(FEW_RECIPIENTS + 1));
    }

    #[tokio::test]
    async fn a_few_do_not_wait_for_the_campaigns_before_them() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let mut answers = Vec::new();
        for (number, recipients) in [2_000, 2_000, 2_000, 10, 11, 1].into_iter().enumerate() {
            let (answer, asked) = oneshot::channel();
            let mut draft = draft(recipients);
            draft.fingerprint[0] = u8::try_from(number).unwrap();
            assert!(accepting.admit(draft, live(), None, answer).is_some());
            answers.push(asked);
        }
        let mut left = VecDeque::new();
        while let Ok(next) = waiting.try_recv() {
            left.push_back(next);
        }
        let mut next = |with_campaigns| {
            let group = group(&mut left, Instant::now(), with_campaigns);
            group.iter().map(Waiting::recipients).collect::<Vec<_>>()
        };
        assert_eq!(next(false), [10, 1], "campaigns let others pass");
        assert!(next(false).is_empty());
        assert_eq!(next(true), [2_000, 2_000]);
        assert_eq!(next(true), [2_000, 11]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_waited_too_long_is_refused_and_not_begun() {
        let (queue, mut waiting) = mpsc::channel(100);
        let accepting = AcceptQueue::new(queue);
        let (late, mut refused) = oneshot::channel();
        assert!(accepting.admit(draft(1), live(), None, late).is_some());
        advance(TURN_TIMEOUT).await;
        let (soon, mut begun) = oneshot::channel();
        let mut other = draft(2);
        other.fingerprint[0] = 1;
        assert!(accepting.admit(other, live(), None, soon).is_some());
        let mut left: VecDeque<_> =
            [waiting.try_recv().unwrap(), waiting.try_recv().unwrap()].into();
        let now = Instant::now() + Duration::from_millis(1);
        let group = group(&mut left, now, true);
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
    async fn a_send_without_room_or_commit_is_not_counted() {
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
        assert!(accepting.admit(draft(1), live(), counted, answer).is_some());
        assert!(count().await.is_err(), "it may be accepted yet");
        drop(client);
        let mut left: VecDeque<_> = [waiting.try_recv().unwrap()].into();
        assert!(group(&mut left, Instant::now(), true).is_empty());

        let (answer, _client) = oneshot::channel();
        assert!(accepting.admit(draft(1), live(), None, answer).is_some());
        let counted = Some(count().await.unwrap());
        let (answer, _client) = oneshot::channel();
        assert!(accepting.admit(draft(1), live(), counted, answer).is_none());
        assert!(count().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_send_that_may_stand_is_not_refused_when_the_process_ends() {
        let (answer, result) = oneshot::channel::<Result<(), Error>>();
        let race = CommitRace::default();
        assert!(race.begin(message()));
        drop(answer);
        let began = Instant::now();
        let answer_of_send = timeout(2 * SEND_TIMEOUT, in_time(result, &race)).await;
        assert_eq!(refusal(answer_of_send.unwrap()), may_stand());
        assert_eq!(began.elapsed(), SEND_TIMEOUT, "not before its time is over");
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
            tokio::join!(accepting.send(draft(1), live(), None), committing);
        assert_eq!(refusal(answer_of_send), may_stand());

        let answer_of_send = refusal(accepting.send(draft(1), live(), None).await);
        assert_eq!(answer_of_send, UNAVAILABLE, "no commit began");
        let late = waiting.recv().await.unwrap();
        assert!(!late.race.begin(message()), "nor does one any more");
    }
}
