//! Uploads of a customer: a file of recipients is read once, and its rows are kept for a day.
//!
//! The rows are in the database, so that any node answers the next request. A file is read one at
//! a time on each node, and its rows are written in parts while it is read.

use crate::context::Context;
use crate::error::{Error, within};
use domain::AccountId;
use domain::upload::{
    CellFault, INCOMPLETE_KEPT_MS, KEPT_MS, MAX_CELL_BYTES, MAX_COLUMNS, MAX_ROWS, MAX_UPLOADS,
    PackedRows, file_name,
};
use sheets::{Limits, Origin, Row, SheetError};
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use store::{Upload, UploadId};
use tokio::sync::{Semaphore, mpsc};

/// The limits of a file.
const LIMITS: Limits = Limits {
    rows: MAX_ROWS,
    columns: MAX_COLUMNS,
    cell_bytes: MAX_CELL_BYTES,
    inflated_bytes: 512 << 20,
    strings_bytes: 64 << 20,
};
/// The size from which rows are written as a part.
const PART_BYTES: usize = 256 << 10;
/// Parts that wait for the database while the file is read.
const WAITING_PARTS: usize = 2;
/// The turn of the one file that is read at a time.
static TURN: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(1));

/// The reason why a file was not kept.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The account has as many uploads as it may have.
    #[error("{MAX_UPLOADS} files are kept already. Delete one of them, or wait a day.")]
    Full,
    /// The file is no table, or exceeds a limit.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// The service is shutting down, or the upload was deleted meanwhile.
    #[error("The file was not kept. Upload it again.")]
    Ended,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
}

/// The uploads of an account.
#[derive(Clone)]
pub struct Uploads {
    context: Arc<Context>,
    account: AccountId,
}

/// The counts of a file that was read.
struct Counts {
    origin: Origin,
    rows: u32,
    columns: usize,
}

impl Uploads {
    pub(crate) fn new(context: Arc<Context>, account: AccountId) -> Self {
        Self { context, account }
    }

    /// Returns the uploads, newest first.
    pub async fn list(&self) -> Result<Vec<Upload>, Error> {
        let uploads = self.context.store.uploads();
        let list = uploads.list(self.account, self.context.clock.now_ms());
        within(async { Ok(list.await?) }).await
    }

    /// Returns an upload.
    pub async fn find(&self, id: UploadId) -> Result<Option<Upload>, Error> {
        let uploads = self.context.store.uploads();
        let found = uploads.find(self.account, id, self.context.clock.now_ms());
        within(async { Ok(found.await?) }).await
    }

    /// Deletes an upload. Returns `false` if there is none.
    pub async fn remove(&self, id: UploadId) -> Result<bool, Error> {
        Ok(self
            .context
            .store
            .uploads()
            .remove(self.account, id)
            .await?)
    }

    /// Returns the rows of a part, or `None` after the last one.
    pub(crate) async fn part(&self, id: UploadId, part: i64) -> Result<Option<Vec<u8>>, Error> {
        let part = self.context.store.uploads().part(id, part);
        within(async { Ok(part.await?) }).await
    }

    /// Reads a file and keeps its rows. If the caller no longer waits, the rows are removed.
    pub async fn keep(&self, name: &str, file: File) -> Result<Upload, UploadError> {
        // The semaphore is never closed.
        let _turn = TURN.acquire().await;
        let (uploads, now_ms) = (self.context.store.uploads(), self.context.clock.now_ms());
        let begun = Upload {
            id: i64::try_from(self.context.random.number() >> 1).unwrap_or(i64::MAX),
            account: self.account,
            name: file_name(name),
            form: String::new(),
            rows: 0,
            columns: 0,
            parts: 0,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + INCOMPLETE_KEPT_MS,
        };
        if !uploads.begin(begun.clone(), MAX_UPLOADS).await? {
            return Err(UploadError::Full);
        }
        let mut unfinished = Unfinished {
            uploads: self.clone(),
            id: Some(begun.id),
        };
        let (parts, mut arriving) = mpsc::channel(WAITING_PARTS);
        let reading = tokio::task::spawn_blocking(move || read(file, &parts));
        let mut count = 0;
        while let Some(octets) = arriving.recv().await {
            uploads.add_part(begun.id, count, octets).await?;
            count += 1;
        }
        let counts = reading.await.map_err(|_| UploadError::Ended)??;
        let whole = Upload {
            form: in_words(&counts.origin),
            rows: i64::from(counts.rows),
            columns: i64::try_from(counts.columns).unwrap_or(i64::MAX),
            parts: count,
            expires_at_ms: self.context.clock.now_ms() + KEPT_MS,
            ..begun
        };
        if !uploads.complete(whole.clone()).await? {
            return Err(UploadError::Ended);
        }
        unfinished.id = None;
        Ok(whole)
    }
}

/// An upload that is removed unless it becomes whole.
struct Unfinished {
    uploads: Uploads,
    id: Option<UploadId>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let uploads = self.uploads.clone();
            // An upload that cannot be removed now ends after an hour.
            tokio::spawn(async move { uploads.remove(id).await });
        }
    }
}

/// Reads a file, and passes its rows on in parts. It ends early when nobody takes them.
fn read(file: File, parts: &mpsc::Sender<Vec<u8>>) -> Result<Counts, SheetError> {
    let mut packed = PackedRows::default();
    let (mut rows, mut columns) = (0, 0);
    let mut each = |row: &Row| {
        let cells = (0..row.len()).map(|at| (row.cell(at), row.fault(at).map(fault)));
        packed.push(row.number(), cells);
        rows += 1;
        columns = row.len().max(columns);
        if packed.octets().len() >= PART_BYTES && parts.blocking_send(packed.take()).is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let origin = sheets::read(file, &LIMITS, &mut each)?;
    if !packed.is_empty() {
        // A caller who no longer waits needs no part.
        let _ = parts.blocking_send(packed.take());
    }
    Ok(Counts {
        origin,
        rows,
        columns,
    })
}

const fn fault(fault: sheets::CellFault) -> CellFault {
    match fault {
        sheets::CellFault::NoValue => CellFault::NoValue,
        sheets::CellFault::Error => CellFault::Error,
        sheets::CellFault::DigitsLost => CellFault::DigitsLost,
        sheets::CellFault::TooLong => CellFault::TooLong,
        sheets::CellFault::Quote => CellFault::Quote,
    }
}

/// Returns the form of a file in words.
fn in_words(origin: &Origin) -> String {
    match origin {
        Origin::Csv {
            encoding,
            delimiter,
        } => {
            let delimiter = match delimiter {
                ';' => "semicolons",
                '\t' => "tabs",
                _ => "commas",
            };
            format!("CSV in {encoding}, with {delimiter}")
        }
        Origin::Xlsx { sheet } => format!("XLSX, sheet {sheet}"),
    }
}
