//! The idempotency keys whose requests are being handled by this node. Other nodes are kept apart
//! by the transaction, which has one row for a key.

use domain::idempotency::{IdempotencyKey, in_use};
use domain::{AccountId, Environment, Refusal};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

type Owned = (AccountId, Environment, IdempotencyKey);

/// The keys in use.
#[derive(Clone, Default)]
pub(crate) struct KeysInUse(Arc<Mutex<HashSet<Owned>>>);

impl KeysInUse {
    /// Takes a key until the claim is dropped. A key that is taken already is refused.
    pub(crate) fn claim(
        &self,
        account: AccountId,
        environment: Environment,
        key: &IdempotencyKey,
    ) -> Result<KeyClaim, Refusal> {
        let owned = (account, environment, key.clone());
        if self.0.lock().insert(owned.clone()) {
            return Ok(KeyClaim {
                keys: self.clone(),
                owned,
            });
        }
        Err(in_use())
    }
}

/// A key in use. It lasts until the outcome of its request is known, also where the client has
/// gone.
pub(crate) struct KeyClaim {
    keys: KeysInUse,
    owned: Owned,
}

impl Drop for KeyClaim {
    fn drop(&mut self) {
        self.keys.0.lock().remove(&self.owned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_use_until_its_claim_is_dropped() {
        let keys = KeysInUse::default();
        let key = IdempotencyKey::read([b"one".as_slice()]).unwrap().unwrap();
        let claim = |account, environment| keys.claim(AccountId(account), environment, &key);
        let first = claim(1, Environment::Live).ok().unwrap();
        let refused = claim(1, Environment::Live).err();
        assert_eq!(refused, Some(Refusal::KeyInUse { retry_after_s: 1 }));
        assert!(claim(1, Environment::Sandbox).is_ok());
        assert!(claim(2, Environment::Live).is_ok());
        drop(first);
        assert!(claim(1, Environment::Live).is_ok());
    }
}
