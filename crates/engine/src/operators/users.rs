//! The operations on users of the console. Nobody gets a password from another: a one-time link lets
//! the user choose one.

use super::accounts::account;
use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::AccountId;
use domain::search::List;
use domain::user::link::LinkPurpose;
use domain::user::role::Role;
use domain::user::secret::Secret;
use domain::user::{UserId, UserStatus, normalised_email};
use store::{
    Edit, Invitation, Invited, Link, Member, MemberChanged, Membership, NewUser, Store, User,
};

/// Maximum number of members and open invitations of an account, and of operators.
const MAX_MEMBERS: u32 = 100;

/// A one-time link that was made. Its secret is returned only here.
#[derive(Clone, Debug)]
pub struct LinkText {
    /// The secret, the last part of the link's address.
    pub secret: Secret,
    /// The e-mail address of its user, empty for a set-up link.
    pub email: String,
    /// The purpose.
    pub purpose: LinkPurpose,
    /// Time of the end, Unix milliseconds.
    pub expires_at_ms: i64,
}

/// Users of the console: create, list, invite, roles, reset, disable.
pub struct Users {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Users {
    /// Creates a user with a role and without a password, and a link that lets the user choose one.
    pub async fn create(
        self,
        email: &str,
        name: &str,
        of: Option<AccountId>,
        role: Role,
    ) -> Result<(UserId, LinkText)> {
        self.check_role(of, role).await?;
        let user = NewUser {
            name: checked("the name", name)?,
            ..self.new_user(email)?
        };
        let (id, address, by) = (user.id, user.email.clone(), self.actor.now());
        let created = self.store.users().create(user, of, role, by).await?;
        if !created {
            return Err(OperationError::UserExists(email.to_owned()));
        }
        Ok((id, self.reset_link(id, address).await?))
    }

    /// Returns a page of all users, newest first.
    pub async fn list(self, request: &PageRequest) -> Result<Page<User>> {
        let behind = request.behind(List::Users, "")?;
        let rows = self.store.users().list(behind, request.rows()).await?;
        Ok(request.page(List::Users, "", rows))
    }

    /// Returns a user by e-mail address, with the memberships.
    pub async fn show(self, email: &str) -> Result<(User, Vec<Membership>)> {
        let user = self.find(email).await?;
        let memberships = self.store.members().of_user(user.id).await?;
        Ok((user, memberships))
    }

    /// Returns the members of an account, or the operators.
    pub async fn members(self, of: Option<AccountId>) -> Result<Vec<Member>> {
        Ok(self.store.members().of_account(of, MAX_MEMBERS).await?)
    }

    /// Returns the open invitations to an account, or of operators.
    pub async fn invitations(self, of: Option<AccountId>) -> Result<Vec<Invitation>> {
        let now_ms = self.actor.clock().now_ms();
        let links = self.store.one_time_links();
        Ok(links.invitations(of, now_ms, MAX_MEMBERS).await?)
    }

    /// Invites a user, known or not, to an account or as an operator. An earlier invitation of the
    /// same user there ends.
    pub async fn invite(
        self,
        email: &str,
        of: Option<AccountId>,
        role: Role,
    ) -> Result<(UserId, LinkText)> {
        self.check_role(of, role).await?;
        let user = self.new_user(email)?;
        let address = user.email.clone();
        let (mut link, text) = self.link(LinkPurpose::Invitation, None, address);
        (link.account, link.role) = (of, Some(role));
        let (links, by) = (self.store.one_time_links(), self.actor.now());
        match links.invite(user, link, MAX_MEMBERS.into(), by).await? {
            Invited::Yes(id) => Ok((id, text)),
            Invited::Member => Err(OperationError::MemberExists(email.to_owned())),
            Invited::Full => Err(OperationError::ManyMembers(MAX_MEMBERS as usize)),
        }
    }

    /// Withdraws an open invitation.
    pub async fn withdraw(self, user: UserId, of: Option<AccountId>) -> Result<()> {
        let (links, by) = (self.store.one_time_links(), self.actor.now());
        let withdrawn = links.withdraw(user, of, by).await?;
        withdrawn.then_some(()).ok_or(OperationError::NoMember)
    }

    /// Gives a member another role. The sessions of the user in the account end.
    pub async fn set_role(self, user: UserId, of: Option<AccountId>, role: Role) -> Result<()> {
        self.check_role(of, role).await?;
        self.change_member(user, of, Some(role)).await
    }

    /// Ends the membership of a user. The sessions of the user in the account end.
    pub async fn remove(self, user: UserId, of: Option<AccountId>) -> Result<()> {
        self.change_member(user, of, None).await
    }

    /// Creates a link that lets a user choose a new password. The old one stays until it is used.
    pub async fn reset(self, email: &str) -> Result<(UserId, LinkText)> {
        let user = self.find(email).await?;
        Ok((user.id, self.reset_link(user.id, user.email).await?))
    }

