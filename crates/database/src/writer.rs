//! SQLite's one writer, a thread of its own, or a task where the database is in memory (`in_place`). Changes that
//! arrive together share one durable commit.
//!
//! Once a sync has failed, the writer ends. The system forgets what it could not write, so that a later sync
//! would succeed without it: nothing more may be promised before the database is opened again.
//!
//! There is no linger where somebody waits: whatever arrived while the last commit ran is the next group. What
//! nobody waits for (outcomes of deliveries and callbacks) rides with these, or is the next group some
//! milliseconds after the last: alone, and under load, it never waits. Each change of a group runs in a savepoint
//! of its own, so that one that fails costs the others nothing.

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

/// Most changes in one commit.
const MOST_CHANGES: usize = 64;
/// How long after the last commit began one is made of deferrable changes alone.
const DISTANCE: Duration = Duration::from_millis(5);
/// Pages after which the write-ahead log is folded back when no change waits: so few that those that come meanwhile
/// do not wait long.
const SOME_PAGES: u32 = 400;
/// Commits before that: to fold back takes two syncs, which under load would come with each fifth to eighth commit.
const SOME_COMMITS: u32 = 32;
/// Pages after which it is folded back in any case. Under load many pages are in it several times, and are folded
/// back once.
const MANY_PAGES: u32 = 4_000;
/// Changes that may wait for the writer; those who bring more wait themselves.
const QUEUE: usize = 256;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The way to the thread or task that owns the writing connection.
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

/// A change without its type: applied first, answered when the commit is known.
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
        // Whoever asked may have gone; the change is committed all the same.
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

    /// What the writer answers; nothing once it has ended. What is sent while it ends may stay in the queue for
    /// ever, neither taken nor dropped.
    async fn answer_to<T>(&self, mut result: oneshot::Receiver<T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = &mut result => answer.ok(),
            () = self.ended() => result.try_recv().ok(),
        }
    }

    /// Comes back when the writer has ended: it was closed, or can promise nothing more.
    pub(crate) async fn ended(&self) {
        self.queue.closed().await;
    }

    /// Finishes what waits, then closes the connection.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.queue.send(Order::Close(done)).await.is_ok() {
            // Nothing means that the thread has ended already.
            let _ = self.answer_to(closed).await;
        }
    }
}

fn run(connection: sqlite::Connection, mut orders: mpsc::Receiver<Order>, runtime: &Handle) {
    let _entered = runtime.enter();
    let mut tx = Tx::Sqlite(Box::new(SqliteTx::Writer(connection)));
    let mut received = Vec::with_capacity(MOST_CHANGES);
    let mut closing = None;
    let mut began = Instant::now();
    let mut in_log = 0;
    while closing.is_none() && orders.blocking_recv_many(&mut received, MOST_CHANGES) > 0 {
        let early = DISTANCE.saturating_sub(began.elapsed());
        if !early.is_zero() && received.iter().all(Order::is_deferrable) {
            runtime.block_on(company(&mut orders, &mut received, early));
        }
        began = Instant::now();
        let group = group(&mut received, &mut closing);
        let is_sound = group.is_empty()
            || (commit(&mut tx, group) && fold_back(&mut tx, &mut in_log, orders.is_empty()));
        if !is_sound {
            // Nothing of the log is folded back by closing it: the disk may have less than what is read from it.
            std::mem::forget(tx);
            return;
        }
    }
    close(tx, closing);
}

/// The changes among what was received; `closing` gets the wish to close.
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

/// Closes the connection, and says so to whoever wished it.
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

/// Waits for a change in a hurry, but no longer than this.
async fn company(orders: &mut mpsc::Receiver<Order>, received: &mut Vec<Order>, most: Duration) {
    let arrival = async {
        while received.len() < MOST_CHANGES && received.iter().all(Order::is_deferrable) {
            let room = MOST_CHANGES - received.len();
            if orders.recv_many(received, room).await == 0 {
                return;
            }
        }
    };
    let _ = timeout(most, arrival).await;
}

/// Applies a group of changes, commits them together, and answers those who asked. Gives whether more can be
/// committed.
fn commit(tx: &mut Tx, mut group: Vec<Box<dyn Pending>>) -> bool {
    let made = make(tx, &mut group);
    answer(group, made)
}

/// What became of a group: the failures of single changes, and what ended all of it.
type Made = (Vec<Option<Error>>, Option<Fate>);

