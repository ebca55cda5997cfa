//! Changes of a user. An edit of how the user signs in ends the user's other sessions.

use super::session_rows::end_all;
use super::user_rows::{UserSecrets, locked};
use crate::operators::audit::{self, By, Entry};
use database::{Change, Result, Tx, query};
use domain::redact;
use domain::user::secret::SecretHash;
use domain::user::{UserId, UserStatus};
use serde_json::{Value, json};

/// An edit of a user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Edit {
    /// The name.
    Name(String),
    /// The argon2id hash of a new password.
    Password(String),
    /// A secret of a second factor, which counts once it is confirmed.
    NewSecondFactor(Vec<u8>),
    /// The confirmation: the step of the first code, and the hashes of the recovery codes.
    ConfirmSecondFactor(i64, Vec<String>),
    /// The end of the second factor.
    RemoveSecondFactor,
    /// The end of all passkeys.
    RemovePasskeys,
    /// The hashes of new recovery codes.
    RecoveryCodes(Vec<String>),
    /// A step of the second factor that is used up.
    UseStep(i64),
    /// The hashes of the recovery codes before the use of one, and of those that are left.
    UseRecoveryCode(Vec<String>, Vec<String>),
    /// The status.
    Status(UserStatus),
}

impl Edit {
    /// Returns the verb in the audit, or `None` for an edit that is part of a sign-in.
    const fn verb(&self) -> Option<&'static str> {
        match self {
            Self::Name(_) => Some("user.set-name"),
            Self::Password(_) => Some("user.set-password"),
            Self::ConfirmSecondFactor(..) => Some("user.confirm-second-factor"),
            Self::RemoveSecondFactor => Some("user.remove-second-factor"),
            Self::RemovePasskeys => Some("user.remove-passkeys"),
            Self::RecoveryCodes(_) => Some("user.make-recovery-codes"),
            Self::UseRecoveryCode(..) => Some("user.use-recovery-code"),
            Self::Status(UserStatus::Active) => Some("user.enable"),
            Self::Status(UserStatus::Disabled) => Some("user.disable"),
            Self::NewSecondFactor(_) | Self::UseStep(_) => None,
        }
    }

    const fn ends_sessions(&self) -> bool {
        matches!(
            self,
            Self::Password(_)
                | Self::ConfirmSecondFactor(..)
                | Self::RemoveSecondFactor
                | Self::RemovePasskeys
                | Self::Status(_)
        )
    }

    /// Returns `true` if the edit fits the user as it is now.
    fn fits(&self, now: &UserSecrets) -> bool {
        match self {
            Self::NewSecondFactor(_) => now.totp_step.is_none(),
            Self::ConfirmSecondFactor(..) => now.totp_step.is_none() && now.totp_secret.is_some(),
            Self::RecoveryCodes(_) => now.totp_step.is_some(),
            Self::UseStep(step) => now.totp_step.is_some_and(|last| last < *step),
            Self::UseRecoveryCode(before, _) => now.recovery_codes == *before,
            _ => true,
        }
    }

    async fn write(&self, tx: &mut Tx, user: UserId) -> Result<()> {
        let update = match self {
            Self::Name(name) => query("update users set name = $2 where user_id = $1")
                .bind(user.0)
                .bind(name),
            Self::Password(hash) => query("update users set password = $2 where user_id = $1")
                .bind(user.0)
                .bind(hash),
            Self::NewSecondFactor(secret) => {
                query("update users set totp_secret = $2 where user_id = $1")
                    .bind(user.0)
                    .bind(secret)
            }
            Self::ConfirmSecondFactor(step, codes) => {
                query("update users set totp_step = $2, recovery_codes = $3 where user_id = $1")
                    .bind(user.0)
                    .bind(*step)
                    .bind(codes.join(","))
            }
            Self::RemoveSecondFactor => query(
                "update users set totp_secret = null, totp_step = null, recovery_codes = ''
                 where user_id = $1",
            )
            .bind(user.0),
            Self::RemovePasskeys => query("delete from passkeys where user_id = $1").bind(user.0),
            Self::RecoveryCodes(codes) | Self::UseRecoveryCode(_, codes) => {
                query("update users set recovery_codes = $2 where user_id = $1")
                    .bind(user.0)
                    .bind(codes.join(","))
            }
            Self::UseStep(step) => query("update users set totp_step = $2 where user_id = $1")
                .bind(user.0)
                .bind(*step),
            Self::Status(status) => query("update users set status = $2 where user_id = $1")
                .bind(user.0)
                .bind(status.as_str()),
        };
        tx.execute(update).await?;
        Ok(())
    }

    /// Returns the state before and after, as the audit records it.
    fn audited(&self, before: &UserSecrets) -> (Value, Value) {
        match self {
            Self::Name(name) => (
                json!({ "name": redact(&before.user.name) }),
                json!({ "name": redact(name) }),
            ),
            Self::Status(status) => (
                json!({ "status": before.user.status.as_str() }),
                json!({ "status": status.as_str() }),
            ),
            Self::RecoveryCodes(codes) | Self::UseRecoveryCode(_, codes) => (
                json!({ "recovery_codes": before.recovery_codes.len() }),
                json!({ "recovery_codes": codes.len() }),
            ),
            Self::RemovePasskeys => (Value::Null, json!({ "passkeys": 0 })),
            Self::Password(_) => (
                json!({ "password": before.password.is_some() }),
                json!({ "password": true }),
            ),
            _ => (
                json!({ "second_factor": before.user.has_second_factor }),
                json!({ "second_factor": !matches!(self, Self::RemoveSecondFactor) }),
            ),
        }
    }
}

/// An edit with its audit entry.
pub(super) struct ChangeUser {
    pub(super) user: UserId,
    pub(super) edit: Edit,
    pub(super) kept: Option<SecretHash>,
    pub(super) by: By,
}

impl Change for ChangeUser {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(before) = locked(tx, self.user).await? else {
            return Ok(false);
        };
        if !self.edit.fits(&before) {
            return Ok(false);
        }
        self.edit.write(tx, self.user).await?;
        if self.edit.ends_sessions() {
            end_all(tx, self.user, self.kept.as_ref()).await?;
        }
        if let Some(verb) = self.edit.verb() {
            let (before, after) = self.edit.audited(&before);
            let entry = Entry {
                by: &self.by,
                verb,
                account: None,
                object: &self.user.to_string(),
                before,
                after,
            };
            audit::enter(tx, entry).await?;
        }
        Ok(true)
    }

    /// A step or a secret without an entry is found by its effect.
    async fn is_committed(&self, tx: &mut Tx, changed: &bool) -> Result<bool> {
        let object = self.user.to_string();
        match (self.edit.verb(), &self.edit) {
            _ if !changed => Ok(true),
            (Some(verb), _) => audit::is_kept(tx, &self.by, verb, &object).await,
            (None, Edit::UseStep(step)) => {
                let now = locked(tx, self.user).await?;
                Ok(now.is_some_and(|now| now.totp_step >= Some(*step)))
            }
            (None, _) => Ok(false),
        }
    }
}
