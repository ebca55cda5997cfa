//! A change that is made once for an idempotency key.

use crate::buckets::Buckets;
use crate::idempotency::{
    KeyedChange, NewAnswer, Outcome, Place, is_kept, keep, look_up, place_of_key,
};
use database::{Change, Db, Result, Tx};
use domain::{AccountId, Environment, Refusal};

/// A change of an account that may be refused, with its key if it has one.
pub(crate) struct ChangeOnce<C, T> {
    pub(crate) buckets: Buckets,
    pub(crate) account: AccountId,
    pub(crate) environment: Environment,
    pub(crate) keyed: Option<KeyedChange<T>>,
    pub(crate) change: C,
    pub(crate) now_ms: i64,
}

impl<C, T> ChangeOnce<C, T> {
    /// A change of what an account owns, which the live interface alone makes.
    pub(crate) fn of_account(
        db: &Db,
        (account, now_ms): (AccountId, i64),
        keyed: Option<KeyedChange<T>>,
        change: C,
    ) -> Self {
        Self {
            buckets: Buckets::of(db),
            account,
            environment: Environment::Live,
            keyed,
            change,
            now_ms,
        }
    }

    fn place(&self, keyed: &KeyedChange<T>) -> Place {
        let key = &keyed.request.key;
        place_of_key(self.buckets, self.account, self.environment, key)
    }
}

impl<C, T> Change for ChangeOnce<C, T>
where
    C: Change<Output = std::result::Result<T, Refusal>>,
    T: Clone + Send + Sync + 'static,
{
    type Output = Outcome<T>;

    async fn apply(&self, tx: &mut Tx) -> Result<Outcome<T>> {
        let Some(keyed) = &self.keyed else {
            return Ok(outcome(self.change.apply(tx).await?));
        };
        let place = self.place(keyed);
        if let Some(known) = look_up(tx, &place, &keyed.request, self.now_ms).await? {
            return Ok(known);
        }
        let changed = self.change.apply(tx).await?;
        if let Ok(changed) = &changed {
            let new = NewAnswer {
                place: &place,
                request: &keyed.request,
                answer: (keyed.answer)(changed),
            };
            keep(tx, &[new], self.now_ms).await?;
        }
        Ok(outcome(changed))
    }

    /// A change with a key is found by its kept answer.
    async fn is_committed(&self, tx: &mut Tx, output: &Outcome<T>) -> Result<bool> {
        match (output, &self.keyed) {
            (Outcome::Replay(_) | Outcome::Refused(_), _) => Ok(true),
            (Outcome::Made(_), Some(keyed)) => {
                is_kept(tx, &self.place(keyed), &keyed.request, self.now_ms).await
            }
            (Outcome::Made(changed), None) => {
                self.change.is_committed(tx, &Ok(changed.clone())).await
            }
        }
    }
}

fn outcome<T>(changed: std::result::Result<T, Refusal>) -> Outcome<T> {
    match changed {
        Ok(changed) => Outcome::Made(changed),
        Err(refusal) => Outcome::Refused(refusal),
    }
}
