//! Sign-in to the console: sessions, one-time links, and the user's own profile.
//!
//! A session is a row, and each request reads it. So an ended session, a new role and a disabled
//! user take effect on all nodes at once.

mod error;
mod forgotten;
pub(crate) mod hashing;
mod links;
mod passkeys;
mod profile;
mod sign_in;
mod state;
mod visit;
mod webauthn;

pub use error::SessionError;
pub use links::{LinkFields, OpenLink};
pub use passkeys::PasskeyInfo;
pub use profile::SecondFactor;
pub use sign_in::SignedIn;
pub use visit::{Client, Visit};

use crate::context::Context;
use crate::operators::{Actor, LinkText, Operations};
use domain::AccountId;
use domain::user::passkey::RelyingParty;
use domain::user::secret::Secret;
use domain::user::session::is_seen_due;
use error::Result;
use hashing::Hashing;
use state::State;
use std::sync::Arc;
use store::{Membership, SessionInfo};

/// The sessions of the console.
pub struct Sessions {
    state: State,
}

impl Sessions {
    pub(crate) fn new(context: Arc<Context>, hashing: Arc<Hashing>) -> Self {
        Self {
            state: State { context, hashing },
        }
    }

    /// Signs a user in by password. The second factor may still be missing then.
    pub async fn sign_in(
        &self,
        email: &str,
        password: String,
        client: &Client,
    ) -> Result<SignedIn> {
        sign_in::by_password(&self.state, email, password, client).await
    }

    /// Completes a sign-in by a code of the app, or a recovery code. The session gets a new secret.
    pub async fn give_second_factor(
        &self,
        visit: &Visit,
        code: &str,
        client: &Client,
    ) -> Result<Secret> {
        sign_in::by_code(&self.state, visit, code, client).await
    }

    /// Returns the options with which a browser asks its passkeys, as JSON. The answer must come
    /// from the browser that has this secret.
    pub async fn begin_passkey(
        &self,
        party: &RelyingParty,
        browser: &Secret,
        client: &Client,
    ) -> Result<String> {
        passkeys::begin_sign_in(&self.state, party, browser, client).await
    }

    /// Signs a user in by the answer of a passkey. No second factor is needed.
    pub async fn sign_in_by_passkey(
        &self,
        party: &RelyingParty,
        browser: &Secret,
        answer: &str,
        client: &Client,
    ) -> Result<Secret> {
        passkeys::sign_in(&self.state, party, browser, answer, client).await
    }

    /// Returns the visit of a session's secret, or `None` if the session has ended.
    pub async fn visit(&self, secret: &Secret) -> Result<Option<Visit>> {
        let (hash, now_ms) = (secret.hash(), self.state.now_ms());
        let sessions = self.state.store().sessions();
        let Some(open) = sessions.find(&hash, now_ms).await? else {
            return Ok(None);
        };
        let session = open.session;
        if session.is_signed_in && is_seen_due(session.seen_at_ms, now_ms) {
            let end_ms = self
                .state
                .limits()
                .expires_at_ms(session.created_at_ms, now_ms);
            sessions.seen(hash, now_ms, end_ms).await?;
        }
        Ok(Some(Visit {
            secret: secret.clone(),
            user: session.user,
            email: open.email,
            user_name: open.user_name,
            account: open.account,
            account_name: open.account_name,
            parent: open.parent,
            role: open.role,
            is_signed_in: session.is_signed_in,
        }))
    }

    /// Ends a session.
    pub async fn sign_out(&self, secret: &Secret) -> Result<()> {
        self.state.store().sessions().end(secret.hash()).await?;
        Ok(())
    }

    /// Returns the sessions of the user, the last used first.
    pub async fn list(&self, visit: &Visit) -> Result<Vec<SessionInfo>> {
        let sessions = self.state.store().sessions();
        Ok(sessions.of_user(visit.user, self.state.now_ms()).await?)
    }

    /// Ends one session of the user by its id.
    pub async fn end(&self, visit: &Visit, id: &str) -> Result<()> {
        let all = self.list(visit).await?;
        let found = all.iter().find(|one| session_id(one) == id);
        let found = found.ok_or(SessionError::NoSession)?;
        self.state.store().sessions().end(found.hash).await?;
        Ok(())
    }

    /// Ends all other sessions of the user.
    pub async fn end_others(&self, visit: &Visit) -> Result<()> {
        let sessions = self.state.store().sessions();
        Ok(sessions.end_others(visit.user, visit.secret.hash()).await?)
    }

    /// Returns the memberships of the user.
    pub async fn memberships(&self, visit: &Visit) -> Result<Vec<Membership>> {
        Ok(self.state.store().members().of_user(visit.user).await?)
    }

    /// Lets the session show another account of the user. The rights change, and so does the secret.
    pub async fn switch(&self, visit: &Visit, account: Option<AccountId>) -> Result<Secret> {
        let memberships = self.memberships(visit).await?;
        let is_member = memberships.iter().any(|one| one.account == account);
        if !is_member {
            return Err(SessionError::NoMember);
        }
        self.state.renew(visit, account).await
    }

