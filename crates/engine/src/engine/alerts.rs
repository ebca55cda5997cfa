//! The alerts of customers about a low balance (docs/spec/payments.md, section 6).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::alert::{Alert, AlertFields, AlertRequest};
use domain::idempotency::{self, Operation};

/// Adds an alert.
pub async fn add_alert(
    admission: &Admission,
    fields: &AlertFields,
    keyed: Option<KeyedAnswer<Alert>>,
) -> Result<Changed<Alert>, Error> {
    let context = admission.context();
    let live = context.live.load_full();
    let allows_private = live.plan.rules.private_callbacks;
    let request = AlertRequest::read(fields, allows_private, live.mail.is_some())?;
    let meaning = idempotency::of_alert(&request);
    let shown = |alert: &Alert| (alert.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let alert = Alert {
        id: format!("al_{:016x}", context.random.number()),
        account: admission.customer().account.id,
        threshold: request.threshold,
        target: request.target,
        is_below: false,
        created_at_ms: context.clock.now_ms(),
        told_at_ms: None,
    };
    let added = context.store.alerts().add(alert, claimed.keyed.take());
    let outcome = within(async { Ok(added.await?) }).await?;
    changed(outcome, |alert| alert)
}

/// Removes an alert of the account. Returns its id.
pub async fn remove_alert(
    admission: &Admission,
    id: &str,
    keyed: Option<KeyedAnswer<String>>,
) -> Result<Changed<String>, Error> {
    let meaning = idempotency::of_change(Operation::RemoveAlert, id, None);
    let shown = |id: &String| (id.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let context = admission.context();
    let account = admission.customer().account.id;
    let now_ms = context.clock.now_ms();
    let removed = context
        .store
        .alerts()
        .remove(account, id, claimed.keyed.take(), now_ms);
    let outcome = within(async { Ok(removed.await?) }).await?;
    changed(outcome, |id| id)
}
