//! All SQL of Ogene, one file for each noun.
//!
//! One SQL text serves SQLite and PostgreSQL; the crate `database` handles the dialects. All
//! changes are transactions ([`database::Change`]). On SQLite, changes that arrive together share a
//! commit. Money moves in two places: [`messages::accept`] charges, and [`deliveries::settle`]
//! refunds.

mod accounts;
mod batches;
mod cluster;
mod deliveries;
mod idempotency;
mod import;
mod lists;
mod messages;
mod operators;
mod outbox;
mod rows;
mod upkeep;
mod wallets;

pub use accounts::paused_blocks::PausedBlock;
pub use accounts::revision::Revision;
pub use accounts::senders::RegisteredSender;
pub use accounts::tokens::TokenInfo;
pub use batches::{
    Batch, BatchKind, Claim, Claimed, Content, Ended, HELD, MAX_RECIPIENTS, Progress, WAITING,
};
pub use cluster::hints::Hints;
pub use cluster::nodes::{Bind, NodeBeat};
pub use deliveries::receipts::{CarrierReport, Receipt, ReceiptStatus};
pub use deliveries::settle::{CallbackRoom, MessageFacts, Planner, SecondLeg, Settled};
pub use deliveries::unreadable_deliveries;
pub use idempotency::{KeptAnswer, KeyedRequest, StoredAnswer};
pub use import::{ImportError, ImportStep, Imported, Standing, Watch};
pub use lists::{AccountRowKey, Listed};
pub use messages::accept::{Accepted, KeyedSend, MakeAnswer, NewMessage};
pub use messages::reports::{MessageReport, StatusCounts};
pub use operators::audit::{AuditEntry, By};
pub use operators::content::ContentRule;
pub use outbox::{
    AttemptOutcome, Attempted, CALLBACK_STATES, Callback, CallbackAttempt, CallbackSecret,
    DeadOrigin, DeadOriginKey, DueOrigins, EventKind, Finished, OriginKey,
};
pub use upkeep::backup::BackupError;
pub use upkeep::retention::{CarrierIdKey, DeadKey, Removed, TextCursor};
pub use upkeep::sweep::Expiry;
pub use upkeep::verify::Verification;
pub use wallets::{Credited, EntryKind, LedgerEntry, LedgerKey};

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

/// Returns the statements for psql that distribute the tables over the workers of Citus.
pub fn citus_statements() -> String {
    database::citus_statements(&SCHEMA)
}

/// The database, as the other crates see it.
#[derive(Clone)]
pub struct Store {
    db: Db,
    windows: Arc<messages::duplicates::OpenWindows>,
    counted: Arc<messages::reports::Counted>,
}

impl Store {
    /// Opens a database, and makes or upgrades its tables.
    pub async fn open(target: &Target) -> Result<Self> {
        Ok(Self::of(Db::open(target, &SCHEMA).await?))
    }

    /// Makes the directory of an embedded database if it is missing, and in it the file that is
    /// locked before the database is opened.
    pub fn prepare(directory: &Path, lock: &str) -> Result<()> {
        let prepared = prepare_directory(directory).and_then(|()| {
            make_file(directory, lock).map_err(|source| Error::directory(directory, source))
        });
        prepared.map_err(|error| error.at_start(directory))
    }

    /// Opens a database in memory. All handles of the same name in this process share it, and it
    /// ends with the last one. A task of the calling runtime makes the changes, and no thread is
    /// started.
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

    /// Returns when no change is possible any more: the database was closed, or its disk failed to
    /// store a write. A server must then end.
    pub async fn ended(&self) {
        self.db.ended().await;
    }

    /// Finishes the queued changes and closes all connections.
    pub async fn close(&self) {
        self.db.close().await;
    }

    /// Returns all buckets of the message tables.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + use<> {
        rows::buckets(self.db.is_embedded())
    }

    /// Returns the bucket of the message tables in which an account's rows live.
    pub fn bucket_of(&self, account: AccountId) -> Bucket {
        rows::bucket_of(account, self.db.is_embedded())
    }

    /// Returns the same database, treated as if its buckets lay on several servers, for tests.
    #[must_use]
    pub fn as_distributed(mut self) -> Self {
        self.db = self.db.as_distributed();
        self
    }

    /// Splits work into the parts that one transaction each can do: all of it where one server has
    /// all buckets. The order within a part stays.
    pub fn split_by_transaction<T>(
        &self,
        work: impl IntoIterator<Item = T>,
        bucket: impl Fn(&T) -> Bucket,
    ) -> Vec<Vec<T>> {
        let mut parts: Vec<(Bucket, Vec<T>)> = Vec::new();
        for one in work {
            let bucket = bucket(&one);
            let may_join =
                |(of, _): &&mut (Bucket, Vec<T>)| self.db.may_share_transaction(of, &bucket);
            match parts.iter_mut().find(may_join) {
                Some((_, part)) => part.push(one),
                None => parts.push((bucket, vec![one])),
            }
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// Returns the time of the server's clock in Unix milliseconds, or `None` without a server.
    pub async fn server_ms(&self) -> Result<Option<i64>> {
        if self.db.is_embedded() {
            return Ok(None);
        }
        let reported: i64 = self
            .db
            .fetch_one(query(
                "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
            ))
            .await?;
        Ok(Some(reported))
    }

    /// Returns `true` if several nodes may work on this database at the same time.
    pub fn is_shared(&self) -> bool {
        !self.db.is_embedded()
    }
}
