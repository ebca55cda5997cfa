//! The changes of customers to their SMPP users (docs/spec/smpp-users.md).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::Refusal;
use domain::idempotency::{self, Operation};
use domain::smpp_user::{self, SmppUser, SmppUserFields, SmppUserRequest};

/// An SMPP user that was made. Its password is known only to the first request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MadeSmppUser {
    /// The user.
    pub user: SmppUser,
    /// Its password.
    pub password: String,
}

/// Makes an SMPP user of the account.
pub async fn make_smpp_user(
    admission: &Admission,
    fields: &SmppUserFields,
    keyed: Option<KeyedAnswer<SmppUser>>,
) -> Result<Changed<MadeSmppUser>, Error> {
    let request = SmppUserRequest::read(fields)?;
    let meaning = idempotency::of_smpp_user(&request);
    let shown = |user: &SmppUser| (user.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let busy = || Error::from(Refusal::Unavailable { retry_after_s: 1 });
    let random = &admission.context().random;
    let (id, secret) = (random.bytes(), random.bytes());
    let made = smpp_user::system_id(&id).zip(smpp_user::password(&secret));
    let (system_id, password) = made.ok_or_else(busy)?;
    let salt = admission.context().random.bytes();
    let hashed = admission.hashing().hash(password.clone(), salt).await;
    let hash = hashed.map_err(|_| busy())?;
    let by = admission.author();
    let user = SmppUser {
        system_id,
        account: admission.customer().account.id,
        sandbox: request.sandbox,
        limits: request.limits,
        allowed: request.allowed,
        gateway: request.gateway,
        dialect: request.dialect,
        created_at_ms: by.at_ms,
        revoked_at_ms: None,
    };
    let users = admission.context().store.smpp_users();
    let requested = users.request(user, hash, claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    changed(outcome, |user| MadeSmppUser { user, password })
}

/// Revokes an SMPP user of the account. Returns its system id.
pub async fn revoke_smpp_user(
    admission: &Admission,
    system_id: &str,
    keyed: Option<KeyedAnswer<String>>,
) -> Result<Changed<String>, Error> {
    let meaning = idempotency::of_change(Operation::RevokeSmppUser, system_id, None);
    let shown = |id: &String| (id.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let users = admission.context().store.smpp_users();
    let account = admission.customer().account.id;
    let given_up = users.give_up(account, system_id, claimed.keyed.take(), admission.author());
    let outcome = within(async { Ok(given_up.await?) }).await?;
    changed(outcome, |id| id)
}
