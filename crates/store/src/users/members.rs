//! Memberships: the roles of users in accounts, and those of operators.

use super::session_rows::end_in_account;
use super::user_rows::{User, UserRow, account, stored_account};
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use database::{Change, Db, FromRow, Result, Row, Tx, locking, query};
use domain::AccountId;
use domain::user::UserId;
use domain::user::role::{Role, may_become};
use serde_json::{Value, json};

/// The role of a user in an account, or as an operator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Membership {
    /// The account, or `None` for an operator.
    pub account: Option<AccountId>,
    /// The name of the account, empty for an operator.
    pub account_name: String,
    /// The role.
    pub role: Role,
    /// Time since which the user has a role there, Unix milliseconds.
    pub created_at_ms: i64,
}

struct MembershipRow {
    account_id: i64,
    account_name: String,
    role: String,
    created_at_ms: i64,
}

database::from_row!(MembershipRow {
    account_id,
    account_name,
    role,
    created_at_ms
});

/// A member of an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// The user.
    pub user: User,
    /// The role.
    pub role: Role,
}

struct MemberRow {
    user: UserRow,
    role: String,
}

impl FromRow for MemberRow {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            user: UserRow::from_row(row)?,
            role: row.get(row.place("role", 9)?)?,
        })
    }
}

/// The result of a change of a membership.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MemberChanged {
    /// The change was made.
    Yes,
    /// The user is no member.
    NoMember,
    /// The member is the last one of a role that somebody must have.
    Last,
}

/// Adds a membership, or changes its role.
pub(super) async fn insert(
    tx: &mut Tx,
    user: UserId,
    account: Option<AccountId>,
    role: Role,
    at_ms: i64,
) -> Result<()> {
    let insert = query(
        "insert into memberships (user_id, account_id, role, created_at_ms)
         values ($1, $2, $3, $4)
         on conflict (user_id, account_id) do update set role = excluded.role",
    );
    let insert = insert.bind(user.0).bind(stored_account(account));
    tx.execute(insert.bind(role.as_str()).bind(at_ms)).await?;
    Ok(())
}

/// Returns `true` if the installation has an operator.
pub(super) async fn any_operator(tx: &mut Tx) -> Result<bool> {
    let found: Option<i64> = tx
        .fetch_optional(query(
            "select user_id from memberships where account_id = 0 limit 1",
        ))
        .await?;
    Ok(found.is_some())
}

const SET_ROLE: &str = "user.set-role";
const REMOVE: &str = "user.remove";

/// A new role, or the end of the membership.
struct SetRole {
    user: UserId,
    account: Option<AccountId>,
    role: Option<Role>,
    by: By,
}

impl SetRole {
    const fn verb(&self) -> &'static str {
        match self.role {
            Some(_) => SET_ROLE,
            None => REMOVE,
        }
    }

    async fn write(&self, tx: &mut Tx) -> Result<()> {
        if let Some(role) = self.role {
            return insert(tx, self.user, self.account, role, self.by.at_ms).await;
        }
        let remove = query("delete from memberships where user_id = $1 and account_id = $2");
        let remove = remove.bind(self.user.0).bind(stored_account(self.account));
        tx.execute(remove).await?;
        Ok(())
    }
}

impl Change for SetRole {
    type Output = MemberChanged;

    async fn apply(&self, tx: &mut Tx) -> Result<MemberChanged> {
        // All members are locked, so that the last two owners cannot leave at the same moment.
        let sql = locking!(
            "select user_id, role from memberships where account_id = $1 order by user_id";
            "for update"
        );
        let members: Vec<(i64, String)> = tx
            .fetch_all(query(sql).bind(stored_account(self.account)))
            .await?;
        let Some((_, before)) = members.iter().find(|(user, _)| *user == self.user.0) else {
            return Ok(MemberChanged::NoMember);
        };
        let others = members
            .iter()
            .filter(|(user, role)| *user != self.user.0 && role == before);
        let before = named(Role::from_name, before)?;
        if !may_become(before, self.role, others.count()) {
            return Ok(MemberChanged::Last);
        }
        self.write(tx).await?;
        end_in_account(tx, self.user, self.account).await?;
        let entry = Entry {
            by: &self.by,
            verb: self.verb(),
            account: self.account,
            object: &self.user.to_string(),
            before: json!({ "role": before.as_str() }),
            after: self
                .role
                .map_or(Value::Null, |role| json!({ "role": role.as_str() })),
        };
        audit::enter(tx, entry).await?;
        Ok(MemberChanged::Yes)
    }

    async fn is_committed(&self, tx: &mut Tx, changed: &MemberChanged) -> Result<bool> {
        if *changed != MemberChanged::Yes {
            return Ok(true);
        }
        audit::is_kept(tx, &self.by, self.verb(), &self.user.to_string()).await
    }
}

/// The memberships.
#[derive(Clone, Copy)]
pub struct Members<'s> {
    pub(crate) db: &'s Db,
}

impl Members<'_> {
    /// Returns the memberships of a user: that of an operator first, then by account.
    pub async fn of_user(self, user: UserId) -> Result<Vec<Membership>> {
        let read = query(
            "select m.account_id, coalesce(a.name, '') as account_name, m.role, m.created_at_ms
             from memberships m left join accounts a on a.account_id = m.account_id
             where m.user_id = $1 order by m.account_id",
        );
        let rows: Vec<MembershipRow> = self.db.fetch_all(read.bind(user.0)).await?;
        let memberships = rows.into_iter().map(|row| {
            Ok(Membership {
                account: account(row.account_id),
                account_name: row.account_name,
                role: named(Role::from_name, &row.role)?,
                created_at_ms: row.created_at_ms,
            })
        });
        memberships.collect()
    }

    /// Returns some members of an account, or some operators, in the order in which they were made.
    pub async fn of_account(self, account: Option<AccountId>, limit: u32) -> Result<Vec<Member>> {
        let read = query(
            "select u.user_id, u.email, u.name, u.status, u.password, u.totp_secret, u.totp_step,
                 u.recovery_codes, u.created_at_ms, m.role
             from memberships m join users u on u.user_id = m.user_id
             where m.account_id = $1 order by m.user_id limit $2",
        );
        let read = read.bind(stored_account(account)).bind(i64::from(limit));
        let rows: Vec<MemberRow> = self.db.fetch_all(read).await?;
        let members = rows.into_iter().map(|row| {
            Ok(Member {
                user: row.user.secrets()?.user,
                role: named(Role::from_name, &row.role)?,
            })
        });
        members.collect()
    }

    /// Returns `true` if the installation has an operator.
    pub async fn has_operator(self) -> Result<bool> {
        let found: Option<i64> = self
            .db
            .fetch_optional(query(
                "select user_id from memberships where account_id = 0 limit 1",
            ))
            .await?;
        Ok(found.is_some())
    }

    /// Gives a member another role, or ends the membership with `None`. Ends the sessions of the
    /// user in the account, so that the next one begins with the new rights.
    pub async fn set_role(
        self,
        user: UserId,
        account: Option<AccountId>,
        role: Option<Role>,
        by: By,
    ) -> Result<MemberChanged> {
        let change = SetRole {
            user,
            account,
            role,
            by,
        };
        self.db.change(change).await
    }
}
