//! Sign-in: password, then the second factor if the user has one.

use super::error::{Result, SessionError};
use super::state::State;
use super::visit::{Client, Visit};
use domain::AccountId;
use domain::user::secret::Secret;
use domain::user::slowing::Attempt;
use domain::user::{UserId, UserStatus, normalised_email, recovery, totp};
use store::{Edit, UserSecrets};

/// A sign-in by password.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The secret of the session.
    pub secret: Secret,
    /// `true` if the second factor is still missing.
    pub needs_code: bool,
}

/// Counts an attempt as failed until it succeeds, or refuses it.
pub(super) async fn count(state: &State, attempt: &Attempt) -> Result<()> {
    let failures = state.store().sign_in_failures();
    match failures.count(attempt.clone(), state.now_ms()).await? {
        0 => Ok(()),
        wait_ms => {
            tracing::warn!("sign-in: refused for {wait_ms} ms, too many attempts have failed");
            Err(SessionError::Wait {
                retry_after_s: wait_ms.saturating_add(999) / 1_000,
            })
        }
    }
}

pub(super) async fn by_password(
    state: &State,
    email: &str,
    password: String,
    client: &Client,
) -> Result<SignedIn> {
    // A text that is no address counts as well, and has no user.
    let email = normalised_email(email).unwrap_or_default();
    let attempt = Attempt::new(&email, client.address);
    count(state, &attempt).await?;
    let store = state.store();
    let found = store.users().find_by_email(&email).await?;
    let stored = found.as_ref().and_then(|found| found.password.clone());
    let is_right = state.hashing.verify(password, stored).await?;
    let is_active = |found: &UserSecrets| found.user.status == UserStatus::Active;
    let found = match found {
        Some(found) if is_right && is_active(&found) => found,
        _ => return Err(SessionError::Wrong),
    };
    let user = found.user.id;
    let account = first_account(state, user).await?;
    let is_complete = !found.user.has_second_factor;
    let (session, secret) = state.new_session(client, is_complete);
    let (sessions, by) = (store.sessions(), state.by(user));
    // A check takes a while. A password that was replaced meanwhile must not begin a session.
    if !sessions.add_checked(found, account, session, by).await? {
        return Err(SessionError::Wrong);
    }
    if is_complete {
        // With a second factor the count stays, or a known password would free guesses of codes.
        store.sign_in_failures().succeeded(attempt).await?;
    }
    Ok(SignedIn {
        secret,
        needs_code: !is_complete,
    })
}

/// Returns the account that a user sees first: none for an operator, else the oldest.
pub(super) async fn first_account(state: &State, user: UserId) -> Result<Option<AccountId>> {
    let memberships = state.store().members().of_user(user).await?;
    let first = memberships.first().ok_or(SessionError::NoMember)?;
    Ok(first.account)
}

pub(super) async fn by_code(
    state: &State,
    visit: &Visit,
    code: &str,
    client: &Client,
) -> Result<Secret> {
    if visit.is_signed_in {
        return Err(SessionError::Changed);
    }
    let attempt = Attempt::new(&visit.email, client.address);
    count(state, &attempt).await?;
    let store = state.store();
    let found = store.users().find(visit.user).await?;
    let found = found.ok_or(SessionError::Ended)?;
    if !use_code(state, &found, code).await? {
        return Err(SessionError::WrongCode);
    }
    let secret = state.renew(visit, visit.account).await?;
    store.sign_in_failures().succeeded(attempt).await?;
    Ok(secret)
}

/// Uses up a code of the app, or a recovery code. One of two uses at the same moment fails.
async fn use_code(state: &State, found: &UserSecrets, code: &str) -> Result<bool> {
    let step = found.totp_secret.as_ref().and_then(|secret| {
        let now_ms = state.now_ms();
        totp::matching_step(secret, code, now_ms, found.totp_step)
    });
    let edit = match step {
        Some(step) => Edit::UseStep(step),
        None => match recovery::without(&found.recovery_codes, code) {
            Some(left) => Edit::UseRecoveryCode(found.recovery_codes.clone(), left),
            None => return Ok(false),
        },
    };
    let (users, by) = (state.store().users(), state.by(found.user.id));
    Ok(users.edit(found.user.id, edit, None, by).await?)
}
