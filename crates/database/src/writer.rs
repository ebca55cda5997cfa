//! SQLite's one writer: a thread of its own, or a task where the database is in memory
//! (`task`). Group commit: changes that arrive together share one durable commit.
//!
//! Once a sync has failed, the writer ends. The system forgets pages that it could not write, so a
//! later sync would succeed without them. No further commit is acknowledged before the database is
//! opened again.
//!
//! A group is committed without delay if a caller waits: it holds the changes that arrived during
//! the last commit. Changes that no caller awaits (delivery and callback outcomes) join the next
//! commit. If none follows within 5 ms they are committed on their own. Each change of a group runs
//! in its own savepoint, so a failure does not affect the others.

mod group;
#[cfg(feature = "test-support")]
mod task;
mod thread;

use crate::change::Change;
use crate::error::{Error, Result};
use crate::failure::Failure;
#[cfg(feature = "test-support")]
use crate::memory::Disk;
use crate::sqlite::connection::SqliteConnection;
use group::{Order, Waiting};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// Length of the writer's queue. A caller waits while it is full.
const QUEUE: usize = 256;

/// The handle of the thread or task that owns the writing connection.
#[derive(Clone)]
pub struct Writer {
    queue: mpsc::Sender<Order>,
}

impl Writer {
    pub(crate) fn start(connection: SqliteConnection) -> Result<Self> {
        let (queue, orders) = mpsc::channel(QUEUE);
        let runtime = Handle::current();
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || thread::run(connection, orders, &runtime))
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

    /// Starts a writer in this runtime. `disk` decides the result of each commit.
    #[cfg(feature = "test-support")]
    pub(crate) fn start_task(connection: SqliteConnection, disk: Disk) -> Self {
        let (queue, orders) = mpsc::channel(QUEUE);
        tokio::spawn(task::run(connection, orders, disk));
        Self { queue }
    }
}

#[cfg(test)]
mod tests {
    use super::group::{Order, Waiting};
    use super::thread::{DISTANCE, MANY_PAGES, SOME_COMMITS, SOME_PAGES, is_long, wait_for_urgent};
    use super::*;
    use crate::tx::Tx;
    use std::time::Duration;
    use tokio::time::timeout;

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
            crate::sqlite::options::Options::new(&directory.path().join("test.db"), DISTANCE)
                .create();
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
