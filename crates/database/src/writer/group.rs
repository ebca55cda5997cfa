//! A group of changes, which one commit makes durable.

use crate::change::Change;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::tx::{SqliteTx, Tx};
use std::future::Future;
use std::iter::repeat_with;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Changes in one commit at most.
pub(super) const MAX_CHANGES: usize = 64;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub(super) enum Order {
    Change(Box<dyn Pending>),
    Close(oneshot::Sender<()>),
}

impl Order {
    pub(super) fn is_deferrable(&self) -> bool {
        matches!(self, Self::Change(change) if change.is_deferrable())
    }
}

/// A change without its type. It is applied first, and answered once the commit is known.
pub(super) trait Pending: Send {
    fn is_deferrable(&self) -> bool;
    fn apply<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Result<()>>;
    fn answer(self: Box<Self>, failure: Option<Error>);
}

pub(super) struct Waiting<C: Change> {
    pub(super) change: C,
    pub(super) output: Option<C::Output>,
    pub(super) answer: oneshot::Sender<Result<C::Output>>,
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

/// Returns the changes among the received orders. `closing` receives a request to close.
pub(super) fn group(
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
pub(super) fn close(tx: Tx, closing: Option<oneshot::Sender<()>>) {
    if let Tx::Sqlite(connection) = tx
        && let SqliteTx::Writer(connection) = *connection
        && let Err(error) = connection.close()
    {
        tracing::warn!(%error, "database: not closed cleanly, nothing committed is lost");
    }
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// Applies a group of changes, commits them together, and answers the callers. Returns `true` if
/// the writer can go on.
pub(super) fn commit(tx: &mut Tx, mut group: Vec<Box<dyn Pending>>) -> bool {
    let made = make(tx, &mut group);
    answer(group, made)
}

/// The result of a group: the failures of single changes, and the failure of the whole.
pub(super) type Made = (Vec<Option<Error>>, Option<GroupFailure>);

pub(super) fn make(tx: &mut Tx, group: &mut [Box<dyn Pending>]) -> Made {
    let mut failures = Vec::with_capacity(group.len());
    let group_failure = apply(tx, group, &mut failures).err().map(GroupFailure::new);
    if group_failure.is_some() {
        // Some failures have already ended the transaction, so the rollback may fail.
        let _ = command(tx, "rollback");
    }
    (failures, group_failure)
}

/// Answers the callers. Returns `true` if the writer can go on.
pub(super) fn answer(group: Vec<Box<dyn Pending>>, (failures, mut group_failure): Made) -> bool {
    let is_sound = group_failure
        .as_ref()
        .is_none_or(|group_failure| group_failure.kind != FailureKind::Unknown);
    let failures = failures.into_iter().chain(repeat_with(|| None));
    for (change, failure) in group.into_iter().zip(failures) {
        change.answer(failure.or_else(|| group_failure.as_mut().map(GroupFailure::share)));
    }
    is_sound
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
pub(super) struct GroupFailure {
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
    pub(super) fn new(error: Error) -> Self {
        let kind = if error.is_unknown() {
            tracing::error!(%error, "database: commits stopped, a sync failed");
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
    tx.sqlite()?.run_transaction_command(text)
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
