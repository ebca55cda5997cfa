//! The use of a one-time link, in the transaction of its effect.

use super::link_rows::{Link, LinkRow};
use super::members::{any_operator, insert as insert_member};
use super::session_rows::{self, NewSession};
use super::user_rows::{self, NewUser, locked};
use crate::operators::audit::{self, By, Entry};
use database::{Change, Result, Tx, locking, query};
use domain::AccountId;
use domain::user::link::{LinkPurpose, LinkState};
use domain::user::role::Role;
use domain::user::secret::SecretHash;
use domain::user::{UserId, UserStatus};
use serde_json::{Value, json};

/// The effect of a link that its holder asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LinkUse {
    /// The first operator.
    SetUp(NewUser),
    /// A user without a password joins with this name and argon2id hash.
    JoinWithPassword(String, String),
    /// A user with a password joins.
    Join,
    /// The argon2id hash of a new password.
    Reset(String),
    /// A sign-in to a demo.
    Demo,
}

impl LinkUse {
    const fn purpose(&self) -> LinkPurpose {
        match self {
            Self::SetUp(_) => LinkPurpose::SetUp,
            Self::JoinWithPassword(..) | Self::Join => LinkPurpose::Invitation,
            Self::Reset(_) => LinkPurpose::Reset,
            Self::Demo => LinkPurpose::Demo,
        }
    }

    const fn verb(&self) -> Option<&'static str> {
        match self {
            Self::SetUp(_) => Some("user.set-up"),
            Self::JoinWithPassword(..) | Self::Join => Some("user.join"),
            Self::Reset(_) => Some("user.set-password"),
            Self::Demo => None,
        }
    }
}

/// The result of the use of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkUsed {
    /// The link had its effect on this user.
    Yes(UserId, Option<AccountId>),
    /// The link is not open.
    NotOpen(LinkState),
    /// There is no such link, or it is for another purpose.
    Unknown,
    /// The effect no longer fits: the installation has an operator, the user is disabled, or has a
    /// password already.
    Refused,
    /// Another user has the address.
    EmailTaken,
}

/// The use of a link with its audit entry.
pub(super) struct UseLink {
    pub(super) hash: SecretHash,
    pub(super) effect: LinkUse,
    pub(super) session: Option<NewSession>,
    pub(super) by: By,
}

/// The step that failed, as a result of the use.
type Step<T> = std::result::Result<T, LinkUsed>;

impl UseLink {
    async fn effect(&self, tx: &mut Tx, link: &Link) -> Result<Step<UserId>> {
        if let LinkUse::SetUp(user) = &self.effect {
            return self.set_up(tx, user).await;
        }
        let Some(user) = link.user else {
            return Ok(Err(LinkUsed::Unknown));
        };
        let before = match locked(tx, user).await? {
            Some(before) if before.user.status == UserStatus::Active => before,
            _ => return Ok(Err(LinkUsed::Refused)),
        };
        match &self.effect {
            LinkUse::JoinWithPassword(name, password) => {
                if before.password.is_some() {
                    return Ok(Err(LinkUsed::Refused));
                }
                let update = query("update users set name = $2, password = $3 where user_id = $1");
                tx.execute(update.bind(user.0).bind(name).bind(password))
                    .await?;
            }
            LinkUse::Join if before.password.is_none() => return Ok(Err(LinkUsed::Refused)),
            LinkUse::Reset(password) => {
                let update = query("update users set password = $2 where user_id = $1");
                tx.execute(update.bind(user.0).bind(password)).await?;
                session_rows::end_all(tx, user, None).await?;
            }
            LinkUse::Join | LinkUse::Demo | LinkUse::SetUp(_) => {}
        }
        if let Some(role) = link.role {
            insert_member(tx, user, link.account, role, self.by.at_ms).await?;
        }
        Ok(Ok(user))
    }

    async fn set_up(&self, tx: &mut Tx, user: &NewUser) -> Result<Step<UserId>> {
        if any_operator(tx).await? {
            return Ok(Err(LinkUsed::Refused));
        }
        if !user_rows::insert(tx, user, self.by.at_ms).await? {
            return Ok(Err(LinkUsed::EmailTaken));
        }
        insert_member(tx, user.id, None, Role::Operator, self.by.at_ms).await?;
        Ok(Ok(user.id))
    }
}

impl Change for UseLink {
    type Output = LinkUsed;

    async fn apply(&self, tx: &mut Tx) -> Result<LinkUsed> {
        let sql = locking!("select * from one_time_links where link_hash = $1"; "for update");
        let row: Option<LinkRow> = tx.fetch_optional(query(sql).bind(&self.hash[..])).await?;
        let link = match row.map(LinkRow::link).transpose()? {
            Some(link) if link.purpose == self.effect.purpose() => link,
            _ => return Ok(LinkUsed::Unknown),
        };
        let state = link.state(self.by.at_ms);
        if state != LinkState::Open {
            return Ok(LinkUsed::NotOpen(state));
        }
        let user = match self.effect(tx, &link).await? {
            Ok(user) => user,
            Err(refused) => return Ok(refused),
        };
        let mark = query("update one_time_links set used_at_ms = $2 where link_hash = $1");
        tx.execute(mark.bind(&self.hash[..]).bind(self.by.at_ms))
            .await?;
        if let Some(verb) = self.effect.verb() {
            let entry = Entry {
                by: &self.by,
                verb,
                account: link.account,
                object: &user.to_string(),
                before: Value::Null,
                after: json!({ "role": link.role.map(Role::as_str) }),
            };
            audit::enter(tx, entry).await?;
        }
        if let Some(session) = &self.session {
            session_rows::insert(tx, (user, link.account), session, &self.by).await?;
        }
        Ok(LinkUsed::Yes(user, link.account))
    }

    async fn is_committed(&self, tx: &mut Tx, used: &LinkUsed) -> Result<bool> {
        if !matches!(used, LinkUsed::Yes(..)) {
            return Ok(true);
        }
        let find = query("select used_at_ms from one_time_links where link_hash = $1");
        let found: Option<Option<i64>> = tx.fetch_optional(find.bind(&self.hash[..])).await?;
        Ok(found == Some(Some(self.by.at_ms)))
    }
}
