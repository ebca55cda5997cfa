//! Turns at committing what carriers said.
//!
//! A commit costs much the same for one response and for a hundred, of one carrier or of fifty. So one is under way
//! at a time, beside one that takes long, and whoever has a turn takes along what all others have to say that wait for one.

use crate::settle::report::Teller;
use std::collections::VecDeque;
use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{Progress, Receipt};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Responses committed in a turn, but for those to one batch, and receipts: as many, so that who is sent to does not
/// outrun who is heard of when there is more to commit than time.
const MANY: usize = 4_000;
/// As many while there are sends to a few, which wait for the commit before theirs: some milliseconds, where campaigns
/// alone have more of the machine with longer ones.
const FEW: usize = 400;
/// But so many for each send that was committed with the last, or they would be heard of more slowly than they are
/// accepted where hundreds come at a time and there is no processor left.
const FOR_EACH: usize = 2;
/// How long after a send to a few another is likely.
const HURRY_MS: u64 = 1_000;
/// After so long a report goes on beside the turns: one that the database holds up, for a row that somebody else has
/// locked, is to hold up nobody else.
const LONG: Duration = Duration::from_millis(500);

/// A turn, until it is dropped.
pub(crate) struct Turn {
    permit: Option<OwnedSemaphorePermit>,
    ended: Arc<Notify>,
    beside: Arc<Semaphore>,
}

impl Turn {
    /// Waits for what the turn was taken for. Where that takes long it ends the turn before, unless another goes on
    /// beside the turns already.
    pub(crate) async fn during<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if let Ok(done) = timeout(LONG, work.as_mut()).await {
            return done;
        }
        tokio::select! {
            biased;
            done = work.as_mut() => done,
            _place = Arc::clone(&self.beside).acquire_owned() => {
                drop(self);
                work.await
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.permit.take());
        self.ended.notify_waiters();
    }
}

/// What a carrier said, waiting for a turn.
pub(crate) struct Said {
    pub(crate) progress: Vec<Progress>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) teller: Teller,
}

/// The turns of all carriers of a process.
pub(crate) struct Turns {
    /// The one that nobody has.
    free: Arc<Semaphore>,
    /// A place for one that takes long.
    beside: Arc<Semaphore>,
    /// Whenever a turn has ended.
    ended: Arc<Notify>,
    waiting: Mutex<VecDeque<Said>>,
    /// When the last sends to a few came, and how many together.
    hurried_at_ms: AtomicI64,
    hurried: AtomicUsize,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            free: Arc::new(Semaphore::new(1)),
            beside: Arc::new(Semaphore::new(1)),
            ended: Arc::default(),
            waiting: Mutex::default(),
            hurried_at_ms: AtomicI64::new(i64::MIN),
            hurried: AtomicUsize::default(),
        }
    }
}

impl Turns {
    /// So many sends to a few are about to be committed together.
    pub(crate) fn hurry(&self, now_ms: i64, sends: usize) {
        self.hurried_at_ms.store(now_ms, Ordering::Relaxed);
        self.hurried.store(sends, Ordering::Relaxed);
    }

    /// Responses, and receipts, that a carrier lines up now, and that are committed in a turn that begins now.
    pub(crate) fn most(&self, now_ms: i64) -> usize {
        let since = now_ms.abs_diff(self.hurried_at_ms.load(Ordering::Relaxed));
        if since < HURRY_MS {
            let sends = self.hurried.load(Ordering::Relaxed);
            (FOR_EACH * sends).clamp(FEW, MANY)
        } else {
            MANY
        }
    }

    /// Has it wait. Whoever adds something also waits for a turn: so there is one for whatever others leave.
    pub(crate) fn line_up(&self, said: Said) {
        self.lock().push_back(said);
    }

    /// The next turn after those of all who wait.
    pub(crate) async fn next(&self) -> Turn {
        match Arc::clone(&self.free).acquire_owned().await {
            Ok(permit) => Turn {
                permit: Some(permit),
                ended: Arc::clone(&self.ended),
                beside: Arc::clone(&self.beside),
            },
            // Nobody closes it.
            Err(_) => pending().await,
        }
    }

    /// Waits until the turn that is under way has ended, if one is.
    pub(crate) async fn one(&self) {
        let mut ended = pin!(self.ended.notified());
        // From here on none is missed.
        ended.as_mut().enable();
        if self.free.available_permits() == 0 {
            ended.await;
        }
    }

    /// Takes what waits for a turn that begins now: the first in any case, others as far as there is room.
    pub(crate) fn take(&self, now_ms: i64) -> Vec<Said> {
        let most = self.most(now_ms);
        let (mut accounted, mut receipts) = (0, 0);
        let mut taken = Vec::new();
        let mut waiting = self.lock();
        while let Some(said) = waiting.pop_front() {
            accounted += said.teller.accounted;
            receipts += said.receipts.len();
            if !taken.is_empty() && accounted.max(receipts) > most {
                waiting.push_front(said);
                break;
            }
            taken.push(said);
        }
        taken
    }

