//! Rows of sessions.

use super::user_rows::stored_account;
use crate::operators::audit::{self, By, Entry};
use database::{Error, Result, Tx, query};
use domain::AccountId;
use domain::user::UserId;
use domain::user::secret::SecretHash;
use domain::user::session::MAX_SESSIONS;
use serde_json::{Value, json};

/// A session to be made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewSession {
    /// The hash of its secret.
    pub hash: SecretHash,
    /// `false` while the second factor is missing.
    pub is_signed_in: bool,
    /// Time of the end, Unix milliseconds.
    pub expires_at_ms: i64,
    /// The address of the client.
    pub client: String,
    /// The browser in a few words.
    pub agent: String,
}

/// A session as its user sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionInfo {
    /// The hash of its secret.
    pub hash: SecretHash,
    /// The user.
    pub user: UserId,
    /// `false` while the second factor is missing.
    pub is_signed_in: bool,
    /// Time of the sign-in, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the last use that was recorded.
    pub seen_at_ms: i64,
    /// Time of the end.
    pub expires_at_ms: i64,
    /// The address of the client at the sign-in.
    pub client: String,
    /// The browser in a few words.
    pub agent: String,
}

pub(super) struct SessionRow {
    session_hash: Vec<u8>,
    user_id: i64,
    pub(super) account_id: i64,
    signed_in: bool,
    created_at_ms: i64,
    seen_at_ms: i64,
    expires_at_ms: i64,
    client: String,
    agent: String,
}

database::from_row!(SessionRow {
    session_hash,
    user_id,
    account_id,
    signed_in,
    created_at_ms,
    seen_at_ms,
    expires_at_ms,
    client,
    agent
});

impl SessionRow {
    pub(super) fn session(self) -> Result<SessionInfo> {
        let hash = self.session_hash.try_into();
        Ok(SessionInfo {
            hash: hash.map_err(|_| Error::Unreadable("the hash of a session".to_owned()))?,
            user: UserId(self.user_id),
            is_signed_in: self.signed_in,
            created_at_ms: self.created_at_ms,
            seen_at_ms: self.seen_at_ms,
            expires_at_ms: self.expires_at_ms,
            client: self.client,
            agent: self.agent,
        })
    }
}

const SIGN_IN: &str = "user.sign-in";

/// Adds a session with its audit entry. The sessions of the user that were unused longest give way.
pub(super) async fn insert(
    tx: &mut Tx,
    (user, account): (UserId, Option<AccountId>),
    session: &NewSession,
    by: &By,
) -> Result<()> {
    let insert = query(
        "insert into sessions (session_hash, user_id, account_id, signed_in, created_at_ms,
             seen_at_ms, expires_at_ms, client, agent)
         values ($1, $2, $3, $4, $5, $5, $6, $7, $8)",
    );
    let insert = insert
        .bind(&session.hash[..])
        .bind(user.0)
        .bind(stored_account(account))
        .bind(session.is_signed_in)
        .bind(by.at_ms)
        .bind(session.expires_at_ms)
        .bind(&session.client)
        .bind(&session.agent);
    tx.execute(insert).await?;
    let most = i64::try_from(MAX_SESSIONS).unwrap_or(i64::MAX);
    let remove = query(
        "delete from sessions where session_hash in (select session_hash from sessions
             where user_id = $1 order by seen_at_ms desc limit 1000 offset $2)",
    );
    tx.execute(remove.bind(user.0).bind(most)).await?;
    if session.is_signed_in {
        enter_sign_in(tx, user, account, by).await?;
    }
    Ok(())
}

/// Adds the audit entry of a sign-in.
pub(super) async fn enter_sign_in(
    tx: &mut Tx,
    user: UserId,
    account: Option<AccountId>,
    by: &By,
) -> Result<()> {
    let entry = Entry {
        by,
        verb: SIGN_IN,
        account,
        object: &user.to_string(),
        before: Value::Null,
        after: json!({ "signed_in": true }),
    };
    audit::enter(tx, entry).await
}

/// Ends all sessions of a user but one.
pub(super) async fn end_all(tx: &mut Tx, user: UserId, kept: Option<&SecretHash>) -> Result<()> {
    let kept = kept.map_or(&[][..], |hash| &hash[..]);
    let end = query("delete from sessions where user_id = $1 and session_hash <> $2");
    tx.execute(end.bind(user.0).bind(kept)).await?;
    Ok(())
}

/// Ends the sessions of a user that show an account.
pub(super) async fn end_in_account(
    tx: &mut Tx,
    user: UserId,
    account: Option<AccountId>,
) -> Result<()> {
    let end = query("delete from sessions where user_id = $1 and account_id = $2");
    tx.execute(end.bind(user.0).bind(stored_account(account)))
        .await?;
    Ok(())
}

/// Returns `true` if a session has not ended.
pub(super) async fn is_there(tx: &mut Tx, hash: &SecretHash) -> Result<bool> {
    let find = query("select user_id from sessions where session_hash = $1").bind(&hash[..]);
    let found: Option<i64> = tx.fetch_optional(find).await?;
    Ok(found.is_some())
}
