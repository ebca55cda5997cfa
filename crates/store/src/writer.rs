//! SQLite's one writer. Changes that arrive together share one durable commit.
//!
//! There is no linger: whatever arrived while the last commit ran is the next group. Each change of a
//! group runs in a savepoint of its own, so that one that fails costs the others nothing.

use crate::db::{Change, SqliteTx, Tx};
use crate::error::{Error, Result};
use sqlx::{Connection, SqliteConnection};
use std::future::Future;
use std::pin::Pin;
use tokio::sync::{mpsc, oneshot};

/// Most changes in one commit.
const MOST_CHANGES: usize = 64;
/// Changes that may wait for the writer; those who bring more wait themselves.
const QUEUE: usize = 256;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The way to the task that owns the writing connection.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Order>,
}

enum Order {
    Change(Box<dyn Pending>),
    Close(oneshot::Sender<()>),
}

/// A change without its type: applied first, answered when the commit is known.
trait Pending: Send {
    fn apply<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Result<()>>;
    fn answer(self: Box<Self>, failure: Option<Error>);
}

struct Waiting<C: Change> {
    change: C,
    output: Option<C::Output>,
    answer: oneshot::Sender<Result<C::Output>>,
}

impl<C: Change> Pending for Waiting<C> {
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
        // Whoever asked may have gone; the change stands all the same.
        let _ = self.answer.send(result);
    }
}

impl Writer {
    pub(crate) fn start(connection: SqliteConnection) -> Self {
        let (queue, orders) = mpsc::channel(QUEUE);
        tokio::spawn(run(connection, orders));
        Self { queue }
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
        result.await.map_err(|_| Error::Closed)?
    }

    /// Finishes what waits, then closes the connection.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.queue.send(Order::Close(done)).await.is_ok() {
            // An error means that the task has ended already.
            let _ = closed.await;
        }
    }
}

async fn run(connection: SqliteConnection, mut orders: mpsc::Receiver<Order>) {
    let mut tx = Tx::Sqlite(Box::new(SqliteTx::Writer(connection)));
    let mut received = Vec::with_capacity(MOST_CHANGES);
    let mut closing = None;
    while closing.is_none() && orders.recv_many(&mut received, MOST_CHANGES).await > 0 {
        let mut group = Vec::with_capacity(received.len());
        for order in received.drain(..) {
            match order {
                Order::Change(change) => group.push(change),
                Order::Close(done) => closing = Some(done),
            }
        }
        if !group.is_empty() {
            commit(&mut tx, group).await;
        }
    }
    if let Tx::Sqlite(connection) = tx
        && let SqliteTx::Writer(connection) = *connection
        && let Err(error) = connection.close().await
    {
        tracing::warn!(%error, "the database did not close cleanly; nothing committed is lost");
    }
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// Applies a group of changes and commits them together.
async fn commit(tx: &mut Tx, mut group: Vec<Box<dyn Pending>>) {
    if group.len() == 1 {
        let mut change = group.remove(0);
        let failure = alone(tx, &mut *change).await.err();
        change.answer(failure);
        return;
    }
    let mut failures: Vec<Option<Error>> = Vec::with_capacity(group.len());
    let mut broken = None;
    // Each text is a turn of two threads, so what follows one another is said at once.
    let mut text = "begin immediate; savepoint change";
    for change in &mut group {
        if broken.is_none() {
            broken = step(tx, text, &mut failures).await;
        }
        let failure = match &broken {
            Some(_) => None,
            None => change.apply(tx).await.err(),
        };
        text = match &failure {
            Some(_) => "rollback to change",
            None => "release change; savepoint change",
        };
        failures.push(failure);
    }
    if broken.is_none() && failures.last().is_some_and(Option::is_some) {
        broken = step(tx, text, &mut failures).await;
    }
    if broken.is_none() {
        broken = statement(tx, "commit").await.err();
    }
    let mut fate = broken.map(Fate::new);
    if fate.is_some() {
        // Some failures have ended the transaction already: then there is nothing to roll back.
        let _ = statement(tx, "rollback").await;
    }
    for (change, failure) in group.into_iter().zip(failures) {
        change.answer(failure.or_else(|| fate.as_mut().map(Fate::share)));
    }
}

/// The failure of a whole group, told to each of its changes.
struct Fate {
    first: Option<Error>,
    unavailable: bool,
    text: String,
}

impl Fate {
    fn new(error: Error) -> Self {
        Self {
            unavailable: error.is_unavailable(),
            text: error.to_string(),
            first: Some(error),
        }
    }

    fn share(&mut self) -> Error {
        self.first.take().unwrap_or_else(|| {
            if self.unavailable {
                Error::Database(sqlx::Error::Io(std::io::Error::other(self.text.clone())))
            } else {
                Error::Database(sqlx::Error::Protocol(self.text.clone()))
            }
        })
    }
}

async fn alone(tx: &mut Tx, change: &mut dyn Pending) -> Result<()> {
    statement(tx, "begin immediate").await?;
    let applied = match change.apply(tx).await {
        Ok(()) => statement(tx, "commit").await,
        Err(error) => Err(error),
    };
    if applied.is_err() {
        // As above: the transaction may have ended already.
        let _ = statement(tx, "rollback").await;
    }
    applied
}

/// Goes from one change to the next; what is given back ends the group. Where the transaction has ended with
/// the change before, that one's failure is the reason.
async fn step(tx: &mut Tx, text: &'static str, failures: &mut [Option<Error>]) -> Option<Error> {
    let error = statement(tx, text).await.err()?;
    Some(failures.last_mut().and_then(Option::take).unwrap_or(error))
}

async fn statement(tx: &mut Tx, text: &'static str) -> Result<()> {
    crate::sql::on!(tx, |connection| sqlx::query(text)
        .execute(connection)
        .await
        .map(drop))?;
    Ok(())
}
