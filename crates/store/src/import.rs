//! Moves an embedded installation to PostgreSQL.
//!
//! The source is held in one transaction, so nobody changes it meanwhile; the last thing done in it is the mark
//! that it is served from elsewhere now. The target gets every row as it is, some at a time. A row that is
//! there is never overwritten but compared, so an import that was interrupted is completed by another one, and
//! a target that has gone on by itself is found out. Nobody works with the target before the import is complete.

mod chunk;
mod compare;
mod marks;
mod table;
mod tables;

use crate::operators::audit;
use crate::upkeep::sweep::{read_mark, write_mark};
use crate::{Store, Verification};
use chunk::Write;
use database::{Change, Error, Result, Tx};
use std::sync::Arc;
use std::time::Duration;
use table::Table;
use tables::TABLES;

/// How long nodes are watched for a beat; each has one a second.
const BEATS: u32 = 15;
const BEAT_PAUSE: Duration = Duration::from_millis(200);

/// What an import is doing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ImportStep {
    /// Verifying the books of the source.
    Source,
    /// Copying a table.
    Copy {
        /// Which.
        table: &'static str,
        /// How many of its rows are there.
        done: i64,
        /// How many it has.
        of: i64,
    },
    /// Comparing counts, wallets and ledgers.
    Compare,
    /// Verifying the books of the target.
    Target,
}

/// Is told what an import is doing.
pub type Watch = Arc<dyn Fn(ImportStep) + Send + Sync>;

/// What an import did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Imported {
    /// Everything is there, and equal: the rows of each table.
    Now(Vec<(&'static str, i64)>),
    /// It was there before; nothing changed.
    Before,
}

/// Why an import did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A database failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// There is nothing to import.
    #[error("it holds no account: there is nothing to import")]
    Empty,
    /// The target is in use.
    #[error(
        "the PostgreSQL database holds accounts that did not come from there: import into an empty database"
    )]
    OtherData,
    /// The target belongs to another installation.
    #[error(
        "another installation was imported into the PostgreSQL database, or begun to be: import into an \
         empty database"
    )]
    OtherImport,
    /// A node works with the target.
    #[error("ogene serves from the PostgreSQL database: stop it everywhere, and import again")]
    Served,
    /// The books do not add up.
    #[error("the books of the {which} do not add up, see `ogene verify`: {first}")]
    Unsound {
        /// Source or target.
        which: &'static str,
        /// The first violation.
        first: String,
    },
    /// The databases do not agree.
    #[error(
        "the {0} of the PostgreSQL database are not those of the source: one of the two was used after the \
         import had begun. Empty the PostgreSQL database and import again"
    )]
    Differs(&'static str),
}

/// Who may work with a database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// Whoever has it.
    Open,
    /// Nobody: an import into it is not complete.
    Importing,
    /// Nobody: it was moved to PostgreSQL.
    Moved,
}

type Outcome<T> = std::result::Result<T, ImportError>;

impl Store {
    /// Moves everything from an embedded database into this one, which is PostgreSQL's, and marks the source as
    /// moved.
    pub async fn import(&self, source: &Self, now_ms: i64, watch: Watch) -> Outcome<Imported> {
        if self.db.is_embedded() || !source.db.is_embedded() {
            return Err(Error::Impossible("an import goes from SQLite to PostgreSQL").into());
        }
        let import = Import {
            source: source.clone(),
            target: self.clone(),
            now_ms,
            watch,
        };
        source.db.change(import).await?
    }

    /// Who may work with this database.
    pub async fn standing(&self) -> Result<Standing> {
        let mut tx = self.db.read().await?;
        Ok(if read_mark(&mut tx, marks::IMPORTING).await? != 0 {
            Standing::Importing
        } else if read_mark(&mut tx, marks::MOVED).await? != 0 {
            Standing::Moved
        } else {
            Standing::Open
        })
    }
}

struct Import {
    source: Store,
    target: Store,
    now_ms: i64,
    watch: Watch,
}

/// A change of the source.
impl Change for Import {
    type Output = Outcome<Imported>;

    async fn apply(&self, tx: &mut Tx) -> Result<Outcome<Imported>> {
        let imported = self.import(tx).await;
        if imported.is_ok() {
            write_mark(tx, marks::MOVED, self.now_ms).await?;
        }
        Ok(imported)
    }
}

impl Import {
    async fn import(&self, tx: &mut Tx) -> Outcome<Imported> {
        let source = marks::first_account(tx).await?.ok_or(ImportError::Empty)?;
        if marks::is_done(&mut self.target.db.read().await?, source).await?? {
            return Ok(Imported::Before);
        }
        if self.is_served().await? {
            return Err(ImportError::Served);
        }
        (self.watch)(ImportStep::Source);
        is_sound("source", &self.source.verify().await?)?;
        let audited = read_mark(tx, audit::COUNT).await?;
        let begin = marks::Begin { source, audited };
        self.target.db.change(begin).await??;
        let mut rows = Vec::with_capacity(TABLES.len());
        for table in &TABLES {
            rows.push((table.name, self.copy(tx, table).await?));
        }
        (self.watch)(ImportStep::Compare);
        self.compare(tx, &rows).await?;
        (self.watch)(ImportStep::Target);
        is_sound("target", &self.target.verify().await?)?;
        let marks = marks::all(tx).await?;
        self.target
            .db
            .change(marks::Finish { source, marks })
            .await?;
        Ok(Imported::Now(rows))
    }

    /// Whether a node works with the target: one whose beat rises.
    async fn is_served(&self) -> Result<bool> {
        let before = self.target.nodes().await?;
        if before.is_empty() {
            return Ok(false);
        }
        for _ in 0..BEATS {
            tokio::time::sleep(BEAT_PAUSE).await;
            let now = self.target.nodes().await?;
            if now.iter().any(|beat| !before.contains(beat)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies a table; gives how many rows it has.
    async fn copy(&self, tx: &mut Tx, table: &'static Table) -> Outcome<i64> {
        let of = compare::count(tx, table).await?;
        let (mut done, mut last) = (0, None);
        loop {
            (self.watch)(ImportStep::Copy {
                table: table.name,
                done,
                of,
            });
            let chunk = Arc::new(chunk::read(tx, table, last.as_deref()).await?);
            if chunk.rows == 0 {
                return Ok(of);
            }
            done += i64::try_from(chunk.rows).unwrap_or(0);
            let write = Write {
                table,
                chunk: Arc::clone(&chunk),
            };
            if !self.target.db.change(write).await? {
                return Err(ImportError::Differs(table.name));
            }
            last = Some(chunk);
        }
    }

    /// Every row of the source is in the target and equal; so with equal counts there is no other.
    async fn compare(&self, tx: &mut Tx, rows: &[(&'static str, i64)]) -> Outcome<()> {
        let mut target = self.target.db.read().await?;
        for (table, (name, count)) in TABLES.iter().zip(rows) {
            if compare::count(&mut target, table).await? != *count {
                return Err(ImportError::Differs(name));
            }
        }
        let ((wallets, entries), (theirs, their_entries)) = (
            compare::books(tx).await?,
            compare::books(&mut target).await?,
        );
        if wallets != theirs {
            return Err(ImportError::Differs("wallets"));
        }
        if entries != their_entries {
            return Err(ImportError::Differs("entries of the ledger"));
        }
        Ok(())
    }
}

fn is_sound(which: &'static str, verification: &Verification) -> Outcome<()> {
    match verification.violations.first() {
        None => Ok(()),
        Some(first) => Err(ImportError::Unsound {
            which,
            first: first.clone(),
        }),
    }
}
