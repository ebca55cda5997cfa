//! Accounts that may not send. Their unsent recipients are released to the database.

use domain::{AccountId, Environment};
use parking_lot::RwLock;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Content;

/// The held accounts that this node knows. They are only a hint: the database decides which batches
/// may be claimed.
#[derive(Default)]
pub(crate) struct HeldAccounts {
    any: AtomicBool,
    accounts: RwLock<HashSet<AccountId>>,
}

impl HeldAccounts {
    /// Returns `true` if messages of this account must not be sent.
    pub(crate) fn contain(&self, content: &Content) -> bool {
        if !self.any.load(Ordering::Relaxed) || content.environment == Environment::Sandbox {
            return false;
        }
        let accounts = self.accounts.read();
        accounts.contains(&content.account)
    }

    /// Replaces the held accounts. Returns `true` if a new one is among them.
    pub(crate) fn set(&self, accounts: HashSet<AccountId>) -> bool {
        let mut held = self.accounts.write();
        let is_new = accounts.iter().any(|account| !held.contains(account));
        self.any.store(!accounts.is_empty(), Ordering::Relaxed);
        *held = accounts;
        is_new
    }
}
