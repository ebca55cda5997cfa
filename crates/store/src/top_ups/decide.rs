//! The decisions of operators about mismatches.

use super::pay::credit;
use super::row::{lock, write};
use crate::buckets::Buckets;
use crate::operators::audit::{self, By, Entry};
use crate::wallets;
use database::{Change, Result, Tx};
use domain::payment::{
    AcceptFault, Acceptance, TopUp, TopUpId, accept, accepted_for, check_decision,
};
use serde_json::{Value, json};

const ACCEPT: &str = "top-up.accept";
const REJECT: &str = "top-up.reject";

type Decided = std::result::Result<TopUp, AcceptFault>;

fn shown(top_up: &TopUp) -> Value {
    json!({
        "state": top_up.state.as_str(),
        "amount": top_up.price.amount.to_string(),
        "receipt_number": top_up.receipt_number,
    })
}

async fn enter_audit(
    tx: &mut Tx,
    by: &By,
    verb: &'static str,
    (before, after): (Value, &TopUp),
) -> Result<()> {
    let entry = Entry {
        by,
        verb,
        account: after.account,
        object: &after.id.to_string(),
        before,
        after: shown(after),
    };
    audit::enter(tx, entry).await
}

pub(super) struct AcceptTopUp {
    pub(super) buckets: Buckets,
    pub(super) id: TopUpId,
    pub(super) acceptance: Acceptance,
    pub(super) by: By,
}

impl Change for AcceptTopUp {
    type Output = Decided;

    async fn apply(&self, tx: &mut Tx) -> Result<Decided> {
        let Some(top_up) = lock(tx, self.id).await? else {
            return Ok(Err(AcceptFault::NotFound));
        };
        let account = match accepted_for(&top_up, self.acceptance) {
            Ok(account) => account,
            Err(fault) => return Ok(Err(fault)),
        };
        let owner = (self.buckets.account(account), account);
        if wallets::lock(tx, &[owner]).await?.is_empty() {
            return Ok(Err(AcceptFault::UnknownAccount));
        }
        let (before, was) = (top_up.state, shown(&top_up));
        let mut accepted = match accept(top_up, self.acceptance, self.by.at_ms) {
            Ok(accepted) => accepted,
            Err(fault) => return Ok(Err(fault)),
        };
        if !credit(tx, self.buckets, account, &mut accepted, self.by.at_ms).await? {
            return Ok(Err(AcceptFault::CreditedBefore));
        }
        write(tx, before, &accepted).await?;
        enter_audit(tx, &self.by, ACCEPT, (was, &accepted)).await?;
        Ok(Ok(accepted))
    }

    async fn is_committed(&self, tx: &mut Tx, decided: &Decided) -> Result<bool> {
        let object = self.id.to_string();
        Ok(decided.is_err() || audit::is_kept(tx, &self.by, ACCEPT, &object).await?)
    }
}

pub(super) struct RejectTopUp {
    pub(super) id: TopUpId,
    pub(super) by: By,
}

impl Change for RejectTopUp {
    type Output = Decided;

    async fn apply(&self, tx: &mut Tx) -> Result<Decided> {
        let Some(mut top_up) = lock(tx, self.id).await? else {
            return Ok(Err(AcceptFault::NotFound));
        };
        if let Err(fault) = check_decision(&top_up, false) {
            return Ok(Err(fault));
        }
        let (before, was) = (top_up.state, shown(&top_up));
        top_up.reject(self.by.at_ms);
        write(tx, before, &top_up).await?;
        enter_audit(tx, &self.by, REJECT, (was, &top_up)).await?;
        Ok(Ok(top_up))
    }

    async fn is_committed(&self, tx: &mut Tx, decided: &Decided) -> Result<bool> {
        let object = self.id.to_string();
        Ok(decided.is_err() || audit::is_kept(tx, &self.by, REJECT, &object).await?)
    }
}
