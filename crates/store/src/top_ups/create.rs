//! New top-ups.

use super::row::{find, insert};
use database::{Change, Error, Result, Tx};
use domain::Refusal;
use domain::payment::TopUp;

pub(super) struct CreateTopUp {
    pub(super) top_up: TopUp,
}

impl Change for CreateTopUp {
    type Output = std::result::Result<TopUp, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        if !insert(tx, &self.top_up).await? {
            return Err(Error::Impossible("a top-up is there already"));
        }
        Ok(Ok(self.top_up.clone()))
    }

    async fn is_committed(&self, tx: &mut Tx, _created: &Self::Output) -> Result<bool> {
        Ok(find(tx, self.top_up.id).await?.is_some())
    }
}
