//! Passkeys: a way to sign in beside the password. A passkey checks its user by itself, such as by
//! a fingerprint, so no code is asked for.

use super::error::{Result, SessionError};
use super::profile::confirm_password;
use super::sign_in::{count, first_account};
use super::state::State;
use super::visit::{Client, Visit};
use super::webauthn::{self, Answer, Begun};
use domain::user::passkey::{CHALLENGE_MS, MAX_PASSKEYS, RelyingParty, checked_name, list_id};
use domain::user::secret::{Secret, SecretHash};
use domain::user::slowing::Attempt;
use domain::user::{UserId, UserStatus};
use store::{Challenge, Passkey, PasskeyAdded};

/// A passkey as its user sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PasskeyInfo {
    /// The id for lists. The passkey is not found by it elsewhere.
    pub id: String,
    /// The name that the user gave it.
    pub name: String,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the last sign-in, or `None` before the first.
    pub used_at_ms: Option<i64>,
}

pub(super) async fn list(state: &State, visit: &Visit) -> Result<Vec<PasskeyInfo>> {
    let info = |one: Passkey| PasskeyInfo {
        id: list_id(&one.credential),
        name: one.name,
        created_at_ms: one.created_at_ms,
        used_at_ms: one.used_at_ms,
    };
    let all = state.store().users().passkeys().of_user(visit.user).await?;
    Ok(all.into_iter().map(info).collect())
}

/// Returns the options for the browser, after the password was given again.
pub(super) async fn begin_adding(
    state: &State,
    party: &RelyingParty,
    visit: &Visit,
    (name, password): (&str, String),
    client: &Client,
) -> Result<String> {
    checked_name(name).ok_or(SessionError::PasskeyName)?;
    let known = state.store().users().passkeys().of_user(visit.user).await?;
    if known.len() >= MAX_PASSKEYS {
        return Err(SessionError::ManyPasskeys);
    }
    confirm_password(state, visit, password, client).await?;
    let user = (visit.user, visit.email.as_str(), visit.user_name.as_str());
    let begun = webauthn::begin_adding(party, user, &known).ok_or(SessionError::Passkey)?;
    let place = (visit.secret.hash(), Some(visit.user));
    begin(state, begun, place, client).await
}

async fn begin(
    state: &State,
    begun: Begun,
    (hash, user): (SecretHash, Option<UserId>),
    client: &Client,
) -> Result<String> {
    let now_ms = state.now_ms();
    let challenge = Challenge {
        hash,
        user,
        client: client.address.to_string(),
        state: begun.state,
        expires_at_ms: now_ms + CHALLENGE_MS,
    };
    let passkeys = state.store().users().passkeys();
    let has_place = passkeys.begin(challenge, now_ms).await?;
    has_place
        .then_some(begun.options)
        .ok_or(SessionError::ManyChallenges)
}

/// Returns the open challenge of a browser.
async fn challenge(state: &State, hash: &SecretHash, user: Option<UserId>) -> Result<Challenge> {
    let passkeys = state.store().users().passkeys();
    let found = passkeys.challenge(hash, state.now_ms()).await?;
    let found = found.filter(|one| one.user == user);
    found.ok_or(SessionError::NoChallenge)
}

/// Adds the passkey of an answer. All other sessions end, and this one gets a new secret.
pub(super) async fn add(
    state: &State,
    party: &RelyingParty,
    visit: &Visit,
    (name, answer): (&str, &str),
) -> Result<Secret> {
    let name = checked_name(name).ok_or(SessionError::PasskeyName)?;
    let hash = visit.secret.hash();
    let challenge = challenge(state, &hash, Some(visit.user)).await?;
    let passkeys = state.store().users().passkeys();
    let by = state.by(visit.user);
    let Some(passkey) = webauthn::added(party, &challenge, answer, by.at_ms) else {
        passkeys.end(hash).await?;
        return Err(SessionError::Passkey);
    };
    let passkey = Passkey { name, ..passkey };
    match passkeys.add(challenge, passkey, by).await? {
        PasskeyAdded::Yes => state.renew(visit, visit.account).await,
        PasskeyAdded::NoChallenge => Err(SessionError::NoChallenge),
        PasskeyAdded::Known => Err(SessionError::PasskeyKnown),
        PasskeyAdded::Full => Err(SessionError::ManyPasskeys),
    }
}

/// Removes a passkey, after the password was given again. All other sessions end.
pub(super) async fn remove(
    state: &State,
    visit: &Visit,
    (given, password): (&str, String),
    client: &Client,
) -> Result<Secret> {
    confirm_password(state, visit, password, client).await?;
    let passkeys = state.store().users().passkeys();
    let all = passkeys.of_user(visit.user).await?;
    let found = all
        .into_iter()
        .find(|one| list_id(&one.credential) == given);
    let found = found.ok_or(SessionError::NoPasskey)?;
    let (kept, by) = (visit.secret.hash(), state.by(visit.user));
    if !passkeys.remove(found, kept, by).await? {
        return Err(SessionError::NoPasskey);
    }
    state.renew(visit, visit.account).await
}

/// Returns the options for the browser that has a secret.
pub(super) async fn begin_sign_in(
    state: &State,
    party: &RelyingParty,
    browser: &Secret,
    client: &Client,
) -> Result<String> {
    let begun = webauthn::begin_sign_in(party).ok_or(SessionError::Passkey)?;
    begin(state, begun, (browser.hash(), None), client).await
}

/// Signs the user of a passkey in.
pub(super) async fn sign_in(
    state: &State,
    party: &RelyingParty,
    browser: &Secret,
    answer: &str,
    client: &Client,
) -> Result<Secret> {
    let answer = Answer::read(answer).ok_or(SessionError::Passkey)?;
    let credential = answer.credential();
    let attempt = Attempt::passkey(&credential, client.address);
    count(state, &attempt).await?;
    let (hash, store) = (browser.hash(), state.store());
    let challenge = challenge(state, &hash, None).await?;
    let Some((passkey, after)) = accepted(state, party, &challenge, &answer).await? else {
        store.users().passkeys().end(hash).await?;
        return Err(SessionError::Passkey);
    };
    let user = passkey.user;
    let account = first_account(state, user).await?;
    let (session, secret) = state.new_session(client, true);
    let moved = (passkey, after);
    let begun =
        store
            .users()
            .passkeys()
            .sign_in(challenge, moved, account, session, state.by(user));
    if !begun.await? {
        return Err(SessionError::NoChallenge);
    }
    store.sign_in_failures().succeeded(attempt).await?;
    Ok(secret)
}

/// Returns the passkey of an answer that is right, with its new state. Its user must be active.
async fn accepted(
    state: &State,
    party: &RelyingParty,
    challenge: &Challenge,
    answer: &Answer,
) -> Result<Option<(Passkey, Vec<u8>)>> {
    let users = state.store().users();
    let found = users.passkeys().find(&answer.credential()).await?;
    let Some(passkey) = found else {
        return Ok(None);
    };
    let after = webauthn::signed_in(party, challenge, answer, &passkey);
    let user = users.find(passkey.user).await?;
    let is_active = user.is_some_and(|found| found.user.status == UserStatus::Active);
    Ok(after.filter(|_| is_active).map(|after| (passkey, after)))
}
