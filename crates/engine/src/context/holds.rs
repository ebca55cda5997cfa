//! Accounts that may not send: what a node has in hand of them and has not handed over goes back, and what comes to be held
//! is settled as its operator has said.

use domain::{AccountId, Environment};
use parking_lot::RwLock;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Content;

/// The accounts that may not send, as this node knows them. Only a hint: what may be claimed is decided in the database.
#[derive(Default)]
pub(crate) struct HeldAccounts {
    any: AtomicBool,
    accounts: RwLock<HashSet<AccountId>>,
}

impl HeldAccounts {
    /// Returns `true` if what this says is not to go out.
    pub(crate) fn contain(&self, content: &Content) -> bool {
        if !self.any.load(Ordering::Relaxed) || content.environment == Environment::Sandbox {
            return false;
        }
        let accounts = self.accounts.read();
        accounts.contains(&content.account)
    }

    /// Notes them; whether one is new.
    pub(crate) fn set(&self, accounts: HashSet<AccountId>) -> bool {
        let mut held = self.accounts.write();
        let is_new = accounts.iter().any(|account| !held.contains(account));
        self.any.store(!accounts.is_empty(), Ordering::Relaxed);
        *held = accounts;
        is_new
    }
}