    /// Shuts a user out, or lets the user in again. All sessions end.
    pub async fn set_status(self, email: &str, status: UserStatus) -> Result<UserId> {
        let user = self.find(email).await?;
        let (users, by) = (self.store.users(), self.actor.now());
        let edit = Edit::Status(status);
        users.edit(user.id, edit, None, by).await?;
        Ok(user.id)
    }

    /// Removes the second factor of a user who lost it. All sessions end.
    pub async fn remove_second_factor(self, email: &str) -> Result<UserId> {
        let user = self.find(email).await?;
        let (users, by) = (self.store.users(), self.actor.now());
        let edit = Edit::RemoveSecondFactor;
        users.edit(user.id, edit, None, by).await?;
        Ok(user.id)
    }

    /// Removes all passkeys of a user, such as one whose device was stolen. All sessions end.
    pub async fn remove_passkeys(self, email: &str) -> Result<UserId> {
        let user = self.find(email).await?;
        let (users, by) = (self.store.users(), self.actor.now());
        let edit = Edit::RemovePasskeys;
        users.edit(user.id, edit, None, by).await?;
        Ok(user.id)
    }

    /// Creates a link that makes the first operator, or returns `None` if there is one.
    pub async fn set_up_link(self) -> Result<Option<LinkText>> {
        if self.store.members().has_operator().await? {
            return Ok(None);
        }
        let (link, text) = self.link(LinkPurpose::SetUp, None, String::new());
        let (links, by) = (self.store.one_time_links(), self.actor.now());
        links.add(link, by).await?;
        Ok(Some(text))
    }

    /// Creates a link that signs a user of a demo in, and the user if nobody has the address.
    pub async fn demo_link(
        self,
        email: &str,
        of: Option<AccountId>,
        role: Role,
    ) -> Result<LinkText> {
        let known = self.store.users().find_by_email(email).await?;
        let user = if let Some(known) = known {
            known.user.id
        } else {
            let user = NewUser {
                name: format!("Demo {}", role.as_str()),
                ..self.new_user(email)?
            };
            let (id, by) = (user.id, self.actor.now());
            self.store.users().create(user, of, role, by).await?;
            id
        };
        let (mut link, text) = self.link(LinkPurpose::Demo, Some(user), email.to_owned());
        link.account = of;
        let (links, by) = (self.store.one_time_links(), self.actor.now());
        links.add(link, by).await?;
        Ok(text)
    }

    async fn find(&self, email: &str) -> Result<User> {
        let normalised = normalised_email(email).unwrap_or_default();
        let found = self.store.users().find_by_email(&normalised).await?;
        let found = found.ok_or_else(|| OperationError::NoUser(email.to_owned()))?;
        Ok(found.user)
    }

    /// Checks that a role belongs to an account that exists, or to none.
    async fn check_role(&self, of: Option<AccountId>, role: Role) -> Result<()> {
        if role.is_of_account() != of.is_some() {
            return Err(OperationError::Role);
        }
        if let Some(id) = of {
            account(&self.store, id).await?;
        }
        Ok(())
    }

    async fn change_member(
        &self,
        user: UserId,
        of: Option<AccountId>,
        role: Option<Role>,
    ) -> Result<()> {
        let (members, by) = (self.store.members(), self.actor.now());
        match members.set_role(user, of, role, by).await? {
            MemberChanged::Yes => Ok(()),
            MemberChanged::NoMember => Err(OperationError::NoMember),
            MemberChanged::Last => Err(OperationError::LastOwner),
        }
    }

    async fn reset_link(&self, user: UserId, email: String) -> Result<LinkText> {
        let (link, text) = self.link(LinkPurpose::Reset, Some(user), email);
        let (links, by) = (self.store.one_time_links(), self.actor.now());
        links.add(link, by).await?;
        Ok(text)
    }

    /// Returns a user with an address and without name and password.
    fn new_user(&self, email: &str) -> Result<NewUser> {
        let normalised = normalised_email(email);
        let now_ms = self.actor.clock().now_ms();
        Ok(NewUser {
            id: UserId::new(now_ms, Random::system().small()),
            email: normalised.ok_or_else(|| OperationError::Email(email.to_owned()))?,
            name: String::new(),
            password: None,
        })
    }

    fn link(&self, purpose: LinkPurpose, user: Option<UserId>, email: String) -> (Link, LinkText) {
        let secret = Secret::make(&Random::system().bytes());
        let now_ms = self.actor.clock().now_ms();
        let expires_at_ms = now_ms.saturating_add(purpose.lifetime_ms());
        let link = Link {
            hash: secret.hash(),
            purpose,
            user,
            account: None,
            role: None,
            created_at_ms: now_ms,
            expires_at_ms,
            used_at_ms: None,
        };
        let text = LinkText {
            secret,
            email,
            purpose,
            expires_at_ms,
        };
        (link, text)
    }
}
