//! One-time links, by the hash of their secret.

use super::invite::{Invite, Invited};
use super::link_rows::{Link, LinkRow, insert, is_there};
use super::link_use::{LinkUse, LinkUsed, UseLink};
use super::session_rows::NewSession;
use super::user_rows::{NewUser, stored_account};
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use database::{Change, Db, Result, Tx, query};
use domain::AccountId;
use domain::user::UserId;
use domain::user::link::LinkPurpose;
use domain::user::role::Role;
use domain::user::secret::SecretHash;
use serde_json::{Value, json};

const RESET: &str = "user.reset";

struct AddLink {
    link: Link,
    by: By,
}

impl Change for AddLink {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if let (Some(user), LinkPurpose::Reset) = (self.link.user, self.link.purpose) {
            // Only the newest of several links to reset a password is good.
            let remove = query("delete from one_time_links where user_id = $1 and purpose = $2");
            tx.execute(remove.bind(user.0).bind(self.link.purpose.as_str()))
                .await?;
            let entry = Entry {
                by: &self.by,
                verb: RESET,
                account: None,
                object: &user.to_string(),
                before: Value::Null,
                after: json!({ "expires_at_ms": self.link.expires_at_ms }),
            };
            audit::enter(tx, entry).await?;
        }
        insert(tx, &self.link).await
    }

    async fn is_committed(&self, tx: &mut Tx, (): &()) -> Result<bool> {
        is_there(tx, &self.link.hash).await
    }
}

struct Withdraw {
    user: UserId,
    account: Option<AccountId>,
    by: By,
}

const WITHDRAW: &str = "user.withdraw";

impl Change for Withdraw {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let remove = query(
            "delete from one_time_links where user_id = $1 and purpose = $2 and account_id = $3
                 and used_at_ms is null",
        );
        let remove = remove
            .bind(self.user.0)
            .bind(LinkPurpose::Invitation.as_str())
            .bind(stored_account(self.account));
        if tx.execute(remove).await? == 0 {
            return Ok(false);
        }
        let entry = Entry {
            by: &self.by,
            verb: WITHDRAW,
            account: self.account,
            object: &self.user.to_string(),
            before: json!({ "invited": true }),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, withdrawn: &bool) -> Result<bool> {
        let object = self.user.to_string();
        Ok(!withdrawn || audit::is_kept(tx, &self.by, WITHDRAW, &object).await?)
    }
}

/// An invitation that nobody has accepted yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Invitation {
    /// The user.
    pub user: UserId,
    /// The address of the user.
    pub email: String,
    /// The role.
    pub role: Role,
    /// Time of the end, Unix milliseconds.
    pub expires_at_ms: i64,
}

/// The one-time links.
#[derive(Clone, Copy)]
pub struct OneTimeLinks<'s> {
    pub(crate) db: &'s Db,
}

impl OneTimeLinks<'_> {
    /// Adds a link. One that resets a password replaces those before it.
    pub async fn add(self, link: Link, by: By) -> Result<()> {
        self.db.change(AddLink { link, by }).await
    }

    /// Adds an invitation, and the user if nobody has the address. It replaces an earlier one of the
    /// same user and account. An account has at most `most` members and open invitations.
    pub async fn invite(self, user: NewUser, link: Link, most: i64, by: By) -> Result<Invited> {
        let invite = Invite {
            user,
            link,
            most,
            by,
        };
        self.db.change(invite).await
    }

    /// Returns a link.
    pub async fn find(self, hash: &SecretHash) -> Result<Option<Link>> {
        let find = query("select * from one_time_links where link_hash = $1").bind(&hash[..]);
        let row: Option<LinkRow> = self.db.fetch_optional(find).await?;
        row.map(LinkRow::link).transpose()
    }

    /// Uses a link, once, in one transaction with its effect and the session that it begins.
    pub async fn consume(
        self,
        hash: SecretHash,
        effect: LinkUse,
        session: Option<NewSession>,
        by: By,
    ) -> Result<LinkUsed> {
        let consume = UseLink {
            hash,
            effect,
            session,
            by,
        };
        self.db.change(consume).await
    }

    /// Returns the open invitations to an account, or of operators, oldest first.
    pub async fn invitations(
        self,
        account: Option<AccountId>,
        now_ms: i64,
        limit: u32,
    ) -> Result<Vec<Invitation>> {
        let read = query(
            "select l.user_id, u.email, coalesce(l.role, ''), l.expires_at_ms
             from one_time_links l join users u on u.user_id = l.user_id
             where l.account_id = $1 and l.purpose = $2 and l.used_at_ms is null
                 and l.expires_at_ms > $3
             order by l.created_at_ms limit $4",
        );
        let read = read
            .bind(stored_account(account))
            .bind(LinkPurpose::Invitation.as_str())
            .bind(now_ms)
            .bind(i64::from(limit));
        let rows: Vec<(i64, String, String, i64)> = self.db.fetch_all(read).await?;
        let invitations = rows.into_iter().map(|(user, email, role, expires_at_ms)| {
            Ok(Invitation {
                user: UserId(user),
                email,
                role: named(Role::from_name, &role)?,
                expires_at_ms,
            })
        });
        invitations.collect()
    }

    /// Withdraws an open invitation. Returns `false` if there is none.
    pub async fn withdraw(self, user: UserId, account: Option<AccountId>, by: By) -> Result<bool> {
        self.db.change(Withdraw { user, account, by }).await
    }
}
