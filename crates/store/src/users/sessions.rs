//! Sessions, by the hash of their secret. Each request reads its session, so an ended one is refused
//! on all nodes at once.

use super::session_rows::{
    NewSession, SessionInfo, SessionRow, end_all, enter_sign_in, insert, is_there,
};
use super::user_rows::{UserSecrets, account, locked, stored_account};
use crate::operators::audit::By;
use crate::rows::named;
use database::{Change, Db, FromRow, Result, Row, Tx, query};
use domain::AccountId;
use domain::user::role::Role;
use domain::user::secret::SecretHash;
use domain::user::{UserId, UserStatus};

/// A session with its user and role, as a request needs them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenSession {
    /// The session.
    pub session: SessionInfo,
    /// The account whose pages it shows, or `None` for an operator.
    pub account: Option<AccountId>,
    /// The name of the account, empty for an operator.
    pub account_name: String,
    /// The parent of the account, if it is a sub-account.
    pub parent: Option<AccountId>,
    /// The role of the user there.
    pub role: Role,
    /// The address of the user.
    pub email: String,
    /// The name of the user.
    pub user_name: String,
}

struct OpenRow {
    session: SessionRow,
    email: String,
    user_name: String,
    role: String,
    account_name: String,
    parent_id: Option<i64>,
}

impl FromRow for OpenRow {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            session: SessionRow::from_row(row)?,
            email: row.get(row.place("email", 9)?)?,
            user_name: row.get(row.place("user_name", 10)?)?,
            role: row.get(row.place("role", 11)?)?,
            account_name: row.get(row.place("account_name", 12)?)?,
            parent_id: row.get(row.place("parent_id", 13)?)?,
        })
    }
}

struct AddSession {
    user: UserId,
    account: Option<AccountId>,
    session: NewSession,
    /// The user whose password was checked.
    checked: Option<UserSecrets>,
    by: By,
}

impl Change for AddSession {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if let Some(checked) = &self.checked {
            let now = locked(tx, self.user).await?;
            let is_same = now.is_some_and(|now| {
                now.user.status == UserStatus::Active
                    && now.password == checked.password
                    && now.totp_step.is_some() == checked.totp_step.is_some()
            });
            if !is_same {
                return Ok(false);
            }
        }
        insert(tx, (self.user, self.account), &self.session, &self.by).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, added: &bool) -> Result<bool> {
        Ok(!added || is_there(tx, &self.session.hash).await?)
    }
}

/// The replacement of the secret of a session, whose rights change or are completed.
struct Renew {
    old: SecretHash,
    new: SecretHash,
    account: Option<AccountId>,
    expires_at_ms: i64,
    by: By,
}

impl Change for Renew {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let read = query("select user_id, signed_in from sessions where session_hash = $1");
        let found: Option<(i64, bool)> = tx.fetch_optional(read.bind(&self.old[..])).await?;
        let Some((user, was_signed_in)) = found else {
            return Ok(false);
        };
        let update = query(
            "update sessions set session_hash = $2, account_id = $3, signed_in = $4,
                 seen_at_ms = $5, expires_at_ms = $6 where session_hash = $1",
        );
        let update = update
            .bind(&self.old[..])
            .bind(&self.new[..])
            .bind(stored_account(self.account))
            .bind(true)
            .bind(self.by.at_ms)
            .bind(self.expires_at_ms);
        if tx.execute(update).await? == 0 {
            return Ok(false);
        }
        if !was_signed_in {
            enter_sign_in(tx, UserId(user), self.account, &self.by).await?;
        }
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, renewed: &bool) -> Result<bool> {
        Ok(!renewed || is_there(tx, &self.new).await?)
    }
}

struct Seen {
    hash: SecretHash,
    now_ms: i64,
    expires_at_ms: i64,
}

impl Change for Seen {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let update = query(
            "update sessions set seen_at_ms = $2, expires_at_ms = $3 where session_hash = $1",
        );
        let update = update.bind(&self.hash[..]).bind(self.now_ms);
        tx.execute(update.bind(self.expires_at_ms)).await?;
        Ok(())
    }
}

struct End {
    hash: SecretHash,
}

