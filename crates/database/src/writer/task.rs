//! The writer of a database in memory: a task of the calling runtime. No other task runs while it
//! works. In a runtime with paused time no time passes, so tests are deterministic.

use super::group::{GroupFailure, MAX_CHANGES, Order, answer, close, group, make};
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::memory::{Commit, CommitVerdict, Disk};
use crate::sqlite::connection::SqliteConnection;
use crate::tx::{SqliteTx, Tx};
use std::io;
use tokio::sync::mpsc;
use tokio::time::sleep;

/// Runs the writer. `disk` decides the result of each commit.
pub(super) async fn run(
    connection: SqliteConnection,
    mut orders: mpsc::Receiver<Order>,
    disk: Disk,
) {
    let mut tx = Tx::Sqlite(Box::new(SqliteTx::Writer(connection)));
    let mut received = Vec::with_capacity(MAX_CHANGES);
    let mut closing = None;
    while closing.is_none() && orders.recv_many(&mut received, MAX_CHANGES).await > 0 {
        let mut group = group(&mut received, &mut closing);
        if group.is_empty() {
            continue;
        }
        let commit = disk();
        sleep(commit.before).await;
        let made = match prepare(&mut tx, &commit) {
            Ok(()) => make(&mut tx, &mut group),
            Err(error) => (Vec::new(), Some(GroupFailure::new(error))),
        };
        sleep(commit.after).await;
        if !answer(group, made) {
            return;
        }
    }
    close(tx, closing);
}

fn prepare(tx: &mut Tx, commit: &Commit) -> Result<()> {
    let is_full = match commit.verdict {
        CommitVerdict::Made => false,
        CommitVerdict::Full => true,
        CommitVerdict::Failed => {
            let error = io::Error::other("the simulated disk failed");
            return Err(Error::Database(Failure::Io(error)));
        }
    };
    tx.sqlite()?.limit_growth(is_full)
}
