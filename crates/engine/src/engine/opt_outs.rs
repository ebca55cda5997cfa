//! The changes of customers to their opt-outs (docs/spec/inbound.md, section 5).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::idempotency::{self, Operation};
use domain::opt_out::{MAX_OPT_OUTS, OptOut, OptOutRequest, parse_recipient};
use domain::{MessageId, ObjectRefusal, Refusal};
use store::AddedOptOuts;

/// Adds opt-outs. A number that opted out before keeps its opt-out.
pub async fn add_opt_outs(
    admission: &Admission,
    requests: Vec<OptOutRequest>,
    keyed: Option<KeyedAnswer<AddedOptOuts>>,
) -> Result<Changed<AddedOptOuts>, Error> {
    let context = admission.context();
    let meaning = idempotency::of_opt_outs(&requests);
    let shown = |added: &AddedOptOuts| (added.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let by = admission.author();
    let account = admission.customer().account.id;
    let opt_outs = requests.into_iter().map(|request| OptOut {
        id: MessageId::new(by.at_ms, context.random.bytes()),
        account,
        recipient: request.recipient,
        sender: request.sender,
        reason: request.reason,
        created_at_ms: by.at_ms,
    });
    let opt_outs = (opt_outs.collect(), Some(MAX_OPT_OUTS));
    let store = context.store.opt_outs();
    let added = store.add(account, opt_outs, claimed.keyed.take(), by);
    let outcome = within(async { Ok(added.await?) }).await?;
    changed(outcome, |added| added)
}

/// Removes all opt-outs of a number. Returns the number.
pub async fn remove_opt_outs(
    admission: &Admission,
    recipient: &str,
    keyed: Option<KeyedAnswer<u64>>,
) -> Result<Changed<u64>, Error> {
    let unknown = Refusal::Object(ObjectRefusal::UnknownOptOut);
    let recipient = parse_recipient(recipient).ok_or(unknown)?;
    let digits = recipient.to_string();
    let meaning = idempotency::of_change(Operation::RemoveOptOuts, &digits, None);
    let shown = |removed: &u64| (*removed, None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let opt_outs = admission.context().store.opt_outs();
    let account = admission.customer().account.id;
    let removed = opt_outs.remove(account, recipient, claimed.keyed.take(), admission.author());
    let outcome = within(async { Ok(removed.await?) }).await?;
    changed(outcome, |removed| removed)
}
