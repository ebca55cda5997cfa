//! SQLite's one writer: a thread of its own, or a task where the database is in memory
//! (`in_place`). Group commit: changes that arrive together share one durable commit.
//!
//! Once a sync has failed, the writer ends. The system forgets pages that it could not write, so a
//! later sync would succeed without them. No further commit is acknowledged before the database is
//! opened again.
//!
//! A group is committed without delay if a caller waits: it holds the changes that arrived during
//! the last commit. Changes that no caller awaits (delivery and callback outcomes) join the next
//! commit. If none follows within 5 ms they are committed on their own. Each change of a group runs
//! in its own savepoint, so a failure does not affect the others.

mod in_place;

use crate::db::{Change, SqliteTx, Tx};
use crate::error::{Error, Failure, Result};
use crate::sqlite;
use std::future::Future;
use std::iter::repeat_with;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Changes in one commit at most.
const MAX_CHANGES: usize = 64;
/// Time from the start of the last commit after which deferrable changes are committed alone.
const DISTANCE: Duration = Duration::from_millis(5);
/// Pages after which an idle writer checkpoints the write-ahead log. The number is small, so that
/// changes that arrive meanwhile wait briefly.
const SOME_PAGES: u32 = 400;
/// Commits before an idle checkpoint. A checkpoint takes two syncs, which under load would follow
/// each fifth to eighth commit.
const SOME_COMMITS: u32 = 32;
/// Pages after which the log is checkpointed in any case. Under load many pages are in the log
/// several times, and are written back once.
const MANY_PAGES: u32 = 4_000;
/// Length of the writer's queue. A caller waits while it is full.
const QUEUE: usize = 256;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The handle of the thread or task that owns the writing connection.
#[derive(Clone)]
pub struct Writer {
    queue: mpsc::Sender<Order>,
}

enum Order {
    Change(Box<dyn Pending>),
    Close(oneshot::Sender<()>),
}

impl Order {
    fn is_deferrable(&self) -> bool {
        matches!(self, Self::Change(change) if change.is_deferrable())
    }
}

/// A change without its type. It is applied first, and answered once the commit is known.
trait Pending: Send {
    fn is_deferrable(&self) -> bool;
    fn apply<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Result<()>>;
    fn answer(self: Box<Self>, failure: Option<Error>);
}

struct Waiting<C: Change> {
    change: C,
    output: Option<C::Output>,
    answer: oneshot::Sender<Result<C::Output>>,
}

impl<C: Change> Pending for Waiting<C> {
    fn is_deferrable(&self) -> bool {
        C::DEFERRABLE
    }

    fn apply<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.output = Some(self.change.apply(tx).await?);
            Ok(())
        })
    }

    fn answer(self: Box<Self>, failure: Option<Error>) {
        let result = match (failure, self.output) {
            (None, Some(output)) => Ok(output),
            (Some(error), _) => Err(error),
            (None, None) => Err(Error::Closed),
        };
        // The caller may have gone. The change is committed all the same.
        let _ = self.answer.send(result);
    }
}

impl Writer {
    pub(crate) fn start(connection: sqlite::Connection) -> Result<Self> {
        let (queue, orders) = mpsc::channel(QUEUE);
        let runtime = Handle::current();
        thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || run(connection, orders, &runtime))
            .map_err(Failure::Io)?;
        Ok(Self { queue })
    }

    pub(crate) async fn change<C: Change>(&self, change: C) -> Result<C::Output> {
        let (answer, result) = oneshot::channel();
        let waiting = Waiting {
            change,
            output: None,
            answer,
        };
        self.queue
            .send(Order::Change(Box::new(waiting)))
            .await
            .map_err(|_| Error::Closed)?;
        self.answer_to(result).await.ok_or(Error::Closed)?
    }

    /// Waits for the writer's answer, and returns `None` once the writer has ended. An order sent
    /// while it ends may stay in the queue for ever.
    async fn answer_to<T>(&self, mut result: oneshot::Receiver<T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = &mut result => answer.ok(),
            () = self.ended() => result.try_recv().ok(),
        }
    }

    /// Returns when the writer has ended: it was closed, or can commit no more.
    pub(crate) async fn ended(&self) {
        self.queue.closed().await;
    }

    /// Finishes the queued changes, then closes the connection.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.queue.send(Order::Close(done)).await.is_ok() {
            // `None` means that the thread has already ended.
            let _ = self.answer_to(closed).await;
        }
    }
}

