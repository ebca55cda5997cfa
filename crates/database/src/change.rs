//! Changes of the database.

use crate::error::Result;
use crate::tx::Tx;
use std::future::Future;

/// A change of the database that applies whole or not at all. The database may ask for it to be run
/// again, so it keeps its input.
pub trait Change: Send + Sync + 'static {
    /// The result of the change, returned once the change is durable.
    type Output: Send + 'static;
    /// `true` if no caller waits for the change. SQLite's writer may then delay it until others
    /// come.
    const DEFERRABLE: bool = false;
    /// `true` if the commit waits for the disk. A change that is worthless after a crash of the
    /// server need not wait. SQLite's commits are shared, so there it waits as the others do.
    const DURABLE: bool = true;

    /// Makes the change within a transaction.
    fn apply(&self, tx: &mut Tx) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Returns `true` if the change is in the database with this output. It is called when the
    /// connection is lost during the commit. A change that is not found is made again. A change
    /// that may safely be made twice keeps the default.
    fn is_committed(
        &self,
        _tx: &mut Tx,
        _output: &Self::Output,
    ) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(false) }
    }
}