    /// Returns the state of a one-time link, or `None` if there is no such link.
    pub async fn open_link(&self, secret: &Secret) -> Result<Option<OpenLink>> {
        links::open(&self.state, secret).await
    }

    /// Uses a one-time link. Returns the secret of the session that it began, or `None` if the user
    /// has to sign in. `visit` is the session that the client has: a user with a password joins an
    /// account only while signed in.
    pub async fn use_link(
        &self,
        secret: &Secret,
        fields: LinkFields,
        visit: Option<&Visit>,
        client: &Client,
    ) -> Result<Option<Secret>> {
        links::consume(&self.state, secret, fields, visit, client).await
    }

    /// Counts a request for a link to choose a new password, or refuses it. `email` is normalised.
    pub async fn count_reset(&self, email: &str, client: &Client) -> Result<()> {
        forgotten::count_reset(&self.state, email, client).await
    }

    /// Returns a link to choose a new password for the user with an address, or `None` if no user
    /// who may sign in has it. Only a mail to the address may have the link.
    pub async fn forgotten_link(&self, email: &str) -> Result<Option<LinkText>> {
        forgotten::link(&self.state, email).await
    }

    /// Returns a new secret, such as for forms before a sign-in.
    pub fn new_secret(&self) -> Secret {
        self.state.secret()
    }

    /// Returns the time in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.state.now_ms()
    }

    /// Returns the operations of a user, whose name the audit has.
    pub fn operations(&self, visit: &Visit) -> Operations {
        let clock = self.state.context.clock.clone();
        Operations::new(
            self.state.store().clone(),
            Actor::new(clock, &visit.actor()),
        )
    }

    /// Returns the operations of this node itself.
    pub fn operations_of_node(&self) -> Operations {
        let (clock, node) = (self.state.context.clock.clone(), self.state.context.node);
        Operations::new(
            self.state.store().clone(),
            Actor::new(clock, &format!("node:{node}")),
        )
    }

    /// Changes the name of the user.
    pub async fn set_name(&self, visit: &Visit, name: &str) -> Result<()> {
        profile::set_name(&self.state, visit, name).await
    }

    /// Changes the password of the user. All other sessions end, and this one gets a new secret.
    pub async fn change_password(
        &self,
        visit: &Visit,
        old: String,
        new: String,
        client: &Client,
    ) -> Result<Secret> {
        profile::change_password(&self.state, visit, (old, new), client).await
    }

    /// Returns the state of the user's second factor. A secret to confirm is made if there is none.
    pub async fn second_factor(&self, visit: &Visit) -> Result<SecondFactor> {
        profile::second_factor(&self.state, visit).await
    }

    /// Confirms the second factor by its first code. Returns the recovery codes, which are shown
    /// only here, and the new secret of the session.
    pub async fn confirm_second_factor(
        &self,
        visit: &Visit,
        code: &str,
    ) -> Result<(Vec<String>, Secret)> {
        profile::confirm(&self.state, visit, code).await
    }

    /// Makes new recovery codes, after the password was given again.
    pub async fn make_recovery_codes(
        &self,
        visit: &Visit,
        password: String,
        client: &Client,
    ) -> Result<Vec<String>> {
        profile::make_codes(&self.state, visit, password, client).await
    }

    /// Returns the passkeys of the user.
    pub async fn passkeys(&self, visit: &Visit) -> Result<Vec<PasskeyInfo>> {
        passkeys::list(&self.state, visit).await
    }

    /// Returns the options with which a browser makes a passkey, as JSON, after the password was
    /// given again.
    pub async fn begin_adding_passkey(
        &self,
        party: &RelyingParty,
        visit: &Visit,
        (name, password): (&str, String),
        client: &Client,
    ) -> Result<String> {
        passkeys::begin_adding(&self.state, party, visit, (name, password), client).await
    }

    /// Adds the passkey of an answer. All other sessions end, and this one gets a new secret.
    pub async fn add_passkey(
        &self,
        party: &RelyingParty,
        visit: &Visit,
        (name, answer): (&str, &str),
    ) -> Result<Secret> {
        passkeys::add(&self.state, party, visit, (name, answer)).await
    }

    /// Removes a passkey by its id, after the password was given again. All other sessions end, and
    /// this one gets a new secret.
    pub async fn remove_passkey(
        &self,
        visit: &Visit,
        (id, password): (&str, String),
        client: &Client,
    ) -> Result<Secret> {
        passkeys::remove(&self.state, visit, (id, password), client).await
    }

    /// Removes the second factor, after the password was given again.
    pub async fn remove_second_factor(
        &self,
        visit: &Visit,
        password: String,
        client: &Client,
    ) -> Result<Secret> {
        profile::remove(&self.state, visit, password, client).await
    }
}

/// Returns the id of a session for lists. The secret cannot be computed from it.
pub fn session_id(session: &SessionInfo) -> String {
    let start: [u8; 8] = std::array::from_fn(|at| session.hash[at]);
    format!("{:016x}", u64::from_be_bytes(start))
}
