//! The parts of the store that an import of a whole database needs, since it moves rows as they are
//! stored.

use crate::accounts::revision::touch;
use crate::buckets::Buckets;
use crate::deliveries::carrier_ids::stored::{decode, encode};
use crate::operators::audit;
use crate::top_ups;
use crate::upkeep::marks;
use database::{Db, Result, Tx};
use domain::{AccountId, Bucket, MessageId};
use std::collections::{BTreeMap, BTreeSet};

/// The mark of a target under import. Its value is the first account of the source.
pub const IMPORTING: &str = "importing";
/// The mark of a source that was moved. Its value is the time.
pub const MOVED: &str = "moved";
/// The mark that counts the entries of the audit.
pub const AUDIT_COUNT: &str = audit::COUNT;

/// The marks that count the receipts of top-ups.
pub const RECEIPT_COUNTS: [&str; 2] = top_ups::RECEIPT_COUNTS;

/// The use that a database allows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ImportState {
    /// Any process may use it.
    Open,
    /// No process may use it: an import into it is not complete.
    Importing,
    /// No process may use it: it was moved to PostgreSQL.
    Moved,
}

/// Returns the use that a database allows.
pub(crate) async fn import_state(db: &Db) -> Result<ImportState> {
    let mut tx = db.read().await?;
    Ok(if read_mark(&mut tx, IMPORTING).await? != 0 {
        ImportState::Importing
    } else if read_mark(&mut tx, MOVED).await? != 0 {
        ImportState::Moved
    } else {
        ImportState::Open
    })
}

/// Returns the value of a mark, or zero.
pub async fn read_mark(tx: &mut Tx, name: &str) -> Result<i64> {
    marks::read_mark(tx, name).await
}

/// Sets a mark.
pub async fn write_mark(tx: &mut Tx, name: &str, value: i64) -> Result<()> {
    marks::write_mark(tx, name, value).await
}

/// Raises the revision of accounts and settings, so that nodes read them again.
pub async fn raise_revision(tx: &mut Tx) -> Result<()> {
    touch(tx).await
}

/// Returns all buckets of PostgreSQL.
pub fn server_buckets() -> impl Iterator<Item = Bucket> {
    Buckets::OF_SERVER.all()
}

/// Returns the bucket of an account on PostgreSQL.
pub fn server_bucket_of(account: AccountId) -> Bucket {
    Buckets::OF_SERVER.account(account)
}

/// Returns the bucket on PostgreSQL of rows that are keyed by a carrier's id alone.
pub fn server_bucket_of_id(carrier: &str, id: &str) -> Bucket {
    Buckets::OF_SERVER.carrier_id(carrier, id)
}

/// Returns the messages of the pages in a row of carrier ids.
pub fn messages_of_pages(pages: &[u8]) -> Result<BTreeSet<MessageId>> {
    let pages = decode(pages, 0)?.into_iter();
    Ok(pages.map(|(_, page)| page.message).collect())
}

/// Returns a row of carrier ids whose pages name the buckets of their messages. A message without
/// one keeps its bucket.
pub fn with_homes(pages: &[u8], homes: &BTreeMap<MessageId, Bucket>) -> Result<Vec<u8>> {
    let mut pages = decode(pages, 0)?;
    for (_, page) in &mut pages {
        page.home = homes.get(&page.message).copied().unwrap_or(page.home);
    }
    Ok(encode(&pages))
}
