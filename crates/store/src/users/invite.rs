//! Invitations.

use super::link_rows::{self, Link};
use super::user_rows::{self, NewUser, id_of, stored_account};
use crate::operators::audit::{self, By, Entry};
use database::{Change, Result, Tx, query};
use domain::user::UserId;
use domain::user::link::LinkPurpose;
use domain::user::role::Role;
use serde_json::{Value, json};

const INVITE: &str = "user.invite";

/// The result of an invitation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Invited {
    /// The user was invited. It is another one than the new one if the address was known.
    Yes(UserId),
    /// The user is a member already.
    Member,
    /// The account has as many members and open invitations as it may have.
    Full,
}

/// An invitation with its audit entry.
pub(super) struct Invite {
    pub(super) user: NewUser,
    pub(super) link: Link,
    pub(super) most: i64,
    pub(super) by: By,
}

impl Invite {
    async fn count(&self, tx: &mut Tx) -> Result<i64> {
        let account = stored_account(self.link.account);
        let members = query("select count(*) from memberships where account_id = $1");
        let members: i64 = tx.fetch_one(members.bind(account)).await?;
        let open = query(
            "select count(*) from one_time_links where account_id = $1 and purpose = $2
                 and used_at_ms is null and expires_at_ms > $3",
        );
        let open = open.bind(account).bind(LinkPurpose::Invitation.as_str());
        let open: i64 = tx.fetch_one(open.bind(self.by.at_ms)).await?;
        Ok(members + open)
    }
}

impl Change for Invite {
    type Output = Invited;

    async fn apply(&self, tx: &mut Tx) -> Result<Invited> {
        user_rows::insert(tx, &self.user, self.by.at_ms).await?;
        // An insert that met the address of another user leaves that one.
        let user = id_of(tx, &self.user.email).await?.unwrap_or(self.user.id);
        let account = stored_account(self.link.account);
        let find = query("select role from memberships where user_id = $1 and account_id = $2");
        let role: Option<String> = tx.fetch_optional(find.bind(user.0).bind(account)).await?;
        if role.is_some() {
            return Ok(Invited::Member);
        }
        let again = query(
            "delete from one_time_links where user_id = $1 and purpose = $2 and account_id = $3",
        );
        let again = again.bind(user.0).bind(LinkPurpose::Invitation.as_str());
        tx.execute(again.bind(account)).await?;
        if self.count(tx).await? >= self.most {
            return Ok(Invited::Full);
        }
        let link = Link {
            user: Some(user),
            ..self.link.clone()
        };
        link_rows::insert(tx, &link).await?;
        let entry = Entry {
            by: &self.by,
            verb: INVITE,
            account: self.link.account,
            object: &user.to_string(),
            before: Value::Null,
            after: json!({ "role": self.link.role.map(Role::as_str) }),
        };
        audit::enter(tx, entry).await?;
        Ok(Invited::Yes(user))
    }

    async fn is_committed(&self, tx: &mut Tx, invited: &Invited) -> Result<bool> {
        match invited {
            Invited::Yes(_) => link_rows::is_there(tx, &self.link.hash).await,
            Invited::Member | Invited::Full => Ok(true),
        }
    }
}
