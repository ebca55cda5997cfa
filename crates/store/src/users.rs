//! Users of the console: people, their passwords and second factors.

pub(crate) mod change;
pub(crate) mod failures;
pub(crate) mod invite;
pub(crate) mod link_rows;
pub(crate) mod link_use;
pub(crate) mod links;
pub(crate) mod members;
pub(crate) mod passkey_rows;
pub(crate) mod passkey_use;
pub(crate) mod passkeys;
pub(crate) mod session_rows;
pub(crate) mod sessions;
pub(crate) mod user_rows;

use crate::operators::audit::{self, By, Entry};
use change::{ChangeUser, Edit};
use database::{Change, Db, Result, Tx, query};
use domain::AccountId;
use domain::user::UserId;
use domain::user::role::Role;
use domain::user::secret::SecretHash;
use domain::user::slowing::FORGOTTEN_AFTER_MS;
use passkeys::Passkeys;
use serde_json::{Value, json};
use user_rows::{NewUser, User, UserRow, UserSecrets};

const CREATE: &str = "user.create";

struct CreateUser {
    user: NewUser,
    account: Option<AccountId>,
    role: Role,
    by: By,
}

impl Change for CreateUser {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if !user_rows::insert(tx, &self.user, self.by.at_ms).await? {
            return Ok(false);
        }
        members::insert(tx, self.user.id, self.account, self.role, self.by.at_ms).await?;
        let entry = Entry {
            by: &self.by,
            verb: CREATE,
            account: self.account,
            object: &self.user.id.to_string(),
            before: Value::Null,
            after: json!({ "role": self.role.as_str() }),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, added: &bool) -> Result<bool> {
        let object = self.user.id.to_string();
        Ok(!added || audit::is_kept(tx, &self.by, CREATE, &object).await?)
    }
}

/// The time for which a link is kept after its end, so that its holder learns what happened.
const LINKS_KEPT_MS: i64 = 7 * 24 * 3_600_000;
/// Rows of each table that one step removes at most.
const MAX_REMOVED: i64 = 500;

struct RemoveEnded {
    now_ms: i64,
}

impl Change for RemoveEnded {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let sessions = query(
            "delete from sessions where session_hash in (select session_hash from sessions
                 where expires_at_ms <= $1 order by expires_at_ms limit $2)",
        );
        let links = query(
            "delete from one_time_links where link_hash in (select link_hash from one_time_links
                 where expires_at_ms <= $1 order by expires_at_ms limit $2)",
        );
        let failures = query(
            "delete from sign_in_failures where subject in (select subject from sign_in_failures
                 where last_at_ms <= $1 order by last_at_ms limit $2)",
        );
        let challenges = query(
            "delete from passkey_challenges where challenge_hash in (
                 select challenge_hash from passkey_challenges where expires_at_ms <= $1
                 order by expires_at_ms limit $2)",
        );
        let mut most = 0;
        for (remove, kept_ms) in [
            (sessions, 0),
            (challenges, 0),
            (links, LINKS_KEPT_MS),
            (failures, FORGOTTEN_AFTER_MS),
        ] {
            let remove = remove.bind(self.now_ms - kept_ms).bind(MAX_REMOVED);
            most = tx.execute(remove).await?.max(most);
        }
        Ok(most >= MAX_REMOVED.unsigned_abs())
    }
}

/// The users.
#[derive(Clone, Copy)]
pub struct Users<'s> {
    pub(crate) db: &'s Db,
}

impl<'s> Users<'s> {
    /// Returns the passkeys of the users.
    pub fn passkeys(self) -> Passkeys<'s> {
        Passkeys { db: self.db }
    }

    /// Creates a user with one membership. Returns `false` if another has the address.
    pub async fn create(
        self,
        user: NewUser,
        account: Option<AccountId>,
        role: Role,
        by: By,
    ) -> Result<bool> {
        let create = CreateUser {
            user,
            account,
            role,
            by,
        };
        self.db.change(create).await
    }

    /// Returns the user with an address, and what a sign-in is checked against.
    pub async fn find_by_email(self, email: &str) -> Result<Option<UserSecrets>> {
        let find = query("select * from users where email = $1").bind(email);
        let row: Option<UserRow> = self.db.fetch_optional(find).await?;
        row.map(UserRow::secrets).transpose()
    }

    /// Returns a user, and what a sign-in is checked against.
    pub async fn find(self, id: UserId) -> Result<Option<UserSecrets>> {
        let find = query("select * from users where user_id = $1").bind(id.0);
        let row: Option<UserRow> = self.db.fetch_optional(find).await?;
        row.map(UserRow::secrets).transpose()
    }

    /// Returns some users behind one, newest first.
    pub async fn list(self, behind: Option<i64>, limit: u32) -> Result<Vec<User>> {
        let list = query("select * from users where user_id < $1 order by user_id desc limit $2")
            .bind(behind.unwrap_or(i64::MAX))
            .bind(i64::from(limit));
        let rows: Vec<UserRow> = self.db.fetch_all(list).await?;
        let users = rows.into_iter().map(|row| Ok(row.secrets()?.user));
        users.collect()
    }

    /// Changes a user, and ends all sessions but `kept` if the edit touches how the user signs in.
    /// Returns `false` if there is no such user or the edit no longer fits.
    pub async fn edit(
        self,
        user: UserId,
        edit: Edit,
        kept: Option<SecretHash>,
        by: By,
    ) -> Result<bool> {
        let change = ChangeUser {
            user,
            edit,
            kept,
            by,
        };
        self.db.change(change).await
    }

    /// Removes some sessions and challenges that have ended, links that ended a week ago, and failed sign-ins that
    /// no longer count. Returns `true` if more may be left.
    pub async fn remove_ended(self, now_ms: i64) -> Result<bool> {
        self.db.change(RemoveEnded { now_ms }).await
    }
}
