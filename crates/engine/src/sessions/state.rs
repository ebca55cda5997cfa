//! The state that sign-ins, links and profiles share.

use super::error::{Result, SessionError};
use super::hashing::Hashing;
use super::visit::{Client, Visit, actor};
use crate::context::Context;
use domain::AccountId;
use domain::user::UserId;
use domain::user::secret::Secret;
use domain::user::session::{SECOND_FACTOR_MS, SessionLimits, short_agent};
use std::sync::Arc;
use store::{By, NewSession, Store};

/// The state that sign-ins, links and profiles share.
pub(super) struct State {
    pub(super) context: Arc<Context>,
    pub(super) hashing: Arc<Hashing>,
}

impl State {
    pub(super) fn store(&self) -> &Store {
        &self.context.store
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.context.clock.now_ms()
    }

    pub(super) fn limits(&self) -> SessionLimits {
        self.context.live().sessions
    }

    pub(super) fn by(&self, user: UserId) -> By {
        By {
            actor: actor(user).into(),
            at_ms: self.now_ms(),
        }
    }

    pub(super) fn secret(&self) -> Secret {
        Secret::make(&self.context.random.bytes())
    }

    /// Returns a session that begins now, and its secret.
    pub(super) fn new_session(&self, client: &Client, is_signed_in: bool) -> (NewSession, Secret) {
        let (secret, now_ms) = (self.secret(), self.now_ms());
        let session = NewSession {
            hash: secret.hash(),
            is_signed_in,
            expires_at_ms: if is_signed_in {
                self.limits().expires_at_ms(now_ms, now_ms)
            } else {
                now_ms + SECOND_FACTOR_MS
            },
            client: client.address.to_string(),
            agent: short_agent(&client.agent),
        };
        (session, secret)
    }

    /// Replaces the secret of a session.
    pub(super) async fn renew(&self, visit: &Visit, account: Option<AccountId>) -> Result<Secret> {
        let (secret, now_ms) = (self.secret(), self.now_ms());
        let hashes = (visit.secret.hash(), secret.hash());
        let end_ms = self.limits().expires_at_ms(now_ms, now_ms);
        let (sessions, by) = (self.store().sessions(), self.by(visit.user));
        let renewed = sessions.renew(hashes, account, end_ms, by).await?;
        renewed.then_some(secret).ok_or(SessionError::Ended)
    }
}
