//! What an operator does about the configuration of nodes that run.

use super::actor::Operator;
use super::error::Result;
use store::{Store, Verification as Checked};

/// Asks all nodes that share the database to read their configuration again, each its own file; gives how often that was
/// asked. They notice it within a second.
pub async fn reload_configuration(store: &Store, operator: &Operator) -> Result<i64> {
    Ok(store.ask_reload(operator.now()).await?)
}

/// Recomputes every balance from the ledger and checks what must always hold.
pub async fn verify(store: &Store) -> Result<Checked> {
    Ok(store.verify().await?)
}