fn run(connection: sqlite::Connection, mut orders: mpsc::Receiver<Order>, runtime: &Handle) {
    let _entered = runtime.enter();
    let mut tx = Tx::Sqlite(Box::new(SqliteTx::Writer(connection)));
    let mut received = Vec::with_capacity(MAX_CHANGES);
    let mut closing = None;
    let mut began = Instant::now();
    let mut in_log = 0;
    while closing.is_none() && orders.blocking_recv_many(&mut received, MAX_CHANGES) > 0 {
        let early = DISTANCE.saturating_sub(began.elapsed());
        if !early.is_zero() && received.iter().all(Order::is_deferrable) {
            runtime.block_on(wait_for_urgent(&mut orders, &mut received, early));
        }
        began = Instant::now();
        let group = group(&mut received, &mut closing);
        let is_sound = group.is_empty()
            || (commit(&mut tx, group) && fold_back(&mut tx, &mut in_log, orders.is_empty()));
        if !is_sound {
            // The connection is leaked, because closing it would checkpoint the log. The disk may
            // hold less than the pages that are read.
            std::mem::forget(tx);
            return;
        }
    }
    close(tx, closing);
}

/// Returns the changes among the received orders. `closing` receives a request to close.
fn group(
    received: &mut Vec<Order>,
    closing: &mut Option<oneshot::Sender<()>>,
) -> Vec<Box<dyn Pending>> {
    let mut group = Vec::with_capacity(received.len());
    for order in received.drain(..) {
        match order {
            Order::Change(change) => group.push(change),
            Order::Close(done) => *closing = Some(done),
        }
    }
    group
}

