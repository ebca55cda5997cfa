//! The user's own profile: name, password, second factor, recovery codes.

use super::error::{Result, SessionError};
use super::links::checked_name;
use super::sign_in::count;
use super::state::State;
use super::visit::{Client, Visit};
use domain::user::secret::Secret;
use domain::user::slowing::Attempt;
use domain::user::{password, recovery, totp};
use store::{Edit, UserSecrets};

/// The name under which an app shows the second factor.
const ISSUER: &str = "Ogene";

/// The state of the user's second factor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SecondFactor {
    /// The user has one, and so many recovery codes.
    On {
        /// The number of recovery codes that are left.
        recovery_codes: usize,
    },
    /// The user has none. An app takes this secret, and its first code confirms it.
    Off {
        /// The secret as a person types it.
        secret: String,
        /// The address that an app reads.
        address: String,
    },
}

pub(super) async fn set_name(state: &State, visit: &Visit, name: &str) -> Result<()> {
    edit(state, visit, Edit::Name(checked_name(name)?)).await
}

pub(super) async fn change_password(
    state: &State,
    visit: &Visit,
    (old, new): (String, String),
    client: &Client,
) -> Result<Secret> {
    password::check(&new, &visit.email)?;
    confirm_password(state, visit, old, client).await?;
    let salt = state.context.random.bytes();
    let hash = state.hashing.hash(new, salt).await?;
    edit(state, visit, Edit::Password(hash)).await?;
    state.renew(visit, visit.account).await
}

pub(super) async fn second_factor(state: &State, visit: &Visit) -> Result<SecondFactor> {
    let mut found = find(state, visit).await?;
    if found.totp_step.is_some() {
        return Ok(SecondFactor::On {
            recovery_codes: found.recovery_codes.len(),
        });
    }
    if found.totp_secret.is_none() {
        let secret: [u8; totp::SECRET_BYTES] = state.context.random.bytes();
        edit(state, visit, Edit::NewSecondFactor(secret.to_vec())).await?;
        found = find(state, visit).await?;
    }
    let secret = found.totp_secret.ok_or(SessionError::Changed)?;
    Ok(SecondFactor::Off {
        address: totp::address(&secret, ISSUER, &visit.email),
        secret: totp::shown_secret(&secret),
    })
}

pub(super) async fn confirm(
    state: &State,
    visit: &Visit,
    code: &str,
) -> Result<(Vec<String>, Secret)> {
    let found = find(state, visit).await?;
    let secret = found.totp_secret.ok_or(SessionError::Changed)?;
    let step = totp::matching_step(&secret, code, state.now_ms(), None);
    let step = step.ok_or(SessionError::WrongCode)?;
    let (codes, hashes) = codes(state);
    edit(state, visit, Edit::ConfirmSecondFactor(step, hashes)).await?;
    Ok((codes, state.renew(visit, visit.account).await?))
}

pub(super) async fn make_codes(
    state: &State,
    visit: &Visit,
    password: String,
    client: &Client,
) -> Result<Vec<String>> {
    confirm_password(state, visit, password, client).await?;
    let (codes, hashes) = codes(state);
    edit(state, visit, Edit::RecoveryCodes(hashes)).await?;
    Ok(codes)
}

pub(super) async fn remove(
    state: &State,
    visit: &Visit,
    password: String,
    client: &Client,
) -> Result<Secret> {
    confirm_password(state, visit, password, client).await?;
    edit(state, visit, Edit::RemoveSecondFactor).await?;
    state.renew(visit, visit.account).await
}

/// Returns new recovery codes and their hashes.
fn codes(state: &State) -> (Vec<String>, Vec<String>) {
    let codes = recovery::make(&state.context.random.bytes());
    let hashes = codes.iter().map(|code| recovery::hash(code)).collect();
    (codes, hashes)
}

/// Checks the password that the user gave again. Wrong ones slow the user as those of sign-ins do.
pub(super) async fn confirm_password(
    state: &State,
    visit: &Visit,
    password: String,
    client: &Client,
) -> Result<()> {
    let attempt = Attempt::new(&visit.email, client.address);
    count(state, &attempt).await?;
    let stored = find(state, visit).await?.password;
    if !state.hashing.verify(password, stored).await? {
        return Err(SessionError::WrongPassword);
    }
    let failures = state.store().sign_in_failures();
    Ok(failures.succeeded(attempt).await?)
}

async fn find(state: &State, visit: &Visit) -> Result<UserSecrets> {
    let found = state.store().users().find(visit.user).await?;
    found.ok_or(SessionError::Ended)
}

/// Edits the user, and keeps this session.
async fn edit(state: &State, visit: &Visit, edit: Edit) -> Result<()> {
    let (users, by) = (state.store().users(), state.by(visit.user));
    let kept = Some(visit.secret.hash());
    let edited = users.edit(visit.user, edit, kept, by).await?;
    edited.then_some(()).ok_or(SessionError::Changed)
}