    /// The lock, also after a panic elsewhere: there is nothing to leave half done.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Said>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settle::quarantine::Answers;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};
    use tokio::sync::mpsc;

    fn come(waiting: &mut Pin<&mut impl Future<Output = Turn>>) -> Option<Turn> {
        let nobody = &mut Context::from_waker(Waker::noop());
        match waiting.as_mut().poll(nobody) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    /// So many responses of a carrier.
    fn said(carrier: &str, accounted: usize) -> Said {
        Said {
            progress: Vec::new(),
            receipts: Vec::new(),
            teller: Teller {
                carrier: carrier.into(),
                accounted,
                answers: Answers(Vec::new()),
                aside: 0,
                done: mpsc::unbounded_channel().0,
            },
        }
    }

    #[test]
    fn turns_are_short_for_a_second_after_a_send_to_a_few_whatever_the_clock_does() {
        let turns = Turns::default();
        assert_eq!(turns.most(0), MANY);
        turns.hurry(5_000, 1);
        for (now_ms, most) in [(5_000, FEW), (5_999, FEW), (6_000, MANY), (1_000, MANY)] {
            assert_eq!(turns.most(now_ms), most, "at {now_ms}");
        }
    }

    #[test]
    fn as_much_is_heard_of_in_a_turn_as_is_accepted_together() {
        let turns = Turns::default();
        for (sends, most) in [(FEW / 2, FEW), (FEW, 2 * FEW), (MANY, MANY)] {
            turns.hurry(0, sends);
            assert_eq!(turns.most(0), most, "of {sends} sends");
        }
    }

    #[test]
    fn whoever_waits_longest_has_the_next_turn() {
        let turns = Turns::default();
        let taken = come(&mut pin!(turns.next()));
        assert!(taken.is_some());
        let (mut first, mut second) = (pin!(turns.next()), pin!(turns.next()));
        assert!(come(&mut first).is_none() && come(&mut second).is_none());
        drop(taken);
        assert!(come(&mut second).is_none(), "it is the first's");
        let turn = come(&mut first);
        assert!(turn.is_some());
        drop(turn);
        assert!(come(&mut second).is_some());
    }

    #[test]
    fn whoever_lets_one_turn_pass_waits_for_its_end_alone() {
        let turns = Turns::default();
        let nobody = &mut Context::from_waker(Waker::noop());
        assert!(pin!(turns.one()).as_mut().poll(nobody).is_ready());
        let taken = come(&mut pin!(turns.next()));
        let mut passes = pin!(turns.one());
        assert!(passes.as_mut().poll(nobody).is_pending());
        let mut next = pin!(turns.next());
        assert!(come(&mut next).is_none());
        drop(taken);
        let _taken = come(&mut next);
        assert!(passes.as_mut().poll(nobody).is_ready());
    }

    #[tokio::test(start_paused = true)]
    async fn one_report_that_takes_long_holds_up_no_other_and_a_second_one_does() {
        let turns = Turns::default();
        let hangs = async || {
            let turn = turns.next().await;
            turn.during(pending::<()>()).await;
        };
        let (mut first, second) = (pin!(hangs()), pin!(hangs()));
        let waits = async |others: Duration| timeout(others, turns.next()).await;
        tokio::select! {
            biased;
            () = &mut first => unreachable!(),
            turn = waits(LONG / 2) => assert!(turn.is_err(), "it has its turn"),
        }
        tokio::select! {
            biased;
            () = &mut first => unreachable!(),
            turn = waits(LONG) => assert!(turn.is_ok(), "it takes long"),
        }
        tokio::select! {
            biased;
            () = async { tokio::join!(first, second); } => unreachable!(),
            turn = async { tokio::time::sleep(LONG).await; waits(4 * LONG).await } => assert!(turn.is_err(), "two of them"),
        }
    }

    #[test]
    fn a_turn_takes_along_what_all_who_wait_have_to_say_as_far_as_there_is_room() {
        let turns = Turns::default();
        let all = [
            ("mtn", MANY + 1),
            ("glo", 10),
            ("airtel", MANY - 10),
            ("t2", 1),
        ];
        for (carrier, accounted) in all {
            turns.line_up(said(carrier, accounted));
        }
        let take = || {
            let taken = turns.take(0);
            let carriers = taken.iter().map(|said| said.teller.carrier.to_string());
            carriers.collect::<Vec<_>>()
        };
        assert_eq!(take(), ["mtn"]);
        assert_eq!(take(), ["glo", "airtel"]);
        assert_eq!(take(), ["t2"]);
        assert!(take().is_empty());
    }
}