impl Change for End {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let end = query("delete from sessions where session_hash = $1").bind(&self.hash[..]);
        Ok(tx.execute(end).await? == 1)
    }

    async fn is_committed(&self, tx: &mut Tx, _ended: &bool) -> Result<bool> {
        Ok(!is_there(tx, &self.hash).await?)
    }
}

struct EndOthers {
    user: UserId,
    kept: SecretHash,
}

impl Change for EndOthers {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        end_all(tx, self.user, Some(&self.kept)).await
    }
}

/// The sessions.
#[derive(Clone, Copy)]
pub struct Sessions<'s> {
    pub(crate) db: &'s Db,
}

impl Sessions<'_> {
    /// Adds a session of a user, which shows an account.
    pub async fn add(
        self,
        user: UserId,
        account: Option<AccountId>,
        session: NewSession,
        by: By,
    ) -> Result<()> {
        let add = AddSession {
            user,
            account,
            session,
            checked: None,
            by,
        };
        self.db.change(add).await?;
        Ok(())
    }

    /// Adds a session of a user whose password was checked. Returns `false` if the password, the
    /// second factor or the status has changed since the user was read.
    pub async fn add_checked(
        self,
        checked: UserSecrets,
        account: Option<AccountId>,
        session: NewSession,
        by: By,
    ) -> Result<bool> {
        let add = AddSession {
            user: checked.user.id,
            account,
            session,
            checked: Some(checked),
            by,
        };
        self.db.change(add).await
    }

    /// Returns a session that has not ended, of an active user who still is a member.
    pub async fn find(self, hash: &SecretHash, now_ms: i64) -> Result<Option<OpenSession>> {
        let read = query(
            "select s.session_hash, s.user_id, s.account_id, s.signed_in, s.created_at_ms,
                 s.seen_at_ms, s.expires_at_ms, s.client, s.agent, u.email, u.name as user_name,
                 m.role, coalesce(a.name, '') as account_name, b.parent_id
             from sessions s
             join users u on u.user_id = s.user_id
             join memberships m on m.user_id = s.user_id and m.account_id = s.account_id
             left join accounts a on a.account_id = s.account_id
             left join sub_accounts b on b.account_id = s.account_id
             where s.session_hash = $1 and s.expires_at_ms > $2 and u.status = 'active'",
        );
        let read = read.bind(&hash[..]).bind(now_ms);
        let found: Option<OpenRow> = self.db.fetch_optional(read).await?;
        let open = found.map(|row| {
            Ok(OpenSession {
                account: account(row.session.account_id),
                account_name: row.account_name,
                parent: row.parent_id.map(AccountId),
                role: named(Role::from_name, &row.role)?,
                email: row.email,
                user_name: row.user_name,
                session: row.session.session()?,
            })
        });
        open.transpose()
    }

    /// Returns the sessions of a user that have not ended, the last used first.
    pub async fn of_user(self, user: UserId, now_ms: i64) -> Result<Vec<SessionInfo>> {
        let read = query(
            "select * from sessions where user_id = $1 and expires_at_ms > $2
             order by seen_at_ms desc",
        );
        let rows: Vec<SessionRow> = self.db.fetch_all(read.bind(user.0).bind(now_ms)).await?;
        rows.into_iter().map(SessionRow::session).collect()
    }

    /// Records the use of a session, which moves its end.
    pub async fn seen(self, hash: SecretHash, now_ms: i64, expires_at_ms: i64) -> Result<()> {
        let seen = Seen {
            hash,
            now_ms,
            expires_at_ms,
        };
        self.db.change(seen).await
    }

    /// Replaces the secret of a session, signs it in, and lets it show an account. Returns `false`
    /// if it has ended.
    pub async fn renew(
        self,
        (old, new): (SecretHash, SecretHash),
        account: Option<AccountId>,
        expires_at_ms: i64,
        by: By,
    ) -> Result<bool> {
        let renew = Renew {
            old,
            new,
            account,
            expires_at_ms,
            by,
        };
        self.db.change(renew).await
    }

    /// Ends a session. Returns `false` if it had ended.
    pub async fn end(self, hash: SecretHash) -> Result<bool> {
        self.db.change(End { hash }).await
    }

    /// Ends all sessions of a user but one.
    pub async fn end_others(self, user: UserId, kept: SecretHash) -> Result<()> {
        self.db.change(EndOthers { user, kept }).await
    }
}
