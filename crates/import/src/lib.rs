//! The import of an embedded installation into PostgreSQL.
//!
//! The source is held in one transaction, so it cannot change meanwhile. Its last change is the
//! mark that it was moved. The target gets every row unchanged, some at a time. An existing row is
//! never overwritten but compared. So a further import completes an interrupted one, and a target
//! that was changed meanwhile is detected. No node works with the target before the import is
//! complete.

mod chunk;
mod compare;
mod error;
mod marks;
mod table;
mod tables;

pub use error::ImportError;

use chunk::Write;
use database::{Change, Error, Result, Tx};
use error::ImportResult;
use std::sync::Arc;
use std::time::Duration;
use store::import_support::{MOVED, write_mark};
use store::{Store, Verification};
use table::Table;
use tables::TABLES;

/// Seconds for which nodes are watched for a beat. A node beats once a second.
const BEATS: u32 = 15;

const BEAT_PAUSE: Duration = Duration::from_millis(200);

/// A step of an import.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ImportStep {
    /// The books of the source are verified.
    Source,
    /// A table is copied.
    Copy {
        /// The table.
        table: &'static str,
        /// Its rows copied so far.
        done: i64,
        /// All its rows.
        of: i64,
    },
    /// Counts, wallets and ledgers are compared.
    Compare,
    /// The books of the target are verified.
    Target,
}

/// The callback that receives the steps of an import.
pub type Watch = Arc<dyn Fn(ImportStep) + Send + Sync>;

/// The result of an import.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Imported {
    /// All rows are in the target and equal. The field counts the rows of each table.
    Now(Vec<(&'static str, i64)>),
    /// All rows were there before, and nothing changed.
    Before,
}

/// Moves all rows of an embedded database into one on PostgreSQL, and marks the source as moved.
/// `watch` receives each step.
pub async fn import(
    target: &Store,
    source: &Store,
    now_ms: i64,
    watch: Watch,
) -> ImportResult<Imported> {
    if !target.is_shared() || source.is_shared() {
        return Err(Error::Impossible("an import goes from SQLite to PostgreSQL").into());
    }
    let import = Import {
        source: source.clone(),
        target: target.clone(),
        now_ms,
        watch,
    };
    source.db().change(import).await?
}

struct Import {
    source: Store,
    target: Store,
    now_ms: i64,
    watch: Watch,
}

/// The import is a change of the source, which stays locked meanwhile.
impl Change for Import {
    type Output = ImportResult<Imported>;

    async fn apply(&self, tx: &mut Tx) -> Result<ImportResult<Imported>> {
        let imported = self.import(tx).await;
        if imported.is_ok() {
            write_mark(tx, MOVED, self.now_ms).await?;
        }
        Ok(imported)
    }
}

impl Import {
    async fn import(&self, tx: &mut Tx) -> ImportResult<Imported> {
        let source = marks::first_account(tx).await?.ok_or(ImportError::Empty)?;
        if marks::is_done(&mut self.target.db().read().await?, source).await?? {
            return Ok(Imported::Before);
        }
        if self.is_served().await? {
            return Err(ImportError::Served);
        }
        (self.watch)(ImportStep::Source);
        is_sound("source", &self.source.upkeep().verify().await?)?;
        let counts = marks::counts(tx).await?;
        let begin = marks::Begin { source, counts };
        self.target.db().change(begin).await??;
        let mut rows = Vec::with_capacity(TABLES.len());
        for table in &TABLES {
            rows.push((table.name, self.copy(tx, table).await?));
        }
        (self.watch)(ImportStep::Compare);
        self.compare(tx, &rows).await?;
        (self.watch)(ImportStep::Target);
        is_sound("target", &self.target.upkeep().verify().await?)?;
        let marks = marks::all(tx).await?;
        self.target
            .db()
            .change(marks::Finish { source, marks })
            .await?;
        Ok(Imported::Now(rows))
    }

    /// Returns `true` if a node works with the target, which shows by a rising beat.
    async fn is_served(&self) -> Result<bool> {
        let nodes = || self.target.nodes().all();
        let before = nodes().await?;
        if before.is_empty() {
            return Ok(false);
        }
        for _ in 0..BEATS {
            tokio::time::sleep(BEAT_PAUSE).await;
            let now = nodes().await?;
            if now.iter().any(|beat| !before.contains(beat)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies a table, and returns the number of its rows.
    async fn copy(&self, tx: &mut Tx, table: &'static Table) -> ImportResult<i64> {
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
            if !self.target.db().change(write).await? {
                return Err(ImportError::Differs(table.name));
            }
            last = Some(chunk);
        }
    }

    /// Compares the databases. Every row of the source is in the target and equal, so equal counts
    /// mean that there is no other row.
    async fn compare(&self, tx: &mut Tx, rows: &[(&'static str, i64)]) -> ImportResult<()> {
        let mut target = self.target.db().read().await?;
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

fn is_sound(which: &'static str, verification: &Verification) -> ImportResult<()> {
    match verification.violations.first() {
        None => Ok(()),
        Some(first) => Err(ImportError::Unsound {
            which,
            first: first.clone(),
        }),
    }
}
