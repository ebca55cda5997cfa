//! The sub-accounts of a customer: creation, changes and transfers (docs/spec/sub-accounts.md).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::background::held_accounts::settle_queued;
use crate::context::metrics::payments as measures;
use crate::error::{Error, within};
use domain::resale::{
    SubAccountChange, SubAccountChangeFields, SubAccountFields, SubAccountRequest, TransferFields,
    TransferRequest, highest_price,
};
use domain::token::{self, TokenTerms};
use domain::{AccountId, MessageId, ObjectRefusal, Refusal, idempotency};
use store::{Outcome, SubAccount, TokenInfo, Transfer};

/// The name of the first token of a sub-account.
const FIRST_TOKEN: &str = "first token";

/// A sub-account that was made. The text of its token is known only to the first request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MadeSubAccount {
    /// The account.
    pub account: SubAccount,
    /// The text of its first token.
    pub token: String,
}

/// Makes a sub-account with an empty wallet and a token.
pub async fn make(
    admission: &Admission,
    fields: &SubAccountFields,
    keyed: Option<KeyedAnswer<SubAccount>>,
) -> Result<Changed<MadeSubAccount>, Error> {
    let context = admission.context();
    let request = SubAccountRequest::read(fields)?;
    let meaning = idempotency::of_sub_account(&request);
    let shown = |made: &SubAccount| (made.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let (by, parent) = (admission.author(), admission.customer().account.id);
    let text = token::make(&context.random.bytes());
    let text = text.ok_or(Refusal::Unavailable { retry_after_s: 1 })?;
    let info = TokenInfo {
        id: format!("tok_{:016x}", context.random.number()),
        account: AccountId::of_sub(parent, by.at_ms, context.random.small()),
        name: FIRST_TOKEN.to_owned(),
        terms: TokenTerms::default(),
        created_at_ms: by.at_ms,
        revoked_at_ms: None,
    };
    let token = (info, token::hash(&text));
    let accounts = context.store.sub_accounts();
    let requested = accounts.request((parent, request), token, claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    changed(outcome, |account| MadeSubAccount {
        account,
        token: text,
    })
}

/// Changes a sub-account. Returns it.
pub async fn change(
    admission: &Admission,
    id: &str,
    fields: &SubAccountChangeFields,
    keyed: Option<KeyedAnswer<SubAccount>>,
) -> Result<Changed<SubAccount>, Error> {
    let context = admission.context();
    let (parent, account) = (admission.customer().account.id, read_id(id)?);
    let change = SubAccountChange::read(fields)?;
    let meaning = idempotency::of_sub_account_change(account, &change);
    let shown = |changed: &SubAccount| (changed.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let live = context.live.load_full();
    let rules = &live.plan.rules;
    change.check(|gateway| highest_price(rules, parent, gateway))?;
    let stops = change.status.is_some();
    let by = admission.author();
    let now_ms = by.at_ms;
    let accounts = context.store.sub_accounts();
    let requested = accounts.change((parent, account), change, claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    let changed = changed(outcome, |account| account)?;
    if stops && matches!(changed, Changed::First(_)) {
        settle_queued(&context.store, account, now_ms).await;
    }
    Ok(changed)
}

/// Moves money between the account and a sub-account, once for each reference.
pub async fn transfer(
    admission: &Admission,
    id: &str,
    fields: &TransferFields,
    keyed: Option<KeyedAnswer<Transfer>>,
) -> Result<Changed<Transfer>, Error> {
    let context = admission.context();
    let (parent, account) = (admission.customer().account.id, read_id(id)?);
    let request = TransferRequest::read(fields)?;
    let meaning = idempotency::of_transfer(account, &request);
    let shown = |transfer: &Transfer| (transfer.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let by = admission.author();
    let (id, direction) = (
        MessageId::new(by.at_ms, context.random.bytes()),
        request.direction,
    );
    let transfer = Transfer {
        id,
        account,
        request,
        created_at_ms: by.at_ms,
    };
    let accounts = context.store.sub_accounts();
    let made = accounts.transfer(parent, transfer, claimed.keyed.take(), by);
    let outcome = within(async { Ok(made.await?) }).await?;
    // The answer to a repeated reference has the id of the first transfer.
    if matches!(&outcome, Outcome::Made(transfer) if transfer.id == id) {
        measures::transfer(direction);
    }
    changed(outcome, |transfer| transfer)
}

/// Reads the id of a sub-account. A text that is no number is the id of none.
pub(super) fn read_id(id: &str) -> Result<AccountId, Refusal> {
    let id = id.parse().ok();
    id.ok_or(Refusal::Object(ObjectRefusal::UnknownSubAccount))
}
