//! Every line of SQL of Ogene, one file per noun.
//!
//! One SQL text serves SQLite and PostgreSQL; the dialects meet in the crate `database`. All changes are
//! transactions ([`database::Change`]); on SQLite, changes that arrive together share a commit. Money moves in
//! two places: [`messages::accept`] charges, and [`deliveries::settle`] refunds.

mod accounts;
mod batches;
mod citus;
mod cluster;
mod deliveries;
mod import;
mod messages;
mod operators;
mod outbox;
mod rows;
mod upkeep;
mod wallets;

pub use accounts::paused_blocks::PausedBlock;
pub use accounts::revision::Revision;
pub use accounts::tokens::TokenInfo;
pub use batches::{
    Batch, BatchKind, Claim, Claimed, Content, Ended, HELD, MOST_RECIPIENTS, Progress, WAITING,
};
pub use citus::citus;
pub use cluster::hints::Hints;
pub use cluster::nodes::{Bind, NodeBeat};
pub use deliveries::receipts::{CarrierReport, Receipt, ReceiptWord};
pub use deliveries::settle::{CallbackRoom, Planner, SecondLeg, Settled, Settling};
pub use deliveries::unreadable_deliveries;
pub use import::{ImportError, ImportStep, Imported, Standing, Watch};
pub use messages::accept::{Accepted, NewMessage};
pub use messages::reports::{MessageReport, StatusCounts};
pub use operators::audit::{AuditEntry, By};
pub use operators::content::ContentRule;
pub use outbox::{
    Attempted, CALLBACK_STATES, Callback, CallbackAttempt, CallbackSecret, DeadOrigin, DueOrigins,
    EventKind, Finished, OriginKey, Outcome,
};
pub use upkeep::backup::BackupError;
pub use upkeep::retention::{DeadKey, PartKey, Removed, TextCursor};
pub use upkeep::sweep::Expiry;
pub use upkeep::verify::Verification;
pub use wallets::{Credited, EntryKind, LedgerEntry};

use database::{
    Db, Disk, Error, Migration, Result, Schema, Target, make_file, prepare_directory, query,
};
use domain::{AccountId, Bucket};
use std::path::Path;
use std::sync::Arc;

static SCHEMA: Schema = Schema {
    sqlite: &[Migration {
        version: 1,
        name: "initial",
        sql: include_str!("../migrations/sqlite/0001_initial.sql"),
    }],
    postgres: &[Migration {
        version: 1,
        name: "initial",
        sql: include_str!("../migrations/postgres/0001_initial.sql"),
    }],
};

/// The database, as the rest of Ogene sees it.
#[derive(Clone)]
pub struct Store {
    db: Db,
    windows: Arc<messages::duplicates::Remembered>,
    counted: Arc<messages::reports::Counted>,
}

impl Store {
    /// Opens a database, making or upgrading its tables.
    pub async fn open(target: &Target) -> Result<Self> {
        Ok(Self::of(Db::open(target, &SCHEMA).await?))
    }

    /// Makes the directory of an embedded database, and in it the file by which it is locked before it is opened, where
    /// they are not there.
    pub fn prepare(directory: &Path, lock: &str) -> Result<()> {
        let prepared = prepare_directory(directory).and_then(|()| {
            make_file(directory, lock).map_err(|source| Error::directory(directory, source))
        });
        prepared.map_err(|error| error.at_start(directory))
    }

    /// Opens a database in memory. All that opens the same name in this process has the same one, which lasts as
    /// long as one of them does. Changes are made by a task of the runtime that this is called in, and nothing
    /// runs in a thread of its own.
    #[expect(
        clippy::unused_async,
        reason = "it is opened as the other databases are"
    )]
    pub async fn in_memory(name: &str, disk: Disk) -> Result<Self> {
        Ok(Self::of(Db::in_memory(name, disk, &SCHEMA)?))
    }

    fn of(db: Db) -> Self {
        Self {
            db,
            windows: Arc::default(),
            counted: Arc::default(),
        }
    }

    /// Comes back when nothing can be changed any more: the database was closed, or its disk has failed to keep
    /// what was written to an embedded one, and whoever serves it has to end.
    pub async fn ended(&self) {
        self.db.ended().await;
    }

    /// Finishes what waits and ends all connections.
    pub async fn close(&self) {
        self.db.close().await;
    }

    /// All parts of the message tables.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + use<> {
        rows::buckets(self.db.is_embedded())
    }

    /// The part of the message tables in which an account's rows live.
    pub fn bucket_of(&self, account: AccountId) -> Bucket {
        rows::bucket_of(account, self.db.is_embedded())
    }

    /// The same database, worked on as if its buckets lay on several servers: for tests.
    #[must_use]
    pub fn spread(mut self) -> Self {
        self.db = self.db.as_citus();
        self
    }

    /// The bucket that a change of rows in this one must keep to: itself where buckets may lie on several servers, so that
    /// money never moves on two at once; none where one server has all of them, and one change of many costs less than many.
    pub fn bound(&self, bucket: Bucket) -> Option<Bucket> {
        self.db.is_citus().then_some(bucket)
    }

    /// What the server's clock tells, Unix milliseconds; nothing where there is no server.
    pub async fn server_ms(&self) -> Result<Option<i64>> {
        if self.db.is_embedded() {
            return Ok(None);
        }
        let told: i64 = self
            .db
            .fetch_one(query(
                "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
            ))
            .await?;
        Ok(Some(told))
    }

    /// Whether several nodes may work on this database at the same time.
    pub fn is_shared(&self) -> bool {
        !self.db.is_embedded()
    }
}
