//! The idempotency keys whose requests run on this node. Requests on other nodes conflict in the
//! database, which has one row for each key.

use domain::idempotency::{IdempotencyKey, in_use};
use domain::{AccountId, Environment, Refusal};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

type RequestKey = (AccountId, Environment, IdempotencyKey);

/// The keys in use.
#[derive(Clone, Default)]
pub(crate) struct KeysInUse(Arc<Mutex<HashSet<RequestKey>>>);

impl KeysInUse {
    /// Claims a key until the claim is dropped. A key in use is refused.
    pub(crate) fn claim(
        &self,
        account: AccountId,
        environment: Environment,
        key: &IdempotencyKey,
    ) -> Result<KeyClaim, Refusal> {
        let request_key = (account, environment, key.clone());
        if self.0.lock().insert(request_key.clone()) {
            return Ok(KeyClaim {
                keys: self.clone(),
                request_key,
            });
        }
        Err(in_use())
    }
}

/// A key in use. The claim lasts until the outcome of its request is known, even if the client has
/// hung up.
pub(crate) struct KeyClaim {
    keys: KeysInUse,
    request_key: RequestKey,
}

impl Drop for KeyClaim {
    fn drop(&mut self) {
        self.keys.0.lock().remove(&self.request_key);
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
