//! Accounts, their standing, and the sender IDs registered on them.

use crate::ids::AccountId;
use crate::named_enum;
use crate::refusal::Refusal;

named_enum! {
    /// The rights of an account.
    pub enum AccountStatus {
        /// Everything.
        Active = "active",
        /// The sandbox only.
        Pending = "pending",
        /// Nothing: long unused.
        Dormant = "dormant",
        /// Read, but not send.
        Restricted = "restricted",
        /// Nothing.
        Disabled = "disabled",
    }
}

named_enum! {
    /// The end of an account's queued messages, once it may not send any more.
    pub enum Queued {
        /// It waits until the account is active again.
        Hold = "hold",
        /// It ends as failed, and is given back.
        Cancel = "cancel",
        /// It goes out.
        Send = "send",
    }
}

impl AccountStatus {
    /// Why an account of this status may not send live messages; nothing where it may.
    pub fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Active => None,
            Self::Pending => Some(Refusal::AccountPending),
            Self::Dormant => Some(Refusal::AccountDormant),
            Self::Restricted => Some(Refusal::AccountRestricted),
            Self::Disabled => Some(Refusal::AccountDisabled),
        }
    }
}

named_enum! {
    /// How far the operator knows who stands behind an account.
    pub enum Verification {
        /// Not at all.
        Unverified = "unverified",
        /// The contact address is confirmed.
        ContactVerified = "contact_verified",
        /// The business is confirmed.
        Verified = "verified",
    }
}

named_enum! {
    /// Where a sender ID stands.
    pub enum SenderStatus {
        /// Waiting for the operator.
        Pending = "pending",
        /// May be used.
        Approved = "approved",
        /// Refused, with a reason.
        Rejected = "rejected",
        /// It was approved, and may not be used now.
        Suspended = "suspended",
    }
}

named_enum! {
    /// Which world a request belongs to.
    pub enum Environment {
        /// Real carriers, real money.
        Live = "live",
        /// Simulated: nothing is delivered, nothing charged.
        Sandbox = "sandbox",
    }
}

/// A customer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// Its number; `user_id` outside.
    pub id: AccountId,
    /// Contact address.
    pub email: String,
    /// Name of the business or person.
    pub name: String,
    /// Its rights.
    pub status: AccountStatus,
    /// How far it is known.
    pub verification: Verification,
    /// When it was made, Unix milliseconds.
    pub created_at_ms: i64,
}

impl Account {
    /// Checks that this account's token is good for reading in `environment`.
    pub fn check_read(&self, environment: Environment) -> Result<(), Refusal> {
        match (self.status, environment) {
            (AccountStatus::Active | AccountStatus::Restricted, _)
            | (AccountStatus::Pending, Environment::Sandbox) => Ok(()),
            (AccountStatus::Pending, Environment::Live) => Err(Refusal::AccountPending),
            (AccountStatus::Dormant, _) => Err(Refusal::AccountDormant),
            (AccountStatus::Disabled, _) => Err(Refusal::AccountDisabled),
        }
    }

    /// Checks that this account may send in `environment`.
    pub fn check_send(&self, environment: Environment) -> Result<(), Refusal> {
        self.check_read(environment)?;
        match self.status {
            AccountStatus::Restricted => Err(Refusal::AccountRestricted),
            AccountStatus::Active
            | AccountStatus::Pending
            | AccountStatus::Dormant
            | AccountStatus::Disabled => Ok(()),
        }
    }
}

/// A sender ID as registered on an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SenderId {
    /// As it was registered, and as it is sent.
    pub name: String,
    /// Where it stands.
    pub status: SenderStatus,
    /// Its purpose, in the customer's words.
    pub purpose: String,
    /// Registered as an international sender: only the international gateway takes it.
    pub international: bool,
    /// When it was approved, Unix milliseconds.
    pub approved_at_ms: Option<i64>,
    /// Why it was rejected.
    pub rejection_reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(status: AccountStatus) -> Account {
        Account {
            id: AccountId(1),
            email: String::new(),
            name: String::new(),
            status,
            verification: Verification::Unverified,
            created_at_ms: 0,
        }
    }

    #[test]
    fn only_active_accounts_send_and_restricted_ones_read() {
        use AccountStatus as S;
        use Environment::{Live, Sandbox};
        let table = [
            (S::Active, Live, true, true),
            (S::Active, Sandbox, true, true),
            (S::Pending, Live, false, false),
            (S::Pending, Sandbox, true, true),
            (S::Restricted, Live, true, false),
            (S::Restricted, Sandbox, true, false),
            (S::Dormant, Live, false, false),
            (S::Disabled, Sandbox, false, false),
        ];
        for (status, environment, reads, sends) in table {
            let account = account(status);
            assert_eq!(
                account.check_read(environment).is_ok(),
                reads,
                "{status:?} {environment:?}"
            );
            assert_eq!(
                account.check_send(environment).is_ok(),
                sends,
                "{status:?} {environment:?}"
            );
            if environment == Live {
                assert_eq!(status.refusal().is_none(), sends, "{status:?}");
            }
        }
    }
}
