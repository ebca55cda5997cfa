//! One-time links: opened by a page with a button, and used by the button.

use super::error::{Result, SessionError};
use super::state::State;
use super::visit::{Client, Visit};
use crate::context::random::Random;
use domain::user::link::{LinkPurpose, LinkState};
use domain::user::password;
use domain::user::role::Role;
use domain::user::secret::Secret;
use domain::user::{UserId, normalised_email};
use store::{Link, LinkUse, LinkUsed, NewUser, UserSecrets};

/// A one-time link as its page shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenLink {
    /// The purpose.
    pub purpose: LinkPurpose,
    /// The state.
    pub state: LinkState,
    /// The address of the user, empty for a set-up link.
    pub email: String,
    /// The name of the account that the user joins or sees, empty for operators.
    pub account_name: String,
    /// The role that the link gives.
    pub role: Option<Role>,
    /// `true` if the user chooses a password.
    pub needs_password: bool,
    /// `true` if the user gives a name.
    pub needs_name: bool,
}

/// The fields of the page of a link. A link ignores the fields that it does not need.
#[derive(Clone, Default)]
pub struct LinkFields {
    /// The e-mail address.
    pub email: String,
    /// The name.
    pub name: String,
    /// The new password.
    pub password: String,
}

/// A link with its user.
struct Found {
    link: Link,
    user: Option<UserSecrets>,
}

impl Found {
    fn needs_name(&self) -> bool {
        match self.link.purpose {
            LinkPurpose::SetUp => true,
            LinkPurpose::Invitation => self.user.as_ref().is_some_and(|one| one.password.is_none()),
            LinkPurpose::Reset | LinkPurpose::Demo => false,
        }
    }

    fn needs_password(&self) -> bool {
        self.link.purpose == LinkPurpose::Reset || self.needs_name()
    }

    /// Returns `true` if a user with a password joins an account.
    fn joins(&self) -> bool {
        self.link.purpose == LinkPurpose::Invitation && !self.needs_name()
    }

    /// Returns `true` if the use of the link signs the user in. A user with a second factor gives
    /// it at a sign-in, and a known password as well.
    fn signs_in(&self) -> bool {
        match self.link.purpose {
            LinkPurpose::SetUp | LinkPurpose::Demo => true,
            LinkPurpose::Invitation => self.needs_name(),
            LinkPurpose::Reset => false,
        }
    }
}

async fn find(state: &State, secret: &Secret) -> Result<Option<Found>> {
    let store = state.store();
    let Some(link) = store.one_time_links().find(&secret.hash()).await? else {
        return Ok(None);
    };
    let user = match link.user {
        Some(user) => store.users().find(user).await?,
        None => None,
    };
    Ok(Some(Found { link, user }))
}

pub(super) async fn open(state: &State, secret: &Secret) -> Result<Option<OpenLink>> {
    let Some(found) = find(state, secret).await? else {
        return Ok(None);
    };
    let account = match found.link.account {
        Some(account) => state.store().accounts().find(account).await?,
        None => None,
    };
    Ok(Some(OpenLink {
        purpose: found.link.purpose,
        state: found.link.state(state.now_ms()),
        account_name: account.map(|account| account.name).unwrap_or_default(),
        role: found.link.role,
        needs_password: found.needs_password(),
        needs_name: found.needs_name(),
        email: found.user.map(|one| one.user.email).unwrap_or_default(),
    }))
}

pub(super) async fn consume(
    state: &State,
    secret: &Secret,
    fields: LinkFields,
    visit: Option<&Visit>,
    client: &Client,
) -> Result<Option<Secret>> {
    let found = find(state, secret).await?.ok_or(SessionError::NoLink)?;
    // Nothing is hashed for a link that is not open.
    match found.link.state(state.now_ms()) {
        LinkState::Open => {}
        closed => return Err(SessionError::LinkClosed(closed)),
    }
    if found.joins() {
        let is_same = |visit: &&Visit| visit.is_signed_in && Some(visit.user) == found.link.user;
        let visit = visit.filter(is_same).ok_or(SessionError::OtherUser)?;
        return join(state, secret, &found, visit).await.map(Some);
    }
    let session = found
        .signs_in()
        .then(|| state.new_session(client, true))
        .map_or((None, None), |(session, secret)| {
            (Some(session), Some(secret))
        });
    let id = found.user.as_ref().map(|one| one.user.id);
    let id = id.unwrap_or_else(|| UserId::new(state.now_ms(), Random::system().small()));
    let effect = effect(state, &found, id, fields).await?;
    let (links, by) = (state.store().one_time_links(), state.by(id));
    outcome(links.consume(secret.hash(), effect, session.0, by).await?)?;
    Ok(session.1)
}

/// Makes the user a member, and lets the session show the account. Only the user who is signed in
/// may do so: the maker of an invitation may have chosen the password of a stranger's address.
async fn join(state: &State, secret: &Secret, found: &Found, visit: &Visit) -> Result<Secret> {
    let (links, by) = (state.store().one_time_links(), state.by(visit.user));
    let used = links
        .consume(secret.hash(), LinkUse::Join, None, by)
        .await?;
    outcome(used)?;
    state.renew(visit, found.link.account).await
}

fn outcome(used: LinkUsed) -> Result<()> {
    match used {
        LinkUsed::Yes(..) => Ok(()),
        LinkUsed::NotOpen(link) => Err(SessionError::LinkClosed(link)),
        LinkUsed::Unknown | LinkUsed::Refused => Err(SessionError::NoLink),
        LinkUsed::EmailTaken => Err(SessionError::EmailTaken),
    }
}

/// Returns the effect of the link. A new password is checked and hashed.
async fn effect(state: &State, found: &Found, id: UserId, fields: LinkFields) -> Result<LinkUse> {
    let email = match &found.user {
        Some(user) => user.user.email.clone(),
        None => normalised_email(&fields.email).unwrap_or_default(),
    };
    if email.is_empty() {
        return Err(SessionError::Email);
    }
    let name = checked_name(&fields.name);
    let name = if found.needs_name() {
        name?
    } else {
        String::new()
    };
    let password = if found.needs_password() {
        password::check(&fields.password, &email)?;
        let salt = state.context.random.bytes();
        state.hashing.hash(fields.password, salt).await?
    } else {
        String::new()
    };
    Ok(match found.link.purpose {
        LinkPurpose::SetUp => LinkUse::SetUp(NewUser {
            id,
            email,
            name,
            password: Some(password),
        }),
        LinkPurpose::Invitation if found.needs_name() => LinkUse::JoinWithPassword(name, password),
        LinkPurpose::Invitation => LinkUse::Join,
        LinkPurpose::Reset => LinkUse::Reset(password),
        LinkPurpose::Demo => LinkUse::Demo,
    })
}

/// Returns a name without space around it.
pub(super) fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    match name.chars().count() {
        1..=255 => Ok(name.to_owned()),
        _ => Err(SessionError::Name),
    }
}
