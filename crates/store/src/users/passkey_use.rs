//! Additions, uses and removals of passkeys. Each is one transaction with its challenge.

use super::passkey_rows::{Challenge, Passkey, take};
use super::session_rows::{self, NewSession, end_all};
use super::user_rows::locked;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Result, Tx, query};
use domain::AccountId;
use domain::redact;
use domain::user::UserId;
use domain::user::passkey::{MAX_OPEN, MAX_OPEN_OF_CLIENT, MAX_PASSKEYS};
use domain::user::secret::SecretHash;
use serde_json::{Value, json};

/// A challenge that begins. It takes the place of an earlier one of the same browser.
pub(super) struct Begin {
    pub(super) challenge: Challenge,
    pub(super) now_ms: i64,
}

impl Begin {
    /// Returns `true` if others hold all places of sign-ins. Nobody is known there.
    async fn is_full(&self, tx: &mut Tx) -> Result<bool> {
        let own = query(
            "select count(*) from passkey_challenges where client = $1 and expires_at_ms > $2
                 and user_id is null",
        );
        let own = own.bind(&self.challenge.client).bind(self.now_ms);
        let own: i64 = tx.fetch_one(own).await?;
        let all = query("select count(*) from passkey_challenges where expires_at_ms > $1");
        let all: i64 = tx.fetch_one(all.bind(self.now_ms)).await?;
        Ok(own >= MAX_OPEN_OF_CLIENT || all >= MAX_OPEN)
    }
}

impl Change for Begin {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let one = &self.challenge;
        if one.user.is_none() && self.is_full(tx).await? {
            return Ok(false);
        }
        let insert = query(
            "insert into passkey_challenges (challenge_hash, user_id, client, state,
                 expires_at_ms)
             values ($1, $2, $3, $4, $5)
             on conflict (challenge_hash) do update set user_id = excluded.user_id,
                 client = excluded.client, state = excluded.state,
                 expires_at_ms = excluded.expires_at_ms",
        );
        let insert = insert
            .bind(&one.hash[..])
            .bind(one.user.map(|user| user.0))
            .bind(&one.client)
            .bind(&one.state[..])
            .bind(one.expires_at_ms);
        tx.execute(insert).await?;
        Ok(true)
    }
}

/// The end of a challenge whose answer was refused.
pub(super) struct EndChallenge {
    pub(super) hash: SecretHash,
}

impl Change for EndChallenge {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let remove = query("delete from passkey_challenges where challenge_hash = $1");
        tx.execute(remove.bind(&self.hash[..])).await?;
        Ok(())
    }
}

/// The result of the addition of a passkey.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PasskeyAdded {
    /// The passkey was added.
    Yes,
    /// The challenge was used, or has ended.
    NoChallenge,
    /// A user has this passkey already.
    Known,
    /// The user has as many passkeys as a user may have.
    Full,
}

const ADD: &str = "user.add-passkey";

/// The addition of a passkey. All other sessions of the user end.
pub(super) struct Add {
    pub(super) challenge: Challenge,
    pub(super) passkey: Passkey,
    pub(super) by: By,
}

impl Change for Add {
    type Output = PasskeyAdded;

    async fn apply(&self, tx: &mut Tx) -> Result<PasskeyAdded> {
        let one = &self.passkey;
        if locked(tx, one.user).await?.is_none()
            || self.challenge.user != Some(one.user)
            || !take(tx, &self.challenge, self.by.at_ms).await?
        {
            return Ok(PasskeyAdded::NoChallenge);
        }
        let count = query("select count(*) from passkeys where user_id = $1").bind(one.user.0);
        let count: i64 = tx.fetch_one(count).await?;
        if count >= i64::try_from(MAX_PASSKEYS).unwrap_or(i64::MAX) {
            return Ok(PasskeyAdded::Full);
        }
        let insert = query(
            "insert into passkeys (credential_id, user_id, name, public_key, state, transports,
                 created_at_ms)
             values ($1, $2, $3, $4, $5, $6, $7) on conflict (credential_id) do nothing",
        );
        let insert = insert
            .bind(&one.credential[..])
            .bind(one.user.0)
            .bind(&one.name)
            .bind(&one.public_key[..])
            .bind(&one.state[..])
            .bind(i64::from(one.transports))
            .bind(self.by.at_ms);
        if tx.execute(insert).await? == 0 {
            return Ok(PasskeyAdded::Known);
        }
        end_all(tx, one.user, Some(&self.challenge.hash)).await?;
        let after = json!({ "passkey": redact(&one.name) });
        enter(tx, &self.by, ADD, (one.user, Value::Null, after)).await?;
        Ok(PasskeyAdded::Yes)
    }

    async fn is_committed(&self, tx: &mut Tx, added: &PasskeyAdded) -> Result<bool> {
        let object = self.passkey.user.to_string();
        let is_kept = *added != PasskeyAdded::Yes;
        Ok(is_kept || audit::is_kept(tx, &self.by, ADD, &object).await?)
    }
}

/// A sign-in by a passkey, whose state moves on. One of two uses of a state fails.
pub(super) struct SignIn {
    pub(super) challenge: Challenge,
    pub(super) passkey: Passkey,
    pub(super) state: Vec<u8>,
    pub(super) account: Option<AccountId>,
    pub(super) session: NewSession,
    pub(super) by: By,
}

impl Change for SignIn {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if !take(tx, &self.challenge, self.by.at_ms).await? {
            return Ok(false);
        }
        let update = query(
            "update passkeys set state = $3, used_at_ms = $4
             where credential_id = $1 and state = $2",
        );
        let update = update
            .bind(&self.passkey.credential[..])
            .bind(&self.passkey.state[..])
            .bind(&self.state[..])
            .bind(self.by.at_ms);
        if tx.execute(update).await? == 0 {
            return Ok(false);
        }
        let place = (self.passkey.user, self.account);
        session_rows::insert(tx, place, &self.session, &self.by).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, signed_in: &bool) -> Result<bool> {
        Ok(!signed_in || session_rows::is_there(tx, &self.session.hash).await?)
    }
}

const REMOVE: &str = "user.remove-passkey";

/// The removal of a passkey. All other sessions of the user end.
pub(super) struct Remove {
    pub(super) passkey: Passkey,
    pub(super) kept: SecretHash,
    pub(super) by: By,
}

impl Change for Remove {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let one = &self.passkey;
        let remove = query("delete from passkeys where credential_id = $1 and user_id = $2");
        let remove = remove.bind(&one.credential[..]).bind(one.user.0);
        if tx.execute(remove).await? == 0 {
            return Ok(false);
        }
        end_all(tx, one.user, Some(&self.kept)).await?;
        let before = json!({ "passkey": redact(&one.name) });
        enter(tx, &self.by, REMOVE, (one.user, before, Value::Null)).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, removed: &bool) -> Result<bool> {
        let object = self.passkey.user.to_string();
        Ok(!removed || audit::is_kept(tx, &self.by, REMOVE, &object).await?)
    }
}

async fn enter(
    tx: &mut Tx,
    by: &By,
    verb: &'static str,
    (user, before, after): (UserId, Value, Value),
) -> Result<()> {
    let entry = Entry {
        by,
        verb,
        account: None,
        object: &user.to_string(),
        before,
        after,
    };
    audit::enter(tx, entry).await
}
