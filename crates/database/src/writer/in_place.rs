//! The writer of a database in memory: a task of the calling runtime. No other task runs while it
//! works. In a runtime with paused time no time passes, so tests are deterministic.

use super::{GroupFailure, MAX_CHANGES, QUEUE, Writer, answer, close, group, make};
use crate::db::{SqliteTx, Tx};
use crate::error::{Error, Failure, Result};
use crate::memory::{Commit, CommitVerdict, Disk};
use crate::sqlite;
use std::io;
use tokio::sync::mpsc;
use tokio::time::sleep;

impl Writer {
    /// Starts a writer in this runtime. `disk` decides the result of each commit.
    pub(crate) fn start_in_place(connection: sqlite::Connection, disk: Disk) -> Self {
        let (queue, mut orders) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
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
        });
        Self { queue }
    }
}

fn prepare(tx: &mut Tx, commit: &Commit) -> Result<()> {
    let is_full = match commit.verdict {
        CommitVerdict::Made => false,
        CommitVerdict::Full => true,
        CommitVerdict::Failed => {
            let error = io::Error::other("the disk failed, as it was told to");
            return Err(Error::Database(Failure::Io(error)));
        }
    };
    tx.sqlite()?.keep_from_growing(is_full)
}