/// Closes the connection, and answers the request to close.
fn close(tx: Tx, closing: Option<oneshot::Sender<()>>) {
    if let Tx::Sqlite(connection) = tx
        && let SqliteTx::Writer(connection) = *connection
        && let Err(error) = connection.close()
    {
        tracing::warn!(%error, "the database did not close cleanly; nothing committed is lost");
    }
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// Waits for an urgent change, at most this long.
async fn wait_for_urgent(
    orders: &mut mpsc::Receiver<Order>,
    received: &mut Vec<Order>,
    most: Duration,
) {
    let arrival = async {
        while received.len() < MAX_CHANGES && received.iter().all(Order::is_deferrable) {
            let room = MAX_CHANGES - received.len();
            if orders.recv_many(received, room).await == 0 {
                return;
            }
        }
    };
    let _ = timeout(most, arrival).await;
}

/// Applies a group of changes, commits them together, and answers the callers. Returns `true` if
/// the writer can go on.
fn commit(tx: &mut Tx, mut group: Vec<Box<dyn Pending>>) -> bool {
    let made = make(tx, &mut group);
    answer(group, made)
}

/// The result of a group: the failures of single changes, and the failure of the whole.
type Made = (Vec<Option<Error>>, Option<GroupFailure>);

fn make(tx: &mut Tx, group: &mut [Box<dyn Pending>]) -> Made {
    let mut failures = Vec::with_capacity(group.len());
    let group_failure = apply(tx, group, &mut failures).err().map(GroupFailure::new);
    if group_failure.is_some() {
        // Some failures have already ended the transaction, so the rollback may fail.
        let _ = command(tx, "rollback");
    }
    (failures, group_failure)
}

/// Answers the callers. Returns `true` if the writer can go on.
fn answer(group: Vec<Box<dyn Pending>>, (failures, mut group_failure): Made) -> bool {
    let is_sound = group_failure
        .as_ref()
        .is_none_or(|group_failure| group_failure.kind != FailureKind::Unknown);
    let failures = failures.into_iter().chain(repeat_with(|| None));
    for (change, failure) in group.into_iter().zip(failures) {
        change.answer(failure.or_else(|| group_failure.as_mut().map(GroupFailure::share)));
    }
    is_sound
}

/// Checkpoints the log if it is long, after the callers of this commit are answered. Returns `true`
/// if the writer can go on. `in_log` counts the commits since the last checkpoint.
fn fold_back(tx: &mut Tx, in_log: &mut u32, is_idle: bool) -> bool {
    *in_log += 1;
    if !is_long(sqlite::Connection::log_pages(), *in_log, is_idle) {
        return true;
    }
    *in_log = 0;
    let folded = tx.sqlite().and_then(|connection| connection.fold_back());
    if let Err(error) = &folded {
        tracing::error!(%error, "nothing more is committed");
    }
    folded.is_ok()
}

/// Returns `true` if a log of so many pages and commits is due for a checkpoint.
const fn is_long(pages: u32, commits: u32, is_idle: bool) -> bool {
    pages >= MANY_PAGES || (is_idle && pages >= SOME_PAGES && commits >= SOME_COMMITS)
}

/// Applies a group in one transaction. An error returned ends all of it. `failures` receives those
/// of single changes.
fn apply(
    tx: &mut Tx,
    group: &mut [Box<dyn Pending>],
    failures: &mut Vec<Option<Error>>,
) -> Result<()> {
    command(tx, "begin immediate")?;
    match group {
        // A single change needs no savepoint, which would copy each page.
        [change] => now(change.apply(tx))?,
        several => {
            for change in several {
                failures.push(attempt(tx, &mut **change)?);
            }
        }
    }
    command(tx, "commit")
}

/// Applies one change of several, and returns its failure. An `Err` means that the transaction has
/// ended.
fn attempt(tx: &mut Tx, change: &mut dyn Pending) -> Result<Option<Error>> {
    command(tx, "savepoint change")?;
    let failure = now(change.apply(tx)).err();
    let undone = match failure {
        Some(_) => command(tx, "rollback to change"),
        None => Ok(()),
    };
    match undone.and_then(|()| command(tx, "release change")) {
        Ok(()) => Ok(failure),
        // If the transaction ended with the change, the failure of the change is the reason.
        Err(error) => Err(failure.unwrap_or(error)),
    }
}

/// The failure of a whole group, which each of its changes receives.
struct GroupFailure {
    first: Option<Error>,
    kind: FailureKind,
    text: String,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum FailureKind {
    Passing,
    Unknown,
    Other,
}

impl GroupFailure {
    fn new(error: Error) -> Self {
        let kind = if error.is_unknown() {
            tracing::error!(%error, "nothing more is committed");
            FailureKind::Unknown
        } else if error.is_unavailable() {
            FailureKind::Passing
        } else {
            FailureKind::Other
        };
        Self {
            kind,
            text: error.to_string(),
            first: Some(error),
        }
    }

    fn share(&mut self) -> Error {
        self.first.take().unwrap_or_else(|| {
            let text = self.text.clone();
            match self.kind {
                FailureKind::Passing => Error::Database(Failure::Io(std::io::Error::other(text))),
                FailureKind::Unknown => Error::Unsynced(Failure::Other(text)),
                FailureKind::Other => Error::Database(Failure::Other(text)),
            }
        })
    }
}

fn command(tx: &mut Tx, text: &'static str) -> Result<()> {
    tx.sqlite()?.command(text)
}

/// Runs a change to its result. On SQLite no await of a change ever has to wait. An import is an
/// exception: it writes to PostgreSQL in between.
fn now<T>(change: impl Future<Output = Result<T>>) -> Result<T> {
    let mut change = pin!(change);
    let nobody = &mut Context::from_waker(Waker::noop());
    match change.as_mut().poll(nobody) {
        Poll::Ready(result) => result,
        Poll::Pending => Handle::current().block_on(change),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_folded_back_when_idle_or_long() {
        for (pages, commits, is_idle, long) in [
            (SOME_PAGES, SOME_COMMITS, true, true),
            (SOME_PAGES - 1, u32::MAX, true, false),
            (MANY_PAGES - 1, SOME_COMMITS - 1, true, false),
            (MANY_PAGES - 1, u32::MAX, false, false),
            (MANY_PAGES, 1, false, true),
        ] {
            assert_eq!(is_long(pages, commits, is_idle), long, "{pages}, {commits}");
        }
    }

    struct Note<const DEFERRABLE: bool>;

    impl<const P: bool> Change for Note<P> {
        type Output = ();
        const DEFERRABLE: bool = P;

        async fn apply(&self, _tx: &mut Tx) -> Result<()> {
            Ok(())
        }
    }

    fn order<const P: bool>() -> Order {
        Order::Change(Box::new(Waiting {
            change: Note::<P>,
            output: None,
            answer: oneshot::channel().0,
        }))
    }

    /// Returns the time for which a deferrable order is kept before these, and the number that
    /// leave together.
    async fn kept(following: Vec<Order>) -> (Duration, usize) {
        let (queue, mut orders) = mpsc::channel(QUEUE);
        let mut received = vec![order::<true>()];
        for order in following {
            queue.send(order).await.unwrap();
        }
        let start = tokio::time::Instant::now();
        wait_for_urgent(&mut orders, &mut received, DISTANCE).await;
        (start.elapsed(), received.len())
    }

    struct Planted;

    impl Change for Planted {
        type Output = ();

        async fn apply(&self, _tx: &mut Tx) -> Result<()> {
            panic!("a fault in the writer's thread");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_waits_for_a_writer_that_has_ended() {
        let directory = tempfile::tempdir().unwrap();
        let options =
            crate::sqlite::Options::new(&directory.path().join("test.db"), DISTANCE).create();
        for _ in 0..2_000 {
            let writer = Writer::start(options.connect().unwrap()).unwrap();
            let faulty = writer.change(Planted);
            let others = (0..4).map(|_| {
                let writer = writer.clone();
                tokio::spawn(async move {
                    while writer.change(Note::<false>).await.is_ok() {}
                    writer.close().await;
                })
            });
            let others: Vec<_> = others.collect();
            assert!(matches!(faulty.await, Err(Error::Closed)));
            for other in others {
                timeout(Duration::from_secs(10), other)
                    .await
                    .unwrap()
                    .unwrap();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn deferrable_changes_join_an_urgent_commit_or_leave_alone() {
        assert_eq!(kept(vec![order::<false>()]).await, (Duration::ZERO, 2));
        let (wait, together) = kept(vec![order::<true>(), order::<true>()]).await;
        assert!(wait >= DISTANCE && together == 3, "{wait:?}, {together}");
    }
}
