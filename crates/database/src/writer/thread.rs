//! The writer's thread: it commits one group after the other, and checkpoints the write-ahead log.

use super::group::{MAX_CHANGES, Order, close, commit, group};
use crate::sqlite::connection::SqliteConnection;
use crate::tx::{SqliteTx, Tx};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longest wait of deferrable changes for an urgent one, from the start of the last commit.
pub(super) const DISTANCE: Duration = Duration::from_millis(5);

/// Pages after which an idle writer checkpoints the write-ahead log. The number is small, so that
/// changes that arrive meanwhile wait briefly.
pub(super) const SOME_PAGES: u32 = 400;

/// Commits before an idle checkpoint. A checkpoint takes two syncs, which under load would follow
/// each fifth to eighth commit.
pub(super) const SOME_COMMITS: u32 = 32;

/// Pages after which the log is checkpointed in any case. Under load many pages are in the log
/// several times, and are written back once.
pub(super) const MANY_PAGES: u32 = 4_000;

pub(super) fn run(
    connection: SqliteConnection,
    mut orders: mpsc::Receiver<Order>,
    runtime: &Handle,
) {
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
            || (commit(&mut tx, group) && checkpoint(&mut tx, &mut in_log, orders.is_empty()));
        if !is_sound {
            // The connection is leaked, because closing it would checkpoint the log. The disk may
            // hold less than the pages that are read.
            std::mem::forget(tx);
            return;
        }
    }
    close(tx, closing);
}

/// Waits for an urgent change, at most this long.
pub(super) async fn wait_for_urgent(
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

/// Checkpoints the log if it is long, after the callers of this commit are answered. Returns `true`
/// if the writer can go on. `in_log` counts the commits since the last checkpoint.
fn checkpoint(tx: &mut Tx, in_log: &mut u32, is_idle: bool) -> bool {
    *in_log += 1;
    if !is_long(SqliteConnection::wal_pages(), *in_log, is_idle) {
        return true;
    }
    *in_log = 0;
    let made = tx.sqlite().and_then(|connection| connection.checkpoint());
    if let Err(error) = &made {
        tracing::error!(%error, "database: commits stopped, a sync failed");
    }
    made.is_ok()
}

/// Returns `true` if a log of so many pages and commits is due for a checkpoint.
pub(super) const fn is_long(pages: u32, commits: u32, is_idle: bool) -> bool {
    pages >= MANY_PAGES || (is_idle && pages >= SOME_PAGES && commits >= SOME_COMMITS)
}
