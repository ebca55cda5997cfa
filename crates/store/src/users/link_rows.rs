//! Rows of one-time links.

use super::user_rows::{account, stored_account};
use crate::rows::named;
use database::{Result, Tx, query};
use domain::AccountId;
use domain::user::UserId;
use domain::user::link::{LinkPurpose, LinkState};
use domain::user::role::Role;
use domain::user::secret::SecretHash;

/// A one-time link.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// The hash of its secret.
    pub hash: SecretHash,
    /// The purpose.
    pub purpose: LinkPurpose,
    /// The user, or `None` for a set-up link.
    pub user: Option<UserId>,
    /// The account that the user will see, or `None` for an operator.
    pub account: Option<AccountId>,
    /// The role that the link gives, if it makes a member.
    pub role: Option<Role>,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the end.
    pub expires_at_ms: i64,
    /// Time of its use.
    pub used_at_ms: Option<i64>,
}

impl Link {
    /// Returns the state at a time.
    pub const fn state(&self, now_ms: i64) -> LinkState {
        LinkState::at(now_ms, self.expires_at_ms, self.used_at_ms)
    }
}

pub(super) struct LinkRow {
    link_hash: Vec<u8>,
    purpose: String,
    user_id: Option<i64>,
    account_id: i64,
    role: Option<String>,
    created_at_ms: i64,
    expires_at_ms: i64,
    used_at_ms: Option<i64>,
}

database::from_row!(LinkRow {
    link_hash,
    purpose,
    user_id,
    account_id,
    role,
    created_at_ms,
    expires_at_ms,
    used_at_ms
});

impl LinkRow {
    pub(super) fn link(self) -> Result<Link> {
        let role = self.role.as_deref();
        Ok(Link {
            hash: self.link_hash.try_into().unwrap_or_default(),
            purpose: named(LinkPurpose::from_name, &self.purpose)?,
            user: self.user_id.map(UserId),
            account: account(self.account_id),
            role: role.map(|role| named(Role::from_name, role)).transpose()?,
            created_at_ms: self.created_at_ms,
            expires_at_ms: self.expires_at_ms,
            used_at_ms: self.used_at_ms,
        })
    }
}

/// Adds a link.
pub(super) async fn insert(tx: &mut Tx, link: &Link) -> Result<()> {
    let insert = query(
        "insert into one_time_links (link_hash, purpose, user_id, account_id, role, created_at_ms,
             expires_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7)",
    );
    let insert = insert
        .bind(&link.hash[..])
        .bind(link.purpose.as_str())
        .bind(link.user.map(|user| user.0))
        .bind(stored_account(link.account))
        .bind(link.role.map(Role::as_str))
        .bind(link.created_at_ms)
        .bind(link.expires_at_ms);
    tx.execute(insert).await?;
    Ok(())
}

/// Returns `true` if a link exists.
pub(super) async fn is_there(tx: &mut Tx, hash: &SecretHash) -> Result<bool> {
    let find = query("select created_at_ms from one_time_links where link_hash = $1");
    let found: Option<i64> = tx.fetch_optional(find.bind(&hash[..])).await?;
    Ok(found.is_some())
}