fn make(tx: &mut Tx, group: &mut [Box<dyn Pending>]) -> Made {
    let mut failures = Vec::with_capacity(group.len());
    let fate = apply(tx, group, &mut failures).err().map(Fate::new);
    if fate.is_some() {
        // Some failures have ended the transaction already: then there is nothing to roll back.
        let _ = command(tx, "rollback");
    }
    (failures, fate)
}

/// Answers those who asked. Gives whether more can be committed.
fn answer(group: Vec<Box<dyn Pending>>, (failures, mut fate): Made) -> bool {
    let is_sound = fate.as_ref().is_none_or(|fate| fate.kind != Kind::Unknown);
    let failures = failures.into_iter().chain(repeat_with(|| None));
    for (change, failure) in group.into_iter().zip(failures) {
        change.answer(failure.or_else(|| fate.as_mut().map(Fate::share)));
    }
    is_sound
}

/// Folds the log back where it has become long, now that nobody waits for this commit any more. Gives whether more
/// can be committed. `in_log` counts the commits since the last time.
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

/// Whether a log of so many pages, and commits, is to be folded back.
const fn is_long(pages: u32, commits: u32, is_idle: bool) -> bool {
    pages >= MANY_PAGES || (is_idle && pages >= SOME_PAGES && commits >= SOME_COMMITS)
}

/// Applies a group in one transaction; what is given back ends all of it. `failures` are those of single changes.
fn apply(
    tx: &mut Tx,
    group: &mut [Box<dyn Pending>],
    failures: &mut Vec<Option<Error>>,
) -> Result<()> {
    command(tx, "begin immediate")?;
    match group {
        // Alone it needs no savepoint, which keeps what each page was.
        [change] => now(change.apply(tx))?,
        several => {
            for change in several {
                failures.push(attempt(tx, &mut **change)?);
            }
        }
    }
    command(tx, "commit")
}

/// Makes one change of several, and gives its failure; what is given as an error has ended the transaction.
fn attempt(tx: &mut Tx, change: &mut dyn Pending) -> Result<Option<Error>> {
    command(tx, "savepoint change")?;
    let failure = now(change.apply(tx)).err();
    let undone = match failure {
        Some(_) => command(tx, "rollback to change"),
        None => Ok(()),
    };
    match undone.and_then(|()| command(tx, "release change")) {
        Ok(()) => Ok(failure),
        // Where the transaction has ended with the change, that one's failure is the reason.
        Err(error) => Err(failure.unwrap_or(error)),
    }
}

/// The failure of a whole group, told to each of its changes.
struct Fate {
    first: Option<Error>,
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Passing,
    Unknown,
    Other,
}

impl Fate {
    fn new(error: Error) -> Self {
        let kind = if error.is_unknown() {
            tracing::error!(%error, "nothing more is committed");
            Kind::Unknown
        } else if error.is_unavailable() {
            Kind::Passing
        } else {
            Kind::Other
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
                Kind::Passing => Error::Database(Failure::Io(std::io::Error::other(text))),
                Kind::Unknown => Error::Unsynced(Failure::Other(text)),
                Kind::Other => Error::Database(Failure::Other(text)),
            }
        })
    }
}

fn command(tx: &mut Tx, text: &'static str) -> Result<()> {
    tx.sqlite()?.command(text)
}

/// What a change gives. On SQLite alone nothing that it awaits has to be waited for; an import writes to
/// PostgreSQL in the middle of it.
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
    fn the_log_is_folded_back_after_some_commits_while_nobody_waits_or_when_it_is_long() {
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

    /// How long a deferrable order is kept while these follow it, and how many leave together.
    async fn kept(following: Vec<Order>) -> (Duration, usize) {
        let (queue, mut orders) = mpsc::channel(QUEUE);
        let mut received = vec![order::<true>()];
        for order in following {
            queue.send(order).await.unwrap();
        }
        let start = tokio::time::Instant::now();
        company(&mut orders, &mut received, DISTANCE).await;
        (start.elapsed(), received.len())
    }

    struct Fault;

    impl Change for Fault {
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
            let faulty = writer.change(Fault);
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
    async fn what_nobody_waits_for_leaves_with_what_is_in_a_hurry_and_alone_after_the_distance() {
        assert_eq!(kept(vec![order::<false>()]).await, (Duration::ZERO, 2));
        let (wait, together) = kept(vec![order::<true>(), order::<true>()]).await;
        assert!(wait >= DISTANCE && together == 3, "{wait:?}, {together}");
    }
}
